#include <string.h>

#include "jit/target/row.h"

static bool is_on(const struct target_feature *known, int count, const bool *on, const char *name) {
  for (int i = 0; i < count; i++)
    if (strcmp(known[i].name, name) == 0)
      return on[i];
  return false;
}

void target_list(const struct target_feature *known, int count, bool *on, struct text *out) {
  for (bool changed = true; changed;) {
    changed = false;
    for (int i = 0; i < count; i++) {
      const struct target_feature *f = &known[i];
      if (on[i] && ((f->needs && !is_on(known, count, on, f->needs)) ||
                    (f->needs_too && !is_on(known, count, on, f->needs_too)))) {
        on[i] = false;
        changed = true;
      }
    }
  }
  for (int i = 0; i < count; i++)
    text_addf(out, "%s%c%s", i ? "," : "", on[i] ? '+' : '-', known[i].name);
}
