/* The one growing string. Appending never fails at the call. A failed allocation or an oversized length is
 * remembered in `failed`, and the text before it stays readable. A caller that needs the whole text asks
 * text_ok() once at the end. A zeroed struct is an empty text. */
#ifndef OP2JIT_BASE_TEXT_H
#define OP2JIT_BASE_TEXT_H

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct text {
  char *data; /* NULL or NUL-terminated */
  size_t length, capacity;
  bool failed;
};

void text_add(struct text *t, const char *s);
void text_add_bytes(struct text *t, const void *bytes, size_t length);
void text_add_char(struct text *t, char c);
void text_addf(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vaddf(struct text *t, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

/* Never NULL. */
static inline const char *text_str(const struct text *t) {
  return t->data ? t->data : "";
}
static inline bool text_ok(const struct text *t) {
  return !t->failed;
}
/* Takes a line break at the end away. */
static inline void text_drop_newline(struct text *t) {
  if (t->length && t->data[t->length - 1] == '\n')
    t->data[--t->length] = '\0';
}
/* True: the character can be part of a name in C. */
static inline bool is_in_word(char c) {
  return isalnum((unsigned char)c) || c == '_';
}
/* Empty again, memory kept, `failed` forgotten. */
void text_clear(struct text *t);
void text_free(struct text *t);
/* Hand the characters over to the caller, who frees them; NULL if an append failed. */
char *text_take(struct text *t);

/* "Did you mean": the name nearest to a misspelt one. */

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
