/* Reads the file of an earlier run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/list.h"
#include "base/log.h"
#include "checkpoint/inner.h"
#include "context/context.h"
#include "files/io.h"
#include "files/layout.h"

enum { ROUND = 8 << 20, WORD_MOST = 512 };

void past_free(struct past *past) {
  if (!past)
    return;
  for (size_t i = 0; i < past->nkinds; i++)
    free(past->kinds[i].line);
  for (long long i = 0; past->dats && i < past->facts[FACT_DATS]; i++) {
    free(past->dats[i].dat);
    free(past->dats[i].set);
    free(past->dats[i].type);
  }
  if (past->file.file) {
    struct error ignored = {0}; /* all was read */
    past->file.table->close(past->file.file, &ignored);
    error_free(&ignored);
  }
  text_free(&past->path);
  text_free(&past->values);
  text_free(&past->own);
  text_free(&past->globals);
  free(past->sums);
  free(past->kinds);
  free(past->pairs);
  free(past->dats);
  free(past);
}

/* ---- tables that are whole ---- */

static int damaged(const struct layout *l, const char *name, struct error *err) {
  return error_set(err, OP_ERR_FILE, "%s is damaged: table \"%s\" is not what was written", l->path, name);
}

static int find_table(struct layout *l, const char *name, long long *rows, size_t *width, struct error *err) {
  struct file_dataset d;
  const int code = layout_find(l, name, &d, err);
  if (code)
    return code;
  if (d.rank != 2 || d.type != TYPE_CHAR || d.extents[0] < 1 || d.extents[1] < 1)
    return damaged(l, name, err);
  *rows = d.extents[0];
  *width = (size_t)d.extents[1];
  return OP_OK;
}

/* Each rank reads its share. */
static int add_up(struct layout *l, const char *name, long long rows, size_t width, uint64_t *sum,
                  struct error *err) {
  long long first, count;
  together_share(l->comm, rows, &first, &count);
  const long long each = width < ROUND ? (long long)(ROUND / width) : 1, room = count < each ? count : each;
  unsigned char *part = array_new((size_t)room, width);
  int code = part ? OP_OK : error_memory(err, "a part of a file", (size_t)room * width);
  for (long long at = 0; !code && at < count; at += each) {
    const long long n = count - at < each ? count - at : each;
    code = l->table->read(l->file, name, TYPE_CHAR, first + at, n, part, err);
    if (!code)
      *sum += sum_rows(part, first + at, n, width);
  }
  free(part);
  return code;
}

static int check_table(struct past *past, const char *name, struct error *err) {
  struct layout *l = &past->file;
  long long rows = 0, whole = 0, number = -1;
  size_t width = 0;
  uint64_t sum = 0;
  int code = find_table(l, name, &rows, &width, err);
  if (!code)
    code = add_up(l, name, rows, width, &sum, err);
  whole = (long long)sum;
  code = together_agree(l->comm, code, err);
  if (!code && !together_alone(l->comm))
    code = l->comm->table->reduce_all(l->comm, &whole, 1, COMM_LLONG, COMM_SUM, err);
  if (!code && (!l->table->get_number(l->file, name, "number", &number) || number < 0 ||
                number >= past->nsums || past->sums[number] != (uint64_t)whole))
    code = damaged(l, name, err);
  return together_agree(l->comm, code, err);
}

/* `rows` of a table, all of them; *out is the caller's. */
static int read_all_rows(struct layout *l, const char *name, long long rows, size_t width, char **out,
                         struct error *err) {
  size_t bytes;
  *out = size_mul((size_t)rows, width, &bytes) && size_add(bytes, 1, &bytes) ? array_new(bytes, 1) : NULL;
  if (!*out)
    return error_memory(err, "what happened before a checkpoint", (size_t)rows);
  return l->table->read(l->file, name, TYPE_CHAR, 0, rows, *out, err);
}

static int read_bytes(struct past *past, const char *name, long long bytes, struct text *out,
                      struct error *err) {
  struct layout *l = &past->file;
  long long rows = 0;
  size_t width = 0;
  char *memory = NULL;
  text_clear(out);
  if (!bytes)
    return OP_OK;
  int code = check_table(past, name, err);
  if (!code)
    code = find_table(l, name, &rows, &width, err);
  if (!code && (bytes < 0 || rows * (long long)width != bytes))
    code = damaged(l, name, err);
  if (!code)
    code = read_all_rows(l, name, rows, width, &memory, err);
  if (!code)
    text_add_bytes(out, memory, (size_t)bytes);
  if (!code && !text_ok(out))
    code = error_memory(err, "what happened before a checkpoint", (size_t)bytes);
  free(memory);
  return together_agree(l->comm, code, err);
}

/* Those that ranks wrote, added up. Where they are damaged no table fits. */
static int read_sums(struct past *past, struct error *err) {
  struct layout *l = &past->file;
  long long rows = 0;
  size_t width = 0;
  char *memory = NULL;
  int code = find_table(l, SUMS_TABLE, &rows, &width, err);
  if (!code)
    code = read_all_rows(l, SUMS_TABLE, rows, width, &memory, err);
  past->nsums = (long long)(width / sizeof *past->sums);
  past->sums = code ? NULL : array_new((size_t)past->nsums, sizeof *past->sums);
  if (!code && !past->sums)
    code = error_memory(err, "what happened before a checkpoint", width);
  for (long long i = 0; !code && i < rows * past->nsums; i++) {
    uint64_t sum;
    memcpy(&sum, memory + (i / past->nsums) * (long long)width + i % past->nsums * (long long)sizeof sum,
           sizeof sum);
    past->sums[i % past->nsums] += sum;
  }
  free(memory);
  return together_agree(l->comm, code, err);
}

/* ---- what they say ---- */

static int read_facts(struct past *past, struct error *err) {
  struct layout *l = &past->file;
  struct text bytes = {0};
  long long rows = 0;
  size_t width = 0;
  int code = find_table(l, FACTS_TABLE, &rows, &width, err);
  if (code)
    error_prefix(err, "this is no checkpoint: ");
  else if (width != sizeof *past->facts ||
           !l->table->get_text(l->file, FACTS_TABLE, "version", past->version, sizeof past->version) ||
           !l->table->get_text(l->file, FACTS_TABLE, "backend", past->backend, sizeof past->backend))
    code = damaged(l, FACTS_TABLE, err);
  if (!code) /* of another form the sums may be others, too */
    code = l->table->read(l->file, FACTS_TABLE, TYPE_CHAR, FACT_FORMAT, 1, &past->facts[FACT_FORMAT], err);
  if (!code && past->facts[FACT_FORMAT] != CHECKPOINT_FORMAT)
    code = error_set(err, OP_ERR_FILE,
                     "the checkpoint %s was written by op2jit %s in form %lld, and this is op2jit " VERSION
                     ", which "
                     "knows form %d; go on with that version, or remove the file to begin anew",
                     l->path, past->version, past->facts[FACT_FORMAT], CHECKPOINT_FORMAT);
  code = together_agree(l->comm, code, err);
  if (!code)
    code = read_sums(past, err);
  if (!code)
    code = read_bytes(past, FACTS_TABLE, sizeof past->facts, &bytes, err);
  if (!code)
    memcpy(past->facts, text_str(&bytes), sizeof past->facts);
  text_free(&bytes);
  if (!code && (past->facts[FACT_DATS] < 0 || past->facts[FACT_LEFT] < 0))
    code = damaged(l, FACTS_TABLE, err);
  return code;
}

/* A line for each: its hash, a blank, and what it is. */
static int take_kinds(struct past *past, const char *text, struct error *err) {
  while (*text) {
    const size_t line = strcspn(text, "\n"), hash = 16;
    struct kind *kinds = array_more(past->kinds, past->nkinds, sizeof *kinds);
    char *copy = kinds && line > hash ? strndup(text + hash + 1, line - hash - 1) : NULL;
    if (kinds)
      past->kinds = kinds;
    if (!copy)
      return error_memory(err, "what happened before a checkpoint", line);
    kinds[past->nkinds++] = (struct kind){.hash = strtoull(text, NULL, 16), .line = copy};
    text += line + (text[line] == '\n');
  }
  return OP_OK;
}

static int read_events(struct past *past, struct error *err) {
  struct text bytes = {0};
  int code = read_bytes(past, "events", past->facts[FACT_PAIRS], &bytes, err);
  const size_t count = bytes.length / sizeof(struct pair);
  past->pairs = code ? NULL : array_new(count, sizeof *past->pairs);
  if (!code && !past->pairs)
    code = error_memory(err, "what happened before a checkpoint", bytes.length);
  if (!code)
    memcpy(past->pairs, text_str(&bytes), count * sizeof *past->pairs);
  past->replay.pairs = past->pairs;
  past->replay.npairs = count;
  if (!code)
    code = read_bytes(past, "kinds", past->facts[FACT_KINDS], &bytes, err);
  if (!code)
    code = take_kinds(past, text_str(&bytes), err);
  text_free(&bytes);
  return code;
}

/* The values that this rank fetched alone, if there are as many ranks as then. */
static int read_own(struct past *past, struct error *err) {
  struct layout *l = &past->file;
  const long long ranks = past->facts[FACT_RANKS], rank = l->comm ? l->comm->rank : 0;
  struct text lengths = {0}, all = {0};
  past->has_own = ranks == (l->comm ? l->comm->size : 1);
  if (!past->facts[FACT_OWN])
    return OP_OK;
  int code = read_bytes(past, "lengths", ranks * (long long)sizeof ranks, &lengths, err);
  if (!code)
    code = read_bytes(past, "own", past->facts[FACT_OWN], &all, err);
  long long first = 0, mine = 0;
  for (long long r = 0; !code && past->has_own && r <= rank; r++) {
    first += mine;
    memcpy(&mine, text_str(&lengths) + (size_t)r * sizeof mine, sizeof mine);
  }
  if (!code && (first < 0 || mine < 0 || first + mine > past->facts[FACT_OWN]))
    code = damaged(l, "own", err);
  if (!code && mine)
    text_add_bytes(&past->own, text_str(&all) + first, (size_t)mine);
  text_free(&lengths);
  text_free(&all);
  return code || text_ok(&past->own) ? code : error_memory(err, "values that left", (size_t)mine);
}

static int read_dat(struct past *past, const char *name, struct table *out, struct error *err) {
  struct layout *l = &past->file;
  char dat[WORD_MOST], set[WORD_MOST], type[WORD_MOST];
  long long dim, ordinal, width, zeros;
  int code = check_table(past, name, err);
  if (code)
    return code;
  if (!l->table->get_text(l->file, name, "dat", dat, sizeof dat) ||
      !l->table->get_text(l->file, name, "set", set, sizeof set) ||
      !l->table->get_text(l->file, name, "values", type, sizeof type) ||
      !l->table->get_number(l->file, name, "components", &dim) ||
      !l->table->get_number(l->file, name, "ordinal", &ordinal) ||
      !l->table->get_number(l->file, name, "rows", &out->rows) ||
      !l->table->get_number(l->file, name, "bytes", &width) ||
      !l->table->get_number(l->file, name, "zeros", &zeros))
    return damaged(l, name, err);
  out->dim = (int)dim;
  out->ordinal = (int)ordinal;
  out->width = (size_t)width;
  out->zeros = zeros != 0;
  out->dat = strdup(dat);
  out->set = strdup(set);
  out->type = strdup(type);
  return out->dat && out->set && out->type ? OP_OK : error_memory_of(err, "a checkpoint of dat", dat, 0);
}

static void name_table(char out[64], long long number) {
  snprintf(out, 64, "dat/%lld", number);
}

static int read_tables(struct past *past, struct error *err) {
  char name[64];
  int code = past->facts[FACT_LEFT] ? check_table(past, "left", err) : OP_OK;
  past->dats = code ? NULL : array_new((size_t)past->facts[FACT_DATS], sizeof *past->dats);
  if (!code && !past->dats)
    code = error_memory(err, "what a checkpoint has of dats", 0);
  for (long long i = 0; !code && i < past->facts[FACT_DATS]; i++) {
    name_table(name, i);
    code = read_dat(past, name, &past->dats[i], err);
  }
  return code;
}

static int read_all(struct past *past, struct error *err) {
  int code = read_facts(past, err);
  if (!code)
    code = read_events(past, err);
  if (!code)
    code = read_bytes(past, "values", past->facts[FACT_VALUES], &past->values, err);
  if (!code)
    code = read_bytes(past, "globals", past->facts[FACT_GLOBALS], &past->globals, err);
  if (!code)
    code = read_own(past, err);
  return code ? code : read_tables(past, err);
}

int past_read(const struct file_table *files, struct comm *comm, const char *path, struct past **out,
              struct error *err) {
  struct past *past = calloc(1, sizeof *past);
  struct layout l;
  if (past)
    text_add(&past->path, path);
  int code = past && text_ok(&past->path) ? OP_OK : error_memory(err, "a checkpoint", sizeof *past);
  code = together_agree(comm, code, err);
  if (!code && !(code = layout_open(&l, files, comm, text_str(&past->path), err))) {
    past->file = l;
    code = together_agree(comm, read_all(past, err), err);
  }
  if (code) {
    past_free(past);
    past = NULL;
  }
  *out = past;
  return code;
}

/* ---- which of two ---- */

/* As the root sees it. */
static int is_there(struct comm *comm, const char *path, long long *there, struct error *err) {
  *there = access(path, F_OK) == 0;
  return together_broadcast(comm, there, sizeof *there, err);
}

/* `why`: why the newer one cannot be used; no code: it is not there. */
static int open_previous(struct op_context *ctx, const struct file_table *files, const char *path,
                         struct past **out, struct error *why, struct error *err) {
  struct text previous = {0};
  struct error second = {0};
  long long there = 0;
  text_addf(&previous, "%s" PREVIOUS, path);
  int code = text_ok(&previous) ? is_there(ctx->comm, text_str(&previous), &there, err)
                                : error_memory(err, "a file's name", previous.length);
  if (!code && there)
    code = past_read(files, ctx->comm, text_str(&previous), out, &second);
  if (!code && *out && together_is_root(ctx->comm))
    log_line(ctx->log, LOG_WARN, "io", "%s%s; the run goes on from the one before it, %s%s",
             why->code ? error_message(why) : path, why->code ? "" : " is not there", text_str(&previous),
             why->code ? "" : "; to begin anew remove that, too");
  if (why->code && !*out) {
    code = error_copy(err, why);
    error_prefix(err, "OP2_CHECKPOINT: ");
  } else if (code && second.code)
    code = error_copy(err, &second);
  error_free(&second);
  text_free(&previous);
  return code;
}

int past_open(struct op_context *ctx, const char *path, struct past **out, struct error *err) {
  const struct file_table *files;
  struct error why = {0};
  long long there = 0;
  *out = NULL;
  int code = io_table(ctx, &files, err);
  if (!code)
    code = is_there(ctx->comm, path, &there, err);
  if (!code && (!there || past_read(files, ctx->comm, path, out, &why)))
    code = open_previous(ctx, files, path, out, &why, err);
  error_free(&why);
  return code;
}

/* Rows of a table that has so many, of `width` bytes. */
struct wanted {
  long long all, first, rows;
  size_t width;
};

static int read_rows(struct op_context *ctx, const struct past *past, const char *name,
                     const struct wanted *wanted, void *out, struct error *err) {
  struct layout l = past->file;
  long long rows = 0;
  size_t width = 0;
  l.ctx = ctx;
  int code = find_table(&l, name, &rows, &width, err);
  if (!code && (rows != wanted->all || width != wanted->width))
    code = error_set(
        err, OP_ERR_FILE,
        "%s holds %lld rows of %zu bytes where the program has %lld of %zu; remove the file to begin anew",
        l.path, rows, width, wanted->all, wanted->width);
  if (!code && wanted->rows)
    code = layout_read(&l, name, TYPE_CHAR, (int)width, wanted->first, wanted->rows, out, err);
  return together_agree(ctx->comm, code, err);
}

int past_rows(struct op_context *ctx, const struct past *past, long long number, const struct set *set,
              size_t width, void *out, struct error *err) {
  const struct wanted wanted = {set->global_size, set->global_first, set->size, width};
  char name[64];
  name_table(name, number);
  return set->global_size ? read_rows(ctx, past, name, &wanted, out, err) : OP_OK;
}

int past_left(struct op_context *ctx, const struct past *past, long long first, long long bytes, void *out,
              struct error *err) {
  const struct wanted wanted = {past->facts[FACT_LEFT], first, bytes, 1};
  return past->facts[FACT_LEFT] ? read_rows(ctx, past, "left", &wanted, out, err) : OP_OK;
}
