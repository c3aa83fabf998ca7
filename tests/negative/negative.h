/* Bad input, one case each: what the call says is compared with golden/NAME.txt, by one runner in two modes.
 * Return mode: the message is there to read, nothing has changed, and a right loop still gives the right answer.
 * Fatal mode, in a child: the message on stderr, nothing on stdout, status 1. */
#ifndef OP2JIT_TESTS_NEGATIVE_H
#define OP2JIT_TESTS_NEGATIVE_H

#include <stdbool.h>

#include "op2jit.h"

#define UNUSED __attribute__((unused))

enum { CELLS = 6, EDGES = 5, ARITY = 2 };

/* A small mesh: edges lead to cells. */
struct mesh {
  op_set cells, edges, nothing;
  op_map edge_cells;
  op_dat height; /* on cells, 1 double */
  op_dat flow;   /* on edges, 2 floats */
  op_dat level;  /* on cells, 1 int, a temporary */
};

/* A case leaves this for the runner when the error is not that of its last call. */
struct said {
  bool known;
  int code;
  char name[32], message[2000];
};
void said_keep(struct said *said, const op_error *error);

enum {
  IN_MESH = 1,     /* op_init was called and the mesh is there */
  RETURN_ONLY = 2, /* makes no sense in fatal mode: threads, calls inside kernels */
  NATIVE_ONLY = 4,
  COMPILED_ONLY = 8, /* only where a compiler sees the kernel */
  WARNING = 16,      /* no error: a warning on stderr, in fatal mode's child */
  FRESH = 32,        /* nothing was called before: only in fatal mode's child */
  CUT = 64,          /* the list at the end depends on the build and is left out of the golden file */
  GPU_ONLY = 128,    /* only on a GPU, which is the stand-in in tests */
  COMPILES = 256     /* the compiler has to be right after it */
};

struct negative_case {
  const char *name;
  int code;
  unsigned flags;
  void (*go)(struct mesh *m, struct said *said);
  struct negative_case *next;
};

void negative_add(struct negative_case *c);

/* Said by a file, before it includes this one, of all its cases. */
#ifndef CASES_COMPILE
#define CASES_COMPILE 0
#endif

/* One case: the code of its error, and when it runs. */
#define CASE(name, code, flags)                                                                              \
  static void name(struct mesh *m, struct said *said);                                                       \
  __attribute__((constructor)) static void register_##name(void) {                                           \
    static struct negative_case c = {#name, code, (flags) | CASES_COMPILE, name, NULL};                      \
    negative_add(&c);                                                                                        \
  }                                                                                                          \
  static void name(UNUSED struct mesh *m, UNUSED struct said *said)

/* A loop over cells that reads the height and adds to a sum, with this text; and a case that is such a loop. */
#define WITH_TEXT(text)                                                                                      \
  double sum = 5;                                                                                            \
  op_par_loop(text, "scale", m->cells, op_arg_dat(m->height, -1, OP_ID, 1, "double", OP_READ),               \
              op_arg_gbl(&sum, 1, "double", OP_INC))
#define TEXT_CASE(name, code, flags, text)                                                                   \
  CASE(name, code, flags) {                                                                                  \
    WITH_TEXT(text);                                                                                         \
  }

/* Kernels of the right loop and of most wrong ones: one cell's height to each edge's flow, and an increment. */
const char *kernel_scale(void);  /* scale(const double *h, double *sum) */
const char *kernel_spread(void); /* spread(const float *flow, double *h) */

/* op_init with one more OP2_NAME=VALUE beside the backend; NULL: none. */
int begin(const char *assignment);

#endif
