/* mistakes GOLDEN_FOLDER [--write] [NAME...]: plants each mistake in a child process of its own, on the backend
 * that OP2_BACKEND names, and compares what the child says with GOLDEN_FOLDER/NAME.txt. Its twin must say nothing
 * and give the right answer. The native backend has no prover: there OP2_CHECK=on finds them all. Elsewhere it is
 * on only for those that need it. */
#include "mistakes.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../golden.h"

struct program {
  const char *name;
  const struct mistake *mistakes;
  double answer; /* of the program as it should be */
};

struct judge {
  const char *folder;
  bool write, native;
  int failed, done;
};

/* Kernels that are right are compiled by the first child that needs them. */
static char cache_assignment[PATH_MAX + 64];

struct order {
  const struct mistake *mistake;
  bool wrong, checked;
};

/* The job ends at the first error, as by default. */
static void be_child(const void *user) {
  const struct order *order = user;
  char backend[64];
  const char *named = getenv("OP2_BACKEND");
  snprintf(backend, sizeof backend, "OP2_BACKEND=%s", named ? named : "native");
  char *argv[] = {"mistakes", backend, order->checked ? "OP2_CHECK=on" : "OP2_CHECK=off", cache_assignment};
  op_init(4, argv, 0);
  printf("%.17g\n", order->mistake->run(order->mistake, order->wrong));
  op_exit();
}

static bool run_child(const struct mistake *m, bool wrong, bool checked, struct child *child) {
  return child_run(child, be_child, &(struct order){m, wrong, checked});
}

static bool matches_golden(const struct judge *j, const char *name, const char *text) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s.txt", j->folder, name);
  return golden_matches(path, j->write, name, text);
}

static bool judge_mistake(const struct judge *j, const struct mistake *m, const char *name) {
  struct child child = {0};
  const bool checked = j->native || m->flags & NEEDS_CHECK;
  if (!run_child(m, true, checked, &child))
    return false;
  if (!WIFEXITED(child.status) || WEXITSTATUS(child.status) != 1 || child.out[0]) {
    printf("%s: %s is not found\n", name, m->what);
    say_lines("+", child.err);
    return false;
  }
  hide_places(child.err);
  if (!matches_golden(j, name, child.err))
    return false;
  if (checked && !j->native && (!run_child(m, true, false, &child) || child.status != 0 || !child.out[0])) {
    printf("%s: %s is found without OP2_CHECK too, and is said to need it\n", name, m->what);
    return false;
  }
  return true;
}

static bool judge_twin(const struct mistake *m, const char *name, double answer) {
  for (int checked = 0; checked < 2; checked++) {
    struct child child = {0};
    if (!run_child(m, false, checked, &child))
      return false;
    if (child.status != 0 || child.err[0]) {
      printf("%s: false alarm at the corrected twin, OP2_CHECK=%s\n", name, checked ? "on" : "off");
      say_lines("+", child.err);
      return false;
    }
    const double got = atof(child.out);
    if (!(fabs(got - answer) <= 1e-9 * fabs(answer)) && !(m->flags & OTHER_ANSWER)) {
      printf("%s: the twin's answer is %.17g, not %.17g\n", name, got, answer);
      return false;
    }
  }
  return true;
}

static bool find_answer(struct program *p) {
  const struct mistake none = {.what = "none", .run = p->mistakes[0].run};
  struct child child = {0};
  if (!run_child(&none, false, false, &child) || child.status != 0 || child.err[0]) {
    printf("%s does not run as it is\n", p->name);
    say_lines("+", child.err);
    return false;
  }
  p->answer = atof(child.out);
  return p->answer != 0 && isfinite(p->answer);
}

static void judge_program(struct judge *j, struct program *p, int nnames, char **names) {
  if (!find_answer(p)) {
    j->failed++;
    return;
  }
  for (const struct mistake *m = p->mistakes; m->what; m++) {
    char name[64];
    snprintf(name, sizeof name, "%s_%02d", p->name, m->number);
    if (!is_named(name, nnames, names))
      continue;
    j->done++;
    /* Both, whatever the first says. */
    const bool found = judge_mistake(j, m, name), silent = judge_twin(m, name, p->answer);
    j->failed += !(found && silent);
  }
}

int main(int argc, char **argv) {
  struct judge j = {.folder = argc > 1 ? argv[1] : NULL};
  struct program programs[] = {{"airfoil", airfoil_mistakes, 0}, {"jac", jac_mistakes, 0}};
  const char *backend = getenv("OP2_BACKEND");
  int first = 2;
  j.native = !backend || strcmp(backend, "native") == 0;
  if (argc > 2 && strcmp(argv[2], "--write") == 0) {
    j.write = true;
    first = 3;
  }
  if (!j.folder) {
    fprintf(stderr, "usage: mistakes GOLDEN_FOLDER [--write] [NAME...]\n");
    return 2;
  }
  char folder[PATH_MAX], command[PATH_MAX + 16];
  const char *base = getenv("TMPDIR");
  snprintf(folder, sizeof folder, "%s/op2jit-mistakes-XXXXXX", base ? base : "/tmp");
  if (!mkdtemp(folder)) {
    perror(folder);
    return 2;
  }
  snprintf(cache_assignment, sizeof cache_assignment, "OP2_CACHE=%s/kernels.db", folder);
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
    judge_program(&j, &programs[i], argc - first, argv + first);
  printf("mistakes, %s: %d found as they should be, each with a silent twin, %d not\n",
         backend ? backend : "native", j.done - j.failed, j.failed);
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  return system(command) != 0 || j.failed || j.done == 0;
}
