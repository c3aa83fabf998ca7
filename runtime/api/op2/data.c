/* Data of OP2's programs: elements of all ranks, and raw loops over dat->data. */
#include <string.h>

#include "api/api.h"
#include "base/list.h"
#include "mesh/data.h"
#include "op2/op2jit_op2.h"
#include "ranks/agree.h"
#include "record/record.h"
#include "spread/exchange.h"
#include "spread/spread.h"

/* OP2's op_get_size is of all ranks. */
long long op2jit_op2_size(op_set handle) {
  return api_global_size(handle, "op_get_size");
}

long long op2jit_op2_offset(op_set handle) {
  struct op_context *ctx = api_enter("op_get_global_set_offset", KEEP);
  if (!ctx)
    return -1;
  const struct set *set = api_object(ctx, handle, HANDLE_SET, "op_get_global_set_offset", "the set");
  return api_leave_local(api_error()->code) ? -1 : set->global_first;
}

/* ---- elements of all ranks ---- */

static int check_range(const struct dat *dat, int low, int high, int base) {
  if (low >= 0 && low <= high && high < dat->set->global_size)
    return OP_OK;
  return error_set(
      api_error(), OP_ERR_RANGE,
      "op_fetch_data_idx: elements %d .. %d of dat \"%s\"; expected %d <= low <= high %s %lld, both "
      "ends included",
      low + base, high + base, dat->name, base, base ? "<=" : "<", dat->set->global_size);
}

/* The rank that declared the elements from `number` on, and the end of its range. The same on all ranks. */
static int find_declarer(struct op_context *ctx, const struct set *set, long long number,
                         long long found[2]) {
  const long long end = set->global_first + set->size;
  const bool mine = number >= set->global_first && number < end;
  found[0] = mine ? ctx->comm->rank : -1;
  found[1] = mine ? end : -1;
  return ctx->comm->table->reduce_all(ctx->comm, found, 2, COMM_LLONG, COMM_MAX, api_error());
}

/* One rank's after the other's, straight to where they belong. */
static int fetch_of_all(struct op_context *ctx, struct dat *dat, unsigned char *out, int low, int high) {
  const struct set *set = dat->set;
  int code = OP_OK;
  for (long long at = low, end; !code && at <= high; at = end) {
    long long found[2];
    code = find_declarer(ctx, set, at, found);
    end = found[1] < high + 1LL ? found[1] : high + 1LL;
    const bool mine = !code && found[0] == ctx->comm->rank;
    unsigned char *to = out + (size_t)(at - low) * dat->row_bytes;
    if (!code)
      code = data_fetch(ctx, dat, to, mine ? (long)(at - set->global_first) : 0,
                        mine ? (long)(end - 1 - set->global_first) : -1, api_error());
    if (!code)
      code = ctx->comm->table->broadcast(ctx->comm, to, (size_t)(end - at) * dat->row_bytes, (int)found[0],
                                         api_error());
  }
  return code;
}

int op2jit_op2_fetch_idx(op_dat handle, void *out, int low, int high) {
  struct op_context *ctx = api_enter("op_fetch_data_idx", FLUSH);
  if (!ctx)
    return api_refused();
  struct dat *dat = api_object(ctx, handle, HANDLE_DAT, "op_fetch_data_idx", "the dat");
  int code = dat ? check_range(dat, low, high, ctx->columns_base) : api_error()->code;
  if (!code && !out)
    code = error_set(api_error(), OP_ERR_ARGUMENT, "op_fetch_data_idx: the memory for dat \"%s\" is NULL",
                     dat->name);
  code = agree_on_call(ctx, code, api_error(), "op_fetch_data_idx of dat \"%s\"\nelements\t%d .. %d\n",
                       dat ? dat->name : "", low, high);
  if (!code)
    code = comm_alone(ctx->comm) ? data_fetch(ctx, dat, out, low, high, api_error())
                                 : fetch_of_all(ctx, dat, out, low, high);
  return api_leave(code);
}

/* ---- raw loops ---- */

static struct dat *dat_of(struct op_context *ctx, const op_arg *arg) {
  return arg->form_ == DESC_DAT && arg->present_
             ? api_object(ctx, arg->dat_, HANDLE_DAT, "op_mpi_halo_exchanges", "an argument's dat")
             : NULL;
}

static bool is_direct(const op_arg *arg) {
  return arg->map_ == &op2jit_identity_map;
}

static void add_needs(struct op_context *ctx, int nargs, const op_arg *args, bool redundant,
                      struct halo_need *needs, int *count) {
  for (int i = 0; i < nargs && *count < OP_MAX_ARGS; i++) {
    struct dat *dat = dat_of(ctx, &args[i]);
    const bool reads = access_reads(args[i].access_);
    if (!dat || !reads || (is_direct(&args[i]) && !redundant))
      continue;
    const struct map *map = is_direct(&args[i]) ? NULL
                                                : api_object(ctx, args[i].map_, HANDLE_MAP,
                                                             "op_mpi_halo_exchanges", "an argument's map");
    if (api_error()->code)
      continue;
    if (halo_is_current(ctx, dat, map))
      halo_bring(ctx, dat, SPACE_HOST, api_error());
    else
      needs[(*count)++] = (struct halo_need){.dat = dat, .map = map};
  }
}

static bool writes_through_map(int nargs, const op_arg *args) {
  bool writes = false;
  for (int i = 0; i < nargs; i++)
    writes |=
        args[i].form_ == DESC_DAT && args[i].present_ && !is_direct(&args[i]) && args[i].access_ != OP_READ;
  return writes;
}

/* Returns the number of elements of a raw loop. */
int op2jit_op2_halo_exchanges(op_set handle, int nargs, const op_arg *args) {
  struct halo_need needs[OP_MAX_ARGS];
  struct exchange *exchange = NULL;
  int count = 0;
  struct op_context *ctx = api_enter("op_mpi_halo_exchanges", FLUSH);
  if (!ctx)
    return 0;
  const struct set *set = api_object(ctx, handle, HANDLE_SET, "op_mpi_halo_exchanges", "the set");
  int code = api_agree("op_mpi_halo_exchanges");
  if (!code)
    code = mesh_distribute(ctx, api_error());
  const bool redundant = writes_through_map(nargs, args);
  if (!code && set->spread)
    add_needs(ctx, nargs, args, redundant, needs, &count);
  if (!code)
    code = agree_on_success(ctx->agreement, api_error()->code, api_error());
  if (!code && count > 0)
    code = exchange_get(ctx, needs, count, SPACE_HOST, NULL, &exchange, api_error());
  if (!code && exchange && !(code = exchange_start(ctx, exchange, api_error()))) {
    double waited = 0;
    code = exchange_finish(ctx, exchange, &waited, api_error());
  }
  const long size = code ? 0 : set->extents[redundant ? EXTENT_EXEC : EXTENT_OWNED];
  return api_leave(code) ? 0 : (int)size;
}

int op2jit_op2_wrote(int nargs, const op_arg *args) {
  struct op_context *ctx = api_enter("op_mpi_set_dirtybit", FLUSH);
  if (!ctx)
    return api_refused();
  for (int i = 0; i < nargs; i++) {
    struct dat *dat = args[i].access_ == OP_READ ? NULL : dat_of(ctx, &args[i]);
    if (dat)
      dat_wrote(dat, SPACE_HOST);
  }
  return api_leave_local(api_error()->code);
}
