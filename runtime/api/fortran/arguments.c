/* Arguments of loops as Fortran has them, and its names of types. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "api/api.h"
#include "api/fortran/fortran.h"
#include "base/types.h"
#include "record/kept.h"
#include "record/record.h"

static const struct {
  const char *fortran, *c;
} types[] = {{"real(8)", "double"},
             {"real(4)", "float"},
             {"integer(4)", "int"},
             {"integer(8)", "long long"},
             {"logical", "int"},
             {"logical(4)", "int"},
             {"logical(1)", "bool"},
             {"real*8", "double"},
             {"real*4", "float"},
             {"integer*4", "int"},
             {"integer*8", "long long"},
             {"r8", "double"},
             {"r4", "float"},
             {"i4", "int"},
             {"i8", "long long"},
             {"real(kind=8)", "double"},
             {"real(kind=4)", "float"},
             {"integer(kind=4)", "int"},
             {"integer(kind=8)", "long long"},
             {"doubleprecision", "double"},
             {"real", "float"},
             {"integer", "int"},
             {"real(c_double)", "double"},
             {"real(c_float)", "float"},
             {"integer(c_int)", "int"},
             {"logical(c_bool)", "bool"},
             {"real(real64)", "double"},
             {"real(real32)", "float"},
             {"integer(int32)", "int"},
             {"integer(int64)", "long long"}};

const char *fortran_type(const char *said, char room[64]) {
  enum { ROOM = 64 };
  size_t n = 0;
  for (const char *c = said; *c && *c != ':' && n < ROOM - 1; c++)
    if (*c != ' ')
      room[n++] = *c;
  room[n] = '\0';
  const char *rest = strchr(said, ':');
  for (size_t t = 0; t < sizeof types / sizeof *types; t++)
    if (strcasecmp(room, types[t].fortran) == 0) {
      if (!rest)
        return types[t].c;
      snprintf(room, ROOM, "%s%.8s", types[t].c, rest);
      return room;
    }
  return said;
}

int fortran_check(const char *call, const char *name, const char *type, const char *is) {
  char room[64];
  const enum type_code code = type_parse(type, &(bool){false});
  if (code == TYPE_NONE)
    return error_set(api_error(), OP_ERR_TYPE, "%s: \"%s\": the type \"%s\" is unknown; expected one of %s",
                     call, name, type, type_names_in_fortran());
  if (!*is || type_fits(code, fortran_type(is, room)))
    return OP_OK;
  return error_set(api_error(), OP_ERR_TYPE,
                   "%s: \"%s\" is declared \"%s\", and the variable is of type %s; make the two the same",
                   call, name, type_said(code, true), is);
}

void *op2jit_f_address(void *variable) {
  return variable;
}

void *op2jit_f_identity(void) {
  return OP_ID;
}

/* Columns count from 1; all targets of a map are -arity, and a direct argument has -1. What is 0 is no column: the
 * loop is to find that, so it becomes one that no map has. */
static int column(int idx, op_map map) {
  if (map == OP_ID || idx < 0)
    return idx;
  return idx > 0 ? idx - 1 : NO_COLUMN;
}

void op2jit_f_arg_dat(op_arg *out, int present, op_dat dat, int idx, op_map map, int dim, const char *type,
                      int access) {
  char room[64];
  *out = op2jit_opt_arg_dat(present, dat, column(idx, map), map, dim, fortran_type(type, room),
                            (op_access)access);
}

/* An array that is shorter than the argument, or that a loop cannot leave its result in, is for the loop to tell: it is
 * of no type then. */
static void check_array(op_arg *arg, long long count) {
  if (count != ARRAY_SECTION && (count < 0 || arg->dim_ <= count))
    return;
  arg->type_ = TYPE_NONE;
  arg->pointed_ = count == ARRAY_SECTION ? POINTED_SECTION : POINTED_SHORT;
  arg->said_length_ = (int)(count < 0 ? 0 : count);
}

/* A value that is only read may be an expression, or a section's copy: it is taken now. */
void op2jit_f_arg_gbl(op_arg *out, int present, void *data, int dim, const char *type, int access,
                      const char *is, long long count) {
  char room[64], other[64];
  *out = op2jit_opt_arg_gbl_typed(present, data, dim, fortran_type(type, room), (op_access)access,
                                  fortran_type(is, other));
  check_array(out, count);
  if (access == OP_READ && out->present_ && out->type_ != TYPE_NONE)
    kept_take(api_context(), out);
}

void op2jit_f_arg_global(op_arg *out, op_gbl gbl, int access) {
  *out = op2jit_arg_global(gbl, (op_access)access);
}

void op2jit_f_arg_may_meet(op_arg *arg) {
  *arg = op2jit_arg_may_meet(*arg);
}

void op2jit_f_arg_idx(op_arg *out, int idx, op_map map) {
  *out = op2jit_arg_idx(column(idx, map), map);
}

void op2jit_f_arg_info(op_arg *out, void *payload, int dim, const char *type, int ref, const char *is,
                       long long count) {
  char room[64], other[64];
  *out = op2jit_arg_info_typed(payload, dim, fortran_type(type, room), ref, fortran_type(is, other));
  check_array(out, count);
}
