/* What derivatives cost: airfoil alone, while a tape records it, and backwards; processor time, in turns.
 *
 * usage: adjoint [CELLS [BY-THE-SHAPE [BYTES]]]   1: by the flow and by the shape, 0: by the flow; BYTES: the budget */
#define main airfoil_main
#include "../samples/airfoil/airfoil.c"
#undef main

#include <op2jit_adjoint.h>
#include <time.h>

enum { ITERATIONS = 10, TURNS = 11 };

static double processor_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

struct turn {
  double primal, record, reverse;
  op_tape_facts_t recorded, reversed;
};

static struct turn take_turn(const struct airfoil *a, int inputs, size_t bytes) {
  const op_dat both[] = {a->q, a->x};
  const double one = 1, start = processor_seconds();
  struct turn t;
  for (int i = 0; i < ITERATIONS; i++)
    iterate(a, NULL);
  t.primal = processor_seconds() - start;
  op_tape tape = op_tape_begin(inputs, both, bytes);
  for (int i = 0; i < ITERATIONS; i++) {
    op_tape_step();
    iterate(a, NULL);
  }
  op_tape_end(tape);
  t.record = processor_seconds() - start - t.primal;
  op_tape_facts(tape, &t.recorded);
  op_put_gbl(op_bar_gbl(a->squares[1]), &one);
  op_tape_reverse(tape, 1);
  t.reverse = processor_seconds() - start - t.primal - t.record;
  op_tape_facts(tape, &t.reversed);
  op_tape_free(tape);
  return t;
}

int main(int argc, char **argv) {
  const int cells = argc > 1 ? atoi(argv[1]) : 20000, by_shape = argc > 2 ? atoi(argv[2]) : 1;
  const size_t bytes = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
  struct airfoil_mesh mesh;
  if (op_init(0, NULL, 1))
    return 1;
  declare_constants();
  mesh_generate(&mesh, cells);
  const struct airfoil a = declare_mesh(&mesh);
  printf("%9s %9s %9s %9s %9s %9s %6s\n", "primal/s", "record", "reverse", "both", "kept MB", "most MB",
         "again");
  for (int i = 0; i < TURNS; i++) {
    const struct turn t = take_turn(&a, by_shape ? 2 : 1, bytes);
    printf("%9.4f %9.2f %9.2f %9.2f %9.1f %9.1f %6lld\n", t.primal, t.record / t.primal, t.reverse / t.primal,
           (t.record + t.reverse) / t.primal, (double)t.recorded.bytes / 1e6, (double)t.reversed.most / 1e6,
           t.reversed.again);
  }
  mesh_free(&mesh);
  return op_exit();
}
