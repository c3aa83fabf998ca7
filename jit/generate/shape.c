#include "jit/generate/shape.h"

#include <string.h>

static const struct {
  const char *name;
  int width;
} forms[] = {{"scalar", 0}, {"strip4", 4}, {"strip8", 8}, {"strip16", 16}};
enum { FORMS = sizeof forms / sizeof *forms };

static const char list_mark[] = "+list", straight_mark[] = "+straight";

void shape_print(const struct shape *s, struct text *out) {
  if (s->watched) {
    text_add(out, "watched");
    return;
  }
  for (int i = 0; i < FORMS; i++)
    if (forms[i].width == s->width)
      text_add(out, forms[i].name);
  if (s->straight)
    text_add(out, straight_mark);
  if (s->list)
    text_add(out, list_mark);
}

bool shape_parse(const char *name, struct shape *s) {
  const char *plus = strchr(name, '+');
  size_t length = plus ? (size_t)(plus - name) : strlen(name);
  const bool list = plus && strcmp(plus, list_mark) == 0, straight = plus && strcmp(plus, straight_mark) == 0;
  if (plus && !list && !straight)
    return false;
  for (int i = 0; i < FORMS; i++)
    if (strlen(forms[i].name) == length && memcmp(name, forms[i].name, length) == 0) {
      *s = (struct shape){.width = forms[i].width, .list = list, .straight = straight};
      return !straight || s->width;
    }
  return false;
}
