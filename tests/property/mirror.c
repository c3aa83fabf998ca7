#include "mirror.h"

#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "context/context.h"
#include "mesh/data.h"
#include "mesh/halo.h"
#include "ranks/comm.h"

/* ---- messages to oneself: an exchange starts both ends at once ---- */

struct comm_request {
  void *data;
  size_t bytes;
  bool sends;
};

static int new_request(void *data, size_t bytes, bool sends, struct comm_request **out) {
  *out = calloc(1, sizeof **out);
  if (!*out)
    abort();
  **out = (struct comm_request){data, bytes, sends};
  return OP_OK;
}

static int own_send_init(struct comm *c, const void *data, size_t bytes, int peer, int tag,
                         struct comm_request **out, struct error *err) {
  (void)c, (void)peer, (void)tag, (void)err;
  return new_request((void *)(uintptr_t)data, bytes, true, out);
}

static int own_receive_init(struct comm *c, void *data, size_t bytes, int peer, int tag,
                            struct comm_request **out, struct error *err) {
  (void)c, (void)peer, (void)tag, (void)err;
  return new_request(data, bytes, false, out);
}

static int own_start(struct comm *c, struct comm_request *const *requests, int count, struct error *err) {
  const struct comm_request *ends[2] = {NULL, NULL};
  (void)c;
  for (int i = 0; i < count; i++)
    ends[requests[i]->sends] = requests[i];
  if (count && (!ends[0] || !ends[1] || ends[0]->bytes != ends[1]->bytes))
    return error_set(err, OP_ERR_INTERNAL, "the ends of a message do not meet");
  if (count)
    memcpy(ends[0]->data, ends[1]->data, ends[1]->bytes);
  return OP_OK;
}

static int own_test(struct comm *c, struct comm_request *const *requests, int count, bool *done,
                    struct error *err) {
  (void)c, (void)requests, (void)count, (void)err;
  *done = true;
  return OP_OK;
}

static int own_wait(struct comm *c, struct comm_request *const *requests, int count, struct error *err) {
  (void)c, (void)requests, (void)count, (void)err;
  return OP_OK;
}

static void own_request_free(struct comm *c, struct comm_request *request) {
  (void)c;
  free(request);
}

static void take_messages(struct comm *c) {
  static struct comm_table table;
  if (c->table->send_init)
    return;
  table = *c->table;
  table.send_init = own_send_init;
  table.receive_init = own_receive_init;
  table.start = own_start;
  table.test = own_test;
  table.wait = own_wait;
  table.request_free = own_request_free;
  c->table = &table;
}

/* ---- a rank that is its own neighbour ---- */

/* The test itself has no memory problem to survive. */
static void *take(long count, size_t size) {
  void *p = calloc((size_t)count + 1, size);
  if (!p)
    abort();
  return p;
}

/* Everything to and from rank 0; an empty side has no neighbour. */
static struct halo_side side_of(const int *elements, long count) {
  struct halo_side side = {.count = count > 0,
                           .ranks = take(1, sizeof(int)),
                           .first = take(2, sizeof(long)),
                           .elements = take(count, sizeof(int))};
  side.first[1] = count;
  memcpy(side.elements, elements, (size_t)count * sizeof(int));
  return side;
}

static struct halo_side range_side(long begin, long end) {
  int *elements = take(end - begin, sizeof *elements);
  for (long e = begin; e < end; e++)
    elements[e - begin] = (int)e;
  const struct halo_side side = side_of(elements, end - begin);
  free(elements);
  return side;
}

static struct halo_exchange between(long from_begin, long from_end, long to_begin, long to_end) {
  return (struct halo_exchange){.send = range_side(from_begin, from_end),
                                .receive = range_side(to_begin, to_end)};
}

/* Elements core .. size-1 are the boundary, each with a copy that is executed; every element has a copy that is
 * read. */
static void mirror(struct set *set, long core) {
  const long n = set->size, exec = n + n - core;
  struct distribution *d = take(1, sizeof *d);
  take_messages(api_context()->comm);
  set->extents[EXTENT_CORE] = core;
  set->extents[EXTENT_EXEC] = exec;
  set->extents[EXTENT_NONEXEC] = exec + n;
  free(set->to_user);
  set->to_user = take(exec + n, sizeof(int));
  d->numbers = take(exec + n, sizeof(long long));
  for (long e = 0; e < exec + n; e++)
    d->numbers[e] = set->to_user[e] = (int)(e < n ? e : e < exec ? core + e - n : e - exec);
  d->exec = between(core, n, n, exec);
  d->nonexec = between(0, n, exec, exec + n);
  d->home = between(0, n, 0, n);
  set->spread = d;
}

void mirror_set(op_set handle, struct random *r) {
  struct set *set = handle_object(api_context()->handles, handle, HANDLE_SET);
  mirror(set, set->size ? random_below(r, (int)set->size + 1) : 0);
}

/* Which copies are reached, and what they are copies of. */
static struct halo_exchange *reached_by(const struct map *map) {
  const struct set *to = map->to;
  const long entries = map_begin(map, map->from->extents[EXTENT_EXEC]), owned = to->extents[EXTENT_OWNED];
  struct halo_exchange *halo = take(1, sizeof *halo);
  bool *reached = take(to->extents[EXTENT_NONEXEC], sizeof *reached);
  int *send = take(owned, sizeof *send), *receive = take(owned, sizeof *receive);
  long count = 0;
  for (long i = 0; i < entries; i++)
    reached[map->table[i]] = true;
  for (long t = to->extents[EXTENT_EXEC]; t < to->extents[EXTENT_NONEXEC]; t++)
    if (reached[t]) {
      send[count] = (int)(t - to->extents[EXTENT_EXEC]);
      receive[count++] = (int)t;
    }
  *halo = (struct halo_exchange){.send = side_of(send, count), .receive = side_of(receive, count)};
  free(reached);
  free(send);
  free(receive);
  return halo;
}

static int *table_of(size_t entries) {
  int *table = data_memory(NULL, entries * sizeof *table, 0);
  if (!table)
    abort();
  return table;
}

/* Each target of a boundary element is reached by it or by its copy; the other of the two gets a copy of the target. */
void mirror_map(op_map handle, struct random *r) {
  struct map *map = handle_object(api_context()->handles, handle, HANDLE_MAP);
  const long *from = map->from->extents, copies = map->to->extents[EXTENT_EXEC];
  const size_t arity = (size_t)map->arity;
  int *table = table_of((size_t)(from[EXTENT_EXEC] + MAP_SLACK) * arity);
  memcpy(table, map->table, (size_t)from[EXTENT_OWNED] * arity * sizeof *table);
  for (long e = from[EXTENT_OWNED]; e < from[EXTENT_EXEC]; e++) {
    int *row = table + (size_t)(from[EXTENT_CORE] + e - from[EXTENT_OWNED]) * arity;
    int *copy = table + (size_t)e * arity;
    for (size_t c = 0; c < arity; c++) {
      copy[c] = row[c];
      *(random_chance(r, 50) ? &copy[c] : &row[c]) += (int)copies;
    }
  }
  data_memory_free(map->table);
  map->table = table;
  map->halo = reached_by(map);
}

void mirror_ragged(op_map handle, struct random *r) {
  struct map *map = handle_object(api_context()->handles, handle, HANDLE_MAP);
  const long *from = map->from->extents, copies = map->to->extents[EXTENT_EXEC];
  mirror(map->entries, (long)map->first[from[EXTENT_CORE]]);
  long long *first = take(from[EXTENT_EXEC] + 1, sizeof *first);
  int *table = table_of((size_t)map->entries->extents[EXTENT_EXEC] + MAP_SLACK);
  const long long owned = map->first[from[EXTENT_OWNED]];
  memcpy(first, map->first, (size_t)(from[EXTENT_OWNED] + 1) * sizeof *first);
  memcpy(table, map->table, (size_t)owned * sizeof *table);
  for (long e = from[EXTENT_OWNED]; e < from[EXTENT_EXEC]; e++) {
    const long of = from[EXTENT_CORE] + e - from[EXTENT_OWNED];
    first[e + 1] = first[e] + first[of + 1] - first[of];
    for (long long k = 0; k < first[of + 1] - first[of]; k++) {
      table[first[e] + k] = table[first[of] + k];
      table[random_chance(r, 50) ? first[e] + k : first[of] + k] += (int)copies;
    }
  }
  data_memory_free(map->table);
  free(map->first);
  map->table = table;
  map->first = first;
  map->halo = reached_by(map);
}

void mirror_as(op_map handle, op_map other_handle) {
  struct map *map = handle_object(api_context()->handles, handle, HANDLE_MAP);
  const struct map *other = handle_object(api_context()->handles, other_handle, HANDLE_MAP);
  const size_t entries = (size_t)(other->from->extents[EXTENT_EXEC] + MAP_SLACK) * (size_t)other->arity;
  data_memory_free(map->table);
  map->table = table_of(entries);
  memcpy(map->table, other->table, entries * sizeof *map->table);
  map->halo = reached_by(map);
}
