/* A capture: calls of loops with all that they use, so that they run again anywhere: texts, constants, the part of the mesh
 * that they touch, and data before and after. It knows nothing of a context: take.c makes one of calls of a program, a file
 * holds one, and `op2jit replay` runs it.
 *
 * Elements have numbers of their own, from 0 without gaps; those that the rank owned come first. */
#ifndef OP2JIT_CAPTURE_H
#define OP2JIT_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/types.h"
#include "jit/kernel/kernel.h"

/* A fact about the captured run: "machine", "x86-64-v4 ...". */
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
enum capture_kind { CAPTURE_DAT, CAPTURE_CONSTANT, CAPTURE_GLOBAL, CAPTURE_VARIABLE };
/* Values: rows of a dat, or one row of anything else. A global is kept by the library, a variable is the program's. */
struct capture_data {
  char *name;
  long long kind, set, dim; /* set -1: no dat */
  enum type_code type;
  bool soa, view;
  unsigned char *before, *after; /* rows; after NULL: nobody knows, or no call changes it */
};
/* Numbers are -1 where there is none. */
struct capture_arg {
  long long form, access, present; /* enum desc_form, op_access */
  long long data, map,
      idx;            /* idx OP_ALL: all targets; NUMBER: data has the numbers, of the loop's own elements */
  long long dim, ref; /* ref: argument number from 0 */
  bool may_meet;
  enum type_code type;
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
  int nfacts, nsets, nmaps, ndata, ncalls;
  struct capture_fact *facts;
  struct capture_set *sets;
  struct capture_map *maps;
  struct capture_data *data;
  struct capture_call *calls;
};

void capture_free(struct capture *c);
/* "" if nothing is said. */
const char *capture_fact(const struct capture *c, const char *name);
int capture_add_fact(struct capture *c, const char *name, const char *words, struct error *err);
/* Bytes of a row, rows, and bytes of all values; they were checked. */
size_t capture_row(const struct capture_data *data);
size_t capture_rows(const struct capture *c, const struct capture_data *data);
size_t capture_bytes(const struct capture *c, const struct capture_data *data);
/* Number i of the elements that a call runs over. */
static inline long long capture_element(const struct capture_call *call, long long i) {
  return call->elements ? call->elements[i] : i;
}
/* Where the targets of an element stand in the table, and where they end. */
long long capture_begin(const struct capture_map *map, long long element);
long long capture_end(const struct capture_map *map, long long element);
/* The rows of its data that an element reaches by an argument are capture_place() of begin .. end. */
struct capture_reach {
  long long begin, end;
  const int *table; /* NULL: places are rows */
};
struct capture_reach capture_reach(const struct capture *c, const struct capture_arg *arg, long long element);
static inline long long capture_place(const struct capture_reach *reach, long long place) {
  return reach->table ? reach->table[place] : place;
}
/* True if the argument changes its data. */
bool capture_arg_changes(const struct capture_arg *arg);
/* By set a byte for each element; NULL: no memory. capture_flags_free takes NULL too. */
unsigned char **capture_flags(const struct capture *c);
void capture_flags_free(unsigned char **flags, int nsets);

/* ---- files (file.c) ---- */

/* Reads any bytes: OP_ERR_FILE says what is wrong. Structs become types (type_declare), for types_forget to end. */
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
/* Things that have -1 there go, and the others move up; nothing else is changed (file.c). */
void capture_keep(struct capture *c, const int *sets, const int *maps, const int *data);
void capture_drop_call(struct capture *c, int number);
/* Checks what readers rely on. OP_ERR_FILE. */
int capture_check(const struct capture *c, struct error *err);

/* ---- taking one (take.c) ---- OP2_CAPTURE=LOOP:CALL:FILE, LOOP:CALL+:FILE or LOOP:CALL+N:FILE: call number CALL of loops of that
 * name, counted from 1 since op_init, goes into a file; with all that follow until LOOP is called again, or N calls of whatever
 * loops. On several ranks each writes FILE.RANK. */

struct op_context;

/* Begin to count, if it is asked for. OP_ERR_ENV, OP_ERR_FILE; OP_ERR_MEMORY. */
int capture_open(struct op_context *ctx, struct error *err);
/* Writes a capture that still goes on. A warning if its call never came. */
void capture_close(struct op_context *ctx);
/* Release what it has; also after an error of op_init. */
void capture_release(struct op_context *ctx);

#endif
