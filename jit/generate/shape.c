#include "jit/generate/shape.h"

#include <string.h>

static const struct {
  const char *name;
  int width;
} forms[] = {{"scalar", 0}, {"strip4", 4}, {"strip8", 8}, {"strip16", 16}};
enum { FORMS = sizeof forms / sizeof *forms };

static const char straight_mark[] = "+straight", stream_mark[] = "+stream", piped_mark[] = "+piped",
                  rows_mark[] = "+rows", list_mark[] = "+list";

void shape_print(const struct shape *s, struct text *out) {
  for (int i = 0; i < FORMS; i++)
    if (forms[i].width == s->width)
      text_add(out, forms[i].name);
  if (s->straight)
    text_add(out, straight_mark);
  if (s->stream)
    text_add(out, stream_mark);
  if (s->piped)
    text_add(out, piped_mark);
  if (s->rows)
    text_add(out, rows_mark);
  if (s->list)
    text_add(out, list_mark);
  if (s->bounds)
    text_add(out, SHAPE_BOUNDS);
}

static bool skip(const char **at, const char *mark) {
  const size_t length = strlen(mark);
  const bool there = strncmp(*at, mark, length) == 0;
  *at += there ? length : 0;
  return there;
}

bool shape_parse(const char *name, struct shape *s) {
  const size_t length = strcspn(name, "+");
  for (int i = 0; i < FORMS; i++) {
    if (strlen(forms[i].name) != length || memcmp(name, forms[i].name, length) != 0)
      continue;
    const char *at = name + length;
    *s = (struct shape){.width = forms[i].width};
    s->straight = skip(&at, straight_mark);
    s->stream = skip(&at, stream_mark);
    s->piped = skip(&at, piped_mark);
    s->rows = skip(&at, rows_mark);
    s->list = skip(&at, list_mark);
    return !*at && (!(s->straight || s->stream) || (s->width && !s->list)) && (!s->piped || s->width);
  }
  return false;
}
