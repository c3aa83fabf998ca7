#include "files/layout.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "context/context.h"
#include "context/trace.h"
#include "ranks/agree.h"

/* ---- open and close ---- */

static int check_path(const char *path, struct error *err) {
  struct stat status;
  if (stat(path, &status) != 0 || access(path, R_OK) != 0)
    return error_set(err, OP_ERR_FILE, "the file %s cannot be read: %s; expected an HDF5 file", path,
                     strerror(errno));
  if (!S_ISREG(status.st_mode))
    return error_set(err, OP_ERR_FILE, "%s is not a file; name an HDF5 file", path);
  return OP_OK;
}

int layout_close_file(const struct file_table *table, struct file *file, int code, struct error *err) {
  struct error second = {0};
  const int closed = table->close(file, &second);
  if (!code && closed)
    code = error_copy(err, &second);
  error_free(&second);
  return code;
}

int layout_open(struct layout *l, const struct file_table *table, struct comm *comm, const char *path,
                struct error *err) {
  *l = (struct layout){.table = table, .comm = comm, .path = path};
  int code = check_path(path, err);
  if (!code)
    code = table->open(&l->file, path, path, FILE_READ, err);
  code = together_agree(comm, code, err);
  return code && l->file ? layout_close_file(table, l->file, code, err) : code;
}

int layout_close(struct layout *l, int code, struct error *err) {
  return together_agree(l->comm, layout_close_file(l->table, l->file, code, err), err);
}

/* ---- what is there ---- */

enum { NAMES_MOST = 200, NAMES_SHOWN = 12 };

struct names {
  struct text text; /* one after the other, with their NULs */
  int count;
};

static bool note_name(void *user, const char *name) {
  struct names *names = user;
  text_add_bytes(&names->text, name, strlen(name) + 1);
  return ++names->count < NAMES_MOST;
}

static int missing(struct layout *l, const char *name, struct error *err) {
  struct names names = {0};
  struct text list = {0};
  struct error ignored = {0};
  l->table->each(l->file, note_name, &names, &ignored);
  const char *all[NAMES_MOST], *at = text_str(&names.text);
  const int count = text_ok(&names.text) ? names.count : 0;
  for (int i = 0; i < count; i++, at += strlen(at) + 1) {
    all[i] = at;
    if (i < NAMES_SHOWN)
      text_addf(&list, "%s\"%s\"", i ? ", " : "", at);
  }
  int near = nearest_name(name, all, count);
  error_set(err, OP_ERR_FILE, "%s: there is no dataset \"%s\"%s%s%s; the file has %s%s", l->path, name,
            near >= 0 ? " (did you mean \"" : "", near >= 0 ? all[near] : "", near >= 0 ? "\"?)" : "",
            count ? text_str(&list) : "none", count > NAMES_SHOWN ? ", and others" : "");
  error_free(&ignored);
  text_free(&list);
  text_free(&names.text);
  return OP_ERR_FILE;
}

int layout_find(struct layout *l, const char *name, struct file_dataset *out, struct error *err) {
  enum file_kind kind = l->table->kind(l->file, name);
  if (kind == FILE_NOTHING)
    return missing(l, name, err);
  if (kind == FILE_OTHER)
    return error_set(err, OP_ERR_FILE,
                     "%s: \"%s\" is a folder of the file, not a dataset; name a dataset in it", l->path,
                     name);
  return l->table->look(l->file, name, out, err);
}

static void describe_shape(const struct file_dataset *d, struct text *out) {
  for (int i = 0; i < d->rank; i++)
    text_addf(out, "%s%lld", i ? " x " : "", d->extents[i]);
  if (!d->rank)
    text_add(out, "one value");
}

static int wrong_shape(struct layout *l, const char *name, const struct file_dataset *d, int dim,
                       struct error *err) {
  struct text shape = {0};
  describe_shape(d, &shape);
  error_set(err, OP_ERR_DIM, "%s: \"%s\" is %s; expected a table with rows of %d", l->path, name,
            text_str(&shape), dim);
  text_free(&shape);
  return OP_ERR_DIM;
}

int layout_find_table(struct layout *l, const char *name, int dim, bool whole, long long *rows,
                      struct file_dataset *out, struct error *err) {
  int code = layout_find(l, name, out, err);
  if (code)
    return code;
  if ((out->type == TYPE_NONE && (whole || !out->compound)) ||
      (whole && (out->type == TYPE_DOUBLE || out->type == TYPE_FLOAT)))
    return error_set(err, OP_ERR_TYPE, "%s: \"%s\" holds %s; expected %s", l->path, name, out->words,
                     whole ? "whole numbers" : "numbers");
  const long long columns = out->rank == 1 ? 1 : out->rank == 2 ? out->extents[1] : -1;
  if (columns != dim)
    return wrong_shape(l, name, out, dim, err);
  *rows = out->extents[0];
  return OP_OK;
}

bool layout_is_set(const struct layout *l, const char *name, const struct file_dataset *d) {
  long long dim, values = 1;
  for (int i = 0; i < d->rank; i++)
    values = d->extents[i] == 1 ? values : 0;
  return values == 1 && d->type != TYPE_NONE && !type_info(d->type)->is_float && d->rank <= 1 &&
         !l->table->get_number(l->file, name, "dim", &dim);
}

int layout_read_size(struct layout *l, const char *name, long long *size, struct error *err) {
  struct file_dataset d;
  int code = layout_find(l, name, &d, err);
  if (code)
    return code;
  long long values = 1;
  for (int i = 0; i < d.rank; i++)
    values = d.extents[i] == 1 ? values : 0;
  if (!values || d.type == TYPE_NONE || d.type == TYPE_DOUBLE || d.type == TYPE_FLOAT) {
    struct text shape = {0};
    describe_shape(&d, &shape);
    error_set(err, OP_ERR_FILE,
              "%s: \"%s\" is %s of %s, not the size of a set: expected one whole number; "
              "op_decl_set_hdf5_infer_size takes the size from a dataset's rows",
              l->path, name, text_str(&shape), d.words);
    text_free(&shape);
    return OP_ERR_FILE;
  }
  code = l->table->read(l->file, name, TYPE_LONGLONG, 0, 1, size, err);
  if (!code && *size < 0)
    code = error_set(err, OP_ERR_SIZE, "%s: the size of set \"%s\" is %lld; expected 0 or more", l->path,
                     name, *size);
  return code;
}

/* ---- rows ---- */

static void make_bools(unsigned char *values, size_t count) {
  for (size_t i = 0; i < count; i++)
    values[i] = values[i] != 0;
}

typedef int move_rows(struct layout *l, const char *name, enum type_code type, long long first,
                      long long rows, void *data, struct error *err);

static int read_round(struct layout *l, const char *name, enum type_code type, long long first,
                      long long rows, void *data, struct error *err) {
  return l->table->read(l->file, name, type, first, rows, data, err);
}

/* As much as the system takes at a time. */
static int write_round(struct layout *l, const char *name, enum type_code type, long long first,
                       long long rows, void *data, struct error *err) {
  const unsigned char *from = data;
  const long long size = (long long)type_info(type)->size * l->columns;
  off_t at = (off_t)(l->place + first * size);
  for (size_t left = (size_t)(rows * size); left > 0;) {
    const ssize_t n = pwrite(l->rows, from, left, at);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return error_set(err, OP_ERR_FILE, "%s: \"%s\": its rows cannot be written: %s", l->path, name,
                       strerror(n < 0 ? errno : ENOSPC));
    from += n;
    at += n;
    left -= (size_t)n;
  }
  return OP_OK;
}

/* Reading or writing, with the words that progress shows. */
struct moving {
  const char *doing;      /* "reading" */
  move_rows *round;       /* so many at a time */
  const char *trace_word; /* the same in a trace */
};
static const struct moving reading = {"reading", read_round, "read"},
                           writing = {"writing", write_round, "write"};

/* Less than this is there at once. */
enum { LARGE = 16 << 20 };

static void tell(const struct layout *l, const struct moving *what, const char *name) {
  struct progress *progress = l->ctx ? l->ctx->log->progress : NULL;
  const char *folder = strrchr(l->path, '/'), *file = folder ? folder + 1 : l->path;
  if (!progress || l->whole < (double)LARGE)
    return;
  if (l->moved > 0)
    progress_more(progress, "%s %s of %s: %.0f%% of %.0f MB", what->doing, name, file,
                  100 * l->moved / l->whole, l->whole * 1e-6);
  else
    progress_step(progress, "%s %s of %s: %.0f MB", what->doing, name, file, l->whole * 1e-6);
}

void layout_expect(struct layout *l, double bytes) {
  l->whole = bytes;
  l->moved = 0;
  if (l->ctx && bytes <= 0)
    progress_end(l->ctx->log->progress);
}

static int move(struct layout *l, const char *name, enum type_code type, int dim, long long first,
                long long rows, unsigned char *data, const struct moving *what, struct error *err) {
  const size_t row_bytes = (size_t)dim * type_info(type)->size;
  const long long each = row_bytes < LAYOUT_ROUND ? (long long)(LAYOUT_ROUND / row_bytes) : 1;
  const double start = clock_seconds(), whole = (double)rows * (double)row_bytes;
  const bool alone = l->whole <= 0;
  int code = OP_OK;
  if (alone)
    layout_expect(l, whole);
  for (long long begin = 0; begin < rows && !code; begin += each) {
    const long long count = rows - begin < each ? rows - begin : each;
    tell(l, what, name);
    code = what->round(l, name, type, first + begin, count, data + (size_t)begin * row_bytes, err);
    l->moved += (double)count * (double)row_bytes;
  }
  if (alone)
    layout_expect(l, 0);
  if (l->ctx)
    trace_until_now(l->ctx->trace, TRACE_FILE, name, what->trace_word, start, whole);
  return code;
}

int layout_read(struct layout *l, const char *name, enum type_code type, int dim, long long first,
                long long rows, void *out, struct error *err) {
  int code = move(l, name, type, dim, first, rows, out, &reading, err);
  if (!code && type == TYPE_BOOL)
    make_bools(out, (size_t)rows * (size_t)dim);
  return code;
}

/* ---- writing ---- */

int layout_write_size(struct layout *l, const char *name, long long size, struct error *err) {
  const long long one = 1;
  const int small = size > INT_MAX ? INT_MAX : (int)size;
  const enum type_code type = size > INT_MAX ? TYPE_LONGLONG : TYPE_INT;
  int code = OP_OK;
  if (l->file)
    code = l->table->create(l->file, name, type, 1, &one, err);
  if (l->file && !code)
    code = l->table->write(l->file, name, type, 0, 1,
                           type == TYPE_INT ? (const void *)&small : (const void *)&size, err);
  return together_agree(l->comm, code, err);
}

int layout_create(struct layout *l, const char *name, enum type_code type, int rank,
                  const long long extents[], struct error *err) {
  return together_agree(l->comm, l->file ? l->table->create(l->file, name, type, rank, extents, err) : OP_OK,
                        err);
}

static int describe_table(struct layout *l, const char *name, const char *type_words, int dim, long long rows,
                          const struct layout_link links[2], struct error *err) {
  int code = l->table->put_number(l->file, name, "size", rows, err);
  if (!code)
    code = l->table->put_number(l->file, name, "dim", dim, err);
  if (!code)
    code = l->table->put_text(l->file, name, "type", type_words, err);
  for (int i = 0; links && i < 2 && !code; i++)
    if (links[i].attribute)
      code = l->table->put_text(l->file, name, links[i].attribute, links[i].value, err);
  return code;
}

int layout_new_table(struct layout *l, const char *name, enum type_code type, const char *type_words, int dim,
                     long long rows, const struct layout_link links[2], struct error *err) {
  const long long extents[2] = {rows, dim};
  int code = layout_create(l, name, type, 2, extents, err);
  if (!code && l->file)
    code = describe_table(l, name, type_words, dim, rows, links, err);
  return together_agree(l->comm, code, err);
}

int layout_write(struct layout *l, const char *name, enum type_code type, int dim, long long first,
                 long long rows, const void *data, struct error *err) {
  /* The table's rounds take one kind of pointer; those of writing only read through it. */
  union {
    const void *in;
    unsigned char *rows;
  } memory = {.in = data};
  int code = l->file ? l->table->place(l->file, name, &l->place, err) : OP_OK;
  code = together_agree(l->comm, code, err);
  if (!code)
    code = together_broadcast(l->comm, &l->place, sizeof l->place, err);
  l->columns = dim;
  if (!code)
    code = move(l, name, type, dim, first, rows, memory.rows, &writing, err);
  return together_agree(l->comm, code, err);
}

int together_agree(struct comm *comm, int code, struct error *err) {
  /* An error that the ranks have agreed on is known to all of them. */
  if (together_alone(comm) || (code && err->teller != ERROR_MINE))
    return code;
  return agree_on_success(comm, code, err);
}

int together_most(struct comm *comm, long long *value, struct error *err) {
  return together_alone(comm) ? OP_OK : comm->table->reduce_all(comm, value, 1, COMM_LLONG, COMM_MAX, err);
}

int together_broadcast(struct comm *comm, void *data, size_t bytes, struct error *err) {
  return together_alone(comm) ? OP_OK : comm->table->broadcast(comm, data, bytes, 0, err);
}

void together_share(const struct comm *comm, long long total, long long *first, long long *count) {
  const long long rank = comm ? comm->rank : 0, size = comm ? comm->size : 1;
  /* total / size for each, and one more for the first total % size: no product that could overflow. */
  const long long each = total / size, more = total % size;
  *first = rank * each + (rank < more ? rank : more);
  *count = each + (rank < more ? 1 : 0);
}
