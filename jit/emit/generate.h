/* From a description to source text. The text is a function of description, shape and this library alone: the same
 * in any process. Three virtual files: the main one includes the other two. */
#ifndef OP2JIT_JIT_EMIT_GENERATE_H
#define OP2JIT_JIT_EMIT_GENERATE_H

#include "jit/emit/choose.h"
#include "jit/kernel/kernel.h"

/* Raised whenever the same description gives another text. */
#define GENERATOR_VERSION "21"

/* The extern function of generated CPU code, of type range_function. */
#define GENERATED_FUNCTION "op2jit_range"

struct generated {
  char *main_file, *kernel_file, *prelude_file; /* names */
  struct text main, kernel;
  const char *prelude;
  int width; /* lanes in truth: 0 if the shape did not fit */
};

/* True: this loop can have this shape. If not, generate_c writes one element at a time. */
bool shape_fits(const struct desc *d, const struct shape *s);
/* True: it has strips that read targets by a map, so that straight ranges mean something. */
bool shape_can_be_straight(const struct desc *d, const struct shape *s);
/* True: the kernel says OP_ANY_ORDER. */
bool shape_has_rows(const struct desc *d);
/* True: it has strips with results that can go past the caches. */
bool shape_can_stream(const struct desc *d, const struct shape *s);
/* True: it has strips, and rows that are added to through maps, and not touched otherwise. */
bool shape_can_be_piped(const struct desc *d, const struct shape *s);
/* The shapes worth trying on a machine whose vectors have so many bytes (16, 32, 64), the most promising first; at
 * least one. None has a list. */
struct shape_wish {
  bool straight; /* most elements lie in straight ranges */
  bool stream;   /* the data are far larger than the caches */
  bool even;     /* most elements have as many targets, by a ragged map, as those around them */
  bool rows;     /* most targets are those of elements with many */
  bool piped;    /* shape_candidates decides for itself */
};
enum { SHAPE_CANDIDATES = 8 };
/* The shape of strips of elements that are sorted by the number of their targets; scalar: such strips are of no use. */
struct shape shape_for_sorted(const struct desc *d, int vector_bytes, struct shape_wish wish);
int shape_candidates(const struct desc *d, int vector_bytes, struct shape_wish wish,
                     struct shape out[SHAPE_CANDIDATES]);

/* C for CPUs. Errors: OP_ERR_MEMORY, OP_ERR_KERNEL (no such function in the text). */
int generate_c(const struct desc *d, const struct shape *s, struct generated *out, struct error *err);
/* Names the files: NAME.ending, NAME.c (or ".cc"), and that of the prelude. */
void generated_name(struct generated *g, const char *name, const char *ending, const char *kernel_ending,
                    const char *prelude_file);
/* OP_ERR_MEMORY, and nothing left of it, where anything of it is missing. `code` is what happened so far. */
int generated_end(struct generated *g, int code, struct error *err);
void generated_free(struct generated *g);

#endif
