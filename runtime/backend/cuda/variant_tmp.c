#include "variant.h"
#include <string.h>
__attribute__((weak)) bool variant_for_loop(const char *value, const char *loop, struct text *spec) {
  bool found = false, own = false;
  const size_t length = strlen(loop);
  for (const char *p = value; *p;) {
    size_t part = strcspn(p, ","), colon = strcspn(p, ":");
    bool named = colon < part;
    bool mine = named && colon == length && memcmp(p, loop, length) == 0;
    if (mine || (!named && !own)) {
      text_clear(spec);
      size_t skip = named ? colon + 1 : 0;
      text_add_bytes(spec, p + skip, part - skip);
      own |= mine;
      found = true;
    }
    p += part;
    p += *p == ',';
  }
  return found;
}
