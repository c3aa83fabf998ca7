#include "spread/rings.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "mesh/data.h"
#include "spread/parts/mail.h"
#include "spread/parts/numbers.h"

/* A set as this rank knows it; ids are in the order in which elements came. */
struct known {
  struct numbers ids;
  int *owner, *depth;
  long room;   /* of both */
  long *place; /* the final local number of each id */
};

struct builder {
  struct arrays arrays; /* but for what grows */
  struct comm *comm;
  const struct rings_mesh *mesh;
  int layers;
  struct known *sets;
  int **rows; /* of each map by ids: targets' ids; -1 at the first: there is no row */
  long *nrows;
  /* For each map: the owned and executed elements that have an owned target, by targets. */
  long **first;
  int **sources;
};

static int no_memory(struct error *err) {
  return error_memory(err, "deep halos of a mesh", 0);
}

static int fringe_of(const struct builder *b) {
  return 2 * b->layers + 1;
}

/* ---- what is known ---- */

static bool make_room(struct known *k, long count) {
  if (count <= k->room)
    return true;
  const long room = count + count / 2 + 8;
  int *owner = array_resize(k->owner, (size_t)room, sizeof *owner);
  k->owner = owner ? owner : k->owner;
  int *depth = array_resize(k->depth, (size_t)room, sizeof *depth);
  k->depth = depth ? depth : k->depth;
  k->room = owner && depth ? room : k->room;
  return owner && depth;
}

/* Its id; -1: no memory. What is known already keeps the less depth. */
static int meet(struct known *k, long long number, int owner, int depth) {
  const long before = k->ids.count;
  const int id = numbers_add(&k->ids, number);
  if (id < 0 || !make_room(k, k->ids.count))
    return -1;
  if (id == before) {
    k->owner[id] = owner;
    k->depth[id] = depth;
  } else if (depth < k->depth[id])
    k->depth[id] = depth;
  return id;
}

static int begin_set(const struct builder *b, int s, struct error *err) {
  const struct rings_set *set = &b->mesh->sets[s];
  struct known *k = &b->sets[s];
  const long count = set->extents[EXTENT_NONEXEC];
  if (!numbers_new(&k->ids, set->spread->numbers, count) || !make_room(k, count))
    return no_memory(err);
  for (long e = 0; e < count; e++) {
    k->depth[e] = e < set->extents[EXTENT_OWNED] ? 0 : e < set->extents[EXTENT_EXEC] ? 1 : 2;
    k->owner[e] = b->comm->rank;
  }
  halo_note_ranks(&set->spread->exec.receive, k->owner);
  halo_note_ranks(&set->spread->nonexec.receive, k->owner);
  return OP_OK;
}

/* Room for a row of each id; there is none yet. */
static bool make_rows(const struct builder *b, int m) {
  const struct rings_map *map = &b->mesh->maps[m];
  const long count = b->sets[map->from].ids.count;
  int *rows = array_resize(b->rows[m], (size_t)count * (size_t)map->arity, sizeof *rows);
  if (!rows)
    return false;
  b->rows[m] = rows;
  for (; b->nrows[m] < count; b->nrows[m]++)
    rows[b->nrows[m] * map->arity] = -1;
  return true;
}

static int begin_map(struct builder *b, int m, struct error *err) {
  const struct rings_map *map = &b->mesh->maps[m];
  const long owned = b->mesh->sets[map->to].extents[EXTENT_OWNED];
  const long entries = b->mesh->sets[map->from].extents[EXTENT_EXEC] * map->arity;
  long *first = b->first[m] = arrays_add(&b->arrays, (size_t)owned + 2, sizeof *first);
  if (!first || !make_rows(b, m))
    return no_memory(err);
  for (long i = 0; i < entries; i++) {
    b->rows[m][i] = map->table[i];
    if (map->table[i] < owned)
      first[map->table[i] + 2]++;
  }
  for (long t = 0; t < owned; t++)
    first[t + 2] += first[t + 1];
  int *sources = b->sources[m] = arrays_add(&b->arrays, (size_t)first[owned + 1], sizeof *sources);
  for (long i = 0; sources && i < entries; i++)
    if (map->table[i] < owned)
      sources[first[map->table[i] + 1]++] = (int)(i / map->arity);
  return sources ? OP_OK : no_memory(err);
}

static int begin(struct builder *b, struct error *err) {
  const size_t nsets = (size_t)b->mesh->nsets, nmaps = (size_t)b->mesh->nmaps;
  b->sets = arrays_add(&b->arrays, nsets, sizeof *b->sets);
  b->rows = arrays_add(&b->arrays, nmaps, sizeof *b->rows);
  b->nrows = arrays_add(&b->arrays, nmaps, sizeof *b->nrows);
  b->first = arrays_add(&b->arrays, nmaps, sizeof *b->first);
  b->sources = arrays_add(&b->arrays, nmaps, sizeof *b->sources);
  int code = b->arrays.failed ? no_memory(err) : OP_OK;
  for (int s = 0; !code && s < b->mesh->nsets; s++)
    code = begin_set(b, s, err);
  for (int m = 0; !code && m < b->mesh->nmaps; m++)
    code = begin_map(b, m, err);
  return code;
}

/* ---- lists of words for ranks ---- */

/* NULL: no memory. */
static struct parcel *new_parcels(int n) {
  struct parcel *parcels = array_new((size_t)n, sizeof *parcels);
  for (int i = 0; parcels && i < n; i++)
    parcels[i].item_bytes = sizeof(long long);
  return parcels;
}

static bool add_word(struct parcel *p, int rank, long long word) {
  return parcel_add(p, rank, &word);
}

/* ---- one layer: owners are asked, and answer ---- */

/* The answer for a set is a list of words: of each element its number and owner, and for each map from the set its targets'
 * numbers and owners. */

static bool tell_element(const struct builder *b, struct parcel *out, int rank, int s, int id) {
  const struct known *k = &b->sets[s];
  bool good = add_word(out, rank, k->ids.number[id]) && add_word(out, rank, k->owner[id]);
  for (int m = 0; good && m < b->mesh->nmaps; m++) {
    const struct rings_map *map = &b->mesh->maps[m];
    const struct known *to = &b->sets[map->to];
    for (int i = 0; good && map->from == s && i < map->arity; i++) {
      const int target = map->table[(long)id * map->arity + i];
      good = add_word(out, rank, to->ids.number[target]) && add_word(out, rank, to->owner[target]);
    }
  }
  return good;
}

/* The elements of this rank that a rank was told of. */
struct told {
  int **of; /* of each set and owned or executed element: the last rank that was, and 1 */
  struct parcel *answers;
  int rank;
};

static bool tell_once(const struct builder *b, struct told *t, int s, int id) {
  int *of = &t->of[s][id];
  if (*of == t->rank + 1)
    return true;
  *of = t->rank + 1;
  return tell_element(b, &t->answers[s], t->rank, s, id);
}

/* The element itself, and what has it as a target. */
static bool tell_of(const struct builder *b, struct told *t, int s, int id, bool rows_only) {
  bool good = tell_once(b, t, s, id);
  for (int m = 0; good && !rows_only && m < b->mesh->nmaps; m++) {
    const struct rings_map *map = &b->mesh->maps[m];
    if (map->to != s || !map->followed)
      continue;
    for (long i = b->first[m][id]; good && i < b->first[m][id + 1]; i++)
      good = tell_once(b, t, map->from, b->sources[m][i]);
  }
  return good;
}

static int answer(const struct builder *b, struct parcel *asked, bool rows_only, struct parcel *answers,
                  struct error *err) {
  struct told t = {.of = array_new((size_t)b->mesh->nsets, sizeof *t.of), .answers = answers};
  long *at = array_new((size_t)b->mesh->nsets, sizeof *at);
  bool good = t.of && at;
  for (int s = 0; good && s < b->mesh->nsets; s++)
    good = (t.of[s] = array_new((size_t)b->mesh->sets[s].extents[EXTENT_EXEC], sizeof(int))) != NULL;
  struct tally askers = {0};
  for (int s = 0; good && s < b->mesh->nsets; s++)
    for (int i = 0; good && i < asked[s].in.from.count; i++)
      good = tally_add(&askers, asked[s].in.from.ranks[i], 1);
  for (int r = 0; good && r < askers.count; r++) {
    t.rank = askers.ranks[r];
    for (int s = 0; good && s < b->mesh->nsets; s++) {
      struct mail *in = &asked[s].in;
      const int place = tally_place(&in->from, t.rank);
      for (long i = 0; good && place >= 0 && i < in->from.items[place]; i++) {
        const int id = numbers_find(&b->sets[s].ids, ((const long long *)in->items)[at[s]++]);
        good = tell_of(b, &t, s, id, rows_only);
      }
    }
  }
  tally_free(&askers);
  for (int s = 0; t.of && s < b->mesh->nsets; s++)
    free(t.of[s]);
  free((void *)t.of);
  free(at);
  return good ? OP_OK : no_memory(err);
}

/* Words of an element of the set. */
static long words_of(const struct builder *b, int s) {
  long words = 2;
  for (int m = 0; m < b->mesh->nmaps; m++)
    words += b->mesh->maps[m].from == s ? 2L * b->mesh->maps[m].arity : 0;
  return words;
}

/* The elements first, then their rows: what those lead to is a half layer deeper. */
static bool take_elements(const struct builder *b, const struct mail *in, int s, int depth) {
  const long words = words_of(b, s);
  const long long *word = in->items;
  bool good = true;
  for (long i = 0; good && i < in->total; i += words)
    good = meet(&b->sets[s], word[i], (int)word[i + 1], depth) >= 0;
  for (int m = 0; good && m < b->mesh->nmaps; m++)
    good = b->mesh->maps[m].from != s || make_rows(b, m);
  return good;
}

static bool take_rows(const struct builder *b, const struct mail *in, int s, int depth) {
  const long long *word = in->items, *end = word + in->total;
  bool good = true;
  while (good && word < end) {
    const int id = numbers_find(&b->sets[s].ids, word[0]);
    word += 2;
    for (int m = 0; good && m < b->mesh->nmaps; m++) {
      const struct rings_map *map = &b->mesh->maps[m];
      for (int i = 0; good && map->from == s && i < map->arity; i++, word += 2) {
        const int target =
            meet(&b->sets[map->to], word[0], (int)word[1], map->followed ? depth : fringe_of(b));
        good = target >= 0;
        b->rows[m][(long)id * map->arity + i] = target;
      }
    }
  }
  return good;
}

static int ask(const struct builder *b, int least, int most, struct parcel *questions, struct error *err) {
  for (int s = 0; s < b->mesh->nsets; s++) {
    const struct known *k = &b->sets[s];
    bool *asked = array_new((size_t)k->ids.count, sizeof *asked);
    for (long id = 0; asked && id < k->ids.count; id++)
      asked[id] = k->depth[id] >= least && k->depth[id] <= most;
    int *ids = asked ? tally_group(&questions[s].to, k->owner, asked, k->ids.count) : NULL;
    long long *numbers = ids ? array_new((size_t)questions[s].to.total, sizeof *numbers) : NULL;
    questions[s].items = numbers;
    for (long i = 0; numbers && i < questions[s].to.total; i++)
      numbers[i] = k->ids.number[ids[i]];
    free(asked);
    free(ids);
    if (!numbers)
      return no_memory(err);
  }
  return OP_OK;
}

/* Add, from the copies of these depths, their own rows, and (not rows_only) the elements that have them as targets, which are
 * `odd` deep; their targets are `even` deep. */
static int add_layer(const struct builder *b, int least, int most, int odd, int even, bool rows_only,
                     struct error *err) {
  const int n = b->mesh->nsets;
  struct parcel *questions = new_parcels(n), *answers = new_parcels(n);
  int code = questions && answers ? OP_OK : no_memory(err);
  if (!code)
    code = ask(b, least, most, questions, err);
  if (!code)
    code = parcels_send(b->comm, questions, n, err);
  if (!code)
    code = answer(b, questions, rows_only, answers, err);
  if (!code)
    code = parcels_send(b->comm, answers, n, err);
  bool good = true;
  for (int s = 0; !code && good && s < n; s++)
    good = take_elements(b, &answers[s].in, s, odd);
  for (int s = 0; !code && good && s < n; s++)
    good = take_rows(b, &answers[s].in, s, even);
  parcels_free(questions, n);
  parcels_free(answers, n);
  return code ? code : good ? OP_OK : no_memory(err);
}

/* ---- final numbers ---- */

struct sorted {
  int depth, owner, id;
  long long number;
};

static int by_depth(const void *x, const void *y) {
  const struct sorted *a = x, *b = y;
  if (a->depth != b->depth)
    return a->depth < b->depth ? -1 : 1;
  if (a->owner != b->owner)
    return a->owner < b->owner ? -1 : 1;
  return (a->number > b->number) - (a->number < b->number);
}

static int number_set(struct builder *b, int s, struct ring_set *out, struct error *err) {
  struct known *k = &b->sets[s];
  const long before = b->mesh->sets[s].extents[EXTENT_NONEXEC], count = k->ids.count;
  struct sorted *order = array_new((size_t)(count - before), sizeof *order);
  k->place = arrays_add(&b->arrays, (size_t)count, sizeof *k->place);
  out->numbers = array_new((size_t)count, sizeof *out->numbers);
  out->ends = array_new((size_t)fringe_of(b) + 1, sizeof *out->ends);
  out->exchanges = array_new((size_t)fringe_of(b) + 1, sizeof *out->exchanges);
  if (!order || !k->place || !out->numbers || !out->ends || !out->exchanges) {
    free(order);
    return no_memory(err);
  }
  for (long id = before; id < count; id++)
    order[id - before] = (struct sorted){k->depth[id], k->owner[id], (int)id, k->ids.number[id]};
  qsort(order, (size_t)(count - before), sizeof *order, by_depth);
  for (long i = 0; i < count; i++) {
    const long id = i < before ? i : order[i - before].id;
    k->place[id] = i;
    out->numbers[i] = k->ids.number[id];
    for (int v = k->depth[id]; v <= fringe_of(b); v++)
      out->ends[v]++;
  }
  free(order);
  return OP_OK;
}

static int number_map(const struct builder *b, int m, struct rings *out, struct error *err) {
  const struct rings_map *map = &b->mesh->maps[m];
  const struct known *from = &b->sets[map->from], *to = &b->sets[map->to];
  const long count = out->sets[map->from].ends[2 * b->layers];
  size_t entries, bytes;
  if (!size_mul((size_t)count, (size_t)map->arity, &entries) ||
      !size_mul(entries + MAP_SLACK, sizeof(int), &bytes))
    return no_memory(err);
  int *table = out->tables[m] = data_memory(NULL, bytes, data_table_number(m));
  if (!table)
    return no_memory(err);
  for (long id = 0; id < b->nrows[m]; id++)
    for (int i = 0; from->depth[id] <= 2 * b->layers && i < map->arity; i++)
      table[from->place[id] * map->arity + i] = (int)to->place[b->rows[m][id * map->arity + i]];
  return OP_OK;
}

/* ---- messages ---- */

/* List what this rank receives, which lies together by owner, and tell owners the numbers. */
static int want(const struct builder *b, int s, int v, const struct ring_set *out, struct parcel *wanted,
                struct error *err) {
  const long begin = out->ends[v - 1], count = out->ends[v] - begin;
  bool good = (wanted->here = array_new((size_t)count, sizeof *wanted->here)) != NULL;
  for (long i = 0; good && i < count; i++) {
    const long long number = out->numbers[begin + i];
    wanted->here[i] = (int)(begin + i);
    good = add_word(wanted, b->sets[s].owner[numbers_find(&b->sets[s].ids, number)], number);
  }
  return good ? OP_OK : no_memory(err);
}

static int connect(const struct builder *b, int s, struct parcel *wanted, struct halo_exchange *out,
                   struct error *err) {
  const long long *numbers = wanted->in.items;
  int *elements = array_new((size_t)wanted->in.total, sizeof *elements);
  if (!elements)
    return no_memory(err);
  for (long i = 0; i < wanted->in.total; i++)
    elements[i] = numbers_find(&b->sets[s].ids, numbers[i]);
  free(wanted->in.items);
  wanted->in.items = elements;
  return parcel_sides(wanted, &out->receive, &out->send, err);
}

static int make_exchanges(const struct builder *b, struct rings *out, struct error *err) {
  const int deepest = fringe_of(b), each = deepest - 2, n = b->mesh->nsets * each;
  struct parcel *wanted = new_parcels(n);
  int code = wanted ? OP_OK : no_memory(err);
  for (int i = 0; !code && i < n; i++)
    code = want(b, i / each, 3 + i % each, &out->sets[i / each], &wanted[i], err);
  if (!code)
    code = parcels_send(b->comm, wanted, n, err);
  for (int i = 0; !code && i < n; i++)
    code = connect(b, i / each, &wanted[i], &out->sets[i / each].exchanges[3 + i % each], err);
  parcels_free(wanted, n);
  return code;
}

/* ---- all together ---- */

static int build(struct builder *b, struct rings *out, struct error *err) {
  int code = begin(b, err);
  for (int k = 2; !code && k <= b->layers; k++)
    code = add_layer(b, 2 * k - 3, 2 * k - 2, 2 * k - 1, 2 * k, false, err);
  if (!code) /* the last half layer has rows as well, for what nobody changes */
    code = add_layer(b, 2 * b->layers, 2 * b->layers, fringe_of(b), fringe_of(b), true, err);
  for (int s = 0; !code && s < b->mesh->nsets; s++)
    code = number_set(b, s, &out->sets[s], err);
  for (int m = 0; !code && m < b->mesh->nmaps; m++)
    code = number_map(b, m, out, err);
  return code ? code : make_exchanges(b, out, err);
}

static void builder_free(struct builder *b) {
  for (int s = 0; b->sets && s < b->mesh->nsets; s++) {
    numbers_free(&b->sets[s].ids);
    free(b->sets[s].owner);
    free(b->sets[s].depth);
  }
  for (int m = 0; b->rows && m < b->mesh->nmaps; m++)
    free(b->rows[m]);
  arrays_free(&b->arrays);
}

void rings_free(struct rings *r) {
  for (int s = 0; r->sets && s < r->nsets; s++)
    ring_set_free(&r->sets[s], r->layers);
  for (int m = 0; r->tables && m < r->nmaps; m++)
    data_memory_free(r->tables[m]);
  free(r->sets);
  free((void *)r->tables);
  *r = (struct rings){0};
}

int rings_build(struct comm *comm, const struct rings_mesh *mesh, int layers, struct rings *out,
                struct error *err) {
  struct builder b = {.comm = comm, .mesh = mesh, .layers = layers};
  *out = (struct rings){.layers = layers,
                        .nsets = mesh->nsets,
                        .nmaps = mesh->nmaps,
                        .sets = array_new((size_t)mesh->nsets, sizeof *out->sets),
                        .tables = array_new((size_t)mesh->nmaps, sizeof *out->tables)};
  const int code = out->sets && out->tables ? build(&b, out, err) : no_memory(err);
  builder_free(&b);
  if (code)
    rings_free(out);
  return code;
}
