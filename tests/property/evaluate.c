/* The reference: trees and statements evaluated on plain memory. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernel.h"

static struct value eval(struct frame *f, int index);

static bool is_there(const struct frame *f, const struct param *p) {
  return !p->optional || (!p->absent && (p->flag < 0 || value_load(V_INT, f->at[p->flag][0]).w));
}

static unsigned char *place(const struct frame *f, int p, int entry, int part);

/* The component that is this element's own; -1: none. */
static int own_part(const struct frame *f, const struct param *p, int entry) {
  const bool ragged = is_ragged(p);
  return (int)value_load(
             V_INT, place(f, p->beside, ragged ? entry : NO_ENTRY, ragged || entry == NO_ENTRY ? 0 : f->j))
      .w;
}

static unsigned char *place(const struct frame *f, int p, int entry, int part) {
  const struct param *param = &f->kernel->params[p];
  int e = entry == NO_ENTRY ? 0 : entry == BY_LOOP ? f->j % param->width : entry;
  int c = part == BY_LOOP ? f->i % param->dim : part == BY_PARTS ? own_part(f, param, entry) : part;
  if (is_ragged(param)) {
    const int k = (entry == BY_LOOP ? f->j : entry) % f->ragged[p].count;
    const size_t row = (size_t)(f->ragged[p].targets ? f->ragged[p].targets[k] : k);
    return f->ragged[p].rows + (row * (size_t)param->dim + (size_t)c) * vtypes[param->type].size;
  }
  /* A vector of numbers is one row of ints, a vector of data a list of rows. */
  if (param->form == FORM_IDX)
    return f->at[p][0] + (size_t)e * sizeof(int);
  return f->at[p][e] + (size_t)c * vtypes[param->type].size;
}

static struct value leaf(struct frame *f, const struct node *n) {
  const struct param *p = &f->kernel->params[n->which];
  if (!is_there(f, p) || (is_ragged(p) && !f->ragged[n->which].count))
    return (struct value){3, 3};
  return value_load(p->form == FORM_IDX ? V_INT : p->type, place(f, n->which, n->entry, n->part));
}

static struct value call(struct frame *f, const struct node *n) {
  struct value old[2] = {f->formal[0], f->formal[1]};
  struct value a = eval(f, n->kid[0]), b = eval(f, n->kid[1]);
  f->formal[0] = a;
  f->formal[1] = b;
  struct value v = eval(f, f->kernel->helper[n->floating]);
  f->formal[0] = old[0];
  f->formal[1] = old[1];
  return v;
}

static double eval_floating(const struct frame *f, const struct node *n, double a, double b) {
  switch (n->op) {
  case N_ADD: return a + b;
  case N_SUB: return a - b;
  case N_MUL: return a * b;
  case N_MIN: return a < b ? a : b;
  case N_MAX: return a > b ? a : b;
  case N_ABS: return fabs(a);
  case N_NEG: return -a;
  case N_FLOOR: return floor(a);
  case N_CLAMP:
    return a < -(double)n->whole ? -(double)n->whole : a > (double)n->whole ? (double)n->whole : a;
  case N_ROOT: return sqrt(fabs(a) + 1);
  case N_SINE: return sin(a);
  case N_QUOTIENT: return a / (fabs(b) + 1);
  case N_DECAY: return exp(-fabs(a));
  default: fprintf(stderr, "%s: floating node %d\n", f->kernel->name, (int)n->op); abort();
  }
}

static long long eval_whole(const struct frame *f, const struct node *n, long long a, long long b) {
  switch (n->op) {
  case N_ADD: return a + b;
  case N_SUB: return a - b;
  case N_MUL: return a * b;
  case N_MIN: return a < b ? a : b;
  case N_MAX: return a > b ? a : b;
  case N_ABS: return a < 0 ? -a : a;
  case N_NEG: return -a;
  case N_CLAMP: return a < -n->whole ? -n->whole : a > n->whole ? n->whole : a;
  case N_LESS: return a < b;
  case N_BOTH: return a & b;
  case N_EITHER: return a | b;
  case N_XOR: return a ^ b;
  case N_SHIFT_LEFT: return (a & 1023) << n->whole;
  case N_SHIFT_RIGHT: return (a & 1048575) >> n->whole;
  case N_DIV: return a / n->whole;
  case N_MOD: return a % n->whole;
  case N_TABLE: return f->kernel->table[a & 3];
  default: fprintf(stderr, "%s: whole node %d\n", f->kernel->name, (int)n->op); abort();
  }
}

/* The claim on which exact comparison rests. */
static void check_bounds(const struct frame *f, const struct node *n, struct value v) {
  bool good = f->odd        ? true
              : n->floating ? fabs(v.f) <= n->bound &&
                                  (n->bits > 60 || ldexp(v.f, n->bits) == rint(ldexp(v.f, n->bits)))
                            : fabs((double)v.w) <= n->bound;
  if (!good) {
    fprintf(stderr, "the test is wrong: kernel %s, node %d (op %d): %.17g / %lld is beyond %g, %d bits\n",
            f->kernel->name, (int)(n - f->kernel->nodes), (int)n->op, v.f, v.w, n->bound, n->bits);
    abort();
  }
}

static struct value eval(struct frame *f, int index) {
  const struct node *n = &f->kernel->nodes[index];
  struct value v = {0, 0};
  switch (n->op) {
  case N_NUMBER: v = (struct value){n->number, n->whole}; break;
  case N_LEAF: v = leaf(f, n); break;
  case N_LOCAL: v = f->locals[n->which]; break;
  case N_FORMAL: v = f->formal[n->which]; break;
  case N_CONSTANT:
    v = value_load(constants[n->which].type, (unsigned char *)constants[n->which].at +
                                                 (size_t)n->part * vtypes[constants[n->which].type].size);
    break;
  case N_CALL: v = call(f, n); break;
  case N_SELECT: v = eval(f, n->kid[eval(f, n->kid[0]).w ? 1 : 2]); break;
  case N_FLOATING: v.f = (double)eval(f, n->kid[0]).w; break;
  case N_WHOLE: v.w = (long long)eval(f, n->kid[0]).f; break;
  case N_LESS:
    if (f->kernel->nodes[n->kid[0]].floating) {
      v.w = eval(f, n->kid[0]).f < eval(f, n->kid[1]).f;
      break;
    }
    /* fall through */
  default: {
    struct value a = eval(f, n->kid[0]), b = n->kid[1] >= 0 ? eval(f, n->kid[1]) : v;
    if (n->floating)
      v.f = eval_floating(f, n, a.f, b.f);
    else
      v.w = eval_whole(f, n, a.w, b.w);
  }
  }
  check_bounds(f, n, v);
  return v;
}

static void run_extreme(struct frame *f, const struct statement *s) {
  const struct param *p = &f->kernel->params[s->target];
  unsigned char candidate[8], *best = place(f, s->target, s->entry, s->part);
  value_store(p->type, candidate, eval(f, s->value));
  bool wins = keeps_least(p) ? value_less(p->type, candidate, best) : value_less(p->type, best, candidate);
  if (!wins)
    return;
  value_store(p->type, best, value_load(p->type, candidate));
  if (s->info >= 0)
    for (int c = 0; c < f->kernel->params[s->info].dim; c++)
      value_store(f->kernel->params[s->info].type, place(f, s->info, NO_ENTRY, c), eval(f, s->payload[c]));
}

static void run_write(struct frame *f, const struct statement *s) {
  bool holds = s->condition < 0 || eval(f, s->condition).w != 0;
  int node = holds ? s->value : s->other;
  if (node < 0 || (s->part == BY_PARTS && own_part(f, &f->kernel->params[s->target], s->entry) < 0))
    return;
  enum vtype type = f->kernel->params[s->target].type;
  unsigned char *at = place(f, s->target, s->entry, s->part);
  if (s->what == S_SET)
    value_store(type, at, eval(f, node));
  else
    value_add(type, at, eval(f, node), s->style == 1 || s->style == 3);
}

static void run_target(struct frame *f, const struct statement *s) {
  const struct param *p = &f->kernel->params[s->target];
  if (!is_there(f, p))
    return;
  const int rows = is_ragged(p) ? f->ragged[s->target].count : p->width;
  int parts = s->part == BY_LOOP ? p->dim : 1, entries = s->entry == BY_LOOP || !rows ? rows : 1;
  if (s->over >= 0)
    entries = f->ragged[s->over].count;
  for (f->j = 0; f->j < entries; f->j++)
    for (f->i = 0; f->i < parts; f->i++)
      if (s->what == S_EXTREME)
        run_extreme(f, s);
      else
        run_write(f, s);
  f->i = f->j = 0;
}

void kernel_run(struct frame *f) {
  const struct kernel *k = f->kernel;
  f->i = f->j = 0;
  for (int s = 0; s < k->nstatements; s++) {
    const struct statement *st = &k->statements[s];
    if (st->what == S_LOCAL)
      f->locals[st->target] = eval(f, st->value);
    else if (st->what == S_RETURN) {
      if (eval(f, st->condition).w)
        return;
    } else
      run_target(f, st);
  }
}
