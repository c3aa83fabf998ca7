#include "plan/tiles_closure.h"

#include <string.h>

#include "base/list.h"
#include "plan/plan_staging.h"

/* ---- small sets ------------------------------------------------------------------------------------*/

static long largest_set(const struct chain *c) {
  long largest = 0;
  for (int l = 0; l < c->nloops; l++)
    largest = larger(largest, c->sets[c->loops[l].set].size);
  return largest;
}

/* The first map of a loop over this set to one that is not small: the set is ordered by one of its columns. */
static const struct chain_access *key_of(const struct closure *b, int set) {
  for (int l = 0; l < b->chain->nloops; l++) {
    const struct chain_loop *loop = &b->chain->loops[l];
    for (int a = 0; loop->set == set && a < loop->naccesses; a++)
      if (loop->accesses[a].map >= 0 && !b->orders[b->chain->maps[loop->accesses[a].map].to].small)
        return &loop->accesses[a];
  }
  return NULL;
}

/* Elements of a ragged map without a target come first. */
static long first_target(const struct chain_map *map, long e, int column) {
  const struct chain_access a = {.first = column, .count = 1};
  return chain_count(map, &a, e) ? chain_target(map, chain_begin(map, &a, e)) : 0;
}

static int take_order(struct order *o, const int *element, long size, struct arrays *arrays,
                      struct error *err) {
  o->element = element;
  o->position = arrays_add(arrays, (size_t)size, sizeof *o->position);
  if (!o->position)
    return error_memory(err, "the order of a set", (size_t)size * sizeof *element);
  for (long p = 0; p < size; p++)
    o->position[element[p]] = (int)p;
  return OP_OK;
}

/* Elements with one target stay in their own order. */
static int sort_by_target(struct order *o, const struct chain_map *map, long size, struct arrays *arrays,
                          struct error *err) {
  int *element = arrays_add(arrays, (size_t)size, sizeof *element);
  int *keys = arrays_add(arrays, (size_t)size, sizeof *keys),
      *spare = arrays_add(arrays, (size_t)size, sizeof *spare);
  if (arrays->failed)
    return error_memory(err, "the order of a small set", (size_t)size * sizeof *keys);
  for (long e = 0; e < size; e++) {
    element[e] = (int)e;
    keys[e] = (int)first_target(map, e, o->column);
  }
  plan_sort_list(element, spare, size, keys);
  return take_order(o, element, size, arrays, err);
}

static int order_sets(struct closure *b, const struct tiles_wish *wish, struct error *err) {
  const struct chain *c = b->chain;
  const long largest = largest_set(c);
  int status = OP_OK;
  for (int s = 0; s < c->nsets; s++)
    b->orders[s].small = c->sets[s].size < largest / wish->small;
  for (int s = 0; wish->orders && s < c->nsets && !status; s++)
    if (wish->orders[s] && !b->orders[s].small)
      status = take_order(&b->orders[s], wish->orders[s], c->sets[s].size, &b->arrays, err);
  for (int s = 0; s < c->nsets && !status; s++) {
    const struct chain_access *key = b->orders[s].small ? key_of(b, s) : NULL;
    if (!key)
      continue;
    b->orders[s].map = key->map;
    b->orders[s].column = key->first;
    status = sort_by_target(&b->orders[s], &c->maps[key->map], c->sets[s].size, &b->arrays, err);
  }
  return status;
}

/* ---- maps ------------------------------------------------------------------------------------------*/

static int find_prefix(struct closure *b, int m, const struct tiles_wish *wish, struct team *team,
                       struct error *err) {
  const struct chain_map *map = &b->chain->maps[m];
  const struct order *from = &b->orders[map->from], *to = &b->orders[map->to];
  const struct prefix *known = from->element || to->element || from->small || to->small ? NULL
                               : wish->wraps                                            ? map->periodic
                                                                                        : map->prefix;
  if (b->prefixes[m])
    return OP_OK;
  b->prefixes[m] = known ? known : &b->own[m];
  if (known)
    return OP_OK;
  return prefix_build(&b->own[m], &b->arrays,
                      &(struct prefix_request){.table = map->table,
                                               .arity = map->arity,
                                               .first = map->first,
                                               .from = b->chain->sets[map->from].size,
                                               .to = b->chain->sets[map->to].size,
                                               .from_step = from->small ? 1 : wish->step,
                                               .to_step = to->small ? 1 : wish->step,
                                               .element = from->element,
                                               .new_position = to->position,
                                               .seen = map->seen,
                                               .wraps = wish->wraps && !from->small && !to->small},
                      team, err);
}

static int find_prefixes(struct closure *b, const struct tiles_wish *wish, struct team *team,
                         struct error *err) {
  int status = OP_OK;
  for (int l = 0; l < b->chain->nloops; l++) {
    const struct chain_loop *loop = &b->chain->loops[l];
    for (int a = 0; a < loop->naccesses && !status; a++)
      if (loop->accesses[a].map >= 0)
        status = find_prefix(b, loop->accesses[a].map, wish, team, err);
  }
  return status;
}

/* Targets below the result are all that elements below `end` can touch. */
static long touched(const struct closure *b, const struct chain_access *a, long end) {
  long most = a->map < 0 ? end : 0;
  for (int c = a->first; a->map >= 0 && c < a->first + a->count; c++)
    most = larger(most, prefix_targets(b->prefixes[a->map], c, end));
  return most;
}

/* Elements below the result are all that can touch targets below `end`. */
static long touching(const struct closure *b, const struct chain_access *a, long end) {
  long most = a->map < 0 ? end : 0;
  for (int c = a->first; a->map >= 0 && c < a->first + a->count; c++)
    most = larger(most, prefix_elements(b->prefixes[a->map], c, end));
  return most;
}

/* ---- loops -----------------------------------------------------------------------------------------*/

static void note(struct reach *r, enum chain_use use, long end) {
  long *of = use == CHAIN_READS ? &r->read : &r->written;
  *of = larger(*of, end);
}

/* A reader does not mind other readers. Sums count as written, which keeps their order. */
static long minds(const struct reach *r, enum chain_use use) {
  return use == CHAIN_READS ? r->written : larger(r->written, r->read);
}

static void find_steps(struct closure *b, long step, long blocks) {
  for (int l = 0; l < b->chain->nloops; l++) {
    const struct chain_loop *loop = &b->chain->loops[l];
    const long own = b->orders[loop->set].small ? 1 : step, size = b->chain->sets[loop->set].size;
    b->block[l] = own * ((size + own * blocks - 1) / (own * blocks));
    b->block[l] = larger(b->block[l], own);
    b->step[l] = loop->combines ? b->block[l] : own;
  }
}

/* Only small loops may come later and ask: they run round the others, and ask for next to nothing. */
static void find_shares(const struct closure *b) {
  const struct chain *c = b->chain;
  memset(b->reach, 0, (size_t)c->ndats * sizeof *b->reach);
  for (int l = c->nloops - 1; l >= 0; l--) {
    const struct chain_loop *loop = &c->loops[l];
    bool asked = false;
    for (int a = 0; a < loop->naccesses; a++)
      asked |= minds(&b->reach[loop->accesses[a].dat], loop->accesses[a].use) > 0;
    b->shares[l] = !asked;
    for (int a = 0; a < loop->naccesses && !b->orders[loop->set].small; a++)
      note(&b->reach[loop->accesses[a].dat], loop->accesses[a].use, 1);
  }
}

/* `changes`: of dats. */
static void keep_needed(struct closure *b, const struct chain *chain, bool *changes) {
  struct chain_access *next = b->accesses;
  chain_note_changed(chain, changes);
  for (int l = 0; l < chain->nloops; l++) {
    b->loops[l] = chain->loops[l];
    b->loops[l].accesses = next;
    for (int a = 0; a < chain->loops[l].naccesses; a++)
      if (changes[chain->loops[l].accesses[a].dat])
        *next++ = chain->loops[l].accesses[a];
    b->loops[l].naccesses = (int)(next - b->loops[l].accesses);
  }
  b->needed = *chain;
  b->needed.loops = b->loops;
  b->chain = &b->needed;
}

/* Dats that nobody writes may be read in any order, through any map: their accesses are left out. */
static int find_needed(struct closure *b, const struct chain *chain, struct error *err) {
  size_t count = 0;
  for (int l = 0; l < chain->nloops; l++)
    count += (size_t)chain->loops[l].naccesses;
  bool *changes = array_new((size_t)chain->ndats, sizeof *changes);
  b->loops = arrays_add(&b->arrays, (size_t)chain->nloops, sizeof *b->loops);
  b->accesses = arrays_add(&b->arrays, count, sizeof *b->accesses);
  const bool all = changes && b->loops && b->accesses;
  if (all)
    keep_needed(b, chain, changes);
  free(changes);
  return all ? OP_OK : error_memory(err, "what a chain needs", count * sizeof *b->accesses);
}

int closure_new(struct closure *b, const struct chain *chain, const struct tiles_wish *wish,
                struct team *team, struct error *err) {
  const size_t nloops = (size_t)chain->nloops, nmaps = (size_t)chain->nmaps;
  *b = (struct closure){.chain = chain};
  struct arrays *a = &b->arrays;
  b->orders = arrays_add(a, (size_t)chain->nsets, sizeof *b->orders);
  b->own = arrays_add(a, nmaps, sizeof *b->own);
  b->prefixes = arrays_add(a, nmaps, sizeof *b->prefixes);
  b->step = arrays_add(a, nloops, sizeof *b->step);
  b->block = arrays_add(a, nloops, sizeof *b->block);
  b->shares = arrays_add(a, nloops, sizeof *b->shares);
  b->reach = arrays_add(a, (size_t)chain->ndats, sizeof *b->reach);
  b->first = arrays_add(a, nloops, sizeof *b->first);
  b->last = arrays_add(a, nloops, sizeof *b->last);
  if (a->failed)
    return error_memory(err, "the closure of a chain", nloops * sizeof *b->step);
  int status = find_needed(b, chain, err);
  if (!status)
    status = order_sets(b, wish, err);
  if (!status)
    status = find_prefixes(b, wish, team, err);
  if (status)
    return status;
  find_steps(b, wish->step, wish->blocks);
  find_shares(b);
  return OP_OK;
}

/* ---- closures --------------------------------------------------------------------------------------*/

static long round_up(const struct closure *b, int loop, long end) {
  const long step = b->step[loop], size = chain_size(b->chain, loop), up = (end + step - 1) / step * step;
  return up < size ? up : size;
}

static long part_of(long size, long part, long parts) {
  return (long)((double)size * (double)part / (double)parts);
}

/* A small set that is ordered by its targets takes those in the targets' share. */
static long share_of(const struct closure *b, int loop, long part, long parts) {
  const struct order *o = &b->orders[b->chain->loops[loop].set];
  if (!o->small || !o->element)
    return part_of(chain_size(b->chain, loop), part, parts);
  const struct prefix *p = b->prefixes[o->map];
  return prefix_elements(p, o->column, part_of(p->to, part, parts));
}

/* The loop goes on behind `end` to the last element that minds what the others reach; then they mind its own. */
static long extend(const struct closure *b, int l, long end) {
  const struct chain_loop *loop = &b->chain->loops[l];
  for (int a = 0; a < loop->naccesses; a++) {
    const struct chain_access *access = &loop->accesses[a];
    end = larger(end, touching(b, access, minds(&b->reach[access->dat], access->use)));
  }
  end = round_up(b, l, end);
  for (int a = 0; a < loop->naccesses; a++)
    note(&b->reach[loop->accesses[a].dat], loop->accesses[a].use, touched(b, &loop->accesses[a], end));
  return end;
}

void closure_left(const struct closure *b, long part, long parts, long *end) {
  memset(b->reach, 0, (size_t)b->chain->ndats * sizeof *b->reach);
  for (int l = b->chain->nloops - 1; l >= 0; l--)
    end[l] = part >= parts ? chain_size(b->chain, l)
                           : extend(b, l, b->shares[l] ? share_of(b, l, part, parts) : 0);
}

long closure_meet(const struct closure *b, int l, long end) {
  const struct chain_loop *loop = &b->chain->loops[l];
  long met = end;
  for (int a = 0; a < loop->naccesses; a++)
    for (int other = 0; other < loop->naccesses && loop->accesses[a].use == CHAIN_ADDS; other++) {
      const struct chain_access *one = &loop->accesses[a], *two = &loop->accesses[other];
      if (two->use == CHAIN_ADDS && two->dat == one->dat)
        met = larger(met, touching(b, two, touched(b, one, end)));
    }
  return met;
}

void closure_right(const struct closure *b, const long *left, long *begin) {
  memset(b->reach, 0, (size_t)b->chain->ndats * sizeof *b->reach);
  for (int l = 0; l < b->chain->nloops; l++)
    begin[l] = extend(b, l, closure_meet(b, l, left[l]));
}

/* ---- periodic meshes -------------------------------------------------------------------------------*/

/* Targets at both ends that elements of the other end touch, of one dat. */
struct ends {
  struct reach low, high; /* below, and from there on */
};

static long smaller(long a, long b) {
  return a < b ? a : b;
}

static void note_high(struct reach *r, enum chain_use use, long begin) {
  long *of = use == CHAIN_READS ? &r->read : &r->written;
  *of = smaller(*of, begin);
}

static long minds_high(const struct reach *r, enum chain_use use) {
  return use == CHAIN_READS ? r->written : smaller(r->written, r->read);
}

static void find_ends(const struct closure *b, struct ends *ends) {
  const struct chain *c = b->chain;
  for (int d = 0; d < c->ndats; d++) {
    const long size = c->sets[c->dats[d]].size;
    ends[d] = (struct ends){.high = {.read = size, .written = size}};
  }
  for (int l = 0; l < c->nloops; l++)
    for (int i = 0; i < c->loops[l].naccesses; i++) {
      const struct chain_access *a = &c->loops[l].accesses[i];
      if (a->map < 0)
        continue;
      note(&ends[a->dat].low, a->use, b->prefixes[a->map]->ends.low_target);
      note_high(&ends[a->dat].high, a->use, b->prefixes[a->map]->ends.high_target);
    }
}

/* Those that go round, and those that mind what these touch. */
static long first_of(const struct closure *b, const struct ends *ends, int l) {
  const struct chain_loop *loop = &b->chain->loops[l];
  long first = 0;
  for (int i = 0; i < loop->naccesses; i++) {
    const struct chain_access *a = &loop->accesses[i];
    first = larger(first, touching(b, a, minds(&ends[a->dat].low, a->use)));
    first = larger(first, a->map < 0 ? 0 : b->prefixes[a->map]->ends.low_element);
  }
  return first;
}

/* True if none of them is at the end. */
static bool is_clear(const struct closure *b, const struct ends *ends, const long *left) {
  for (int l = 0; l < b->chain->nloops; l++) {
    const struct chain_loop *loop = &b->chain->loops[l];
    for (int i = 0; i < loop->naccesses; i++) {
      const struct chain_access *a = &loop->accesses[i];
      if (touched(b, a, left[l]) > minds_high(&ends[a->dat].high, a->use) ||
          (a->map >= 0 && left[l] > b->prefixes[a->map]->ends.high_element))
        return false;
    }
  }
  return true;
}

int closure_open(const struct closure *b, int parts, int *part, struct error *err) {
  struct ends *ends = array_new((size_t)b->chain->ndats, sizeof *ends);
  if (!ends)
    return error_memory(err, "the ends of a chain", (size_t)b->chain->ndats * sizeof *ends);
  find_ends(b, ends);
  memset(b->reach, 0, (size_t)b->chain->ndats * sizeof *b->reach);
  for (int l = 0; l < b->chain->nloops; l++)
    b->first[l] = extend(b, l, first_of(b, ends, l));
  int low = 0, high = parts + 1;
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    closure_left(b, middle, parts, b->last);
    if (is_clear(b, ends, b->last))
      low = middle;
    else
      high = middle;
  }
  closure_left(b, low, parts, b->last);
  *part = low;
  free(ends);
  return OP_OK;
}

/* ---- refusing --------------------------------------------------------------------------------------*/

/* The set whose first quarter reaches farthest into another, or is reached from farthest behind it. */
static void blame(const struct closure *b, struct text *why) {
  const struct chain_set *sets = b->chain->sets;
  double most = 0;
  int from = 0, to = 0;
  for (int l = 0; l < b->chain->nloops; l++)
    for (int i = 0; i < b->chain->loops[l].naccesses; i++) {
      const struct chain_access *a = &b->chain->loops[l].accesses[i];
      if (a->map < 0)
        continue;
      const struct chain_map *map = &b->chain->maps[a->map];
      const long n = sets[map->from].size, targets = sets[map->to].size;
      const double there = (double)touched(b, a, n / 4) / (double)larger(targets, 1);
      const double back = (double)touching(b, a, targets / 4) / (double)larger(n, 1);
      const double farther = there > back ? there : back;
      if (farther <= most)
        continue;
      most = farther;
      from = map->from;
      to = map->to;
    }
  if (most > 0.5)
    text_addf(why, "set %s is numbered against %s; op_renumber can bring them together", sets[from].name,
              sets[to].name);
  else
    text_addf(why, "its loops reach too far for tiles; flush more often, or use a larger mesh");
}

bool closure_refuse(const struct closure *b, struct text *why) {
  const int nloops = b->chain->nloops;
  for (int l = 0; l < nloops; l++)
    if (b->first[l] + chain_size(b->chain, l) - b->last[l] > chain_size(b->chain, l) / 4) {
      blame(b, why);
      return true;
    }
  long end[nloops > 0 ? nloops : 1];
  closure_left(b, 1, 4, end);
  for (int l = 0; l < nloops; l++)
    if (!b->orders[b->chain->loops[l].set].small &&
        end[l] > chain_size(b->chain, l) - chain_size(b->chain, l) / 4) {
      blame(b, why);
      return true;
    }
  return false;
}
