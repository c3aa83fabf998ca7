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

static int cannot_write(const char *path, struct error *err) {
  return error_set(err, OP_ERR_FILE, "the file %s cannot be written: %s", path, strerror(errno));
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
  return good && fflush(file) == 0 ? OP_OK : cannot_write(path, err);
}

/* What goes into the file, by whoever knows. */
typedef int fill_file(FILE *file, const char *path, void *user, struct error *err);

static int write_aside(const char *path, fill_file *fill, void *user, struct error *err) {
  struct text aside = {0};
  text_addf(&aside, "%s.%ld.part", path, (long)getpid());
  if (!text_ok(&aside)) {
    text_free(&aside);
    return error_memory(err, "a file's name", strlen(path));
  }
  int code = OP_OK;
  FILE *file = fopen(text_str(&aside), "wb");
  if (!file)
    code = cannot_write(path, err);
  else {
    code = fill(file, path, user, err);
    if (fclose(file) != 0 && !code)
      code = cannot_write(path, err);
    if (!code && rename(text_str(&aside), path) != 0)
      code = error_set(err, OP_ERR_FILE, "the file %s cannot be replaced: %s", path, strerror(errno));
    if (code)
      unlink(text_str(&aside));
  }
  text_free(&aside);
  return code;
}

struct dat_file {
  struct op_context *ctx;
  struct dat *dat;
  write_head *head;
  write_rows *body;
};

static int fill_dat(FILE *file, const char *path, void *user, struct error *err) {
  const struct dat_file *f = user;
  unsigned char *rows = array_new(BATCH, f->dat->row_bytes);
  if (!rows)
    return error_memory(err, "a file's buffer", BATCH * f->dat->row_bytes);
  int code = write_file(f->ctx, f->dat, file, rows, f->head, f->body, path, err);
  free(rows);
  return code;
}

static int print(struct op_context *ctx, struct dat *dat, const char *path, write_head *head,
                 write_rows *body, struct error *err) {
  struct dat_file f = {ctx, dat, head, body};
  int code = write_aside(path, fill_dat, &f, err);
  return code ? error_prefix(err, "dat \"%s\": ", dat->name) : OP_OK;
}

struct whole_file {
  const void *bytes;
  size_t length;
};

static int fill_whole(FILE *file, const char *path, void *user, struct error *err) {
  const struct whole_file *f = user;
  return fwrite(f->bytes, 1, f->length, file) == f->length ? OP_OK : cannot_write(path, err);
}

int print_whole(const char *path, const void *bytes, size_t length, struct error *err) {
  struct whole_file f = {bytes, length};
  return write_aside(path, fill_whole, &f, err);
}

int print_text(struct op_context *ctx, struct dat *dat, const char *path, struct error *err) {
  return print(ctx, dat, path, text_head, text_rows, err);
}

int print_binary(struct op_context *ctx, struct dat *dat, const char *path, struct error *err) {
  return print(ctx, dat, path, binary_head, binary_rows, err);
}
