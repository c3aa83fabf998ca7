/* A sample of a loop's elements, and what their rows are in sectors. */
#include "count.h"

#include <math.h>
#include <stdlib.h>

#include "base/list.h"
#include "mesh/data.h"
#include "mesh/mesh.h"

/* An element of a ragged map may have any number of targets: so many are looked at. */
enum { MOST_PLACES = 64 };
/* Longer rows stay in memory, unless they are near. Words of rows that a thread has registers for; operations for each other
 * one, stored and loaded again by all threads of a warp. */
enum { REGISTER_ROW = 32, REGISTER_WORDS = 200, SPILL = 8 };
/* Bytes that stay in a multiprocessor's L1 while so many threads read, mostly. An estimate. */
static const double l1_bytes = 200e3, l1_threads = 512;

struct counting {
  const struct loop *loop;
  const struct gpu_targets *targets;
  struct gpu_sample *out;
  bool adds_rows;
  struct used {
    const struct dat *dat;
    bool reads, writes, is_target, may_be_near;
    double bytes;      /* that groups move */
  } used[OP_MAX_ARGS]; /* by the description's dats */
  long *rows;          /* of one dat, in a group */
  long first;
  int count;  /* elements of the group */
  double far; /* of the groups before */
};

static int by_number(const void *a, const void *b) {
  const long x = *(const long *)a, y = *(const long *)b;
  return (x > y) - (x < y);
}

/* A piece of memory: a row, or the value of one component. There are `alike` of them. */
struct layout {
  long bytes;
  int alike;
};
static struct layout layout_of(const struct dat *dat) {
  const bool apart = dat->apart;
  return (struct layout){.bytes = (long)(apart ? dat->value_size : dat->row_bytes),
                         .alike = apart ? dat->dim : 1};
}

/* The sectors of the rows, each once, and how many different rows there are. Sorts them. */
static double sectors_of(long *rows, int n, struct layout layout, double *different) {
  long next = -1;
  double sectors = 0;
  qsort(rows, (size_t)n, sizeof *rows, by_number);
  for (int i = 0; i < n; i++) {
    if (i > 0 && rows[i] == rows[i - 1])
      continue;
    long from = rows[i] * layout.bytes / COUNT_SECTOR;
    const long to = ((rows[i] + 1) * layout.bytes - 1) / COUNT_SECTOR;
    from = from < next ? next : from;
    sectors += to >= from ? (double)(to - from + 1) : 0;
    next = to + 1;
    *different += 1;
  }
  return sectors * layout.alike;
}

static long places_end(const struct loop_arg *arg, long e) {
  const long begin = arg_begin(arg, e), end = arg_end(arg, e);
  return end - begin > MOST_PLACES ? begin + MOST_PLACES : end;
}

/* The rows that elements of the group reach by an argument, behind those that are there. */
static int add_rows(const struct counting *c, const struct loop_arg *arg, int from, int to, int n) {
  for (long e = c->first + from; e < c->first + to; e++)
    for (long place = arg_begin(arg, e); place < places_end(arg, e); place++)
      c->rows[n++] = arg_target(arg, place);
  return n;
}

/* An argument that comes through the same map and column brings the same rows. */
static bool is_known(const struct loop *loop, int arg) {
  const struct loop_arg *a = &loop->args[arg];
  for (int i = 0; i < arg; i++)
    if (loop->args[i].present && loop->args[i].dat == a->dat && loop->args[i].map == a->map &&
        loop->args[i].idx == a->idx)
      return true;
  return false;
}

static int rows_of_dat(const struct counting *c, int dat, int from, int to) {
  int n = 0;
  for (int i = 0; i < c->loop->nargs; i++)
    if (c->loop->args[i].present && c->loop->desc.args[i].dat == dat && !is_known(c->loop, i))
      n = add_rows(c, &c->loop->args[i], from, to, n);
  return n;
}

/* ---- what is no target ---- */
/* Sectors that a store touches in which each of 32 lanes has `bytes` of its own row: all stores of a row. */
static double stores_of(long row, long bytes) {
  double sectors = 0;
  for (long at = 0; at < row; at += bytes) {
    long last = -1;
    for (long lane = 0; lane < COUNT_WARP; lane++) {
      const long sector = (lane * row + at) / COUNT_SECTOR;
      sectors += sector != last;
      last = sector;
    }
  }
  return sectors;
}

static long piece_of(const struct dat *dat, struct layout l) {
  long piece = 16;
  while (l.bytes % piece)
    piece /= 2;
  return piece < (long)dat->value_size ? (long)dat->value_size : piece;
}

static bool may_be_near(const struct counting *c, int arg) {
  static const struct gpu_shape near = {.near = GPU_NEAR_VALUES};
  return gpu_is_near(&c->loop->desc, &near, c->targets, arg);
}

/* Two lanes store rows of several pieces of 16 bytes together. */
static void count_stores(const struct counting *c, const struct loop_arg *arg, bool near) {
  const struct layout l = layout_of(arg->dat);
  const long value = (long)arg->dat->value_size, piece = piece_of(arg->dat, l);
  const double warps = (double)c->count / COUNT_WARP, rows = add_rows(c, arg, 0, c->count, 0);
  const bool direct = arg_is_direct(arg), whole = piece == 16 && l.bytes > 16;
  const double together = whole ? (double)l.bytes * COUNT_WARP / COUNT_SECTOR : stores_of(l.bytes, piece);
  const double stores =
      l.alike *
      (direct ? warps * (l.alike == 1 && arg->dat->dim > REGISTER_ROW ? stores_of(l.bytes, value) : together)
              : rows * (double)(l.bytes / piece));
  c->out->stores += stores;
  c->out->near_stores += near ? warps * (double)l.bytes * COUNT_WARP / COUNT_SECTOR : stores;
  c->out->scalars +=
      l.alike * (direct ? warps * stores_of(l.bytes, value) : rows * (double)(l.bytes / value));
}

/* ---- targets ---- */
/* One component of a warp's rows: of a sector as many operations as lanes name the value that most of them name. */
static double reds_of(long *rows, int n, struct layout layout) {
  double reds = 0, most = 0, same = 0;
  qsort(rows, (size_t)n, sizeof *rows, by_number);
  for (int i = 0; i < n; i++) {
    const bool again = i > 0 && rows[i] == rows[i - 1];
    const bool beside =
        i > 0 && rows[i] * layout.bytes / COUNT_SECTOR == rows[i - 1] * layout.bytes / COUNT_SECTOR;
    same = again ? same + 1 : 1;
    if (!beside) {
      reds += most;
      most = 0;
    }
    most = same > most ? same : most;
  }
  return reds + most;
}

/* Components that one addition takes. */
static int at_once(const struct counting *c, const struct dat *dat, struct layout l) {
  const bool several = c->adds_rows && dat->type == TYPE_FLOAT && l.alike == 1;
  return !several || dat->dim % 2 ? 1 : dat->dim % 4 ? 2 : 4;
}

/* A row that begins anywhere. */
static double sectors_of_row(long bytes) {
  return bytes % COUNT_SECTOR ? (double)bytes / COUNT_SECTOR + 1 : (double)(bytes / COUNT_SECTOR);
}

/* Lanes add one row of theirs after the other, up to four values at a time, which may lie in two sectors. */
static double fours_of(const struct counting *c, int n, const struct dat *dat) {
  const int lanes = dat->dim == 2 ? 2 : 4, size = (int)dat->value_size;
  double reds = 0;
  for (int i = 0; i < n; i++)
    for (int part = 0; part < dat->dim; part += lanes) {
      const int values = part + lanes < dat->dim ? lanes : dat->dim - part;
      const long from = c->rows[i] * (long)dat->row_bytes + (long)part * size;
      reds += (double)((from + (long)values * size - 1) / COUNT_SECTOR - from / COUNT_SECTOR + 1);
    }
  return reds;
}

static bool adds_by_fours(const struct counting *c, const struct dat *dat, struct layout l) {
  return at_once(c, dat, l) == 1 && l.alike == 1 && dat->dim > 1 && dat->dim <= REGISTER_ROW &&
         dat->value_size >= 4;
}

static void count_column(const struct counting *c, const struct gpu_column *column, const struct dat *dat) {
  const bool near = may_be_near(c, column->arg);
  struct loop_arg arg = c->loop->args[column->arg];
  const struct layout l = layout_of(dat);
  arg.idx = column->map >= 0 && arg.map && !arg.map->first ? column->column : arg.idx;
  for (int at = 0; at < c->count; at += COUNT_WARP) {
    const int to = at + COUNT_WARP < c->count ? at + COUNT_WARP : c->count;
    const int n = add_rows(c, &arg, at, to, 0);
    c->out->values += (double)n * dat->dim;
    c->out->pieces += (double)n * l.alike * (double)(l.bytes / piece_of(dat, l));
    c->out->entries += n;
    const double reds = (double)dat->dim / at_once(c, dat, l) * reds_of(c->rows, n, l),
                 fours = adds_by_fours(c, dat, l) ? fmin(fours_of(c, n, dat), reds) : reds;
    c->out->reds += reds;
    c->out->fours += fours;
    c->out->near_reds += near ? n * sectors_of_row(l.bytes) : fours;
  }
}

static void count_target(const struct counting *c, const struct gpu_target *t) {
  const struct dat *dat = c->loop->args[t->columns[0].arg].dat;
  for (int i = 0; i < t->ncolumns; i++)
    count_column(c, &t->columns[i], dat);
  for (int s = 0; s < COUNT_SUMS; s++) {
    struct gpu_sums *sums = &c->out->sums[s];
    for (int at = 0; at < c->count; at += sums->elements) {
      const int to = at + sums->elements < c->count ? at + sums->elements : c->count;
      const int n = rows_of_dat(c, t->dat, at, to);
      sums->sectors += sectors_of(c->rows, n, layout_of(dat), &sums->targets);
    }
  }
}

/* ---- rows that may be near ---- */
/* Words of registers that an element's rows need, which are not near; bytes of rows that its thread reads. */
static double row_words(const struct counting *c, double *read_bytes) {
  double words = 0;
  for (int i = 0; i < c->loop->nargs; i++) {
    const struct desc_arg *a = &c->loop->desc.args[i];
    if (!a->present || a->form != DESC_DAT || desc_is_ragged(&c->loop->desc, a))
      continue;
    const double bytes =
        (double)arg_most(&c->loop->args[i]) * (double)a->dim * (double)type_info(a->type)->size;
    const bool target = c->used[a->dat].is_target;
    words += target || a->dim <= REGISTER_ROW ? bytes / 4 : 0;
    *read_bytes += !target && may_be_near(c, i) ? bytes : 0;
  }
  return words;
}

/* Different rows that one instruction after the other reads of a dat: threads that name one row ask once. */
static double rows_at_once(const struct counting *c, int dat, int from, int to) {
  double different = 0;
  for (int i = 0; i < c->loop->nargs; i++) {
    struct loop_arg arg = c->loop->args[i];
    if (!arg.present || c->loop->desc.args[i].dat != dat || is_known(c->loop, i))
      continue;
    const long columns = arg.map && arg.map->first ? 1 : arg_most(&arg);
    for (int column = 0; column < columns; column++) {
      arg.idx = columns > 1 ? column : arg.idx;
      sectors_of(c->rows, add_rows(c, &arg, from, to, 0), layout_of(arg.dat), &different);
    }
  }
  return different;
}

/* Counts the rows that warps bring to a group. Rows that no L1 keeps are asked for piece by piece, and rows that
 * registers do not hold are memory's. */
static void count_near(struct counting *c) {
  double read_bytes = 0, far = 0;
  const double words = row_words(c, &read_bytes);
  for (int dat = 0; dat < c->loop->desc.ndats; dat++) {
    const struct used *u = &c->used[dat];
    double different = 0;
    if (!u->may_be_near || !u->reads || u->is_target)
      continue;
    const struct layout l = layout_of(u->dat);
    const long piece = u->dat->dim > REGISTER_ROW ? (long)u->dat->value_size : piece_of(u->dat, l);
    for (int at = 0; at < c->count; at += COUNT_WARP) {
      const int to = at + COUNT_WARP < c->count ? at + COUNT_WARP : c->count;
      far += rows_at_once(c, dat, at, to) * (double)(l.bytes / piece);
      c->out->near += sectors_of(c->rows, rows_of_dat(c, dat, at, to), l, &different);
    }
  }
  if (read_bytes * l1_threads > l1_bytes)
    c->out->far = c->far + far;
  c->out->far += words > REGISTER_WORDS ? (words - REGISTER_WORDS) * SPILL * c->count / COUNT_WARP : 0;
  c->far = c->out->far;
}

/* ---- a group, and all ---- */
static void count_group(struct counting *c) {
  const struct loop *loop = c->loop;
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (arg->present && arg->dat && access_changes(arg->access) && !is_known(loop, i) &&
        !c->used[loop->desc.args[i].dat].is_target)
      count_stores(c, arg, may_be_near(c, i));
  }
  for (int dat = 0; dat < loop->desc.ndats; dat++) {
    struct used *u = &c->used[dat];
    double different = 0;
    if (!u->dat)
      continue;
    const double sectors =
        sectors_of(c->rows, rows_of_dat(c, dat, 0, c->count), layout_of(u->dat), &different);
    if (u->reads && !u->is_target)
      *(u->may_be_near ? &c->out->far : &c->out->reads) += sectors;
    u->bytes += sectors * COUNT_SECTOR * (u->reads + u->writes);
  }
  for (int k = 0; k < c->targets->count; k++)
    count_target(c, &c->targets->items[k]);
  count_near(c);
}

/* Bytes of an element's entries in all maps; each entry is read once. */
static double map_bytes(const struct loop *loop) {
  double bytes = 0;
  for (int i = 0; i < loop->nargs; i++) {
    const struct map *map = loop->args[i].present ? loop->args[i].map : NULL;
    for (int k = 0; map && k < i; k++)
      map = loop->args[k].present && loop->args[k].map == map ? NULL : map;
    const long size = map ? map->from->extents[EXTENT_OWNED] : 0;
    if (size > 0)
      bytes +=
          sizeof(int) * (map->first ? (double)map_end(map, size - 1) / (double)size : (double)map->arity);
  }
  return bytes;
}

/* Bytes of a dat: one launch brings it from memory once where the cache has room for it, however often its rows are
 * wanted. Rows of a larger one may be gone when they are wanted again. */
static void add_bytes(struct gpu_sample *out, const struct used *u, double scale, double cache) {
  const int moves = u->reads + u->writes;
  const double size = (double)u->dat->set->extents[EXTENT_NONEXEC] * (double)u->dat->row_bytes,
               all = size * moves, wanted = u->bytes * scale, more = wanted > all ? wanted - all : 0;
  out->once += wanted - more + (size > cache ? more * (1 - cache / size) : 0);
  out->again += wanted;
}

/* Counts of groups become counts for 32 elements, and for the loop. */
static void scale(struct counting *c, double counted, double elements, double cache) {
  struct gpu_sample *s = c->out;
  const double warp = COUNT_WARP / counted, maps = map_bytes(c->loop);
  double *const all[] = {&s->reads,  &s->far,    &s->near, &s->stores, &s->scalars,   &s->near_stores,
                         &s->pieces, &s->values, &s->reds, &s->fours,  &s->near_reds, &s->entries};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    *all[i] *= warp;
  for (int i = 0; i < COUNT_SUMS; i++) {
    s->sums[i].sectors *= warp;
    s->sums[i].targets *= warp;
  }
  s->warps = elements / COUNT_WARP;
  s->reads += maps * COUNT_WARP / COUNT_SECTOR;
  for (int dat = 0; dat < c->loop->desc.ndats; dat++)
    if (c->used[dat].dat)
      add_bytes(s, &c->used[dat], elements / counted, cache);
  s->once += maps * elements;
  s->again = s->once > cache ? s->again + maps * elements : s->once;
}

static void find_used(struct counting *c) {
  for (int i = 0; i < c->loop->nargs; i++) {
    const struct loop_arg *arg = &c->loop->args[i];
    if (!arg->present || !arg->dat)
      continue;
    struct used *u = &c->used[c->loop->desc.args[i].dat];
    u->dat = arg->dat;
    u->reads |= access_reads(arg->access) || access_reduces(arg->access);
    u->writes |= access_changes(arg->access);
    u->may_be_near |= may_be_near(c, i);
  }
  for (int k = 0; k < c->targets->count; k++)
    c->used[c->targets->items[k].dat].is_target = true;
}

int gpu_sample_take(const struct loop *loop, const struct gpu_targets *targets, double cache, bool adds_rows,
                    struct gpu_sample *out, struct error *err) {
  const long size = loop->set->extents[EXTENT_OWNED];
  const long groups = (size + COUNT_ELEMENTS - 1) / COUNT_ELEMENTS;
  const long taken = groups < COUNT_GROUPS ? groups : COUNT_GROUPS;
  struct counting c = {.loop = loop, .targets = targets, .out = out, .adds_rows = adds_rows};
  size_t places = 1;
  double counted = 0;
  *out =
      (struct gpu_sample){.sums = {{.elements = 32}, {.elements = 64}, {.elements = 128}, {.elements = 256}}};
  for (int i = 0; i < loop->nargs; i++) {
    const long most = loop->args[i].present && loop->args[i].dat ? arg_most(&loop->args[i]) : 0;
    places += (size_t)(most < MOST_PLACES ? most : MOST_PLACES);
  }
  if (!(c.rows = array_new(places * COUNT_ELEMENTS, sizeof *c.rows)))
    return error_memory(err, "a loop's counts", places * COUNT_ELEMENTS * sizeof *c.rows);
  find_used(&c);
  for (long g = 0; g < taken; g++) {
    c.first = g * groups / taken * COUNT_ELEMENTS;
    c.count = (int)(size - c.first < COUNT_ELEMENTS ? size - c.first : COUNT_ELEMENTS);
    count_group(&c);
    counted += c.count;
  }
  if (counted > 0)
    scale(&c, counted, (double)size, cache);
  free(c.rows);
  return OP_OK;
}
