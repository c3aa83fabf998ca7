/* Rows of a dat between the device and the messages of ranks: gathered and scattered there, so that only they
 * travel. MPI is given pinned memory of the host, to which all of a direction's messages are copied at once, or
 * the device's memory itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "context/context.h"
#include "gpu.h"
#include "mesh/mesh.h"
#include "op2jit.h"

/* ---- the kernels ---- */
int gpu_rows_generate(const struct desc *d, struct generated *out, struct error *err) {
  *out = (struct generated){.prelude = ""};
  generated_name(out, "op2_rows", ".cu", "", "op2_rows.h");
  text_add(&out->main, d->text);
  return generated_end(out, OP_OK, err);
}

static int get_program(struct op_context *ctx, struct loop *loop, struct gpu_program **out,
                       struct error *err) {
  struct text source = {0};
  char name[] = "op2_rows", fp[] = "contract";
  struct gpu *c = gpu_of(ctx, loop->space);
  gpu_rows_text(c->driver->dialect, &source);
  struct desc d = {.kernel_name = name, .text = source.data, .fp = fp};
  const int code = text_ok(&source) ? gpu_program_get(ctx, c, loop, &d, NULL, out, err)
                                    : error_memory(err, "the kernels of messages", source.length);
  text_free(&source);
  return code;
}

/* ---- what they need ---- */

enum { THREADS = 128, MOST_BLOCKS = 1024, LONGEST_WORD = 8 };
enum rows_way { ROWS_PACK, ROWS_UNPACK, ROWS_WAYS };

struct gpu_rows {
  struct gpu_program *program;
  gpu_function functions[ROWS_WAYS][LONGEST_WORD +
                                    1]; /* by the bytes of a word, 0: of tables; NULL: not asked for yet */
  struct list lists;                    /* of elements: arrays, as long as the epoch lasts */
  unsigned epoch;
};

static void put_lists(struct gpu *c) {
  struct gpu_rows *r = c->rows;
  for (int i = 0; i < r->lists.count; i++)
    gpu_array_put(c, r->lists.items[i]);
  list_free(&r->lists);
}

void gpu_rows_free(struct gpu *c) {
  if (!c->rows)
    return;
  put_lists(c);
  free(c->rows);
  c->rows = NULL;
}

int gpu_rows_prepare(struct op_context *ctx, struct loop *loop, struct error *err) {
  struct gpu *c = gpu_of(ctx, loop->space);
  struct gpu_program *program = NULL;
  if (c->rows)
    return OP_OK;
  int code = get_program(ctx, loop, &program, err);
  if (code)
    return code;
  struct gpu_rows *r = calloc(1, sizeof *r);
  if (!r)
    return error_memory(err, "the exchange on the GPU", sizeof *r);
  *r = (struct gpu_rows){.program = program, .epoch = ctx->mesh->epoch};
  c->rows = r;
  return OP_OK;
}

static int list_on_device(struct op_context *ctx, struct gpu *c, const int *elements, long count,
                          struct gpu_array **out, struct error *err) {
  struct gpu_rows *r = c->rows;
  const size_t bytes = (size_t)count * sizeof *elements;
  if (r->epoch != ctx->mesh->epoch)
    put_lists(c);
  r->epoch = ctx->mesh->epoch;
  for (int i = 0; i < r->lists.count; i++) {
    *out = r->lists.items[i];
    if ((*out)->host == elements && (*out)->bytes == bytes)
      return OP_OK;
  }
  const int code = gpu_array_get(c, elements, bytes, ctx->mesh->epoch, out, err);
  if (code || list_add(&r->lists, *out))
    return code;
  gpu_array_put(c, *out);
  return error_memory(err, "the exchange on the GPU", sizeof **out);
}

/* ---- messages ---- */

/* The rows of a direction, GPU_ROWS_WORDS words each. */
struct table {
  gpu_address at;                   /* 0: there is none yet */
  unsigned long long *rows, *known; /* what it is to be, and what it is */
  int nrows, nknown;
};

struct device_messages {
  gpu_address device;
  void *host; /* pinned, what MPI is given; NULL: it is given the device's */
  size_t bytes;
  const struct device_pairs *pairs; /* some of it is elsewhere; NULL: nothing is */
  bool sent;
  struct table tables[GPU_TURNS]; /* elsewhere it is in turn in two places */
};

static size_t table_bytes(int rows) {
  return (size_t)rows * GPU_ROWS_WORDS * sizeof(unsigned long long);
}

void gpu_messages_free(struct op_context *ctx, enum space space, struct device_messages *m) {
  struct gpu *c = gpu_of(ctx, space);
  gpu_release(c, m->device, m->bytes);
  if (m->host)
    c->driver->host_free(c->self, m->host);
  for (int t = 0; t < GPU_TURNS; t++) {
    gpu_release(c, m->tables[t].at, table_bytes(m->tables[t].nrows));
    free(m->tables[t].rows);
  }
  free(m);
}

int gpu_messages_share(struct op_context *ctx, enum space space, struct device_messages *send,
                       struct device_messages *receive, struct message_pair *pairs, int n, int code,
                       struct device_pairs **out, struct error *err) {
  code = gpu_pairs_new(ctx, space, pairs, n, code, out, err);
  if (send) {
    send->pairs = *out;
    send->sent = true;
  }
  if (receive)
    receive->pairs = *out;
  return code;
}

int gpu_messages_new(struct op_context *ctx, enum space space, size_t bytes, struct device_messages **out,
                     unsigned char **memory, struct error *err) {
  struct gpu *c = gpu_of(ctx, space);
  struct device_messages *m = calloc(1, sizeof *m);
  if (!m)
    return error_memory(err, "the messages of a halo exchange", sizeof *m);
  m->bytes = bytes;
  int code = gpu_allocate(c, &m->device, bytes, err, "the messages of a halo exchange");
  if (!code && !c->gpu_to_mpi)
    code = gpu_failed(c, c->driver->host_alloc(c->self, &m->host, bytes), err,
                      "allocating %zu bytes of pinned memory", bytes);
  if (code) {
    gpu_messages_free(ctx, space, m);
    return code;
  }
  *out = m;
  *memory = c->gpu_to_mpi ? (unsigned char *)(uintptr_t)m->device : m->host;
  return OP_OK;
}

static int failed_copy(struct gpu *c, int result, size_t bytes, const char *way, struct error *err) {
  c->failed |= result != 0;
  return gpu_failed(c, result, err, "copying messages of %zu bytes %s %s", bytes, way, c->device.label);
}

/* The next bytes from `at` on that MPI brings. */
static bool next_part(const struct device_messages *m, size_t at, size_t *begin, size_t *end) {
  *begin = at;
  *end = m->bytes;
  if (m->pairs)
    gpu_pairs_leave(m->pairs, m->sent, begin, end);
  return *begin < *end;
}

int gpu_hand_over(struct op_context *ctx, enum space space, struct device_messages *m, bool *later,
                  struct error *err) {
  struct gpu *c = gpu_of(ctx, space);
  size_t bytes = 0;
  int result = 0;
  c->turns = c->holds ? 0 : c->turns; /* what follows is the same each time */
  *later = c->driver->message_out != NULL;
  for (size_t begin = 0, end = 0; !result && m && m->host && next_part(m, end, &begin, &end);
       bytes += end - begin)
    result = (*later ? c->driver->message_out : c->driver->copy_out)(
        c->self, (unsigned char *)m->host + begin, m->device + begin, end - begin);
  if (*later && !bytes)
    result = c->driver->message_out(c->self, NULL, 0, 0);
  ctx->counters->bytes_from_device += (long long)bytes;
  const int code = failed_copy(c, result, bytes, "from", err);
  return code || *later ? code : gpu_wait(c, err, "packing messages");
}

int gpu_handed_over(struct op_context *ctx, enum space space, struct error *err) {
  struct gpu *c = gpu_of(ctx, space);
  const int result = c->driver->message_wait(c->self);
  c->failed |= result != 0;
  return gpu_failed(c, result, err, "packing messages on %s", c->device.label);
}

int gpu_take_over(struct op_context *ctx, enum space space, struct device_messages *m, struct error *err) {
  struct gpu *c = gpu_of(ctx, space);
  int result = 0;
  size_t bytes = 0;
  for (size_t begin = 0, end = 0; !result && m->host && next_part(m, end, &begin, &end); bytes += end - begin)
    result = (c->driver->message_in ? c->driver->message_in : c->driver->copy_in)(
        c->self, m->device + begin, (unsigned char *)m->host + begin, end - begin);
  ctx->counters->bytes_to_device += (long long)bytes;
  return failed_copy(c, result, bytes, "to", err);
}

/* Values are moved as words of their size, a struct as the longest words that it is made of. */
static int word_of(const struct dat *dat) {
  int word = LONGEST_WORD;
  while (dat->value_size % (size_t)word)
    word /= 2;
  return word;
}

/* One name is one function each time, so that launches are seen to be the same. Word 0: the one for tables. */
static int find_function(struct gpu *c, enum rows_way way, int word, struct error *err) {
  static const char *const names[ROWS_WAYS] = {"op2_pack", "op2_unpack"};
  gpu_function *function = &c->rows->functions[way][word];
  char name[32];
  if (*function)
    return OP_OK;
  snprintf(name, sizeof name, "%s%.*d", names[way], word > 0, word);
  return gpu_failed(c, c->driver->module_function(c->self, function, c->rows->program->module, name), err,
                    "finding %s", name);
}

static long blocks_for(const struct message_rows *rows) {
  const long values =
      rows->count * rows->dat->dim * (long)(rows->dat->value_size / (size_t)word_of(rows->dat));
  const long blocks = (values + THREADS - 1) / THREADS;
  return blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS;
}

static int launch(struct gpu *c, enum rows_way way, int word, long blocks, void **values,
                  const struct gpu_sizes *sizes, struct error *err) {
  int code = find_function(c, way, word, err);
  if (code)
    return code;
  const int result =
      c->driver->launch(c->self, c->rows->functions[way][word], (unsigned)blocks, THREADS, 0, values, sizes);
  c->failed |= result != 0;
  return gpu_failed(c, result, err, "launching what %s rows on %s", way == ROWS_PACK ? "packs" : "unpacks",
                    c->device.label);
}

/* ---- one launch for the rows of a dat for a neighbour ---- */

static int launch_rows(struct op_context *ctx, struct gpu *c, const struct device_messages *m,
                       enum rows_way way, const struct message_rows *rows, struct error *err) {
  const struct dat *dat = rows->dat;
  struct gpu_array *list = NULL;
  const int word = word_of(dat), words = (int)(dat->value_size / (size_t)word); /* of a value */
  int code = list_on_device(ctx, c, rows->elements, rows->count, &list, err);
  if (code)
    return code;
  gpu_address values_at = gpu_dat_address(c, dat);
  int n = (int)rows->count, dim = dat->dim * words;
  long long offset = (long long)rows->at, row = dat->apart ? 1 : dim, step = dat->apart ? dat->stride : 1;
  void *values[] = {&values_at, (void *)(uintptr_t)&m->device, &offset, &list->at, &n, &dim, &row, &step};
  static const int bytes[] = {0, 0, sizeof offset, 0, sizeof n, sizeof dim, sizeof row, sizeof step};
  static const struct gpu_sizes sizes = {8, bytes};
  return launch(c, way, word, blocks_for(rows), values, &sizes, err);
}

/* ---- one launch for all rows of a direction, or for each turn of what is unpacked ---- */

static int make_table(struct gpu *c, struct table *t, int n, struct error *err) {
  if (t->nrows >= n)
    return OP_OK;
  gpu_release(c, t->at, table_bytes(t->nrows));
  free(t->rows);
  *t = (struct table){.rows = array_new(2 * (size_t)n * GPU_ROWS_WORDS, sizeof *t->rows)};
  if (!t->rows)
    return error_memory(err, "the messages of a halo exchange", 2 * table_bytes(n));
  const int code = gpu_allocate(c, &t->at, table_bytes(n), err, "the messages of a halo exchange");
  t->nrows = code ? 0 : n;
  t->known = t->rows + (size_t)n * GPU_ROWS_WORDS;
  return code;
}

/* Two threads do not write one row. */
static bool go_together(enum rows_way way, const struct message_rows *a, const struct message_rows *b) {
  return way == ROWS_PACK || a->turn == b->turn;
}

static gpu_address place_of(const struct device_messages *m, size_t at) {
  const gpu_address elsewhere = m->pairs ? gpu_pairs_place(m->pairs, m->sent, at) : 0;
  return elsewhere ? elsewhere : m->device + at;
}

static int fill_table(struct op_context *ctx, struct gpu *c, const struct device_messages *m, struct table *t,
                      enum rows_way way, const struct message_rows *rows, int n, struct error *err) {
  int code = make_table(c, t, n, err);
  long blocks = 0;
  for (int i = 0; !code && i < n; i++) {
    const struct dat *dat = rows[i].dat;
    const unsigned long long word = (unsigned long long)word_of(dat),
                             dim = (unsigned long long)dat->dim * dat->value_size / word;
    struct gpu_array *list = NULL;
    blocks = i > 0 && go_together(way, &rows[i - 1], &rows[i]) ? blocks : 0;
    code = list_on_device(ctx, c, rows[i].elements, rows[i].count, &list, err);
    if (code)
      break;
    const unsigned long long row[GPU_ROWS_WORDS] = {gpu_dat_address(c, dat),
                                                    list->at,
                                                    place_of(m, rows[i].at),
                                                    dat->apart ? 1 : dim,
                                                    dat->apart ? (unsigned long long)dat->stride : 1,
                                                    (unsigned long long)rows[i].count,
                                                    dim,
                                                    word,
                                                    (unsigned long long)blocks};
    memcpy(t->rows + (size_t)i * GPU_ROWS_WORDS, row, sizeof row);
    blocks += blocks_for(&rows[i]);
  }
  return code;
}

static int bring_table(struct gpu *c, struct table *t, int n, struct error *err) {
  if (t->nknown == n && memcmp(t->known, t->rows, table_bytes(n)) == 0)
    return OP_OK;
  memcpy(t->known, t->rows, table_bytes(n));
  t->nknown = n;
  return failed_copy(c, c->driver->copy_in(c->self, t->at, t->rows, table_bytes(n)), table_bytes(n), "to",
                     err);
}

static int launch_table(struct op_context *ctx, struct gpu *c, struct device_messages *m, enum rows_way way,
                        const struct message_rows *rows, int n, struct error *err) {
  static const int bytes[] = {0, sizeof n};
  static const struct gpu_sizes sizes = {2, bytes};
  struct table *t = &m->tables[m->pairs ? gpu_pairs_turn(m->pairs, m->sent) : 0];
  int code = fill_table(ctx, c, m, t, way, rows, n, err);
  if (!code)
    code = bring_table(c, t, n, err);
  for (int first = 0, count; !code && first < n; first += count) {
    gpu_address table = t->at + table_bytes(first);
    void *values[] = {&table, &count};
    long blocks = 0;
    for (count = 0; first + count < n && go_together(way, &rows[first], &rows[first + count]); count++)
      blocks += blocks_for(&rows[first + count]);
    code = launch(c, way, 0, blocks, values, &sizes, err);
  }
  return code;
}

static int move(struct op_context *ctx, enum space space, struct device_messages *m, enum rows_way way,
                const struct message_rows *rows, int n, struct error *err) {
  struct gpu *c = gpu_of(ctx, space);
  int code = OP_OK;
  if (gpu_has_row_tables(c->driver->dialect))
    return n ? launch_table(ctx, c, m, way, rows, n, err) : OP_OK;
  for (int i = 0; !code && i < n; i++)
    code = launch_rows(ctx, c, m, way, &rows[i], err);
  return code;
}

int gpu_pack_rows(struct op_context *ctx, enum space space, struct device_messages *m,
                  const struct message_rows *rows, int n, struct error *err) {
  return move(ctx, space, m, ROWS_PACK, rows, n, err);
}

int gpu_unpack_rows(struct op_context *ctx, enum space space, struct device_messages *m,
                    const struct message_rows *rows, int n, struct error *err) {
  return move(ctx, space, m, ROWS_UNPACK, rows, n, err);
}
