/* With an empty cache trials stay within their share of the loop's time: ranks meet seldom, and nothing is compiled
 * before that can be paid for. The library's clock is planted: it goes on by what a run, a meeting and a compile take. */
#include <time.h>

#include "api/api.h"
#include "check.h"
#include "context/context.h"
#include "jit/jit.h"
#include "loop/choose.h"
#include "loop/tune_memory.h"
#include "ranks/agree.h"
#include "record/record.h"

/* Ranks meet after 4096 calls at the latest, however long meeting took the last time. */
enum { ROWS = 20000, SHORT_CALLS = 1600, LONG_CALLS = 3 * 4096 };
static const double share = 0.05, short_call = 1e-4, middle_call = 2e-3, long_call = 1;
/* A meeting that takes as long as the call, and a compile as long as thousands. */
static const double meeting = 1e-4, compile = 0.2, instant = 1e-8;

static int rank;
static long long meetings;
static double planted, total, now = 1;
static const struct loop *loop;

int __real_agree_on_largest(struct comm *c, int code, double *values, int count, struct error *err);
int __wrap_agree_on_largest(struct comm *c, int code, double *values, int count, struct error *err);
void __real_tune_ran(struct op_context *ctx, const struct launch *launch, double seconds);
void __wrap_tune_ran(struct op_context *ctx, const struct launch *launch, double seconds);
int __real_jit_code(struct jit *jit, const struct desc *d, const void *shape, struct jit_code *out,
                    struct error *err);
int __wrap_jit_code(struct jit *jit, const struct desc *d, const void *shape, struct jit_code *out,
                    struct error *err);
int __real_clock_gettime(clockid_t id, struct timespec *time);
int __wrap_clock_gettime(clockid_t id, struct timespec *time);

int __wrap_clock_gettime(clockid_t id, struct timespec *time) {
  if (id != CLOCK_MONOTONIC)
    return __real_clock_gettime(id, time);
  now += instant;
  time->tv_sec = (time_t)now;
  time->tv_nsec = (long)(1e9 * (now - (double)time->tv_sec));
  return 0;
}

int __wrap_jit_code(struct jit *jit, const struct desc *d, const void *shape, struct jit_code *out,
                    struct error *err) {
  const int code = __real_jit_code(jit, d, shape, out, err);
  now += compile;
  out->compile_seconds = compile;
  return code;
}

int __wrap_agree_on_largest(struct comm *c, int code, double *values, int count, struct error *err) {
  meetings++;
  now += meeting;
  return __real_agree_on_largest(c, code, values, count, err);
}

void __wrap_tune_ran(struct op_context *ctx, const struct launch *launch, double seconds) {
  (void)seconds;
  total += planted;
  __real_tune_ran(ctx, launch, planted);
}

OP_KERNEL_DEF(
    mix, void mix(const double *x, double *a, double *b) {
      *a += 0.5 * *x;
      *b += 0.25 * *x;
    })

struct ring {
  op_set edges, nodes;
  op_map ends;
  op_dat x, y;
};

static const struct loop *the_loop(void) {
  struct loop **loops = loop_records(api_context());
  check(loops != NULL);
  const struct loop *found = loops[0];
  free(loops);
  return found;
}

/* After each call trials cost no more than their share, but for a meeting and one run that took longer than was expected. */
static void run(const struct ring *m, double seconds) {
  planted = seconds;
  op_par_loop(OP_KERNEL_OF(mix), "mix", m->edges, op_arg_dat(m->x, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(m->y, 0, m->ends, 1, "double", OP_INC),
              op_arg_dat(m->y, 1, m->ends, 1, "double", OP_INC));
  loop = loop ? loop : the_loop();
  check(loop->stats.trial_seconds <= share * total + 2 * meeting + planted);
}

static struct ring declare(void) {
  static int table[2 * ROWS];
  for (int i = 0; i < ROWS; i++) {
    table[2 * i] = i;
    table[2 * i + 1] = (i + 1) % ROWS;
  }
  struct ring m = {.edges = op_decl_set(ROWS, "edges"), .nodes = op_decl_set(ROWS, "nodes")};
  m.ends = op_decl_map(m.edges, m.nodes, 2, table, "ends");
  m.x = op_decl_dat(m.edges, 1, "double", NULL, "x");
  m.y = op_decl_dat(m.nodes, 1, "double", NULL, "y");
  return m;
}

/* Trials and what was compiled are the leader's; what they cost is the same on all. */
static void trials_keep_to_their_share(void) {
  const struct ring m = declare();
  run(&m, short_call);
  const long long compiles = op_counters()->compiles, begun = meetings;
  for (int call = 1; call < SHORT_CALLS; call++)
    run(&m, short_call);
  check(meetings - begun <= SHORT_CALLS / 32 + 8);
  check(op_counters()->trials == 0);
  /* So long that a compile like the first one could not be paid for. */
  while (share * (total + 64 * middle_call) < 0.9 * compile)
    run(&m, middle_call);
  check(op_counters()->trials == 0);
  check(op_counters()->compiles == compiles);
  /* In the long run all is tried. */
  for (int call = 0; call < LONG_CALLS; call++)
    run(&m, long_call);
  check(op_counters()->trials > 0);
}

int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  rank = op_rank();
  trials_keep_to_their_share();
  op_printf("%lld trials\n", op_counters()->trials);
  op_exit();
  return 0;
}
