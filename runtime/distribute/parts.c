#include "distribute/parts.h"

#include <stdlib.h>

#include "base/size.h"
#include "distribute/directory.h"
#include "distribute/mail.h"
#include "distribute/numbers.h"

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

/* Most lists are short, but an element may be the target of all others. */
static void sort_votes(int *votes, long count) {
  enum { SHORT = 32 };
  if (count > SHORT) {
    qsort(votes, (size_t)count, sizeof *votes, compare_votes);
    return;
  }
  for (long i = 1; i < count; i++)
    for (long j = i; j > 0 && votes[j - 1] > votes[j]; j--) {
      const int other = votes[j];
      votes[j] = votes[j - 1];
      votes[j - 1] = other;
    }
}

/* The value that occurs most in a list, the lowest of several. Sorts the list. */
static int most_frequent(int *votes, long count) {
  sort_votes(votes, count);
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
  int **part;
};

static long long total_of(const struct follower *f, int set) {
  return f->share->sets[set].first[f->comm->size];
}

/* Whether a map gives set f->set votes from sets that are placed. */
static bool leads(const struct follower *f, const struct share_map *map, bool by_targets) {
  const int mine = by_targets ? map->from : map->to, other = by_targets ? map->to : map->from;
  return mine == f->set && other != f->set && f->part[other];
}

/* The parts of all targets of one map, also of those that others have. */
static int parts_of_targets(const struct follower *f, const struct share_map *map, int *out,
                            struct error *err) {
  const struct share_set *from = &f->share->sets[map->from], *to = &f->share->sets[map->to];
  const size_t entries = (size_t)from->owned * (size_t)map->arity;
  struct directory where = {0};
  struct numbers ids;
  int *known = NULL;
  int code = numbers_new(&ids, to->numbers, to->owned) ? OP_OK : error_memory(err, "the parts of a set", 0);
  for (size_t i = 0; !code && i < entries; i++)
    if ((out[i] = numbers_add(&ids, map->rows[i])) < 0)
      code = error_memory(err, "the parts of a set", 0);
  if (!code)
    code = directory_make(&where, f->comm, total_of(f, map->to), to->numbers, to->owned, f->part[map->to], 0,
                          err);
  if (!code && !(known = array_new((size_t)(ids.count - to->owned), sizeof *known)))
    code = error_memory(err, "the parts of a set", (size_t)ids.count * sizeof *known);
  if (!code)
    code = directory_ask(&where, f->comm, ids.number + to->owned, ids.count - to->owned, known, err);
  for (size_t i = 0; !code && i < entries; i++)
    out[i] = out[i] < to->owned ? f->part[map->to][out[i]] : known[out[i] - to->owned];
  free(known);
  directory_free(&where);
  numbers_free(&ids);
  return code;
}

static int follow_targets(const struct follower *f, struct error *err) {
  const long owned = f->share->sets[f->set].owned;
  long votes = 0;
  for (int m = 0; m < f->share->nmaps; m++)
    votes += leads(f, &f->share->maps[m], true) ? f->share->maps[m].arity : 0;
  int *all = array_new((size_t)owned * (size_t)votes, sizeof *all);
  int *one = array_new((size_t)owned * (size_t)votes, sizeof *one);
  int code = all && one ? OP_OK : error_memory(err, "the parts of targets", 0);
  for (long m = 0, at = 0; !code && m < f->share->nmaps; m++) {
    const struct share_map *map = &f->share->maps[m];
    if (!leads(f, map, true))
      continue;
    code = parts_of_targets(f, map, one, err);
    for (long e = 0; !code && e < owned; e++)
      for (int k = 0; k < map->arity; k++)
        all[e * votes + at + k] = one[e * map->arity + k];
    at += map->arity;
  }
  for (long e = 0; !code && e < owned; e++)
    f->part[f->set][e] = most_frequent(all + e * votes, votes);
  free(all);
  free(one);
  return code;
}

static struct told *votes_of_sources(const struct follower *f, long *count) {
  *count = 0;
  for (int m = 0; m < f->share->nmaps; m++) {
    const struct share_map *map = &f->share->maps[m];
    *count += leads(f, map, false) ? f->share->sets[map->from].owned * map->arity : 0;
  }
  struct told *votes = array_new((size_t)*count, sizeof *votes);
  for (long m = 0, at = 0; votes && m < f->share->nmaps; m++) {
    const struct share_map *map = &f->share->maps[m];
    if (!leads(f, map, false))
      continue;
    const long entries = f->share->sets[map->from].owned * map->arity;
    for (long i = 0; i < entries; i++)
      votes[at++] = (struct told){.number = map->rows[i], .value = f->part[map->from][i / map->arity]};
  }
  return votes;
}

/* At the ranks that keep blocks of the set's numbers. */
static int count_votes(const struct mail *in, struct directory *d, struct error *err) {
  const struct told *votes = in->items;
  long *end = array_new((size_t)d->size + 1, sizeof *end);
  int *sorted = array_new((size_t)in->total, sizeof *sorted);
  int code = end && sorted ? OP_OK : error_memory(err, "the votes of sources", 0);
  for (long i = 0; !code && i < in->total; i++)
    end[votes[i].number - d->first + 1]++;
  for (long i = 0; !code && i < d->size; i++)
    end[i + 1] += end[i];
  /* Filling moves each beginning to its end, which is the next one's beginning. */
  for (long i = 0; !code && i < in->total; i++)
    sorted[end[votes[i].number - d->first]++] = (int)votes[i].value;
  for (long i = 0; !code && i < d->size; i++) {
    const long begin = i ? end[i - 1] : 0;
    d->values[i] = most_frequent(sorted + begin, end[i] - begin);
  }
  free(end);
  free(sorted);
  return code;
}

static int follow_sources(const struct follower *f, struct error *err) {
  const struct share_set *set = &f->share->sets[f->set];
  long count;
  struct told *votes = votes_of_sources(f, &count);
  struct mail in = {0};
  struct directory where = {0};
  int code = votes ? tell_blocks(f->comm, total_of(f, f->set), votes, count, &in, err)
                   : error_memory(err, "the votes of sources", (size_t)count * sizeof *votes);
  free(votes);
  if (!code)
    code = directory_make(&where, f->comm, total_of(f, f->set), NULL, 0, NULL, 0, err);
  if (!code)
    code = count_votes(&in, &where, err);
  mail_free(&in);
  if (!code)
    code = directory_ask(&where, f->comm, set->numbers, set->owned, f->part[f->set], err);
  for (long e = 0; !code && e < set->owned; e++)
    if (f->part[f->set][e] < 0)
      f->part[f->set][e] = block_of(total_of(f, f->set), f->parts, set->numbers[e]);
  directory_free(&where);
  return code;
}

static int follow_nothing(const struct follower *f, struct error *err) {
  const struct share_set *set = &f->share->sets[f->set];
  const struct part_request request = {.comm = f->comm,
                                       .parts = f->parts,
                                       .total = total_of(f, f->set),
                                       .count = set->owned,
                                       .numbers = set->numbers};
  return parts_block(&request, f->part[f->set], err);
}

/* The next set that a map connects with a placed one, by its targets rather than by its sources; else any set that has no
 * parts; -1: all have. */
static int next_set(struct follower *f, bool *by_targets, bool *led) {
  for (int kind = 0; kind < 2; kind++)
    for (f->set = 0; f->set < f->share->nsets; f->set++)
      for (int m = 0; !f->part[f->set] && m < f->share->nmaps; m++)
        if (leads(f, &f->share->maps[m], kind == 0)) {
          *by_targets = kind == 0;
          *led = true;
          return f->set;
        }
  *led = false;
  for (f->set = 0; f->set < f->share->nsets; f->set++)
    if (!f->part[f->set])
      return f->set;
  return -1;
}

int parts_follow(struct comm *comm, const struct share *share, int parts, int **part, struct error *err) {
  struct follower f = {.comm = comm, .share = share, .parts = parts, .part = part};
  bool by_targets = false, led = false;
  int code = OP_OK;
  while (!code && next_set(&f, &by_targets, &led) >= 0) {
    const long owned = share->sets[f.set].owned;
    if (!(part[f.set] = array_new((size_t)owned, sizeof **part)))
      return error_memory(err, "the parts of a set", (size_t)owned * sizeof **part);
    code = !led ? follow_nothing(&f, err) : by_targets ? follow_targets(&f, err) : follow_sources(&f, err);
  }
  return code;
}
