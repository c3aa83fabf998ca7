/* Arguments, kernels and the loop. */
#include <stdio.h>
#include <string.h>

#include "api/api.h"
#include "loop/loop.h"

/* The type's name may be gone when the loop looks at the argument: parse it now, and keep what was not
 * understood for the message. */
static void take_type(op_arg *arg, const char *type) {
  arg->type_ = (int)type_parse(type, NULL);
  if (arg->type_ == TYPE_NONE && type) {
    arg->said_length_ = (int)strlen(type);
    snprintf(arg->said_, sizeof arg->said_, "%s", type);
  }
}

/* A pointer to another type than was said is told by the loop, and makes the argument another one. The two names are
 * mostly one literal. */
static void compare_type(op_arg *arg, const char *type, const char *is) {
  if (!*is || is == type || arg->type_ == TYPE_NONE || type_fits((enum type_code)arg->type_, is))
    return;
  type = type_info((enum type_code)arg->type_)->name; /* as said it may be too long to be kept */
  arg->pointed_ = (int)type_parse(is, NULL);
  arg->said_length_ = (int)strlen(type);
  snprintf(arg->said_, sizeof arg->said_, "%s", type);
  arg->type_ = TYPE_NONE;
}

static inline op_arg dat_of_type(enum type_code code, bool soa, int present, op_dat dat, int idx, op_map map,
                                 int dim, op_access access) {
  return (op_arg){.dat_ = dat,
                  .map_ = map,
                  .form_ = DESC_DAT,
                  .idx_ = idx,
                  .dim_ = dim,
                  .type_ = (int)code,
                  .access_ = (int)access,
                  .present_ = present != 0,
                  .soa_ = soa};
}

static op_arg tell_unknown_type(op_arg arg, const char *type) {
  take_type(&arg, type);
  return arg;
}

/* In every call of every loop. Nothing takes the address of what is made here, so it is made where the caller
 * wants it; put together on the stack and copied it costs three times as much. */
op_arg op2jit_opt_arg_dat(int present, op_dat dat, int idx, op_map map, int dim, const char *type,
                          op_access access) {
  bool soa;
  const enum type_code code = type_parse(type, &soa);
  if (code == TYPE_NONE)
    return tell_unknown_type(dat_of_type(code, soa, present, dat, idx, map, dim, access), type);
  return dat_of_type(code, soa, present, dat, idx, map, dim, access);
}

op_arg op2jit_arg_dat(op_dat dat, int idx, op_map map, int dim, const char *type, op_access access) {
  return op2jit_opt_arg_dat(1, dat, idx, map, dim, type, access);
}

op_arg op2jit_opt_arg_gbl_typed(int present, void *data, int dim, const char *type, op_access access,
                                const char *is) {
  op_arg arg = {.form_ = DESC_GBL,
                .data_ = data,
                .idx_ = -1,
                .dim_ = dim,
                .access_ = (int)access,
                .present_ = present != 0};
  take_type(&arg, type);
  compare_type(&arg, type, is);
  return arg;
}

op_arg op2jit_arg_gbl_typed(void *data, int dim, const char *type, op_access access, const char *is) {
  return op2jit_opt_arg_gbl_typed(1, data, dim, type, access, is);
}

op_arg op2jit_arg_idx(int idx, op_map map) {
  return (op_arg){.form_ = DESC_IDX,
                  .map_ = map,
                  .idx_ = idx,
                  .dim_ = 1,
                  .type_ = TYPE_INT,
                  .access_ = OP_READ,
                  .present_ = 1};
}

op_arg op2jit_arg_info_typed(void *payload, int dim, const char *type, int ref, const char *is) {
  op_arg arg = {.form_ = DESC_INFO,
                .data_ = payload,
                .idx_ = -1,
                .dim_ = dim,
                .access_ = OP_MAX,
                .present_ = 1,
                .ref_ = ref};
  take_type(&arg, type);
  compare_type(&arg, type, is);
  return arg;
}

op_arg op2jit_arg_may_meet(op_arg arg) {
  arg.may_meet_ = 1;
  return arg;
}

int op2jit_par_loop_array(const char *kernel_source, const char *kernel_name, op_set set, int nargs,
                          const op_arg args[], const char *file, int line) {
  /* OP_KERNEL_OF was refused in this very call. */
  if (!kernel_source && api_was_busy())
    return api_refused();
  struct op_context *ctx = api_enter("op_par_loop", KEEP);
  if (!ctx)
    return api_refused();
  const struct loop_call call = loop_call_of(kernel_source, kernel_name, set, nargs, args, file, line);
  const int code = loop_run_call(ctx, &call, api_error());
  if (code && file && *file)
    error_prefix(api_error(), "%s:%d: ", file, line);
  return api_leave(code);
}

const char *op2jit_kernel_native(const char *text, op_kernel_function function) {
  struct op_context *ctx = api_enter("op_kernel_native", KEEP);
  if (!ctx)
    return NULL;
  int code;
  if (!text || !function)
    code = error_set(api_error(), OP_ERR_ARGUMENT,
                     "op_kernel_native: the %s is NULL; expected a kernel's text and its "
                     "function",
                     text ? "function" : "text");
  else
    code = native_add(ctx->natives, text, NULL, function, api_error());
  return api_leave_local(code) ? NULL : text;
}
