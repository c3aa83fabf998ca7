/* A kernel text as read without a compiler: the kernel's function, its parameters as far as tokens tell, and
 * the names in it. Every backend can check with it. */
#ifndef OP2JIT_JIT_KERNEL_KERNEL_H
#define OP2JIT_JIT_KERNEL_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/text.h"
#include "base/types.h"
#include "jit/kernel/lexer.h"
#include "jit/kernel/origins.h"
#include "jit/kernel/unit.h"

/* A loop as a value: everything that its generated code depends on, and nothing of a mesh. Built once per
 * loop by the runtime, hashed by the signature, printed and read back as text, and turned into code by
 * the generators. */

enum desc_form { DESC_DAT, DESC_GBL, DESC_IDX, DESC_INFO };

struct desc_arg {
  enum desc_form form;
  enum type_code type; /* IDX: TYPE_INT */
  int dim;             /* IDX: 1, or the arity for a vector */
  int access;          /* op_access; IDX: OP_READ; INFO: the access of its reference */
  int map;             /* number in maps[], -1: direct */
  int idx;             /* -1: direct; 0 .. arity-1: one column; -arity with a map: the vector */
  int dat;             /* DAT: number in dats[], else -1. Arguments with one dat share a number. */
  int ref;             /* INFO: argument number, from 0, of its MIN or MAX; else -1 */
  int info;            /* GBL: argument number of the INFO that refers to it, else -1 */
  bool present;
  bool entry; /* DAT through a ragged map: its rows are the element's own entries, not the targets */
  bool
      scattered; /* entry: they follow those of other elements, which are not of the loop's subset; see the frame */
  bool counted; /* the first of its ragged map: before it the kernel gets the number of targets, an int */
  bool fresh;   /* DAT, INC, of rows that only one element adds to: its sum is stored, not added */
  bool
      summed; /* fresh, of doubles: strips also add it up, as a struct exact_along for each component wants it, at the slot that
                  a global has (base/exact.h) */
  bool dropped; /* DAT, of a fused loop: not stored, for nothing reads what the loop leaves */
  bool kept;    /* GBL: the values stay in the device's memory, where the next loop finds them */
  bool
      matrix; /* DAT: the kernel gets numbers of its own, zeros at first; they are stored (WRITE) or added (INC): to
                 as many rows as the map has entries, where there is one */
  bool stays; /* where kernels get copies of ragged maps' rows: the kernel is passed the rows themselves */
};

/* Sets are numbered by first occurrence; 0 is the loop's own. */
struct desc_map {
  int arity; /* 0 if ragged */
  int to;    /* target set's number */
  bool ragged;
  int equal; /* ragged: all elements have so many targets, few enough to be written out; 0: any number */
  int most;  /* ragged, where kernels get copies: no element has more; 0: they get none */
  /* Ragged, for the prover; code does not depend on it. `none` is part of the text and so of the key, for a
   * loop whose code is found is not proved again. `longest` is not, or each mesh would have code of its own. */
  bool none;   /* some elements have no target */
  int longest; /* as many has one of the elements; 0: not known, or beyond DESC_LONGEST_MOST */
};
/* Rows up to here are. */
enum { DESC_EQUAL_MOST = 16, DESC_LONGEST_MOST = 64 };
/* Rows in a proof of a ragged map: the prover looks at an element with at most so many targets. */
enum { DESC_FEW = 4 };

/* Columns that generated code can have: of a ragged map where all elements have as many targets. */
static inline int desc_arity(const struct desc_map *m) {
  return m->ragged ? m->equal : m->arity;
}

struct desc_dat {
  enum type_code type;
  int dim;
  int set;   /* number of the set it lives on */
  bool soa;  /* component c of element e at [c * stride + e], stride in the frame; else [e * dim + c] */
  bool wide; /* 2^31 components or more: indices need 64 bits */
};

struct desc_const {
  char *name;
  enum type_code type;
  int dim;
  bool folded;          /* the value is in the code; else its address is in the frame */
  unsigned char *value; /* dim values; part of the description only if folded */
};

/* One kernel of a fused loop: its own function, which gets some of the loop's arguments. */
struct desc_member {
  char *name;     /* the kernel's own */
  char *function; /* its name in the text */
  int nargs;
  unsigned char args[OP_MAX_ARGS];     /* the loop's arguments, in the order of its parameters */
  unsigned char accesses[OP_MAX_ARGS]; /* op_access of each for this kernel */
};
enum { DESC_MOST_MEMBERS = 8 };

struct row_facts;

struct desc {
  char *kernel_name;
  char *text;             /* the kernel text without a leading #line */
  struct origins origins; /* where the text comes from, for messages; not part of the key */
  char *entry;            /* of a text in C++ the kernel's full name, "inner::flux"; NULL: C */
  bool
      compiled; /* the kernel is a function of the program: there is no text, and the frame begins with places */
  bool unproved; /* it breaks a promise and runs all the same; no other loop may use its code */
  bool
      believed; /* OP_WRITE is, until the kernel is proved: then OP_ERR_VIOLATION with FOUND_NOT_TO_BELIEVE, and no code is
                    made; not part of the key */
  char *fp; /* "strict", "contract" or "fast"; "reproducible", which is contract, or "reproducible strict" */
  char *names; /* the program's names of its things (see desc_name); may be NULL; not part of the key */
  int nargs, nmaps, ndats, nconsts, nsets;
  struct desc_arg args[OP_MAX_ARGS];
  struct desc_map maps[OP_MAX_ARGS];
  struct desc_dat dats[OP_MAX_ARGS];
  bool renumbered[OP_MAX_ARGS + 1]; /* by set: op_arg_idx goes through a table in the frame */
  struct desc_const *consts;        /* those that occur in the text, by name */
  int says;                         /* enum says (jit/kernel/says.h); not part of the key */
  /* of ragged maps, for GPUs (jit/kernel/rows.h); NULL: not known. Not part of the key, which has the facts
   * that are used. */
  struct row_facts *rows;
  struct desc_member *members; /* of a fused loop, in the order of their calls; else NULL */
  int nmembers;
};

void desc_free(struct desc *d);
/* A deep copy; OP_ERR_MEMORY. */
int desc_copy(struct desc *to, const struct desc *from, struct error *err);
/* The same of a constant; false without memory: what is there is to be freed. */
bool desc_copy_const(struct desc_const *to, const struct desc_const *from);

/* True: the results have the same bits in each shape. What an element adds begins with nothing, and operations
 * are not changed. */
static inline bool desc_reproduces(const struct desc *d) {
  return d->fp && d->fp[0] == 'r';
}

/* The same loop as its kernel sees it: each argument is data of one element that is read and written in place,
 * a global or, for a vector, a dat behind its own map. A vector that is read stays one, for C tells `const T
 * **` from `T **`. */
int desc_alone(struct desc *out, const struct desc *from, struct error *err);

/* The structs of the program that arguments are of, by first occurrence; at most OP_MAX_ARGS. */
int desc_structs(const struct desc *d, enum type_code out[OP_MAX_ARGS]);

/* True: the kernel gets as many pointers as the map has entries. An element's matrix is one row, wherever its
 * numbers go. */
static inline bool desc_is_vector(const struct desc_arg *a) {
  return a->form == DESC_DAT && a->map >= 0 && a->idx < 0 && !a->matrix;
}
/* The numbers of that row, or of one of the vector's. */
static inline int desc_row(const struct desc *d, const struct desc_arg *a) {
  return a->matrix && a->map >= 0 ? a->dim * d->maps[a->map].arity : a->dim;
}

/* True: the kernel gets a handle for as many rows as the element has targets. Its idx is that of a vector of
 * none. */
static inline bool desc_is_ragged(const struct desc *d, const struct desc_arg *a) {
  return a->map >= 0 && d->maps[a->map].ragged;
}
static inline bool desc_any_ragged(const struct desc *d) {
  for (int m = 0; m < d->nmaps; m++)
    if (d->maps[m].ragged)
      return true;
  return false;
}
/* True: an argument through the map is scattered. */
static inline bool desc_scatters(const struct desc *d, int map) {
  for (int i = 0; i < d->nargs; i++)
    if (d->args[i].map == map && d->args[i].scattered && d->args[i].present)
      return true;
  return false;
}
/* The kernel's parameter, from 0, that argument `arg` goes to, and how many there are (`arg` is nargs). */
static inline int desc_parameter(const struct desc *d, int arg) {
  int parameter = arg;
  for (int i = 0; i <= arg && i < d->nargs; i++)
    parameter += d->args[i].counted;
  return parameter;
}

/* True: the argument is local to a fused loop, as a row that several of its kernels work on, or that is not
 * stored. */
static inline bool desc_is_shared(const struct desc *d, int arg) {
  const struct desc_arg *a = &d->args[arg];
  int users = 0;
  for (int m = 0; m < d->nmembers; m++) {
    bool uses = false;
    for (int i = 0; i < d->members[m].nargs; i++)
      uses |= d->members[m].args[i] == arg;
    users += uses;
  }
  return a->form == DESC_DAT && a->present && a->access != OP_READ && (users > 1 || a->dropped);
}

/* True: arguments need this column of a map. A ragged map has columns where all elements have as many targets. */
static inline bool desc_uses_column(const struct desc *d, int map, int column) {
  for (int i = 0; i < d->nargs; i++) {
    const struct desc_arg *a = &d->args[i];
    const bool through =
        a->present && a->map == map && !a->entry && (a->form == DESC_DAT || a->form == DESC_IDX);
    if (through && (a->idx < 0 || a->idx == column))
      return true;
  }
  return false;
}

/* Canonical text: equal descriptions have equal texts in any process, and different ones different texts. One
 * "key value" per line, texts length-prefixed. Arguments, sets, maps and dats count from 1; 0 is none. */
void desc_print(const struct desc *d, struct text *out);

/* Append to `names` that a "set", "map", "dat" or "arg", numbered from 0, has this name: a line "set 1 cells",
 * counted from 1 as in the text. A line break within the name becomes a blank. */
void desc_name(struct text *names, const char *kind, int number, const char *name);
/* Appends the name of that thing; false if it has none. */
bool desc_find_name(const struct desc *d, const char *kind, int number, struct text *out);

/* The parts of it, a line per thing: arguments; sets and maps; dats; constants. */
void desc_print_args(const struct desc *d, struct text *out);
void desc_print_members(const struct desc *d, struct text *out);
void desc_print_mesh(const struct desc *d, struct text *out);
void desc_print_dats(const struct desc *d, struct text *out);
void desc_print_consts(const struct desc *d, struct text *out);

/* ---- the frame ---------------------------------------------------------------------------------
 * Generated code gets one array of pointers. Slots, in this order:
 *   places    only if `compiled`: where arguments are in the frame (include/op2/op2jit_compiled.h)
 *   dats      address of component 0 of element 0
 *   maps      address of the table, rows of `arity` ints, in the library's numbering
 *   args      one per argument, NULL but for GBL and INFO:
 *               GBL READ, WRITE, RW   the values
 *               GBL INC, MIN, MAX     `dim` values of the reduction slot of this item
 *               GBL WORK              NULL: generated code has its own scratch
 *               INFO                  struct { long long element; T payload[dim]; } of this item's
 *                                     slot, element -1 as long as no element has won; the element's
 *                                     number is the user's
 *   strides   one per dat: (intptr_t) the stride of an SoA dat, in elements
 *   numbers   one per set: the table from the library's numbers to the user's, NULL if the same
 *   consts    one per constant, NULL for folded ones
 *   starts    one per argument, NULL but for a GBL MIN or MAX that has an INFO: the user's value before
 *             the loop. The slot of such a GBL holds the same value before the first element.
 *   straight  the straight ranges of the elements that run, as runtime/plan/strategy.h lays them out; NULL where the
 *             shape has none
 *   firsts    only if a map is ragged: one per map, NULL but for ragged ones: where the rows of elements begin in its table, as 64-bit numbers
 *   entries   only if a map is ragged: one per map, NULL but where an argument is scattered: the entries behind the
 *             places of its table
 */
static inline int desc_slot_dat(const struct desc *d, int dat) {
  return d->compiled + dat;
}
static inline int desc_slot_map(const struct desc *d, int map) {
  return desc_slot_dat(d, d->ndats) + map;
}
static inline int desc_slot_arg(const struct desc *d, int arg) {
  return desc_slot_map(d, d->nmaps) + arg;
}
static inline int desc_slot_stride(const struct desc *d, int dat) {
  return desc_slot_arg(d, d->nargs) + dat;
}
static inline int desc_slot_numbers(const struct desc *d, int set) {
  return desc_slot_stride(d, d->ndats) + set;
}
static inline int desc_slot_const(const struct desc *d, int constant) {
  return desc_slot_numbers(d, d->nsets) + constant;
}
static inline int desc_slot_start(const struct desc *d, int arg) {
  return desc_slot_const(d, d->nconsts) + arg;
}
static inline int desc_slot_straight(const struct desc *d) {
  return desc_slot_start(d, d->nargs);
}
static inline int desc_slot_first(const struct desc *d, int map) {
  return desc_slot_straight(d) + 1 + map;
}
static inline int desc_slot_entries(const struct desc *d, int map) {
  return desc_slot_first(d, d->nmaps) + map;
}
/* How many. */
static inline int desc_slots(const struct desc *d) {
  return desc_any_ragged(d) ? desc_slot_entries(d, d->nmaps) : desc_slot_first(d, 0);
}

/* The type of all generated CPU code: elements begin .. end-1, or list[begin] .. list[end-1] if the shape says
 * so. Frame and list are only read. */
typedef void (*range_function)(void *const *frame, const int *list, long begin, long end);

struct kernel_parameter {
  char *name;          /* "" if it has none */
  char *spelling;      /* as written, blanks normalised: "const double *x[2]" */
  bool understood;     /* a plain declarator; else nothing below but line and column is known */
  enum type_code type; /* of the values behind all pointers; TYPE_NONE: a type that only the compiler knows */
  bool longer;         /* spelled `long`, where `long long` is as wide but another type to C */
  bool short_name;     /* spelled uint, ll or ull, which op_decl_dat knows and C does not */
  bool is_struct;      /* these values are structs or unions */
  bool is_const;       /* these values are const */
  int depth;           /* pointers and array brackets: `T *x` 1, `T *x[2]` 2 */
  int line, column;
};

struct kernel_function {
  char *name;
  size_t token; /* of its name */
  size_t open;  /* of the parenthesis behind it */
  int line, column;
  bool is_void;
};

struct kernel {
  char *name;
  char *text; /* without #line and byte order mark; needless parts are blanked, see blank.c */
  size_t length;
  struct origins origins; /* of a text alone one, from its leading #line */
  struct tokens tokens;
  struct kernel_function *functions; /* every function defined in the text, in order */
  int nfunctions;
  int function; /* which one is the kernel */
  bool certain; /* false: preprocessor conditions leave open which definition holds; checks say nothing */
  struct kernel_parameter *parameters;
  int nparameters;
  struct fortran_made
      fortran; /* of a kernel in Fortran: its arguments and the variables of modules that it reads */
};

/* Read `text` (any bytes) and find the function `name`. OP_ERR_KERNEL: there is none (the message names those
 * there are), it is not void, or an #include is not accepted. */
int kernel_parse(struct kernel *k, const char *text, size_t length, const char *name, struct error *err);
/* The same behind the text that kernels share, with the files that it includes. */
int kernel_parse_unit(struct kernel *k, struct shared *shared, const char *text, const char *name,
                      struct error *err);
/* OP_ERR_KERNEL: something is opened in the shared text that is not closed there. */
int shared_check(const struct shared *shared, struct error *err);
void kernel_free(struct kernel *k);

/* True: the identifier occurs outside of comments and strings. */
bool kernel_uses(const struct kernel *k, const char *identifier);

#endif
