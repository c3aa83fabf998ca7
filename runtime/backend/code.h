/* Functions that backends that compile share: the permission to compile, and the code of a loop, counted. */
#ifndef OP2JIT_BACKEND_CODE_H
#define OP2JIT_BACKEND_CODE_H

#include <stdbool.h>

#include "base/error.h"
#include "base/text.h"
#include "jit/emit/choose.h"
#include "jit/jit.h"
#include "plan/strategy.h"

struct op_context;
struct loop;

/* For backends that compile, which OP2_JIT=off forbids: OP_ERR_BACKEND. */
int backend_may_compile(const struct op_context *ctx, struct error *err);
/* jit_code, and where the code came from in what is told of the loop (NULL: of none, and its name is not put in
 * front of errors). */
int backend_code(struct op_context *ctx, struct loop *loop, struct jit *jit, const struct desc *desc,
                 const void *shape, struct jit_code *out, struct error *err);
/* Facts of the loop's text replace those that its words suggest. Not with ranks: one of them alone may know the
 * facts, and all must describe the loop alike. */
void loop_tell_facts(const struct op_context *ctx, struct loop *loop);

/* A way to run a loop on the host: how its elements are dealt out, what the generated code looks like, and the
 * block size. Its text is what reports show, OP2_VARIANT takes and the cache keeps: "colours/scalar/4096",
 * "chunks/strip8/threads1", "chunks/strip8/sorted". What the library chooses is left out, so that a name means the same on any mesh. */

struct variant {
  const struct strategy *strategy;
  struct shape shape;
  bool sorted;    /* elements by the number of their targets, where a ragged map gives them different ones */
  int block_size; /* elements; 0: does not apply, or chosen by the library */
  int threads;    /* to use at most; 0: all that the loop may use */
};

void variant_print(const struct variant *variant, struct text *out);

/* Words of `spec` ("colours", "scalar", "4096", in any order, separated by '/') replace the members that they
 * name. OP_ERR_ENV with the words there are. */
int variant_apply(struct variant *variant, const char *spec, struct error *err);

/* Loops over few elements that take long all the same: chemistry in each cell, a dense row for each element. The
 * number of elements says nothing of that, so that time tells: after some long calls such a loop is cut finer than
 * others, for all threads. Pure functions, with no clock of their own. */

/* Long calls of such loops are counted: at HEAVY_ENOUGH a loop is heavy. HEAVY_NEVER: it cannot be cut finer. */
enum { HEAVY_ENOUGH = 8, HEAVY_NEVER = -1 };

/* So few elements that the usual pieces do not occupy these threads, and that tuning leaves the loop alone. */
bool heavy_is_few(long elements, int threads);

/* A call took so long. A short one takes a long one back, so that what disturbs the machine now and then makes no
 * loop heavy; very long ones count for several, for a program may make few of them. */
void heavy_note(int *long_calls, double seconds);

/* Elements of a piece: whole strips of so many lanes (0: none), and the same for any usual number of threads, so
 * that sums have the same bits; where there are too few strips for the threads, each has its share. */
int heavy_piece(long elements, int threads, int strip);

#endif
