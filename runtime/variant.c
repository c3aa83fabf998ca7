#include "variant.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[STRATEGIES] = {
    [STRATEGY_WHOLE] = "whole",   [STRATEGY_CHUNKS] = "chunks", [STRATEGY_COLOURS] = "colours",
    [STRATEGY_OWNERS] = "owners", [STRATEGY_GATHER] = "gather", [STRATEGY_PLAN] = "plan"};

const char *strategy_name(enum strategy strategy) {
  return names[strategy];
}

void variant_print(const struct variant *variant, struct text *out) {
  text_addf(out, "%s/", names[variant->strategy]);
  shape_print(&variant->shape, out);
  if (variant->block_size)
    text_addf(out, "/%d", variant->block_size);
}

static bool apply_word(struct variant *variant, const char *word) {
  for (int i = 0; i < STRATEGY_PLAN; i++)
    if (strcmp(word, names[i]) == 0) {
      variant->strategy = (enum strategy)i;
      return true;
    }
  char *end;
  long size = strtol(word, &end, 10);
  if (end != word && !*end) {
    variant->block_size = (int)size;
    return size > 0 && size <= INT_MAX;
  }
  return shape_parse(word, &variant->shape);
}

int variant_apply(struct variant *variant, const char *spec, struct error *err) {
  char word[64];
  for (const char *p = spec; *p;) {
    size_t length = strcspn(p, "/");
    snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), p);
    if (length && !apply_word(variant, word))
      return error_set(err, OP_ERR_ENV,
                       "OP2_VARIANT: \"%s\" is not a variant; expected a strategy (whole, chunks, colours, "
                       "owners, gather), a shape (scalar, strip4, strip8, strip16) or a block size, "
                       "separated by '/'",
                       word);
    p += length;
    p += *p == '/';
  }
  return OP_OK;
}

bool variant_for_loop(const char *value, const char *loop, struct text *spec) {
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
