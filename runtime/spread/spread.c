#include "spread/spread.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/list.h"
#include "base/log.h"
#include "context/context.h"
#include "mesh/data.h"
#include "mesh/mesh.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "spread/data.h"
#include "spread/parts/build.h"
#include "spread/parts/mail.h"
#include "spread/sums.h"

bool spread_wanted(const struct op_context *ctx) {
  return ctx->comm && !comm_alone(ctx->comm);
}

/* ---- declarations ---- */

int spread_declare(struct op_context *ctx, struct set *set, struct error *err) {
  struct comm *comm = ctx->comm;
  long long first = 0;
  comm->where = "op_decl_set";
  int code = comm->table->scan_before(comm, set->size, &first, err);
  /* The largest and, but for the sign, the least that a rank declared; and where the last rank's elements end. */
  long long most[] = {set->size, -(long long)set->size, first + set->size};
  if (!code)
    code = comm->table->reduce_all(comm, most, 3, COMM_LLONG, COMM_MAX, err);
  if (code)
    return code;
  set->of_ranks = true;
  set->alike = most[0] == -most[1] ? (long)most[0] : 0;
  set->global_first = first;
  set->global_size = most[2];
  ctx->mesh->undistributed = true;
  return OP_OK;
}

/* ---- a new distribution ---- */

static int no_memory(struct error *err) {
  return error_memory(err, "the distribution of a mesh", 0);
}

/* From here on the share is all there is: both at once would be much memory. */
static void take_over(struct op_context *ctx, const struct share *share) {
  for (int m = 0; m < share->nmaps; m++) {
    struct map *map = ctx->mesh->maps.items[m];
    if (share->maps[m].rows.entries != map->global.entries)
      free(map->global.entries);
    data_memory_free(map->table);
    map_halo_free(map->halo);
    map->global.entries = NULL;
    map->table = NULL;
    map->halo = NULL;
  }
  for (int s = 0; s < share->nsets; s++) {
    struct set *set = ctx->mesh->sets.items[s];
    distribution_free(set->spread);
    free(set->to_user);
    set->spread = NULL;
    set->to_user = NULL;
  }
}

/* ---- data ---- */

static int move_dat(struct op_context *ctx, struct dat *dat, const struct built_set *built,
                    const struct halo_exchange *route, struct error *err) {
  struct replica *host = &dat->replicas[SPACE_HOST];
  const long stride = data_stride(built->extents[EXTENT_NONEXEC]);
  size_t bytes;
  if (!dat_has_memory(dat)) {
    dat->stride = stride;
    return OP_OK;
  }
  void *memory = data_bytes(dat, built->extents[EXTENT_NONEXEC], &bytes)
                     ? data_memory(ctx->team, bytes, (unsigned)dat->id)
                     : NULL;
  if (!memory)
    return no_memory(err);
  const struct row_store old = dat_rows(dat),
                         fresh = {memory, dat->value_size, dat->dim, dat->soa ? stride : 0};
  const int code = carry(ctx->comm, &route->send, &route->receive, &old, &fresh, 1, err);
  if (code) {
    data_memory_free(memory);
    return code;
  }
  dat_leave_devices(ctx, dat);
  if (!view_leave(dat, "its elements are spread over ranks"))
    dat_leave_rows(dat);
  host->memory = memory;
  host->bytes = bytes;
  dat->stride = stride;
  dat_wrote(dat, SPACE_HOST);
  return OP_OK;
}

/* The final place of each row: the built order comes last. It is not needed afterwards. */
static int complete_route(const struct comm *comm, struct halo_exchange *route, struct built_set *built,
                          struct error *err) {
  const long owned = built->extents[EXTENT_OWNED];
  int *order = built->order;
  built->order = NULL;
  if (!route->send.first)
    return route_here(route, comm->rank, order, owned, err);
  int *place = array_new((size_t)owned, sizeof *place);
  for (long l = 0; place && l < owned; l++)
    place[order[l]] = (int)l;
  struct halo_side *receive = &route->receive;
  for (long i = 0; place && i < receive->first[receive->count]; i++)
    receive->elements[i] = place[receive->elements[i]];
  free(order);
  free(place);
  return place ? OP_OK : no_memory(err);
}

static bool has_dats(const struct mesh *mesh, int set) {
  for (int i = 0; i < mesh->dats.count; i++)
    if (((const struct dat *)mesh->dats.items[i])->set->id == set)
      return true;
  return false;
}

/* One dat after the other, and what only a set's dats need is freed after the last of them: there is never much
 * beside what the mesh itself takes. */
static int move_data(struct op_context *ctx, struct built *built, struct halo_exchange *routes,
                     struct error *err) {
  const struct mesh *mesh = ctx->mesh;
  int code = OP_OK;
  for (int s = 0; !code && s < built->nsets; s++) {
    if (has_dats(mesh, s))
      code = complete_route(ctx->comm, &routes[s], &built->sets[s], err);
    for (int i = 0; !code && i < mesh->dats.count; i++) {
      struct dat *dat = mesh->dats.items[i];
      if (dat->set->id == s)
        code = move_dat(ctx, dat, &built->sets[s], &routes[s], err);
    }
    halo_exchange_free(&routes[s]);
  }
  return code;
}

/* ---- the change as a whole ---- */

static int *user_numbers(const struct built_set *set) {
  const long count = set->extents[EXTENT_NONEXEC];
  int *numbers = array_new((size_t)count, sizeof *numbers);
  for (long e = 0; numbers && e < count; e++)
    numbers[e] = (int)set->spread->numbers[e];
  return numbers;
}

static void adopt_first(struct map *map, struct built_set *entries) {
  free(map->first);
  map->first = entries->first;
  map->shortest = entries->shortest;
  map->longest = entries->longest;
  map->equal = entries->shortest == entries->longest ? entries->longest : 0;
  entries->first = NULL;
}

/* Give the mesh what was built. */
static int adopt(struct op_context *ctx, struct built *built, struct error *err) {
  for (int s = 0; s < built->nsets; s++) {
    struct set *set = ctx->mesh->sets.items[s];
    if (set->global_size <= (long long)INT_MAX + 1 && !(set->to_user = user_numbers(&built->sets[s])))
      return no_memory(err);
    set->spread = built->sets[s].spread;
    built->sets[s].spread = NULL;
    memcpy(set->extents, built->sets[s].extents, sizeof set->extents);
  }
  for (int m = 0; m < built->nmaps; m++) {
    struct map *map = ctx->mesh->maps.items[m];
    map->table = built->maps[m].table;
    map->halo = built->maps[m].halo;
    built->maps[m].table = NULL;
    built->maps[m].halo = NULL;
    if (map->entries)
      adopt_first(map, &built->sets[map->entries->id]);
  }
  ctx->mesh->undistributed = false;
  ctx->mesh->epoch++;
  return subsets_spread(ctx, err);
}

static int rebuild(struct op_context *ctx, const struct spread_change *change, struct share *share,
                   struct halo_exchange *routes, struct error *err) {
  struct built built = {0};
  struct progress *progress = ctx->log->progress;
  progress_step(progress, "parting the mesh: its elements go to their ranks");
  int code = change->part    ? share_move(ctx->comm, share, change->part, routes, err)
             : change->order ? share_reorder(ctx->comm, share, change->order, routes, err)
                             : OP_OK;
  /* Ways that no data will take. */
  for (int s = 0; s < ctx->mesh->sets.count; s++)
    if (!has_dats(ctx->mesh, s))
      halo_exchange_free(&routes[s]);
  progress_step(progress, "parting the mesh: halos");
  if (!code)
    code = build_halos(ctx->comm, share, change->part ? change->prime : -1, &built, err);
  progress_step(progress, "parting the mesh: data");
  if (!code)
    code = move_data(ctx, &built, change->part || change->order ? routes : share->brought, err);
  if (!code)
    code = adopt(ctx, &built, err);
  progress_end(progress);
  built_free(&built);
  return code;
}

int spread_check(const struct op_context *ctx, struct error *err) {
  if (!ctx->mesh->lost)
    return OP_OK;
  return error_set(err, OP_ERR_STATE,
                   "the mesh was lost when an earlier call failed to distribute it; end the program, or call "
                   "op_exit and op_init and declare it again");
}

/* A program written for one process declares the whole mesh on every rank: N ranks then compute on N meshes side
 * by side. That is no error, as ranks may be alike, but never what was meant when the maps of all name one rank's
 * elements. */
static bool all_ranks_alike(const struct mesh *mesh) {
  for (int s = 0; s < mesh->sets.count; s++)
    if (!((const struct set *)mesh->sets.items[s])->alike)
      return false;
  return true;
}

static bool names_only_first(const struct map *map) {
  const size_t entries = (size_t)map_rows_of(map)->size * (size_t)map_width(map);
  for (size_t i = 0; i < entries; i++)
    if (rows_get(&map->global, i) >= map->to->alike)
      return false;
  return true;
}

/* Find a map whose rows are still as they were declared; NULL: some name other elements, or there are none. */
static const struct map *map_of_copies(const struct mesh *mesh) {
  const struct map *found = NULL;
  for (int m = 0; m < mesh->maps.count; m++) {
    const struct map *map = mesh->maps.items[m];
    if (map->global.entries && !names_only_first(map))
      return NULL;
    if (map->global.entries && !found)
      found = map;
  }
  return found;
}

static void warn(const struct op_context *ctx, const struct map *map) {
  const int ranks = ctx->comm->size;
  struct text sizes = {0};
  text_addf(&sizes, "%ld elements of set \"%s\"", map->from->size, map->from->name);
  if (map->to != map->from)
    text_addf(&sizes, " and %ld of set \"%s\"", map->to->size, map->to->name);
  log_line(ctx->log, LOG_WARN, "mesh",
           "each of %d ranks declared the same %s, and on all of them map \"%s\" names only those of rank 0: "
           "the mesh is there %d times; let rank 0 declare everything and the others 0 elements "
           "(op_is_root() ? n : 0), or each rank its own share, with global numbers in maps",
           ranks, text_str(&sizes), map->name, ranks);
  text_free(&sizes);
}

/* Says once, on rank 0, if each rank seems to have declared the whole mesh. While the rows of new maps are as they were
 * declared (spread_copies.c). */
static int spread_warn_of_copies(struct op_context *ctx, struct error *err) {
  struct mesh *mesh = ctx->mesh;
  if (mesh->copies_told || !mesh->undistributed || !all_ranks_alike(mesh))
    return OP_OK;
  const struct map *map = map_of_copies(mesh);
  long long everywhere = map != NULL;
  const int code = ctx->comm->table->reduce_all(ctx->comm, &everywhere, 1, COMM_LLONG, COMM_MIN, err);
  if (code || !everywhere)
    return code;
  mesh->copies_told = true;
  if (ctx->comm->rank == 0)
    warn(ctx, map);
  return OP_OK;
}

int spread_apply(struct op_context *ctx, const struct spread_change *change, struct error *err) {
  struct mesh *mesh = ctx->mesh;
  struct share share = {0};
  int code = spread_check(ctx, err);
  if (code)
    return code;
  code = sums_leave_all(ctx, err);
  if (change->share) {
    share = *change->share;
    *change->share = (struct share){0};
  }
  for (int i = 0; !code && i < mesh->dats.count; i++)
    if (dat_has_memory(mesh->dats.items[i]))
      code = dat_need(ctx, mesh->dats.items[i], SPACE_HOST, REGION_OWNED, err);
  struct halo_exchange *routes = array_new((size_t)mesh->sets.count, sizeof *routes);
  if (!code && !routes)
    code = no_memory(err);
  if (!code && !change->share)
    code = spread_share(ctx, &share, err);
  code = agree_on_success(ctx->comm, code, err);
  if (!code)
    code = spread_warn_of_copies(ctx, err);
  if (code)
    spread_give_back(ctx, &share);
  else {
    take_over(ctx, &share);
    mesh->lost = true;
    code = rebuild(ctx, change, &share, routes, err);
    mesh->lost = code != OP_OK;
    share_free(&share);
  }
  for (int s = 0; routes && s < mesh->sets.count; s++)
    halo_exchange_free(&routes[s]);
  free(routes);
  return code;
}

int mesh_distribute(struct op_context *ctx, struct error *err) {
  if (mesh_is_distributed(ctx))
    return OP_OK;
  const int code = agree_on_success(ctx->comm, lend_check_guests(ctx, err), err);
  if (code)
    return code;
  ctx->comm->where = "the distribution of the mesh";
  const double start = clock_seconds();
  const int status = spread_apply(ctx, &(struct spread_change){0}, err);
  log_line(ctx->log, LOG_INFO, "mpi", "halos are there: %.3f s", clock_seconds() - start);
  return status;
}
