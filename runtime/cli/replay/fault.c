#include <stdio.h>
#include <string.h>

#include "cli/replay/replay.h"

static bool is_same_end(const struct outcome *a, const struct fault *f) {
  return a->end == f->end && a->code == f->code && a->fact == f->fact;
}

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
    const size_t value = other ? place_differs(place, a + place->offset, other, j->bits) : place->count;
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

static int find(struct judge *j, const struct capture *c, const struct places *places, struct fault *out,
                struct error *err) {
  struct outcome checked = {0}, wanted = {0}, plain = {0};
  int code = run(j, &j->checked, c, places, &checked, err);
  if (!code && checked.end == RERUN_REFUSED && checked.code == OP_ERR_VIOLATION)
    take_end(&checked, FAULT_CHECK, out);
  if (!code && !out->kind)
    code = run(j, &j->wanted, c, places, &wanted, err);
  if (!code && !out->kind)
    take_end(&wanted, FAULT_REFUSED, out);
  if (!code && !out->kind)
    code = run(j, &j->plain, c, places, &plain, err);
  if (!code && !out->kind && plain.end == RERUN_RAN &&
      find_difference(j, c, places, wanted.values, plain.values, out))
    out->kind = FAULT_DIFFERS;
  if (!code && !out->kind && find_difference(j, c, places, wanted.values, NULL, out))
    out->kind = FAULT_KEPT;
  outcome_free(&checked, places);
  outcome_free(&wanted, places);
  outcome_free(&plain, places);
  return code;
}

void fault_of(const struct judge *j, const struct capture *c, const struct places *places,
              const struct outcome *ran, struct fault *out) {
  if (!take_end(ran, FAULT_REFUSED, out) && find_difference(j, c, places, ran->values, NULL, out))
    out->kind = FAULT_KEPT;
}

int fault_find(struct judge *j, const struct capture *c, struct fault *out, struct error *err) {
  struct places places;
  *out = (struct fault){0};
  int code = places_find(c, &places, err);
  if (!code)
    code = find(j, c, &places, out, err);
  places_free(&places);
  return code;
}

void fault_free(struct fault *f) {
  text_free(&f->words);
}

/* ---- is it still there? ---- */

static bool differs_still(struct judge *j, const struct capture *c, const struct places *places,
                          const struct fault *f, struct error *err) {
  struct outcome wanted = {0}, plain = {0};
  struct fault found = {0};
  bool still = run(j, &j->wanted, c, places, &wanted, err) == OP_OK && wanted.end == RERUN_RAN;
  if (still && f->kind == FAULT_DIFFERS)
    still = run(j, &j->plain, c, places, &plain, err) == OP_OK && plain.end == RERUN_RAN;
  still = still && find_difference(j, c, places, wanted.values, plain.values, &found);
  fault_free(&found);
  outcome_free(&wanted, places);
  outcome_free(&plain, places);
  return still;
}

static bool ends_so_still(struct judge *j, const struct capture *c, const struct places *places,
                          const struct fault *f, struct error *err) {
  struct outcome ran = {0};
  const bool still =
      run(j, f->kind == FAULT_CHECK ? &j->checked : &j->wanted, c, places, &ran, err) == OP_OK &&
      is_same_end(&ran, f);
  outcome_free(&ran, places);
  return still;
}

bool fault_is_there(struct judge *j, const struct capture *c, const struct fault *f) {
  struct places places;
  struct error err = {0};
  bool still = places_find(c, &places, &err) == OP_OK;
  if (still)
    still = (f->kind == FAULT_DIFFERS || f->kind == FAULT_KEPT ? differs_still : ends_so_still)(j, c, &places,
                                                                                                f, &err);
  places_free(&places);
  error_free(&err);
  return still;
}
