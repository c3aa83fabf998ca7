/* Data in and out; arrays that stay the program's; globals that the library keeps. */
#include "mesh/data.h"
#include "api/api.h"
#include "checkpoint/tell.h"
#include "mesh/globals.h"
#include "ranks/agree.h"
#include "record/record.h"
#include "spread/data.h"
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

/* ---- arrays that stay the program's ---- */
/* A dat that is acquired is what these calls are about, so they look at handles by themselves. */
static struct dat *view_of(struct op_context *ctx, op_dat handle, const char *call) {
  struct dat *dat = handle_object(ctx->handles, handle, HANDLE_DAT);
  if (api_error()->code)
    return NULL;
  if (!dat)
    error_set(api_error(), OP_ERR_HANDLE,
              "%s: the dat is %s; expected what op_decl_dat_view returned since op_init", call,
              handle_diagnosis(ctx->handles, handle, HANDLE_DAT));
  else if (!dat->view)
    error_set(
        api_error(), OP_ERR_HANDLE,
        "%s: dat \"%s\" is no view; declare it with op_decl_dat_view, or use op_fetch_data and op_put_data",
        call, dat->name);
  return api_error()->code ? NULL : dat;
}

static void check_acquire(const struct dat *dat, op_access access) {
  if (access != OP_READ && access != OP_WRITE && access != OP_RW)
    error_set(api_error(), OP_ERR_ACCESS,
              "op_acquire of dat \"%s\": the access is %d; expected OP_READ, OP_WRITE or OP_RW", dat->name,
              (int)access);
  else
    lend_check(dat, "op_acquire", api_error());
}

void *op2jit_acquire(op_dat handle, op_access access) {
  struct op_context *ctx = api_enter("op_acquire", FLUSH);
  if (!ctx)
    return NULL;
  void *array = NULL;
  struct dat *dat = view_of(ctx, handle, "op_acquire");
  if (dat)
    check_acquire(dat, access);
  int code = api_agree("op_acquire of dat \"%s\"\naccess\t%d\n", dat ? dat->name : "", (int)access);
  if (!code && access != OP_WRITE)
    tape_tell_left(ctx, dat);
  if (!code && access != OP_READ)
    code = tape_tell_lent(ctx, dat, api_error());
  if (!code)
    code = checkpoint_lend(ctx, dat, access, &array, api_error());
  return api_leave(code) ? NULL : array;
}

int op2jit_release(op_dat handle) {
  struct op_context *ctx = api_enter("op_release", KEEP);
  if (!ctx)
    return api_refused();
  struct dat *dat = view_of(ctx, handle, "op_release");
  if (dat && !dat->view->acquired)
    error_set(api_error(), OP_ERR_STATE, "op_release: dat \"%s\" is not acquired; call op_acquire first",
              dat->name);
  int code = api_agree("op_release of dat \"%s\"", dat ? dat->name : "");
  if (!code && dat->view->access != OP_READ)
    code = tape_tell_put(ctx, dat, dat->view->array, "op_release", api_error());
  if (!code && dat->view->access != OP_READ)
    code = checkpoint_put(ctx, "op_release", dat, api_error());
  return api_leave(code ? code : lend_end(ctx, dat, api_error()));
}

/* ---- globals that the library keeps ---- */
op_gbl op2jit_decl_gbl_typed(int dim, const char *type, const void *value, const char *name, const char *is) {
  struct op_context *ctx = api_enter("op_decl_gbl", KEEP);
  if (!ctx)
    return NULL;
  const char *shown = name ? name : "unnamed";
  struct gbl *gbl = NULL;
  if (type_check_pointed(type_parse(type, NULL), is, "the value is a C variable",
                         ctx->columns_base ? NULL : "const void *", api_error()))
    error_prefix(api_error(), "global \"%s\": ", shown);
  else
    gbl = gbl_new(ctx, dim, type, value, name, api_error());
  const int code =
      agree_on_call(ctx, gbl ? OP_OK : api_error()->code, api_error(),
                    "op_decl_gbl of global \"%s\"\ndim\t%d\ntype\t%s\n", shown, dim, type ? type : "none");
  if (code && gbl)
    gbl_undo(ctx, gbl);
  return api_leave_pointer(code ? NULL : gbl->handle);
}

/* The loop finds the global by its handle; `idx` says that there is one. */
op_arg op2jit_arg_global(op_gbl gbl, op_access access) {
  return (op_arg){.form_ = DESC_GBL,
                  .dat_ = (op_dat)(void *)gbl,
                  .idx_ = ARG_BY_HANDLE,
                  .access_ = (int)access,
                  .present_ = 1};
}

/* NULL: refused, and reported when the call leaves. */
static struct gbl *find(struct op_context *ctx, op_gbl handle, const char *call, const void *memory,
                        const char *is) {
  struct gbl *gbl = api_object(ctx, handle, HANDLE_GBL, call, "the global");
  if (!gbl)
    return NULL;
  if (type_check_pointed(gbl->type, is, "the memory is a C variable", ctx->columns_base ? NULL : "void *",
                         api_error()))
    error_prefix(api_error(), "%s: global \"%s\": ", call, gbl->name);
  else if (!memory)
    error_set(api_error(), OP_ERR_ARGUMENT,
              "%s: the memory is NULL; expected %d of type %s for global \"%s\"", call, gbl->dim,
              type_info(gbl->type)->name, gbl->name);
  return api_error()->code ? NULL : gbl;
}

int op2jit_get_gbl_typed(op_gbl handle, void *out, const char *is) {
  struct op_context *ctx = api_enter("op_get_gbl", FLUSH);
  if (!ctx)
    return api_refused();
  struct gbl *gbl = find(ctx, handle, "op_get_gbl", out, is);
  const int code = gbl ? checkpoint_value(ctx, gbl, out, api_error()) : api_error()->code;
  if (!code)
    tape_tell_left(ctx, gbl);
  return api_leave(code);
}

int op2jit_put_gbl_typed(op_gbl handle, const void *in, const char *is) {
  struct op_context *ctx = api_enter("op_put_gbl", FLUSH);
  if (!ctx)
    return api_refused();
  struct gbl *gbl = find(ctx, handle, "op_put_gbl", in, is);
  struct text value = {0};
  int code = gbl ? OP_OK : api_error()->code;
  if (gbl)
    agree_print_values(&value, (int)gbl->type, gbl->dim, in);
  if (!text_ok(&value))
    code = error_memory(api_error(), "a global's value", value.length);
  code = agree_on_call(ctx, code, api_error(), "op_put_gbl of global \"%s\"\nvalue\t%s\n",
                       gbl ? gbl->name : "", text_str(&value));
  text_free(&value);
  if (!code)
    code = tape_tell_put_gbl(ctx, gbl, in, "op_put_gbl", api_error());
  if (!code)
    code = checkpoint_put_gbl(ctx, gbl, api_error());
  if (!code)
    code = gbl_put(ctx, gbl, in, api_error());
  return api_leave(code);
}
