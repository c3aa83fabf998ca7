/* What a picture of a mesh can show. Each view asks the function that loops use for its plan, and colours by the answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "cli/draw/draw.h"
#include "plan/owners.h"
#include "plan/tiles/tiles.h"
#include "spread/partition/parts.h"

enum { NUMBERS_OF_ALL = -1, NO_NUMBERS = -2 };

static long size_of(const struct picture *p, int set) {
  return (long)p->mesh->sets[set].size;
}

/* Shades of all sets, everything without. */
static int **new_shades(const struct picture *p, struct error *err) {
  const size_t sets = (size_t)p->mesh->nsets;
  int **shade = array_new(sets + 1, sizeof *shade);
  for (size_t s = 0; shade && s < sets; s++) {
    shade[s] = array_new((size_t)p->mesh->sets[s].size, sizeof **shade);
    for (long e = 0; shade[s] && e < size_of(p, (int)s); e++)
      shade[s][e] = SHADE_NONE;
    if (!shade[s]) {
      while (s > 0)
        free(shade[--s]);
      free(shade);
      shade = NULL;
    }
  }
  if (!shade)
    error_memory(err, "a picture", sets);
  return shade;
}

static void free_shades(const struct picture *p, int **shade) {
  for (int s = 0; shade && s < p->mesh->nsets; s++)
    free(shade[s]);
  free(shade);
}

static int draw_sets(struct picture *p, const struct view_wish *wish, struct error *err) {
  (void)wish, (void)err;
  char title[64];
  for (int s = 0; s < p->mesh->nsets; s++)
    if (s == p->points->set || p->shape[s]) {
      snprintf(title, sizeof title, "%.40s: %ld", p->mesh->sets[s].name, size_of(p, s));
      picture_panel(p, &(struct panel){.title = title, .only = s});
    }
  return OP_OK;
}

static int draw_maps(struct picture *p, const struct view_wish *wish, struct error *err) {
  (void)wish, (void)err;
  char title[128];
  for (int i = 0; i < p->mesh->ntables; i++) {
    const struct mesh_table *t = &p->mesh->tables[i];
    if (t->to < 0 || (t->set != p->points->set && !p->shape[t->set]))
      continue;
    snprintf(title, sizeof title, "%.30s: %.30s to %.30s, %d each", t->name, p->mesh->sets[t->set].name,
             p->mesh->sets[t->to].name, t->columns);
    picture_panel(p, &(struct panel){.title = title, .only = NO_NUMBERS, .arrows = t});
  }
  return OP_OK;
}

/* ---- one loop that adds through a map ---- */

struct loop {
  struct plan_column columns[16];
  struct plan_request request;
};

static int loop_of(const struct picture *p, const struct view_wish *wish, struct loop *loop,
                   struct error *err) {
  const struct mesh_table *map = wish->loop;
  if (map->columns > 16)
    return error_set(err, OP_ERR_ARGUMENT, "map %s has an arity of %d; a picture is for 16 at most",
                     map->name, map->columns);
  for (int c = 0; c < map->columns; c++)
    loop->columns[c] = (struct plan_column){.table = map->values,
                                            .arity = map->columns,
                                            .column = c,
                                            .target = map->to,
                                            .target_size = size_of(p, map->to)};
  loop->request = (struct plan_request){.size = size_of(p, map->set),
                                        .block_size = wish->parts,
                                        .columns = loop->columns,
                                        .ncolumns = map->columns,
                                        .element_colours = true};
  return OP_OK;
}

static int draw_colours(struct picture *p, const struct view_wish *wish, struct error *err) {
  struct loop loop;
  struct plan plan = {0};
  char title[128];
  int **blocks = new_shades(p, err), **colours = blocks ? new_shades(p, err) : NULL;
  int code = colours ? loop_of(p, wish, &loop, err) : OP_ERR_MEMORY;
  if (!code)
    code = plan_build(&plan, &loop.request, NULL, err);
  if (!code)
    code = plan_verify(&plan, &loop.request, 2, err);
  const int set = wish->loop->set;
  for (int c = 0; !code && c < plan.ncolours; c++)
    for (int b = plan.colour_first[c]; b < plan.colour_first[c + 1]; b++)
      for (long e = (long)plan.block_map[b] * wish->parts;
           e < plan.size && e < (plan.block_map[b] + 1L) * wish->parts; e++) {
        blocks[set][e] = c;
        colours[set][e] = plan.element_colour[e];
      }
  if (!code) {
    snprintf(title, sizeof title, "%d blocks in %d colours", plan.nblocks, plan.ncolours);
    picture_panel(p, &(struct panel){.title = title, .shade = blocks, .only = set});
    snprintf(title, sizeof title, "inside a block: at most %d colours", plan.max_element_colours);
    picture_panel(p, &(struct panel){.title = title, .shade = colours, .only = NO_NUMBERS});
  }
  plan_free(&plan);
  free_shades(p, blocks);
  free_shades(p, colours);
  return code;
}

/* First the owners' elements side by side, then those between them. */
static int draw_owners(struct picture *p, const struct view_wish *wish, struct error *err) {
  struct loop loop;
  struct schedule s = {0};
  struct owner_shares shares;
  char title[128];
  const int set = wish->loop->set, to = wish->loop->to;
  int **shade = new_shades(p, err);
  int code = shade ? loop_of(p, wish, &loop, err) : OP_ERR_MEMORY;
  if (!code)
    code = schedule_owners(&s, &loop.request, wish->parts, &shares, err);
  if (!code)
    code = schedule_verify(&s, &loop.request, err);
  for (int f = 0; !code && f < s.nphases; f++)
    for (int i = s.phases[f].first; i < s.phases[f].first + s.phases[f].count; i++)
      for (long k = s.items[i].begin; k < s.items[i].end; k++)
        shade[set][s.items[i].work == WORK_LIST ? s.list[k] : k] = f == 0 ? s.items[i].owner : SHADE_SHARED;
  for (long e = 0; !code && e < size_of(p, to); e++)
    shade[to][e] = owner_of(size_of(p, to), e, wish->parts);
  if (!code) {
    snprintf(title, sizeof title, "%d owners of %.30s; %ld of %ld %.30s between", wish->parts,
             p->mesh->sets[to].name, shares.between, shares.elements, p->mesh->sets[set].name);
    picture_panel(p, &(struct panel){.title = title, .shade = shade, .only = NO_NUMBERS});
  }
  schedule_free(&s);
  free_shades(p, shade);
  return code;
}

/* ---- a chain: add through the map, update the targets, add again ---- */

static int panels_of_tiles(struct picture *p, const struct view_wish *wish, const struct tiles *t,
                           struct error *err) {
  static const char *const words[] = {"1: add to the targets", "2: update the targets", "3: add again"};
  char title[128];
  for (int loop = 0; loop < 3; loop++) {
    const int set = loop == 1 ? wish->loop->to : wish->loop->set;
    int **shade = new_shades(p, err);
    if (!shade)
      return OP_ERR_MEMORY;
    for (int i = 0, tile = 0, last = -1; i < t->schedule.nitems; i++) {
      const struct item *item = &t->schedule.items[i];
      tile += i > 0 && item->work < last; /* the first loop again: the next tile */
      last = item->work;
      for (long e = item->begin; item->work == loop && e < item->end; e++)
        shade[set][e] = item->owner >= t->nchunks ? SHADE_SHARED : tile;
    }
    snprintf(title, sizeof title, "%s (%d tiles)", words[loop], t->ntiles);
    picture_panel(p, &(struct panel){.title = title, .shade = shade, .only = NO_NUMBERS});
    free_shades(p, shade);
  }
  return OP_OK;
}

static int draw_tiles(struct picture *p, const struct view_wish *wish, struct error *err) {
  enum { EDGES, CELLS, SETS };
  enum { Q, RES, DATS };
  const struct mesh_table *map = wish->loop;
  const struct chain_set sets[SETS] = {{p->mesh->sets[map->set].name, size_of(p, map->set)},
                                       {p->mesh->sets[map->to].name, size_of(p, map->to)}};
  const struct chain_map maps[] = {{.from = EDGES, .to = CELLS, .arity = map->columns, .table = map->values}};
  const int dats[DATS] = {CELLS, CELLS};
  const struct chain_access adds[] = {{Q, CHAIN_READS, 0, 0, map->columns},
                                      {RES, CHAIN_ADDS, 0, 0, map->columns}};
  const struct chain_access updates[] = {{Q, CHAIN_WRITES, -1, 0, 0}, {RES, CHAIN_WRITES, -1, 0, 0}};
  const struct chain_loop loops[] = {
      {EDGES, adds, 2, false}, {CELLS, updates, 2, false}, {EDGES, adds, 2, false}};
  const struct chain chain = {sets, SETS, maps, 1, dats, DATS, loops, 3};
  const struct tiles_wish tiles_wish = {
      .tiles = wish->parts, .chunks = 1, .step = 1, .small = 1, .blocks = 64, .always = true};
  struct tiles t = {0};
  int code = tiles_build(&t, &chain, &tiles_wish, NULL, err);
  if (!code && text_str(&t.refused)[0])
    code = error_set(err, OP_ERR_PLAN, "this mesh has no tiles: %s", text_str(&t.refused));
  if (!code)
    code = tiles_verify(&t, &chain, err);
  if (!code)
    code = panels_of_tiles(p, wish, &t, err);
  tiles_free(&t);
  return code;
}

/* ---- ranks ---- */

/* Where the elements of the map's targets go by recursive bisection; its own elements go with their first target that
 * most of them share (parts.h), which for two targets is the lower part. */
static int part(const struct picture *p, const struct view_wish *wish, int **shade, struct error *err) {
  const struct mesh_table *map = wish->loop;
  const long size = size_of(p, map->to);
  struct comm *comm = NULL;
  long long *numbers = array_new((size_t)size, sizeof *numbers);
  double(*places)[2] = array_new((size_t)size, sizeof *places);
  int code = numbers && places ? comm_open_alone(&comm, err) : error_memory(err, "a picture", (size_t)size);
  for (long e = 0; !code && e < size; e++) {
    numbers[e] = e;
    picture_place(p, map->to, e, places[e]);
  }
  const struct part_request request = {.comm = comm,
                                       .parts = wish->parts,
                                       .total = size,
                                       .count = size,
                                       .numbers = numbers,
                                       .coords = &places[0][0],
                                       .dim = 2};
  if (!code)
    code = parts_rcb(&request, shade[map->to], err);
  for (long e = 0; !code && e < size_of(p, map->set); e++) {
    int lowest = wish->parts;
    for (int c = 0; c < map->columns; c++) {
      const int of = shade[map->to][((const int *)map->values)[e * map->columns + c]];
      lowest = of < lowest ? of : lowest;
    }
    shade[map->set][e] = lowest;
  }
  if (comm)
    comm->table->close(comm);
  free(numbers);
  free(places);
  return code;
}

/* What the last rank has, to which no tie goes: its own (0), copies of others' elements that it runs because they add to its own (1), and copies of
 * their other targets, which it only reads (2). */
static void see_from_last(const struct picture *p, const struct view_wish *wish, int **owner, int **seen) {
  const struct mesh_table *map = wish->loop;
  const int *table = map->values, rank = wish->parts - 1;
  for (long e = 0; e < size_of(p, map->to); e++)
    seen[map->to][e] = owner[map->to][e] == rank ? 0 : SHADE_NONE;
  for (long e = 0; e < size_of(p, map->set); e++) {
    bool reaches = false;
    for (int c = 0; c < map->columns; c++)
      reaches = reaches || owner[map->to][table[e * map->columns + c]] == rank;
    seen[map->set][e] = owner[map->set][e] == rank ? 0 : reaches ? 1 : SHADE_NONE;
    for (int c = 0; c < map->columns && seen[map->set][e] >= 0; c++) {
      int *target = &seen[map->to][table[e * map->columns + c]];
      *target = *target == 0 ? 0 : 2;
    }
  }
}

static int draw_halos(struct picture *p, const struct view_wish *wish, struct error *err) {
  char title[64];
  int **owner = new_shades(p, err), **seen = owner ? new_shades(p, err) : NULL;
  int code = seen ? part(p, wish, owner, err) : OP_ERR_MEMORY;
  if (!code) {
    snprintf(title, sizeof title, "the parts of %d ranks", wish->parts);
    picture_panel(p, &(struct panel){.title = title, .shade = owner, .only = NO_NUMBERS});
    see_from_last(p, wish, owner, seen);
    snprintf(title, sizeof title, "rank %d: its own, its copies: run, read", wish->parts - 1);
    picture_panel(p, &(struct panel){.title = title, .shade = seen, .only = NO_NUMBERS});
  }
  free_shades(p, owner);
  free_shades(p, seen);
  return code;
}

const struct view draw_views[] = {{"sets", 1, draw_sets},
                                  {"maps", 1, draw_maps},
                                  {"colours", 4, draw_colours},
                                  {"owners", 3, draw_owners},
                                  {"tiles", 4, draw_tiles},
                                  {"halos", 4, draw_halos},
                                  {0}};
