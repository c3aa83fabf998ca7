#include "tree.h"

#include <math.h>

/* Sums and products must fit the mantissa of the kernel's floating type, with room to spare for a compiler that may
 * reorder; whole numbers must not overflow. */
static double limit(const struct grower *g, bool floating) {
  return ldexp(1, !floating ? 60 : g->kernel->single_work ? 22 : 48);
}

static int add(struct grower *g, struct node n) {
  struct kernel *k = g->kernel;
  k->nodes[k->nnodes] = n;
  return k->nnodes++;
}

static struct node *at(struct grower *g, int index) {
  return &g->kernel->nodes[index];
}

static int unary(struct grower *g, enum op op, bool floating, int a, double bound, int bits,
                 long long whole) {
  return add(
      g,
      (struct node){
          .op = op, .floating = floating, .kid = {a, -1, -1}, .bound = bound, .bits = bits, .whole = whole});
}

static int binary(struct grower *g, enum op op, bool floating, int a, int b, double bound, int bits) {
  return add(g,
             (struct node){.op = op, .floating = floating, .kid = {a, b, -1}, .bound = bound, .bits = bits});
}

static int max_int(int a, int b) {
  return a > b ? a : b;
}

/* Bring a value under a bound, and floating ones to few bits. */
static int tame(struct grower *g, int a, double bound, int bits) {
  if (!at(g, a)->floating) {
    if (at(g, a)->bound <= bound)
      return a;
    long long by = (long long)bound;
    return random_chance(g->random, 70) ? unary(g, N_MOD, false, a, (double)(by - 1), 0, by)
                                        : unary(g, N_CLAMP, false, a, (double)by, 0, by);
  }
  if (at(g, a)->bits > bits)
    a = unary(g, N_FLOOR, true, a, at(g, a)->bound + 1, 0, 0);
  if (at(g, a)->bound > bound)
    a = unary(g, N_CLAMP, true, a, floor(bound), at(g, a)->bits, (long long)bound);
  return a;
}

static int exact(struct grower *g, int a) {
  const struct node *n = at(g, a);
  if (n->bound * ldexp(1, n->floating ? n->bits : 0) <= limit(g, n->floating))
    return a;
  return n->floating ? tame(g, a, 256, VALUE_BITS) : tame(g, a, 1000003, 0);
}

static int number(struct grower *g, bool floating) {
  struct node n = {.op = N_NUMBER, .floating = floating, .kid = {-1, -1, -1}};
  if (floating) {
    n.number = random_between(g->random, -40, 40) / 4.0;
    n.bound = fabs(n.number);
    n.bits = VALUE_BITS;
  } else {
    n.whole = random_chance(g->random, 80) ? random_between(g->random, -9, 9)
                                           : random_between(g->random, -70000, 70000);
    n.bound = fabs((double)n.whole);
  }
  return add(g, n);
}

static int formal(struct grower *g, bool floating) {
  struct node n = {
      .op = N_FORMAL, .floating = floating, .kid = {-1, -1, -1}, .which = random_below(g->random, 2)};
  n.bound = floating ? 16 : 1048576;
  n.bits = floating ? VALUE_BITS : 0;
  return add(g, n);
}

static int constant(struct grower *g, bool floating) {
  int which = random_below(g->random, CONSTANTS);
  if (vtypes[constants[which].type].floating != floating)
    return number(g, floating);
  struct node n = {.op = N_CONSTANT, .floating = floating, .kid = {-1, -1, -1}, .which = which};
  n.part = random_below(g->random, constants[which].dim);
  n.bound = floating ? 16 : 2000000;
  n.bits = floating ? VALUE_BITS : 0;
  return add(g, n);
}

static double type_bound(enum vtype type) {
  return fmax(vtypes[type].high, -vtypes[type].low);
}

/* A parameter's component; only of the wanted class. */
static int parameter(struct grower *g, bool floating) {
  struct kernel *k = g->kernel;
  int found[MAX_PARAMS], n = 0;
  for (int p = 0; p < k->nparams; p++)
    if (k->params[p].readable && vtypes[k->params[p].type].floating == floating &&
        (!g->equal || p == g->beside || (k->params[p].form == FORM_GLOBAL && k->params[p].access == OP_READ)))
      found[n++] = p;
  if (!n)
    return number(g, floating);
  int which = found[random_below(g->random, n)];
  const struct param *p = &k->params[which];
  struct node leaf = {
      .op = N_LEAF, .floating = floating, .kid = {-1, -1, -1}, .which = which, .entry = NO_ENTRY};
  if (is_ragged(p))
    leaf.entry = g->loop_j && random_chance(g->random, 70) ? BY_LOOP : random_below(g->random, 12);
  if (is_vector(p) || (p->form == FORM_IDX && p->reach == FORM_VECTOR))
    leaf.entry = g->loop_j && random_chance(g->random, 60) ? BY_LOOP : random_below(g->random, p->width);
  if (g->equal && leaf.entry != NO_ENTRY)
    leaf.entry = BY_LOOP;
  leaf.part =
      g->loop_i && p->dim > 1 && random_chance(g->random, 60) ? BY_LOOP : random_below(g->random, p->dim);
  leaf.bound = p->form == FORM_IDX ? 65536 : fmax(type_bound(p->type), 3); /* 3: what is not there */
  leaf.bits = floating ? VALUE_BITS : 0;
  return exact(g, add(g, leaf));
}

static int local(struct grower *g, bool floating) {
  struct kernel *k = g->kernel;
  int which = k->nlocals ? random_below(g->random, k->nlocals) : -1;
  if (which < 0 || g->equal || k->local_floating[which] != floating)
    return parameter(g, floating);
  const struct node *of = at(g, k->local_node[which]);
  return add(g, (struct node){.op = N_LOCAL,
                              .floating = floating,
                              .kid = {-1, -1, -1},
                              .which = which,
                              .bound = of->bound,
                              .bits = of->bits});
}

static int terminal(struct grower *g, bool floating) {
  int choice = random_below(g->random, 100);
  if (g->formals)
    return choice < 75 && floating == g->floating_formals ? formal(g, floating) : number(g, floating);
  if (!g->leaves || choice < 12)
    return number(g, floating);
  return choice < 20 ? constant(g, floating) : choice < 35 ? local(g, floating) : parameter(g, floating);
}

static int call(struct grower *g, bool floating, int depth) {
  int root = g->kernel->helper[floating];
  if (root < 0 || g->formals)
    return grow(g, floating, depth);
  int a = tame(g, grow(g, floating, depth), floating ? 16 : 1048576, VALUE_BITS);
  int b = tame(g, grow(g, floating, depth), floating ? 16 : 1048576, VALUE_BITS);
  return binary(g, N_CALL, floating, a, b, at(g, root)->bound, at(g, root)->bits);
}

static int choose(struct grower *g, bool floating, int depth) {
  int c = grow_condition(g), a = grow(g, floating, depth), b = grow(g, floating, depth);
  return add(g, (struct node){.op = N_SELECT,
                              .floating = floating,
                              .kid = {c, a, b},
                              .bound = fmax(at(g, a)->bound, at(g, b)->bound),
                              .bits = max_int(at(g, a)->bits, at(g, b)->bits)});
}

/* Operations that both classes have. */
static int arithmetic(struct grower *g, bool floating, int depth) {
  static const enum op ops[] = {N_ADD, N_ADD, N_SUB, N_MUL, N_MUL, N_MIN, N_MAX, N_ABS, N_NEG};
  enum op op = ops[random_below(g->random, 9)];
  int a = grow(g, floating, depth);
  double x = at(g, a)->bound;
  int bits = at(g, a)->bits;
  if (op == N_ABS || op == N_NEG)
    return unary(g, op, floating, a, x, bits, 0);
  int b = grow(g, floating, depth);
  if (op == N_MUL) {
    double scale = ldexp(1, floating ? bits + at(g, b)->bits : 0);
    if (x * at(g, b)->bound * scale > limit(g, floating)) {
      a = tame(g, a, floating ? 64 : 100003, 0);
      b = tame(g, b, floating ? 64 : 100003, 0);
    }
    return binary(g, op, floating, a, b, at(g, a)->bound * at(g, b)->bound, at(g, a)->bits + at(g, b)->bits);
  }
  double y = at(g, b)->bound;
  bits = max_int(bits, at(g, b)->bits);
  return exact(g, binary(g, op, floating, a, b, op == N_ADD || op == N_SUB ? x + y : fmax(x, y), bits));
}

static int floating_only(struct grower *g, int depth) {
  if (random_chance(g->random, 40)) {
    int a = grow(g, true, depth);
    return unary(g, N_FLOOR, true, a, at(g, a)->bound + 1, 0, 0);
  }
  int a = tame(g, grow(g, false, depth), 1009, 0);
  return unary(g, N_FLOATING, true, a, at(g, a)->bound, 0, 0);
}

static int whole_only(struct grower *g, int depth) {
  static const enum op bits[] = {N_BOTH, N_EITHER, N_XOR};
  int choice = random_below(g->random, 8);
  if (choice == 0) {
    int f = grow(g, true, depth);
    return unary(g, N_WHOLE, false, f, at(g, f)->bound, 0, 0);
  }
  if (choice == 1)
    return grow_condition(g);
  int a = grow(g, false, depth);
  double x = at(g, a)->bound;
  if (choice == 2 && !g->formals)
    return unary(g, N_TABLE, false, a, 50, 0, 0);
  if (choice == 3)
    return unary(g, N_SHIFT_LEFT, false, a, 1023 * 256, 0, random_between(g->random, 0, 8));
  if (choice == 4)
    return unary(g, N_SHIFT_RIGHT, false, a, 1048575, 0, random_between(g->random, 0, 12));
  if (choice == 5)
    return unary(g, N_DIV, false, a, x, 0, random_between(g->random, 1, 17));
  if (choice == 6)
    return unary(g, N_MOD, false, a, 1008, 0, random_between(g->random, 1, 1009));
  int b = grow(g, false, depth);
  return exact(g,
               binary(g, bits[random_below(g->random, 3)], false, a, b, 2 * fmax(x, at(g, b)->bound) + 1, 0));
}

int grow(struct grower *g, bool floating, int depth) {
  if (depth <= 0 || g->kernel->nnodes > MAX_NODES - 300 || random_chance(g->random, 12))
    return terminal(g, floating);
  int choice = random_below(g->random, 100);
  if (choice < 60)
    return arithmetic(g, floating, depth - 1);
  if (choice < 72)
    return choose(g, floating, depth - 1);
  if (choice < 82)
    return exact(g, call(g, floating, depth - 1));
  return floating ? floating_only(g, depth - 1) : whole_only(g, depth - 1);
}

int grow_condition(struct grower *g) {
  bool floating = random_chance(g->random, 50);
  int a = grow(g, floating, 1), b = grow(g, floating, 1);
  return binary(g, N_LESS, false, a, b, 1, 0);
}

int grow_value(struct grower *g, enum vtype type, bool read_again) {
  const struct vtype_info *t = &vtypes[type];
  int a = grow(g, t->floating, random_between(g->random, 1, 4));
  bool wild = !read_again && random_chance(g->random, 25);
  if (t->floating) {
    double bits = ldexp(1, at(g, a)->bits);
    return wild && at(g, a)->bound * bits <= ldexp(1, 22) ? a : tame(g, a, 256, VALUE_BITS);
  }
  bool wraps = type == V_UINT || type == V_BOOL || type == V_CHAR || type == V_SHORT;
  if (wild || wraps)
    return a;
  a = tame(g, a, t->high, 0);
  return type == V_ULL ? unary(g, N_ABS, false, a, at(g, a)->bound, 0, 0) : a;
}

int grow_step(struct grower *g, enum vtype type) {
  int a = grow(g, vtypes[type].floating, random_between(g->random, 1, 3));
  return tame(g, a, vtypes[type].floating ? 4 : 257, VALUE_BITS);
}

int grow_one(struct grower *g, enum vtype type) {
  bool floating = vtypes[type].floating;
  return add(
      g, (struct node){
             .op = N_NUMBER, .floating = floating, .kid = {-1, -1, -1}, .number = 1, .whole = 1, .bound = 1});
}

int grow_bits(struct grower *g, const struct statement *s, enum op op) {
  enum { MOST = 62 }; /* bits: what is stored wraps as the sum of bits would */
  const int own = add(g, (struct node){.op = N_LEAF,
                                       .kid = {-1, -1, -1},
                                       .which = s->target,
                                       .entry = s->entry,
                                       .part = s->part,
                                       .bound = ldexp(1, MOST)});
  return binary(g, op, false, own, grow_value(g, g->kernel->params[s->target].type, true), ldexp(1, MOST), 0);
}

int grow_inexact(struct grower *g, int exact_part) {
  static const enum op ops[] = {N_ROOT, N_SINE, N_QUOTIENT, N_DECAY};
  enum op op = ops[random_below(g->random, 4)];
  int a = tame(g, grow(g, true, 2), 8, VALUE_BITS),
      b = op == N_QUOTIENT ? tame(g, grow(g, true, 1), 8, VALUE_BITS) : -1;
  int part = binary(g, op, true, a, b, 1e9, 99);
  return binary(g, N_ADD, true, exact_part, part, 1e300, 99);
}
