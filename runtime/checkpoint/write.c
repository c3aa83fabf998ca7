/* The file of a checkpoint: tables of bytes. The root makes them all with what is said of them, and closes the file; then each
 * rank puts its rows where they belong, without HDF5 and without a word to the others, so that a thread may do it. The last
 * table has the sums of each rank's rows. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/list.h"
#include "checkpoint/inner.h"
#include "context/context.h"
#include "files/save.h"
#include "files/writing.h"
#include "spread/spread.h"

void image_free(struct image *image) {
  for (size_t i = 0; i < image->ntables; i++) {
    struct table *table = &image->tables[i];
    free(table->name);
    free(table->data);
    free(table->pieces);
    free(table->dat);
    free(table->set);
    free(table->type);
  }
  free(image->tables);
  free(image->places);
  *image = (struct image){0};
}

struct table *image_table(struct image *image, const char *name, int number) {
  struct table *tables = array_more(image->tables, image->ntables, sizeof *tables);
  struct text full = {0};
  if (!tables)
    return NULL;
  image->tables = tables;
  text_add(&full, name);
  if (number >= 0)
    text_addf(&full, "/%d", number);
  char *taken = text_take(&full);
  if (!taken)
    return NULL;
  tables[image->ntables] = (struct table){.name = taken};
  return &tables[image->ntables++];
}

/* Eight bytes at a time, and the row's number. */
uint64_t sum_rows(const unsigned char *rows, long long first, long long count, size_t width) {
  const uint64_t factor = 0x9e3779b97f4a7c15U;
  uint64_t sum = 0;
  for (long long r = 0; r < count; r++) {
    const unsigned char *row = rows + (size_t)r * width;
    uint64_t hash = (uint64_t)(first + r + 1) * factor;
    for (size_t i = 0; i < width; i += sizeof(uint64_t)) {
      uint64_t word = 0;
      memcpy(&word, row + i, width - i < sizeof word ? width - i : sizeof word);
      hash = (hash ^ word) * factor;
      hash ^= hash >> 29;
    }
    sum += hash;
  }
  return sum;
}

/* ---- one table ---- */

/* A dat that is read as it is written. */
struct summed {
  struct dat *dat;
  uint64_t sum;
};

static int fetch_summed(struct op_context *ctx, void *object, long low, long count, void *out,
                        struct error *err) {
  struct summed *summed = object;
  const int code = data_fetch(ctx, summed->dat, out, low, low + count - 1, err);
  if (!code)
    summed->sum += sum_rows(out, summed->dat->set->global_first + low, count, summed->dat->row_bytes);
  return code;
}

/* Pieces that touch are one. */
static int write_pieces(struct layout *l, const struct table *t, uint64_t *sum, struct error *err) {
  const unsigned char *data = t->data;
  int code = OP_OK;
  for (size_t i = 0, end; !code && i < t->npieces; i = end) {
    long long bytes = t->pieces[i].bytes;
    for (end = i + 1; end < t->npieces && t->pieces[end].first == t->pieces[i].first + bytes; end++)
      bytes += t->pieces[end].bytes;
    code = layout_write(l, t->name, TYPE_CHAR, 1, t->pieces[i].first, bytes, data, err);
    *sum += sum_rows(data, t->pieces[i].first, bytes, 1);
    data += bytes;
  }
  return code;
}

static int write_rows(struct op_context *ctx, struct layout *l, const struct table *t, uint64_t *sum,
                      struct error *err) {
  struct summed summed = {.dat = t->source};
  const struct rows_table rows = {.name = t->name,
                                  .type = TYPE_CHAR,
                                  .dim = (int)t->width,
                                  .set = t->source ? t->source->set : NULL,
                                  .source = fetch_summed,
                                  .object = &summed};
  int code = OP_OK;
  if (t->pieces)
    return write_pieces(l, t, sum, err);
  if (t->source) {
    code = rows_write(ctx, l, &rows, err);
    *sum = summed.sum;
    return code;
  }
  code = layout_write(l, t->name, TYPE_CHAR, (int)t->width, t->first, t->mine, t->data, err);
  *sum = sum_rows(t->data, t->first, t->mine, t->width);
  return code;
}

static int describe(const struct layout *l, const struct table *t, long long number, struct error *err) {
  const struct file_table *table = l->table;
  const struct {
    const char *name;
    long long value;
  } numbers[] = {{"number", number}, {"components", t->dim},         {"ordinal", t->ordinal},
                 {"rows", t->rows},  {"bytes", (long long)t->width}, {"zeros", t->zeros}};
  const struct {
    const char *name, *value;
  } words[] = {{"dat", t->dat}, {"set", t->set}, {"values", t->type}};
  int code = OP_OK;
  for (size_t i = 0; !code && i < (t->dat ? sizeof numbers / sizeof *numbers : 1); i++)
    code = table->put_number(l->file, t->name, numbers[i].name, numbers[i].value, err);
  for (size_t i = 0; !code && t->dat && i < sizeof words / sizeof *words; i++)
    code = table->put_text(l->file, t->name, words[i].name, words[i].value, err);
  return code;
}

/* As it lies in the file: one byte stands for rows that are all zero, and for none. */
static struct table as_stored(const struct image *image, const struct table *t) {
  static unsigned char nothing;
  struct table stored = *t;
  if (t->zeros || !t->rows) {
    stored.rows = 1;
    stored.width = 1;
    stored.source = NULL;
    stored.data = &nothing;
    stored.first = 0;
    stored.mine = together_is_root(image->file.comm);
  }
  return stored;
}

/* ---- the whole file ---- */

/* On the root. */
static int make_tables(struct image *image, struct error *err) {
  struct layout l = writing_layout(&image->file, image->path);
  int code = OP_OK;
  l.comm = NULL; /* no others take part */
  for (size_t i = 0; !code && i < image->ntables; i++) {
    const struct table t = as_stored(image, &image->tables[i]);
    code = layout_new_table(&l, t.name, TYPE_CHAR, "char", (int)t.width, t.rows, NULL, err);
    if (!code)
      code = describe(&l, &image->tables[i], (long long)i, err);
    if (!code)
      code = l.table->place(l.file, t.name, &image->places[i], err);
  }
  if (!code)
    code = l.table->put_text(l.file, FACTS_TABLE, "version", image->version, err);
  if (!code)
    code = l.table->put_text(l.file, FACTS_TABLE, "backend", image->backend, err);
  image->file.file = NULL;
  return layout_close_file(l.table, l.file, code, err);
}

/* Those that all files have. */
static int add_tables(struct image *image, const struct comm *comm, struct error *err) {
  struct table *facts = image_table(image, FACTS_TABLE, -1);
  if (facts) {
    *facts = (struct table){.name = facts->name,
                            .rows = FACTS,
                            .mine = together_is_root(comm) ? FACTS : 0,
                            .width = sizeof *image->facts,
                            .data = array_new(FACTS, sizeof *image->facts)};
    if (facts->data)
      memcpy(facts->data, image->facts, sizeof image->facts);
  }
  const bool has_facts = facts && facts->data;
  struct table *sums = has_facts ? image_table(image, SUMS_TABLE, -1) : NULL;
  if (sums)
    *sums = (struct table){.name = sums->name,
                           .rows = comm ? comm->size : 1,
                           .first = comm ? comm->rank : 0,
                           .mine = 1,
                           .width = (image->ntables - 1) * sizeof(uint64_t),
                           .data = array_new(image->ntables - 1, sizeof(uint64_t))};
  image->places = array_new(image->ntables, sizeof *image->places);
  return sums && sums->data && image->places ? OP_OK : error_memory(err, "a checkpoint", 0);
}

int image_begin(const struct file_table *files, struct comm *comm, const char *path, struct image *image,
                struct error *err) {
  image->path = path;
  int code = together_agree(comm, add_tables(image, comm, err), err);
  if (!code)
    code = writing_begin(&image->file, files, comm, path, NULL, err);
  if (code)
    return code;
  if (together_is_root(comm))
    code = make_tables(image, err);
  code = together_agree(comm, code, err);
  if (!code)
    code = together_broadcast(comm, image->places, image->ntables * sizeof *image->places, err);
  return code ? writing_end(&image->file, code, err) : OP_OK;
}

int image_rows(struct op_context *ctx, struct image *image, struct error *err) {
  struct table *sums = &image->tables[image->ntables - 1];
  int code = OP_OK;
  for (size_t i = 0; !code && i < image->ntables; i++) {
    const struct table t = as_stored(image, &image->tables[i]);
    struct layout l = {.table = image->file.table,
                       .ctx = ctx,
                       .path = image->path,
                       .rows = image->file.rows,
                       .place = image->places[i]};
    uint64_t sum = 0;
    code = write_rows(ctx, &l, &t, &sum, err);
    if (ctx)
      code = together_agree(image->file.comm, code, err);
    if (i + 1 < image->ntables)
      memcpy(sums->data + i * sizeof sum, &sum, sizeof sum);
  }
  return code;
}

/* The existing file gets a second name, and keeps its own until the new file takes it. Where a file cannot have two names
 * it is renamed. */
static void keep_previous(const char *path) {
  struct text previous = {0};
  text_addf(&previous, "%s" PREVIOUS, path);
  if (text_ok(&previous) && access(path, F_OK) == 0) {
    unlink(text_str(&previous));
    if (linkat(AT_FDCWD, path, AT_FDCWD, text_str(&previous), AT_SYMLINK_FOLLOW) != 0)
      rename(path, text_str(&previous));
  }
  text_free(&previous);
}

int image_end(struct image *image, int code, struct error *err) {
  code = together_agree(image->file.comm, code, err);
  if (!code && together_is_root(image->file.comm))
    keep_previous(image->path);
  return writing_end(&image->file, code, err);
}
