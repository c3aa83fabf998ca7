#include "entries.h"

#include <limits.h>
#include <stdlib.h>

#include "base/size.h"
#include "mail.h"

static int no_memory(struct error *err) {
  return error_memory(err, "the entries of ragged maps", 0);
}

int entries_side(const struct halo_side *side, const long long *first, struct halo_side *out,
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
