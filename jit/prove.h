/* Before a kernel is compiled: does it do what its access descriptors say? The plugin's prover says so from the
 * text. What was proved is remembered in the store; a violation is an error with the kernel's line and the
 * declaration that would be right. */
#ifndef OP2JIT_JIT_PROVE_H
#define OP2JIT_JIT_PROVE_H

#include "base/log.h"
#include "jit/emit/generate.h"
#include "jit/facts.h"
#include "jit/kernel/kernel.h"
#include "jit/plugin.h"
#include "jit/prover.h"

struct store;

struct proving {
  const struct plugin *plugin; /* open */
  struct store *store;
  const struct log *log;
  struct text *told;                  /* warnings that were told: they come once */
  enum reading reads;                 /* as what another compiler is to read the text */
  bool alone;                         /* nobody will compile it */
  const struct compile_request *then; /* what comes next, see jit/prover.h; or NULL */
};

/* OP_ERR_VIOLATION, whose fact is what was found; OP_ERR_KERNEL where another compiler would take the text for something
 * else; with `alone`, OP_ERR_COMPILE of a text that does not compile. An unknown verdict is a line at info, and the compiler's
 * serious warnings are one at warn. A prover that fails, or does not understand the text, is no error: the compiler will
 * say what is wrong with it. What is remembered is not asked again. *kept, which may be NULL, gets what was lowered for
 * `then`, and the caller releases it. */
int prove_kernel(const struct proving *p, const struct desc *d, const struct generated *files,
                 struct facts *facts, struct prove_result *kept, struct error *err);

/* "kernel flux (flux.h:12)": with the place if `file` is the kernel's, which it returns. */
bool prove_title(const struct desc *d, const char *file, int line, int column, const char *kernel_file,
                 struct text *out);
/* On lines of its own, the last without its end: the line of the text, with a caret. */
void prove_excerpt(const struct desc *d, int line, int column, struct text *out);

/* An argument as the prover, and the deriver, gets it. */
struct prove_argument prove_argument_of(const struct desc *d, const struct desc_arg *a);

/* The same in pieces: all findings of an open plugin's prover; and one of them in the user's words, with the kernel's line
 * and a caret if it has a place, and with its witness. */
struct proof {
  struct prove_result result;
  struct text *witnesses; /* by finding: what a run showed of a violation; or empty */
  bool untried;           /* what is unknown may be found another time: it is not remembered */
  bool without_targets;   /* it is of such elements */
};
/* Elements of one length by one ragged map: 0, or what no element has more of. */
struct prove_length {
  int map, targets;
};
/* Violations that no run showed are unknown. Of ragged maps elements of few and of many targets are looked at, and with
 * `only` those of one length, and of what is found there only what matters for it. `then`: what comes next, or NULL.
 * proof_free releases it. */
void prove_ask(const struct plugin *plugin, const struct desc *d, const struct generated *files,
               const struct prove_length *only, const struct compile_request *then, struct proof *proof);
/* The lengths of the mesh to look at, one after the other: begin with 0 and go on with what it returns; 0: no more. */
int prove_next_length(const struct desc *d, int i, struct prove_length *out);
/* The elements that a proof is about, to stand before a finding's reason: "of an element without targets, " or "". */
const char *prove_of(const struct proof *proof);
void proof_free(const struct plugin *plugin, struct proof *proof);
/* The warnings, appended; nothing if there are none. */
void prove_warnings(const struct desc *d, const struct prove_result *result, const struct generated *files,
                    struct text *out);
/* A text that does not compile, as the compiler would say it. */
int prove_refuse(const struct plugin *plugin, const struct desc *d, const struct generated *files,
                 const struct compile_message *messages, int count, struct error *err);
void prove_tell(const struct desc *d, const struct proof *proof, int finding, const char *kernel_file,
                struct text *out);

/* Do a kernel's parameters fit the loop's arguments? Before there is a tree, and where there is no compiler, its tokens say
 * it, in the words in which the prover's findings are told. */

/* Their number, const for what is only read, type and depth; nothing is said of types that tokens do not know.
 * OP_ERR_KERNEL with the parameter, its line with a caret, and what was expected. */
int kernel_check(const struct kernel *k, const struct desc *d, struct error *err);
/* Each variable of a module that a kernel in Fortran reads must be a constant of the description, of the same type and dim.
 * OP_ERR_CONST. */
int kernel_check_variables(const struct kernel *k, const struct desc *d, struct error *err);

#endif
