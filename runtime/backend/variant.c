#include "backend/variant.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "context/forced.h"

static const char threads_word[] = "threads", sorted_word[] = "sorted";

void variant_print(const struct variant *variant, struct text *out) {
  text_addf(out, "%s/", variant->strategy->name);
  shape_print(&variant->shape, out);
  if (variant->sorted)
    text_addf(out, "/%s", sorted_word);
  if (variant->block_size)
    text_addf(out, "/%d", variant->block_size);
  if (variant->threads)
    text_addf(out, "/%s%d", threads_word, variant->threads);
}

/* A number from 1 on, and nothing behind it. */
static bool read_count(const char *word, int *out) {
  char *end;
  long count = strtol(word, &end, 10);
  if (end == word || *end || count <= 0 || count > INT_MAX)
    return false;
  *out = (int)count;
  return true;
}

/* A variant has one word of each kind. */
enum word_kind { WORD_UNKNOWN, WORD_STRATEGY, WORD_THREADS, WORD_BLOCK, WORD_SHAPE, WORD_ORDER, WORD_KINDS };

static const char *const kinds[WORD_KINDS] = {[WORD_STRATEGY] = "strategy",
                                              [WORD_THREADS] = "number of threads",
                                              [WORD_BLOCK] = "block size",
                                              [WORD_SHAPE] = "shape",
                                              [WORD_ORDER] = "order"};

static enum word_kind apply_word(struct variant *variant, const char *word) {
  for (int i = 0; strategies[i]; i++)
    if (strategies[i]->deals && strcmp(word, strategies[i]->name) == 0) {
      variant->strategy = strategies[i];
      return WORD_STRATEGY;
    }
  if (strcmp(word, sorted_word) == 0) {
    variant->sorted = true;
    return WORD_ORDER;
  }
  const size_t prefix = sizeof threads_word - 1;
  if (strncmp(word, threads_word, prefix) == 0)
    return read_count(word + prefix, &variant->threads) ? WORD_THREADS : WORD_UNKNOWN;
  if (read_count(word, &variant->block_size))
    return WORD_BLOCK;
  return shape_parse(word, &variant->shape) ? WORD_SHAPE : WORD_UNKNOWN;
}

static int unknown_word(const char *word, struct error *err) {
  struct text names = {0};
  for (int i = 0; strategies[i]; i++)
    if (strategies[i]->deals)
      text_addf(&names, "%s%s", names.length ? ", " : "", strategies[i]->name);
  const int code = error_set(
      err, OP_ERR_ENV,
      "OP2_VARIANT: \"%s\" is not a variant; expected a strategy (%s), a shape (scalar, strip4, strip8, "
      "strip16, strip8+straight, strip8+stream, strip4+piped, scalar+rows), sorted, a block size or a number "
      "of threads (threads4), separated by '/'; soa or aos for the layout of all dats, soa=DAT or aos=DAT "
      "for one; coo or csr for the form of all matrices",
      word, text_str(&names));
  text_free(&names);
  return code;
}

int variant_apply(struct variant *variant, const char *spec, struct error *err) {
  char word[FORCED_WORD];
  bool seen[WORD_KINDS] = {false};
  for (struct forced_word w = {.at = spec}; forced_next_word(&w, spec + strlen(spec));) {
    const enum word_kind kind = apply_word(variant, forced_copy_word(&w, word));
    if (kind == WORD_UNKNOWN)
      return unknown_word(word, err);
    if (seen[kind])
      return error_set(err, OP_ERR_ENV, "OP2_VARIANT: \"%s\" in \"%s\" is a second %s; give one", word, spec,
                       kinds[kind]);
    seen[kind] = true;
  }
  return OP_OK;
}
