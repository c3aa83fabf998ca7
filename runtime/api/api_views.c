/* Arrays that stay the program's. */
#include "api/api.h"
#include "checkpoint/tell.h"
#include "mesh/data.h"
#include "ranks/agree.h"
#include "spread/lend.h"
#include "tape/tell.h"

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
