#include "mesh/order.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"

static long row_begin(const struct order_table *t, long row) {
  return t->first ? (long)t->first[row] : row * t->arity;
}

static size_t count_entries(const struct order_table *t) {
  return (size_t)row_begin(t, t->rows);
}

/* ---- reverse Cuthill-McKee ---- */

/* The table turned round: the rows in which each target occurs. */
struct reverse {
  long *first; /* size + 1 */
  int *rows;
};

static bool reverse_table(struct reverse *r, long size, const struct order_table *table) {
  const size_t entries = count_entries(table);
  r->first = array_new((size_t)size + 2, sizeof *r->first);
  r->rows = array_new(entries, sizeof *r->rows);
  if (!r->first || !r->rows)
    return false;
  for (size_t i = 0; i < entries; i++)
    r->first[table->table[i] + 2]++;
  for (long t = 0; t < size; t++)
    r->first[t + 2] += r->first[t + 1];
  for (long row = 0; row < table->rows; row++)
    for (long i = row_begin(table, row); i < row_begin(table, row + 1); i++)
      r->rows[r->first[table->table[i] + 1]++] = (int)row;
  return true;
}

struct search {
  long size;
  const struct order_table *table;
  struct reverse reverse;
  int *mark; /* the round in which a vertex was last seen */
  int *done; /* the round in which all vertices of a row were */
  int round;
};

static long degree(const struct search *s, int vertex) {
  return s->reverse.first[vertex + 1] - s->reverse.first[vertex];
}

static void sort_by_degree(const struct search *s, int *list, long count) {
  for (long i = 1; i < count; i++) {
    int vertex = list[i];
    long d = degree(s, vertex), j = i;
    for (; j > 0 && degree(s, list[j - 1]) > d; j--)
      list[j] = list[j - 1];
    list[j] = vertex;
  }
}

/* Vertices of a list of neighbours are few on a mesh; long lists (a map to one common target) stay unsorted, so
 * that the whole stays linear. */
enum { SORT_LIMIT = 64 };

/* Breadth first from `start`; the order goes to `out`, which must have room for the component. *last_level is where
 * the last level begins. Returns how many vertices. */
static long breadth_first(struct search *s, int start, int *out, long *last_level) {
  long count = 1, level_end = 1;
  *last_level = 0;
  out[0] = start;
  s->mark[start] = ++s->round;
  for (long i = 0; i < count; i++) {
    if (i == level_end) {
      *last_level = i;
      level_end = count;
    }
    const long begin = count;
    for (long k = s->reverse.first[out[i]]; k < s->reverse.first[out[i] + 1]; k++) {
      const long row = s->reverse.rows[k];
      if (s->done[row] == s->round)
        continue;
      s->done[row] = s->round;
      for (long j = row_begin(s->table, row); j < row_begin(s->table, row + 1); j++) {
        const int target = s->table->table[j];
        if (s->mark[target] != s->round) {
          s->mark[target] = s->round;
          out[count++] = target;
        }
      }
    }
    if (count - begin <= SORT_LIMIT)
      sort_by_degree(s, out + begin, count - begin);
  }
  return count;
}

/* A vertex at the edge of the component: the one with fewest neighbours in the last level, twice. */
static int far_vertex(struct search *s, int start, int *scratch) {
  for (int pass = 0; pass < 2; pass++) {
    long last_level, count = breadth_first(s, start, scratch, &last_level);
    start = scratch[last_level];
    for (long k = last_level + 1; k < count; k++)
      if (degree(s, scratch[k]) < degree(s, start))
        start = scratch[k];
  }
  return start;
}

int order_rcm(int *order, long size, const struct order_table *table, struct error *err) {
  struct search s = {.size = size, .table = table};
  int code = OP_OK;
  unsigned char *placed = array_new((size_t)size, 1);
  s.mark = array_new((size_t)size, sizeof *s.mark);
  s.done = array_new((size_t)table->rows, sizeof *s.done);
  if (!placed || !s.mark || !s.done || !reverse_table(&s.reverse, size, table)) {
    code = error_memory(err, "a renumbering", (size_t)size * sizeof(int));
    goto done;
  }
  long count = 0;
  for (int v = 0; v < size; v++) {
    if (placed[v])
      continue;
    long last_level, n = breadth_first(&s, far_vertex(&s, v, order + count), order + count, &last_level);
    for (long i = count; i < count + n; i++)
      placed[order[i]] = 1;
    count += n;
  }
  for (long i = 0; i < size / 2; i++) {
    int other = order[size - 1 - i];
    order[size - 1 - i] = order[i];
    order[i] = other;
  }
done:
  free(placed);
  free(s.mark);
  free(s.done);
  free(s.reverse.first);
  free(s.reverse.rows);
  return code;
}

/* ---- from one set to the next ---- */

/* Stable counting sort of `in` by key. */
static void sort_by_key(const int *in, int *out, long count, const int *key, long *bucket, long nkeys) {
  memset(bucket, 0, (size_t)(nkeys + 1) * sizeof *bucket);
  for (long i = 0; i < count; i++)
    bucket[key[i] + 1]++;
  for (long k = 0; k < nkeys; k++)
    bucket[k + 1] += bucket[k];
  for (long i = 0; i < count; i++)
    out[bucket[key[in[i]]]++] = in[i];
}

int order_by_targets(int *order, const struct order_table *t, const int *new_of_target, long targets,
                     struct error *err) {
  const long rows = t->rows;
  int *low = array_new((size_t)rows, sizeof *low), *high = array_new((size_t)rows, sizeof *high);
  int *scratch = array_new((size_t)rows, sizeof *scratch);
  long *bucket = array_new((size_t)targets + 1, sizeof *bucket);
  int code = OP_OK;
  if (!low || !high || !scratch || !bucket)
    code = error_memory(err, "a renumbering", (size_t)rows * 3 * sizeof(int));
  else {
    for (long r = 0; r < rows; r++) {
      low[r] = row_begin(t, r) < row_begin(t, r + 1) ? INT_MAX : 0;
      for (long j = row_begin(t, r); j < row_begin(t, r + 1); j++) {
        int target = new_of_target[t->table[j]];
        low[r] = target < low[r] ? target : low[r];
        high[r] = target > high[r] ? target : high[r];
      }
      order[r] = (int)r;
    }
    sort_by_key(order, scratch, rows, high, bucket, targets);
    sort_by_key(scratch, order, rows, low, bucket, targets);
  }
  free(low);
  free(high);
  free(scratch);
  free(bucket);
  return code;
}

int order_by_sources(int *order, long targets, const struct order_table *t, const int *source_order,
                     struct error *err) {
  unsigned char *seen = array_new((size_t)targets, 1);
  if (!seen)
    return error_memory(err, "a renumbering", (size_t)targets);
  long count = 0;
  for (long i = 0; i < t->rows; i++)
    for (long j = row_begin(t, source_order[i]); j < row_begin(t, source_order[i] + 1L); j++) {
      int target = t->table[j];
      if (!seen[target]) {
        seen[target] = 1;
        order[count++] = target;
      }
    }
  for (int t = 0; t < targets; t++)
    if (!seen[t])
      order[count++] = t;
  free(seen);
  return OP_OK;
}
