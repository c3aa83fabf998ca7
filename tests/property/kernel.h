/* A random kernel: parameters, statements, and expression trees in one pool. It can be printed as C, which is
 * what the library gets, and evaluated here, which is the reference. A kernel is a plain value: copying
 * it is an assignment. */
#ifndef OP2JIT_TESTS_KERNEL_H
#define OP2JIT_TESTS_KERNEL_H

#include "op2jit.h"
#include "value.h"

/* Each type and dim up to MAX_BOXED has a struct, "struct box_3_2": the member v has the values. */
enum { MAX_BOXED = 4 };
void box_name(enum vtype type, int dim, char *out, size_t size);

enum { MAX_NODES = 1200, MAX_PARAMS = 15, MAX_STATEMENTS = 80, MAX_LOCALS = 6, MAX_WIDTH = 8, MAX_DIM = 8 };

enum op {
  N_NUMBER,
  N_LEAF,     /* a component of a parameter */
  N_LOCAL,    /* a local variable */
  N_CONSTANT, /* from op_decl_const */
  N_FORMAL,   /* inside a helper: its own parameter */
  N_CALL,     /* the helper of this class */
  N_ADD,
  N_SUB,
  N_MUL,
  N_MIN,
  N_MAX,
  N_ABS,
  N_NEG,
  N_SELECT,
  N_FLOOR,
  N_CLAMP, /* to -whole .. whole */
  N_LESS,  /* of the kids' class; gives 0 or 1 */
  N_BOTH,
  N_EITHER,
  N_XOR,
  N_SHIFT_LEFT,
  N_SHIFT_RIGHT,
  N_DIV, /* by the constant `whole` */
  N_MOD,
  N_TABLE,    /* a static const table */
  N_FLOATING, /* whole to floating */
  N_WHOLE,    /* floating to whole */
  N_ROOT,     /* from here on inexact: sqrt(|x| + 1) */
  N_SINE,
  N_QUOTIENT, /* a / (|b| + 1) */
  N_DECAY     /* exp(-|x|) */
};

enum { BY_LOOP = -2, NO_ENTRY = -1, BY_PARTS = -3 };

struct node {
  enum op op;
  bool floating;
  int kid[3];      /* nodes, -1: none */
  double bound;    /* |value| is at most this */
  int bits;        /* floating: the value is a multiple of 2^-bits */
  int which;       /* parameter, local, constant or formal */
  int entry, part; /* LEAF: entry of a vector and component; BY_LOOP: the loop's variable */
  double number;   /* floating NUMBER */
  long long whole; /* NUMBER, CLAMP, shifts, DIV, MOD */
};

/* How elements that meet change one row, so that their order is of no matter. */
enum meets {
  MEETS_NOT,
  MEETS_PARTS, /* each sets a component of its own, which another argument says */
  MEETS_EQUAL, /* all set the same: what follows from the target and from what the whole loop has */
  MEETS_ADDS,
  MEETS_LEAST,
  MEETS_MOST,
  MEETS_OR,
  MEETS_AND,
  MEETS_XOR,
  MEETS
};

/* RAGGED, ENTRY: through a ragged map, to its targets and to its entries. */
enum form {
  FORM_DIRECT,
  FORM_COLUMN,
  FORM_VECTOR,
  FORM_RAGGED,
  FORM_ENTRY,
  FORM_GLOBAL,
  FORM_IDX,
  FORM_INFO
};

struct param {
  enum form form;
  enum form reach; /* IDX: direct, column or vector */
  enum vtype type;
  int dim, access;
  int column, width; /* COLUMN: which; VECTOR: how many */
  int ragged;        /* RAGGED, ENTRY: number of the map, which gives the kernel `n0` or `n1` targets */
  bool optional;     /* passed with op_opt_arg_*, present or not as parameter `flag` says */
  int flag;          /* number of an int READ global that says so to the kernel; -1 */
  bool absent;       /* optional and never there: the kernel does not touch it */
  int ref;           /* INFO: number of its MIN or MAX, from 0 */
  int spelling;
  bool readable;    /* while a kernel is invented: may be a leaf now */
  bool inexact;     /* what is written is compared nearly */
  enum meets meets; /* WRITE and RW through a map */
  int beside; /* PARTS: number of the argument with the components; EQUAL: of one that has the same targets */
  int twin;   /* number of the argument of the same dat through another column of its map; -1 */
  int with;   /* number of the argument whose targets this one has, or whose components it says; -1 */
  bool says_parts;
  bool boxed; /* a struct that has its values as a member, not an array of them */
};

enum { MAX_RAGGED = 2 }; /* maps of a kernel */

enum what { S_LOCAL, S_SET, S_ADD, S_EXTREME, S_RETURN };

struct statement {
  enum what what;
  int target;      /* parameter, or number of the local */
  int entry, part; /* as in a leaf; BY_PARTS: as another argument says */
  int over;        /* ADD: done for each target of this ragged parameter, -1: once */
  int value;       /* node */
  int condition;   /* node, -1: always */
  int other;       /* SET: value if the condition does not hold, -1: nothing */
  int style;
  int info, payload[MAX_DIM]; /* EXTREME: parameter that goes with it, -1: none, and its nodes */
};

struct kernel {
  bool direct; /* it changes its own element's rows only */
  bool sums;   /* some of what it adds it adds for each target of a ragged map */
  char name[16];
  bool single;      /* only for sets of one element */
  bool meeting;     /* elements meet wherever they can */
  bool lone;        /* it changes one row through a map, where elements meet, and no other */
  bool single_work; /* floating numbers are float, not double */
  struct node nodes[MAX_NODES];
  int nnodes;
  struct param params[MAX_PARAMS];
  int nparams;
  struct statement statements[MAX_STATEMENTS];
  int nstatements;
  bool local_floating[MAX_LOCALS];
  int local_node[MAX_LOCALS];
  int nlocals;
  int helper[2]; /* root of the whole and the floating helper, -1: none */
  int table[4];
};

/* Number `number` of the kernels that `seed` gives. Dats through ragged maps have at most so many components. */
enum { RAGGED_DIM = 3 };
void kernel_invent(struct kernel *k, uint64_t seed, int number, bool direct, bool sums);
/* The first round of kernels has all shapes of arguments; behind it elements meet wherever they can, and every second
 * kernel is a lone one. */
enum { FIRST_ROUND = 168, LONE_EVERY = 2, SINGLE_EVERY = 8 };

/* The prelude, which is a part of the program of native kernels as well: kernel_shared() has structs, too. Every second
 * kernel uses it. */
#define SHARED_TEXT                                                                                          \
  "enum { SHARED_MASK = 1023 };\n"                                                                           \
  "#define SHARED_CHOICE(c, a, b) ((c) ? (a) : (b))\n"                                                       \
  "static inline long long lower_shared(long long a, long long b) { return SHARED_CHOICE(a < b, a, b); }\n"  \
  "static inline long long higher_shared(long long a, long long b) { return SHARED_CHOICE(a > b, a, b); }\n"
const char *kernel_shared(void);
static inline bool kernel_shares(const struct kernel *k) {
  return k->table[1] & 1;
}

struct text;
void kernel_print(const struct kernel *k, struct text *out);

/* Where the parameters of one element are: `at[p][entry]`, entry 0 if it is no vector. */
struct frame {
  const struct kernel *kernel;
  unsigned char *at[MAX_PARAMS][MAX_WIDTH];
  struct {
    unsigned char *rows; /* of the dat */
    const int *targets;  /* numbers of rows; NULL: they follow each other */
    int count;
  } ragged[MAX_PARAMS];
  struct value locals[MAX_LOCALS];
  struct value formal[2];
  int i, j;
  bool odd; /* values are rounded */
};
/* Run the kernel once. Ends the program if a tree breaks its own bounds: then the test is wrong. */
void kernel_run(struct frame *f);

static inline bool is_ragged(const struct param *p) {
  return p->form == FORM_RAGGED || p->form == FORM_ENTRY;
}

static inline bool is_dat(const struct param *p) {
  return p->form <= FORM_ENTRY;
}

/* The value that it keeps of several. */
static inline bool keeps_least(const struct param *p) {
  return p->access == OP_MIN || p->meets == MEETS_LEAST;
}

static inline bool is_vector(const struct param *p) {
  return p->form == FORM_VECTOR;
}

#endif
