#include "jit/generate/shape.h"

#include <string.h>

void shape_print(const struct shape *s, struct text *out) {
  text_add(out, "scalar");
  if (s->list)
    text_add(out, "+list");
}

bool shape_parse(const char *name, struct shape *s) {
  const char *plus = strchr(name, '+');
  size_t length = plus ? (size_t)(plus - name) : strlen(name);
  *s = (struct shape){.list = plus != NULL};
  if (plus && strcmp(plus, "+list") != 0)
    return false;
  return length == strlen("scalar") && memcmp(name, "scalar", length) == 0;
}
