#include "jit/generate/shape.h"

#include <stddef.h>
#include <string.h>

static const struct {
  const char *name;
  int width;
} forms[] = {{"scalar", 0}, {"strip4", 4}, {"strip8", 8}, {"strip16", 16}};
enum { FORMS = sizeof forms / sizeof *forms };

/* In the order of a name. */
static const struct {
  const char *mark;
  size_t flag;
} marks[] = {{"+straight", offsetof(struct shape, straight)},
             {"+stream", offsetof(struct shape, stream)},
             {"+piped", offsetof(struct shape, piped)},
             {"+rows", offsetof(struct shape, rows)},
             {"+list", offsetof(struct shape, list)}};
enum { MARKS = sizeof marks / sizeof *marks };

void shape_print(const struct shape *s, struct text *out) {
  for (int i = 0; i < FORMS; i++)
    if (forms[i].width == s->width)
      text_add(out, forms[i].name);
  for (int i = 0; i < MARKS; i++)
    if (*(const bool *)((const char *)s + marks[i].flag))
      text_add(out, marks[i].mark);
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
    for (int k = 0; k < MARKS; k++)
      *(bool *)((char *)s + marks[k].flag) = skip(&at, marks[k].mark);
    return !*at && (!(s->straight || s->stream) || (s->width && !s->list)) && (!s->piped || s->width);
  }
  return false;
}
