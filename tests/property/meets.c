/* Arguments through whose rows elements meet, in such a way that their order is of no matter: the answer is that of a serial
 * reference, unless an element's change is lost. */
#include "meets.h"

void meets_begin(struct kernel *k, int number) {
  k->meeting = !k->direct && !k->sums && !k->single && number >= FIRST_ROUND;
  k->lone = k->meeting && number % LONE_EVERY == 0;
}

int meets_number(int n, bool lone) {
  const int each = SINGLE_EVERY - 1;
  return FIRST_ROUND + (lone ? n * LONE_EVERY : n / each * SINGLE_EVERY + n % each);
}

/* All elements do the same with a component, whichever target of theirs it is of. */
bool meets_whole(const struct param *p) {
  return p->meets == MEETS_EQUAL || p->meets == MEETS_PARTS;
}

static bool can_meet(const struct kernel *k, const struct param *p) {
  return !k->direct && !k->single && !p->absent && (p->access == OP_WRITE || p->access == OP_RW) &&
         (p->form == FORM_COLUMN || p->form == FORM_VECTOR || (p->form == FORM_RAGGED && !k->sums));
}

/* Its map gets a second argument: of the same targets, or that says components. */
static void add_beside(struct kernel *k, struct random *r, int of) {
  const struct param *p = &k->params[of];
  struct param *q = &k->params[k->nparams];
  const bool says = p->meets == MEETS_PARTS, ragged = p->form == FORM_RAGGED;
  *q = (struct param){.form = !says    ? p->form
                              : ragged ? FORM_ENTRY
                                       : FORM_DIRECT,
                      .type = says ? V_INT : (enum vtype)random_below(r, V_TYPES),
                      .dim = !says          ? random_between(r, 1, 3)
                             : is_vector(p) ? p->width
                                            : 1,
                      .access = OP_READ,
                      .column = p->column,
                      .width = p->width,
                      .ragged = p->ragged,
                      .spelling = random_below(r, 2),
                      .flag = -1,
                      .ref = -1,
                      .beside = -1,
                      .twin = -1,
                      .with = of,
                      .says_parts = says};
  k->params[of].beside = k->nparams++;
}

/* The same dat through another column: elements meet there too, but none comes to a target by both. */
static void add_twin(struct kernel *k, struct random *r, int of) {
  struct param *p = &k->params[of], *q = &k->params[k->nparams];
  *q = *p;
  q->column = (p->column + random_between(r, 1, 3)) % 4;
  q->with = q->twin = of;
  p->twin = k->nparams++;
}

void meets_choose(struct kernel *k, struct random *r) {
  const int n = k->nparams;
  for (int i = 0; i < n; i++) {
    struct param *p = &k->params[i];
    if (!can_meet(k, p) || (!k->meeting && !random_chance(r, 50)))
      continue;
    const bool room = k->nparams < MAX_PARAMS, bits = !vtypes[p->type].floating && p->type != V_BOOL;
    const enum meets kinds[] = {MEETS_ADDS, MEETS_LEAST, MEETS_MOST, MEETS_EQUAL,
                                MEETS_OR,   MEETS_AND,   MEETS_XOR};
    p->meets = p->access == OP_WRITE          ? MEETS_EQUAL
               : room && random_chance(r, 25) ? MEETS_PARTS
                                              : kinds[random_below(r, bits ? 7 : 4)];
    p->inexact = false;
    if (p->meets == MEETS_PARTS || (p->meets == MEETS_EQUAL && room && random_chance(r, 80)))
      add_beside(k, r, i);
    if (p->spelling == 3) /* no promise that nobody else changes the row */
      p->spelling = 0;
    if (!meets_whole(p) && p->form == FORM_COLUMN && !k->lone && !p->optional && k->nparams < MAX_PARAMS &&
        random_chance(r, 40))
      add_twin(k, r, i);
  }
}

enum what meets_what(const struct param *p) {
  return p->meets == MEETS_ADDS                              ? S_ADD
         : p->meets == MEETS_LEAST || p->meets == MEETS_MOST ? S_EXTREME
                                                             : S_SET;
}

void meets_fill(struct kernel *k, struct random *r, struct statement *s) {
  static const enum op ops[MEETS] = {[MEETS_OR] = N_EITHER, [MEETS_AND] = N_BOTH, [MEETS_XOR] = N_XOR};
  const struct param *p = &k->params[s->target];
  struct grower g = {.kernel = k,
                     .random = r,
                     .leaves = true,
                     .loop_i = s->part == BY_LOOP,
                     .loop_j = s->entry == BY_LOOP,
                     .beside = p->beside};
  const bool may_skip = p->access == OP_RW && s->what != S_EXTREME && random_chance(r, 25);
  if (may_skip)
    s->condition = grow_condition(&g);
  g.equal = p->meets == MEETS_EQUAL;
  if (s->what == S_ADD) {
    s->style = p->type == V_BOOL ? 0 : random_below(r, 5);
    s->value = s->style == 2 || s->style == 3 ? grow_one(&g, p->type) : grow_step(&g, p->type);
  } else if (ops[p->meets])
    s->value = grow_bits(&g, s, ops[p->meets]);
  else
    s->value = grow_value(&g, p->type, p->access == OP_RW);
  if (s->what == S_EXTREME)
    s->style = random_below(r, 3);
  if (p->access == OP_WRITE && random_chance(r, 25)) {
    s->condition = grow_condition(&g);
    s->other = grow_value(&g, p->type, false);
  }
}
