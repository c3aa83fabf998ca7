#include <stdlib.h>
#include <string.h>

#include "api/fortran/fortran.h"
#include "api/fortran/text.h"
#include "backend/native_call.h"
#include "base/list.h"
#include "base/log.h"
#include "base/whereami.h"
#include "context/context.h"
#include "exec/team.h"
#include "mesh/handles.h"

static const unsigned char no_kinds[OP_MAX_ARGS];

static const void *address_of(op_kernel_function kernel) {
  const void *address;
  memcpy(&address, &kernel, sizeof address);
  return address;
}

/* Compilers pass an internal procedure that uses variables around it by instructions on the stack that load its address and
 * that of the variables, and go there. Where they are there may be others later. */
static const void *word_in(const struct procedure *p, int at) {
  const void *word;
  memcpy(&word, (const char *)address_of(p->compiled.kernel) + at, sizeof word);
  return word;
}

static bool is_still(const struct procedure *p) {
  return !p->compiled.alone || !p->code || word_in(p, p->code_at) == p->code;
}

static bool find_code(struct procedure *p) {
  enum { LONGEST = 32 };
  p->code = p->compiled.alone ? NULL : address_of(p->compiled.kernel);
  for (int at = 0; !p->code && at <= LONGEST - (int)sizeof p->code; at++) {
    const void *word = word_in(p, at);
    p->code = whereami_static(word) && fortran_symbol(word, &p->name) ? word : NULL;
    p->code_at = at;
  }
  return p->name.length || (p->code && fortran_symbol(p->code, &p->name));
}

static struct procedure *find(const struct op_context *ctx, op_kernel_function kernel, int nargs) {
  for (int i = 0; i < ctx->procedures->count; i++) {
    struct procedure *p = ctx->procedures->items[i];
    if (p->compiled.kernel == kernel && p->compiled.nargs == nargs && is_still(p))
      return p;
  }
  return NULL;
}

void procedure_warn(const struct op_context *ctx, struct procedure *p) {
  if (p->compiled.alone && !p->warned && ctx->team && team_threads(ctx->team) > 1)
    log_line(ctx->log, LOG_WARN, "loop",
             "kernel %s is an internal procedure that uses variables of the procedure around it: its loops "
             "run on one "
             "thread; make it a procedure of a module",
             text_str(&p->name));
  p->warned = true;
}

static struct procedure *make(struct op_context *ctx, op_kernel_function kernel, int nargs) {
  struct procedure *p = calloc(1, sizeof *p);
  if (!p)
    return NULL;
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
                                  .alone = !whereami_static(address_of(kernel))};
  if (!find_code(p))
    text_addf(&p->name, p->compiled.alone ? "internal_procedure" : "procedure_%d",
              ctx->procedures->count + 1);
  if (text_ok(&p->name) && list_add(ctx->procedures, p))
    return p;
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

/* ---- declarations ---- */

bool known_add(struct op_context *ctx, struct known known) {
  struct known *k = calloc(1, sizeof *k);
  if (!k || !list_add(ctx->arrays, k)) {
    free(k);
    return false;
  }
  *k = known;
  return true;
}

bool known_lives(const struct op_context *ctx, const struct known *k) {
  return handle_object(ctx->handles, k->handle, k->is_map ? HANDLE_MAP : HANDLE_DAT) != NULL;
}

void known_free(struct op_context *ctx) {
  for (int i = 0; i < ctx->arrays->count; i++) {
    struct known *k = ctx->arrays->items[i];
    free(k->copy);
    free(k);
  }
  list_free(ctx->arrays);
}
