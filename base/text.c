#include "text.h"

#include <ctype.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(struct text *t, size_t more) {
  if (t->failed)
    return false;
  if (more > SIZE_MAX / 4 || t->length > SIZE_MAX / 4) {
    t->failed = true;
    return false;
  }
  size_t need = t->length + more + 1;
  if (t->data && need <= t->capacity)
    return true;
  size_t capacity = t->capacity ? t->capacity : 64;
  while (capacity < need)
    capacity *= 2;
  char *data = realloc(t->data, capacity);
  if (!data) {
    t->failed = true;
    return false;
  }
  t->data = data;
  t->capacity = capacity;
  return true;
}

void text_add_bytes(struct text *t, const void *bytes, size_t length) {
  if (!reserve(t, length))
    return;
  if (length)
    memcpy(t->data + t->length, bytes, length);
  t->length += length;
  t->data[t->length] = '\0';
}

void text_add(struct text *t, const char *s) {
  text_add_bytes(t, s, strlen(s));
}

void text_add_char(struct text *t, char c) {
  text_add_bytes(t, &c, 1);
}

void text_vaddf(struct text *t, const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  if (length < 0)
    t->failed = true;
  else if (reserve(t, (size_t)length)) {
    vsnprintf(t->data + t->length, (size_t)length + 1, format, again);
    t->length += (size_t)length;
  }
  va_end(again);
}

void text_addf(struct text *t, const char *format, ...) {
  va_list args;
  va_start(args, format);
  text_vaddf(t, format, args);
  va_end(args);
}

void text_clear(struct text *t) {
  t->length = 0;
  t->failed = false;
  if (t->data)
    t->data[0] = '\0';
}

void text_free(struct text *t) {
  free(t->data);
  *t = (struct text){0};
}

char *text_take(struct text *t) {
  if (!t->failed && !t->data)
    text_add_bytes(t, "", 0);
  if (t->failed) {
    text_free(t);
    return NULL;
  }
  char *data = t->data;
  *t = (struct text){0};
  return data;
}

enum { LONGEST = 63 };

static int lower(char c) {
  return tolower((unsigned char)c);
}

static int smallest(int a, int b, int c) {
  int ab = a < b ? a : b;
  return ab < c ? ab : c;
}

/* Edit distance with transpositions, on names short enough for fixed rows. */
static int distance(const char *a, const char *b) {
  size_t na = strlen(a), nb = strlen(b);
  if (na > LONGEST || nb > LONGEST)
    return INT_MAX;
  int rows[3][LONGEST + 1];
  for (size_t j = 0; j <= nb; j++)
    rows[0][j] = (int)j;
  for (size_t i = 1; i <= na; i++) {
    int *now = rows[i % 3], *before = rows[(i - 1) % 3], *two = rows[(i + 1) % 3];
    now[0] = (int)i;
    for (size_t j = 1; j <= nb; j++) {
      int other = lower(a[i - 1]) != lower(b[j - 1]);
      now[j] = smallest(before[j] + 1, now[j - 1] + 1, before[j - 1] + other);
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]))
        now[j] = smallest(now[j], two[j - 2] + 1, now[j]);
    }
  }
  return rows[na % 3][nb];
}

/* How far apart two names may be. A name of one or two letters is a few letters from any other: only capitals
 * may differ. */
static int enough(const char *a, const char *b) {
  const size_t na = strlen(a), nb = strlen(b), shorter = na < nb ? na : nb;
  return shorter < 3 ? 0 : shorter == 3 ? 1 : shorter <= 6 ? 2 : (int)(shorter / 3);
}

/* True: the name is near enough, and nearer than *least, which becomes its distance. */
static bool is_nearer(const char *word, const char *name, int *least) {
  const int d = distance(word, name);
  const bool nearer = d < *least && d <= enough(word, name);
  *least = nearer ? d : *least;
  return nearer;
}

int nearest_name(const char *word, const char *const names[], int count) {
  int best = -1, least = INT_MAX;
  for (int i = 0; i < count; i++)
    if (names[i] && is_nearer(word, names[i], &least))
      best = i;
  return best;
}

void nearest_tell(const char *what, const char *word, const char *const names[], int count,
                  struct text *out) {
  if (!word) {
    text_addf(out, "the %s is NULL", what);
    return;
  }
  const int near = nearest_name(word, names, count);
  text_addf(out, "the %s \"%s\" is unknown", what, word);
  if (near >= 0)
    text_addf(out, " (did you mean \"%s\"?)", names[near]);
}

bool names_have(const struct text *names, const char *name, size_t length) {
  for (size_t at = 0; at < names->length; at += strlen(names->data + at) + 1)
    if (strlen(names->data + at) == length && memcmp(names->data + at, name, length) == 0)
      return true;
  return false;
}

void names_note(struct text *names, const char *name) {
  if (!names_have(names, name, strlen(name)))
    text_add_bytes(names, name, strlen(name) + 1);
}

const char *names_nearest(const struct text *names, const char *word) {
  const char *best = NULL;
  int least = INT_MAX;
  for (size_t at = 0; at < names->length; at += strlen(names->data + at) + 1)
    if (is_nearer(word, names->data + at, &least))
      best = names->data + at;
  return best;
}
