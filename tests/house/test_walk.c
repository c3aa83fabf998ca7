/* The walk of docs/rooms.md: the first call of a loop passes each stage once, in the order of the page. The linker
 * leads each call of a stage (STAGES, from the page) from one object to another through a counter of this file. */
#include "../unit.h"

#include "op2jit.h"

struct stage {
  int calls; /* since the last look */
  int step;  /* the last call's place among all */
};
extern int walk_steps;
int walk_steps;

/* No argument may be touched, and none is known here: r11 is nobody's when a function begins. */
#define S(name)                                                                                              \
  extern struct stage walk_##name;                                                                           \
  struct stage walk_##name;                                                                                  \
  __asm__(".text\n.globl __wrap_" #name "\n.type __wrap_" #name ", @function\n__wrap_" #name ":\n"           \
          "  endbr64\n  incl walk_" #name                                                                    \
          "(%rip)\n  incl walk_steps(%rip)\n  movl walk_steps(%rip), %r11d\n"                                \
          "  movl %r11d, walk_" #name "+4(%rip)\n  jmp __real_" #name "\n");
STAGES
#undef S

#define S(name) {#name, &walk_##name},
static const struct {
  const char *name;
  struct stage *stage;
} stages[] = {STAGES};
#undef S
enum { NSTAGES = sizeof stages / sizeof *stages };

static const char *const add = "void add(const double *w, double *l, double *r, double *sum) {\n"
                               "  l[0] += w[0]; r[0] -= w[0]; sum[0] += w[0];\n"
                               "}";

static op_set edges;
static op_map ends;
static op_dat weight, value;

static double run(const char *name) {
  double sum = 0;
  assert_int_equal(op_par_loop(add, name, edges, op_arg_dat(weight, -1, OP_ID, 1, "double", OP_READ),
                               op_arg_dat(value, 0, ends, 1, "double", OP_INC),
                               op_arg_dat(value, 1, ends, 1, "double", OP_INC),
                               op_arg_gbl(&sum, 1, "double", OP_INC)),
                   0);
  return sum;
}

static void forget(void) {
  for (int i = 0; i < NSTAGES; i++)
    *stages[i].stage = (struct stage){0, 0};
}

TEST(the_first_call_passes_each_stage_once_in_the_order_of_the_page) {
  forget();
  assert_true(run("add") == 3.0);
  for (int i = 0; i < NSTAGES; i++) {
    print_message("%s: %d\n", stages[i].name, stages[i].stage->calls);
    if (stages[i].stage->calls != 1)
      fail_msg("%s was called %d times", stages[i].name, stages[i].stage->calls);
    if (i > 0 && stages[i].stage->step < stages[i - 1].stage->step)
      fail_msg("%s was called before %s", stages[i].name, stages[i - 1].name);
  }
}

TEST(no_later_call_passes_a_stage_twice) {
  for (int call = 0; call < 40; call++) {
    forget();
    assert_true(run("add") == 3.0);
    for (int i = 0; i < NSTAGES; i++)
      if (stages[i].stage->calls > 1)
        fail_msg("in call %d %s was called %d times", call + 2, stages[i].name, stages[i].stage->calls);
  }
}

int main(void) {
  static const int pairs[] = {0, 1, 1, 2, 2, 0};
  static const double weights[] = {1, 1, 1};
  char *argv[] = {(char[]){"walk"}, NULL};
  if (op_init(1, argv, 0))
    return 1;
  edges = op_decl_set(3, "edges");
  op_set nodes = op_decl_set(3, "nodes");
  ends = op_decl_map(edges, nodes, 2, pairs, "ends");
  weight = op_decl_dat(edges, 1, "double", weights, "weight");
  value = op_decl_dat(nodes, 1, "double", NULL, "value");
  int failed = run_these(NULL, NULL);
  return op_exit() || failed;
}
