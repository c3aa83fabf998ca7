/* Structs of the program and preludes over ranks: halos, partitions and results move whole structs, and every rank reads
 * them as one process does. Run by 2 to 4 ranks. */
#include "check.h"

enum { CELLS = 211, EDGES = 2 * CELLS };

static int rank, size;

/* The program's own, and the kernels'. */
#define SHARED_TEXT                                                                                          \
  "enum kind { FLUID, SOLID };\n"                                                                            \
  "struct state { double rho; float u[2]; enum kind kind; char tag; };\n"                                    \
  "static inline double weight(const struct state *s) { return s->kind == SOLID ? 2 * s->rho : s->rho; }\n"
enum kind { FLUID, SOLID };
struct state {
  double rho;
  float u[2];
  enum kind kind;
  char tag;
};
static inline double weight(const struct state *s) {
  return s->kind == SOLID ? 2 * s->rho : s->rho;
}

OP_KERNEL_DEF(
    spread_out, void spread_out(const struct state *a, const struct state *b, double *to_a, double *to_b) {
      *to_a += weight(b) + b->u[1];
      *to_b += weight(a) + a->u[0];
    })
OP_KERNEL_DEF(
    move_on, void move_on(struct state *s, const double *sum, double *total) {
      s->rho = 1 + (double)((long long)(s->rho + *sum) % 101);
      s->u[0] = s->u[1] + 1;
      s->kind = s->kind == SOLID ? FLUID : SOLID;
      s->tag = s->tag == 'a' ? 'b' : 'a';
      *total += s->rho;
    })

static struct state states[CELLS];
static double sums[CELLS];
static int ends[2 * EDGES];
static op_set cells, edges;
static op_map map;
static op_dat w, sum, xy;

static int first_of(int all, int r) {
  return (int)((long long)all * r / size);
}

static void declare(void) {
  double places[2 * CELLS];
  for (int c = 0; c < CELLS; c++) {
    states[c] = (struct state){1 + c % 7, {(float)(c % 5), (float)(c % 3)}, c % 2 ? SOLID : FLUID, 'a'};
    places[2 * c] = c % 15;
    places[2 * c + 1] = c / 15;
  }
  for (int e = 0; e < EDGES; e++) {
    ends[2 * e] = e % CELLS;
    ends[2 * e + 1] = (e * 7 + 3) % CELLS;
  }
  const int c0 = first_of(CELLS, rank), e0 = first_of(EDGES, rank);
  check(!op_decl_prelude(SHARED_TEXT));
  check(!OP_TYPE(struct state, rho, u, kind, tag));
  cells = op_decl_set(first_of(CELLS, rank + 1) - c0, "cells");
  edges = op_decl_set(first_of(EDGES, rank + 1) - e0, "edges");
  map = op_decl_map(edges, cells, 2, ends + 2 * (size_t)e0, "ends");
  w = op_decl_dat(cells, 1, "struct state", states + c0, "w");
  sum = op_decl_dat(cells, 1, "double", NULL, "sum");
  xy = op_decl_dat(cells, 2, "double", places + 2 * (size_t)c0, "xy");
  check(w && sum && xy && map);
}

static void run_expected(double *total) {
  for (int e = 0; e < EDGES; e++) {
    const struct state *a = &states[ends[2 * e]], *b = &states[ends[2 * e + 1]];
    sums[ends[2 * e]] += weight(b) + b->u[1];
    sums[ends[2 * e + 1]] += weight(a) + a->u[0];
  }
  for (int c = 0; c < CELLS; c++)
    move_on(&states[c], &sums[c], total);
}

static void step(void) {
  double total = 0, wanted = 0;
  check(!op_par_loop(
      OP_KERNEL_OF(spread_out), "spread_out", edges, op_arg_dat(w, 0, map, 1, "struct state", OP_READ),
      op_arg_dat(w, 1, map, 1, "struct state", OP_READ), op_arg_dat(sum, 0, map, 1, "double", OP_INC),
      op_arg_dat(sum, 1, map, 1, "double", OP_INC)));
  check(!op_par_loop(
      OP_KERNEL_OF(move_on), "move_on", cells, op_arg_dat(w, -1, OP_ID, 1, "struct state", OP_RW),
      op_arg_dat(sum, -1, OP_ID, 1, "double", OP_READ), op_arg_gbl(&total, 1, "double", OP_INC)));
  run_expected(&wanted);
  check(total >= wanted && total <= wanted);
}

static void compare(void) {
  static struct state found[CELLS];
  const int first = first_of(CELLS, rank), count = first_of(CELLS, rank + 1) - first;
  check(!op_fetch_data(w, found));
  for (int c = 0; c < count; c++) {
    const struct state *want = &states[first + c];
    check(found[c].rho >= want->rho && found[c].rho <= want->rho && found[c].kind == want->kind &&
          found[c].tag == want->tag && memcmp(found[c].u, want->u, sizeof want->u) == 0);
  }
}

int main(int argc, char **argv) {
  check(!op_init(argc, argv, 0));
  rank = op_rank();
  size = op_rank_count();
  declare();
  for (int i = 0; i < 3; i++)
    step();
  compare();
  check(!op_partition("rcb", "", cells, NULL, xy));
  for (int i = 0; i < 3; i++)
    step();
  compare();
  check(!op_partition("random", "", cells, NULL, NULL) && !op_renumber(map));
  step();
  compare();
  check(op_counters()->exchanges > 0 || size == 1);
  check(!op_exit());
  /* A struct that one rank lays out otherwise is the same error on all of them. */
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  check(!op_init(argc, argv, 0));
  const op2jit_member member = {"v", "double", 0, 8};
  const int code = op2jit_decl_type("struct other", rank == size - 1 && size > 1 ? 16 : 8, 1, &member);
  check(size == 1 ? !code : code != 0 && strstr(op_last_error()->message, "struct other"));
  check(!op_exit());
  return 0;
}
