/* Derivatives of kernels for the runtime: by the plugin's deriver, and remembered in the store, so that who has no compiler
 * finds them too. Of several ranks the leader alone looks and derives. */
#ifndef OP2JIT_JIT_DERIVATIVES_H
#define OP2JIT_JIT_DERIVATIVES_H

#include "jit/deriver.h"
#include "jit/kernel/kernel.h"
#include "jit/plugin.h"

struct store;

/* Where a derivative comes from. */
struct derive_source {
  struct plugin *plugin;         /* found and opened where it is needed */
  const char *plugins;           /* the folder where it is looked for first; may be NULL */
  struct store *store;           /* NULL: nothing is remembered */
  const struct jit_share *share; /* with others, all of which ask together; NULL: alone */
  bool load;                     /* OP2_JIT=load: from the store, or not at all */
};

struct derived {
  char *name;      /* of the function */
  char *text;      /* a kernel text, to be given to a loop as any other */
  int nparameters; /* 0: the derived loop has no effect, and need not run */
  struct derive_parameter
      *parameters; /* in their order, without the numbers of targets; constants by their number in
                                        * the description */
};

struct derive_wish {
  enum derive_mode mode;
  const bool *active;           /* by argument of the description */
  const bool *active_constants; /* by constant of the description; NULL: none is */
};

/* With others a rank that cannot ask has the error set before the call: it takes part, and fails. Errors: OP_ERR_KERNEL of a
 * kernel that has no derivative, with line, caret and remedy; OP_ERR_COMPILE of a text that does not compile; OP_ERR_NOT_BUILT
 * without a plugin; OP_ERR_CACHE_MISS; OP_ERR_MEMORY. A refusal is remembered too. */
int derive_kernel(const struct derive_source *source, const struct desc *d, const struct derive_wish *wish,
                  struct derived *out, struct error *err);
void derived_free(struct derived *derived);

#endif
