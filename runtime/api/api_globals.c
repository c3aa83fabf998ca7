/* Globals that the library keeps. */
#include "api/api.h"
#include "checkpoint/tell.h"
#include "mesh/globals.h"
#include "ranks/agree.h"
#include "record/record.h"
#include "tape/tell.h"

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
