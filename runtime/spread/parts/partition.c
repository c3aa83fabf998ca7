#include "spread/parts/partition.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/list.h"
#include "base/log.h"
#include "base/text.h"
#include "base/whereami.h"
#include "context/context.h"
#include "context/env.h"
#include "mesh/data.h"
#include "mesh/mesh.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "spread/parts/directory.h"
#include "spread/parts/graph.h"
#include "spread/parts/numbers.h"
#include "spread/parts/parts.h"
#include "spread/parts/speeds.h"
#include "spread/spread.h"

/* ---- names ---- */

/* The input of a partitioner; NEED_BORDERS: a map, and it begins with the parts that are. */
enum need { NEED_NOTHING, NEED_COORDS, NEED_MAP, NEED_BORDERS, NEED_PARTS };

struct method {
  const char *lib;
  const char *also;    /* other words for the same, between spaces */
  const char *methods; /* what op_partition's `method` may say besides nothing and "any" */
  enum need need;
  partitioner *parts;  /* of our own */
  const char *missing; /* this library is not used; in which packages it is */
};

static const struct method methods[] = {
    {"block", " trivial ", " block ", NEED_NOTHING, parts_block, NULL},
    {"random", " ", " random ", NEED_NOTHING, parts_random, NULL},
    {"external", " user ", " external user ", NEED_PARTS, NULL, NULL},
    {"rcb", " geom ", " rcb geom ", NEED_COORDS, parts_rcb, NULL},
    {"inertial", " rib ", " inertial rib geom ", NEED_COORDS, parts_inertial, NULL},
    {"ptscotch", " kway ", " kway ", NEED_MAP, NULL, NULL},
    {"diffusive", " adaptive ", " diffusive adaptive ", NEED_BORDERS, NULL, NULL},
    {"parmetis", " geomkway ", " kway geom geomkway ", NEED_MAP, NULL, "libparmetis-dev, not free software"},
    {"kahip", " parhip ", " kway ", NEED_MAP, NULL, "libkahip-dev"},
};
enum { METHODS = sizeof methods / sizeof *methods };

static bool needs_map(const struct method *m) {
  return m->need == NEED_MAP || m->need == NEED_BORDERS;
}

/* True if `word` is in a list, whatever the case, or absent. */
static bool listed(const char *list, const char *word) {
  if (!word || !*word || strcasecmp(word, "any") == 0)
    return true;
  const size_t length = strlen(word);
  for (const char *p = list; *p; p += strcspn(p, " ")) {
    p += strspn(p, " ");
    if (strcspn(p, " ") == length && strncasecmp(p, word, length) == 0)
      return true;
  }
  return false;
}

static const struct method *find_method(const struct partition_call *call, struct error *err) {
  const char *names[METHODS];
  for (int i = 0; i < METHODS; i++) {
    const struct method *m = &methods[i];
    names[i] = m->lib;
    const bool named =
        call->lib && *call->lib && (strcasecmp(call->lib, m->lib) == 0 || listed(m->also, call->lib));
    if (!named || strcasecmp(call->lib, "any") == 0)
      continue;
    if (listed(m->methods, call->method))
      return m;
    error_set(err, OP_ERR_METHOD,
              "op_partition: \"%s\" has no method \"%s\"; expected one of%s, or \"\" for its usual one",
              call->lib, call->method, m->methods);
    return NULL;
  }
  struct text wrong = {0};
  nearest_tell("partitioner", call->lib, names, METHODS, &wrong);
  error_set(err, OP_ERR_METHOD,
            "op_partition: %s; expected one of block, random, external, rcb, inertial, ptscotch, diffusive "
            "(parmetis and kahip are known by name only)",
            text_str(&wrong));
  text_free(&wrong);
  return NULL;
}

bool partition_bisects(const char *lib) {
  struct error ignored = {0};
  const struct method *m = find_method(&(struct partition_call){.lib = lib, .method = ""}, &ignored);
  error_free(&ignored);
  return m && m->need == NEED_COORDS;
}

/* ---- what the call must have ---- */

static int check_coords(const struct partition_call *call, const struct method *m, struct error *err) {
  struct dat *coords = call->coords;
  if (!coords)
    return error_set(
        err, OP_ERR_ARGUMENT,
        "op_partition: \"%s\" needs coordinates; pass a dat of dim 1 to 3 on set \"%s\", or on a "
        "set that a map from \"%s\" leads to",
        m->lib, call->prime->name, call->prime->name);
  if (coords->dim > 3 || (coords->type != TYPE_DOUBLE && coords->type != TYPE_FLOAT))
    return error_set(
        err, OP_ERR_ARGUMENT,
        "op_partition: dat \"%s\" (dim %d, %s) cannot be the coordinates; expected dim 1 to 3 of "
        "type double or float",
        coords->name, coords->dim, type_info(coords->type)->name);
  coords->read = true;
  return OP_OK;
}

static int check_parts(const struct partition_call *call, struct error *err) {
  struct dat *parts = call->coords;
  if (!parts || parts->set != call->prime || parts->dim != 1 || parts->type != TYPE_INT)
    return error_set(
        err, OP_ERR_ARGUMENT,
        "op_partition: \"external\" needs the parts; pass as the last argument a dat of dim 1 and "
        "type int on set \"%s\" that holds a rank for each element",
        call->prime->name);
  parts->read = true;
  return OP_OK;
}

static int check_map(const struct partition_call *call, const struct method *m, struct error *err) {
  const struct map *map = call->map;
  if (!map || (map->from != call->prime && map->to != call->prime))
    return error_set(
        err, OP_ERR_ARGUMENT,
        "op_partition: \"%s\" needs a map from or to set \"%s\", which says which of its elements "
        "are neighbours; got %s%s%s",
        m->lib, call->prime->name, map ? "\"" : "none", map ? map->name : "", map ? "\"" : "");
  return OP_OK;
}

/* A map from the prime set to the one that has the coordinates; NULL: there is none. */
static const struct map *map_to_coords(const struct op_context *ctx, const struct partition_call *call) {
  if (call->map && call->map->from == call->prime && call->map->to == call->coords->set)
    return call->map;
  for (int m = 0; m < ctx->mesh->maps.count; m++) {
    const struct map *map = ctx->mesh->maps.items[m];
    if (map->from == call->prime && map->to == call->coords->set)
      return map;
  }
  return NULL;
}

static int check_call(struct op_context *ctx, const struct partition_call *call, const struct method *m,
                      struct error *err) {
  if (m->missing)
    return error_set(err, OP_ERR_NOT_BUILT,
                     "op_partition: this build of op2jit cannot use \"%s\" (Debian: %s); use \"ptscotch\", "
                     "\"rcb\" or \"inertial\"",
                     m->lib, m->missing);
  if (!call->prime)
    return error_set(err, OP_ERR_HANDLE,
                     "op_partition: the prime set is NULL; expected what op_decl_set returned since op_init");
  if (call->prime->entries_of)
    return error_set(err, OP_ERR_ARGUMENT,
                     "op_partition: set \"%s\" is the entries of ragged map \"%s\", which go where their "
                     "elements go; name set \"%s\"",
                     call->prime->name, call->prime->entries_of->name, call->prime->entries_of->from->name);
  int code = m->need == NEED_COORDS  ? check_coords(call, m, err)
             : m->need == NEED_PARTS ? check_parts(call, err)
             : needs_map(m)          ? check_map(call, m, err)
                                     : OP_OK;
  if (!code && m->need == NEED_COORDS && call->coords->set != call->prime && !map_to_coords(ctx, call))
    code =
        error_set(err, OP_ERR_ARGUMENT,
                  "op_partition: the coordinates \"%s\" are on set \"%s\", and no map leads there from set "
                  "\"%s\"; pass coordinates of set \"%s\", or make \"%s\" the prime set",
                  call->coords->name, call->coords->set->name, call->prime->name, call->prime->name,
                  call->coords->set->name);
  return code;
}

/* ---- coordinates ---- */

static int no_memory(struct error *err) {
  return error_memory(err, "a partition", 0);
}

/* The middle of each element's targets, of which other ranks may have some; without any it lies at 0. */
static int coords_through(struct op_context *ctx, const struct dat *coords, const struct share *share,
                          const struct share_map *map, double **out, struct error *err) {
  const struct share_set *to = &share->sets[map->to];
  const long owned = share->sets[map->from].owned;
  const int dim = coords->dim;
  struct targets t;
  double *near = dat_numbers(coords), *far = NULL;
  *out = array_new((size_t)owned * (size_t)dim, sizeof **out);
  if (targets_new(&t, to) && targets_add(&t, share, map) && near && *out)
    far = array_new((size_t)(t.ids.count - to->owned) * (size_t)dim, sizeof *far);
  int code = agree_on_success(ctx->comm, far ? OP_OK : no_memory(err), err);
  if (!code)
    code = directory_rows(ctx->comm, to->total, &t.ids, to->owned, (size_t)dim * sizeof *far, near, far, err);
  for (long e = 0; !code && e < owned; e++) {
    const long begin = share_begin(share, map, e), end = share_begin(share, map, e + 1);
    for (long i = begin; i < end; i++) {
      const double *x = t.id[i] < to->owned ? near + (long)t.id[i] * dim : far + (t.id[i] - to->owned) * dim;
      for (int c = 0; c < dim; c++)
        (*out)[e * dim + c] += x[c] / (double)(end - begin);
    }
  }
  targets_free(&t);
  free(near);
  free(far);
  return code;
}

/* Its number in the share. */
static int place_of(const struct op_context *ctx, const struct map *map) {
  int place = 0;
  while (ctx->mesh->maps.items[place] != map)
    place++;
  return place;
}

static int coords_of_prime(struct op_context *ctx, const struct partition_call *call,
                           const struct share *share, double **out, struct error *err) {
  int code = dat_need(ctx, call->coords, SPACE_HOST, REGION_OWNED, err);
  if (code)
    return code;
  if (call->coords->set != call->prime) {
    const int m = place_of(ctx, map_to_coords(ctx, call));
    return coords_through(ctx, call->coords, share, &share->maps[m], out, err);
  }
  *out = dat_numbers(call->coords);
  return *out ? OP_OK : no_memory(err);
}

/* ---- the parts of the prime set ---- */

static int part_as_told(struct op_context *ctx, const struct partition_call *call, int *part,
                        struct error *err) {
  const struct dat *told = call->coords;
  int code = dat_need(ctx, call->coords, SPACE_HOST, REGION_OWNED, err);
  for (long e = 0; !code && e < call->prime->extents[EXTENT_OWNED]; e++) {
    memcpy(&part[e], dat_value(told, e, 0), sizeof part[e]);
    if (part[e] < 0 || part[e] >= ctx->comm->size) {
      const struct distribution *spread = call->prime->spread;
      code = error_set(
          err, OP_ERR_RANGE,
          "op_partition: dat \"%s\" sends element %lld of set \"%s\" to rank %d; expected 0 .. %d",
          told->name, call->prime->first_said + (spread ? spread->numbers[e] : spread_number(call->prime, e)),
          call->prime->name, part[e], ctx->comm->size - 1);
    }
  }
  return code;
}

int partition_open(struct op_context *ctx, const struct graph_partitioner **out, struct error *err) {
  struct text path = {0};
  if (strcmp(ctx->comm->table->name, "openmpi") != 0)
    return error_set(
        err, OP_ERR_NOT_BUILT,
        "op_partition: PT-Scotch is there for Open MPI only, and this program runs under %s; run it "
        "under Open MPI, or use \"rcb\" or \"inertial\"",
        ctx->comm->table->name);
  int code = plugin_path("op2jit-ptscotch.so", env_value(ctx->env, ENV_PLUGINS), &path, err);
  if (code)
    error_prefix(err, "op_partition: PT-Scotch is not there (Debian: libptscotch-dev when op2jit is built); "
                      "\"rcb\" and \"inertial\" are: ");
  void *library = code ? NULL : dlopen(text_str(&path), RTLD_NOW | RTLD_LOCAL);
  const struct graph_partitioner *found = library ? dlsym(library, "op2jit_graph_partitioner") : NULL;
  if (!code && (!found || found->version != GRAPH_PARTITIONER_VERSION)) {
    const char *why = library ? NULL : dlerror();
    code = error_set(err, OP_ERR_BACKEND, "op_partition: the PT-Scotch plugin %s does not open: %s",
                     text_str(&path), why ? why : "it is of another version of op2jit");
  }
  text_free(&path);
  *out = found;
  return code;
}

/* The weights of elements and the speeds of ranks; NULL: all alike. */
struct weighed {
  long long *weights;
  int *speeds;
};

/* The graph's parts are known by blocks of numbers; who owns an element asks there. */
static int part_by_graph(struct op_context *ctx, const struct partition_call *call, const struct share *share,
                         const struct weighed *w, int *part, struct error *err) {
  const struct graph_partitioner *partitioner = NULL;
  const struct share_set *prime = &share->sets[call->prime->id];
  struct graph graph = {0};
  struct directory answer = {0};
  int code = agree_on_success(ctx->comm, partition_open(ctx, &partitioner, err), err);
  if (!code)
    code = graph_build(&graph, ctx->comm, share, place_of(ctx, call->map), call->map->to == call->prime,
                       w->weights, err);
  if (!code) {
    answer = (struct directory){.total = graph.total,
                                .first = graph.first,
                                .size = graph.size,
                                .values = array_new((size_t)graph.size, sizeof *answer.values)};
    code = agree_on_success(ctx->comm, answer.values ? OP_OK : no_memory(err), err);
  }
  if (!code)
    code = partitioner->part(ctx->comm, &graph, ctx->comm->size, w->speeds, answer.values, err);
  code = agree_on_success(ctx->comm, code, err);
  if (!code)
    code = directory_ask(&answer, ctx->comm, prime->numbers, prime->owned, part, err);
  directory_free(&answer);
  graph_free(&graph);
  return code;
}

/* Find out whether all elements weigh the same. Then the parts are those that come without weights. */
static int all_equal(struct op_context *ctx, const long long *weights, long count, bool *equal,
                     struct error *err) {
  long long ends[2] = {LLONG_MIN, LLONG_MIN}; /* the largest, and minus the least */
  for (long e = 0; e < count; e++) {
    ends[0] = weights[e] > ends[0] ? weights[e] : ends[0];
    ends[1] = -weights[e] > ends[1] ? -weights[e] : ends[1];
  }
  const int code = ctx->comm->table->reduce_all(ctx->comm, ends, 2, COMM_LLONG, COMM_MAX, err);
  *equal = ends[0] == -ends[1] || ends[0] == LLONG_MIN;
  return code;
}

static int weigh_prime(struct op_context *ctx, const struct partition_call *call, const struct share *share,
                       struct weighed *w, struct error *err) {
  const int prime = call->prime->id;
  int *cost = array_new((size_t)share->nsets, sizeof *cost);
  bool measured = false;
  int code = agree_on_success(ctx->comm, cost ? OP_OK : no_memory(err), err);
  if (!code)
    code = element_costs(ctx, call->prime, call->times, cost, &measured, err);
  if (!code && measured) {
    w->weights = array_new((size_t)share->sets[prime].owned, sizeof *w->weights);
    code = agree_on_success(ctx->comm, w->weights ? OP_OK : no_memory(err), err);
  }
  if (!code && measured)
    code = parts_weights(ctx->comm, share, prime, cost, w->weights, err);
  bool equal = false;
  if (!code && measured)
    code = all_equal(ctx, w->weights, share->sets[prime].owned, &equal, err);
  if (equal) {
    free(w->weights);
    w->weights = NULL;
  }
  if (!code)
    code = parts_speeds(ctx, call, share, measured ? cost : NULL, &w->speeds, err);
  free(cost);
  return code;
}

static int part_prime(struct op_context *ctx, const struct partition_call *call, const struct method *m,
                      const struct share *share, int *part, struct error *err) {
  const struct share_set *prime = &share->sets[call->prime->id];
  double *coords = NULL;
  if (m->need == NEED_PARTS)
    return part_as_told(ctx, call, part, err);
  struct weighed w = {0};
  int code = m->need == NEED_COORDS || needs_map(m) ? weigh_prime(ctx, call, share, &w, err) : OP_OK;
  if (!code && m->need == NEED_COORDS)
    code = coords_of_prime(ctx, call, share, &coords, err);
  const struct part_request request = {.comm = ctx->comm,
                                       .parts = ctx->comm->size,
                                       .total = call->prime->global_size,
                                       .count = prime->owned,
                                       .numbers = prime->numbers,
                                       .weights = w.weights,
                                       .speeds = w.speeds,
                                       .coords = coords,
                                       .dim = coords ? call->coords->dim : 0};
  if (!code)
    code = m->need == NEED_BORDERS
               ? parts_diffuse(ctx, call->prime, call->map, w.weights, w.speeds, part, err)
           : m->need == NEED_MAP ? part_by_graph(ctx, call, share, &w, part, err)
                                 : m->parts(&request, part, err);
  free(coords);
  free(w.weights);
  free(w.speeds);
  return code;
}

/* ---- everything ---- */

/* A part for each owned element of each set. */
static int part_all(struct op_context *ctx, const struct partition_call *call, const struct method *m,
                    const struct share *share, int **part, struct error *err) {
  const int prime = call->prime->id;
  part[prime] = array_new((size_t)share->sets[prime].owned, sizeof **part);
  int code = agree_on_success(ctx->comm, part[prime] ? OP_OK : no_memory(err), err);
  if (!code)
    code = agree_on_success(ctx->comm, part_prime(ctx, call, m, share, part[prime], err), err);
  if (!code)
    code = parts_follow(ctx->comm, share, ctx->comm->size, part, err);
  return code;
}

/* New entries have still to go where their elements went, with their data, which the change here cannot take too. */
static bool has_new_entries(const struct op_context *ctx) {
  for (int m = 0; m < ctx->mesh->maps.count; m++) {
    const struct map *map = ctx->mesh->maps.items[m];
    if (map->entries && !map->entries->spread && map->from->spread)
      return true;
  }
  return false;
}

/* Count the elements of the prime set that leave this rank. */
static void count_moved(const struct op_context *ctx, const struct partition_call *call,
                        const struct share *share, const int *part) {
  for (long e = 0; call->moved && e < share->sets[call->prime->id].owned; e++)
    *call->moved += part[e] != ctx->comm->rank;
}

int mesh_partition(struct op_context *ctx, const struct partition_call *call, struct error *err) {
  const struct method *m = find_method(call, err);
  int code = m ? check_call(ctx, call, m, err) : err->code;
  if (!spread_wanted(ctx))
    return code;
  if (!code)
    code = spread_check(ctx, err);
  code = agree_on_success(ctx->comm, code, err);
  if (!code && (m->need == NEED_BORDERS || has_new_entries(ctx)))
    code = mesh_distribute(ctx, err);
  ctx->comm->where = "op_partition";
  const double start = clock_seconds();
  struct share share = {0};
  int **part = code ? NULL : array_new((size_t)ctx->mesh->sets.count, sizeof *part);
  if (!code)
    code = part ? spread_share(ctx, &share, err) : no_memory(err);
  code = agree_on_success(ctx->comm, code, err);
  if (!code) {
    progress_step(ctx->log->progress, "parting the mesh: set %s, %lld elements, for %d ranks",
                  call->prime->name, call->prime->global_size, ctx->comm->size);
    code = part_all(ctx, call, m, &share, part, err);
    progress_end(ctx->log->progress);
  }
  if (!code)
    count_moved(ctx, call, &share, part[call->prime->id]);
  if (code)
    spread_give_back(ctx, &share);
  else
    code = spread_apply(ctx, &(struct spread_change){.part = part, .prime = call->prime->id, .share = &share},
                        err);
  if (!code)
    log_line(ctx->log, LOG_INFO, "mpi", "parted set %s, %lld elements, for %d ranks: %.3f s",
             call->prime->name, call->prime->global_size, ctx->comm->size, clock_seconds() - start);
  for (int s = 0; part && s < ctx->mesh->sets.count; s++)
    free(part[s]);
  free(part);
  return code;
}
