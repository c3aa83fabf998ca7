#include <string.h>

#include "jit/target.h"

static bool is_on(const struct target_feature *known, int count, const bool *on, const char *name,
                  size_t length) {
  for (int i = 0; i < count; i++)
    if (strncmp(known[i].name, name, length) == 0 && known[i].name[length] == '\0')
      return on[i];
  return false;
}

static bool has_needs(const struct target_feature *known, int count, const bool *on, const char *needs) {
  for (const char *name = needs ? needs : ""; *name; name += strspn(name, " ")) {
    const size_t length = strcspn(name, " ");
    if (!is_on(known, count, on, name, length))
      return false;
    name += length;
  }
  return true;
}

void target_list(const struct target_feature *known, int count, bool *on, struct text *out) {
  for (bool changed = true; changed;) {
    changed = false;
    for (int i = 0; i < count; i++)
      if (on[i] && !has_needs(known, count, on, known[i].needs)) {
        on[i] = false;
        changed = true;
      }
  }
  for (int i = 0; i < count; i++)
    text_addf(out, "%s%c%s", i ? "," : "", on[i] ? '+' : '-', known[i].name);
}
