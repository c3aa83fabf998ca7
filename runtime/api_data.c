/* Data in and out. */
#include "api.h"
#include "data.h"
#include "print.h"

/* What every call on a whole dat begins with; NULL: the error is set. */
static struct dat *open_dat(struct op_context *ctx, const char *call, op_dat handle, const void *memory,
                            const char *what) {
  struct dat *dat = api_object(ctx, handle, HANDLE_DAT, call, "the dat");
  if (!dat || ctx_flush(ctx, api_error()))
    return NULL;
  if (!memory && dat->set->size > 0) {
    error_set(api_error(), OP_ERR_ARGUMENT,
              "%s: %s is NULL; expected %ld x %d values of type %s for dat \"%s\"", call, what,
              dat->set->size, dat->dim, type_info(dat->type)->name, dat->name);
    return NULL;
  }
  return dat;
}

int op2jit_fetch_data(op_dat handle, void *out) {
  struct op_context *ctx = api_enter("op_fetch_data");
  if (!ctx)
    return api_refused();
  struct dat *dat = open_dat(ctx, "op_fetch_data", handle, out, "the memory for the data");
  return api_leave(dat ? data_fetch(ctx, dat, out, 0, dat->set->size - 1, api_error()) : api_error()->code);
}

int op2jit_fetch_data_idx(op_dat handle, void *out, int low, int high) {
  struct op_context *ctx = api_enter("op_fetch_data_idx");
  if (!ctx)
    return api_refused();
  struct dat *dat = open_dat(ctx, "op_fetch_data_idx", handle, out, "the memory for the data");
  if (!dat)
    return api_leave(api_error()->code);
  if (dat->set->size == 0)
    return api_leave(error_set(api_error(), OP_ERR_RANGE,
                               "op_fetch_data_idx: elements %d .. %d of dat \"%s\", but its set \"%s\" is "
                               "empty; there is nothing to fetch",
                               low, high, dat->name, dat->set->name));
  if (low < 0 || low > high || high >= dat->set->size)
    return api_leave(
        error_set(api_error(), OP_ERR_RANGE,
                  "op_fetch_data_idx: elements %d .. %d of dat \"%s\"; expected 0 <= low <= high < %ld, both "
                  "ends included",
                  low, high, dat->name, dat->set->size));
  return api_leave(data_fetch(ctx, dat, out, low, high, api_error()));
}

int op2jit_put_data(op_dat handle, const void *in) {
  struct op_context *ctx = api_enter("op_put_data");
  if (!ctx)
    return api_refused();
  struct dat *dat = open_dat(ctx, "op_put_data", handle, in, "the data");
  return api_leave(dat ? data_put(ctx, dat, in, api_error()) : api_error()->code);
}

static int print_dat(const char *call, op_dat handle, const char *path, print_function *print) {
  struct op_context *ctx = api_enter(call);
  if (!ctx)
    return api_refused();
  struct dat *dat = open_dat(ctx, call, handle, call, "");
  if (!dat)
    return api_leave(api_error()->code);
  if (!path)
    return api_leave(
        error_set(api_error(), OP_ERR_ARGUMENT, "%s: the path is NULL; expected the name of a file", call));
  return api_leave(print(ctx, dat, path, api_error()));
}

int op2jit_print_dat_to_txtfile(op_dat dat, const char *path) {
  return print_dat("op_print_dat_to_txtfile", dat, path, print_text);
}

int op2jit_print_dat_to_binfile(op_dat dat, const char *path) {
  return print_dat("op_print_dat_to_binfile", dat, path, print_binary);
}

int op2jit_get_size(op_set handle) {
  struct op_context *ctx = api_enter("op_get_size");
  if (!ctx)
    return -1;
  struct set *set = api_object(ctx, handle, HANDLE_SET, "op_get_size", "the set");
  return api_leave(set ? OP_OK : OP_ERR_HANDLE) ? -1 : (int)set->size;
}

long long op2jit_get_global_size(op_set handle) {
  struct op_context *ctx = api_enter("op_get_global_size");
  if (!ctx)
    return -1;
  struct set *set = api_object(ctx, handle, HANDLE_SET, "op_get_global_size", "the set");
  return api_leave(set ? OP_OK : OP_ERR_HANDLE) ? -1 : set->global_size;
}
