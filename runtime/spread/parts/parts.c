#include "parts.h"

#include <stdlib.h>

#include "base/list.h"
#include "spread/parts/directory.h"
#include "spread/parts/mail.h"
#include "spread/parts/numbers.h"

int parts_block(const struct part_request *request, int *part, struct error *err) {
  (void)err;
  for (long i = 0; i < request->count; i++)
    part[i] = block_of(request->total, request->parts, request->numbers[i]);
  return OP_OK;
}

int parts_random(const struct part_request *request, int *part, struct error *err) {
  (void)err;
  for (long i = 0; i < request->count; i++) {
    uint64_t hash = ((uint64_t)request->numbers[i] + 1) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9u;
    hash = (hash ^ hash >> 27) * 0x94d049bb133111ebu;
    part[i] = (int)((hash >> 33) % (uint64_t)request->parts);
  }
  return OP_OK;
}

/* ---- following ---- */

static int compare_votes(const void *a, const void *b) {
  const int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

/* The value that occurs most in a list, the lowest of several. Sorts the list. */
static int most_frequent(int *votes, long count) {
  long alike = 1;
  while (alike < count && votes[alike] == votes[0])
    alike++;
  if (count && alike == count)
    return votes[0];
  if (count)
    qsort(votes, (size_t)count, sizeof *votes, compare_votes);
  int best = -1;
  long most = 0;
  for (long i = 0, end; i < count; i = end) {
    for (end = i; end < count && votes[end] == votes[i]; end++)
      ;
    if (end - i > most) {
      most = end - i;
      best = votes[i];
    }
  }
  return best;
}

struct follower {
  struct comm *comm;
  const struct share *share;
  int parts, set;
  struct follow_plan plan;
  const struct follow_step *step;
  int **part;
};

static bool leads(const struct follower *f, const struct share_map *map) {
  return follow_leads(&f->plan, f->step, map);
}

/* The parts of all targets of one map, also of those that others have: element e's from next[e] on, which moves behind
 * them. */
static int parts_of_targets(const struct follower *f, const struct share_map *map, long *next, int *out,
                            struct error *err) {
  const struct share_set *to = &f->share->sets[map->to];
  const int *own = f->part[map->to];
  struct directory where = {0};
  struct targets t;
  const bool good = targets_new(&t, to) && targets_add(&t, f->share, map);
  const long far = t.ids.count - to->owned;
  int *known = good ? array_new((size_t)far, sizeof *known) : NULL;
  int code = known ? directory_make(&where, f->comm, to->total, to->numbers, to->owned, own, 0, err)
                   : error_memory(err, "the parts of a set", 0);
  if (!code)
    code = directory_ask(&where, f->comm, t.ids.number + to->owned, far, known, err);
  for (long e = 0; !code && e < f->share->sets[map->from].owned; e++)
    for (long i = share_begin(f->share, map, e); i < share_begin(f->share, map, e + 1); i++)
      out[next[e]++] = t.id[i] < to->owned ? own[t.id[i]] : known[t.id[i] - to->owned];
  free(known);
  directory_free(&where);
  targets_free(&t);
  return code;
}

static int follow_targets(const struct follower *f, struct error *err) {
  const struct share_set *set = &f->share->sets[f->set];
  const long owned = set->owned;
  long *begin = array_new((size_t)owned + 1, sizeof *begin), *next = array_new((size_t)owned, sizeof *next);
  int *votes = NULL, code = begin && next ? OP_OK : error_memory(err, "the parts of targets", 0);
  for (long e = 0; !code && e < owned; e++) {
    begin[e + 1] = begin[e];
    for (int m = 0; m < f->share->nmaps; m++)
      if (leads(f, &f->share->maps[m]))
        begin[e + 1] +=
            share_begin(f->share, &f->share->maps[m], e + 1) - share_begin(f->share, &f->share->maps[m], e);
    next[e] = begin[e];
  }
  if (!code && !(votes = array_new((size_t)begin[owned], sizeof *votes)))
    code = error_memory(err, "the parts of targets", (size_t)begin[owned] * sizeof *votes);
  for (int m = 0; !code && m < f->share->nmaps; m++)
    if (leads(f, &f->share->maps[m]))
      code = parts_of_targets(f, &f->share->maps[m], next, votes, err);
  for (long e = 0; !code && e < owned; e++) {
    const int most = most_frequent(votes + begin[e], begin[e + 1] - begin[e]);
    /* An element without targets goes by blocks. */
    f->part[f->set][e] = most >= 0 ? most : block_of(set->total, f->parts, set->numbers[e]);
  }
  free(begin);
  free(next);
  free(votes);
  return code;
}

static int follow_elements(const struct follower *f, struct error *err) {
  const struct share_set *entries = &f->share->sets[f->set];
  (void)err;
  for (long e = 0; e < f->share->sets[entries->of].owned; e++)
    for (long long i = entries->begin[e]; i < entries->begin[e + 1]; i++)
      f->part[f->set][i] = f->part[entries->of][e];
  return OP_OK;
}

/* Votes for one element, of equal parts together: the part, and above it how many. */
enum { PART_BITS = 32 };

static long long ballot(int part, long long count) {
  return count << PART_BITS | part;
}
static int ballot_part(long long ballot) {
  return (int)(ballot & ((1LL << PART_BITS) - 1));
}
static long long ballot_count(long long ballot) {
  return ballot >> PART_BITS;
}

/* The votes for each target that are known here, so that few travel. Nearly all of a target's sources are of one part: the
 * first that voted. */
struct votes {
  struct numbers targets;
  struct first {
    long alike; /* votes for the same part, 0: there was none */
    int part;
  } * first; /* of each target: the first vote */
  long room;
  struct vote {
    int target, part;
  } * others; /* votes for other parts */
  long nothers;
};

static void votes_free(struct votes *v) {
  numbers_free(&v->targets);
  free(v->first);
  free(v->others);
}

static int no_memory(struct error *err) {
  return error_memory(err, "the votes of sources", 0);
}

static bool make_room(struct votes *v, long targets) {
  if (targets <= v->room)
    return true;
  const long room = targets + targets / 8 + 64;
  struct first *first = array_resize(v->first, (size_t)room, sizeof *first);
  if (!first)
    return false;
  v->first = first;
  for (; v->room < room; v->room++)
    first[v->room].alike = 0;
  return true;
}

static bool take_vote(struct votes *v, long long number, int part) {
  const int target = numbers_add(&v->targets, number);
  if (target < 0 || !make_room(v, target + 1L))
    return false;
  struct first *first = &v->first[target];
  if (!first->alike)
    first->part = part;
  if (first->part == part) {
    first->alike++;
    return true;
  }
  struct vote *others = array_more(v->others, (size_t)v->nothers, sizeof *others);
  if (!others)
    return false;
  v->others = others;
  others[v->nothers++] = (struct vote){target, part};
  return true;
}

static int take_votes(const struct follower *f, struct votes *v, struct error *err) {
  /* Most targets are this rank's own. */
  const struct share_set *set = &f->share->sets[f->set];
  bool good = numbers_new(&v->targets, set->numbers, set->owned) && make_room(v, set->owned);
  for (int m = 0; good && m < f->share->nmaps; m++) {
    const struct share_map *map = &f->share->maps[m];
    const long sources = leads(f, map) ? f->share->sets[map->from].owned : 0;
    for (long e = 0; good && e < sources; e++)
      for (long i = share_begin(f->share, map, e); good && i < share_begin(f->share, map, e + 1); i++)
        good = take_vote(v, rows_get(&map->rows, (size_t)i), f->part[map->from][e]);
  }
  return good ? OP_OK : no_memory(err);
}

static int by_target(const void *a, const void *b) {
  const struct vote *x = a, *y = b;
  return x->target != y->target ? (x->target > y->target) - (x->target < y->target)
                                : (x->part > y->part) - (x->part < y->part);
}

/* A line for each target and part. */
static struct told *count_local(struct votes *v, long *count) {
  struct told *told = array_new((size_t)(v->targets.count + v->nothers), sizeof *told);
  *count = 0;
  if (!told)
    return NULL;
  for (long t = 0; t < v->targets.count; t++)
    if (v->first[t].alike)
      told[(*count)++] = (struct told){v->targets.number[t], ballot(v->first[t].part, v->first[t].alike)};
  if (v->nothers)
    qsort(v->others, (size_t)v->nothers, sizeof *v->others, by_target);
  for (long i = 0; i < v->nothers; i++) {
    const struct vote *vote = &v->others[i];
    if (i == 0 || by_target(vote - 1, vote) != 0)
      told[(*count)++] = (struct told){v->targets.number[vote->target], ballot(vote->part, 0)};
    told[*count - 1].value += ballot(0, 1);
  }
  return told;
}

static int by_part(const void *a, const void *b) {
  const int x = ballot_part(*(const long long *)a), y = ballot_part(*(const long long *)b);
  return (x > y) - (x < y);
}

/* The part with most votes, the lowest of several; -1: there are none. Sorts the ballots. */
static int elect(long long *ballots, long count) {
  int best = -1;
  long long most = 0;
  if (count > 1)
    qsort(ballots, (size_t)count, sizeof *ballots, by_part);
  for (long i = 0, end; i < count; i = end) {
    const int part = ballot_part(ballots[i]);
    long long votes = 0;
    for (end = i; end < count && ballot_part(ballots[end]) == part; end++)
      votes += ballot_count(ballots[end]);
    if (votes > most) {
      most = votes;
      best = part;
    }
  }
  return best;
}

/* At the ranks that keep blocks of the set's numbers. */
static int count_votes(const struct mail *in, struct directory *d, struct error *err) {
  struct grouped votes = {0};
  const int code = told_group(in, d->first, d->size, "the votes of sources", &votes, err);
  for (long i = 0; !code && i < d->size; i++)
    d->values[i] = elect(votes.values + votes.start[i], votes.start[i + 1] - votes.start[i]);
  grouped_free(&votes);
  return code;
}

static int follow_sources(const struct follower *f, struct error *err) {
  const struct share_set *set = &f->share->sets[f->set];
  long count = 0;
  struct votes votes = {0};
  struct told *told = NULL;
  struct mail in = {0};
  struct directory where = {0};
  int code = take_votes(f, &votes, err);
  if (!code && !(told = count_local(&votes, &count)))
    code = no_memory(err);
  votes_free(&votes);
  if (!code)
    code = tell_blocks(f->comm, set->total, told, count, &in, err);
  else
    free(told);
  if (!code)
    code = directory_make(&where, f->comm, set->total, NULL, 0, NULL, 0, err);
  if (!code)
    code = count_votes(&in, &where, err);
  mail_free(&in);
  if (!code)
    code = directory_ask(&where, f->comm, set->numbers, set->owned, f->part[f->set], err);
  for (long e = 0; !code && e < set->owned; e++)
    if (f->part[f->set][e] < 0)
      f->part[f->set][e] = block_of(set->total, f->parts, set->numbers[e]);
  directory_free(&where);
  return code;
}

static int follow_nothing(const struct follower *f, struct error *err) {
  const struct share_set *set = &f->share->sets[f->set];
  (void)err;
  for (long e = 0; e < set->owned; e++)
    f->part[f->set][e] = block_of(set->total, f->parts, set->numbers[e]);
  return OP_OK;
}

static int follow_all(struct follower *f, struct error *err) {
  static int (*const follow[])(const struct follower *f,
                               struct error *err) = {[FOLLOW_TARGETS] = follow_targets,
                                                     [FOLLOW_SOURCES] = follow_sources,
                                                     [FOLLOW_NOTHING] = follow_nothing,
                                                     [FOLLOW_ELEMENTS] = follow_elements};
  int code = OP_OK;
  for (int i = 0; !code && i < f->plan.count; i++) {
    f->step = &f->plan.steps[i];
    f->set = f->step->set;
    const size_t owned = (size_t)f->share->sets[f->set].owned;
    if (!(f->part[f->set] = array_new(owned, sizeof **f->part)))
      return error_memory(err, "the parts of a set", owned * sizeof **f->part);
    code = follow[f->step->kind](f, err);
  }
  return code;
}

int parts_follow(struct comm *comm, const struct share *share, int parts, int **part, struct error *err) {
  struct follower f = {.comm = comm, .share = share, .parts = parts, .part = part};
  bool *placed = array_new((size_t)share->nsets, sizeof *placed);
  if (!placed)
    return error_memory(err, "the order of sets", (size_t)share->nsets);
  for (int s = 0; s < share->nsets; s++)
    placed[s] = part[s] != NULL;
  int code = follow_plan(share, placed, &f.plan, err);
  if (!code)
    code = follow_all(&f, err);
  follow_plan_free(&f.plan);
  free(placed);
  return code;
}
