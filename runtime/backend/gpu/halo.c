/* Rows of a dat between the device and the messages of ranks: gathered and scattered there, so that only they
 * travel. MPI is given pinned memory of the host, to which all of a direction's messages are copied at once, or
 * the device's memory itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "context/context.h"
#include "gpu.h"
#include "mesh/mesh.h"
#include "op2jit.h"

/* ---- the kernels ---- */
int gpu_rows_generate(const struct desc *d, struct generated *out, struct error *err) {
  *out = (struct generated){.main_file = strdup("op2_rows.cu"),
                            .kernel_file = strdup("op2_rows"),
                            .prelude_file = strdup("op2_rows.h"),
                            .prelude = ""};
  text_add(&out->main, d->text);
  const bool good = out->main_file && out->kernel_file && out->prelude_file && text_ok(&out->main);
  return good ? OP_OK : error_memory(err, "the kernels of messages", out->main.length);
}

static int get_program(struct op_context *ctx, struct loop *loop, struct gpu_program **out,
                       struct error *err) {
  struct text source = {0};
  char name[] = "op2_rows", fp[] = "contract";
  gpu_rows_text(gpu_of(ctx, loop->space)->driver->dialect, &source);
  struct desc d = {.kernel_name = name, .text = source.data, .fp = fp};
  const int code = text_ok(&source) ? gpu_program_get(ctx, loop, &d, NULL, out, err)
                                    : error_memory(err, "the kernels of messages", source.length);
  text_free(&source);
  return code;
}

/* ---- what they need ---- */

enum { THREADS = 128, MOST_BLOCKS = 1024, LONGEST_WORD = 8 };
enum rows_way { ROWS_PACK, ROWS_UNPACK, ROWS_WAYS };

struct gpu_rows {
  struct gpu_program *program;
  gpu_function functions[ROWS_WAYS][LONGEST_WORD + 1]; /* by the bytes of a word; NULL: not asked for yet */
  struct gpu_array **lists;                            /* of elements, as long as the epoch lasts */
  int nlists;
  unsigned epoch;
};

static void put_lists(struct gpu *c) {
  struct gpu_rows *r = c->rows;
  for (int i = 0; i < r->nlists; i++)
    gpu_array_put(c, r->lists[i]);
  free(r->lists);
  r->lists = NULL;
  r->nlists = 0;
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
  for (int i = 0; i < r->nlists; i++)
    if (r->lists[i]->host == elements && r->lists[i]->bytes == bytes) {
      *out = r->lists[i];
      return OP_OK;
    }
  struct gpu_array **lists = array_resize(r->lists, (size_t)r->nlists + 1, sizeof *lists);
  if (!lists)
    return error_memory(err, "the exchange on the GPU", ((size_t)r->nlists + 1) * sizeof *lists);
  r->lists = lists;
  int code = gpu_array_get(c, elements, bytes, ctx->mesh->epoch, out, err);
  if (!code)
    lists[r->nlists++] = *out;
  return code;
}

/* ---- messages ---- */

struct device_messages {
  gpu_address device;
  void *host; /* pinned, what MPI is given; NULL: it is given the device's */
  size_t bytes;
};

void gpu_messages_free(struct op_context *ctx, enum space space, struct device_messages *m) {
  struct gpu *c = gpu_of(ctx, space);
  gpu_release(c, m->device, m->bytes);
  if (m->host)
    c->driver->host_free(c->self, m->host);
  free(m);
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

int gpu_hand_over(struct op_context *ctx, enum space space, struct device_messages *m, struct error *err) {
  struct gpu *c = gpu_of(ctx, space);
  int result = 0;
  c->turns = c->holds ? 0 : c->turns; /* what follows is the same each time */
  if (m && m->host) {
    result = c->driver->copy_out(c->self, m->host, m->device, m->bytes);
    ctx->counters->bytes_from_device += (long long)m->bytes;
  }
  c->failed |= result != 0;
  int code =
      gpu_failed(c, result, err, "copying messages of %zu bytes from %s", m ? m->bytes : 0, c->device.label);
  return code ? code : gpu_wait(c, err, "packing messages");
}

int gpu_take_over(struct op_context *ctx, enum space space, struct device_messages *m, struct error *err) {
  struct gpu *c = gpu_of(ctx, space);
  if (!m->host)
    return OP_OK;
  ctx->counters->bytes_to_device += (long long)m->bytes;
  return gpu_failed(c, c->driver->copy_in(c->self, m->device, m->host, m->bytes), err,
                    "copying messages of %zu bytes to %s", m->bytes, c->device.label);
}

/* Values are moved as words of their size, a struct as the longest words that it is made of. */
static int word_of(const struct dat *dat) {
  int word = LONGEST_WORD;
  while (dat->value_size % (size_t)word)
    word /= 2;
  return word;
}

/* One name is one function each time, so that launches are seen to be the same. */
static int find_function(struct gpu *c, enum rows_way way, int word, struct error *err) {
  static const char *const names[ROWS_WAYS] = {"op2_pack", "op2_unpack"};
  gpu_function *function = &c->rows->functions[way][word];
  char name[32];
  if (*function)
    return OP_OK;
  snprintf(name, sizeof name, "%s%d", names[way], word);
  return gpu_failed(c, c->driver->module_function(c->self, function, c->rows->program->module, name), err,
                    "finding %s", name);
}

static int launch(struct op_context *ctx, enum space space, const struct device_messages *m, size_t at,
                  struct dat *dat, enum rows_way way, const int *elements, long count, struct error *err) {
  struct gpu *c = gpu_of(ctx, space);
  struct gpu_array *list = NULL;
  const int word = word_of(dat), words = (int)(dat->value_size / (size_t)word); /* of a value */
  int code = list_on_device(ctx, c, elements, count, &list, err);
  if (!code)
    code = find_function(c, way, word, err);
  if (code)
    return code;
  gpu_address values_at = gpu_dat_address(c, dat);
  int n = (int)count, dim = dat->dim * words;
  long long offset = (long long)at, row = dat->soa ? 1 : dim, step = dat->soa ? dat->stride : 1;
  void *values[] = {&values_at, (void *)(uintptr_t)&m->device, &offset, &list->at, &n, &dim, &row, &step};
  static const int bytes[] = {0, 0, sizeof offset, 0, sizeof n, sizeof dim, sizeof row, sizeof step};
  static const struct gpu_sizes sizes = {8, bytes};
  const long blocks = (count * dim + THREADS - 1) / THREADS;
  const int result =
      c->driver->launch(c->self, c->rows->functions[way][word],
                        (unsigned)(blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS), THREADS, 0, values, &sizes);
  c->failed |= result != 0;
  return gpu_failed(c, result, err, "dat \"%s\": launching what %s its rows on %s", dat->name,
                    way == ROWS_PACK ? "packs" : "unpacks", c->device.label);
}

int gpu_pack_rows(struct op_context *ctx, enum space space, struct device_messages *m, size_t at,
                  struct dat *dat, const int *elements, long count, struct error *err) {
  return launch(ctx, space, m, at, dat, ROWS_PACK, elements, count, err);
}

int gpu_unpack_rows(struct op_context *ctx, enum space space, struct device_messages *m, size_t at,
                    struct dat *dat, const int *elements, long count, struct error *err) {
  return launch(ctx, space, m, at, dat, ROWS_UNPACK, elements, count, err);
}
