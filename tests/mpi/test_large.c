/* Ranks whose loops store past the caches: with halos in between, the bits are those of ordinary stores; the rank
 * with the largest part decides for all; and where one rank has no memory for its record of a loop, all ranks say
 * so. */
#include "api/api.h"
#include "backend/cpu/cpu_loop.h"
#include "check.h"
#include "context/context.h"
#include "jit/jit.h"
#include "mesh/data.h"
#include "mesh/mesh.h"
#include "ranks/comm.h"
#include "record/record.h"

enum { CELLS = 4001, REACH = 3, FACES = CELLS - REACH, STEPS = 8, DIM = 4 };

/* ---- memory: the linker leads the library's calls here (--wrap) ---- */

static bool refuses;

void *__real_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);

void *__wrap_calloc(size_t count, size_t bytes) {
  return refuses && bytes == sizeof(struct cpu_loop) ? NULL : __real_calloc(count, bytes);
}

/* ---- the loops ---- */

OP_KERNEL_DEF(
    save, void save(const double *q, double *old, float *first) {
      for (int k = 0; k < 4; k++)
        old[k] = q[k];
      *first = (float)q[0];
    })
OP_KERNEL_DEF(
    flux,
    void flux(const double *a, const double *b, const float *fa, const float *fb, double *da, double *db) {
      for (int k = 0; k < 4; k++) {
        const double f = (a[k] - b[k]) / (3 + *fa * *fb + a[k] * b[k]);
        da[k] -= f;
        db[k] += f;
      }
    })
OP_KERNEL_DEF(
    update, void update(const double *old, double *dq, double *q) {
      for (int k = 0; k < 4; k++) {
        q[k] = old[k] + 0.1 * dq[k];
        dq[k] = 0;
      }
    })

struct chain {
  op_set cells, faces;
  op_map ends;
  op_dat q, old, dq, first;
};

static void declare(struct chain *c) {
  static int table[2 * FACES];
  static double q[CELLS * DIM];
  const int root = op_is_root();
  for (int e = 0; e < FACES; e++) {
    table[2 * e] = e;
    table[2 * e + 1] = e + REACH;
  }
  for (int i = 0; i < CELLS * DIM; i++)
    q[i] = 1.0 / (i * 7 % 11 + 3);
  c->cells = op_decl_set(root ? CELLS : 0, "cells");
  c->faces = op_decl_set(root ? FACES : 0, "faces");
  c->ends = op_decl_map(c->faces, c->cells, 2, table, "ends");
  c->q = op_decl_dat(c->cells, DIM, "double", root ? q : NULL, "q");
  c->old = op_decl_dat(c->cells, DIM, "double", NULL, "old");
  c->dq = op_decl_dat(c->cells, DIM, "double", NULL, "dq");
  c->first = op_decl_dat(c->cells, 1, "float", NULL, "first");
  check(op_partition("block", "", c->cells, c->ends, NULL) == 0);
}

static int save_all(const struct chain *c) {
  return op_par_loop(OP_KERNEL_OF(save), "save", c->cells,
                     op_arg_dat(c->q, -1, OP_ID, DIM, "double", OP_READ),
                     op_arg_dat(c->old, -1, OP_ID, DIM, "double", OP_WRITE),
                     op_arg_dat(c->first, -1, OP_ID, 1, "float", OP_WRITE));
}

static void step(const struct chain *c) {
  check(save_all(c) == 0);
  check(op_par_loop(OP_KERNEL_OF(flux), "flux", c->faces,
                    op_arg_dat(c->old, 0, c->ends, DIM, "double", OP_READ),
                    op_arg_dat(c->old, 1, c->ends, DIM, "double", OP_READ),
                    op_arg_dat(c->first, 0, c->ends, 1, "float", OP_READ),
                    op_arg_dat(c->first, 1, c->ends, 1, "float", OP_READ),
                    op_arg_dat(c->dq, 0, c->ends, DIM, "double", OP_INC),
                    op_arg_dat(c->dq, 1, c->ends, DIM, "double", OP_INC)) == 0);
  check(op_par_loop(OP_KERNEL_OF(update), "update", c->cells,
                    op_arg_dat(c->old, -1, OP_ID, DIM, "double", OP_READ),
                    op_arg_dat(c->dq, -1, OP_ID, DIM, "double", OP_RW),
                    op_arg_dat(c->q, -1, OP_ID, DIM, "double", OP_WRITE)) == 0);
}

static void open_library(char *program, const char *variant) {
  char forced[64], threads[] = "OP2_THREADS=2", *arguments[] = {program, threads, forced, NULL};
  snprintf(forced, sizeof forced, "OP2_VARIANT=%s", variant);
  check(op_init(3, arguments, 0) == 0);
}

/* Facts of the loop that was recorded first. */
static bool streams(void) {
  struct loop **loops = loop_records(api_context());
  check(loops && api_context()->loops->count > 0);
  const bool found = strstr(loops[0]->stats.variant, "+stream") != NULL;
  free(loops);
  return found;
}

static void has_the_bits_of_strips(char *program) {
  static double answers[2][CELLS * DIM];
  static const char *const variants[] = {"strip8", "strip8+stream"};
  for (int v = 0; v < 2; v++) {
    struct chain c;
    open_library(program, variants[v]);
    declare(&c);
    for (int s = 0; s < STEPS; s++)
      step(&c);
    check(streams() == (v == 1));
    check(op_fetch_data(c.q, answers[v]) == 0);
    check(op_exit() == 0);
  }
  check(memcmp(answers[0], answers[1], sizeof answers[0]) == 0);
}

/* To the first rank its caches seem to hold anything, to the last one nothing; or to all of them anything. */
static void the_largest_part_decides(char *program) {
  for (int large = 0; large < 2; large++) {
    struct chain c;
    open_library(program, "");
    const bool last = op_rank() == api_context()->comm->size - 1;
    api_context()->cache_bytes = large && last ? 1 : (size_t)1 << 40;
    declare(&c);
    check(save_all(&c) == 0);
    check(streams() == (large && jit_vector_bytes(api_context()->jit) >= 32));
    check(op_exit() == 0);
  }
}

static void no_memory_on_one_rank(char *program) {
  struct chain c;
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  open_library(program, "");
  declare(&c);
  refuses = op_rank() == 1;
  check(save_all(&c) == OP_ERR_MEMORY);
  refuses = false;
  check(save_all(&c) == 0);
  check(op_exit() == 0);
  op_set_error_handler(OP_ERRORS_FATAL, NULL);
}

int main(int argc, char **argv) {
  (void)argc;
  has_the_bits_of_strips(argv[0]);
  the_largest_part_decides(argv[0]);
  no_memory_on_one_rank(argv[0]);
  return 0;
}
