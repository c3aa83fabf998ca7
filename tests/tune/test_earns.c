/* Trials are earned first: a candidate is compiled when the share of the loop's time that is left pays for all of the processor
 * time that this takes, also where it runs behind the program. By planted times: linked so, the library tells the functions below
 * how long a run took, and asks them how long a compile took and whether it is over. */
#include <stdbool.h>
#include <unistd.h>

#include "../exec/ring.h"
#include "jit/jit.h"
#include "loop/choose.h"

void __real_tune_ran(struct op_context *ctx, const struct launch *launch, double seconds);
void __wrap_tune_ran(struct op_context *ctx, const struct launch *launch, double seconds);
bool __real_jit_prepare(struct jit *jit, const struct desc *d, const void *shape);
bool __wrap_jit_prepare(struct jit *jit, const struct desc *d, const void *shape);
bool __real_jit_is_busy(const struct jit *jit);
bool __wrap_jit_is_busy(const struct jit *jit);
int __real_jit_code(struct jit *jit, const struct desc *d, const void *shape, struct jit_code *out,
                    struct error *err);
int __wrap_jit_code(struct jit *jit, const struct desc *d, const void *shape, struct jit_code *out,
                    struct error *err);
int __wrap_team_cpus(void);

/* A compile is under way for so many runs. */
enum { TAKES = 3, RUNS = 900 };
static const double run_seconds = 0.02, compile_seconds = 0.2, share = 0.05, felt = 0.3;
static int processors, runs, begun, begun_at, asked_meanwhile;
static double total, paid, overdraft;

void __wrap_tune_ran(struct op_context *ctx, const struct launch *launch, double seconds) {
  (void)seconds;
  total += run_seconds;
  runs++;
  __real_tune_ran(ctx, launch, run_seconds);
}

bool __wrap_jit_is_busy(const struct jit *jit) {
  if (begun > 0 && runs < begun_at + TAKES)
    return true;
  while (__real_jit_is_busy(jit))
    usleep(100);
  return false;
}

bool __wrap_jit_prepare(struct jit *jit, const struct desc *d, const void *shape) {
  asked_meanwhile += __wrap_jit_is_busy(jit);
  const bool ready = __real_jit_prepare(jit, d, shape);
  if (ready)
    return true;
  begun++;
  begun_at = runs;
  if (paid + compile_seconds - share * total > overdraft)
    overdraft = paid + compile_seconds - share * total;
  paid += (processors > 2 ? felt : 1) * compile_seconds;
  return false;
}

int __wrap_jit_code(struct jit *jit, const struct desc *d, const void *shape, struct jit_code *out,
                    struct error *err) {
  const int code = __real_jit_code(jit, d, shape, out, err);
  out->compile_seconds = compile_seconds;
  if (out->behind_seconds > 0)
    out->behind_seconds = compile_seconds;
  return code;
}

int __wrap_team_cpus(void) {
  return processors;
}

static void open_program(const char *cache) {
  char words[300], program[] = "program", backend[] = "OP2_BACKEND=openmp", threads[] = "OP2_THREADS=2";
  char *argv[] = {program, backend, threads, words, NULL};
  snprintf(words, sizeof words, "OP2_CACHE=%s/%s", folder, cache);
  works(op_init(4, argv, 0));
}

/* How many candidates were compiled. */
static int run(int cpus, const char *cache) {
  double sum = 0, most = 0;
  processors = cpus;
  runs = begun = asked_meanwhile = 0;
  total = paid = 0;
  overdraft = -1;
  open_program(cache);
  const struct ring m = declare();
  while (runs < RUNS)
    move_once(&m, &sum, &most);
  works(op_exit());
  if (overdraft > 0)
    fail_msg("%g s were begun that nobody had earned", overdraft);
  assert_int_equal(asked_meanwhile, 0);
  return begun;
}

TEST(all_of_a_compile_is_earned_first) {
  const int busy = run(2, "busy.db"), free = run(64, "free.db");
  if (busy < 2 || free <= busy)
    fail_msg("%d compiles where no processor was free, %d where one was", busy, free);
}

AROUND_ALL(make_folder, remove_folder)
