/* The value of OP2_VARIANT: "[LOOP:]WORDS[,...]", variants of loops and layouts of dats. Backends know what a loop's
 * words mean. */
#ifndef OP2JIT_CONTEXT_FORCED_H
#define OP2JIT_CONTEXT_FORCED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"

/* Words are separated by '/'. */
struct forced_word {
  const char *at;
  size_t length;
};
enum { FORCED_WORD = 64 };
/* The one behind `word`; false: there is none before `end`. */
bool forced_next_word(struct forced_word *word, const char *end);
/* As a string; of what is longer than any but a dat's name, the begin. */
const char *forced_copy_word(const struct forced_word *word, char out[FORCED_WORD]);

/* OP_ERR_ENV if WORDS are missing, are the second ones of a loop or of all, or have a layout for one loop only. */
int forced_check(const char *value, struct error *err);
/* The words that hold for this loop, its own before the general ones; how dats lie is nothing of the loop's, and
 * "reproducible" no variant. False
 * if there are none. */
bool forced_for_loop(const char *value, const char *loop, struct text *spec);
/* Log what is left of a loop's words (`asked`) if it cannot have all, in category "tune". */
void forced_tell_left(const struct log *log, const char *loop, const struct text *asked,
                      const struct text *left);
/* The form of all matrices, by the word csr (rows) or coo. False if nothing is said. */
bool forced_matrices(const char *value, bool *rows);
/* The layout of a dat of this name; a word for it counts more than one for all. False: nothing is said. */
bool forced_layout(const char *value, const char *dat, bool *soa);
/* There is a word for it. */
bool forced_names_dat(const char *value, const char *dat);

/* The value of OP2_CHECK: "off", "on", "list", or names of loops with ',' between them, perhaps behind "list:". */

struct op_context;

enum checked {
  CHECKED_OFF,
  CHECKED_ON,  /* the first violation is an error */
  CHECKED_LIST /* all are collected, and told by op_exit */
};

/* The form for the loop, or graph, of that name. */
enum checked context_checked(const struct op_context *ctx, const char *name);
/* The names; "" if it names none. */
const char *checked_names(const struct op_context *ctx);

/* Loops that leave the same bits whatever runs them (OP2_REPRODUCIBLE, and the word for one loop). */

struct error;
struct op_context;

/* The context's field. OP_ERR_ENV with OP2_FP=fast; a warning where loops are checked. */
int context_read_reproducible(struct op_context *ctx, struct error *err);
/* Not what is checked or compared: that runs element by element, and adds as it goes. */
bool context_reproduces(const struct op_context *ctx, const char *loop);
/* The word of the key for floating point: the compiler's freedom in such a loop, or in another one. */
const char *context_fp(const struct op_context *ctx, bool reproducible);

#endif
