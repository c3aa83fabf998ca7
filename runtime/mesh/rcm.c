/* Reverse Cuthill-McKee. Meshes without order have it wait for memory all the time. So a first search gives the mesh an
 * order in which neighbours are near each other, which the others go on with; and it says early what it will look at. */
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "mesh/order.h"
#include "mesh/ranges.h"

/* The table turned round: the rows in which each target occurs. */
struct reverse {
  struct order_table table;
  long *first; /* size + 1 */
  int *rows;
};

static void count_rows(void *argument, long begin, long end) {
  const struct reverse *r = argument;
  const long entries = order_row(&r->table, r->table.rows);
  for (long i = 0; i < entries; i++) {
    const int target = r->table.table[i];
    if (target >= begin && target < end)
      r->first[target + 2]++;
  }
}

/* Row by row, so that those of a target are in their order. */
static void note_rows(void *argument, long begin, long end) {
  const struct reverse *r = argument;
  for (long row = 0, i = 0; row < r->table.rows; row++)
    for (const long behind = order_row(&r->table, row + 1); i < behind; i++) {
      const int target = r->table.table[i];
      if (target >= begin && target < end)
        r->rows[r->first[target + 1]++] = (int)row;
    }
}

/* Each thread looks at all of the table, for its own targets. */
static void turn_round(struct reverse *r, long size, struct team *team) {
  ranges_run(team, size, count_rows, r);
  for (long t = 0; t < size; t++)
    r->first[t + 2] += r->first[t + 1];
  ranges_run(team, size, note_rows, r);
}

/* ---- the search ---- */

enum { MOST = UINT16_MAX };

struct vertex {
  uint16_t seen;   /* the round in which it was last seen */
  uint16_t degree; /* rows that have it, or MOST */
};

struct search {
  long size;
  struct reverse reverse;
  struct vertex *vertices;
  uint16_t *done; /* the round in which all vertices of a row were seen */
  uint16_t round; /* 1 .. MOST, then they begin again */
  int *rows;      /* not NULL: the mesh has no order yet, and the rows are noted in that of the search */
  long nrows;
};

static void find_degrees(void *argument, long begin, long end) {
  const struct search *s = argument;
  for (long v = begin; v < end; v++) {
    const long degree = s->reverse.first[v + 1] - s->reverse.first[v];
    s->vertices[v] = (struct vertex){.degree = (uint16_t)(degree < MOST ? degree : MOST)};
  }
}

static bool search_new(struct search *s, struct arrays *arrays, const struct order_table *table, long size,
                       struct team *team) {
  s->size = size;
  s->vertices = arrays_add(arrays, (size_t)size, sizeof *s->vertices);
  s->done = arrays_add(arrays, (size_t)table->rows, sizeof *s->done);
  s->reverse = (struct reverse){
      .table = *table,
      .first = arrays_add(arrays, (size_t)size + 2, sizeof *s->reverse.first),
      .rows = arrays_add(arrays, (size_t)order_row(table, table->rows), sizeof *s->reverse.rows)};
  if (arrays->failed)
    return false;
  turn_round(&s->reverse, size, team);
  ranges_run(team, size, find_degrees, s);
  return true;
}

static void begin_round(struct search *s) {
  if (s->round == MOST) {
    for (long v = 0; v < s->size; v++)
      s->vertices[v].seen = 0;
    memset(s->done, 0, (size_t)s->reverse.table.rows * sizeof *s->done);
    s->round = 0;
  }
  s->round++;
}

/* Vertices of a list of neighbours are few on a mesh; long lists (a map to one common target) stay unsorted, so
 * that the whole stays linear. */
enum { SORT_LIMIT = 64 };

static void sort_by_degree(const struct search *s, int *list, long count) {
  for (long i = 1; i < count; i++) {
    const int vertex = list[i];
    const uint16_t degree = s->vertices[vertex].degree;
    long j = i;
    for (; j > 0 && s->vertices[list[j - 1]].degree > degree; j--)
      list[j] = list[j - 1];
    list[j] = vertex;
  }
}

/* How many vertices before it is its turn what is asked for: where its rows begin, which they are, what they hold, and what
 * is known of that. gcc takes calls of functions that only ask for needless, unless they are no functions any more. */
enum { FIRST_AHEAD = 24, ROWS_AHEAD = 16, TARGETS_AHEAD = 8, VERTICES_AHEAD = 3, MOST_AHEAD = 16 };
#define ASKS static inline __attribute__((always_inline)) void

ASKS ask_for_rows(const struct search *s, int vertex) {
  const struct reverse *r = &s->reverse;
  for (long k = r->first[vertex]; k < r->first[vertex + 1] && k < r->first[vertex] + MOST_AHEAD; k++) {
    __builtin_prefetch(&s->done[r->rows[k]]);
    __builtin_prefetch(&r->table.table[order_row(&r->table, r->rows[k])]);
  }
}

ASKS ask_for_vertices(const struct search *s, int vertex) {
  const struct reverse *r = &s->reverse;
  for (long k = r->first[vertex]; k < r->first[vertex + 1] && k < r->first[vertex] + MOST_AHEAD; k++) {
    const long first = order_row(&r->table, r->rows[k]), behind = order_row(&r->table, r->rows[k] + 1L);
    for (long j = first; s->done[r->rows[k]] != s->round && j < behind && j < first + MOST_AHEAD; j++)
      __builtin_prefetch(&s->vertices[r->table.table[j]]);
  }
}

ASKS ask_ahead(const struct search *s, const int *next, long left) {
  const struct reverse *r = &s->reverse;
  if (left > FIRST_AHEAD)
    __builtin_prefetch(&r->first[next[FIRST_AHEAD]]);
  if (left > ROWS_AHEAD)
    __builtin_prefetch(&r->rows[r->first[next[ROWS_AHEAD]]]);
  if (left > TARGETS_AHEAD)
    ask_for_rows(s, next[TARGETS_AHEAD]);
  if (left > VERTICES_AHEAD)
    ask_for_vertices(s, next[VERTICES_AHEAD]);
}

/* The vertices of a row that were not seen yet follow `count` others. Returns how many there are then. */
static inline long see_row(struct search *s, int row, int *out, long count) {
  const struct order_table *t = &s->reverse.table;
  s->done[row] = s->round;
  if (s->rows)
    s->rows[s->nrows++] = row;
  for (long j = order_row(t, row), end = order_row(t, row + 1L); j < end; j++) {
    struct vertex *vertex = &s->vertices[t->table[j]];
    if (vertex->seen != s->round) {
      vertex->seen = s->round;
      out[count++] = t->table[j];
    }
  }
  return count;
}

/* Those of all rows of out[i], which were not seen yet, follow `count` others. */
static inline long see_rows(struct search *s, int *out, long i, long count) {
  const struct reverse *r = &s->reverse;
  if (s->rows)
    ask_ahead(s, out + i, count - i);
  for (long k = r->first[out[i]]; k < r->first[out[i] + 1]; k++)
    if (s->done[r->rows[k]] != s->round)
      count = see_row(s, r->rows[k], out, count);
  return count;
}

/* Breadth first, in this round, from the first `count` vertices of `out`, which has room for all that they reach: those follow.
 * *last_level is where the last level begins. Returns how many vertices. */
static long breadth_first(struct search *s, int *out, long count, long *last_level) {
  long level_end = count;
  *last_level = 0;
  for (long i = 0; i < count; i++)
    s->vertices[out[i]].seen = s->round;
  for (long i = 0; i < count; i++) {
    if (i == level_end) {
      *last_level = i;
      level_end = count;
    }
    const long begin = count;
    count = see_rows(s, out, i, count);
    if (count - begin <= SORT_LIMIT)
      sort_by_degree(s, out + begin, count - begin);
  }
  return count;
}

/* ---- a first order ---- */

struct first_order {
  struct search search;
  int *order, *place; /* of vertices: the old number of each new one, and the other way round */
  long *ends, *edges; /* of components: where they end, and where the last level of their search begins */
  long components;
  struct order_table table; /* rows and vertices as the search met them */
  int *entries;
};

static void search_first(struct first_order *f) {
  struct search *s = &f->search;
  long count = 0, edge;
  begin_round(s);
  for (int v = 0; v < s->size; v++) {
    if (s->vertices[v].seen == s->round)
      continue;
    const long begin = count;
    f->order[begin] = v;
    count += breadth_first(s, f->order + begin, 1, &edge);
    f->edges[f->components] = begin + edge;
    f->ends[f->components++] = count;
  }
}

static void find_places(void *argument, long begin, long end) {
  const struct first_order *f = argument;
  for (long i = begin; i < end; i++)
    f->place[f->order[i]] = (int)i;
}

static void fill_rows(void *argument, long begin, long end) {
  const struct first_order *f = argument;
  const struct order_table *old = &f->search.reverse.table;
  for (long row = begin; row < end; row++) {
    const long from = order_row(old, f->search.rows[row]),
               count = order_row(old, f->search.rows[row] + 1L) - from;
    int *entry = f->entries + order_row(&f->table, row);
    for (long j = 0; j < count; j++)
      entry[j] = f->place[old->table[from + j]];
  }
}

/* Rows without targets are not among them. */
static bool make_table(struct first_order *f, struct arrays *arrays, struct team *team) {
  const struct search *s = &f->search;
  const struct order_table *old = &s->reverse.table;
  f->table = (struct order_table){.rows = s->nrows, .arity = old->arity};
  if (old->first) {
    long long *first = arrays_add(arrays, (size_t)s->nrows + 1, sizeof *first);
    for (long row = 0; first && row < s->nrows; row++)
      first[row + 1] = first[row] + order_row(old, s->rows[row] + 1L) - order_row(old, s->rows[row]);
    f->table.first = first;
  }
  f->entries = arrays_add(arrays, (size_t)order_row(old, old->rows), sizeof *f->entries);
  if (arrays->failed)
    return false;
  f->table.table = f->entries;
  ranges_run(team, s->nrows, fill_rows, f);
  return true;
}

static bool first_order_new(struct first_order *f, struct arrays *arrays, const struct order_table *table,
                            long size, struct team *team) {
  f->search.rows = arrays_add(arrays, (size_t)table->rows, sizeof *f->search.rows);
  f->order = arrays_add(arrays, (size_t)size, sizeof *f->order);
  f->place = arrays_add(arrays, (size_t)size, sizeof *f->place);
  f->ends = arrays_add(arrays, (size_t)size, sizeof *f->ends);
  f->edges = arrays_add(arrays, (size_t)size, sizeof *f->edges);
  if (!search_new(&f->search, arrays, table, size, team))
    return false;
  search_first(f);
  ranges_run(team, size, find_places, f);
  return make_table(f, arrays, team);
}

/* ---- the order ---- */

/* Find a vertex at the edge of the component in a last level, `list` from `begin` to `end` (NULL: these numbers). */
static int fewest_neighbours(const struct search *s, const int *list, long begin, long end) {
  int fewest = list ? list[begin] : (int)begin;
  for (long k = begin + 1; k < end; k++) {
    const int vertex = list ? list[k] : (int)k;
    if (s->vertices[vertex].degree < s->vertices[fewest].degree)
      fewest = vertex;
  }
  return fewest;
}

/* From one edge of the component, and then from the other one that this search finds. */
static void order_component(struct search *s, int *out, long begin, long edge, long end) {
  long last_level;
  out[begin] = fewest_neighbours(s, NULL, edge, end);
  begin_round(s);
  breadth_first(s, out + begin, 1, &last_level);
  out[begin] = fewest_neighbours(s, out + begin, last_level, end - begin);
  begin_round(s);
  breadth_first(s, out + begin, 1, &last_level);
}

struct outcome {
  const struct first_order *first;
  const int *later; /* of the first order's numbers */
  int *order;
};

static void reverse_order(void *argument, long begin, long end) {
  const struct outcome *o = argument;
  const long size = o->first->search.size;
  for (long i = begin; i < end; i++)
    o->order[size - 1 - i] = o->first->order[o->later[i]];
}

int order_rcm(int *order, long size, const struct order_table *table, struct team *team, struct error *err) {
  struct arrays arrays = {0};
  struct first_order first = {.components = 0};
  struct search s = {.size = 0};
  const bool all = first_order_new(&first, &arrays, table, size, team) &&
                   search_new(&s, &arrays, &first.table, size, team);
  int *later = first.place; /* which nobody needs any more */
  for (long c = 0, begin = 0; all && c < first.components; begin = first.ends[c++])
    order_component(&s, later, begin, first.edges[c], first.ends[c]);
  if (all)
    ranges_run(team, size, reverse_order, &(struct outcome){&first, later, order});
  arrays_free(&arrays);
  return all ? OP_OK : error_memory(err, "a renumbering", (size_t)size * sizeof(int));
}

int order_steps(int *steps, long size, long inner, const struct order_table *table, struct error *err) {
  struct arrays arrays = {0};
  struct search s = {.rows = arrays_add(&arrays, (size_t)table->rows, sizeof *s.rows)};
  int *found = arrays_add(&arrays, (size_t)size, sizeof *found);
  const bool all = search_new(&s, &arrays, table, size, NULL);
  long begin = 0, end = 0, count = 0;
  for (long v = 0; v < size; v++)
    steps[v] = v < inner ? INT_MAX : 0;
  if (all)
    begin_round(&s);
  for (long v = inner; all && v < size; v++) {
    found[count++] = (int)v;
    s.vertices[v].seen = s.round;
  }
  for (int step = 1; end < count; step++) {
    begin = end;
    end = count;
    for (long i = begin; i < end; i++)
      count = see_rows(&s, found, i, count);
    for (long i = end; i < count; i++)
      steps[found[i]] = step;
  }
  arrays_free(&arrays);
  return all ? OP_OK : error_memory(err, "the order of a mesh", (size_t)size * sizeof(int));
}
