/* Chains that repeat: each way to run them is tried, all give the same, and the next run starts with what was found. */
#include <stdbool.h>

#include "../exec/ring.h"

/* Large enough for tiles to pay, and whole numbers, so that sums are exact. */
enum {
  NX = 320,
  NY = 420,
  NCELLS = NX * NY,
  NEDGES = 2 * NCELLS - NX - NY,
  DIM = 8,
  STEPS = 4,
  ROUNDS = 150
};

static const char flux[] = OP_KERNEL(void flux(const double *a, const double *b, double *ra, double *rb) {
  for (int d = 0; d < 8; d++) {
    const double f = a[d] - b[d];
    ra[d] -= f;
    rb[d] += f;
  }
});
static const char relax_cells[] = OP_KERNEL(void relax_cells(double *r, double *q, double *sum) {
  for (int d = 0; d < 8; d++) {
    q[d] += r[d] > 0 ? 1 : r[d] < 0 ? -1 : 0;
    sum[0] += q[d];
    r[d] = 0;
  }
});

struct outcome {
  double q[NCELLS * DIM], sum;
  long long tiled, tasked, trials;
};

static int edges_of(int *pairs) {
  int n = 0;
  for (int c = 0; c < NCELLS; c++) {
    const int next[] = {c % NX + 1 < NX ? c + 1 : -1, c + NX < NCELLS ? c + NX : -1};
    for (int side = 0; side < 2; side++)
      if (next[side] >= 0) {
        pairs[2 * n] = c;
        pairs[2 * n++ + 1] = next[side];
      }
  }
  return n;
}

static bool frees_temporaries;

static const char begin[] = OP_KERNEL(void begin(double *x) { *x = 1; });

static void use_temporary(op_set cells) {
  op_dat x = op_decl_dat_temp(cells, 1, "double", NULL, "x");
  double got[NX];
  works(op_par_loop(begin, "begin", cells, direct(x, 1, "double", OP_WRITE)));
  works(op_fetch_data_idx(x, got, 0, NX - 1));
  assert_true(got[0] == 1 && got[NX - 1] == 1);
  works(op_free_dat_temp(x));
}

/* The next program has loops over edges in no order, too. */
static bool in_chaos;

static void add_flux(op_set edges, op_map ends, op_dat q, op_dat r) {
  works(op_par_loop(flux, "flux", edges, op_arg_dat(q, 0, ends, DIM, "double", OP_READ),
                    op_arg_dat(q, 1, ends, DIM, "double", OP_READ),
                    op_arg_dat(r, 0, ends, DIM, "double", OP_INC),
                    op_arg_dat(r, 1, ends, DIM, "double", OP_INC)));
}

static void settle(op_set cells, op_dat r, op_dat q, op_gbl sum) {
  works(op_par_loop(relax_cells, "relax_cells", cells, direct(r, DIM, "double", OP_RW),
                    direct(q, DIM, "double", OP_RW), op_arg_global(sum, OP_INC)));
}

/* The next program runs on two threads. */
static bool on_threads;

static void run_program(const char *lazy, const char *tune, const char *cache, int rounds,
                        struct outcome *out) {
  static int pairs[2 * NEDGES], chaos[2 * NEDGES];
  char words[4][300], program[] = "program", seq[] = "OP2_BACKEND=seq", openmp[] = "OP2_BACKEND=openmp",
                      threads[] = "OP2_THREADS=2", variant[] = "OP2_VARIANT=scalar";
  char *argv[] = {program, on_threads ? openmp : seq, threads, variant, words[0], words[1], words[2], NULL};
  snprintf(words[0], sizeof words[0], "OP2_LAZY=%s", lazy);
  snprintf(words[1], sizeof words[1], "OP2_TUNE=%s", tune);
  snprintf(words[2], sizeof words[2], "OP2_CACHE=%s/%s", folder, cache);
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  works(op_init(7, argv, 0));
  assert_int_equal(edges_of(pairs), NEDGES);
  for (int i = 0; i < NCELLS * DIM; i++)
    out->q[i] = (double)(i * 7L % 1009);
  op_set cells = op_decl_set(NCELLS, "cells"), edges = op_decl_set(NEDGES, "edges");
  for (int e = 0; e < 2 * NEDGES; e++)
    chaos[e] = pairs[e * 7919L % (2 * NEDGES)];
  op_map ends = op_decl_map(edges, cells, 2, pairs, "ends");
  op_map anywhere = op_decl_map(edges, cells, 2, chaos, "anywhere");
  op_dat q = op_decl_dat(cells, DIM, "double", out->q, "q"), r = op_decl_dat(cells, DIM, "double", NULL, "r");
  op_gbl sum = op_decl_gbl(1, "double", NULL, "sum");
  for (int round = 0; round < rounds; round++) {
    for (int step = 0; step < STEPS; step++) {
      add_flux(edges, ends, q, r);
      settle(cells, r, q, sum);
      if (in_chaos) {
        add_flux(edges, anywhere, q, r);
        settle(cells, r, q, sum);
      }
    }
    works(op_get_gbl(sum, &out->sum));
    if (frees_temporaries)
      use_temporary(cells);
  }
  works(op_fetch_data(q, out->q));
  out->tiled = op_counters()->tiled;
  out->tasked = op_counters()->tasked;
  out->trials = op_counters()->trials;
  works(op_exit());
}

static void same(const struct outcome *a, const struct outcome *b) {
  assert_true(a->sum == b->sum);
  assert_memory_equal(a->q, b->q, sizeof a->q);
}

TEST(a_chain_is_tuned_and_remembered) {
  static struct outcome singly, tuned, again;
  run_program("off", "off", "none.db", ROUNDS, &singly);
  run_program("on", "100", "chain.db", ROUNDS, &tuned);
  same(&singly, &tuned);
  assert_true(tuned.tiled > 0 && tuned.trials > 0);
  /* With the same budget: it would be tried again, had nothing been remembered. So few rounds cannot show that the machine is
   * slower now than it was, which would be a reason, too. */
  enum { FEW = 40 };
  run_program("off", "off", "none.db", FEW, &singly);
  run_program("on", "100", "chain.db", FEW, &again);
  same(&singly, &again);
  assert_int_equal(again.trials, 0);
}

/* On one thread nobody waits at barriers. */
TEST(on_threads_chains_are_tried_as_tasks) {
  static struct outcome singly, tuned;
  run_program("off", "off", "none.db", ROUNDS, &singly);
  assert_int_equal(singly.tasked, 0);
  on_threads = true;
  run_program("on", "100", "threads.db", ROUNDS, &tuned);
  on_threads = false;
  same(&singly, &tuned);
  assert_true(tuned.tasked > 0 && tuned.tiled > 0 && tuned.trials > 0);
}

/* Without tuning the first guess runs, from the second time on. */
TEST(without_tuning_there_is_a_first_guess) {
  static struct outcome singly, guessed;
  run_program("off", "off", "none.db", 3, &singly);
  run_program("on", "off", "none.db", 3, &guessed);
  same(&singly, &guessed);
  assert_int_equal(guessed.trials, 0);
  assert_int_equal(guessed.tiled, 2);
}

/* A temporary that no chain uses may go in each step. */
TEST(a_temporary_that_goes_leaves_chains_known) {
  static struct outcome singly, guessed;
  frees_temporaries = true;
  run_program("off", "off", "none.db", 4, &singly);
  run_program("on", "off", "none.db", 4, &guessed);
  frees_temporaries = false;
  same(&singly, &guessed);
  assert_int_equal(guessed.tiled, 3);
}

/* The first half of each period. */
TEST(what_cannot_be_cut_is_halved) {
  static struct outcome singly, halved;
  in_chaos = true;
  run_program("off", "off", "none.db", 3, &singly);
  run_program("on", "off", "none.db", 3, &halved);
  in_chaos = false;
  same(&singly, &halved);
  assert_int_equal(halved.tiled, 2 * STEPS);
}

AROUND_ALL(make_folder, remove_folder)
