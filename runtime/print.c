#include "print.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/size.h"
#include "context.h"
#include "data.h"

/* Rows that are fetched at a time: the whole dat is never copied. */
enum { BATCH = 4096 };

typedef bool write_rows(FILE *file, const struct dat *dat, const unsigned char *rows, long count);
typedef bool write_head(FILE *file, const struct dat *dat);

static bool text_head(FILE *file, const struct dat *dat) {
  return fprintf(file, "%ld %d\n", dat->set->size, dat->dim) > 0;
}

static bool text_rows(FILE *file, const struct dat *dat, const unsigned char *rows, long count) {
  char value[64];
  for (long e = 0; e < count; e++)
    for (int c = 0; c < dat->dim; c++, rows += dat->value_size) {
      type_print(dat->type, rows, value, sizeof value);
      if (fprintf(file, "%s%c", value, c + 1 < dat->dim ? ' ' : '\n') < 0)
        return false;
    }
  return true;
}

static bool binary_head(FILE *file, const struct dat *dat) {
  const int head[2] = {(int)dat->set->size, dat->dim};
  return fwrite(head, sizeof head, 1, file) == 1;
}

static bool binary_rows(FILE *file, const struct dat *dat, const unsigned char *rows, long count) {
  return fwrite(rows, dat->row_bytes, (size_t)count, file) == (size_t)count;
}

static int write_file(struct op_context *ctx, struct dat *dat, FILE *file, unsigned char *rows,
                      write_head *head, write_rows *body, const char *path, struct error *err) {
  bool good = head(file, dat);
  for (long low = 0; good && low < dat->set->size; low += BATCH) {
    long high = low + BATCH <= dat->set->size ? low + BATCH - 1 : dat->set->size - 1;
    int code = data_fetch(ctx, dat, rows, low, high, err);
    if (code)
      return code;
    good = body(file, dat, rows, high - low + 1);
  }
  if (!good || fflush(file) != 0)
    return error_set(err, OP_ERR_FILE, "dat \"%s\" cannot be written to %s: %s", dat->name, path,
                     strerror(errno));
  return OP_OK;
}

static int print(struct op_context *ctx, struct dat *dat, const char *path, write_head *head,
                 write_rows *body, struct error *err) {
  struct text aside = {0};
  text_addf(&aside, "%s.%ld.part", path, (long)getpid());
  unsigned char *rows = array_new(BATCH, dat->row_bytes);
  if (!text_ok(&aside) || !rows) {
    text_free(&aside);
    free(rows);
    return error_memory(err, "a file's buffer", BATCH * dat->row_bytes);
  }
  int code;
  FILE *file = fopen(text_str(&aside), "wb");
  if (!file)
    code = error_set(err, OP_ERR_FILE, "dat \"%s\" cannot be written to %s: %s", dat->name, path,
                     strerror(errno));
  else {
    code = write_file(ctx, dat, file, rows, head, body, path, err);
    if (fclose(file) != 0 && !code)
      code = error_set(err, OP_ERR_FILE, "dat \"%s\" cannot be written to %s: %s", dat->name, path,
                       strerror(errno));
    if (!code && rename(text_str(&aside), path) != 0)
      code = error_set(err, OP_ERR_FILE, "file %s cannot be replaced: %s", path, strerror(errno));
    if (code)
      unlink(text_str(&aside));
  }
  text_free(&aside);
  free(rows);
  return code;
}

int print_text(struct op_context *ctx, struct dat *dat, const char *path, struct error *err) {
  return print(ctx, dat, path, text_head, text_rows, err);
}

int print_binary(struct op_context *ctx, struct dat *dat, const char *path, struct error *err) {
  return print(ctx, dat, path, binary_head, binary_rows, err);
}
