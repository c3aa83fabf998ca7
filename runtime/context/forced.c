#include "context/forced.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "context/context.h"
#include "context/env.h"
#include "include/op2jit.h"

bool forced_next_word(struct forced_word *word, const char *end) {
  const char *p = word->at + word->length;
  while (p < end && *p == '/')
    p++;
  *word = (struct forced_word){.at = p};
  while (p + word->length < end && p[word->length] != '/')
    word->length++;
  return word->length > 0;
}

const char *forced_copy_word(const struct forced_word *word, char out[FORCED_WORD]) {
  snprintf(out, FORCED_WORD, "%.*s", (int)(word->length < FORCED_WORD ? word->length : FORCED_WORD - 1),
           word->at);
  return out;
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

/* The word is about layouts: soa, aos, soa=DAT, aos=DAT. With `dat`: it holds for that dat. */
static bool is_layout(const struct forced_word *w, const char *dat, bool *soa) {
  const bool apart = w->length >= 3 && strncmp(w->at, "soa", 3) == 0;
  const bool rows = w->length >= 3 && strncmp(w->at, "aos", 3) == 0, named = w->length > 3;
  if ((!apart && !rows) || (named && w->at[3] != '='))
    return false;
  *soa = apart;
  return !dat || !named || (strlen(dat) == w->length - 4 && strncmp(w->at + 4, dat, w->length - 4) == 0);
}

/* The word is about matrices. They have one form for all loops. */
static bool is_form(const struct forced_word *w, bool *rows) {
  *rows = w->length == 3 && strncmp(w->at, "csr", 3) == 0;
  return *rows || (w->length == 3 && strncmp(w->at, "coo", 3) == 0);
}

static bool is_reproducible(const struct forced_word *w, bool *ignored) {
  static const char word[] = "reproducible";
  (void)ignored;
  return w->length == sizeof word - 1 && memcmp(w->at, word, sizeof word - 1) == 0;
}

/* A dat lies in one way for all loops. */
static int check_layouts(const char *value, const struct part *part, struct error *err) {
  bool ignored;
  for (struct forced_word w = {.at = part->spec};
       part->loop && forced_next_word(&w, part->spec + part->spec_length);)
    if (is_layout(&w, NULL, &ignored))
      return error_set(
          err, OP_ERR_ENV,
          "OP2_VARIANT=\"%s\": \"%.*s\" is in the part for loop %.*s, but a dat has one layout for all "
          "loops; move it to the part for all loops: OP2_VARIANT=%.*s,%.*s:...",
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

int forced_check(const char *value, struct error *err) {
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

bool forced_for_loop(const char *value, const char *loop, struct text *spec) {
  struct part part;
  bool ignored;
  text_clear(spec);
  if (!part_for(value, loop, &part))
    return false;
  for (struct forced_word w = {.at = part.spec}; forced_next_word(&w, part.spec + part.spec_length);)
    if (!is_layout(&w, NULL, &ignored) && !(is_form(&w, &ignored) && !part.loop) &&
        !is_reproducible(&w, &ignored))
      text_addf(spec, "%s%.*s", spec->length ? "/" : "", (int)w.length, w.at);
  return spec->length > 0;
}

/* True if there is such a word for the loop. */
static bool has_word(const char *value, const char *loop, bool (*is)(const struct forced_word *, bool *),
                     bool *said) {
  struct part part;
  if (!part_for(value, loop, &part))
    return false;
  for (struct forced_word w = {.at = part.spec}; forced_next_word(&w, part.spec + part.spec_length);)
    if (is(&w, said))
      return true;
  return false;
}

void forced_tell_left(const struct log *log, const char *loop, const struct text *asked,
                      const struct text *left) {
  if (strcmp(text_str(asked), text_str(left)) != 0)
    log_line(log, LOG_INFO, "tune", "loop %s: OP2_VARIANT asks for %s; what of it fits this loop is %s", loop,
             text_str(asked), text_str(left));
}

static bool find_layout(const char *value, const char *dat, bool *soa, bool *named) {
  struct part part;
  bool found = false, says;
  *named = false;
  if (!part_for(value, "", &part))
    return false;
  for (struct forced_word w = {.at = part.spec}; forced_next_word(&w, part.spec + part.spec_length);)
    if (is_layout(&w, dat, &says) && (w.length > 3 || !*named)) {
      found = true;
      *named |= w.length > 3;
      *soa = says;
    }
  return found;
}

bool forced_layout(const char *value, const char *dat, bool *soa) {
  bool named;
  return find_layout(value, dat, soa, &named);
}

bool forced_names_dat(const char *value, const char *dat) {
  bool soa, named;
  return find_layout(value, dat, &soa, &named) && named;
}

bool forced_matrices(const char *value, bool *rows) {
  return has_word(value, "", is_form, rows);
}

/* The form of a value that names loops is that of those that it names. */
static enum checked parse(const char *value, const char **loops) {
  static const char list[] = "list:";
  *loops = "";
  if (strcmp(value, "off") == 0 || !*value)
    return CHECKED_OFF;
  if (strcmp(value, "on") == 0)
    return CHECKED_ON;
  if (strcmp(value, "list") == 0)
    return CHECKED_LIST;
  const bool lists = strncmp(value, list, sizeof list - 1) == 0;
  *loops = value + (lists ? sizeof list - 1 : 0);
  return lists ? CHECKED_LIST : CHECKED_ON;
}

enum checked context_checked(const struct op_context *ctx, const char *name) {
  const char *loops;
  const enum checked form = parse(env_value(ctx->env, ENV_CHECK), &loops);
  if (form != CHECKED_OFF && (!*loops || env_lists(loops, ',', name)))
    return form;
  return ctx->diags >= 7 ? CHECKED_ON : CHECKED_OFF;
}

const char *checked_names(const struct op_context *ctx) {
  const char *loops;
  parse(env_value(ctx->env, ENV_CHECK), &loops);
  return loops;
}

static bool looks_at_loops(const struct op_context *ctx) {
  return *env_value(ctx->env, ENV_SHADOW) || ctx->diags >= 7 ||
         strcmp(env_value(ctx->env, ENV_CHECK), "off") != 0;
}

int context_read_reproducible(struct op_context *ctx, struct error *err) {
  ctx->reproducible = strcmp(env_value(ctx->env, ENV_REPRODUCIBLE), "on") == 0;
  if (ctx->reproducible && strcmp(env_value(ctx->env, ENV_FP), "fast") == 0)
    return error_set(
        err, OP_ERR_ENV,
        "OP2_REPRODUCIBLE=on with OP2_FP=fast: operations would be made in another order in each "
        "variant; leave OP2_FP at contract, or set strict");
  if (ctx->reproducible && looks_at_loops(ctx))
    log_line(
        ctx->log, LOG_WARN, "check",
        "OP2_REPRODUCIBLE=on has no effect on loops that are checked or compared (OP2_CHECK, OP2_SHADOW): "
        "they add up as they go");
  return OP_OK;
}

bool context_reproduces(const struct op_context *ctx, const char *loop) {
  bool ignored;
  /* The word is said of results, and forces no variant. */
  return !looks_at_loops(ctx) &&
         (ctx->reproducible || has_word(env_value(ctx->env, ENV_VARIANT), loop, is_reproducible, &ignored));
}

const char *context_fp(const struct op_context *ctx, bool reproducible) {
  const char *fp = env_value(ctx->env, ENV_FP);
  if (!reproducible)
    return fp;
  return strcmp(fp, "strict") == 0 ? "reproducible strict" : "reproducible";
}
