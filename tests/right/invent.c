#include "invent.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "op2jit.h"

struct inventor {
  unsigned long state;
  struct right_kernel *k;
  struct text *out;
  int deep;
  bool vector; /* x[0] to x[2] can be read */
};

static unsigned long pick(struct inventor *v, unsigned long n) {
  v->state = v->state * 6364136223846793005u + 1442695040888963407u;
  return (v->state >> 33) % n;
}

/* '%e' becomes an expression, '%c' a condition, '%d' the number given; all else is text. */
static void put(struct inventor *v, const char *pattern, ...);

/* ---- expressions: always finite, never the same for all elements ---- */

static void expression(struct inventor *v) {
  static const char *const simple[] = {"a[0]", "a[1]",   "(a[0] + 0.25 * n[0])",
                                       "t0",   "pair.x", "table[1][n[0] % 3]"};
  static const char *const compound[] = {"(%e + %e)",        "(a[0] + 0.5 * %e)",
                                         "half(%e)",         "fmin(%e, 3.5 + a[1])",
                                         "(%c ? %e : a[1])", "fabs(a[0] - 3 * %e)",
                                         "sqrt(1 + %e)",     "total(a, 2)",
                                         "swapped(pair).x",  "(t1[n[0] & 1] + %e)",
                                         "larger(%e, a[0])", "(0.25 * %e + ((const double *)table)[4])"};
  if (v->vector && pick(v, 4) == 0)
    put(v, "x[%d][0]", (int)pick(v, RIGHT_ARITY));
  else if (v->deep >= 2 || pick(v, 2))
    put(v, "%s", simple[pick(v, sizeof simple / sizeof *simple)]);
  else {
    v->deep++;
    put(v, compound[pick(v, sizeof compound / sizeof *compound)]);
    v->deep--;
  }
}

static void condition(struct inventor *v) {
  static const char *const all[] = {"a[0] > 1",
                                    "n[0] == 1",
                                    "a[0] < a[1]",
                                    "(n[0] & 1)",
                                    "!(a[1] <= 0.7)",
                                    "n[0] > 1 || a[0] > 1.6",
                                    "n[0] != 0 && a[1] > 0.2"};
  put(v, "%s", all[pick(v, sizeof all / sizeof *all)]);
}

static void put(struct inventor *v, const char *pattern, ...) {
  va_list args;
  va_start(args, pattern);
  for (; *pattern; pattern++) {
    if (*pattern != '%') {
      text_add_char(v->out, *pattern);
      continue;
    }
    switch (*++pattern) {
    case 'e': expression(v); break;
    case 'c': condition(v); break;
    case 'd': text_addf(v->out, "%d", va_arg(args, int)); break;
    case 's': text_add(v->out, va_arg(args, const char *)); break;
    default: text_add_char(v->out, *pattern);
    }
  }
  va_end(args);
}

/* ---- ways to do what an argument promises ---- Each has a right form and a wrong one. In both @ is the
 * argument's name, # its dim, and $ stands for '@[i] = %e' of each component; ~ for the same without the last. */
struct way {
  const char *right, *wrong, *mistake;
};

static const struct way writes[] = {
    {"$", "~", "the last is not written"},
    {"for (int i = 0; i < #; i++) @[i] = %e;", "for (int i = 0; i + 1 < #; i++) @[i] = %e;",
     "the last is not written"},
    {"for (int i = 0; i < #; i++) @[i] = %e;", "for (int i = 0; i <= #; i++) @[i] = %e;",
     "one more is written"},
    {"{ double *p = @; for (int i = 0; i < #; i++) *p++ = %e; }",
     "{ double *p = @; for (int i = 0; i < #; i++) *++p = %e; }", "the first is left out"},
    {"{ double *p = @; for (int i = 0; i < #; i++) put(&p, %e); }",
     "{ double *p = @; for (int i = 1; i < #; i++) put(&p, %e); }", "the last is not written"},
    {"{ double *p = @; for (int i = 0; i < #; i++) *next(&p) = %e; }",
     "{ double *p = @ + 1; for (int i = 1; i < #; i++) *next(&p) = %e; }", "the first is left out"},
    {"{ double **q = &@; for (int i = 0; i < #; i++) (*q)[i] = %e; }",
     "{ double **q = &@; for (int i = 1; i < #; i++) (*q)[i] = %e; }", "the first is left out"},
    {"{ double *p = @, **q = &p; for (int i = 0; i < #; i++) *(*q)++ = %e; }",
     "{ double *p = @, **q = &p; for (int i = 1; i < #; i++) *(*q)++ = %e; }", "the last is not written"},
    {"{ struct cursor c = {@, #}; while (c.left > 0) { *c.at++ = %e; c.left--; } }",
     "{ struct cursor c = {@, #}; while (c.left > 1) { *c.at++ = %e; c.left--; } }",
     "the last is not written"},
    {"{ struct cursor c = {.left = #, .at = @}, *s = &c, d = *s; do *d.at++ = %e; while (--d.left); }",
     "{ struct cursor c = {.left = #, .at = @}, *s = &c, d = *s; do *d.at++ = %e; while (--d.left > 1); }",
     "the last is not written"},
    {"if (%c) { $ } else { $ }", "if (%c) { $ } else { ~ }", "the last is not always written"},
    {"switch (n[0] % 3) { case 0: $ break; case 1: { $ } break; default: $ }",
     "switch (n[0] % 3) { case 0: $ break; case 1: { $ } break; default: ~ }",
     "the last is not always written"},
    {"{ double t[#]; for (int i = 0; i < #; i++) t[i] = %e; for (int i = 0; i < #; i++) @[i] = t[# - 1 - i]; "
     "}",
     "{ double t[#]; for (int i = 0; i < #; i++) t[i] = %e; for (int i = 1; i < #; i++) @[i] = t[# - 1 - i]; "
     "}",
     "the first is left out"},
    {"$ @[0] = 0.5 * @[0] + %e;", "@[0] = 0.5 * @[0] + %e; for (int i = 1; i < #; i++) @[i] = %e;",
     "it is read first"},
    {"for (int i = #; i-- > 0;) @[i] = %e;", "for (int i = #; --i > 0;) @[i] = %e;", "the first is left out"},
    {"if (a[0] > 1) { $ } if (!(a[0] > 1)) { $ }", "if (a[0] > 1) { $ } if (!(a[0] > 1)) { ~ }",
     "the last is not always written"},
    {"{ int done = 0; if (%c) { $ done = 1; } if (!done) { $ } }",
     "{ int done = 0; if (%c) { $ done = 1; } if (!done) { ~ } }", "the last is not always written"},
    {"{ double *at[#]; for (int i = 0; i < #; i++) at[i] = @ + i; for (int i = 0; i < #; i++) *at[i] = %e; }",
     "{ double *at[#]; for (int i = 0; i < #; i++) at[i] = @ + i; at[0] = @ + 1; for (int i = 0; i < #; i++) "
     "*at[i] = %e; }",
     "the first is left out"},
    {"{ int i = 0; again_@: @[i] = %e; if (++i < #) goto again_@; }",
     "{ int i = 1; again_@: @[i] = %e; if (++i < #) goto again_@; }", "the first is left out"},
    {"for (int i = 0; i < #; i++) { @[i] = %e; if (%c) continue; @[i] = %e; }",
     "for (int i = 0; i < #; i++) { if (%c) continue; @[i] = %e; }", "not all are always written"},
    {"{ double *p = %c ? @ : @ + 1; $ *p = %e; }",
     "{ double *p = n[0] > 1 ? @ : @ + 1; for (int i = 1; i < #; i++) @[i] = %e; *p = %e; }",
     "the first is not always written"},
    {"{ int i = 0; for (;;) { @[i] = %e; if (++i == #) break; } }",
     "{ int i = 0; for (;;) { @[i] = %e; if (++i == # - 1) break; } }", "the last is not written"},
};

static const struct way sums[] = {
    {"@[0] += %e;", "@[0] = %e;", "it is assigned"},
    {"@[0] -= -(%e);", "@[0] *= %e;", "it is multiplied"},
    {"@[0] = @[0] + %e;", "@[0] = 2 * @[0] + %e;", "twice it is added to"},
    {"@[0] = %e + @[0];", "@[0] = %e - @[0];", "its sign changes"},
    {"@[0] = %e + @[0] - %e;", "@[0] = %e + @[0] * a[0];", "a product is added to"},
    {"add_to(@, %e);", "add_to(@, %e * @[0]);", "it is read"},
    {"{ double s = @[0]; for (int i = 0; i < 3; i++) s += %e; @[0] = s; }",
     "{ double s = @[0]; for (int i = 0; i < 3; i++) s = 0.5 * s + %e; @[0] = s; }", "a part is added to"},
    {"@[0] += %c ? %e : 0;", "{ const double v = %e; if (v > @[0]) @[0] = v; }", "it keeps the largest"},
    {"if (%c) @[0] += %e; else @[0] -= %e;", "if (%c) @[0] += %e; else @[0] = %e;",
     "it is assigned on one way"},
    {"@[0]++; --@[0]; @[0] += %e;", "@[0] = 1; @[0] += %e;", "it is set first"},
    {"{ double *p = @, **q = &p; **q += %e; }", "{ double *p = @, **q = &p; **q = %e; }", "it is assigned"},
    {"for (int i = 0; i < #; i++) @[i] += %e;", "for (int i = 0; i <= #; i++) @[i] += %e;",
     "one more is added to"},
};

/* Of OP_MAX; of OP_MIN with the other words. */
static const struct way extrema[] = {
    {"{ const double v = %e; if (v > *@) *@ = v; }", "{ const double v = %e; *@ = v; }", "it is assigned"},
    {"{ const double v = %e; if (*@ < v) { *@ = v; } }", "{ const double v = %e; if (*@ > v) { *@ = v; } }",
     "the wrong way round"},
    {"*@ = fmax(*@, %e);", "*@ = fmin(*@, %e);", "the wrong way round"},
    {"*@ = fmax(%e, fmax(%e, *@));", "*@ = fmax(0.25 * n[0], fmin(%e, *@));", "the wrong one within"},
    {"*@ = larger(*@, %e);", "*@ = larger(a[0], %e);", "it is left out"},
    {"*@ = -fmin(-*@, -(%e));", "*@ = -fmax(-*@, -(%e));", "the wrong way round"},
    {"{ const double v = %e; *@ = v > *@ ? v : *@; }", "{ const double v = %e; *@ = v > *@ ? *@ : v; }",
     "the wrong way round"},
    {"{ double best = *@; for (int i = 0; i < 2; i++) best = best > a[i] ? best : a[i]; *@ = best; }",
     "{ double best = a[0]; for (int i = 0; i < 2; i++) best = best > a[i] ? best : a[i]; *@ = best; }",
     "it is left out"},
    {"raise_to(@, %e); raise_to(@, %e);", "raise_to(@, %e); *@ = %e;", "it is assigned at last"},
    {"{ const double v = %e; if (*@ >= v) ; else *@ = v; }", "{ const double v = %e; if (*@ >= v) *@ = v; }",
     "the wrong way round"},
    {"*@ = fmax(%e, *@) + 0;", "*@ = fmax(%e, *@) + 1;", "something is added"},
    {"{ double pair_of[2] = {*@, %e}; *@ = pair_of[pair_of[1] > pair_of[0]]; }",
     "{ double pair_of[2] = {*@, %e}; *@ = pair_of[pair_of[1] < pair_of[0]]; }", "the wrong way round"},
};

static const struct way changes[] = {
    {"for (int i = 0; i < #; i++) @[i] = 0.5 * @[i] + %e;",
     "for (int i = 0; i <= #; i++) @[i] = 0.5 * @[i] + %e;", "one more is changed"},
    {"if (%c) @[0] = %e;", "{ static double last; @[0] += last; last = %e; }", "something is kept"},
    {"{ struct cursor c = {@, #}; for (double *end = c.at + c.left; c.at < end; c.at++) *c.at *= %e; }",
     "{ ((double *)a)[0] = 3 + %e; @[0] = a[0]; }", "what is read is written"},
    {"@[# - 1] += %e; @[0] = @[# - 1] * 0.5;", "((double *)a)[1] += 1 + n[0]; @[0] += %e;",
     "what is read is written"},
    {"{ double t[3] = {%e, %e, %e}; @[0] = t[n[0] % 3]; }",
     "{ double t[3] = {%e, %e, %e}; for (int i = 0; i < 4; i++) @[0] += t[i]; }", "an array is left"},
};

static const struct way vectors[] = {
    {"for (int j = 0; j < 3; j++) for (int i = 0; i < #; i++) @[j][i] += %e;",
     "for (int j = 0; j < 3; j++) for (int i = 0; i < #; i++) @[j][i] = %e;", "it is assigned"},
    {"for (int j = 0; j < 3; j++) { double *p = @[j]; for (int i = 0; i < #; i++) *p++ += %e; }",
     "for (int j = 0; j < 3; j++) { double *p = @[j]; for (int i = 0; i <= #; i++) *p++ += %e; }",
     "one more is added to"},
    {"{ double **q = @; for (int j = 0; j < 3; j++, q++) add_to(*q, %e); }",
     "{ double **q = @; for (int j = 0; j < 3; j++, q++) add_to(*q, (*q)[0] * a[1]); }", "it is read"},
};

static const struct way counts[] = {
    {"*@ += n[0] > 1;", "*@ = n[0];", "it is assigned"},
    {"{ int c = *@; if (%c) c++; *@ = c + 1; }", "{ int c = *@; if (%c) c++; *@ = 2 * c; }", "it is doubled"},
    {"if (n[0] & 1) ++*@; else *@ -= 2;", "if (n[0] & 1) *@ |= 5; else *@ -= 2;", "bits are set"},
};

#define WAYS(table, access, global, vector, type)                                                            \
  { table, sizeof table / sizeof *table, access, global, vector, type }
static const struct kind {
  const struct way *ways;
  unsigned long count;
  int access;
  bool global, vector;
  enum type_code type;
} kinds[] = {
    WAYS(writes, OP_WRITE, false, false, TYPE_DOUBLE), WAYS(writes, OP_WRITE, false, false, TYPE_DOUBLE),
    WAYS(sums, OP_INC, false, false, TYPE_DOUBLE),     WAYS(sums, OP_INC, true, false, TYPE_DOUBLE),
    WAYS(extrema, OP_MAX, true, false, TYPE_DOUBLE),   WAYS(extrema, OP_MIN, true, false, TYPE_DOUBLE),
    WAYS(changes, OP_RW, false, false, TYPE_DOUBLE),   WAYS(vectors, OP_INC, false, true, TYPE_DOUBLE),
    WAYS(counts, OP_INC, true, false, TYPE_INT),
};

/* The other way round: of words and signs that only extrema have. */
static const char *const turned[][2] = {{"fmax", "fmin"},         {"fmin", "fmax"}, {"larger", "smaller"},
                                        {"raise_to", "lower_to"}, {" > ", " < "},   {" < ", " > "},
                                        {" >= ", " <= "}};

static const char *turn(const char *at, const char **word) {
  for (size_t i = 0; i < sizeof turned / sizeof *turned; i++)
    if (strncmp(at, turned[i][0], strlen(turned[i][0])) == 0) {
      *word = turned[i][1];
      return at + strlen(turned[i][0]);
    }
  return NULL;
}

static void components(const char *name, int n, struct text *out) {
  for (int c = 0; c < n; c++)
    text_addf(out, "%s[%d] = %%e; ", name, c);
}

/* One way, as a pattern for put. */
static void spell(const char *way, const char *name, const struct right_arg *arg, struct text *out) {
  const char *word = NULL;
  bool counts_rounds = false;
  for (; *way; way++) {
    counts_rounds = (counts_rounds || strncmp(way, "for (", 5) == 0) && *way != ')';
    const char *behind = arg->access == OP_MIN && !counts_rounds ? turn(way, &word) : NULL;
    if (behind) {
      text_add(out, word);
      way = behind - 1;
    } else if (*way == '@')
      text_add(out, name);
    else if (*way == '#')
      text_addf(out, "%d", arg->dim);
    else if (*way == '$')
      components(name, arg->dim, out);
    else if (*way == '~')
      components(name, arg->dim - 1, out);
    else if (*way == '%' && way[1] != 'e' && way[1] != 'c')
      text_add(out, "%%");
    else
      text_add_char(out, *way);
  }
}

static void task(struct inventor *v, const struct kind *kind, int i, bool mistaken) {
  const struct right_arg *arg = &v->k->args[i];
  const struct way *way = &kind->ways[pick(v, kind->count)];
  const bool shadows = pick(v, 3) == 0;
  struct text pattern = {0};
  char name[16];
  snprintf(name, sizeof name, "w%d", i);
  spell(mistaken ? way->wrong : way->right, name, arg, &pattern);
  if (mistaken)
    snprintf(v->k->mistake, sizeof v->k->mistake, "w%d: %s", i, way->mistake);
  put(v, "  {\n");
  if (shadows) /* another argument's name, and a helper's variable */
    put(v, "    const double w%d = %e, t0 = a[0] + 0.125 * w%d;\n", i + 1, i + 1);
  put(v, "    ");
  put(v, text_str(&pattern));
  put(v, "\n  }\n");
  text_free(&pattern);
}

static const char helpers[] =
    "static const double table[2][3] = {{0.5, 1.5, 0.25}, {2, 0.75, 1.25}};\n"
    "struct pair { double x, y; };\n"
    "struct cursor { double *at; int left; };\n"
    "static double half(double v) { return 0.5 * v; }\n"
    "static double larger(double x, double y) { return x > y ? x : y; }\n"
    "static double smaller(double x, double y) { if (y < x) return y; return x; }\n"
    "static void raise_to(double *m, double v) { if (*m < v) *m = v; }\n"
    "static void lower_to(double *m, double v) { if (v < *m) *m = v; }\n"
    "static void add_to(double *r, double v) { *r += v; }\n"
    "static void put(double **p, double v) { *(*p)++ = v; }\n"
    "static double *next(double **p) { return (*p)++; }\n"
    "static struct pair swapped(struct pair p) { double t = p.x; p.x = p.y; p.y = t; return p; }\n"
    "static double total(const double *v, int n) { double s = 0; while (n--) s += *v++; return s; }\n";

static void parameters(struct inventor *v) {
  put(v, "void k(const double *a, const int *n");
  for (int i = 2; i < v->k->nargs; i++) {
    const struct right_arg *arg = &v->k->args[i];
    const char *type = type_info(arg->type)->name;
    if (arg->access == OP_READ)
      put(v, ", const double *x[%d]", RIGHT_ARITY);
    else
      put(v, arg->vector ? ", %s *w%d[3]" : pick(v, 2) ? ", %s *w%d" : ", %s *restrict w%d", type, i);
  }
  put(v, ") {\n  double t0 = a[0] * a[1];\n  const double t1[2] = {a[1], 0.5};\n  struct pair pair = {.y = "
         "t0, .x = "
         "a[0]};\n");
}

void right_invent(unsigned long number, bool mistaken, struct right_kernel *out) {
  const struct kind *chosen[RIGHT_ARGS] = {0};
  struct inventor v = {.state = number * 2654435761u + 12345, .k = out, .out = &out->text};
  *out = (struct right_kernel){.nargs = 2};
  out->args[0] = (struct right_arg){TYPE_DOUBLE, 2, OP_READ, false, false};
  out->args[1] = (struct right_arg){TYPE_INT, 1, OP_READ, false, false};
  pick(&v, 2);
  v.vector = pick(&v, 3) == 0;
  if (v.vector)
    out->args[out->nargs++] = (struct right_arg){TYPE_DOUBLE, 1, OP_READ, true, false};
  const int first = out->nargs, tasks = 1 + (int)pick(&v, 3);
  for (int i = first; i < first + tasks; i++) {
    const struct kind *kind = chosen[i] = &kinds[pick(&v, sizeof kinds / sizeof *kinds)];
    const bool one = kind->access == OP_MIN || kind->access == OP_MAX || kind->type == TYPE_INT;
    out->args[out->nargs++] = (struct right_arg){kind->type, one ? 1 : 2 + (int)pick(&v, 3), kind->access,
                                                 kind->vector, kind->global};
  }
  put(&v, helpers);
  parameters(&v);
  const int wrong = first + (int)pick(&v, (unsigned long)tasks);
  for (int i = first; i < out->nargs; i++)
    task(&v, chosen[i], i, mistaken && i == wrong);
  put(&v, "}\n");
}

void right_free(struct right_kernel *k) {
  text_free(&k->text);
}
