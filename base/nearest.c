#include "nearest.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

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
