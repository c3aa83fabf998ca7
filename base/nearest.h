/* "Did you mean": the name nearest to a misspelt one. */
#ifndef OP2JIT_BASE_NEAREST_H
#define OP2JIT_BASE_NEAREST_H

#include "text.h"

/* The index in names[0..count) with the smallest edit distance to `word`, ignoring case; -1 if none is
 * near enough to be meant. NULL names are passed over. */
int nearest_name(const char *word, const char *const names[], int count);
/* `the type "doble" is unknown (did you mean "double"?)`, or `the type is NULL`. */
void nearest_tell(const char *what, const char *word, const char *const names[], int count, struct text *out);
/* Names that were met, one behind the other, each with a NUL and once. */
void names_note(struct text *names, const char *name);
bool names_have(const struct text *names, const char *name, size_t length);
/* The one that is near enough to be meant; NULL: none. */
const char *names_nearest(const struct text *names, const char *word);

#endif
