/* Plans that op_plan_check looks at: what it finds, after renumbering too, and what is said of plans at each level
 * of diagnosis. */
#include "ring.h"

#include <unistd.h>

#include "api/api.h"
#include "backend/cpu/cpu_loop.h"
#include "context/context.h"
#include "record/record.h"
#include "report/report.h"

/* The plan of the first loop, to be spoiled. */
static struct plan_entry *plan_of_first_loop(void) {
  struct loop **loops = loop_records(api_context());
  assert_non_null(loops);
  const struct cpu_loop *cpu = loops[0]->ready.backend_state;
  const struct plan_entry *entry = cpu->variants[loops[0]->ready.variant].parts[0].entry;
  free(loops);
  assert_non_null(entry);
  return (struct plan_entry *)(uintptr_t)entry;
}

static void swap(int *a, int *b) {
  const int c = *a;
  *a = *b;
  *b = c;
}

static void spoil_colours(struct plan_entry *e) {
  swap(&e->plan.block_map[0], &e->plan.block_map[e->plan.colour_first[1]]);
}
static void spoil_schedule(struct plan_entry *e) {
  e->schedule.items[0].end++;
}
static void spoil_owners(struct plan_entry *e) {
  e->schedule.items[e->schedule.phases[0].count].begin--;
}
static void spoil_waits(struct plan_entry *e) {
  struct error err = {0};
  waits_free(e->schedule.waits);
  assert_int_equal(waits_new(&e->schedule.waits, e->schedule.nitems, NULL, 0, &err), OP_OK);
}
static void spoil_reverse(struct plan_entry *e) {
  swap(&e->reverse[0].entries[0], &e->reverse[0].entries[e->reverse[0].first[1]]);
}
static void spoil_gather_elements(struct plan_entry *e) {
  e->schedule.items[0].end--;
}
static void spoil_gather_targets(struct plan_entry *e) {
  e->schedule.items[e->schedule.nitems - 1].end--;
}
static void spoil_gather_order(struct plan_entry *e) {
  e->schedule.nphases = 1;
  e->schedule.phases[0].count = e->schedule.nitems;
}

TEST(plans_are_checked) {
  static const struct {
    const char *variant;
    void (*spoil)(struct plan_entry *e);
  } faults[] = {
      {"colours", spoil_colours},       {"colours", spoil_schedule},    {"owners", spoil_schedule},
      {"owners", spoil_owners},         {"gather", spoil_reverse},      {"gather", spoil_gather_elements},
      {"gather", spoil_gather_targets}, {"gather", spoil_gather_order}, {"tasks", spoil_schedule},
      {"tasks", spoil_waits},
  };
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    double sum = 0, most = 0;
    open_library(faults[i].variant, 3, "off", "plans.db");
    const struct ring m = declare();
    move_once(&m, &sum, &most);
    works(op_plan_check(2));
    faults[i].spoil(plan_of_first_loop());
    if (op_plan_check(2) != OP_ERR_PLAN)
      fail_msg("fault %zu, in %s, was not found", i, faults[i].variant);
    assert_non_null(strstr(op_last_error()->message, "set edges"));
    works(op_plan_check(0));
    works(op_exit());
  }
}

/* The output of op_diagnostic_output. */
static void expect_listed(const char *words) {
  struct text out = {0};
  struct error err = {0};
  assert_int_equal(context_diagnostics(api_context(), &out, &err), OP_OK);
  assert_true(text_ok(&out));
  if (!strstr(text_str(&out), words))
    fail_msg("\"%s\" is not in:\n%s", words, text_str(&out));
  text_free(&out);
  error_free(&err);
}

/* Renumbering frees the tables that a plan was made from: only plans of this numbering are looked at. */
TEST(plans_after_renumbering) {
  static const char *const variants[] = {"colours", "owners", "gather", "tasks"};
  for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
    double sum = 0, most = 0;
    open_library(variants[v], 3, "off", "plans.db");
    const struct ring m = declare();
    move_once(&m, &sum, &most);
    works(op_renumber(m.ends));
    works(op_plan_check(2));
    move_once(&m, &sum, &most);
    works(op_plan_check(2));
    expect_listed("\nedges ");
    expect_listed(variants[v]);
    works(op_exit());
  }
}

/* The words of two loops that share a plan, on standard error. */
static void words_at(int diags, char *words, size_t room) {
  char path[300];
  double sum = 0, most = 0, other = 0;
  snprintf(path, sizeof path, "%s/words", folder);
  const int terminal = dup(STDERR_FILENO);
  assert_non_null(freopen(path, "w", stderr));
  open_at(diags, "colours", 3, "off", "plans.db");
  const struct ring m = declare();
  move_once(&m, &sum, &most);
  works(op_par_loop(
      "void count(double *c[2], double *s) { *c[0] += 1; *c[1] += 1; *s += 1; }", "count", m.edges,
      op_arg_dat(op_decl_dat(m.cells, 1, "double", NULL, "count"), -2, m.ends, 1, "double", OP_INC),
      op_arg_gbl(&other, 1, "double", OP_INC)));
  works(op_exit());
  fflush(stderr);
  dup2(terminal, STDERR_FILENO);
  close(terminal);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  words[fread(words, 1, room - 1, file)] = 0;
  fclose(file);
}

TEST(levels_of_diagnosis) {
  static char words[1 << 14];
  words_at(1, words, sizeof words);
  assert_string_equal(words, "");
  words_at(2, words, sizeof words);
  assert_non_null(
      strstr(words, "loop move: plan of set edges: colours, 20011 elements, 2 columns written, "));
  assert_null(strstr(words, "loop count"));
  words_at(4, words, sizeof words);
  assert_non_null(strstr(words, "loop move over 20011 elements"));
  assert_non_null(strstr(words, "loop count: plan of set edges"));
  assert_non_null(strstr(words, "it was there already"));
}

AROUND_ALL(make_folder, remove_folder)
