/* Facts about the rows of ragged maps in a kernel, found in clang's tree (jit/clang/prove), for the generators
 * of GPUs, which edit the text there. Places are bytes of the kernel's text. All members are ints: the store
 * keeps them as one list of numbers. */
#ifndef OP2JIT_JIT_KERNEL_ROWS_H
#define OP2JIT_JIT_KERNEL_ROWS_H

#include "base/text.h"

#ifndef __cplusplus
#include <stdbool.h>
#endif

struct row_range {
  int begin, end;
};

/* ---- loops over an element's targets whose steps several threads may share ----
 * Each thread has some of the steps, and what these add up is put together behind the loop. Everything else of the kernel is
 * done by all of these threads, with the same values. */

/* The operation that joins the values of threads. */
enum split_kind { SPLIT_SUM, SPLIT_PRODUCT, SPLIT_LEAST, SPLIT_MOST };

struct split_result {
  struct row_range name; /* of the variable */
  int kind;              /* enum split_kind */
  int count;             /* of its values */
  int address; /* 1: the name stands for where they are: an array, or a pointer of the kernel's parameters */
};

enum { SPLIT_LOOPS = 8, SPLIT_RESULTS = 8 };

struct split_loop {
  struct row_range all;  /* with its OP_ANY_ORDER */
  struct row_range zero; /* the start of its counter */
  struct row_range step; /* the code between two steps */
  struct row_range counter;
  int nresults;
  struct split_result results[SPLIT_RESULTS];
};

/* Reasons why no loop can be shared; jit/found.c has the words. */
enum split_why {
  WHY_NOT_LOOKED_AT,
  /* of the kernel and its arguments */
  WHY_NO_MAP,
  WHY_CXX,
  WHY_CONDITIONS,
  WHY_TARGETS,
  WHY_EXTREMA,
  WHY_LONG_ROW,
  WHY_TWICE,
  /* of the device and the strategy */
  WHY_LANGUAGE,
  WHY_STRATEGY,
  /* of the text, helpers included */
  WHY_DIRECTIVE,
  WHY_MACRO,
  WHY_STATIC,
  WHY_NAME,
  WHY_TYPE,
  WHY_GOTO,
  WHY_MADE,
  WHY_NOT_C,
  /* of a loop */
  WHY_UNMARKED,
  WHY_NO_LOOP,
  WHY_FORM,
  WHY_LEAVES,
  WHY_ADDRESS,
  WHY_CHANGES,
  WHY_OTHER,
  WHY_PART,
  WHY_ORDER,
  WHY_FRACTIONS,
  WHY_SEVERAL,
  WHY_MANY,
  WHY_USED,
  WHY_POINTER,
  WHY_ENTRIES,
  WHY_COUNT
};

/* ---- arguments whose rows the kernel reads and writes where it names them only, or by a pointer that a declaration in it
 * gives: it neither passes such a pointer on nor changes it. Where pointers have a space each, these rows can stay where they
 * are. ---- */

enum stay_kind {
  STAY_DECLARES,  /* here begins the declaration of a parameter that has such rows, or of pointers to them */
  STAY_PARAMETER, /* the stars and the name of that parameter */
  STAY_ROW        /* the word OP_ROW, of a row of the argument's */
};

struct stay {
  struct row_range at; /* STAY_DECLARES: empty */
  int kind;            /* enum stay_kind */
  int arg;             /* of the loop, from 0 */
};

enum { STAYS = 128 };

struct row_facts {
  int why; /* enum split_why; 0 if there are loops */
  int nloops;
  struct split_loop loops[SPLIT_LOOPS]; /* as they come in the text */
  int nstays;
  struct stay stays[STAYS]; /* as they come in the text */
};

#ifndef __cplusplus
/* As a line of numbers. */
void row_facts_print(const struct row_facts *r, struct text *out);
/* False: the words are no facts of a text of `length` bytes. */
bool row_facts_parse(const char *words, size_t length, struct row_facts *out);
/* True: the rows of the argument stay where they are. */
bool row_facts_stay(const struct row_facts *r, int arg);
#endif

/* ---- OP_ROW(x, k) and OP_ANY_ORDER in kernel texts of OP_KERNEL_DEF ---- */
/* Puts OP_ROW and OP_ANY_ORDER back into a text of OP_KERNEL_DEF, where the C compiler has replaced them.
 * Returns `text` itself if it has none of them, else the text in `room`, with *length changed. NULL: no memory. */
const char *rows_folded(const char *text, size_t *length, struct text *room);

/* The condition on k that checked runs test, for the message that it does not hold. */
#define ROWS_CONDITION "0 <= k && k < n, in OP_ROW(x, k)"

#endif
