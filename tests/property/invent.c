/* Random kernels. Parameters walk over all combinations of access, type and dim, so that a modest number of
 * kernels covers every one; trees grow under bounds that keep every intermediate exact. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernel.h"
#include "meets.h"
#include "tree.h"

enum {
  DAT_SHAPES = 6 * V_TYPES * MAX_DIM,
  GLOBAL_SHAPES = 5 * V_TYPES * MAX_DIM,
  SINGLE_SHAPES = 2 * V_TYPES * MAX_DIM
};
enum { DATS = 3, GLOBALS = 3, SINGLES = 8 };

struct shape {
  int access;
  enum vtype type;
  int dim;
};

/* Number `index` of a walk over all shapes in an order of the seed's own. */
static struct shape walk(uint64_t seed, const int *accesses, int naccesses, int index) {
  int order[DAT_SHAPES], n = naccesses * V_TYPES * MAX_DIM;
  struct random r = random_stream(seed, 77u + (uint64_t)naccesses);
  for (int i = 0; i < n; i++)
    order[i] = i;
  random_shuffle(&r, order, n);
  int at = order[index % n];
  return (struct shape){accesses[at / (V_TYPES * MAX_DIM)], (enum vtype)(at / MAX_DIM % V_TYPES),
                        at % MAX_DIM + 1};
}

static struct param *add_param(struct kernel *k, struct random *r, enum form form, struct shape shape) {
  struct param *p = &k->params[k->nparams++];
  *p = (struct param){.form = form,
                      .type = shape.type,
                      .dim = shape.dim,
                      .access = shape.access,
                      .column = random_below(r, 4),
                      .width = random_between(r, 1, MAX_WIDTH),
                      .flag = -1,
                      .ref = -1,
                      .beside = -1,
                      .twin = -1,
                      .with = -1,
                      .spelling = random_below(r, 4)};
  /* Two arguments that many elements change may be one dat, so a kernel must not promise that they are not. */
  bool reduces = shape.access == OP_INC || shape.access == OP_MIN || shape.access == OP_MAX;
  if (p->spelling == 3 && (reduces || form == FORM_IDX))
    p->spelling = 0;
  return p;
}

/* Arguments that suit several kernels: few kinds of rows, and maps to read through only. */
static void add_direct_dat(struct kernel *k, struct random *r, struct shape shape) {
  static const enum vtype types[] = {V_DOUBLE, V_FLOAT, V_INT};
  const bool reaches = shape.access == OP_READ && random_chance(r, 25);
  const enum form form = !reaches ? FORM_DIRECT : random_chance(r, 50) ? FORM_COLUMN : FORM_VECTOR;
  const bool extremum = shape.access == OP_MIN || shape.access == OP_MAX; /* which are not shared */
  add_param(k, r, form,
            (struct shape){shape.access, types[shape.type % 3], extremum ? 3 : shape.dim % 2 + 1});
}

static void add_dat(struct kernel *k, struct random *r, struct shape shape) {
  if (k->meeting && !k->nparams)
    shape.access = random_chance(r, 30) ? OP_WRITE : OP_RW;
  else if (k->lone)
    shape.access = OP_READ;
  if (k->direct) {
    add_direct_dat(k, r, shape);
    return;
  }
  if (k->sums && shape.access != OP_READ && shape.access != OP_WRITE && shape.access != OP_RW)
    shape.access = OP_INC;
  static const enum form dat_forms[] = {FORM_DIRECT, FORM_DIRECT, FORM_COLUMN, FORM_COLUMN, FORM_VECTOR};
  const bool first = k->meeting && !k->nparams;
  add_param(k, r, first && k->lone ? FORM_COLUMN : dat_forms[random_below(r, 5 - 2 * first) + 2 * first],
            shape);
}

/* A struct is read and written, not combined. Of a kernel for one element it is read only: on a rank that is its own
 * neighbour, as no rank is, a copy of that element would change the kernel's globals a second time. */
static void add_box(struct kernel *k, struct random *r) {
  static const int of_boxes[] = {OP_READ, OP_WRITE, OP_RW};
  add_dat(k, r,
          (struct shape){of_boxes[random_below(r, k->single || k->lone ? 1 : 3)],
                         (enum vtype)random_below(r, V_TYPES), random_between(r, 1, MAX_BOXED)});
  k->params[k->nparams - 1].boxed = true;
}

/* Arguments through one or two ragged maps, of all accesses in turn. */
static void add_ragged(struct kernel *k, struct random *r) {
  static const int of_dats[] = {OP_READ, OP_READ, OP_WRITE, OP_RW, OP_INC, OP_INC, OP_MIN, OP_MAX},
                   of_meeting[] = {OP_READ, OP_WRITE, OP_WRITE, OP_RW, OP_RW, OP_RW, OP_INC, OP_MAX};
  for (int n = random_between(r, 1, 3); n > 0 && k->nparams < MAX_PARAMS - 1; n--) {
    const struct shape shape = {k->lone      ? OP_READ
                                : k->meeting ? of_meeting[random_below(r, 8)]
                                             : of_dats[random_below(r, 8)],
                                (enum vtype)random_below(r, V_TYPES), random_between(r, 1, RAGGED_DIM)};
    struct param *p = add_param(k, r, random_chance(r, 60) ? FORM_RAGGED : FORM_ENTRY, shape);
    if (k->sums && p->access != OP_READ) /* several threads may have such an element */
      p->access = p->form == FORM_RAGGED ? OP_READ : p->access < OP_INC ? p->access : OP_INC;
    p->ragged = random_chance(r, 25);
    p->spelling &= 1;
    p->boxed = (p->access == OP_READ || (p->access == OP_RW && !k->sums)) && random_chance(r, 15);
  }
}

static void add_params(struct kernel *k, struct random *r, uint64_t seed, int number) {
  static const int of_dats[] = {OP_READ, OP_WRITE, OP_RW, OP_INC, OP_MIN, OP_MAX};
  static const int of_globals[] = {OP_READ, OP_INC, OP_MIN, OP_MAX, OP_WORK};
  static const int of_single[] = {OP_WRITE, OP_RW};
  k->single = !k->direct && !k->sums && number % SINGLE_EVERY == SINGLE_EVERY - 1;
  meets_begin(k, number);
  if (k->single) {
    for (int i = 0; i < SINGLES; i++)
      add_param(k, r, FORM_GLOBAL, walk(seed, of_single, 2, number / SINGLE_EVERY * SINGLES + i));
  } else {
    int m = number - number / SINGLE_EVERY;
    for (int i = 0; i < DATS; i++)
      add_dat(k, r, walk(seed, of_dats, 6, m * DATS + i));
    for (int i = 0; i < (k->direct ? 1 : GLOBALS); i++)
      add_param(k, r, FORM_GLOBAL, walk(seed, of_globals, k->lone ? 1 : 5, m * GLOBALS + i));
  }
  add_dat(k, r, (struct shape){OP_READ, (enum vtype)random_below(r, V_TYPES), random_between(r, 1, 4)});
  if (random_chance(r, k->direct ? 10 : 50)) /* loops with structs stay alone */
    add_box(k, r);
  if (!k->single && !k->direct && (random_chance(r, k->meeting ? 70 : 35) || k->sums))
    add_ragged(k, r);
  if (!k->single && random_chance(r, 30)) {
    struct param *p = add_param(k, r, FORM_IDX, (struct shape){OP_READ, V_INT, 1});
    p->reach = (enum form)random_below(r, 3);
  }
  if (!k->single && !k->lone && random_chance(r, k->direct ? 10 : 30)) {
    int access = random_chance(r, 50) ? OP_MIN : OP_MAX;
    add_param(k, r, FORM_GLOBAL, (struct shape){access, (enum vtype)random_below(r, V_TYPES), 1});
    int ref = k->nparams - 1;
    struct shape shape = {access, (enum vtype)random_below(r, V_TYPES), random_between(r, 1, MAX_DIM)};
    add_param(k, r, FORM_INFO, shape)->ref = ref;
  }
}

/* Some parameters are optional, and one global tells the kernel whether they are there; some never are. */
static void add_options(struct kernel *k, struct random *r, int number) {
  if (k->nparams >= MAX_PARAMS || !random_chance(r, 40))
    return;
  int flag = k->nparams;
  for (int p = 0; p < k->nparams; p++) {
    struct param *q = &k->params[p];
    bool has_info = p + 1 < k->nparams && k->params[p + 1].form == FORM_INFO;
    if (q->form >= FORM_IDX || (k->meeting && p == 0) || is_ragged(q) || has_info || q->access == OP_WORK ||
        !random_chance(r, 30))
      continue;
    /* The first round over all shapes must run them. */
    bool never = (q->access == OP_WRITE || random_chance(r, 20));
    if (never && number < FIRST_ROUND)
      continue;
    q->optional = true;
    q->absent = never;
    if (!q->absent)
      q->flag = flag;
  }
  struct param *p = add_param(k, r, FORM_GLOBAL, (struct shape){OP_READ, V_INT, 1});
  p->spelling = 0;
}

static struct statement *add_statement(struct kernel *k, enum what what, int target) {
  struct statement *s = &k->statements[k->nstatements++];
  *s = (struct statement){.what = what,
                          .target = target,
                          .entry = NO_ENTRY,
                          .over = -1,
                          .value = -1,
                          .condition = -1,
                          .other = -1,
                          .info = -1};
  return s;
}

/* One that is always there; -1: none. */
static int any_ragged(const struct kernel *k, struct random *r) {
  int found[MAX_PARAMS], n = 0;
  for (int p = 0; p < k->nparams; p++)
    if (is_ragged(&k->params[p]) && k->params[p].flag < 0 && !k->params[p].absent)
      found[n++] = p;
  return n ? found[random_below(r, n)] : -1;
}

static void fill_statement(struct kernel *k, struct random *r, struct statement *s) {
  struct param *p = &k->params[s->target];
  if (p->meets) {
    meets_fill(k, r, s);
    return;
  }
  struct grower g = {
      .kernel = k, .random = r, .loop_i = s->part == BY_LOOP, .loop_j = s->entry == BY_LOOP, .leaves = true};
  if (k->sums && s->what == S_ADD && !is_vector(p) && !is_ragged(p) && random_chance(r, 70))
    s->over = any_ragged(k, r);
  g.loop_j |= s->over >= 0;
  bool everywhere = p->access == OP_WRITE || p->access == OP_WORK;
  bool read_again = p->access == OP_RW || p->access == OP_WORK;
  if (s->what == S_ADD) {
    s->style = p->type == V_BOOL ? 0 : random_below(r, 5);
    bool by_one = s->style == 2 || s->style == 3; /* ++ and -- */
    s->value = by_one ? grow_one(&g, p->type) : grow_step(&g, p->type);
  } else
    s->value = grow_value(&g, p->type, read_again);
  if (s->what == S_EXTREME)
    s->style = random_below(r, 3);
  else if (random_chance(r, 25)) {
    s->condition = grow_condition(&g);
    if (everywhere || (s->what == S_SET && random_chance(r, 50)))
      s->other = grow_value(&g, p->type, read_again);
  }
  if (s->what == S_SET && p->inexact)
    s->value = grow_inexact(&g, s->value);
}

/* Some parameters get values that are rounded, and are not read any more. */
static void choose_inexact(struct kernel *k, struct random *r, int target) {
  struct param *p = &k->params[target];
  bool alone = p->access == OP_WRITE || p->access == OP_RW;
  p->inexact =
      !k->direct && alone && !p->meets && is_dat(p) && vtypes[p->type].floating && random_chance(r, 25);
  p->readable &= !p->inexact;
}

/* All components of a parameter: by loops, or one statement each where there are few. */
static void write_all(struct kernel *k, struct random *r, int target, enum what what) {
  const struct param *p = &k->params[target];
  bool vector = is_vector(p) || is_ragged(p);
  bool loop_j = is_ragged(p) || (vector && (p->width > 2 || meets_whole(p) || random_chance(r, 50))),
       loop_i = p->dim > 3 || (p->dim > 1 && random_chance(r, 50));
  for (int e = 0; e < (vector && !loop_j ? p->width : 1); e++)
    for (int c = 0; c < (loop_i || p->meets == MEETS_PARTS ? 1 : p->dim); c++) {
      struct statement *s = add_statement(k, what, target);
      s->entry = !vector ? NO_ENTRY : loop_j ? BY_LOOP : e;
      s->part = p->meets == MEETS_PARTS ? BY_PARTS : loop_i ? BY_LOOP : c;
      fill_statement(k, r, s);
    }
}

static void write_some(struct kernel *k, struct random *r, int target, enum what what) {
  const struct param *p = &k->params[target];
  for (int n = random_between(r, 1, 3); n > 0; n--) {
    struct statement *s = add_statement(k, what, target);
    s->entry = is_vector(p) ? random_below(r, p->width) : is_ragged(p) ? random_below(r, 12) : NO_ENTRY;
    s->part = random_below(r, p->dim);
    fill_statement(k, r, s);
  }
}

static void write_extreme_with_info(struct kernel *k, struct random *r, int target, int info) {
  struct statement *s = add_statement(k, S_EXTREME, target);
  fill_statement(k, r, s);
  s->info = info;
  struct grower g = {.kernel = k, .random = r, .leaves = true};
  for (int c = 0; c < k->params[info].dim; c++)
    s->payload[c] = grow_value(&g, k->params[info].type, false);
}

static void write_param(struct kernel *k, struct random *r, int p) {
  enum what what = k->params[p].meets              ? meets_what(&k->params[p])
                   : k->params[p].access == OP_INC ? S_ADD
                   : k->params[p].access == OP_MIN || k->params[p].access == OP_MAX ? S_EXTREME
                                                                                    : S_SET;
  bool has_info = p + 1 < k->nparams && k->params[p + 1].form == FORM_INFO;
  choose_inexact(k, r, p);
  if (has_info)
    write_extreme_with_info(k, r, p, p + 1);
  else if (what != S_EXTREME && !meets_whole(&k->params[p]) && random_chance(r, 40) &&
           !(k->sums && is_ragged(&k->params[p])))
    write_some(k, r, p, what);
  else
    write_all(k, r, p, what);
}

static void add_statements(struct kernel *k, struct random *r) {
  struct grower g = {.kernel = k, .random = r, .leaves = true};
  for (int n = random_below(r, 3); n > 0; n--) {
    bool floating = random_chance(r, 50);
    struct statement *s = add_statement(k, S_LOCAL, k->nlocals);
    s->value = grow(&g, floating, 3);
    k->local_floating[k->nlocals] = floating;
    k->local_node[k->nlocals++] = s->value;
  }
  int order[MAX_PARAMS];
  for (int p = 0; p < k->nparams; p++)
    order[p] = p;
  random_shuffle(r, order, k->nparams);
  for (int i = 0; i < k->nparams; i++)
    if (k->params[order[i]].access == OP_WORK) {
      write_all(k, r, order[i], S_SET);
      k->params[order[i]].readable = true;
    }
  for (int i = 0; i < k->nparams; i++)
    if (k->params[order[i]].access == OP_WRITE && !k->params[order[i]].absent) {
      choose_inexact(k, r, order[i]);
      write_all(k, r, order[i], S_SET);
    }
  if (random_chance(r, 15))
    add_statement(k, S_RETURN, -1)->condition = grow_condition(&g);
  for (int i = 0; i < k->nparams; i++) {
    const struct param *p = &k->params[order[i]];
    bool later = p->access == OP_RW || p->access == OP_INC || p->access == OP_MIN || p->access == OP_MAX;
    if (later && !p->absent && p->form != FORM_INFO)
      write_param(k, r, order[i]);
  }
}

void kernel_invent(struct kernel *k, uint64_t seed, int number, bool direct, bool sums) {
  struct random r = random_stream(seed, (uint64_t)number);
  memset(k, 0, sizeof *k);
  k->direct = direct;
  k->sums = sums;
  snprintf(k->name, sizeof k->name, "k%d", number);
  k->single_work = random_chance(&r, 40);
  k->helper[0] = k->helper[1] = -1;
  for (int i = 0; i < 4; i++)
    k->table[i] = random_between(&r, -50, 50);
  add_params(k, &r, seed, number);
  add_options(k, &r, number);
  struct random meeting = random_stream(seed + 77, (uint64_t)number);
  meets_choose(k, &meeting);
  for (int p = 0; p < k->nparams; p++) {
    struct param *q = &k->params[p];
    q->readable = (q->access == OP_READ || q->access == OP_RW) && !q->absent && q->form != FORM_INFO;
    q->readable &= !q->meets;
    q->readable &= !k->sums || !is_ragged(q) || q->access == OP_READ;
  }
  for (int floating = 0; floating < 2; floating++)
    if (random_chance(&r, 40)) {
      struct grower g = {.kernel = k, .random = &r, .formals = true, .floating_formals = floating != 0};
      k->helper[floating] = grow(&g, floating != 0, 2);
    }
  add_statements(k, &r);
}
