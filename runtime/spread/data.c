/* Data between the ranks that declared elements and those that own them. */
#include "spread/data.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "context/context.h"
#include "include/op2jit.h"
#include "mesh/data.h"
#include "mesh/guest.h"
#include "mesh/mesh.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "spread/parts/mail.h"
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
  void *given_rows = in ? (void *)(uintptr_t)in : zeros; /* which are only read */
  const struct row_store from = {given_rows, dat->value_size, dat->dim, 0}, into = dat_rows(dat);
  code = carry(comm, &home->send, &home->receive, &from, &into, 1, err);
  free(zeros);
  ctx->counters->bytes_converted += code ? 0 : owned * (long long)dat->row_bytes;
  return code;
}

/* ---- fetching: ranks get all that they declared, or what they say that they want of it ---- */

/* The user's global numbers, both included; none where `low` is the larger one. */
struct wish {
  long long low, high;
};

static long long number_at(const struct halo_side *side, long k, const long long *numbers) {
  return numbers ? numbers[side->elements[k]] : side->elements[k];
}

/* The first place of message i whose number is not below `number`: they ascend. */
static long first_from(const struct halo_side *side, int i, const long long *numbers, long long number) {
  long begin = side->first[i], end = side->first[i + 1];
  while (begin < end) {
    const long middle = begin + (end - begin) / 2;
    if (number_at(side, middle, numbers) < number)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

/* A side with only those elements that a wish names. At owners `numbers` are those of elements, and each neighbour has a wish; else
 * elements are the numbers, there is one wish, and they count from its beginning. False: no memory; to be freed in both cases. */
static bool narrow(const struct halo_side *side, const long long *numbers, const struct wish *wishes,
                   struct halo_side *out) {
  const size_t count = (size_t)side->count;
  const int offset = numbers ? 0 : (int)wishes->low;
  *out = (struct halo_side){.count = side->count,
                            .ranks = array_new(count, sizeof *out->ranks),
                            .first = array_new(count + 1, sizeof *out->first)};
  long *begin = array_new(count, sizeof *begin);
  bool good = begin && out->ranks && out->first;
  for (int i = 0; good && i < side->count; i++) {
    const struct wish w = wishes[numbers ? i : 0];
    begin[i] = first_from(side, i, numbers, w.low);
    const long end = w.low > w.high ? begin[i] : first_from(side, i, numbers, w.high + 1);
    out->ranks[i] = side->ranks[i];
    out->first[i + 1] = out->first[i] + end - begin[i];
  }
  out->elements = good ? array_new((size_t)out->first[count], sizeof *out->elements) : NULL;
  good = out->elements != NULL;
  for (int i = 0; good && i < side->count; i++)
    for (long k = out->first[i]; k < out->first[i + 1]; k++)
      out->elements[k] = side->elements[begin[i] + k - out->first[i]] - offset;
  free(begin);
  return good;
}

/* To all owners, from all that declared what is here. */
static int tell_wishes(struct comm *comm, const struct halo_exchange *home, const struct wish *mine,
                       struct wish *wishes, struct error *err) {
  struct tally owners = {0}, declarers = {0};
  struct wish *told = array_new((size_t)home->send.count, sizeof *told);
  bool good = told != NULL;
  for (int i = 0; good && i < home->send.count; i++) {
    told[i] = *mine;
    good = tally_add(&owners, home->send.ranks[i], 1);
  }
  for (int i = 0; good && i < home->receive.count; i++)
    good = tally_add(&declarers, home->receive.ranks[i], 1);
  const int code = good ? mail_send_known(comm, told, &owners, sizeof *told, wishes, &declarers, err)
                        : error_memory(err, "the wishes of ranks", (size_t)home->send.count * sizeof *told);
  tally_free(&owners);
  tally_free(&declarers);
  free(told);
  return code;
}

static int fetch_some(struct comm *comm, const struct dat *dat, const struct row_store *into, long low,
                      long high, struct error *err) {
  const struct set *set = dat->set;
  const struct halo_exchange *home = &set->spread->home;
  const struct row_store from = dat_rows(dat);
  const struct wish mine = {spread_number(set, low), spread_number(set, high)}, here = {low, high};
  struct halo_exchange some = {0};
  struct wish *wishes = array_new((size_t)home->receive.count, sizeof *wishes);
  int code = wishes ? tell_wishes(comm, home, &mine, wishes, err) : no_memory(dat, 0, err);
  if (!code && !(narrow(&home->receive, set->spread->numbers, wishes, &some.send) &&
                 narrow(&home->send, NULL, &here, &some.receive)))
    code = no_memory(dat, high - low, err);
  if (!code)
    code = carry(comm, &some.send, &some.receive, &from, into, 1, err);
  halo_exchange_free(&some);
  free(wishes);
  return code;
}

static int fetch_of_ranks(struct op_context *ctx, struct dat *dat, void *out, long low, long high, int code,
                          struct error *err) {
  const struct halo_exchange *home = &dat->set->spread->home;
  const struct row_store from = dat_rows(dat), into = {out, dat->value_size, dat->dim, 0};
  double some = dat->set->size > 0 && (low > 0 || high + 1 < dat->set->size);
  ctx->comm->where = dat->name;
  code = agree_on_largest(ctx->comm, code, &some, 1, err);
  if (!code)
    code = some > 0 ? fetch_some(ctx->comm, dat, &into, low, high, err)
                    : carry(ctx->comm, &home->receive, &home->send, &from, &into, 1, err);
  if (!code && low <= high)
    ctx->counters->bytes_converted += (high - low + 1) * (long long)dat->row_bytes;
  return code;
}

int data_fetch(struct op_context *ctx, struct dat *dat, void *out, long low, long high, struct error *err) {
  const int code = dat_need(ctx, dat, SPACE_HOST, REGION_OWNED, err);
  dat->read = true;
  if (dat->set->spread)
    return fetch_of_ranks(ctx, dat, out, low, high, code, err);
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

static void count(struct op_context *ctx, const struct dat *dat) {
  ctx->counters->bytes_of_views += (long long)((size_t)dat->set->size * dat->row_bytes);
}

/* The array gets the newest values, if it has older ones. The versions are the same on all ranks. */
static int update(struct op_context *ctx, struct dat *dat, struct error *err) {
  struct view *view = dat->view;
  if (view->in_place)
    return dat_need(ctx, dat, SPACE_HOST, REGION_OWNED, err);
  if (view->version == dat->version)
    return OP_OK;
  const int code = data_fetch(ctx, dat, view->array, 0, dat->set->size - 1, err);
  if (code)
    return code;
  view->version = dat->version;
  count(ctx, dat);
  return OP_OK;
}

int lend(struct op_context *ctx, struct dat *dat, op_access access, void **array, struct error *err) {
  static char empty; /* the address of no elements */
  struct view *view = dat->view;
  int code = lend_check_placed(dat, "op_acquire", err);
  if (!code && access != OP_WRITE)
    code = update(ctx, dat, err);
  if (code)
    return code;
  view->acquired = true;
  view->access = access;
  ctx->mesh->lent++;
  *array = view->array ? view->array : &empty;
  return OP_OK;
}

int lend_end(struct op_context *ctx, struct dat *dat, struct error *err) {
  struct view *view = dat->view;
  int code = OP_OK;
  if (view->access != OP_READ && view->in_place)
    dat_wrote(dat, SPACE_HOST);
  else if (view->access != OP_READ && !(code = data_put(ctx, dat, view->array, err))) {
    view->version = dat->version;
    count(ctx, dat);
  }
  if (code)
    return code;
  view->acquired = false;
  ctx->mesh->lent--;
  return OP_OK;
}

int lend_last(struct op_context *ctx, struct dat *dat, struct error *err) {
  return dat->view && !dat->view->acquired ? update(ctx, dat, err) : OP_OK;
}

int lend_all(struct op_context *ctx, struct error *err) {
  int code = OP_OK;
  for (int i = 0; !code && i < ctx->mesh->dats.count; i++)
    code = lend_last(ctx, ctx->mesh->dats.items[i], err);
  return code;
}

int lend_check(const struct dat *dat, const char *who, struct error *err) {
  if (dat->guest && dat->guest->lent)
    return error_set(err, OP_ERR_STATE, "%s: dat \"%s\" is lent; call op_lend_end first", who, dat->name);
  if (!dat->view || !dat->view->acquired)
    return OP_OK;
  return error_set(err, OP_ERR_STATE, "%s: dat \"%s\" is acquired; call op_release first", who, dat->name);
}

int lend_check_placed(const struct dat *dat, const char *who, struct error *err) {
  if (!dat->guest || !dat->guest->placed)
    return OP_OK;
  return error_set(err, OP_ERR_STATE, "%s: dat \"%s\" is placed; call op_place_end first", who, dat->name);
}

int lend_check_guests(const struct op_context *ctx, struct error *err) {
  for (int i = 0; ctx->mesh->lent && i < ctx->mesh->dats.count; i++) {
    const struct dat *dat = ctx->mesh->dats.items[i];
    if (dat->guest && (dat->guest->lent || dat->guest->placed))
      return error_set(
          err, OP_ERR_STATE,
          "the mesh is dealt out anew, since a map or a set is new, while dat \"%s\" is %s; call %s "
          "before the declaration",
          dat->name, dat->guest->lent ? "lent" : "placed", dat->guest->lent ? "op_lend_end" : "op_place_end");
  }
  return OP_OK;
}

int lend_check_all(const struct op_context *ctx, const char *who, struct error *err) {
  int code = OP_OK;
  for (int i = 0; !code && ctx->mesh->lent && i < ctx->mesh->dats.count; i++) {
    const struct dat *dat = ctx->mesh->dats.items[i];
    code = lend_check(dat, who, err);
    if (!code)
      code = lend_check_placed(dat, who, err);
  }
  return code;
}
