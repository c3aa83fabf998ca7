#include "api/op2/text.h"

#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/list.h"
#include "context/context.h"
#include "mesh/data.h"
#include "op2/op2jit_compiled.h"

/* ---- the kernel against the arguments ---- */

static bool is_vector(const struct loop_arg *arg) {
  return arg->form == DESC_DAT && arg->map && arg->idx < 0;
}

static int check_parameter(const struct loop *loop, int i, struct error *err) {
  const struct loop_arg *arg = &loop->args[i];
  const op2jit_parameter *p = &loop->compiled->parameters[i];
  const int depth = is_vector(arg) ? 2 : 1;
  if (p->depth != 0 && p->depth != depth)
    return error_set(
        err, OP_ERR_KERNEL,
        "loop %s, argument %d: the kernel's parameter is %s, and the loop passes %s; declare it %s",
        loop->name, i + 1, p->depth == 1 ? "a pointer" : "a pointer to pointers",
        depth == 1 ? "one target" : "all targets of a map",
        depth == 1 ? "T *x, or pass the index -arity" : "T **x, or pass the index of one target");
  if (!type_fits(arg->type, p->type))
    return error_set(
        err, OP_ERR_KERNEL,
        "loop %s, argument %d: the kernel's parameter points to %s, and the loop passes the type "
        "\"%s\"; make them the same",
        loop->name, i + 1, p->type, type_info(arg->type)->name);
  if (is_vector(arg) && arg->map->arity > OP2JIT_WIDEST)
    return error_set(
        err, OP_ERR_KERNEL,
        "loop %s, argument %d: map \"%s\" has the arity %d, and vectors have at most %d targets here",
        loop->name, i + 1, arg->map->name, arg->map->arity, OP2JIT_WIDEST);
  return OP_OK;
}

bool compiled_is_of_this(const struct op2jit_compiled *compiled) {
  return compiled->size == (int)(sizeof *compiled + sizeof(op2jit_origin));
}

int compiled_check(const struct loop *loop, struct error *err) {
  const op2jit_compiled *c = loop->compiled;
  if (!compiled_is_of_this(c) || c->nargs != loop->nargs)
    return error_set(err, OP_ERR_KERNEL,
                     "loop %s: the program was compiled with the op_seq.h of another op2jit; compile it anew",
                     loop->name);
  if (space_is_device(loop->space) && loop->ranged)
    return error_set(err, OP_ERR_BACKEND,
                     "loop %s: OP2_BACKEND=%s needs the kernel's text, and there is none: %s; use "
                     "OP2_BACKEND=openmp",
                     loop->name, loop->backend->name, loop->no_source ? loop->no_source : "");
  for (int i = 0; i < loop->nargs; i++)
    if (check_parameter(loop, i, err))
      return err->code;
  return OP_OK;
}

/* ---- places ---- */

static int kind_of(const struct loop_arg *arg) {
  if (!arg->present)
    return OP2JIT_ABSENT;
  switch (arg->form) {
  case DESC_DAT: return !arg->map ? OP2JIT_DIRECT : arg->idx < 0 ? OP2JIT_VECTOR : OP2JIT_MAPPED;
  case DESC_GBL: return arg->access == OP_WORK ? OP2JIT_WORK : OP2JIT_GLOBAL;
  case DESC_IDX: return OP2JIT_NUMBER;
  case DESC_INFO: return OP2JIT_PAYLOAD;
  }
  return OP2JIT_ABSENT;
}

static op2jit_placed place_of(const struct loop *loop, int i, long *scratch) {
  const struct desc *d = &loop->desc;
  const struct loop_arg *arg = &loop->args[i];
  const struct desc_arg *described = &d->args[i];
  const long aligned = 64;
  op2jit_placed place = {.kind = kind_of(arg),
                         .base = described->dat >= 0 ? desc_slot_dat(d, described->dat) : desc_slot_arg(d, i),
                         .map = described->map >= 0 ? desc_slot_map(d, described->map) : -1,
                         .start = desc_slot_start(d, i),
                         .numbers = desc_slot_numbers(d, 0),
                         .column = arg->map && arg->idx > 0 ? arg->idx : 0,
                         .arity = arg->map ? arg->map->arity : 1,
                         .dim = arg->dim,
                         .access = arg->access,
                         .payload = arg->info,
                         .scratch = *scratch,
                         .bytes = (long)arg->bytes,
                         .type = (int)arg->type,
                         .nargs = loop->nargs,
                         .base_number = loop->compiled->base,
                         .kernel = loop->compiled->kernel};
  *scratch += ((long)arg->bytes + aligned - 1) / aligned * aligned;
  return place;
}

/* Arguments are of the kinds that the fast form is for. */
static bool is_fast(const struct loop *loop) {
  for (int i = 0; i < loop->nargs; i++) {
    const op2jit_placed *place = &loop->places[i];
    if (place->kind != loop->compiled->kinds[i] || (place->kind == OP2JIT_NUMBER && place->dim > 1))
      return false;
  }
  return true;
}

/* That of all maps of which one target is passed; 0: they differ, or there are none. */
static int common_arity(const struct loop *loop) {
  int arity = 0;
  for (int i = 0; i < loop->nargs; i++) {
    const op2jit_placed *place = &loop->places[i];
    if (place->kind != OP2JIT_MAPPED)
      continue;
    if (arity > 0 && arity != place->arity)
      return 0;
    arity = place->arity;
  }
  return arity;
}

int compiled_place(struct loop *loop, struct error *err) {
  free(loop->places);
  loop->places = array_new((size_t)loop->nargs + 1, sizeof *loop->places);
  if (!loop->places)
    return error_memory(err, "a loop's places", ((size_t)loop->nargs + 1) * sizeof *loop->places);
  long scratch = 0;
  for (int i = 0; i < loop->nargs; i++)
    loop->places[i] = place_of(loop, i, &scratch);
  op2jit_placed *whole = &loop->places[loop->nargs];
  whole->scratch = scratch;
  whole->arity = common_arity(loop);
  const op2jit_compiled *c = loop->compiled;
  const op2jit_range *range = !is_fast(loop) ? c->any : whole->arity > 0 ? c->even : c->fast;
  loop->range[WORK_RANGE] = range[0];
  loop->range[WORK_LIST] = range[1];
  return OP_OK;
}
