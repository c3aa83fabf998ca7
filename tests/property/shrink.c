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

void case_shrink(struct test_case *c) {
  struct shrinker s = {.c = c};
  shrink_steps(&s);
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
  fputs("op_decl_prelude(", out);
  print_literal(out, kernel_shared());
  fputs(");\n", out);
  for (int t = 0; t < V_TYPES; t++)
    for (int d = 1; d <= MAX_BOXED; d++)
      fprintf(out,
              "op2jit_decl_type(\"struct box_%d_%d\", %zu, 1, (op2jit_member[]){{\"v\", \"%s\", 0, %zu}});\n",
              t, d, (size_t)d * vtypes[t].size, vtypes[t].c, (size_t)d * vtypes[t].size);
  for (int i = 0; i < CONSTANTS; i++)
    fprintf(out, "static %s %s[%d]; /* value of the run */\nop_decl_const(\"%s\", %d, \"%s\", %s);\n",
            vtypes[constants[i].type].c, constants[i].name, constants[i].dim, constants[i].name,
            constants[i].dim, vtypes[constants[i].type].c, constants[i].name);
  fprintf(out, "%sreturn op_exit();\n}\n", text_str(&w->program));
}
