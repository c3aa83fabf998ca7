/* Data between the ranks that declared elements and those that own them. */
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "context/context.h"
#include "mesh/data.h"
#include "op2jit.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "spread/distribute/mail.h"
#include "spread/spread.h"

static int no_memory(const struct dat *dat, long rows, struct error *err) {
  return error_memory_of(err, "rows on their way between ranks, of dat", dat->name,
                         (size_t)rows * dat->row_bytes);
}

int spread_put(struct op_context *ctx, struct dat *dat, const void *in, struct error *err) {
  struct comm *comm = ctx->comm;
  const struct halo_exchange *home = &dat->set->spread->home;
  const long owned = dat->set->extents[EXTENT_OWNED];
  comm->where = dat->name;
  long long given = in != NULL && dat->set->size > 0;
  int code = comm->table->reduce_all(comm, &given, 1, COMM_LLONG, COMM_MAX, err);
  if (code || !given)
    return code;
  unsigned char *zeros = in ? NULL : array_new((size_t)dat->set->size, dat->row_bytes);
  if (!in && !zeros)
    return no_memory(dat, dat->set->size, err);
  /* What is given is only read. */
  union {
    const void *read;
    void *memory;
  } told = {.read = in ? in : zeros};
  const struct row_store from = {told.memory, dat->value_size, dat->dim, 0}, into = dat_rows(dat);
  code = carry(comm, &home->send, &home->receive, &from, &into, 1, err);
  free(zeros);
  ctx->counters->bytes_converted += code ? 0 : owned * (long long)dat->row_bytes;
  return code;
}

/* ---- fetching: the ranks say which of their elements they want, and get those only ---- */

struct wish {
  long long low, high; /* the user's global numbers, both included */
};

/* The part of a message that is wished for: its elements are in ascending user's numbers on both sides. */
struct span {
  long begin, end;
};

/* The first place of message i whose number is not below `number`. numbers NULL: elements are the numbers. */
static long first_from(const struct halo_side *side, int i, const long long *numbers, long long number) {
  long begin = side->first[i], end = side->first[i + 1];
  while (begin < end) {
    const long middle = begin + (end - begin) / 2;
    const int element = side->elements[middle];
    if ((numbers ? numbers[element] : element) < number)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

static struct span span_of(const struct halo_side *side, int i, const long long *numbers, long long low,
                           long long high) {
  if (low > high)
    return (struct span){0, 0};
  return (struct span){first_from(side, i, numbers, low), first_from(side, i, numbers, high + 1)};
}

/* Between the rank that declared elements and those that own them. To be freed also after an error. */
struct fetch {
  struct wish *wishes;           /* of each rank whose elements are here */
  struct comm_messages to, from; /* first of wishes, then of rows */
  unsigned char *out, *in;
};

static void fetch_free(struct fetch *f) {
  free(f->wishes);
  comm_messages_free(&f->to);
  comm_messages_free(&f->from);
  free(f->out);
  free(f->in);
}

/* A message of one kind with each neighbour. */
static void address(struct comm_messages *m, const struct halo_side *side, size_t bytes) {
  for (int i = 0; i < side->count; i++) {
    m->ranks[i] = side->ranks[i];
    m->bytes[i] = bytes;
  }
}

static int tell_wishes(struct comm *comm, const struct halo_exchange *home, const struct wish *mine,
                       struct fetch *f, struct error *err) {
  const int owners = home->send.count, declarers = home->receive.count;
  struct wish *told = array_new((size_t)owners, sizeof *told);
  f->wishes = array_new((size_t)declarers, sizeof *f->wishes);
  bool good = told && f->wishes && comm_messages_new(&f->to, owners > declarers ? owners : declarers) &&
              comm_messages_new(&f->from, owners > declarers ? owners : declarers);
  int code = good ? OP_OK : error_memory(err, "the wishes of ranks", (size_t)owners * sizeof *told);
  if (!code) {
    for (int i = 0; i < owners; i++)
      told[i] = *mine;
    address(&f->to, &home->send, sizeof *told);
    address(&f->from, &home->receive, sizeof *told);
    f->to.count = owners;
    f->from.count = declarers;
    code = comm->table->exchange(comm, told, &f->to, f->wishes, &f->from, err);
  }
  free(told);
  return code;
}

static long pack(const struct dat *dat, struct fetch *f, bool count_only) {
  const struct distribution *d = dat->set->spread;
  const struct halo_side *side = &d->home.receive;
  unsigned char *to = f->out;
  long rows = 0;
  address(&f->to, side, 0);
  f->to.count = side->count;
  for (int i = 0; i < side->count; i++) {
    const struct span s = span_of(side, i, d->numbers, f->wishes[i].low, f->wishes[i].high);
    f->to.bytes[i] = (size_t)(s.end - s.begin) * dat->row_bytes;
    rows += s.end - s.begin;
    for (long k = s.begin; !count_only && k < s.end; k++)
      for (int c = 0; c < dat->dim; c++, to += dat->value_size)
        memcpy(to, dat_value(dat, side->elements[k], c), dat->value_size);
  }
  return rows;
}

static long unpack(const struct dat *dat, struct fetch *f, long low, long high, unsigned char *into) {
  const struct halo_side *side = &dat->set->spread->home.send;
  const unsigned char *from = f->in;
  long rows = 0;
  address(&f->from, side, 0);
  f->from.count = side->count;
  for (int i = 0; i < side->count; i++) {
    const struct span s = span_of(side, i, NULL, low, high);
    f->from.bytes[i] = (size_t)(s.end - s.begin) * dat->row_bytes;
    rows += s.end - s.begin;
    for (long k = s.begin; into && k < s.end; k++, from += dat->row_bytes)
      memcpy(into + (size_t)(side->elements[k] - low) * dat->row_bytes, from, dat->row_bytes);
  }
  return rows;
}

static int fetch_of_ranks(struct op_context *ctx, struct dat *dat, void *out, long low, long high,
                          struct error *err) {
  struct comm *comm = ctx->comm;
  const struct wish mine = {spread_number(dat->set, low), spread_number(dat->set, high)};
  struct fetch f = {0};
  comm->where = dat->name;
  int code = tell_wishes(comm, &dat->set->spread->home, &mine, &f, err);
  if (!code) {
    const long going = pack(dat, &f, true), coming = unpack(dat, &f, low, high, NULL);
    f.out = array_new((size_t)going, dat->row_bytes);
    f.in = array_new((size_t)coming, dat->row_bytes);
    code = f.out && f.in ? OP_OK : no_memory(dat, going + coming, err);
  }
  if (!code) {
    pack(dat, &f, false);
    code = comm->table->exchange(comm, f.out, &f.to, f.in, &f.from, err);
  }
  if (!code && low <= high) {
    unpack(dat, &f, low, high, out);
    ctx->counters->bytes_converted += (high - low + 1) * (long long)dat->row_bytes;
  }
  fetch_free(&f);
  return code;
}

int data_fetch(struct op_context *ctx, struct dat *dat, void *out, long low, long high, struct error *err) {
  int code = dat_need(ctx, dat, SPACE_HOST, REGION_OWNED, err);
  dat->read = true;
  if (dat->set->spread) {
    code = agree_on_success(ctx->comm, code, err);
    return code ? code : fetch_of_ranks(ctx, dat, out, low, high, err);
  }
  if (!code && low <= high)
    data_fetch_rows(ctx, dat, out, low, high);
  return code;
}

int data_put(struct op_context *ctx, struct dat *dat, const void *in, struct error *err) {
  int code = OP_OK;
  if (dat->set->spread)
    code = spread_put(ctx, dat, in, err);
  else
    data_put_rows(ctx, dat, in);
  if (!code)
    dat_wrote(dat, SPACE_HOST);
  return code;
}

/* ---- maps ---- */

int spread_fetch_map(struct op_context *ctx, const struct map *map, long long *out, struct error *err) {
  const struct set *set = map_rows_of(map);
  const size_t width = (size_t)map_width(map), row_bytes = width * sizeof *out;
  ctx->comm->where = map->name;
  if (map->global.entries) {
    for (size_t i = 0; i < (size_t)set->size * width; i++)
      out[i] = rows_get(&map->global, i);
    return OP_OK;
  }
  const struct halo_exchange *home = &set->spread->home;
  const size_t entries = (size_t)set->extents[EXTENT_OWNED] * width;
  long long *rows = array_new(entries, sizeof *rows);
  if (!rows)
    return error_memory_of(err, "the rows of map", map->name, entries * sizeof *rows);
  for (size_t i = 0; i < entries; i++)
    rows[i] = map->to->spread->numbers[map->table[i]];
  int code = carry_rows(ctx->comm, &home->receive, &home->send, row_bytes, rows, out, err);
  free(rows);
  return code;
}

/* The lengths of rows, in the library's order, as the program has them. */
static int fetch_lengths(struct op_context *ctx, const struct map *map, long long *out, struct error *err) {
  const struct set *from = map->from;
  const bool carried = from->spread && !map->global.entries;
  const long owned = carried ? from->extents[EXTENT_OWNED] : from->size;
  long long *lengths = array_new((size_t)owned, sizeof *lengths);
  if (!lengths)
    return error_memory_of(err, "the offsets of map", map->name, (size_t)owned * sizeof *lengths);
  for (long e = 0; e < owned; e++)
    lengths[e] = map->first[e + 1] - map->first[e];
  int code = OP_OK;
  if (carried)
    code = carry_rows(ctx->comm, &from->spread->home.receive, &from->spread->home.send, sizeof *lengths,
                      lengths, out, err);
  else
    for (long e = 0; e < from->size; e++)
      out[e] = lengths[from->from_user ? from->from_user[e] : e];
  free(lengths);
  return code;
}

int spread_fetch_offsets(struct op_context *ctx, const struct map *map, long long *out, struct error *err) {
  out[0] = map->entries->global_first;
  const int code = fetch_lengths(ctx, map, out + 1, err);
  for (long e = 0; !code && e < map->from->size; e++)
    out[e + 1] += out[e];
  return code;
}
