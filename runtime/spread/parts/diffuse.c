#include "spread/parts/parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "context/context.h"
#include "mesh/halo.h"
#include "mesh/mesh.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "spread/parts/mail.h"

static int no_memory(struct error *err) {
  return error_memory(err, "parts that flow", 0);
}

/* ---- who meets whom ---- */

/* Groups of elements that are neighbours of each other: rows of the map, or the sources of each target. */
struct groups {
  struct arrays arrays;
  long count, elements;      /* local elements of the prime set, copies included */
  long *first, *in;          /* of each group, its elements */
  long *first_of, *group_of; /* of each element, its groups */
  int *owner;                /* of each element: a rank */
  /* The owner of each group's target. Rows of others that share it are here only where it is owned, so its owner counts as one
   * that has elements there. */
  int *place;
};

/* Make lists of values by keys from pairs: where each begins, and what it holds, in the order of the pairs. */
static bool list_up(struct arrays *arrays, const long *key, const long *value, long pairs, long keys,
                    long **first, long **out) {
  *first = arrays_add(arrays, (size_t)keys + 2, sizeof **first);
  *out = arrays_add(arrays, (size_t)pairs, sizeof **out);
  if (!*first || !*out)
    return false;
  long *end = *first + 1;
  for (long i = 0; i < pairs; i++)
    end[key[i] + 1]++;
  for (long k = 0; k < keys; k++)
    end[k + 1] += end[k];
  for (long i = 0; i < pairs; i++)
    (*out)[end[key[i]]++] = value[i];
  return true;
}

static int groups_make(struct groups *g, int rank, const struct set *prime, const struct map *map,
                       struct error *err) {
  const long rows = map->from->extents[EXTENT_EXEC], pairs = map_begin(map, rows);
  const bool by_rows = map->to == prime;
  long *group = array_new((size_t)pairs, sizeof *group), *element = array_new((size_t)pairs, sizeof *element);
  g->count = by_rows ? rows : map->to->extents[EXTENT_NONEXEC];
  g->elements = prime->extents[EXTENT_NONEXEC];
  g->owner = arrays_add(&g->arrays, (size_t)g->elements, sizeof *g->owner);
  g->place = arrays_add(&g->arrays, (size_t)g->count, sizeof *g->place);
  bool good = group && element && !g->arrays.failed;
  for (long e = 0; good && e < rows; e++)
    for (long i = map_begin(map, e); i < map_end(map, e); i++) {
      group[i] = by_rows ? e : map->table[i];
      element[i] = by_rows ? map->table[i] : e;
    }
  good = good && list_up(&g->arrays, group, element, pairs, g->count, &g->first, &g->in) &&
         list_up(&g->arrays, element, group, pairs, g->elements, &g->first_of, &g->group_of);
  free(group);
  free(element);
  if (!good)
    return no_memory(err);
  for (long e = 0; e < g->elements; e++)
    g->owner[e] = rank;
  for (long k = 0; k < g->count; k++)
    g->place[k] = rank;
  if (!by_rows) {
    halo_note_ranks(&map->to->spread->exec.receive, g->place);
    halo_note_ranks(&map->to->spread->nonexec.receive, g->place);
  }
  halo_note_ranks(&prime->spread->exec.receive, g->owner);
  halo_note_ranks(&prime->spread->nonexec.receive, g->owner);
  return OP_OK;
}

/* ---- how much flows ---- */

struct flow {
  struct comm *comm;
  struct tally neighbours; /* a value for each */
  int count;
  double *values, *others; /* of each */
};

static void flow_free(struct flow *f) {
  tally_free(&f->neighbours);
  free(f->values);
  free(f->others);
}

static bool add_once(struct tally *t, int rank) {
  return tally_place(t, rank) >= 0 || tally_add(t, rank, 1);
}

/* Neighbours are ranks that have elements beside the rank's own. */
static bool add_seen(struct flow *f, const struct groups *g, long owned) {
  bool good = true;
  for (long k = 0; good && k < g->count; k++) {
    bool own = false;
    for (long i = g->first[k]; i < g->first[k + 1]; i++)
      own |= g->in[i] < owned;
    if (own && good && g->place[k] != f->comm->rank)
      good = add_once(&f->neighbours, g->place[k]);
    for (long i = g->first[k]; good && own && i < g->first[k + 1]; i++)
      if (g->owner[g->in[i]] != f->comm->rank)
        good = add_once(&f->neighbours, g->owner[g->in[i]]);
  }
  return good;
}

/* Both sides know that they meet, if one does: each tells those that it sees. */
static int find_neighbours(struct flow *f, const struct groups *g, long owned, struct error *err) {
  struct mail in = {0};
  bool good = add_seen(f, g, owned);
  char *flags = good ? calloc((size_t)f->neighbours.count + 1, 1) : NULL;
  int code = agree_on_success(f->comm, flags ? OP_OK : no_memory(err), err);
  if (code)
    free(flags);
  else
    code = mail_send(f->comm, flags, &f->neighbours, 1, &in, err);
  for (int i = 0; good && !code && i < in.from.count; i++)
    good = add_once(&f->neighbours, in.from.ranks[i]);
  mail_free(&in);
  f->count = f->neighbours.count;
  f->values = array_new((size_t)f->count, sizeof *f->values);
  f->others = array_new((size_t)f->count, sizeof *f->others);
  good = good && f->values && f->others;
  return agree_on_success(f->comm, code || good ? code : no_memory(err), err);
}

/* The neighbours' values, into f->others. */
static int swap(struct flow *f, double mine, struct error *err) {
  for (int n = 0; n < f->count; n++)
    f->values[n] = mine;
  return mail_send_known(f->comm, f->values, &f->neighbours, sizeof mine, f->others, &f->neighbours, err);
}

/* Compute what flows out of each rank, less what flows in, where `mine` are potentials. */
static int flow_out(struct flow *f, double mine, double *out, struct error *err) {
  const int code = swap(f, mine, err);
  *out = f->count * mine;
  for (int n = 0; !code && n < f->count; n++)
    *out -= f->others[n];
  return code;
}

static int add_up(const struct flow *f, double *value, struct error *err) {
  return f->comm->table->reduce_all(f->comm, value, 1, COMM_DOUBLE, COMM_SUM, err);
}

/* The potential x of each rank, so that x - the neighbour's is what flows there. Ranks that meet nobody, and groups of ranks
 * that do not meet, keep what they have too much: conjugate residuals come as near as is possible, where conjugate gradients
 * would not come to an end. The neighbours' potentials are in f->others then. */
static int find_potential(struct flow *f, double excess, double *x, struct error *err) {
  enum { MOST_ROUNDS = 500 };
  const double enough = 1e-8;
  double r = excess, p = r, of_r = 0, of_p;
  *x = 0;
  int code = flow_out(f, r, &of_r, err);
  double square = r * of_r;
  if (!code)
    code = add_up(f, &square, err);
  const double stop = enough * enough * square;
  of_p = of_r;
  for (int round = 0; !code && round < MOST_ROUNDS && square > stop; round++) {
    double along = of_p * of_p, next;
    code = add_up(f, &along, err);
    if (code || !(along > 0))
      break;
    *x += square / along * p;
    r -= square / along * of_p;
    code = flow_out(f, r, &of_r, err);
    next = r * of_r;
    if (!code)
      code = add_up(f, &next, err);
    p = r + next / square * p;
    of_p = of_r + next / square * of_p;
    square = next;
  }
  return code ? code : swap(f, *x, err);
}

static double weight_of(const long long *weights, long e) {
  return weights ? (double)weights[e] : 1;
}

static double speed_of(const int *speeds, int rank) {
  return speeds ? speeds[rank] : 1;
}

/* Compute what this rank has more than its share. */
static int find_excess(struct comm *c, const long long *weights, long owned, const int *speeds,
                       double *excess, struct error *err) {
  double mine = 0, all, speed = 0;
  for (long e = 0; e < owned; e++)
    mine += weight_of(weights, e);
  all = mine;
  for (int r = 0; r < c->size; r++)
    speed += speed_of(speeds, r);
  const int code = c->table->reduce_all(c, &all, 1, COMM_DOUBLE, COMM_SUM, err);
  *excess = mine - all * speed_of(speeds, c->rank) / speed;
  return code;
}

/* ---- where nothing can flow ---- */

/* The elements of rank 0, then those of rank 1 and so on, cut into a range for each rank. */
static int parts_in_line(struct comm *c, const long long *weights, long owned, const int *speeds, int *part,
                         struct error *err) {
  double *sums = array_new((size_t)c->size, sizeof *sums), before = 0, all = 0, speed = 0;
  int to = 0, code = agree_on_success(c, sums ? OP_OK : no_memory(err), err);
  for (long e = 0; !code && e < owned; e++)
    sums[c->rank] += weight_of(weights, e);
  if (!code)
    code = c->table->reduce_all(c, sums, c->size, COMM_DOUBLE, COMM_SUM, err);
  for (int r = 0; !code && r < c->size; r++) {
    before += r < c->rank ? sums[r] : 0;
    all += sums[r];
    speed += speed_of(speeds, r);
  }
  double end = code ? 0 : all * speed_of(speeds, 0) / speed;
  for (long e = 0; !code && e < owned; e++) {
    const double weight = weight_of(weights, e);
    while (to + 1 < c->size && before + weight / 2 > end)
      end += all * speed_of(speeds, ++to) / speed;
    part[e] = to;
    before += weight;
  }
  free(sums);
  return code;
}

/* ---- which elements flow ---- */

struct leaving {
  const struct groups *g;
  const long long *weights;
  long owned;
  int rank;
  int *part;
  long *queue;
  char *seen; /* groups */
};

/* The elements of a group that still stay here come next. */
static long add_group(struct leaving *l, long k, int to, long behind) {
  const struct groups *g = l->g;
  if (l->seen[k])
    return behind;
  l->seen[k] = 1;
  for (long i = g->first[k]; i < g->first[k + 1]; i++) {
    const long e = g->in[i];
    if (e < l->owned && l->part[e] == l->rank) {
      l->part[e] = -1 - to; /* waits in the queue */
      l->queue[behind++] = e;
    }
  }
  return behind;
}

/* Layer by layer from where the neighbour's elements are. */
static void give(struct leaving *l, int to, double amount) {
  const struct groups *g = l->g;
  long behind = 0, taken = 0;
  memset(l->seen, 0, (size_t)g->count);
  for (long k = 0; k < g->count; k++)
    if (g->place[k] == to)
      behind = add_group(l, k, to, behind);
  for (long e = l->owned; e < g->elements; e++)
    for (long i = g->first_of[e]; g->owner[e] == to && i < g->first_of[e + 1]; i++)
      behind = add_group(l, g->group_of[i], to, behind);
  for (; taken < behind; taken++) {
    const long e = l->queue[taken];
    const double weight = weight_of(l->weights, e);
    if (amount < weight / 2)
      break;
    amount -= weight;
    l->part[e] = to;
    for (long i = g->first_of[e]; i < g->first_of[e + 1]; i++)
      behind = add_group(l, g->group_of[i], to, behind);
  }
  for (; taken < behind; taken++)
    l->part[l->queue[taken]] = l->rank;
}

static int give_all(const struct flow *f, const struct groups *g, const long long *weights, long owned,
                    double x, int *part, struct error *err) {
  struct leaving l = {.g = g,
                      .weights = weights,
                      .owned = owned,
                      .rank = f->comm->rank,
                      .part = part,
                      .queue = array_new((size_t)owned, sizeof *l.queue),
                      .seen = calloc((size_t)g->count + 1, 1)};
  const bool good = l.queue && l.seen;
  for (long e = 0; e < owned; e++)
    part[e] = l.rank;
  for (int n = 0; good && n < f->count; n++)
    if (x > f->others[n])
      give(&l, f->neighbours.ranks[n], x - f->others[n]);
  free(l.queue);
  free(l.seen);
  return good ? OP_OK : no_memory(err);
}

int parts_diffuse(struct op_context *ctx, const struct set *prime, const struct map *map,
                  const long long *weights, const int *speeds, int *part, struct error *err) {
  const long owned = prime->extents[EXTENT_OWNED];
  struct groups g = {0};
  struct flow f = {.comm = ctx->comm};
  double excess = 0, x = 0;
  long long none = owned == 0;
  int code = ctx->comm->table->reduce_all(ctx->comm, &none, 1, COMM_LLONG, COMM_MAX, err);
  if (!code && none)
    code = parts_in_line(ctx->comm, weights, owned, speeds, part, err);
  if (code || none)
    return agree_on_success(ctx->comm, code, err);
  code = agree_on_success(ctx->comm, groups_make(&g, ctx->comm->rank, prime, map, err), err);
  if (!code)
    code = find_neighbours(&f, &g, owned, err);
  if (!code)
    code = find_excess(ctx->comm, weights, owned, speeds, &excess, err);
  if (!code)
    code = find_potential(&f, excess, &x, err);
  if (!code)
    code = give_all(&f, &g, weights, owned, x, part, err);
  arrays_free(&g.arrays);
  flow_free(&f);
  return agree_on_success(ctx->comm, code, err);
}
