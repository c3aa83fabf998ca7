#include "api/fortran/procedures.h"

#include <stdlib.h>
#include <string.h>

#include "api/fortran/fortran.h"
#include "api/fortran/text.h"
#include "api/op2/text.h"
#include "backend/native/ranges.h"
#include "base/list.h"
#include "base/log.h"
#include "base/whereami.h"
#include "context/context.h"
#include "run/team.h"

static const unsigned char no_kinds[OP_MAX_ARGS];

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
  const bool alone = !whereami_static(address);
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

const struct procedure *procedure_of(struct op_context *ctx, op_kernel_function kernel, int nargs) {
  const struct procedure *p = find(ctx, kernel, nargs);
  return p ? p : make(ctx, kernel, nargs);
}

void procedures_free(struct op_context *ctx) {
  for (int i = 0; i < ctx->procedures->count; i++) {
    struct procedure *p = ctx->procedures->items[i];
    procedure_text_free(p->text);
    text_free(&p->name);
    free(p);
  }
  list_free(ctx->procedures);
}
