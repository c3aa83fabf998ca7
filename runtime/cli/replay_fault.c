#include <stdio.h>
#include <string.h>

#include "cli/replay.h"

static void say_end(const struct outcome *o, struct text *out) {
  if (o->end == RERUN_DIED && o->code)
    text_addf(out, "the process died of signal %d (%s)", o->code, strsignal(o->code));
  else if (o->end == RERUN_DIED)
    text_add(out, "the process ended in the middle");
  else
    text_add(out, o->message);
}

/* ---- comparing two results ---- */

/* The first place that differs; `plain` NULL: from what is kept. */
static bool find_difference(const struct judge *j, const struct capture *c, const struct outcome *ran,
                            const struct outcome *plain, struct fault *out) {
  for (int p = 0; p < ran->places.count; p++) {
    const struct place *place = &ran->places.items[p];
    const enum type_code type = place->data->type;
    const unsigned char *is = ran->values + place->offset,
                        *other = plain ? plain->values + place->offset : place->data->after;
    const size_t value = other ? place_differs(place, is, other, j->bits) : place->count;
    if (value == place->count)
      continue;
    const size_t at = value * type_info(type)->size;
    place_tell(c, place, value, &out->words);
    text_add(&out->words, " is ");
    type_add(type, is + at, &out->words);
    text_addf(&out->words, ", and %s ", plain ? "plain code by one thread has" : "the file has");
    type_add(type, other + at, &out->words);
    return true;
  }
  return false;
}

/* ---- finding ---- */

static int run(struct judge *j, const struct rerun *t, const struct capture *c, struct outcome *out,
               struct error *err) {
  j->runs++;
  return rerun(t, c, out, err);
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
static int run_and_compare(struct judge *j, const struct capture *c, enum fault_kind only, struct outcomes *o,
                           struct fault *out, struct error *err) {
  const bool any = only == FAULT_OF_NOTHING;
  int code = any || only == FAULT_CHECK ? run(j, &j->checked, c, &o->checked, err) : OP_OK;
  if (!code && o->checked.end == RERUN_REFUSED && o->checked.code == OP_ERR_VIOLATION)
    take_end(&o->checked, FAULT_CHECK, out);
  if (code || out->kind || only == FAULT_CHECK)
    return code;
  code = run(j, &j->wanted, c, &o->wanted, err);
  if (code || take_end(&o->wanted, FAULT_REFUSED, out))
    return code;
  if (any || only == FAULT_DIFFERS)
    code = run(j, &j->plain, c, &o->plain, err);
  const bool compared = !code && o->plain.values && o->plain.end == RERUN_RAN;
  if (compared && find_difference(j, c, &o->wanted, &o->plain, out))
    out->kind = FAULT_DIFFERS;
  else if (!code && any && find_difference(j, c, &o->wanted, NULL, out))
    out->kind = FAULT_KEPT;
  return code;
}

void fault_of(const struct judge *j, const struct capture *c, const struct outcome *ran, struct fault *out) {
  if (!take_end(ran, FAULT_REFUSED, out) && find_difference(j, c, ran, NULL, out))
    out->kind = FAULT_KEPT;
}

int fault_find(struct judge *j, const struct capture *c, enum fault_kind only, struct fault *out,
               struct error *err) {
  struct outcomes o = {0};
  *out = (struct fault){0};
  const int code = run_and_compare(j, c, only, &o, out, err);
  outcome_free(&o.checked);
  outcome_free(&o.wanted);
  outcome_free(&o.plain);
  return code;
}

void fault_free(struct fault *f) {
  text_free(&f->words);
}

static bool is_same(const struct fault *a, const struct fault *b) {
  return a->kind == b->kind && a->end == b->end && a->code == b->code && a->fact == b->fact;
}

bool fault_is_there(struct judge *j, const struct capture *c, const struct fault *f) {
  struct fault now;
  struct error err = {0};
  const bool still = fault_find(j, c, f->kind, &now, &err) == OP_OK && is_same(&now, f);
  fault_free(&now);
  error_free(&err);
  return still;
}
