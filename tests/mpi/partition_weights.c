#include "partition.h"

#include "check.h"

#include "api/api.h"
#include "base/list.h"
#include "mesh/data.h"
#include "mesh/mesh.h"
#include "ranks/comm.h"
#include "record/record.h"

OP_KERNEL_DEF(
    touch, void touch(int *a) { *a += 1; })

/* As if a loop over the set had taken so long for each of its elements. */
static void plant(op_set set, op_dat dat, double seconds) {
  struct op_context *ctx = api_context();
  op_par_loop(OP_KERNEL_OF(touch), "touch", set, op_arg_dat(dat, -1, OP_ID, 1, "int", OP_RW));
  struct loop **loops = loop_records(ctx);
  struct loop *last = loops[ctx->loops->count - 1];
  last->stats.seconds = seconds * (double)last->set->size;
  last->stats.exchange_seconds = 0;
  free(loops);
}

/* The most that a rank has to do, by the mean. */
static double imbalance(int cells, int grains, double cost) {
  struct op_context *ctx = api_context();
  struct error err = {0};
  const struct list *sets = &ctx->mesh->sets;
  double load = (double)((struct set *)sets->items[cells])->extents[EXTENT_OWNED] +
                cost * (double)((struct set *)sets->items[grains])->extents[EXTENT_OWNED];
  double most = load, sum = load;
  check(!ctx->comm->table->reduce_all(ctx->comm, &most, 1, COMM_DOUBLE, COMM_MAX, &err));
  check(!ctx->comm->table->reduce_all(ctx->comm, &sum, 1, COMM_DOUBLE, COMM_SUM, &err));
  return most * ctx->comm->size / sum;
}

/* A strip of cells, of which those of the first quarter have ten grains each. */
void test_weights(bool scotch) {
  enum { CELLS = 200, GRAINS = 10, COST = 2 };
  const int size = api_context()->comm->size, rank = op_rank();
  const int all = CELLS * size, first_cell = rank * CELLS, grains = all / 4 * GRAINS / size;
  const int first = rank * grains, c = api_context()->mesh->next_set;
  op_set cell = op_decl_set(CELLS, "cells"), grain = op_decl_set(grains, "grains");
  op_set face = op_decl_set(CELLS, "faces");
  int *in = array_new((size_t)grains, sizeof *in), next[2 * CELLS];
  double x[CELLS];
  for (int i = 0; i < grains; i++)
    in[i] = (first + i) / GRAINS;
  for (int i = 0; i < CELLS; i++) {
    x[i] = first_cell + i;
    next[2 * i] = first_cell + i;
    next[2 * i + 1] = (first_cell + i + 1) % all;
  }
  check(op_decl_map(grain, cell, 1, in, "in"));
  op_map beside = op_decl_map(face, cell, 2, next, "beside");
  op_dat where = op_decl_dat(cell, 1, "double", x, "x");
  op_dat a = op_decl_dat(cell, 1, "int", NULL, "a"), b = op_decl_dat(grain, 1, "int", NULL, "b");
  check(beside && where && a && b);
  check(!op_partition("rcb", "", cell, NULL, where));
  check(size == 1 || imbalance(c, c + 1, COST) > 1.5); /* nothing ran: as many cells each */
  plant(cell, a, 1e-3);
  plant(grain, b, COST * 1e-3);
  static const char *const ways[] = {"rcb", "inertial", "ptscotch"};
  for (int w = 0; w < 3; w++) {
    const bool graph = w == 2;
    if (graph && (!scotch || size == 1 || strcmp(api_context()->comm->table->name, "openmpi") != 0))
      continue;
    check(!op_partition(ways[w], "", cell, graph ? beside : NULL, graph ? NULL : where));
    check(imbalance(c, c + 1, COST) < (graph ? 1.2 : 1.1));
  }
  free(in);
}

void test_equal_weights(int argc, char **argv) {
  char *words[16];
  check(argc < 15);
  memcpy(words, argv, (size_t)argc * sizeof *words);
  words[argc] = "OP2_WEIGHTS=equal";
  words[argc + 1] = NULL;
  check(!op_init(argc + 1, words, 0));
  const int rank = op_rank();
  op_set cell = op_decl_set(20, "cells"), grain = op_decl_set(rank ? 0 : 100, "grains");
  int in[100] = {0};
  double x[20];
  for (int i = 0; i < 20; i++)
    x[i] = rank * 20 + i;
  check(op_decl_map(grain, cell, 1, in, "in"));
  op_dat where = op_decl_dat(cell, 1, "double", x, "x"), b = op_decl_dat(grain, 1, "int", NULL, "b");
  plant(grain, b, 1e-3);
  check(!op_partition("rcb", "", cell, NULL, where));
  check(((struct set *)api_context()->mesh->sets.items[0])->extents[EXTENT_OWNED] == 20);
  check(!op_exit());
}
