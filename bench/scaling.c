/* Weak scaling by counting: a grid like airfoil's is parted and its halos are built for many ranks within this
 * process, and what one iteration of airfoil sends and computes twice is counted. Nothing is timed. See
 * docs/scaling.md.
 *
 *   scaling parts CELLS RANKS [messages] [kB]
 *
 * Only what travels where loops wait, counted from edges between parts alone, so that there may be many thousands. If a rank
 * gets more the status is 1.
 *
 *   scaling [cells for each rank] [most ranks] [setup messages] [messages] [kB] [least ranks]
 *
 * Parted by rcb no rank may send more messages to build the halos, nor, where loops wait, more messages and kB in an
 * iteration, or the status is 1. With the least ranks only rows from there on are made, of rcb alone. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../tests/distribute/crew.h"
#include "base/list.h"
#include "grid.h"
#include "plan/copies.h"
#include "plan/depth.h"
#include "spread/parts/build.h"
#include "spread/parts/directory.h"
#include "spread/parts/parts.h"
#include "spread/rings.h"

/* What airfoil exchanges before res_calc, for each cell reached: q and adt; it does so twice in an iteration. */
enum { ROW_BYTES = (4 + 1) * 8, EXCHANGES = 2 };

/* So many half steps run with one exchange (OP2_LAYERS). zeroed: a loop overwrites what is added up. */
enum { WAYS = 4, MOST_LAYERS = 4 };
static const struct {
  int layers;
  bool zeroed;
} ways[WAYS] = {{2, false}, {2, true}, {4, false}, {4, true}};

struct figures {
  double halo_cells, neighbours, bytes, edges_twice, edges, cells, memory, setup_messages, setup_bytes, posts;
  double waiting_cells, waiting_neighbours, waiting_bytes,
      waiting_twice; /* where loops wait for one another */
  struct {
    double bytes, messages, twice;
  } layers[WAYS];
};

struct trial {
  struct grid grid;
  partitioner *partitioner;
  struct figures *ranks;
  bool shows_layers;
};

/* ---- a rank ---- */

static void *must(void *memory) {
  if (!memory) {
    fputs("scaling: no memory\n", stderr);
    exit(1);
  }
  return memory;
}

/* What a rank declares: its block of each set. */
static void declare(const struct trial *t, const struct comm *comm, struct share *share) {
  *share = (struct share){.nsets = SETS,
                          .nmaps = MAPS,
                          .sets = must(array_new(SETS, sizeof *share->sets)),
                          .maps = must(array_new(MAPS, sizeof *share->maps))};
  for (int s = 0; s < SETS; s++) {
    struct share_set *set = &share->sets[s];
    set->total = t->grid.size[s];
    set->first = block_begin(set->total, comm->size, comm->rank);
    set->owned = (long)(block_begin(set->total, comm->size, comm->rank + 1) - set->first);
    set->numbers = must(array_new((size_t)set->owned, sizeof *set->numbers));
    for (long e = 0; e < set->owned; e++)
      set->numbers[e] = set->first + e;
  }
  for (int m = 0; m < MAPS; m++) {
    const struct share_set *from = &share->sets[grid_maps[m].from];
    struct share_map *map = &share->maps[m];
    *map = (struct share_map){.from = grid_maps[m].from, .to = grid_maps[m].to, .arity = grid_maps[m].arity};
    map->rows =
        (struct rows){.entries = must(array_new((size_t)from->owned * (size_t)map->arity, sizeof(long long))),
                      .wide = true};
    for (long e = 0; e < from->owned; e++)
      grid_row(&t->grid, m, from->numbers[e], (long long *)map->rows.entries + e * map->arity);
  }
}

static int part_cells(const struct trial *t, struct comm *comm, const struct share *share, int *part,
                      struct error *err) {
  const struct share_set *cells = &share->sets[CELLS];
  double *coords = must(array_new(2 * (size_t)cells->owned, sizeof *coords));
  for (long e = 0; e < cells->owned; e++) {
    const long long row = cells->numbers[e] / t->grid.width;
    coords[2 * e] = (double)(cells->numbers[e] % t->grid.width);
    coords[2 * e + 1] = (double)row;
  }
  const struct part_request request = {.comm = comm,
                                       .parts = comm->size,
                                       .total = t->grid.size[CELLS],
                                       .count = cells->owned,
                                       .numbers = cells->numbers,
                                       .coords = coords,
                                       .dim = 2};
  int code = t->partitioner(&request, part, err);
  free(coords);
  return code;
}

static struct figures count(const struct built *built) {
  const struct halo_side *receive = &built->maps[EDGE_CELLS].halo->receive;
  const struct halo_side *send = &built->maps[EDGE_CELLS].halo->send;
  const long *edges = built->sets[EDGES].extents;
  struct figures f = {.halo_cells = (double)receive->first[receive->count],
                      .neighbours = send->count,
                      .bytes = (double)send->first[send->count] * (double)ROW_BYTES * (double)EXCHANGES,
                      .edges_twice = (double)(edges[EXTENT_EXEC] - edges[EXTENT_OWNED]),
                      .edges = (double)edges[EXTENT_OWNED],
                      .cells = (double)built->sets[CELLS].extents[EXTENT_OWNED]};
  long copies = 0, owned = 0;
  for (int s = 0; s < SETS; s++) {
    copies += built->sets[s].extents[EXTENT_NONEXEC] - built->sets[s].extents[EXTENT_OWNED];
    owned += built->sets[s].extents[EXTENT_OWNED];
  }
  f.memory = (double)copies / (double)owned;
  return f;
}

/* ---- where loops wait ---- */

/* Half a step of airfoil, as chains are described. */
enum { Q, QOLD, ADT, RES, X, BOUND, DATS };
enum { ADT_CALC, RES_CALC, BRES_CALC, UPDATE, LOOPS };
/* Of q alone, which then travels. */
enum { STATE_BYTES = 4 * 8 };

#define NEAR(dat, use)                                                                                       \
  { (dat), (use), -1, 0, 1, false }
#define FAR(dat, use, map, count)                                                                            \
  { (dat), (use), (map), 0, (count), false }
static const int dats[DATS] = {CELLS, CELLS, CELLS, CELLS, NODES, BOUNDARY};
static const struct chain_access adt_calc[] = {FAR(X, CHAIN_READS, CELL_NODES, 4), NEAR(Q, CHAIN_READS),
                                               NEAR(ADT, CHAIN_OVERWRITES)},
                                 res_calc[] = {FAR(X, CHAIN_READS, EDGE_NODES, 2),
                                               FAR(Q, CHAIN_READS, EDGE_CELLS, 2),
                                               FAR(ADT, CHAIN_READS, EDGE_CELLS, 2),
                                               FAR(RES, CHAIN_ADDS, EDGE_CELLS, 2)},
                                 bres_calc[] = {FAR(X, CHAIN_READS, BOUNDARY_NODES, 2),
                                                FAR(Q, CHAIN_READS, BOUNDARY_CELLS, 1),
                                                FAR(ADT, CHAIN_READS, BOUNDARY_CELLS, 1),
                                                FAR(RES, CHAIN_ADDS, BOUNDARY_CELLS, 1),
                                                NEAR(BOUND, CHAIN_READS)},
                                 update[] = {NEAR(QOLD, CHAIN_READS), NEAR(Q, CHAIN_OVERWRITES),
                                             NEAR(RES, CHAIN_WRITES), NEAR(ADT, CHAIN_READS)};
static const struct chain_loop loops[LOOPS] = {
    [ADT_CALC] = {.set = CELLS, .accesses = adt_calc, .naccesses = 3, .whole = true},
    [RES_CALC] = {.set = EDGES, .accesses = res_calc, .naccesses = 4, .whole = true},
    [BRES_CALC] = {.set = BOUNDARY, .accesses = bres_calc, .naccesses = 5, .whole = true},
    [UPDATE] = {.set = CELLS, .accesses = update, .naccesses = 4, .whole = true}};

static int owner_of(const struct distribution *d, long element) {
  const struct halo_side *const sides[] = {&d->exec.receive, &d->nonexec.receive};
  for (int s = 0; s < 2; s++)
    for (int i = 0; i < sides[s]->count; i++)
      for (long k = sides[s]->first[i]; k < sides[s]->first[i + 1]; k++)
        if (sides[s]->elements[k] == element)
          return sides[s]->ranks[i];
  return -1;
}

/* What arrives before half a step, and from how many ranks; who sends as much sends it to as many. */
static int count_waiting(const struct built *built, int ranks, struct figures *f, struct error *err) {
  struct chain_map maps[MAPS];
  struct chain_set sizes[SETS];
  struct copies_set sets[SETS];
  struct deep_copies c;
  for (int s = 0; s < SETS; s++) {
    const long *e = built->sets[s].extents;
    sets[s] = (struct copies_set){e[EXTENT_CORE], e[EXTENT_OWNED], e[EXTENT_EXEC], e[EXTENT_NONEXEC]};
    sizes[s] = (struct chain_set){.size = e[EXTENT_NONEXEC]};
  }
  for (int m = 0; m < MAPS; m++)
    maps[m] = (struct chain_map){.from = grid_maps[m].from,
                                 .to = grid_maps[m].to,
                                 .arity = grid_maps[m].arity,
                                 .table = built->maps[m].table};
  const struct chain chain = {sizes, SETS, maps, MAPS, dats, DATS, loops, LOOPS};
  const int code = deep_copies_find(&c, &chain, sets, 0, LOOPS, err);
  if (code)
    return code;
  bool *from = must(array_new((size_t)ranks, sizeof *from));
  f->waiting_cells = (double)c.need[Q].count;
  f->waiting_bytes = f->waiting_cells * (double)STATE_BYTES * (double)EXCHANGES;
  f->waiting_twice = (double)(c.run[RES_CALC].count + c.run[ADT_CALC].count);
  for (long i = 0; i < c.need[Q].count; i++) {
    const int owner = owner_of(built->sets[CELLS].spread, c.need[Q].elements[i]);
    f->waiting_neighbours += !from[owner];
    from[owner] = true;
  }
  if (c.need[ADT].count || c.need[RES].count || c.need[QOLD].count)
    f->waiting_cells = HUGE_VAL; /* nothing else should travel */
  free(from);
  deep_copies_free(&c);
  return OP_OK;
}

/* ---- several layers ---- */

static const struct chain_access save_soln[] = {NEAR(Q, CHAIN_READS), NEAR(QOLD, CHAIN_OVERWRITES)},
                                 zero[] = {NEAR(RES, CHAIN_OVERWRITES)};
static const struct chain_loop save_loop = {.set = CELLS,
                                            .accesses = save_soln,
                                            .naccesses = 2,
                                            .whole = true},
                               zero_loop = {.set = CELLS, .accesses = zero, .naccesses = 1, .whole = true};
static const size_t row_bytes[DATS] = {
    [Q] = 4 * 8, [QOLD] = 4 * 8, [ADT] = 8, [RES] = 4 * 8, [X] = 2 * 8, [BOUND] = 4};

static int chain_of(int way, struct chain_loop *out) {
  int n = 0;
  for (int half = 0; half < ways[way].layers; half++) {
    if (half % 2 == 0)
      out[n++] = save_loop;
    if (ways[way].zeroed)
      out[n++] = zero_loop;
    for (int l = 0; l < LOOPS; l++)
      out[n++] = loops[l];
  }
  return n;
}

/* Which ranks own the copies of cells. */
static int *find_owners(const struct distribution *d, const struct ring_set *rings, int layers) {
  int *owners = must(array_new((size_t)rings->ends[2 * layers + 1], sizeof *owners));
  for (int v = 1; v <= 2 * layers + 1; v++) {
    const struct halo_side *side = v == 1   ? &d->exec.receive
                                   : v == 2 ? &d->nonexec.receive
                                            : &rings->exchanges[v].receive;
    for (int i = 0; i < side->count; i++)
      for (long k = side->first[i]; k < side->first[i + 1]; k++)
        owners[side->elements[k]] = side->ranks[i];
  }
  return owners;
}

/* Of a step: what arrives, from how many ranks, and what runs twice. */
static void add_up(const struct deep_copies *c, const struct chain *chain, const struct copies_set *sets,
                   const int *owners, int ranks, int way, struct figures *f) {
  const double steps = ways[way].layers / 2.0;
  bool *from = must(array_new((size_t)ranks, sizeof *from));
  double owned = 0, twice = 0;
  for (int d = Q; d <= RES; d++)
    for (long i = 0; i < c->need[d].count; i++) {
      f->layers[way].bytes += (double)row_bytes[d] / steps;
      from[owners[c->need[d].elements[i]]] = true;
    }
  for (int r = 0; r < ranks; r++)
    f->layers[way].messages += from[r] / steps;
  for (int l = 0; l < chain->nloops; l++) {
    owned += (double)sets[chain->loops[l].set].owned;
    twice += (double)c->run[l].count;
  }
  f->layers[way].twice = 100 * twice / owned;
  free(from);
}

static int count_way(const struct built *built, const struct rings *rings, int ranks, int way,
                     struct figures *f, struct error *err) {
  const int layers = ways[way].layers;
  struct chain_loop many[MOST_LAYERS * (LOOPS + 2)];
  struct chain_map maps[MAPS];
  struct chain_set sizes[SETS];
  struct copies_set sets[SETS];
  struct depths d;
  struct deep_copies c;
  for (int s = 0; s < SETS; s++) {
    const long *e = built->sets[s].extents, *ends = rings->sets[s].ends;
    sets[s] = (struct copies_set){e[EXTENT_CORE], e[EXTENT_OWNED], ends[2 * layers], ends[2 * layers + 1]};
    sizes[s] = (struct chain_set){.size = ends[2 * layers + 1]};
  }
  for (int m = 0; m < MAPS; m++)
    maps[m] = (struct chain_map){.from = grid_maps[m].from,
                                 .to = grid_maps[m].to,
                                 .arity = grid_maps[m].arity,
                                 .table = rings->tables[m]};
  const struct chain chain = {sizes, SETS, maps, MAPS, dats, DATS, many, chain_of(way, many)};
  const struct depth_wish wish = {.layers = layers, .fringe = true, .bytes = row_bytes};
  int code = depths_build(&d, &chain, &wish, err);
  if (code)
    return code;
  if (d.exchanges > 1)
    f->layers[way].bytes = HUGE_VAL; /* one is enough */
  depths_free(&d);
  code = deep_copies_find(&c, &chain, sets, 0, chain.nloops, err);
  if (code)
    return code;
  int *owners = find_owners(built->sets[CELLS].spread, &rings->sets[CELLS], layers);
  add_up(&c, &chain, sets, owners, ranks, way, f);
  free(owners);
  deep_copies_free(&c);
  return OP_OK;
}

static int count_layers(struct comm *comm, const struct built *built, struct figures *f, struct error *err) {
  struct rings_set sets[SETS];
  struct rings_map maps[MAPS];
  for (int s = 0; s < SETS; s++)
    sets[s] = (struct rings_set){built->sets[s].spread, built->sets[s].extents};
  for (int m = 0; m < MAPS; m++)
    maps[m] = (struct rings_map){grid_maps[m].from, grid_maps[m].to, grid_maps[m].arity, built->maps[m].table,
                                 grid_maps[m].to == CELLS};
  const struct rings_mesh mesh = {sets, maps, SETS, MAPS};
  int code = OP_OK;
  for (int way = 0; !code && way < WAYS; way += 2) {
    struct rings rings;
    code = rings_build(comm, &mesh, ways[way].layers, &rings, err);
    for (int k = way; !code && k < way + 2; k++)
      code = count_way(built, &rings, comm->size, k, f, err);
    rings_free(&rings);
  }
  return code;
}

static int run_rank(struct comm *comm, void *user, struct error *err) {
  struct trial *t = user;
  struct share share;
  struct halo_exchange routes[SETS];
  struct built built = {0};
  int *part[SETS] = {0};
  declare(t, comm, &share);
  part[CELLS] = must(array_new((size_t)share.sets[CELLS].owned, sizeof(int)));
  int code = part_cells(t, comm, &share, part[CELLS], err);
  if (!code)
    code = parts_follow(comm, &share, comm->size, part, err);
  if (!code)
    code = share_move(comm, &share, part, routes, err);
  if (!code)
    code = build_halos(comm, &share, CELLS, &built, err);
  const struct crew_traffic setup = crew_traffic(comm);
  if (!code) {
    t->ranks[comm->rank] = count(&built);
    code = count_waiting(&built, comm->size, &t->ranks[comm->rank], err);
    t->ranks[comm->rank].setup_messages = (double)setup.messages;
    t->ranks[comm->rank].setup_bytes = (double)setup.bytes;
    t->ranks[comm->rank].posts = (double)setup.posts;
  }
  if (!code && t->shows_layers)
    code = count_layers(comm, &built, &t->ranks[comm->rank], err);
  for (int s = 0; s < SETS; s++) {
    free(part[s]);
    halo_exchange_free(&routes[s]);
  }
  built_free(&built);
  share_free(&share);
  return code;
}

/* ---- the table ---- */

static double most(const struct trial *t, int ranks, size_t field, double *mean) {
  double highest = 0, sum = 0;
  for (int r = 0; r < ranks; r++) {
    double value;
    memcpy(&value, (const char *)&t->ranks[r] + field, sizeof value);
    highest = fmax(highest, value);
    sum += value;
  }
  *mean = sum / ranks;
  return highest;
}

/* What no rank may send more of. */
struct allowed {
  double setup, messages, kilobytes;
};

static bool print_row(const struct trial *t, const char *name, int ranks, const struct allowed *allowed) {
  static const struct {
    size_t field;
    const char *format;
    double scale;
  } columns[] = {{offsetof(struct figures, cells), " %9.0f %9.0f", 1},
                 {offsetof(struct figures, halo_cells), " %7.0f %7.0f", 1},
                 {offsetof(struct figures, neighbours), " %6.2f %4.0f", EXCHANGES},
                 {offsetof(struct figures, bytes), " %9.1f %9.1f", 1e-3},
                 {offsetof(struct figures, edges_twice), " %7.0f %7.0f", 1}};
  static const struct {
    size_t field;
    const char *format;
    double scale;
  } waiting[] = {{offsetof(struct figures, waiting_cells), " %7.0f %7.0f", 1},
                 {offsetof(struct figures, waiting_neighbours), " %6.2f %4.0f", EXCHANGES},
                 {offsetof(struct figures, waiting_bytes), " %9.1f %9.1f", 1e-3},
                 {offsetof(struct figures, waiting_twice), " %7.0f %7.0f", 1}};
  double mean, edges, twice;
  printf("%-9s %5d", name, ranks);
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
    const double high = most(t, ranks, columns[i].field, &mean);
    printf(columns[i].format, mean * columns[i].scale, high * columns[i].scale);
  }
  most(t, ranks, offsetof(struct figures, edges), &edges);
  most(t, ranks, offsetof(struct figures, edges_twice), &twice);
  printf(" %7.2f%%", 100 * twice / edges);
  most(t, ranks, offsetof(struct figures, memory), &mean);
  printf(" %7.2f%%", 100 * mean);
  for (size_t i = 0; i < sizeof waiting / sizeof *waiting; i++) {
    const double high = most(t, ranks, waiting[i].field, &mean);
    printf(waiting[i].format, mean * waiting[i].scale, high * waiting[i].scale);
  }
  const double messages = most(t, ranks, offsetof(struct figures, setup_messages), &mean);
  printf(" %5.0f %5.0f", mean, messages);
  printf(" %6.0f", most(t, ranks, offsetof(struct figures, posts), &mean));
  most(t, ranks, offsetof(struct figures, setup_bytes), &mean);
  printf(" %8.0f\n", mean / 1e3);
  fflush(stdout);
  return messages <= allowed->setup &&
         EXCHANGES * most(t, ranks, offsetof(struct figures, waiting_neighbours), &mean) <=
             allowed->messages &&
         most(t, ranks, offsetof(struct figures, waiting_bytes), &mean) <= 1e3 * allowed->kilobytes;
}

static void print_layers(const struct trial *t, int ranks) {
  for (int way = 0; way < WAYS; way++) {
    const size_t at = offsetof(struct figures, layers) + (size_t)way * sizeof t->ranks->layers[0];
    double mean[3], high[3];
    high[0] = most(t, ranks, at, &mean[0]);
    high[1] = most(t, ranks, at + sizeof(double), &mean[1]);
    high[2] = most(t, ranks, at + 2 * sizeof(double), &mean[2]);
    printf("  %d layers%s: kB received %.1f mean, %.1f most; messages %.2f, %.0f; run twice %.2f%%, %.2f%%\n",
           ways[way].layers, ways[way].zeroed ? ", zeroed" : "", mean[0] / 1e3, high[0] / 1e3, mean[1],
           high[1], mean[2], high[2]);
  }
}

/* Is what it takes allowed? */
static bool run(const char *name, partitioner *partitioner, int ranks, long long cells,
                const struct allowed *allowed, int shown) {
  struct trial t = {.grid = grid_of(cells * ranks),
                    .partitioner = partitioner,
                    .shows_layers = partitioner == parts_rcb && ranks == shown,
                    .ranks = must(array_new((size_t)ranks, sizeof *t.ranks))};
  crew_run(ranks, run_rank, &t);
  const bool good = print_row(&t, name, ranks, allowed);
  if (t.shows_layers)
    print_layers(&t, ranks);
  free(t.ranks);
  return good;
}

/* ---- many parts ---- */

enum { NEIGHBOURS = 4 };

struct parts {
  struct grid grid;
  int count;
  int *part;               /* of cells */
  int (*near)[NEIGHBOURS]; /* of cells: other parts that have a neighbour of it, and 1; 0: no more */
  bool *meet;              /* of pairs */
  long *cells, *messages;  /* that parts receive, and from how many others */
};

static void note_neighbour(struct parts *p, long long cell, long long other) {
  const int to = p->part[other], from = p->part[cell];
  int i = 0;
  if (to == from)
    return;
  while (i < NEIGHBOURS - 1 && p->near[cell][i] && p->near[cell][i] != to + 1)
    i++;
  p->cells[to] += p->near[cell][i] != to + 1;
  p->near[cell][i] = to + 1;
  p->messages[to] += !p->meet[(long)to * p->count + from];
  p->meet[(long)to * p->count + from] = true;
}

static int count_parts(struct comm *comm, void *user, struct error *err) {
  struct parts *p = user;
  const long long cells = p->grid.size[CELLS];
  double *coords = must(array_new(2 * (size_t)cells, sizeof *coords));
  long long *numbers = must(array_new((size_t)cells, sizeof *numbers)), row[2];
  for (long long c = 0; c < cells; c++) {
    numbers[c] = c;
    coords[2 * c] = (double)(c % p->grid.width);
    coords[2 * c + 1] = (double)(c / p->grid.width);
  }
  const struct part_request request = {.comm = comm,
                                       .parts = p->count,
                                       .total = cells,
                                       .count = (long)cells,
                                       .numbers = numbers,
                                       .coords = coords,
                                       .dim = 2};
  const int code = parts_rcb(&request, p->part, err);
  for (long long e = 0; !code && e < p->grid.size[EDGES]; e++) {
    grid_row(&p->grid, EDGE_CELLS, e, row);
    note_neighbour(p, row[0], row[1]);
    note_neighbour(p, row[1], row[0]);
  }
  free(coords);
  free(numbers);
  return code;
}

static int run_parts(long long cells, int ranks, const struct allowed *allowed) {
  struct parts p = {.grid = grid_of(cells * ranks), .count = ranks};
  const size_t all = (size_t)p.grid.size[CELLS], n = (size_t)ranks;
  long most = 0, messages = 0, sum = 0, sent = 0;
  p.part = must(array_new(all, sizeof *p.part));
  p.near = must(array_new(all, sizeof *p.near));
  p.meet = must(array_new(n * n, sizeof *p.meet));
  p.cells = must(array_new(n, sizeof *p.cells));
  p.messages = must(array_new(n, sizeof *p.messages));
  crew_run(1, count_parts, &p);
  for (int r = 0; r < ranks; r++) {
    most = p.cells[r] > most ? p.cells[r] : most;
    messages = p.messages[r] > messages ? p.messages[r] : messages;
    sum += p.cells[r];
    sent += p.messages[r];
  }
  const double bytes = (double)STATE_BYTES * (double)EXCHANGES * 1e-3;
  printf("rcb %d: cells received %.0f, most %ld; messages %.2f, most %ld; kB %.1f, most %.1f\n", ranks,
         (double)sum / ranks, most, EXCHANGES * (double)sent / ranks, EXCHANGES * messages,
         bytes * (double)sum / ranks, bytes * (double)most);
  free(p.part);
  free(p.near);
  free(p.meet);
  free(p.cells);
  free(p.messages);
  return EXCHANGES * (double)messages <= allowed->messages && bytes * (double)most <= allowed->kilobytes ? 0
                                                                                                         : 1;
}

int main(int argc, char **argv) {
  const struct allowed few = {0, argc > 4 ? atof(argv[4]) : HUGE_VAL, argc > 5 ? atof(argv[5]) : HUGE_VAL};
  if (argc >= 4 && strcmp(argv[1], "parts") == 0)
    return run_parts(atoll(argv[2]), atoi(argv[3]), &few);
  const long long cells = argc > 1 ? atoll(argv[1]) : 10000;
  const int most_ranks = argc > 2 ? atoi(argv[2]) : 64;
  static const struct allowed all = {HUGE_VAL, HUGE_VAL, HUGE_VAL};
  const struct allowed allowed = {argc > 3 ? atof(argv[3]) : HUGE_VAL, argc > 4 ? atof(argv[4]) : HUGE_VAL,
                                  argc > 5 ? atof(argv[5]) : HUGE_VAL};
  bool good = true;
  printf("%-9s %5s %19s %15s %11s %19s %15s %8s %8s %15s %11s %19s %15s %27s\n", "", "", "owned cells",
         "cells received", "messages", "kB sent", "edges repeated", "of all", "copies", "loops that wait",
         "messages", "kB received", "run twice", "making it");
  printf("%-9s %5s %9s %9s %7s %7s %6s %4s %9s %9s %7s %7s %8s %8s %7s %7s %6s %4s %9s %9s %7s %7s %5s %5s "
         "%6s %8s\n",
         "parted by", "ranks", "mean", "most", "mean", "most", "mean", "most", "mean", "most", "mean", "most",
         "", "", "mean", "most", "mean", "most", "mean", "most", "mean", "most", "sent", "most", "rounds",
         "kB");
  for (int ranks = argc > 6 ? atoi(argv[6]) : 2; ranks <= most_ranks; ranks *= 2)
    good &= run("rcb", parts_rcb, ranks, cells, &allowed, argc > 6 ? 0 : most_ranks);
  static const struct {
    const char *name;
    partitioner *partitioner;
  } others[] = {{"inertial", parts_inertial}, {"block", parts_block}, {"random", parts_random}};
  for (size_t i = 0; argc <= 6 && i < sizeof others / sizeof *others; i++)
    run(others[i].name, others[i].partitioner, most_ranks < 64 ? most_ranks : 64, cells, &all, 0);
  if (!good)
    fprintf(stderr, "scaling: a rank sends more than is allowed\n");
  return good ? 0 : 1;
}
