/* aero against hand-written loops. */
#define AERO_SAMPLE
#include "common/memory.h"
#include "common/options.h"
#include "common/report.h"

#define main sample_main
/* NOLINTNEXTLINE(bugprone-suspicious-include): the sample's functions are its own. */
#include "samples/aero/aero.c"
#undef main

#include "twin.h"

static struct aero_history solve_timed(const struct aero *a, const struct aero_limits *limits) {
  struct aero_history history = {0};
  double seconds = 0;
  int total = 0;
  double nodes = (double)op_get_global_size(a->nodes);
  while (history.steps < limits->newton) {
    int iterations = 0;
    double rr = linearise(a), enough = rr * limits->gradient_drop * limits->gradient_drop;
    double start = clock_seconds();
    history.residual[history.steps] = sqrt(rr / nodes);
    if (history.residual[history.steps++] <= limits->residual)
      break;
    for (; rr > enough && iterations < limits->gradient; iterations++)
      rr = iterate_gradient(a);
    if (history.steps > 1) { /* the first step plans and compiles */
      seconds += clock_seconds() - start;
      total += iterations;
    }
    history.iterations[history.steps - 1] = iterations;
    op_par_loop(OP_KERNEL_FILE("../../../samples/aero/aero_kernels.h", correct), "correct", a->nodes,
                own(a->u, OP_READ), own(a->phi, OP_RW));
  }
  history.seconds = total ? seconds / total : 0;
  return history;
}

/* What is known of a run, at the first rank. */
static void check_all(struct check *check, const struct aero_mesh *mesh, const struct aero_limits *limits,
                      const struct aero_history *history, const double *phi, int compare) {
  double *by_hand_phi = aero_start(mesh), base = 0;
  double bytes = mesh->cells * (16 * 8.0 + 16) + mesh->nodes * (8 + 16 + 16 + 56 + 24.0);
  check_at_most(check, "residual after the last step", history->residual[history->steps - 1],
                limits->residual);
  struct aero_history by_hand = aero_twin(mesh, limits, 0, by_hand_phi);
  check_equal(check, "Newton steps, against the hand-written loops", history->steps, by_hand.steps);
  check_at_most(check, "first residual against the hand-written loops",
                relative_difference(history->residual[0], by_hand.residual[0]), 1e-12);
  check_at_most(check, "phi against the hand-written loops",
                largest_difference(phi, by_hand_phi, mesh->nodes), 1e-9);
  compare_header("one iteration of conjugate gradients");
  compare_row("hand-written, serial", by_hand.seconds, bytes, &base);
  free(by_hand_phi);
  if (compare) {
    double *again = aero_start(mesh);
    compare_row("hand-written, OpenMP", aero_twin(mesh, limits, 1, again).seconds, bytes, &base);
    check_at_most(check, "phi, hand-written with OpenMP", largest_difference(phi, again, mesh->nodes), 1e-9);
    free(again);
  }
  compare_row("op2jit", history->seconds, bytes, &base);
}

int main(int argc, char **argv) {
  int n = 64, compare = 0;
  const struct option_entry entries[] = {
      {"n", OPTION_INT, &n, 4, 10000, "n x n elements"},
      {"compare", OPTION_FLAG, &compare, 0, 0, "run the hand-written loops with OpenMP too"},
  };
  enum options_outcome outcome = options_read(argc, argv, "compressible potential flow by finite elements",
                                              sizeof entries / sizeof *entries, entries);
  if (outcome != OPTIONS_RUN)
    return outcome;
  op_init(argc, argv, 1);
  op_decl_const("mach2", 1, "double", &mach2);
  op_decl_const("gm1", 1, "double", &gm1);
  op_decl_const("amplitude", 1, "double", &amplitude);
  const struct aero_limits limits = {
      .newton = AERO_MOST_STEPS, .gradient = 100 * n, .residual = 1e-11, .gradient_drop = 1e-8};
  struct aero_mesh mesh = aero_mesh_make(n);
  double *start = aero_start(&mesh), *phi = room(mesh.nodes, sizeof *phi);
  struct aero a = declare(&mesh, start, 0);
  const struct aero_history history = solve_timed(&a, &limits);
  struct check check = {0};
  op_fetch_data(a.phi, phi);
  if (op_is_root())
    check_all(&check, &mesh, &limits, &history, phi, compare);
  free(start);
  free(phi);
  aero_mesh_free(&mesh);
  int status = check_end(&check, "aero");
  op_exit();
  return status;
}
