/* The file of a checkpoint: tables of bytes, each with the sum of its rows. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/size.h"
#include "checkpoint/inner.h"
#include "context/context.h"
#include "files/rows.h"
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
    for (end = i + 1; together_alone(l->comm) && end < t->npieces; end++)
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

static int describe(const struct layout *l, const struct table *t, uint64_t sum, struct error *err) {
  const struct file_table *table = l->table;
  char words[32];
  snprintf(words, sizeof words, "%016llx", (unsigned long long)sum);
  int code = table->put_text(l->file, t->name, "sum", words, err);
  if (code || !t->dat)
    return code;
  code = table->put_text(l->file, t->name, "dat", t->dat, err);
  if (!code)
    code = table->put_text(l->file, t->name, "set", t->set, err);
  if (!code)
    code = table->put_text(l->file, t->name, "values", t->type, err);
  if (!code)
    code = table->put_number(l->file, t->name, "components", t->dim, err);
  if (!code)
    code = table->put_number(l->file, t->name, "ordinal", t->ordinal, err);
  if (!code)
    code = table->put_number(l->file, t->name, "rows", t->rows, err);
  if (!code)
    code = table->put_number(l->file, t->name, "bytes", (long long)t->width, err);
  return code ? code : table->put_number(l->file, t->name, "zeros", t->zeros, err);
}

/* One byte stands for rows that are all zero, and for none. */
static int write_table(struct op_context *ctx, struct layout *l, const struct table *t, struct error *err) {
  static unsigned char nothing;
  struct table short_one = *t;
  uint64_t sum = 0;
  if (t->zeros || !t->rows) {
    short_one.rows = 1;
    short_one.width = 1;
    short_one.source = NULL;
    short_one.data = &nothing;
    short_one.first = 0;
    short_one.mine = together_is_root(l->comm);
  }
  int code = layout_new_table(l, t->name, TYPE_CHAR, "char", (int)short_one.width, short_one.rows, NULL, err);
  if (!code)
    code = write_rows(ctx, l, &short_one, &sum, err);
  long long whole = (long long)sum;
  if (!code && !together_alone(l->comm))
    code = l->comm->table->reduce_all(l->comm, &whole, 1, COMM_LLONG, COMM_SUM, err);
  if (!code && l->file)
    code = describe(l, t, (uint64_t)whole, err);
  return together_agree(l->comm, code, err);
}

/* ---- the whole file ---- */

static int write_facts(struct op_context *ctx, struct layout *l, const struct image *image,
                       struct error *err) {
  char name[] = "checkpoint";
  unsigned char bytes[sizeof image->facts];
  memcpy(bytes, image->facts, sizeof bytes);
  const struct table facts = {.name = name,
                              .rows = FACTS,
                              .mine = together_is_root(l->comm) ? FACTS : 0,
                              .width = sizeof *image->facts,
                              .data = bytes};
  int code = write_table(ctx, l, &facts, err);
  if (!code && l->file)
    code = l->table->put_text(l->file, name, "version", image->version, err);
  if (!code && l->file)
    code = l->table->put_text(l->file, name, "backend", image->backend, err);
  return together_agree(l->comm, code, err);
}

/* What is there gets another name, and stays under its own until the new file takes that. Where a file can have no two
 * names it has only the other one meanwhile. */
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

int image_write(struct op_context *ctx, const struct file_table *files, struct comm *comm, const char *path,
                const struct image *image, struct error *err) {
  struct writing w;
  int code = writing_begin(&w, files, comm, path, NULL, err);
  if (code)
    return code;
  struct layout l = writing_layout(&w, path);
  l.ctx = ctx;
  for (size_t i = 0; !code && i < image->ntables; i++)
    code = write_table(ctx, &l, &image->tables[i], err);
  if (!code)
    code = write_facts(ctx, &l, image, err);
  if (!code && together_is_root(comm))
    keep_previous(path);
  return writing_end(&w, code, err);
}
