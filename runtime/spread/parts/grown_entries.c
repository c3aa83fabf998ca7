#include "build.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "context/context.h"
#include "grown.h"
#include "mail.h"
#include "ranks/comm.h"

static int no_memory(struct error *err) {
  return error_memory(err, "the entries of ragged maps", 0);
}

void grown_reach_up(struct growth *g) {
  for (int s = g->nsets - 1; s >= 0; s--) {
    const struct grown_set *set = &g->sets[s];
    bool *up = set->begin ? g->sets[set->of].reaches_out : NULL;
    for (long e = 0; up && e < g->sets[set->of].owned; e++)
      for (long long i = set->begin[e]; i < set->begin[e + 1]; i++)
        up[e] |= set->reaches_out[i];
  }
}

int grown_order_entries(struct growth *g, int s, struct built *built, struct error *err) {
  struct grown_set *set = &g->sets[s];
  struct built_set *out = &built->sets[s];
  const struct grown_set *of = &g->sets[set->of];
  const int *elements = built->sets[set->of].order;
  if (set->begin[of->owned] != set->owned)
    return error_mistake(err, OP_ERR_INTERNAL, "%ld entries of a ragged map are here, and %lld belong here",
                         set->owned, set->begin[of->owned]);
  if (!out->first && !(out->first = array_new((size_t)of->owned + 1, sizeof *out->first)))
    return no_memory(err);
  long next = 0;
  for (long l = 0; l < of->owned; l++) {
    for (long long i = set->begin[elements[l]]; i < set->begin[elements[l] + 1]; i++) {
      set->place[i] = (int)next;
      out->order[next++] = (int)i;
    }
    out->first[l + 1] = next;
  }
  set->core = (long)out->first[of->core];
  return OP_OK;
}

/* The same side with the entries of each element in its place: of element e, first[e] .. first[e + 1] - 1. */
static int entries_side(const struct halo_side *side, const long long *first, struct halo_side *out,
                        struct error *err) {
  const size_t count = (size_t)side->count;
  *out = (struct halo_side){.count = side->count,
                            .ranks = array_new(count, sizeof *out->ranks),
                            .first = array_new(count + 1, sizeof *out->first)};
  if (!out->ranks || !out->first) {
    halo_side_free(out);
    return no_memory(err);
  }
  for (int i = 0; i < side->count; i++) {
    out->ranks[i] = side->ranks[i];
    out->first[i + 1] = out->first[i];
    for (long k = side->first[i]; k < side->first[i + 1]; k++)
      out->first[i + 1] += (long)(first[side->elements[k] + 1] - first[side->elements[k]]);
  }
  if (!(out->elements = array_new((size_t)out->first[count], sizeof *out->elements))) {
    halo_side_free(out);
    return no_memory(err);
  }
  long next = 0;
  for (long k = 0; k < side->first[count]; k++)
    for (long long i = first[side->elements[k]]; i < first[side->elements[k] + 1]; i++)
      out->elements[next++] = (int)i;
  return OP_OK;
}

int grown_list_entries(const struct growth *g, int s, const struct built *built, struct tally *to, int **list,
                       struct error *err) {
  const struct halo_side *elements = &built->sets[g->sets[s].of].spread->exec.send;
  struct halo_side side;
  const int code = entries_side(elements, built->sets[s].first, &side, err);
  if (code)
    return code;
  const bool good = tally_side(to, &side);
  *list = side.elements;
  side.elements = NULL;
  halo_side_free(&side);
  return good ? OP_OK : no_memory(err);
}

/* Copies get as many entries as their owners have. */
static int carry_lengths(struct growth *g, const struct grown_set *of, const struct halo_side *sent,
                         struct built_set *out, struct error *err) {
  struct tally to = {0};
  long long *lengths = array_new((size_t)sent->first[sent->count], sizeof *lengths);
  long long *first = array_resize(out->first, (size_t)(of->owned + of->exec) + 1, sizeof *first);
  out->first = first ? first : out->first;
  int code = lengths && first && tally_side(&to, sent) ? OP_OK : no_memory(err);
  for (long i = 0; !code && i < sent->first[sent->count]; i++)
    lengths[i] = first[sent->elements[i] + 1] - first[sent->elements[i]];
  if (!code)
    code =
        mail_send_known(g->comm, lengths, &to, sizeof *lengths, first + of->owned + 1, &of->exec_from, err);
  for (long i = of->owned; !code && i < of->owned + of->exec; i++)
    first[i + 1] += first[i];
  tally_free(&to);
  free(lengths);
  return code;
}

int grown_first(struct growth *g, int s, struct built *built, struct error *err) {
  const struct grown_set *set = &g->sets[s], *of = &g->sets[set->of];
  struct built_set *out = &built->sets[s];
  long long ends[2] = {LLONG_MIN, 0}; /* minus the least, and the most */
  int code = carry_lengths(g, of, &built->sets[set->of].spread->exec.send, out, err);
  for (long l = 0; !code && l < of->owned; l++) {
    const long long length = out->first[l + 1] - out->first[l];
    ends[0] = -length > ends[0] ? -length : ends[0];
    ends[1] = length > ends[1] ? length : ends[1];
  }
  if (!code)
    code = g->comm->table->reduce_all(g->comm, ends, 2, COMM_LLONG, COMM_MAX, err);
  out->shortest = code || ends[0] == LLONG_MIN ? 0 : (long)-ends[0];
  out->longest = code ? 0 : (long)ends[1];
  return code;
}

static long rows_of(const struct halo_side *side) {
  return side->first[side->count];
}

int entries_carry_first(struct comm *comm, const struct halo_exchange *route, const long long *first,
                        long long **out, struct error *err) {
  const long going = rows_of(&route->send), coming = rows_of(&route->receive);
  long long *lengths = array_new((size_t)going, sizeof *lengths);
  long long *begin = array_new((size_t)coming + 1, sizeof *begin);
  int code = lengths && begin ? OP_OK : no_memory(err);
  for (long e = 0; !code && e < going; e++)
    lengths[e] = first[e + 1] - first[e];
  if (!code)
    code = carry_rows(comm, &route->send, &route->receive, sizeof *lengths, lengths, begin + 1, err);
  for (long e = 0; !code && e < coming; e++)
    begin[e + 1] += begin[e];
  if (!code && begin[coming] > INT_MAX)
    code =
        error_set(err, OP_ERR_SIZE,
                  "rank %d would own %lld entries of one ragged map; a rank holds at most %d: use more ranks",
                  comm->rank, begin[coming], INT_MAX);
  free(lengths);
  if (code) {
    free(begin);
    begin = NULL;
  }
  *out = begin;
  return code;
}

int entries_route(const struct halo_exchange *route, const long long *from, const long long *into,
                  struct halo_exchange *out, struct error *err) {
  const int code = entries_side(&route->send, from, &out->send, err);
  return code ? code : entries_side(&route->receive, into, &out->receive, err);
}
