/* The value of OP2_VARIANT: "[LOOP:]WORDS[,...]", variants of loops and layouts of dats. Backends know what a loop's
 * words mean. */
#ifndef OP2JIT_FORCED_H
#define OP2JIT_FORCED_H

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
/* Does the word reproducible hold for this loop? It is said of results, and forces no variant. */
bool forced_reproducible(const char *value, const char *loop);
/* The form of all matrices, by the word csr (rows) or coo. False if nothing is said. */
bool forced_matrices(const char *value, bool *rows);
/* The layout of a dat of this name; a word for it counts more than one for all. False: nothing is said. */
bool forced_layout(const char *value, const char *dat, bool *soa);
/* There is a word for it. */
bool forced_names_dat(const char *value, const char *dat);

#endif
