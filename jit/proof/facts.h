/* Facts about a kernel's text with its arguments. They are found once, by clang's tree, and remembered in the store, so that
 * a program without a compiler has them too. */
#ifndef OP2JIT_JIT_PROOF_FACTS_H
#define OP2JIT_JIT_PROOF_FACTS_H

#include "jit/front/describe.h"
#include "jit/front/says.h"
#include "jit/plugin.h"
#include "jit/prover.h"

struct store;

/* The language as which a text in C is compiled. C++ also lacks whatever OpenCL C lacks. */
enum reading { READ_AS_C, READ_AS_OPENCL, READ_AS_CXX };

struct facts {
  bool known;   /* else all that follows is nothing: the text breaks a promise, or nobody looked at it */
  bool untried; /* another day there may be a violation: who can asks again */
  enum reading c_only; /* the first in which the text is refused, or something else; READ_AS_C: none */
  struct prove_fact args[OP_MAX_ARGS];
  int says; /* enum says */
  struct row_facts rows;
};

/* Facts from clang's tree replace those from the words of the text. */
static inline void facts_tell(const struct facts *facts, struct desc *d) {
  if (facts->known)
    d->says = (desc_says(d) & ~SAYS_OF_TREE) | facts->says;
}

static inline bool facts_refuse(const struct facts *facts, enum reading reads) {
  return facts->c_only && facts->c_only <= reads;
}

/* Whether it is OP_WRITE, and it is not proved that each component is written. */
static inline bool facts_leave_rest(const struct facts *facts, const struct desc_arg *a, int arg) {
  return a->form == DESC_DAT && a->present && a->access == OP_WRITE &&
         (!facts->known || facts->args[arg].partial);
}

/* The plugin need not be open. False: nothing is remembered. */
bool facts_get(const struct plugin *plugin, struct store *store, const struct desc *d, struct facts *out);
void facts_put(const struct plugin *plugin, struct store *store, const struct desc *d,
               const struct facts *facts);

/* The violation that was found of such a text of a program of OP2: OP_ERR_VIOLATION, with its fact. */
int facts_get_violation(const struct plugin *plugin, struct store *store, const struct desc *d,
                        struct error *err);
void facts_put_violation(const struct plugin *plugin, struct store *store, const struct desc *d,
                         const struct error *err);

#endif
