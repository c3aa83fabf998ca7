/* Before a kernel is compiled: does it do what its access descriptors say? The plugin's prover says so from the
 * text. What was proved is remembered in the store; a violation is an error with the kernel's line and the
 * declaration that would be right. */
#ifndef OP2JIT_JIT_PROOF_PROVE_H
#define OP2JIT_JIT_PROOF_PROVE_H

#include "base/log.h"
#include "jit/front/describe.h"
#include "jit/generate/generate.h"
#include "jit/plugin.h"
#include "jit/prover.h"

struct store;

struct prove_facts {
  bool known;
  struct prove_fact items[OP_MAX_ARGS]; /* of each argument */
  struct row_facts rows;
};

/* The plugin is open. OP_ERR_VIOLATION, whose fact is what was found; OP_ERR_KERNEL where another compiler is to read the
 * text `as_cxx` and would take it for something else; an unknown verdict is a line at info, and the compiler's serious
 * warnings are one at warn, unless `told` has them already, which gets them. A prover that fails, or does not understand
 * the text, is no error: the compiler will say what is wrong with it. But with `alone` none will, and a text that does
 * not compile is OP_ERR_COMPILE. What is remembered is not asked again, unless `facts`, which may be NULL, are wanted. */
int prove_kernel(const struct plugin *plugin, struct store *store, const struct log *log, struct text *told,
                 const struct desc *d, const struct generated *files, bool as_cxx, bool alone,
                 struct prove_facts *facts, struct error *err);

/* Has it no violation, as the store remembers? The plugin need not be open. */
bool prove_is_known(const struct plugin *plugin, struct store *store, const struct desc *d, bool as_cxx);

/* The violation that prove_kernel found of such a text of a program of OP2, if the store remembers it: OP_ERR_VIOLATION.
 * The plugin need not be open. */
int prove_recall(const struct plugin *plugin, struct store *store, const struct desc *d, struct error *err);

/* The same in pieces. The prover of an open plugin, NULL if it has none; all its findings; and one of them in the
 * user's words, with the kernel's line and a caret if it has a place, and with its witness. */
const struct prover *prove_find(const struct plugin *plugin);
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
 * `only` those of one length, and of what is found there only what matters for it. proof_free releases it. */
void prove_ask(const struct plugin *plugin, const struct desc *d, const struct generated *files,
               const struct prove_length *only, struct proof *proof);
/* The lengths of the mesh to look at, one after the other: begin with 0 and go on with what it returns; 0: no more. */
int prove_next_length(const struct desc *d, int i, struct prove_length *out);
/* Of which elements it is, to stand before a finding's reason: "of an element without targets, " or "". */
const char *prove_of(const struct proof *proof);
/* The worst verdict of each argument, by its number. False: the prover does not understand the text. */
bool prove_verdicts(const struct plugin *plugin, const struct desc *d, const struct generated *files,
                    enum prove_verdict verdicts[]);
/* The facts of a text without a violation, as the store remembers them. *untried: another day there may be a violation, so
 * ask again where that can be done. */
bool prove_facts(const struct plugin *plugin, struct store *store, const struct desc *d, bool *untried,
                 struct prove_facts *facts);
void proof_free(const struct plugin *plugin, struct proof *proof);
/* The warnings, appended; nothing if there are none. */
void prove_warnings(const struct desc *d, const struct prove_result *result, const struct generated *files,
                    struct text *out);
void prove_tell(const struct desc *d, const struct proof *proof, int finding, const char *kernel_file,
                struct text *out);

#endif
