#include <stdio.h>
#include <string.h>

#include "cli/replay/replay.h"

static void say_end(const struct outcome *o, struct text *out) {
  if (o->end == RERUN_DIED && o->code)
    text_addf(out, "the process died of signal %d (%s)", o->code, strsignal(o->code));
  else if (o->end == RERUN_DIED)
    text_add(out, "the process ended in the middle");
  else
    text_add(out, o->message);
}

/* ---- comparing two results ---- */

static void say_values(const struct capture *c, const struct place *place, size_t value,
                       const unsigned char *a, const unsigned char *b, const char *other, struct text *out) {
  const size_t at = value * type_info(place->type)->size;
  place_tell(c, place, value, out);
  text_add(out, " is ");
  type_add(place->type, a + at, out);
  text_addf(out, ", and %s ", other);
  type_add(place->type, b + at, out);
}

/* The first place that differs; `b` NULL: from what is kept. */
static bool find_difference(const struct judge *j, const struct capture *c, const struct places *places,
                            const unsigned char *a, const unsigned char *b, struct fault *out) {
  for (int p = 0; p < places->count; p++) {
    const struct place *place = &places->items[p];
    const unsigned char *other = b ? b + place->offset : place->kept;
    const size_t value = !other      ? place->count
                         : j->beyond ? place_beyond(place, a + place->offset, other)
                                     : place_differs(place, a + place->offset, other, j->bits);
    if (value == place->count)
      continue;
    out->place = p;
    out->value = value;
    say_values(c, place, value, a + place->offset, other, b ? "plain code by one thread has" : "the file has",
               &out->words);
    return true;
  }
  return false;
}

/* ---- finding ---- */

static int run(struct judge *j, const struct rerun *t, const struct capture *c, const struct places *places,
               struct outcome *out, struct error *err) {
  j->runs++;
  return rerun(t, c, places, out, err);
}

/* An end that is none of plain code's. */
static bool take_end(const struct outcome *o, enum fault_kind kind, struct fault *out) {
  if (o->end == RERUN_RAN)
    return false;
  out->kind = kind;
  out->end = o->end;
  out->code = o->code;
  out->fact = o->fact;
  say_end(o, &out->words);
  return true;
}

struct outcomes {
  struct outcome checked, wanted, plain;
};

/* The first kind of fault that is there; `only`: that one alone is looked for (FAULT_OF_NOTHING: all). */
static int look(struct judge *j, const struct capture *c, const struct places *places, enum fault_kind only,
                struct outcomes *o, struct fault *out, struct error *err) {
  const bool any = only == FAULT_OF_NOTHING;
  int code = any || only == FAULT_CHECK ? run(j, &j->checked, c, places, &o->checked, err) : OP_OK;
  if (!code && o->checked.end == RERUN_REFUSED && o->checked.code == OP_ERR_VIOLATION)
    take_end(&o->checked, FAULT_CHECK, out);
  if (code || out->kind || only == FAULT_CHECK)
    return code;
  code = run(j, &j->wanted, c, places, &o->wanted, err);
  if (code || take_end(&o->wanted, FAULT_REFUSED, out))
    return code;
  if (any || only == FAULT_DIFFERS)
    code = run(j, &j->plain, c, places, &o->plain, err);
  const bool compared = !code && o->plain.values && o->plain.end == RERUN_RAN;
  if (compared && find_difference(j, c, places, o->wanted.values, o->plain.values, out))
    out->kind = FAULT_DIFFERS;
  else if (!code && (any || only == FAULT_KEPT) && find_difference(j, c, places, o->wanted.values, NULL, out))
    out->kind = FAULT_KEPT;
  return code;
}

static int find(struct judge *j, const struct capture *c, const struct places *places, enum fault_kind only,
                struct fault *out, struct error *err) {
  struct outcomes o = {0};
  const int code = look(j, c, places, only, &o, out, err);
  outcome_free(&o.checked, places);
  outcome_free(&o.wanted, places);
  outcome_free(&o.plain, places);
  return code;
}

void fault_of(const struct judge *j, const struct capture *c, const struct places *places,
              const struct outcome *ran, struct fault *out) {
  if (!take_end(ran, FAULT_REFUSED, out) && find_difference(j, c, places, ran->values, NULL, out))
    out->kind = FAULT_KEPT;
}

int fault_find(struct judge *j, const struct capture *c, enum fault_kind only, struct fault *out,
               struct error *err) {
  struct places places;
  *out = (struct fault){0};
  int code = places_find(c, &places, err);
  if (!code)
    code = find(j, c, &places, only, out, err);
  places_free(&places);
  return code;
}

void fault_free(struct fault *f) {
  text_free(&f->words);
}

bool fault_is_there(struct judge *j, const struct capture *c, const struct fault *f) {
  struct fault now;
  struct error err = {0};
  const bool still = fault_find(j, c, f->kind, &now, &err) == OP_OK && now.kind == f->kind &&
                     now.end == f->end && now.code == f->code && now.fact == f->fact;
  fault_free(&now);
  error_free(&err);
  return still;
}
