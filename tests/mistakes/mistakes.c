/* mistakes GOLDEN_FOLDER [--write] [NAME...]: plants each mistake in a child process of its own, on the backend that OP2_BACKEND
 * names, and compares what the child says with GOLDEN_FOLDER/NAME.txt. Its twin must say nothing and give the right answer.
 * The native backend has no prover: there OP2_CHECK=on finds them all. Elsewhere it is on only for those that need it. */
#include "mistakes.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct program {
  const char *name;
  const struct mistake *mistakes;
  double answer; /* of the program as it should be */
};

struct child {
  int status;
  char out[256], err[8192];
};

struct judge {
  const char *folder;
  bool write, native;
  int failed, done;
};

/* Kernels that are right are compiled by the first child that needs them. */
static char cache_assignment[PATH_MAX + 64];

static void read_all(int from, char *into, size_t size) {
  size_t used = 0;
  ssize_t n;
  while ((n = read(from, into + used, size - 1 - used)) > 0)
    used += (size_t)n;
  into[used] = '\0';
  close(from);
}

/* The job ends at the first error, as by default. */
static void be_child(const struct mistake *m, bool wrong, bool checked, char *cache) {
  char backend[64];
  const char *named = getenv("OP2_BACKEND");
  snprintf(backend, sizeof backend, "OP2_BACKEND=%s", named ? named : "native");
  char *argv[] = {"mistakes", backend, checked ? "OP2_CHECK=on" : "OP2_CHECK=off", cache};
  op_init(4, argv, 0);
  printf("%.17g\n", m->run(m, wrong));
  op_exit();
  exit(0);
}

static bool run_child(const struct mistake *m, bool wrong, bool checked, struct child *child) {
  int out[2], err[2];
  if (pipe(out) != 0 || pipe(err) != 0)
    return false;
  fflush(NULL);
  pid_t pid = fork();
  if (pid < 0)
    return false;
  if (pid == 0) {
    dup2(out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    close(out[0]);
    close(err[0]);
    be_child(m, wrong, checked, cache_assignment);
  }
  close(out[1]);
  close(err[1]);
  read_all(out[0], child->out, sizeof child->out);
  read_all(err[0], child->err, sizeof child->err);
  return waitpid(pid, &child->status, 0) == pid;
}

/* "../tests/mistakes/jac.c:17" becomes "jac.c:LINE": neither the build's folder nor the text above matters. */
static void hide_places(char *text) {
  for (char *at = strstr(text, ".c:"); at; at = strstr(at + 1, ".c:")) {
    char *begin = at, *end = at + 3;
    while (begin > text && !strchr(" (\n\"", begin[-1]))
      begin--;
    char *slash = begin, *digits = end;
    for (char *p = begin; p < at; p++)
      slash = *p == '/' ? p + 1 : slash;
    while (*digits >= '0' && *digits <= '9')
      digits++;
    char rest[8192];
    snprintf(rest, sizeof rest, "%.*sLINE%s", (int)(end - slash), slash, digits);
    strcpy(begin, rest);
    at = begin + (at - slash);
  }
}

static void say_lines(const char *mark, const char *text) {
  for (const char *line = text; *line;) {
    size_t n = strcspn(line, "\n");
    printf("  %s %.*s\n", mark, (int)n, line);
    line += n + (line[n] == '\n');
  }
}

static bool matches_golden(const struct judge *j, const char *name, const char *text) {
  char path[512], want[8192] = "";
  snprintf(path, sizeof path, "%s/%s.txt", j->folder, name);
  FILE *file = fopen(path, j->write ? "w" : "r");
  if (!file) {
    printf("%s: %s cannot be opened; run with --write to make it\n", name, path);
    say_lines("+", text);
    return false;
  }
  if (j->write) {
    fputs(text, file);
    return fclose(file) == 0;
  }
  want[fread(want, 1, sizeof want - 1, file)] = '\0';
  fclose(file);
  if (strcmp(want, text) == 0)
    return true;
  printf("%s: the message is another one (- expected, + got)\n", name);
  say_lines("-", want);
  say_lines("+", text);
  return false;
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

static bool is_named(const char *name, int n, char **names) {
  for (int i = 0; i < n; i++)
    if (strcmp(name, names[i]) == 0)
      return true;
  return n == 0;
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
