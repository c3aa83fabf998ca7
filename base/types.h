/* The types of data: one table, asked by everything. */
#ifndef OP2JIT_BASE_TYPES_H
#define OP2JIT_BASE_TYPES_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"
#include "op2jit.h"
#include "text.h"

enum type_code {
  TYPE_NONE, /* no type: an op_arg with an unknown type name */
  TYPE_DOUBLE,
  TYPE_FLOAT,
  TYPE_INT,
  TYPE_UINT,
  TYPE_LONGLONG,
  TYPE_ULONGLONG,
  TYPE_BOOL,
  TYPE_CHAR,
  TYPE_SHORT,
  TYPE_COUNT
  /* Larger codes are structs of the program, see type_declare. */
};

/* A member of a struct of the program. */
struct type_member {
  char *name;
  enum type_code type; /* of its values; TYPE_NONE: bytes, for the library has no such type */
  size_t offset, size;
};

struct type_info {
  const char *name;  /* as the API and C spell it: "unsigned int" */
  const char *alias; /* OP2's short name, or NULL */
  size_t size;       /* bytes */
  bool is_float, is_signed;
  const struct type_member *members; /* of a struct; NULL: a number */
  int nmembers;
};
/* Those of C. */
extern const struct type_info types_of_c[TYPE_COUNT];

static inline bool type_is_struct(enum type_code code) {
  return (unsigned)code > TYPE_COUNT;
}
/* A struct of the program. */
const struct type_info *struct_info(enum type_code code);
static inline const struct type_info *type_info(enum type_code code) {
  return type_is_struct(code) ? struct_info(code)
                              : &types_of_c[(unsigned)code < TYPE_COUNT ? code : TYPE_NONE];
}

/* A struct of the program becomes a type, until types_forget. The same once more changes nothing. OP_ERR_ARGUMENT,
 * OP_ERR_TYPE (the name is a type already, of another layout), OP_ERR_SIZE, OP_ERR_MEMORY. */
int type_declare(const char *name, size_t size, int nmembers, const struct op2jit_member members[],
                 struct error *err);
void types_forget(void);
/* The table of all structs, one for the process, for one context at a time. A plugin with its own copy of this
 * code uses the library's table. */
enum { TYPES_OF_PROGRAM = 64 };
struct type_table {
  struct type_info infos[TYPES_OF_PROGRAM];
  int count;
};
struct type_table *types_of_program(void);
void types_look_into(struct type_table *table);
/* Name, size and members in one line, for keys of code. */
void type_print_layout(enum type_code code, struct text *out);

/* Parse "double", "uint", "unsigned  int", "double:soa" (spaces do not matter). *soa may be NULL: then a
 * ":soa" suffix makes the name unknown. TYPE_NONE if it is not a type. */
enum type_code type_parse(const char *name, bool *soa);

/* True: `is`, the name of the type that a C pointer points to, may be data of this type. "" always may. Whole
 * numbers of one size may stand for one another, with a sign or without. */
bool type_fits(enum type_code declared, const char *is);
/* The name in messages to the program: C's, or Fortran's. */
const char *type_said(enum type_code code, bool fortran);
/* The message for a type that does not fit: "the type is "double", and VERB C variables of type float. Declare
 * ...". `verb` "the value is a", `remedy` "Declare it as", `memory` "const void *", or NULL for a program in
 * Fortran. */
void type_tell_misfit(enum type_code declared, const char *is, const char *verb, const char *remedy,
                      const char *memory, struct text *out);

/* OP_ERR_TYPE with these words unless it fits. TYPE_NONE passes; it is reported elsewhere. */
int type_check_pointed(enum type_code declared, const char *is, const char *verb, const char *memory,
                       struct error *err);

/* All names, for messages: "double, float, ...". */
const char *type_names(void);
const char *type_names_in_fortran(void);
/* Says what is wrong with a name that type_parse did not know, or NULL, and what was expected. */
void type_tell_unknown(const char *said, struct text *out);

/* ---- what each access means: one row for each, by op_access ---- */
enum { ACCESSES = OP_WORK + 1 };

struct access_row {
  const char *name, *word; /* "OP_INC"; in descriptions, "inc" */
  bool reads;              /* the kernel gets the value that was there */
  bool changes;            /* the kernel leaves another value, which counts */
  bool assigns;            /* ... in the place of the one that was there: elements must not meet */
  bool reduces;            /* ... which is combined with what other elements leave, in any order */
  bool is_extremum;        /* ... by keeping the smaller or the larger */
  bool of_dats;            /* globals have all of them */
};
extern const struct access_row access_rows[ACCESSES];

static inline const char *access_name(int access) {
  return access_rows[access].name;
}
static inline bool access_reads(int access) {
  return access_rows[access].reads;
}
static inline bool access_changes(int access) {
  return access_rows[access].changes;
}
static inline bool access_assigns(int access) {
  return access_rows[access].assigns;
}
static inline bool access_reduces(int access) {
  return access_rows[access].reduces;
}
static inline bool access_is_extremum(int access) {
  return access_rows[access].is_extremum;
}

/* target = target (access) value for one value: access OP_INC, OP_MIN or OP_MAX. A NaN on either side
 * of MIN or MAX gives NaN. */
void type_combine(enum type_code code, int access, void *target, const void *value);
/* Combines an extremum of a dat: `value` is the kernel's result from `start`, which `target` held before any
 * element. A number replaces a NaN that was there from the start, but not one that an element left. */
void type_improve(enum type_code code, int access, void *target, const void *start, const void *value);
/* The start of a sum, which changes nothing: -0.0 for floating point, for 0 + -0.0 is 0; zero for whole
 * numbers. */
void type_start_sum(enum type_code code, void *target, size_t count);
/* Combines `count` values, `distance` bytes apart, with the user's start in `target`. If that start is a NaN,
 * MIN and MAX take numbers rather than NaN, for the kernel has made a number of it. */
void type_combine_many(enum type_code code, int access, void *target, const unsigned char *values,
                       size_t distance, size_t count);
/* The bits of a whole number in eight bytes, with the sign carried up. */
unsigned long long type_bits(enum type_code code, const void *value);
/* The value as a double, rounded if need be. */
double type_number(enum type_code code, const void *value);
/* True: two values have the same bytes, not counting those between a struct's members. */
bool type_same(enum type_code code, const void *a, const void *b);
/* The same, where floating-point members may differ by a part of the larger: `wide` of doubles, `narrow` of floats. */
bool type_near(enum type_code code, const void *a, const void *b, double wide, double narrow);
/* A value as text; of a struct its members, with blanks between them. */
void type_add(enum type_code code, const void *value, struct text *out);
/* A value as text: %.17g for floating point, %d and the like for the others. Returns the length. */
int type_print(enum type_code code, const void *value, char *out, size_t size);
/* The same with the fewest digits that give the value back: 0.8. */
void type_add_shortest(enum type_code code, const void *value, struct text *out);

#endif
