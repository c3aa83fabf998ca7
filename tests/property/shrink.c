/* Making a failing case small, and printing it. */
#include <stdlib.h>
#include <string.h>

#include "case.h"

enum { TRIES = 400 };

struct shrinker {
  struct test_case *c;
  int tries;
};

static bool still_fails(struct shrinker *s) {
  static struct coverage ignored;
  if (s->tries++ >= TRIES)
    return false;
  struct world *w = malloc(sizeof *w);
  if (!w)
    return false;
  bool good = case_run(s->c, w, &ignored);
  world_close(w);
  free(w);
  return !good;
}

static void shrink_sizes(struct shrinker *s) {
  static const int limits[] = {1, 2, 3, 5, 13, 64, 257};
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
    int old = s->c->size_limit;
    s->c->size_limit = limits[i];
    if (still_fails(s))
      return;
    s->c->size_limit = old;
  }
}

static void shrink_steps(struct shrinker *s) {
  for (int i = CASE_STEPS - 1; i >= 0; i--) {
    unsigned old = s->c->skipped;
    s->c->skipped |= 1u << i;
    if (!still_fails(s))
      s->c->skipped = old;
  }
}

static bool still_fails_with(struct shrinker *s, int which) {
  struct text text = {0};
  kernel_print(s->c->kernels[which], &text);
  char *old = s->c->texts[which];
  s->c->texts[which] = text_take(&text);
  if (s->c->texts[which] && still_fails(s)) {
    free(old);
    return true;
  }
  free(s->c->texts[which]);
  s->c->texts[which] = old;
  return false;
}

/* Try a change of kernel `which`; taken back if the case passes then. */
static bool attempt(struct shrinker *s, int which, void change(struct kernel *, int), int at) {
  struct kernel *k = s->c->kernels[which], *old = malloc(sizeof *old);
  if (!old)
    return false;
  *old = *k;
  change(k, at);
  bool kept = still_fails_with(s, which);
  if (!kept)
    *k = *old;
  free(old);
  return kept;
}

/* A parameter that is written in every element must stay written, so it goes as a whole. */
static void drop_writes(struct kernel *k, int param) {
  int n = 0;
  if (k->params[param].access == OP_WORK)
    return;
  for (int i = 0; i < k->nstatements; i++)
    if (k->statements[i].what == S_LOCAL || k->statements[i].target != param)
      k->statements[n++] = k->statements[i];
  k->nstatements = n;
  kernel_prune(k);
}

static void drop_statement(struct kernel *k, int at) {
  int access = k->statements[at].what == S_SET ? k->params[k->statements[at].target].access : OP_RW;
  if (k->statements[at].what == S_LOCAL || access == OP_WRITE || access == OP_WORK)
    return;
  memmove(&k->statements[at], &k->statements[at + 1],
          sizeof k->statements[0] * (size_t)(k->nstatements - at - 1));
  k->nstatements--;
  kernel_prune(k);
}

static void drop_condition(struct kernel *k, int at) {
  if (k->statements[at].what != S_RETURN)
    k->statements[at].condition = k->statements[at].other = -1;
}

static void to_number(struct kernel *k, int at) {
  struct node *n = &k->nodes[at];
  *n = (struct node){
      .op = N_NUMBER, .floating = n->floating, .kid = {-1, -1, -1}, .number = 1, .whole = 1, .bound = 1};
}

static void to_kid(struct kernel *k, int at) {
  struct node *n = &k->nodes[at];
  for (int i = 2; i >= 0; i--)
    if (n->kid[i] >= 0 && k->nodes[n->kid[i]].floating == n->floating) {
      *n = k->nodes[n->kid[i]];
      return;
    }
}

static void shrink_kernel(struct shrinker *s, int which) {
  struct kernel *k = s->c->kernels[which];
  for (int p = k->nparams - 1; p >= 0; p--)
    if (p < k->nparams)
      attempt(s, which, drop_writes, p);
  for (int i = k->nstatements - 1; i >= 0; i--)
    if (i < k->nstatements)
      attempt(s, which, drop_statement, i);
  for (int i = 0; i < k->nstatements; i++) {
    if (k->statements[i].condition >= 0)
      attempt(s, which, drop_condition, i);
    if (k->statements[i].value >= 0 && k->nodes[k->statements[i].value].op != N_NUMBER &&
        !attempt(s, which, to_number, k->statements[i].value))
      while (k->nodes[k->statements[i].value].kid[0] >= 0 && s->tries < TRIES &&
             attempt(s, which, to_kid, k->statements[i].value))
        continue;
  }
}

void case_shrink(struct test_case *c, bool native) {
  struct shrinker s = {.c = c};
  shrink_steps(&s);
  shrink_sizes(&s);
  for (int k = 0; !native && k < c->nkernels; k++)
    shrink_kernel(&s, k);
  shrink_sizes(&s);
}

static void print_literal(FILE *out, const char *s) {
  for (const char *line = s; *line;) {
    size_t n = strcspn(line, "\n");
    fprintf(out, "\n  \"%.*s\\n\"", (int)n, line);
    line += n + (line[n] == '\n');
  }
}

void case_print(const struct test_case *c, const struct world *w, FILE *out) {
  fprintf(out, "/* case %d: %s */\n#include <op2jit.h>\n#include <stdbool.h>\n", c->number,
          text_str(&w->failure));
  for (int k = 0; k < c->nkernels; k++) {
    char call[32];
    snprintf(call, sizeof call, "(text_%s,", c->kernels[k]->name);
    if (!strstr(text_str(&w->program), call))
      continue;
    fprintf(out, "static const char text_%s[] =", c->kernels[k]->name);
    print_literal(out, c->texts[k]);
    fprintf(out, ";\n");
  }
  fprintf(out, "int main(int argc, char **argv) {\nop_init(argc, argv, 0);\n");
  for (int i = 0; i < CONSTANTS; i++)
    fprintf(out, "static %s %s[%d]; /* value of the run */\nop_decl_const(\"%s\", %d, \"%s\", %s);\n",
            vtypes[constants[i].type].c, constants[i].name, constants[i].dim, constants[i].name,
            constants[i].dim, vtypes[constants[i].type].c, constants[i].name);
  fprintf(out, "%sreturn op_exit();\n}\n", text_str(&w->program));
}
