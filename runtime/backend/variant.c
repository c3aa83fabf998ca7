#include "backend/variant.h"

#include "tune/layouts.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char threads_word[] = "threads";

void variant_print(const struct variant *variant, struct text *out) {
  text_addf(out, "%s/", variant->strategy->name);
  shape_print(&variant->shape, out);
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

enum { MOST_WORD = 64 };
/* Of each a variant has one. */
enum word_kind { WORD_UNKNOWN, WORD_STRATEGY, WORD_THREADS, WORD_BLOCK, WORD_SHAPE, WORD_KINDS };

static const char *const kinds[WORD_KINDS] = {[WORD_STRATEGY] = "strategy",
                                              [WORD_THREADS] = "number of threads",
                                              [WORD_BLOCK] = "block size",
                                              [WORD_SHAPE] = "shape"};

static enum word_kind apply_word(struct variant *variant, const char *word) {
  for (int i = 0; strategies[i]; i++)
    if (strategies[i]->deals && strcmp(word, strategies[i]->name) == 0) {
      variant->strategy = strategies[i];
      return WORD_STRATEGY;
    }
  const size_t prefix = sizeof threads_word - 1;
  if (strncmp(word, threads_word, prefix) == 0)
    return read_count(word + prefix, &variant->threads) ? WORD_THREADS : WORD_UNKNOWN;
  if (read_count(word, &variant->block_size))
    return WORD_BLOCK;
  return shape_parse(word, &variant->shape) ? WORD_SHAPE : WORD_UNKNOWN;
}

/* Words are separated by '/'. */
struct word {
  const char *at;
  size_t length;
};

/* The one behind `word`; false: there is none before `end`. */
static bool next_word(struct word *word, const char *end) {
  const char *p = word->at + word->length;
  while (p < end && *p == '/')
    p++;
  *word = (struct word){.at = p};
  while (p + word->length < end && p[word->length] != '/')
    word->length++;
  return word->length > 0;
}

/* As a string; of what is longer than any but a dat's name, the begin. */
static const char *copy_word(const struct word *word, char out[MOST_WORD]) {
  snprintf(out, MOST_WORD, "%.*s", (int)(word->length < MOST_WORD ? word->length : MOST_WORD - 1), word->at);
  return out;
}

static int unknown_word(const char *word, struct error *err) {
  struct text names = {0};
  for (int i = 0; strategies[i]; i++)
    if (strategies[i]->deals)
      text_addf(&names, "%s%s", names.length ? ", " : "", strategies[i]->name);
  const int code = error_set(
      err, OP_ERR_ENV,
      "OP2_VARIANT: \"%s\" is not a variant; expected a strategy (%s), a shape (scalar, strip4, strip8, "
      "strip16, strip8+straight, strip8+stream), a block size or a number of threads (threads4), separated "
      "by '/'; soa or aos for the layout of all dats, soa=DAT or aos=DAT for one",
      word, text_str(&names));
  text_free(&names);
  return code;
}

int variant_apply(struct variant *variant, const char *spec, struct error *err) {
  char word[MOST_WORD];
  bool seen[WORD_KINDS] = {false};
  for (struct word w = {.at = spec}; next_word(&w, spec + strlen(spec));) {
    const enum word_kind kind = apply_word(variant, copy_word(&w, word));
    if (kind == WORD_UNKNOWN)
      return unknown_word(word, err);
    if (seen[kind])
      return error_set(err, OP_ERR_ENV, "OP2_VARIANT: \"%s\" in \"%s\" is a second %s; give one", word, spec,
                       kinds[kind]);
    seen[kind] = true;
  }
  return OP_OK;
}

/* One "[LOOP:]SPEC" of the list. */
struct part {
  const char *loop, *spec; /* loop NULL: all loops */
  int loop_length, spec_length;
};

static bool next_part(const char **at, struct part *out) {
  const char *p = *at;
  if (!*p)
    return false;
  const size_t length = strcspn(p, ","), colon = strcspn(p, ":");
  const bool named = colon < length;
  const size_t skip = named ? colon + 1 : 0;
  *out = (struct part){.loop = named ? p : NULL,
                       .loop_length = named ? (int)colon : 0,
                       .spec = p + skip,
                       .spec_length = (int)(length - skip)};
  *at = p + length + (p[length] == ',');
  return true;
}

static bool same_loops(const struct part *a, const struct part *b) {
  return a->loop_length == b->loop_length && !a->loop == !b->loop &&
         memcmp(a->loop ? a->loop : "", b->loop ? b->loop : "", (size_t)a->loop_length) == 0;
}

/* A dat lies in one way for all loops. */
static int check_layouts(const char *value, const struct part *part, struct error *err) {
  char word[MOST_WORD];
  for (struct word w = {.at = part->spec}; part->loop && next_word(&w, part->spec + part->spec_length);)
    if (layout_word(copy_word(&w, word)))
      return error_set(
          err, OP_ERR_ENV,
          "OP2_VARIANT=\"%s\": \"%.*s\" is said of loop %.*s, and a dat lies in one way for all "
          "loops; put it into the part for all loops, in front of a ',': OP2_VARIANT=%.*s,%.*s:...",
          value, (int)w.length, w.at, part->loop_length, part->loop, (int)w.length, w.at, part->loop_length,
          part->loop);
  return OP_OK;
}

static int check_part(const char *value, const struct part *part, struct error *err) {
  if (part->spec_length == 0)
    return error_set(err, OP_ERR_ENV,
                     "OP2_VARIANT=\"%s\": a variant is missing %s; expected [LOOP:]NAME, separated by ','",
                     value, part->loop ? "behind a ':'" : "in front of a ','");
  struct part other;
  for (const char *p = value; next_part(&p, &other) && other.spec < part->spec;)
    if (same_loops(&other, part))
      return error_set(
          err, OP_ERR_ENV,
          "OP2_VARIANT=\"%s\": \"%.*s\" and \"%.*s\" are both said of %s%.*s; give one part, its "
          "words separated by '/'",
          value, other.spec_length, other.spec, part->spec_length, part->spec,
          part->loop ? "loop " : "all loops", part->loop_length, part->loop ? part->loop : "");
  return check_layouts(value, part, err);
}

int variant_list_check(const char *value, struct error *err) {
  struct part part;
  int code = OP_OK;
  for (const char *p = value; !code && next_part(&p, &part);)
    code = check_part(value, &part, err);
  return code;
}

/* Its own before the one for all. */
static bool part_for(const char *value, const char *loop, struct part *out) {
  const struct part wanted = {.loop = loop, .loop_length = (int)strlen(loop)};
  struct part part;
  bool found = false, own = false;
  for (const char *p = value; !own && next_part(&p, &part);) {
    own = part.loop && same_loops(&part, &wanted);
    if (own || !part.loop) {
      *out = part;
      found = true;
    }
  }
  return found;
}

/* The part's words of one sort. */
static void add_words(const struct part *part, bool of_layouts, struct text *out) {
  char word[MOST_WORD];
  for (struct word w = {.at = part->spec}; next_word(&w, part->spec + part->spec_length);)
    if (layout_word(copy_word(&w, word)) == of_layouts)
      text_addf(out, "%s%.*s", out->length ? "/" : "", (int)w.length, w.at);
}

bool variant_for_loop(const char *value, const char *loop, struct text *spec) {
  struct part part;
  text_clear(spec);
  if (part_for(value, loop, &part))
    add_words(&part, false, spec);
  return spec->length > 0;
}

void variant_layouts(const char *value, struct text *words) {
  struct part part;
  text_clear(words);
  if (part_for(value, "", &part))
    add_words(&part, true, words);
}
