/* Mistakes planted one at a time, each found with its argument, line and remedy; and for each the corrected
 * twin, which must stay silent. */
#include "../unit.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jit/found.h"
#include "jit/kernel/prelude.h"
#include "jit/prover.h"
#include "jit/trial.h"
#include "op2jit.h"
#include "planted.h"

static const struct prover *prover;
static const struct compiler *compiler;

/* Arguments in a few letters each: access r w i x(rw) n(min) m(max) s(work) g(read, all elements the same), dim; v and
 * arity for a vector: "r4 i1 v3r2". */
static int parse_arguments(const char *letters, struct prove_argument arguments[8]) {
  static const char accesses[] = "rwxinmsg";
  static const op_access values[] = {OP_READ, OP_WRITE, OP_RW, OP_INC, OP_MIN, OP_MAX, OP_WORK, OP_READ};
  int n = 0;
  while (*letters) {
    struct prove_argument *a = &arguments[n++];
    *a = (struct prove_argument){.type = "double", .dim = 1, .arity = 1};
    if (*letters == 'v') {
      a->form = PROVE_VECTOR;
      a->arity = letters[1] - '0';
      letters += 2;
    }
    a->access = values[strchr(accesses, *letters) - accesses];
    a->same = *letters == 'g';
    a->dim = letters[1] - '0';
    letters += 2 + (letters[2] == ' ');
  }
  return n;
}

static struct prove_result prove(const char *text, const char *letters) {
  static char loop[16384];
  snprintf(
      loop, sizeof loop,
      "%sstatic const double gam = 1.4, w[2] = {1, 2};\nstatic int variable[3];\n#include \"kernel.c\"\n",
      jit_prelude());
  const struct compile_file files[] = {{"loop.c", loop, strlen(loop)}, {"kernel.c", text, strlen(text)}};
  struct prove_argument arguments[8];
  const struct prove_request request = {.files = files,
                                        .nfiles = 2,
                                        .kernel = "k",
                                        .arguments = arguments,
                                        .narguments = parse_arguments(letters, arguments)};
  struct prove_result result;
  prover->prove(&request, &result);
  if (result.status != 0)
    fail_msg("%s:%d: %s", result.messages[0].file, result.messages[0].line, result.messages[0].text);
  return result;
}

/* A description of the loop, for trials. */
static void describe(const char *text, const struct prove_argument *arguments, int n, struct desc *d) {
  static double gam = 1.4, w[] = {1, 2};
  static int variable[3];
  static struct desc_const consts[] = {
      {"gam", TYPE_DOUBLE, 1, true, (unsigned char *)&gam},
      {"w", TYPE_DOUBLE, 2, true, (unsigned char *)w},
      {"variable", TYPE_INT, 3, false, (unsigned char *)variable},
  };
  *d =
      (struct desc){.kernel_name = "k", .text = (char *)(size_t)text, .fp = "strict", .nargs = n, .nsets = 1};
  d->consts = consts;
  d->nconsts = 3;
  for (int i = 0; i < n; i++) {
    const bool vector = arguments[i].form == PROVE_VECTOR;
    d->args[i] = (struct desc_arg){.form = DESC_DAT,
                                   .type = TYPE_DOUBLE,
                                   .dim = arguments[i].dim,
                                   .access = (int)arguments[i].access,
                                   .map = vector ? d->nmaps : -1,
                                   .idx = vector ? -arguments[i].arity : -1,
                                   .dat = i,
                                   .ref = -1,
                                   .info = -1,
                                   .present = true};
    if (vector)
      d->maps[d->nmaps++] = (struct desc_map){.arity = arguments[i].arity, .to = 1};
  }
}

/* A violation, still one after a run. */
static int confirmed(const char *text, const char *letters, struct prove_result *result, struct text *words) {
  struct prove_argument arguments[8];
  struct desc d;
  int violations = 0;
  describe(text, arguments, parse_arguments(letters, arguments), &d);
  witness_find(compiler, &d, false, result, words);
  for (int i = 0; i < result->nfindings; i++)
    violations += result->findings[i].verdict == PROVE_VIOLATED;
  return violations;
}

/* The words of a finding, and after a semicolon its remedies for a dat and for a global. Good until the next call. */
static const char *words_of(const struct prove_finding *f, const char *text, const char *letters) {
  static struct text words;
  struct prove_argument arguments[8];
  struct desc d;
  describe(text, arguments, parse_arguments(letters, arguments), &d);
  text_clear(&words);
  found_reason(&d, f, &words);
  text_add(&words, "; ");
  found_remedy(&d, f, &words);
  text_add(&words, "; ");
  if (f->argument >= 0)
    d.args[f->argument].form = DESC_GBL;
  found_remedy(&d, f, &words);
  return text_str(&words);
}

static void show(const struct prove_result *result, const char *text, const char *letters) {
  for (int i = 0; i < result->nfindings; i++)
    print_message("  argument %d, verdict %d, %s:%d:%d: %s\n", result->findings[i].argument,
                  result->findings[i].verdict, result->findings[i].file, result->findings[i].line,
                  result->findings[i].column, words_of(&result->findings[i], text, letters));
}

TEST(finds_each_mistake) {
  int missed = 0;
  for (int i = 0; i < planted_count; i++) {
    const struct mistake *m = &planted[i];
    struct prove_result result = prove(m->wrong, m->arguments);
    int seen = 0;
    for (int f = 0; f < result.nfindings; f++) {
      const struct prove_finding *found = &result.findings[f];
      const char *words = words_of(found, m->wrong, m->arguments);
      seen += found->verdict == PROVE_VIOLATED && found->argument == m->argument && found->line == m->line &&
              strstr(words, m->says) && strstr(strstr(words, "; "), m->remedy) &&
              strcmp(found->file, "kernel.c") == 0 && found->column > 0;
    }
    if (seen != 1) {
      print_message("mistake %d is not found as it should be:\n%s\n", i, m->wrong);
      show(&result, m->wrong, m->arguments);
      missed++;
    }
    prover->release(&result);
  }
  assert_int_equal(missed, 0);
}

TEST(proves_each_twin) {
  int alarms = 0;
  for (int i = 0; i < planted_count; i++) {
    const struct mistake *m = &planted[i];
    struct prove_result result = prove(m->right, m->arguments);
    if (result.nfindings) {
      print_message("false alarm at %d:\n%s\n", i, m->right);
      show(&result, m->right, m->arguments);
      alarms++;
    }
    prover->release(&result);
  }
  assert_int_equal(alarms, 0);
}

/* Correct kernels as people write them; everything is proved. */
TEST(proves_real_kernels) {
  static const char *const kernels[][2] = {
      {"r2 r2 r4 r4 r1 r1 i4 i4",
       "void k(const double *x1, const double *x2, const double *q1, const double *q2, const double *adt1,\n"
       "       const double *adt2, double *res1, double *res2) {\n"
       "  double dx = x1[0] - x2[0], dy = x1[1] - x2[1], ri = 1.0 / q1[0];\n"
       "  double p1 = (gam - 1) * (q1[3] - 0.5 * ri * (q1[1] * q1[1] + q1[2] * q1[2]));\n"
       "  double vol1 = ri * (q1[1] * dy - q1[2] * dx), mu = 0.5 * ((*adt1) + (*adt2)), f;\n"
       "  f = 0.5 * (vol1 * q1[0]) + mu * (q1[0] - q2[0]);\n  res1[0] += f;\n  res2[0] -= f;\n"
       "  for (int n = 1; n < 4; n++) {\n    f = vol1 * q1[n] + p1 + mu * (q1[n] - q2[n]);\n"
       "    res1[n] += f;\n    res2[n] -= f;\n  }\n}\n"},
      {"r4 w4",
       "void k(const double *q, double *qold) {\n  for (int n = 0; n < 4; n++) qold[n] = q[n];\n}\n"},
      {"v4r2 r4 w1",
       "void k(const double *x[4], const double *q, double *adt) {\n"
       "  double ri = 1.0 / q[0], u = ri * q[1], v = ri * q[2];\n"
       "  double c = sqrt(gam * ri * q[3]);\n  *adt = 0;\n"
       "  for (int i = 0; i < 4; i++) {\n    double dx = x[(i + 1) % 4][0] - x[i][0], dy = x[(i + 1) % 4][1] "
       "- x[i][1];\n"
       "    *adt += fabs(u * dy - v * dx) + c * sqrt(dx * dx + dy * dy);\n  }\n  *adt = (*adt) / 0.9;\n}\n"},
      {"r4 w4 x4 r1 i1",
       "void k(const double *qold, double *q, double *res, const double *adt, double *rms) {\n"
       "  double del, rmsl = 0.0, adti = 1.0 / *adt;\n"
       "  for (int n = 0; n < 4; n++) {\n    del = adti * res[n];\n    q[n] = qold[n] - del;\n    res[n] = "
       "0.0;\n"
       "    rmsl += del * del;\n  }\n  *rms += rmsl;\n}\n"},
      {"r1 w2", "void k(const double *a, double *b) {\n  switch ((int)*a) {\n  case 0:\n    b[0] = 1;\n    "
                "b[1] = 2;\n    break;\n"
                "  case 1: b[0] = 2; /* falls through */\n  default: b[0] = 3; b[1] = 0;\n  }\n}\n"},
      {"r2 w2 s3", "static void swap(double *p, double *q) { double t = *p; *p = *q; *q = t; }\n"
                   "void k(const double *restrict a, double *restrict b, double *work) {\n"
                   "  double local[2][2] = {{a[0], a[1]}, {a[1], a[0]}};\n  work[2] = local[0][1];\n"
                   "  b[0] = work[2];\n  b[1] = a[1];\n  swap(b, b + 1);\n}\n"},
      {"r1 n1 m1",
       "void k(const double *a, double *low, double *high) {\n  double v = *a;\n  if (v < *low) *low = v;\n"
       "  if (!(v <= *high)) *high = v;\n}\n"},
      {"r3 w3", "void k(const double *a, double *b) {\n  int i = 0;\n  do {\n    b[i] = a[i];\n    i++;\n  } "
                "while (i < 3);\n}\n"},
      {"r4 w4",
       "void k(const double *a, double *b) {\n  double *p = b;\n  do {\n    *p++ = *a++;\n  } while (p < b + "
       "4);\n}\n"},
      {"r1 m1",
       "void k(const double *a, double *m) {\n  if (*m < *a)\n    *m = *a;\n  else if (*a != *a)\n    *m = "
       "*a;\n}\n"},
      {"r1 m1", "void k(const double *a, double *m) {\n  double best = *m;\n  if (*a > best) best = *a;\n  "
                "*m = best;\n}\n"},
      {"r1 m1", "void k(const double *a, double *m) {\n  if (*m > *a) return;\n  *m = *a;\n}\n"},
      {"r2 m1", "static double big(double x, double y) {\n  if (x < y) return y;\n  return x;\n}\nvoid "
                "k(const double *a, double "
                "*m) {\n  *m = big(*m, fmax(a[0], -a[1]));\n  *m = -fmin(-*m, -a[0]) + 0;\n  *m = a[0] > "
                "a[1] ? (a[0] > *m ? "
                "a[0] : *m) : a[1] > *m ? a[1] : *m;\n}\n"},
      {"r2 n1", "void k(const double *a, double *m) {\n  double v = fabs(a[0] * a[1]);\n  for (int i = 0; i "
                "< 2; i++) {\n    if "
                "(a[i] >= *m) continue;\n    *m = a[i];\n  }\n  if (fabs(a[0] * a[1]) < *m) *m = v;\n}\n"},
      {"r2 i1",
       "void k(const double *a, double *r) {\n  *r = *r + a[0];\n  *r = a[0] * a[1] + *r - a[1];\n  r[0] -= "
       "-a[0];\n}\n"},
      {"r4 w4", "static double *next(double **p) { return (*p)++; }\nstatic void put(double **p, double v) { "
                "*(*p)++ = v; "
                "}\nvoid k(const double *a, double *w) {\n  double *p = w, **q = &p;\n  *next(&p) = a[0];\n  "
                "put(&p, a[1]);\n  "
                "*(*q)++ = a[2];\n  (*q)[0] = a[3];\n}\n"},
      {"r4 w4", "struct cursor { double *at; int left; };\nstatic void put(struct cursor *c, double v) {\n  "
                "*c->at++ = v;\n  "
                "c->left--;\n}\nvoid k(const double *a, double *w) {\n  struct cursor c = {.left = 4, .at = "
                "w}, d = c;\n  while "
                "(d.left > 0) put(&d, a[4 - d.left]);\n}\n"},
      {"r2 w2 w2", "void k(const double *a, double *v, double *w) {\n  double *to[2] = {v, w}, *t;\n  for "
                   "(int i = 0; i < 2; "
                   "i++) {\n    to[0][i] = a[0];\n    to[1][i] = a[1];\n    t = to[0];\n    to[0] = to[1];\n "
                   "   to[1] = t;\n  }\n}\n"},
      {"r3 w1", "void k(const double *a, double *b) {\n  double part;\n  int e;\n  *b = modf(a[0], &part) + "
                "part + frexp(a[1], &e) + e;\n}\n"},
  };
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
    struct prove_result result = prove(kernels[i][1], kernels[i][0]);
    int alarms = 0; /* one kernel has members in another order than C++ takes them in */
    for (int f = 0; f < result.nfindings; f++)
      alarms += result.findings[f].verdict != PROVE_C_ONLY || result.findings[f].what != FOUND_ORDER_IN_CXX;
    if (alarms) {
      print_message("false alarm:\n%s\n", kernels[i][1]);
      show(&result, kernels[i][1], kernels[i][0]);
    }
    assert_int_equal(alarms, 0);
    prover->release(&result);
  }
}

/* A kernel that cannot be followed is said to be unknown, never proved and never a violation. */
TEST(admits_what_it_does_not_know) {
  static const char *const kernels[][2] = {
      {"r4 w1", "void k(const double *a, double *b) {\n  *b = a[(int)a[0]];\n}\n"},
      {"r4 w4", "void k(const double *a, double *b) {\n  for (int i = 0; i < (int)a[0]; i++) b[i] = 1;\n}\n"},
      {"r1 w2", "void k(const double *a, double *b) {\n  memcpy(b, a, 8);\n}\n"},
      {"r1 w1", "void k(const double *a, double *b) {\n  if (*a > 0) goto end;\n  *b = 1;\nend:;\n}\n"},
      {"r1 i1", "void k(const double *a, double *b) {\n  *b += w[(int)*a];\n}\n"},
      {"r1 i1",
       "void k(const double *a, double *b) {\n  double z[3] = {1, 2, *a}, *p = z;\n  *b += p[(int)*a];\n}\n"},
      {"x1", "void k(double *a) {\n  while (*a > 1) *a = sqrt(*a);\n}\n"},
      {"x1", "void k(double *a) {\n  for (;;) {\n    *a -= 1;\n    if (*a < 0) break;\n  }\n}\n"},
      {"r4 w4", "void k(const double *a, double *b) {\n  double *p = b;\n  for (int n = 0; n < (int)*a; n++) "
                "*p++ = *a;\n}\n"},
      {"x2", "void k(double *a) {\n  double *p = a[0] > 0 ? a : a + 1;\n  *p = 1;\n}\n"},
      /* One of two conditions always holds, or says what another one left. */
      {"r1 w1", "void k(const double *a, double *b) {\n  if (*a > 0) *b = 1;\n  if (!(*a > 0)) *b = 2;\n}\n"},
      {"r1 w1",
       "void k(const double *a, double *b) {\n  int done = 0;\n  if (*a > 0) {\n    *b = 1;\n    done = "
       "1;\n  }\n  if (!done) *b = 2;\n}\n"},
      {"r1 w1",
       "void k(const double *a, double *b) {\n  if (*a > 0) *b = 1;\n  if (*a > 0) return;\n  *b = 2;\n}\n"},
      {"r1 v2w1",
       "void k(const double *a, double *b[2]) {\n  for (int i = 0; i < 2; i++) {\n    if (*a > i) *b[i] = "
       "1;\n    if (*a <= i) *b[i] = 2;\n  }\n}\n"},
  };
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
    struct prove_result result = prove(kernels[i][1], kernels[i][0]);
    if (result.nfindings == 0)
      print_message("proved:\n%s\n", kernels[i][1]);
    assert_true(result.nfindings > 0);
    for (int f = 0; f < result.nfindings; f++) {
      if (result.findings[f].verdict != PROVE_UNKNOWN) {
        print_message("a violation:\n%s\n", kernels[i][1]);
        show(&result, kernels[i][1], kernels[i][0]);
      }
      assert_int_equal(result.findings[f].verdict, PROVE_UNKNOWN);
    }
    prover->release(&result);
  }
}

/* A mistake is run until it shows. */
TEST(sees_each_mistake_in_a_run) {
  int missed = 0;
  for (int i = 0; i < planted_count; i++) {
    const struct mistake *m = &planted[i];
    struct prove_result result = prove(m->wrong, m->arguments);
    struct text words[8] = {{0}};
    confirmed(m->wrong, m->arguments, &result, words);
    for (int f = 0; f < result.nfindings; f++) {
      const struct prove_finding *found = &result.findings[f];
      const bool by_text = found_evidence(found->what) == EVIDENCE_TEXT;
      if (found->argument == m->argument && strstr(words_of(found, m->wrong, m->arguments), m->says) &&
          (found->verdict != PROVE_VIOLATED || (!by_text && !strstr(text_str(&words[f]), "seen in a run")))) {
        print_message("mistake %d is not seen:\n%s\n", i, m->wrong);
        missed++;
      }
      text_free(&words[f]);
    }
    prover->release(&result);
  }
  assert_int_equal(missed, 0);
}

/* No run shows a suspicion of a right kernel. */
TEST(sees_no_mistake_that_is_none) {
  static const char *const kernels[][2] = {
      {"r1 w1",
       "void k(const double *a, double *b) {\n  double *p = *a > 0 ? b : 0;\n  if (*a <= 0) p = b;\n  *p = "
       "1;\n}\n"},
      {"r1 w1",
       "void k(const double *a, double *b) {\n  const int s = *a > 0;\n  if (s) *b = 1;\n  switch (s) {\n  "
       "case 0: *b = 2;\n  }\n}\n"},
      {"r1 i1",
       "void k(const double *a, double *r) {\n  double s = *r;\n  for (int i = 0; i < 4; i++) s += *a;\n  *r "
       "= s;\n}\n"},
      {"r2 m1", "void k(const double *a, double *m) {\n  double s[2] = {*m, a[0] * a[1]};\n  *m = s[s[1] > "
                "s[0]];\n}\n"},
      {"r2 n1", "void k(const double *a, double *m) {\n  *m = 0.5 * (*m + a[1] - fabs(*m - a[1]));\n}\n"},
      {"r1 i1", "void k(const double *a, double *r) {\n  double t[2][2] = {{1, *a}, {*a, 1}};\n  for (int i "
                "= 0; i < 4; "
                "i++) *r += t[0][i];\n}\n"},
      {"r1 w1",
       "static int never;\nvoid k(const double *a, double *b) {\n  *b = *a;\n  if (*a > 1 && *a < 1) never = "
       "1;\n}\n"},
  };
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
    struct prove_result result = prove(kernels[i][1], kernels[i][0]);
    struct text words[8] = {{0}};
    if (confirmed(kernels[i][1], kernels[i][0], &result, words)) {
      show(&result, kernels[i][1], kernels[i][0]);
      fail_msg("%s is refused:\n%s", text_str(&words[0]), kernels[i][1]);
    }
    for (int f = 0; f < result.nfindings; f++)
      text_free(&words[f]);
    prover->release(&result);
  }
}

/* A kernel that goes on for ever, or spoils its own stack, with values that nobody gives it, takes nothing along. */
TEST(survives_what_it_runs) {
  static const char *const kernels[] = {
      "void k(const double *a, double *b) {\n  for (double x = *a; x != 7; x += 1)\n    if (x > 1e300) *b = "
      "1;\n}\n",
      "void k(const double *a, double *b) {\n  double z[4], *p = z + (int)(1000 * *a);\n  for (int i = 0; i "
      "< 100000; "
      "i++) p[i] = i;\n  if (*a > 5) *b = z[0];\n}\n",
      "void k(const double *a, double *b) {\n  int n = (int)*a;\n  if (100 / n == 3) *b = 1;\n}\n",
  };
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
    struct prove_result result = prove(kernels[i], "r1 w1");
    struct text words[8] = {{0}};
    confirmed(kernels[i], "r1 w1", &result, words);
    for (int f = 0; f < result.nfindings; f++)
      text_free(&words[f]);
    prover->release(&result);
  }
}

/* As a compiler would warn, of what is serious only; a kernel that is right is compiled in silence. */
TEST(passes_warnings_on) {
  static const struct {
    const char *text, *says;
  } kernels[] = {
      {"void k(double *b) {\n  *b += 1 / 0;\n}\n", "division by zero"},
      {"void k(double *b) {\n  *b += *(int *)0;\n}\n", "null pointer"},
      {"void k(double *b) {\n  double z[2] = {1, 2}, *p = &z[3];\n  *b += p[-2];\n}\n", "past the end"},
      {"void k(double *b) {\n  *b += 1 << 40;\n}\n", "shift count"},
      {"static double f(int n) {\n  if (n) return 1;\n}\nvoid k(double *b) {\n  *b += f(2);\n}\n",
       "non-void function"},
      {"void k(double *b) {\n  *b = abs(*b);\n}\n", "absolute value"},
      {"void k(double *b) {\n  *b = fabsf(*b) + fabs((int)*b);\n}\n", NULL},
      {"void k(double *b) {\n  int unused, n = 1u;\n  (void)sizeof n;\n  *b += 1;\n}\n", NULL},
  };
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
    struct prove_result result = prove(kernels[i].text, "x1");
    int warnings = 0; /* without the notes behind them */
    for (int m = 0; m < result.nmessages; m++)
      warnings += result.messages[m].severity == COMPILE_WARNING;
    if (warnings != (kernels[i].says ? 1 : 0))
      fail_msg("%d warnings about\n%s", warnings, kernels[i].text);
    if (kernels[i].says) {
      assert_int_equal(result.messages[0].severity, COMPILE_WARNING);
      assert_string_equal(result.messages[0].file, "kernel.c");
      assert_non_null(strstr(result.messages[0].text, kernels[i].says));
    }
    prover->release(&result);
  }
}

TEST(reports_what_does_not_compile) {
  const struct compile_file file = {"kernel.c", "void k(", 7};
  const struct prove_request request = {.files = &file, .nfiles = 1, .kernel = "k"};
  struct prove_result result;
  prover->prove(&request, &result);
  assert_int_equal(result.status, 1);
  assert_true(result.nmessages > 0);
  prover->release(&result);
}

/* Trials are runs of the kernel in another process, which begins with a copy of what the program has not flushed. */
TEST(trials_print_nothing) {
  const char *text =
      "void k(const double *a, double *b) {\n  double t = *b;\n  for (int i = 0; i < 3; i++) t += *a;\n"
      "  *b = t;\n  printf(\"a value of %g\\n\", *a);\n}\n";
  struct prove_result result = prove(text, "r1 i1");
  struct text words[8] = {{0}};
  assert_true(result.nfindings > 0); /* else nothing is run */
  FILE *file = tmpfile();
  fflush(stdout);
  const int before = dup(STDOUT_FILENO);
  assert_true(file && before >= 0 && dup2(fileno(file), STDOUT_FILENO) >= 0);
  printf("the program begins\n");
  const int violations = confirmed(text, "r1 i1", &result, words);
  fflush(stdout);
  dup2(before, STDOUT_FILENO);
  close(before);
  int lines = 0;
  rewind(file);
  for (int c; (c = getc(file)) != EOF;)
    lines += c == '\n';
  fclose(file);
  assert_int_equal(lines, 1);
  assert_int_equal(violations, 0);
  for (int i = 0; i < result.nfindings; i++)
    text_free(&words[i]);
  prover->release(&result);
}

/* Of the last argument: r, it may be read; s, all elements leave the same; of the last two, =, the same in both. */
TEST(tells_what_elements_that_meet_do) {
  static const char *const kernels[][3] = {
      {"s", "w1", "void k(double *x) { *x = 0; }"},
      {"s", "r1 x3", "void k(const double *a, double *x) { x[(int)a[0]] = 0; }"},
      {"s", "r1 x2", "void k(const double *a, double *x) { if (*a > 1) x[0] = 1; else x[1] = 2; }"},
      {"s", "x4", "void k(double *x) { for (int i = 0; i < 4; i++) x[i] = i; }"},
      {"s", "g1 w1", "void k(const double *a, double *x) { *x = 2 * *a + gam * w[1]; }"},
      {"s=", "g1 w1 w1", "void k(const double *a, double *x, double *y) { *x = *a; *y = *a; }"},
      {"s", "g1 w1 w1", "void k(const double *a, double *x, double *y) { *x = *a; *y = -*a; }"},
      {"s", "v2w1", "void k(double **x) { for (int i = 0; i < 2; i++) x[i][0] = 3; }"},
      {"s", "w1", "static void set(double *x, double v) { *x = v; }\nvoid k(double *x) { set(x, 3); }"},
      {"", "v2w1", "void k(double **x) { x[0][0] = 3; x[1][0] = 4; }"},
      {"", "r1 w1", "void k(const double *a, double *x) { *x = *a; }"},
      {"", "r1 x2", "void k(const double *a, double *x) { x[(int)a[0]] = 0; x[1] = 1; }"},
      {"", "r1 w1", "void k(const double *a, double *x) { double v = 1; if (*a > 1) v = 2; *x = v; }"},
      {"", "r1 w1",
       "void k(const double *a, double *x) { double v = 1; for (int i = 0; i < *a; i++) v *= 2; "
       "*x = v; }"},
      {"", "r1 w2", "void k(const double *a, double *x) { x[0] = *a; x[1] = x[0]; }"},
      {"r", "x1", "void k(double *x) { *x += 1; }"},
      {"r", "x1", "void k(double *x) { (*x)++; }"},
      {"rs", "x1", "void k(double *x) { if (*x > 0) *x = 0; }"},
      {"r", "r1 x3", "void k(const double *a, double *x) { x[0] = x[(int)a[0]]; }"},
      {"r", "x2",
       "static double two(const double *p) { return p[0] + p[1]; }\n"
       "void k(double *x) { x[0] = two(x); }"},
      {"", "x2", "void k(double *x) { double *p[2] = {x, x + 1}; *p[(int)gam] = 0; x[0] = 0; }"},
      {"r", "x2", "void k(double *x) { double *p[2] = {x, x + 1}; x[0] = *p[(int)gam]; }"},
      {"r", "x1", "void k(double *x) { *(long long *)x = 0; }"},
  };
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
    struct prove_argument arguments[8];
    const int last = parse_arguments(kernels[i][1], arguments) - 1;
    struct prove_result result = prove(kernels[i][2], kernels[i][1]);
    assert_non_null(result.facts);
    const struct prove_fact *fact = &result.facts[last];
    char said[4];
    snprintf(said, sizeof said, "%s%s%s", fact->reads ? "r" : "", fact->same ? "s" : "",
             last > 0 && fact->same && fact->same == fact[-1].same ? "=" : "");
    if (strcmp(said, kernels[i][0]) != 0)
      fail_msg("'%s' and not '%s' of\n%s", said, kernels[i][0], kernels[i][2]);
    prover->release(&result);
  }
}

/* Macros and comments hide words from tokens, or show them words that nobody uses. */
TEST(says_what_texts_do) {
  static const struct {
    const char *text;
    int says, words;
  } rows[] = {
      {"void k(double *a) { *a += 1; if (*a > 9) printf(\"large\"); }", SAYS_SPEAKS, SAYS_SPEAKS},
      {"#define JOIN(a, b) a##b\nvoid k(double *a) { *a += 1; if (*a > 9) JOIN(pri, ntf)(\"large\"); }",
       SAYS_SPEAKS, 0},
      {"static void say(void) { printf(\"large\"); }\nstatic void tell(void) { say(); }\n"
       "void k(double *a) { *a += 1; if (*a > 9) tell(); }",
       SAYS_SPEAKS, SAYS_SPEAKS},
      {"static void say(void) { printf(\"large\"); }\nvoid k(double *a) { *a += 1; /* OP_ANY_ORDER */ }", 0,
       SAYS_SPEAKS},
      {"#define EACH OP_ANY_ORDER\nvoid k(double *a) { EACH for (int i = 0; i < 3; i++) *a += 1; }",
       SAYS_ANY_ORDER, SAYS_ANY_ORDER},
      {"#define op2jit_assert(c, words) ((void)(c))\nvoid k(double *a) { assert(*a > 0); *a += 1; }",
       SAYS_SPEAKS, SAYS_SPEAKS},
      {"#define EACH OP_ANY_ORDER op_assert(0)\nvoid k(double *a) { *a += 1; }", 0,
       SAYS_ANY_ORDER | SAYS_SPEAKS},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const struct desc d = {.text = (char *)(size_t)rows[i].text};
    struct prove_result result = prove(rows[i].text, "x1");
    if (result.says != rows[i].says || (desc_says(&d) & SAYS_OF_TREE) != rows[i].words)
      fail_msg("%s: %d and %d", rows[i].text, result.says, desc_says(&d));
    prover->release(&result);
  }
}

TEST(ends_on_long_loops) {
  struct prove_result result =
      prove("void k(const double *a, double *b) {\n  double s = 0;\n"
            "  for (long i = 0; i < 1000000000; i++)\n    for (long j = 0; j < 1000000000; j++)\n"
            "      s += *a;\n  *b += s;\n}\n",
            "r1 i1");
  assert_int_equal(result.nfindings, 0);
  prover->release(&result);
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  void *handle = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  void *entry = handle ? dlsym(handle, "op2jit_compiler") : NULL;
  if (!entry) {
    fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  compiler_entry *get;
  memcpy(&get, &entry, sizeof get);
  compiler = get();
  prover = compiler->prover;
  return prover->abi == PROVER_ABI ? run_these(NULL, NULL) : 2;
}
