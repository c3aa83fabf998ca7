/* Data in and out. */
#include "api/api.h"
#include "checkpoint/tell.h"
#include "mesh/data.h"
#include "ranks/agree.h"
#include "spread/print.h"
#include "spread/spread.h"
#include "tape/tell.h"

static int check_memory(const char *call, const struct dat *dat, const void *memory, const char *is,
                        const char *what) {
  if (!type_fits(dat->type, is))
    return error_set(api_error(), OP_ERR_TYPE,
                     "%s: %s is of the C type %s, and dat \"%s\" has the type \"%s\"; pass memory of that "
                     "type, or, if it is for %s all the same, (void *)",
                     call, what, type_info(type_parse(is, NULL))->name, dat->name, type_info(dat->type)->name,
                     type_info(dat->type)->name);
  if (memory || dat->set->size == 0)
    return OP_OK;
  return error_set(api_error(), OP_ERR_ARGUMENT,
                   "%s: %s is NULL; expected %ld x %d values of type %s for dat \"%s\"", call, what,
                   dat->set->size, dat->dim, type_info(dat->type)->name, dat->name);
}

/* Data travel between ranks: all go on with the same dat, or none. */
static int all_ready(struct op_context *ctx, const char *call, const struct dat *dat, int code) {
  return agree_on_call(ctx, dat ? code : api_error()->code, api_error(), "%s of dat \"%s\"", call,
                       dat ? dat->name : "");
}

/* `base`: the first element in messages. */
static int check_range(const struct dat *dat, int low, int high, int base) {
  if (dat->set->size == 0)
    return error_set(api_error(), OP_ERR_RANGE,
                     "op_fetch_data_idx: elements %d .. %d of dat \"%s\", but its set \"%s\" is "
                     "empty; there is nothing to fetch",
                     low + base, high + base, dat->name, dat->set->name);
  if (low < 0 || low > high || high >= dat->set->size)
    return error_set(
        api_error(), OP_ERR_RANGE,
        "op_fetch_data_idx: elements %d .. %d of dat \"%s\"; expected %d <= low <= high %s %ld, both "
        "ends included",
        low + base, high + base, dat->name, base, base ? "<=" : "<", dat->set->size);
  return OP_OK;
}

/* `whole`: all elements; else low .. high. */
static int fetch(const char *call, op_dat handle, void *out, const char *is, bool whole, int low, int high) {
  struct op_context *ctx = api_enter(call, FLUSH);
  if (!ctx)
    return api_refused();
  struct dat *dat = api_object(ctx, handle, HANDLE_DAT, call, "the dat");
  int code = dat ? check_memory(call, dat, out, is, "the memory for the data") : OP_OK;
  /* A rank that declared nothing takes part in what the others fetch. */
  const bool nothing = dat && spread_wanted(ctx) && dat->set->size == 0 && low > high;
  if (dat && !code && !whole && !nothing)
    code = check_range(dat, low, high, ctx->columns_base);
  code = all_ready(ctx, call, dat, code);
  if (!code)
    tape_tell_left(ctx, dat);
  return api_leave(code ? code
                        : checkpoint_fetch(ctx, call, dat, whole, out, whole ? 0 : low,
                                           whole ? dat->set->size - 1 : high, api_error()));
}

int op2jit_fetch_data_typed(op_dat handle, void *out, const char *is) {
  return fetch("op_fetch_data", handle, out, is, true, 0, 0);
}

int op2jit_fetch_data_idx_typed(op_dat handle, void *out, int low, int high, const char *is) {
  return fetch("op_fetch_data_idx", handle, out, is, false, low, high);
}

int op2jit_put_data_typed(op_dat handle, const void *in, const char *is) {
  struct op_context *ctx = api_enter("op_put_data", FLUSH);
  if (!ctx)
    return api_refused();
  struct dat *dat = api_object(ctx, handle, HANDLE_DAT, "op_put_data", "the dat");
  int code =
      all_ready(ctx, "op_put_data", dat, dat ? check_memory("op_put_data", dat, in, is, "the data") : OP_OK);
  if (!code)
    code = tape_tell_put(ctx, dat, in, "op_put_data", api_error());
  if (!code)
    code = checkpoint_put(ctx, "op_put_data", dat, api_error());
  return api_leave(code ? code : data_put(ctx, dat, in, api_error()));
}

static int print_dat(const char *call, op_dat handle, const char *path, print_function *print) {
  struct op_context *ctx = api_enter(call, FLUSH);
  if (!ctx)
    return api_refused();
  struct dat *dat = api_object(ctx, handle, HANDLE_DAT, call, "the dat");
  int code = OP_OK;
  if (dat && !path)
    code = error_set(api_error(), OP_ERR_ARGUMENT, "%s: the path is NULL; expected the name of a file", call);
  bool written = false;
  code = all_ready(ctx, call, dat, code);
  if (!code)
    code = checkpoint_writes(ctx, call, 1, &dat, &written, api_error());
  return api_leave(code || written ? code : print(ctx, dat, path, api_error()));
}

int op2jit_print_dat_to_txtfile(op_dat dat, const char *path) {
  return print_dat("op_print_dat_to_txtfile", dat, path, print_text);
}

int op2jit_print_dat_to_binfile(op_dat dat, const char *path) {
  return print_dat("op_print_dat_to_binfile", dat, path, print_binary);
}

int op2jit_get_size(op_set handle) {
  struct op_context *ctx = api_enter("op_get_size", KEEP);
  if (!ctx)
    return -1;
  struct set *set = api_set(ctx, handle, "op_get_size");
  return api_leave_local(set ? OP_OK : OP_ERR_HANDLE) ? -1 : (int)set->size;
}

long long api_global_size(const void *handle, const char *call) {
  struct op_context *ctx = api_enter(call, KEEP);
  if (!ctx)
    return -1;
  struct set *set = api_set(ctx, handle, call);
  return api_leave_local(set ? OP_OK : OP_ERR_HANDLE) ? -1 : set->global_size;
}

long long op2jit_get_global_size(op_set handle) {
  return api_global_size(handle, "op_get_global_size");
}
