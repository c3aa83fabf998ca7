/* A capture: calls of loops with all that they use, so that they run again anywhere: texts, constants, the part of the mesh
 * that they touch, and data before and after. It knows nothing of a context: take.h makes one of calls of a program, a file
 * holds one, and `op2jit replay` runs it.
 *
 * Elements have numbers of their own, from 0 without gaps; those that the rank owned come first. */
#ifndef OP2JIT_CAPTURE_H
#define OP2JIT_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/types.h"
#include "jit/front/describe.h"

/* What is said of the run that it is of: "machine", "x86-64-v4 ...". */
struct capture_fact {
  char *name, *words;
};
struct capture_set {
  char *name;
  long long size,
      owned;            /* what is kept of rows behind `owned` is not compared: other ranks had the results */
  long long entries_of; /* the ragged map whose entries are its elements, -1: any other set */
};
struct capture_map {
  char *name;
  long long from, to; /* sets */
  long long arity;    /* 0: ragged */
  int *table;
  long long *first; /* ragged: where rows begin, size + 1 numbers; else NULL */
};
struct capture_dat {
  char *name;
  long long set, dim;
  enum type_code type;
  bool soa, view;
  unsigned char *before, *after; /* rows; after NULL: nobody knows, or no call changes it */
};
/* A constant, or a global that the library keeps. */
struct capture_value {
  char *name;
  long long dim;
  enum type_code type;
  unsigned char *before, *after; /* as above */
};
/* What is -1 (or NULL) is none. */
struct capture_arg {
  long long form, access, present; /* enum desc_form, op_access */
  long long dat, map, idx,
      gbl;            /* idx OP_ALL: all targets; NUMBER: dat has the numbers, of the loop's own elements */
  long long dim, ref; /* ref: argument number from 0 */
  bool may_meet;
  enum type_code type;
  unsigned char *before, *after; /* of a variable of the program: dim values */
};
struct capture_call {
  char *name, *text, *file, *variant;
  long long line;
  double seconds; /* that it took */
  long long set;
  long long count; /* of its elements */
  int *elements;   /* NULL: all of the set */
  int nargs;
  struct capture_arg args[OP_MAX_ARGS];
};

struct capture {
  int nfacts, nsets, nmaps, ndats, nconstants, nglobals, ncalls;
  struct capture_fact *facts;
  struct capture_set *sets;
  struct capture_map *maps;
  struct capture_dat *dats;
  struct capture_value *constants, *globals;
  struct capture_call *calls;
};

void capture_free(struct capture *c);
/* "" if nothing is said. */
const char *capture_fact(const struct capture *c, const char *name);
int capture_add_fact(struct capture *c, const char *name, const char *words, struct error *err);
/* Bytes of a row, and of all values; they were checked. */
size_t capture_row(const struct capture_dat *dat);
size_t capture_bytes(const struct capture *c, const struct capture_dat *dat);
/* Where the targets of an element stand in the table, and where they end. */
long long capture_begin(const struct capture_map *map, long long element);
long long capture_end(const struct capture_map *map, long long element);
/* The columns that a call's argument goes through, of those at begin .. end: one, or all. */
static inline bool capture_arg_is_column(const struct capture_map *map, const struct capture_arg *arg) {
  return map->arity > 0 && arg->idx >= 0;
}

/* ---- files (file.c) ---- */

/* Of any bytes: OP_ERR_FILE says what is wrong. Structs become types (type_declare), for types_forget to end. */
int capture_read(struct capture *out, const void *bytes, size_t length, struct error *err);
/* All of it once more. */
int capture_copy(const struct capture *c, struct capture *out, struct error *err);
int capture_load(struct capture *out, const char *path, struct error *err);
int capture_print(const struct capture *c, struct text *out, struct error *err);
int capture_save(const struct capture *c, const char *path, struct error *err);

/* ---- less of it (select.c) ---- */

/* Only the elements that `run` has are left (a byte for each element of each set; NULL: all that run), with what calls over them
 * touch. What is kept of rows that other elements add to is kept as it is, right or not. After an error it may be freed only. */
int capture_select(struct capture *c, const unsigned char *const *run, struct error *err);
/* The same, and what numbers a dat and a row of it that stay have then. */
int capture_select_telling(struct capture *c, const unsigned char *const *run, int *dat, long long *row,
                           struct error *err);
/* Things that have -1 there go, and the others move up; nothing else is changed (file.c). */
void capture_keep(struct capture *c, const int *sets, const int *maps, const int *dats);
void capture_drop_call(struct capture *c, int number);
void capture_drop_arg(struct capture_call *call, int number);
/* Is something wrong with it? What files are checked for. OP_ERR_FILE. */
int capture_check(const struct capture *c, struct error *err);

#endif
