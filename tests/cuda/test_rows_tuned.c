/* How many threads of a GPU share an element: the first guess, and what the tuner tries. Times are planted: linked so, the
 * library tells the function below what it measured, and this tells the tuner what it is to be. */
#include <unistd.h>

#include "../api/support.h"
#include "backend/backend.h"
#include "loop/choose.h"
#include "record/launch.h"
#include "record/record.h"

enum { ROWS = 4200, COLS = 900, ROUNDS = 110, WORDS = 40 };

/* A part of the name of the variant that takes less time than others; "": none of them shares elements. */
static const char *quick;

void __real_tune_ran(struct op_context *ctx, const struct launch *launch, double seconds);
void __wrap_tune_ran(struct op_context *ctx, const struct launch *launch, double seconds);
void __wrap_tune_ran(struct op_context *ctx, const struct launch *launch, double seconds) {
  const char *name = launch->loop->backend->name_of(launch->loop, launch->variant);
  const bool is_quick = *quick ? strstr(name, quick) != NULL : !strstr(name, "/rows");
  struct launch told = *launch; /* a GPU measures for itself */
  told.seconds = is_quick ? 1e-4 : 1e-2;
  __real_tune_ran(ctx, &told, seconds);
}

/* clang-format off */
OP_KERNEL_DEF(any_order, void any_order(int n, const double **x, double *y) {
  double sum = 0;
  OP_ANY_ORDER
  for (int k = 0; k < n; k++)
    sum += *OP_ROW(x, k);
  *y = sum;
})
OP_KERNEL_DEF(in_order, void in_order(int n, const double **x, double *y) {
  double sum = 0;
  for (int k = 0; k < n; k++)
    sum += *OP_ROW(x, k);
  *y = sum;
})
/* clang-format on */

/* Elements have one or two targets less or more than `mean`, and one has `longest`. The variant of the last run goes to
 * `ran`. */
static void run(bool ordered, int mean, int longest, int rounds, char ran[WORDS]) {
  static long long offsets[ROWS + 1];
  static double vx[COLS], got[ROWS];
  static char report[65536];
  for (int r = 0; r < ROWS; r++)
    offsets[r + 1] = offsets[r] + (r == 99 ? longest : mean - 1 + r % 3);
  int *targets = malloc((size_t)offsets[ROWS] * sizeof *targets);
  for (long long i = 0; i < offsets[ROWS]; i++)
    targets[i] = (int)(i % COLS);
  for (int c = 0; c < COLS; c++)
    vx[c] = c;
  start(NULL);
  op_set rows = op_decl_set(ROWS, "rows"), cols = op_decl_set(COLS, "cols");
  op_map map = op_decl_map_ragged(rows, cols, offsets, targets, "map");
  op_dat x = op_decl_dat(cols, 1, "double", vx, "x"), y = op_decl_dat(rows, 1, "double", NULL, "y");
  const op_arg args[] = {op_arg_dat(x, OP_ALL, map, 1, "double", OP_READ), direct(y, 1, "double", OP_WRITE)};
  for (int i = 0; i < rounds; i++)
    works(ordered
              ? op_par_loop_array(OP_KERNEL_OF(in_order), "in_order", rows, 2, args, __FILE__, __LINE__)
              : op_par_loop_array(OP_KERNEL_OF(any_order), "any_order", rows, 2, args, __FILE__, __LINE__));
  works(op_fetch_data(y, got));
  for (int r = 0; r < ROWS; r++) {
    double sum = 0;
    for (long long i = offsets[r]; i < offsets[r + 1]; i++)
      sum += vx[targets[i]];
    assert_true(got[r] == sum);
  }
  works(op_report_json(report, sizeof report));
  const char *at = strstr(report, "\"variant\":\"");
  assert_non_null(at);
  at += strlen("\"variant\":\"");
  snprintf(ran, WORDS, "%.*s", (int)strcspn(at, "\""), at);
  works(op_exit());
  free(targets);
}

static void first_guess(const char *fp, bool ordered, int mean, int longest, const char *expected) {
  char ran[WORDS];
  setenv("OP2_TUNE", "off", 1);
  setenv("OP2_FP", fp, 1);
  quick = "";
  run(ordered, mean, longest, 1, ran);
  if (*expected ? !strstr(ran, expected) : strstr(ran, "/rows") != NULL)
    fail_msg("%d targets on average, %d at most: runs as %s, not with %s", mean, longest, ran, expected);
}

static void tuned(bool ordered, int mean, int longest, const char *wanted, const char *expected) {
  char ran[WORDS];
  setenv("OP2_TUNE", "force", 1);
  setenv("OP2_FP", "contract", 1);
  quick = wanted;
  run(ordered, mean, longest, ROUNDS, ran);
  if (*expected ? !strstr(ran, expected) : strstr(ran, "/rows") != NULL)
    fail_msg("%d targets on average, %d at most, where %s is quick: runs as %s", mean, longest, wanted, ran);
}

TEST(long_rows_begin_with_several_threads) {
  first_guess("contract", false, 3, 20, "");
  first_guess("contract", false, 9, 20, "/rows8");
  first_guess("contract", false, 20, 100, "/rows16");
  first_guess("contract", false, 50, 100, "/rows32");
  first_guess("contract", false, 3, 3000, "/rows32");
  first_guess("contract", true, 20, 100, "");
  first_guess("fast", true, 20, 100, "/rows16");
}

TEST(the_tuner_tries_other_numbers) {
  tuned(false, 9, 20, "", "");
  tuned(false, 9, 20, "/rows16", "/rows16");
  tuned(false, 5, 20, "/rows4", "/rows4");
  tuned(false, 2, 3000, "/rows4", "/rows4");
  /* Short rows, and kernels that do not allow it. */
  tuned(false, 2, 20, "/rows", "");
  tuned(true, 9, 20, "/rows", "");
}
