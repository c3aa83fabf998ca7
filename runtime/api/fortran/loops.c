/* Loops whose kernels are procedures of a program in Fortran. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "api/fortran/fortran.h"
#include "backend/native/ranges.h"
#include "base/list.h"
#include "base/log.h"
#include "jit/front/kernel.h"
#include "loop/loop.h"
#include "loop/op2/text.h"
#include "mesh/mesh.h"
#include "op2/op2jit_compiled.h"
#include "run/team.h"

/* What a procedure is as a kernel. Its address says which loop it is. */
struct procedure {
  op2jit_compiled compiled;
  op2jit_parameter parameters[OP_MAX_ARGS]; /* nothing is known of them */
  struct text name;
};

static const unsigned char no_kinds[OP_MAX_ARGS];
static const op2jit_origin no_origin = {.file = ""};

static struct procedure *find(const struct op_context *ctx, op_kernel_function kernel, int nargs) {
  for (int i = 0; i < ctx->procedures->count; i++) {
    struct procedure *p = ctx->procedures->items[i];
    if (p->compiled.kernel == kernel && p->compiled.nargs == nargs)
      return p;
  }
  return NULL;
}

static void warn_of_internal(const struct op_context *ctx) {
  if (ctx->team && team_threads(ctx->team) > 1)
    log_line(ctx->log, LOG_WARN, "loop",
             "a kernel is an internal procedure that uses variables of the procedure around it: its loops "
             "run on one "
             "thread; make it a procedure of a module");
}

static struct procedure *make(struct op_context *ctx, op_kernel_function kernel, int nargs) {
  struct procedure *p = calloc(1, sizeof *p);
  const void *address;
  memcpy(&address, &kernel, sizeof address);
  if (!p)
    return NULL;
  const bool alone = !text_is_static(address);
  if (!fortran_symbol(address, &p->name))
    text_addf(&p->name, alone ? "internal_procedure" : "procedure_%d", ctx->procedures->count + 1);
  for (int i = 0; i < OP_MAX_ARGS; i++)
    p->parameters[i].type = "";
  p->compiled = (op2jit_compiled){.size = (int)(sizeof p->compiled + sizeof(op2jit_origin)),
                                  .nargs = nargs,
                                  .kernel = kernel,
                                  .even = {native_range, native_range},
                                  .fast = {native_range, native_range},
                                  .any = {native_range, native_range},
                                  .kinds = no_kinds,
                                  .parameters = p->parameters,
                                  .base = 1,
                                  .alone = alone};
  if (text_ok(&p->name) && list_add(ctx->procedures, p)) {
    if (alone)
      warn_of_internal(ctx);
    return p;
  }
  text_free(&p->name);
  free(p);
  return NULL;
}

static int run(struct op_context *ctx, op_kernel_function kernel, op_set set, int nargs, const op_arg args[],
               struct error *err) {
  if (!kernel)
    return error_set(err, OP_ERR_ARGUMENT, "op_par_loop: there is no kernel; expected a procedure");
  struct procedure *p = find(ctx, kernel, nargs);
  if (!p && !(p = make(ctx, kernel, nargs)))
    return error_memory(err, "a procedure as a kernel", sizeof *p);
  const struct loop_call call = {.text = "",
                                 .name = text_str(&p->name),
                                 .set = set,
                                 .nargs = nargs,
                                 .args = args,
                                 .file = "",
                                 .compiled = &p->compiled,
                                 .origin = &no_origin};
  return loop_run_call(ctx, &call, err);
}

int op2jit_f_par_loop(op_kernel_function kernel, op_set set, int nargs, const op_arg args[]) {
  struct op_context *ctx = api_enter("op_par_loop", KEEP);
  if (!ctx)
    return api_refused();
  return api_leave(run(ctx, kernel, set, nargs, args, api_error()));
}

void procedures_free(struct op_context *ctx) {
  for (int i = 0; i < ctx->procedures->count; i++) {
    struct procedure *p = ctx->procedures->items[i];
    text_free(&p->name);
    free(p);
  }
  list_free(ctx->procedures);
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
  if (!text_is_static(address))
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
