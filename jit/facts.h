/* Facts about a kernel's text with its arguments. They are found once, by clang's tree, and remembered in the store, so that
 * a program without a compiler has them too. */
#ifndef OP2JIT_JIT_FACTS_H
#define OP2JIT_JIT_FACTS_H

#include "base/text.h"
#include "jit/kernel/kernel.h"
#include "jit/kernel/says.h"
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

/* Words that the store remembers under a key, which is freed: facts, derivatives, texts of C++ programs. False: none. */
bool words_get(struct store *store, struct text *key, struct text *words);
void words_put(struct store *store, struct text *key, const struct text *words);
/* A description without the layouts, which differ between devices. */
void facts_print_rows(const struct desc *d, struct text *out);

/* The plugin need not be open. False: nothing is remembered. */
bool facts_get(const struct plugin *plugin, struct store *store, const struct desc *d, struct facts *out);
void facts_put(const struct plugin *plugin, struct store *store, const struct desc *d,
               const struct facts *facts);

/* The violation that was found of such a text of a program of OP2: OP_ERR_VIOLATION, with its fact. */
int facts_get_violation(const struct plugin *plugin, struct store *store, const struct desc *d,
                        struct error *err);
void facts_put_violation(const struct plugin *plugin, struct store *store, const struct desc *d,
                         const struct error *err);

/* The rules that kernels and loops keep, whoever finds one broken: the prover, which reads a text, or the checking form, which
 * looks at a run. */

enum rule {
  RULE_TEXT,         /* the prover's: the text breaks a promise */
  RULE_ALIAS,        /* one dat is passed twice, and the arguments meet */
  RULE_READ,         /* what is to be read only is changed */
  RULE_WRITE,        /* a component of OP_WRITE is not written */
  RULE_ADD,          /* what is to be added to is read or assigned */
  RULE_COMPARE,      /* an extremum is assigned without comparing */
  RULE_EXTREMUM,     /* something else depends on an extremum so far */
  RULE_OUTSIDE,      /* memory outside an argument is written */
  RULE_ABSENT,       /* an absent argument is used */
  RULE_OLD_VALUES,   /* what OP_WRITE or OP_WORK held before is read */
  RULE_READ_OUTSIDE, /* memory outside an argument is read */
  RULE_FAR,          /* memory far outside all arguments is read */
  RULE_UNSET,        /* a variable without a value is read */
  RULE_KEPT,         /* a variable keeps its value from element to element */
  RULE_NO_RIGHT,     /* it depends on one of these, and nobody knows which */
  RULE_INDEX,        /* an array of the kernel's own, or a constant, is left */
  RULE_ASSERT,       /* an op_assert does not hold */
  RULE_ROW,          /* OP_ROW(x, k) of a target that is not there */
  RULE_DIVISION,     /* a whole number is divided by zero */
  RULE_MEET,         /* two elements write one target, and the order decides what it gets */
  RULE_ORDER,        /* the result depends on the order of elements */
  RULE_STALE,        /* the library's: an old copy of another rank's element is read */
  RULE_LOST,         /* the prover's: it cannot follow an argument */
  RULE_NULL,         /* the prover's: a null pointer is followed */
  RULE_COUNT
};

/* The evidence that a run must give before a finding counts as a violation. The text shows only that it might be one: the
 * path may be one that no value takes. */
enum evidence {
  EVIDENCE_TEXT,    /* nothing: the text alone shows it */
  EVIDENCE_PROMISE, /* the argument's promise is broken */
  EVIDENCE_OUTSIDE, /* memory beyond the argument's is used */
  EVIDENCE_INDEX,   /* an array of the kernel's own or a constant is left */
  EVIDENCE_NULL,    /* a null pointer is followed */
  EVIDENCE_KEPT,    /* what one element left changes what another gives */
  EVIDENCE_UNSET    /* a variable without a value changes what the kernel gives */
};

/* How the loop passes an argument. Through a map elements meet in a row: OP_RW would trade one mistake for another. A global
 * is OP_RW only over a set of one element. */
enum passed { PASSED_DIRECT, PASSED_MAPPED, PASSED_GLOBAL, PASSED_WAYS };

struct rule_row {
  const char *name;  /* "outside" */
  const char *words; /* what is wrong, for the list */
  enum evidence evidence;
  const char *remedy[PASSED_WAYS]; /* what mends it; NULL: who finds it says so */
};
const struct rule_row *rule_row(enum rule rule);

/* The words for $+ and $< in remedies: how the kernel's language adds, and how it compares with an OP_MIN or OP_MAX. */
const char *rules_word(char code, int access, bool fortran);
void rules_say(const char *words, int access, bool fortran, struct text *out);

/* The remedy for OP_WRITE through a map. A kernel that reads what others left there mostly wants to add to it, and OP_RW
 * makes the promise of OP_WRITE once more. */
#define INSTEAD_OF_WRITE                                                                                     \
  "or declare it OP_INC and only add to it; OP_RW is right only where no two elements share a target"
#define ONLY_ADD "add to it only, with $+, and do not read it"
#define COMPARE_WRITE "write $<"

#endif
