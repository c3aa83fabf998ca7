/* How the mesh lies over the ranks, for op_diagnostic_output. */

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/aside.h"
#include "base/list.h"
#include "context/context.h"
#include "mesh/data.h"
#include "mesh/halo.h"
#include "mesh/mesh.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "spread/spread.h"

/* The figures of one rank for a set. */
struct load {
  long long owned, core, exec, nonexec, neighbours;
};
enum { FIGURES = sizeof(struct load) / sizeof(long long), LISTED_RANKS = 32 };

static int count_neighbours(const struct distribution *d) {
  int count = d->nonexec.receive.count;
  for (int i = 0; i < d->exec.receive.count; i++) {
    bool both = false;
    for (int k = 0; k < d->nonexec.receive.count; k++)
      both |= d->nonexec.receive.ranks[k] == d->exec.receive.ranks[i];
    count += !both;
  }
  return count;
}

/* Owned rows of a map that lead to another rank. */
static long long cut_rows(const struct map *map) {
  long long cut = 0;
  for (long e = 0; map->table && e < map->from->extents[EXTENT_OWNED]; e++) {
    bool out = false;
    for (long i = map_begin(map, e); i < map_end(map, e); i++)
      out |= map->table[i] >= map->to->extents[EXTENT_OWNED];
    cut += out;
  }
  return cut;
}

static struct load load_of_set(const struct set *set) {
  const long *x = set->extents;
  return (struct load){.owned = x[EXTENT_OWNED],
                       .core = x[EXTENT_CORE],
                       .exec = x[EXTENT_EXEC] - x[EXTENT_OWNED],
                       .nonexec = x[EXTENT_NONEXEC] - x[EXTENT_EXEC],
                       .neighbours = set->spread ? count_neighbours(set->spread) : 0};
}

static void add_line(struct text *out, const char *name, const char *who, const struct load *l,
                     const char *end) {
  text_addf(out, "%-20s %8s %12lld %12lld %12lld %12lld %12lld%s", name, who, l->owned, l->core, l->exec,
            l->nonexec, l->neighbours, end);
}

/* A line for each rank of not too many, then the least, the mean and the most of all. */
static void describe_set(const struct set *set, const struct load *loads, int ranks, struct text *out) {
  struct load least = loads[0], sum = {0}, most = loads[0];
  for (int r = 0; r < ranks; r++) {
    const long long *from = (const long long *)&loads[r];
    long long *low = (long long *)&least, *total = (long long *)&sum, *high = (long long *)&most;
    for (int i = 0; i < FIGURES; i++) {
      low[i] = from[i] < low[i] ? from[i] : low[i];
      high[i] = from[i] > high[i] ? from[i] : high[i];
      total[i] += from[i];
    }
    char who[24];
    snprintf(who, sizeof who, "rank %d", r);
    if (ranks <= LISTED_RANKS)
      add_line(out, set->name, who, &loads[r], "\n");
  }
  const struct load mean = {sum.owned / ranks, sum.core / ranks, sum.exec / ranks, sum.nonexec / ranks,
                            sum.neighbours / ranks};
  add_line(out, set->name, "least", &least, "\n");
  add_line(out, set->name, "mean", &mean, "\n");
  add_line(out, set->name, "most", &most, "");
  const double even = (double)sum.owned / ranks;
  text_addf(out, " %9.3f\n", even > 0 ? (double)most.owned / even : 1.0);
}

int spread_describe(struct op_context *ctx, struct text *out, struct error *err) {
  const struct mesh *mesh = ctx->mesh;
  const int ranks = ctx->comm->size;
  struct load *loads = array_new((size_t)ranks, sizeof *loads);
  int code = loads ? OP_OK : error_memory(err, "a report", (size_t)ranks * sizeof *loads);
  ctx->comm->where = "op_diagnostic_output";
  text_addf(out, "%-20s %8s %12s %12s %12s %12s %12s %9s\n", "set", "", "owned", "core", "executed too",
            "only read", "neighbours", "imbalance");
  for (int s = 0; !code && s < mesh->sets.count; s++) {
    const struct load mine = load_of_set(mesh->sets.items[s]);
    code = ctx->comm->table->gather_all(ctx->comm, &mine, sizeof mine, loads, err);
    if (!code)
      describe_set(mesh->sets.items[s], loads, ranks, out);
  }
  text_addf(out, "%-20s %12s %12s %12s\n", "map", "rows", "rows cut", "of all");
  for (int m = 0; !code && m < mesh->maps.count; m++) {
    const struct map *map = mesh->maps.items[m];
    long long cut = cut_rows(map);
    code = ctx->comm->table->reduce_all(ctx->comm, &cut, 1, COMM_LLONG, COMM_SUM, err);
    const long long rows = map->from->global_size;
    text_addf(out, "%-20s %12lld %12lld %11.2f%%\n", map->name, rows, cut,
              rows ? 100.0 * (double)cut / (double)rows : 0.0);
  }
  free(loads);
  return code;
}

/* Rows that are fetched at a time: the whole dat is never copied, and never in one place. */
enum { BATCH = 4096 };

typedef bool write_rows(FILE *file, const struct dat *dat, const unsigned char *rows, long count);
typedef bool write_head(FILE *file, const struct dat *dat);

static bool text_head(FILE *file, const struct dat *dat) {
  return fprintf(file, "%lld %d\n", dat->set->global_size, dat->dim) > 0;
}

static bool text_rows(FILE *file, const struct dat *dat, const unsigned char *rows, long count) {
  struct text line = {0};
  for (long e = 0; e < count; e++)
    for (int c = 0; c < dat->dim; c++, rows += dat->value_size) {
      type_add(dat->type, rows, &line);
      text_add_char(&line, c + 1 < dat->dim ? ' ' : '\n');
      if (fwrite(text_str(&line), 1, line.length, file) != line.length || !text_ok(&line)) {
        text_free(&line);
        return false;
      }
      text_clear(&line);
    }
  text_free(&line);
  return true;
}

static bool binary_head(FILE *file, const struct dat *dat) {
  const int head[2] = {(int)dat->set->global_size, dat->dim};
  return fwrite(head, sizeof head, 1, file) == 1;
}

static bool binary_rows(FILE *file, const struct dat *dat, const unsigned char *rows, long count) {
  return fwrite(rows, dat->row_bytes, (size_t)count, file) == (size_t)count;
}

/* ---- dats: rows of one rank after the other come to the root, which writes them ---- */

struct dat_file {
  struct op_context *ctx;
  struct dat *dat;
  write_head *head;
  write_rows *body;
  struct aside aside; /* on the root */
  unsigned char *rows;
  size_t *sizes; /* of what the ranks send to the root; NULL on others */
};

static bool is_root(const struct op_context *ctx) {
  return !spread_wanted(ctx) || ctx->comm->rank == 0;
}

static int declared_by(const struct dat_file *f, int rank, long *size, struct error *err) {
  struct comm *comm = f->ctx->comm;
  *size = f->dat->set->size;
  return spread_wanted(f->ctx) ? comm->table->broadcast(comm, size, sizeof *size, rank, err) : OP_OK;
}

/* Elements low .. high of a rank, in f->rows on the root. */
static int bring_rows(struct dat_file *f, int rank, long low, long high, struct error *err) {
  struct comm *comm = f->ctx->comm;
  if (!spread_wanted(f->ctx))
    return data_fetch(f->ctx, f->dat, f->rows, low, high, err);
  const bool mine = comm->rank == rank;
  const size_t bytes = (size_t)(high - low + 1) * f->dat->row_bytes;
  int code = data_fetch(f->ctx, f->dat, f->rows, mine ? low : 0, mine ? high : -1, err);
  if (code || rank == 0)
    return code;
  if (f->sizes)
    f->sizes[rank] = bytes;
  code = comm_gather(comm, f->rows, mine ? bytes : 0, f->rows, f->sizes, 0, err);
  if (f->sizes)
    f->sizes[rank] = 0;
  return code;
}

/* The root goes on after a failure to write, since the others would wait for it. */
static int write_rows_of_all(struct dat_file *f, struct error *err) {
  const int ranks = spread_wanted(f->ctx) ? f->ctx->comm->size : 1;
  FILE *file = f->aside.file;
  bool good = !file || f->head(file, f->dat);
  int code = OP_OK;
  for (int rank = 0; !code && rank < ranks; rank++) {
    long size = 0;
    code = declared_by(f, rank, &size, err);
    for (long low = 0; !code && low < size; low += BATCH) {
      const long high = low + BATCH <= size ? low + BATCH - 1 : size - 1;
      code = bring_rows(f, rank, low, high, err);
      if (!code && file && good)
        good = f->body(file, f->dat, f->rows, high - low + 1);
    }
  }
  if (code)
    return code;
  if (good && (!file || fflush(file) == 0))
    return OP_OK;
  return errno == ENOMEM ? error_memory(err, "a line of a file", f->dat->row_bytes)
                         : aside_refused(text_str(&f->aside.path), err);
}

static int agreed(struct op_context *ctx, int code, struct error *err) {
  return spread_wanted(ctx) ? agree_on_success(ctx->comm, code, err) : code;
}

static int open_file(struct dat_file *f, const char *path, struct error *err) {
  f->rows = array_new(BATCH, f->dat->row_bytes);
  const bool gathers = spread_wanted(f->ctx) && is_root(f->ctx);
  f->sizes = gathers ? array_new((size_t)f->ctx->comm->size, sizeof *f->sizes) : NULL;
  if (!f->rows || (gathers && !f->sizes))
    return error_memory(err, "a file's buffer", BATCH * f->dat->row_bytes);
  if (f->head == binary_head && f->dat->set->global_size > INT_MAX)
    return error_set(
        err, OP_ERR_SIZE,
        "the file %s begins with the number of elements as an int, and there are %lld; use a text "
        "file or HDF5",
        path, f->dat->set->global_size);
  return is_root(f->ctx) ? aside_open(&f->aside, path, err) : OP_OK;
}

static int print(struct op_context *ctx, struct dat *dat, const char *path, write_head *head,
                 write_rows *body, struct error *err) {
  struct dat_file f = {.ctx = ctx, .dat = dat, .head = head, .body = body};
  int code = agreed(ctx, open_file(&f, path, err), err);
  if (code)
    aside_close(&f.aside, code, err);
  else
    code = agreed(ctx, aside_close(&f.aside, write_rows_of_all(&f, err), err), err);
  free(f.rows);
  free(f.sizes);
  return code ? error_prefix(err, "dat \"%s\": ", dat->name) : OP_OK;
}

int print_text(struct op_context *ctx, struct dat *dat, const char *path, struct error *err) {
  return print(ctx, dat, path, text_head, text_rows, err);
}

int print_binary(struct op_context *ctx, struct dat *dat, const char *path, struct error *err) {
  return print(ctx, dat, path, binary_head, binary_rows, err);
}
