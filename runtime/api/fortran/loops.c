/* Loops whose kernels are procedures of a program in Fortran. */
#include <string.h>

#include "api/api.h"
#include "api/fortran/fortran.h"
#include "api/fortran/text.h"
#include "api/op2/text.h"
#include "base/whereami.h"
#include "jit/kernel/kernel.h"
#include "op2/op2jit_compiled.h"

static const op2jit_origin no_origin = {.file = ""};

static int run(struct op_context *ctx, op_kernel_function kernel, op_set set, int nargs, const op_arg args[],
               struct error *err) {
  if (!kernel)
    return error_set(err, OP_ERR_ARGUMENT, "op_par_loop: there is no kernel; expected a procedure");
  const struct procedure *p = procedure_of(ctx, kernel, nargs);
  if (!p)
    return error_memory(err, "a procedure as a kernel", sizeof *p);
  const struct loop_call call = {.text = "",
                                 .name = text_str(&p->name),
                                 .set = set,
                                 .nargs = nargs,
                                 .args = args,
                                 .file = "",
                                 .compiled = &p->compiled,
                                 .functions = &fortran_functions,
                                 .origin = &no_origin};
  return text_run(ctx, &call, err);
}

int op2jit_f_par_loop(op_kernel_function kernel, op_set set, int nargs, const op_arg args[]) {
  struct op_context *ctx = api_enter("op_par_loop", KEEP);
  if (!ctx)
    return api_refused();
  return api_leave(run(ctx, kernel, set, nargs, args, api_error()));
}

/* The text has such a kernel, and the procedure is there as long as the program. Of its arguments nothing is known. */
static int check_native(struct op_context *ctx, const char *text, const char *name,
                        op_kernel_function function, struct error *err) {
  static const char call[] = "op_kernel_native";
  struct kernel k = {0};
  const void *address;
  memcpy(&address, &function, sizeof address);
  if (!text)
    return error_set(err, OP_ERR_ARGUMENT,
                     "%s: the kernel is %s; expected what op_kernel_file or op_kernel_text returned", call,
                     handle_diagnosis(ctx->handles, NULL, HANDLE_KERNEL));
  if (!function)
    return error_set(err, OP_ERR_ARGUMENT, "%s: there is no procedure; expected one that is associated",
                     call);
  if (!whereami_static(address))
    return error_set(
        err, OP_ERR_ARGUMENT,
        "%s: the procedure for kernel \"%s\" is an internal procedure that uses variables of the "
        "procedure around it, and is gone when that one returns; make it a procedure of a module",
        call, name);
  const int code = kernel_parse_unit(&k, ctx->shared, text, name, err);
  if (code)
    return error_prefix(err, "%s: ", call);
  kernel_free(&k);
  return OP_OK;
}

int op2jit_f_native(const char *text, const char *name, op_kernel_function function) {
  struct op_context *ctx = api_enter("op_kernel_native", KEEP);
  if (!ctx)
    return api_refused();
  int code = check_native(ctx, text, name, function, api_error());
  if (!code)
    code = native_add(ctx->natives, text, name, function, api_error());
  return api_leave_local(code);
}
