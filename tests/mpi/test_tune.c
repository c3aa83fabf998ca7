/* RANKS [CALLS]: all ranks make the same trials and choose the same variant, though they have different sizes (the
 * first none), and each its own clock; the second run in this process starts at what the first one kept. With
 * CALLS, fewer than trials of everything need, there is one run: it says that it was too short. */
#include "api/api.h"
#include "check.h"
#include "context/context.h"
#include "mesh/data.h"
#include "mesh/mesh.h"
#include "ranks/comm.h"
#include "record/record.h"

enum { ROWS = 20000, CALLS = 400 };

static int rank, size, calls = CALLS;

OP_KERNEL_DEF(
    mix, void mix(const double *x, double *a, double *b) {
      *a += 0.5 * *x;
      *b += 0.25 * *x;
    })

/* The same on all ranks? */
static void check_same(const char *words) {
  struct comm *c = api_context()->comm;
  char mine[64] = "", all[16][64];
  struct error err = {0};
  check(size <= 16);
  snprintf(mine, sizeof mine, "%s", words);
  check(c->table->gather_all(c, mine, sizeof mine, all, &err) == OP_OK);
  for (int r = 0; r < size; r++)
    check(strcmp(all[r], mine) == 0);
}

static void check_counts(void) {
  char words[64];
  snprintf(words, sizeof words, "%lld trials", op_counters()->trials);
  check_same(words);
}

static const char *chosen(void) {
  struct loop **loops = loop_records(api_context());
  const char *variant = loops && api_context()->loops->count ? loops[0]->stats.variant : "";
  free(loops);
  return variant;
}

static void run(bool remembered) {
  static int table[2 * ROWS];
  const int rows = rank * ROWS / size;
  for (int i = 0; i < rows; i++) {
    table[2 * i] = i;
    table[2 * i + 1] = (i + 1) % rows;
  }
  op_set edges = op_decl_set(rows, "edges"), nodes = op_decl_set(rows, "nodes");
  op_map map = op_decl_map(edges, nodes, 2, table, "map");
  op_dat x = op_decl_dat(edges, 1, "double", NULL, "x"), y = op_decl_dat(nodes, 1, "double", NULL, "y");
  for (int call = 0; call < calls; call++)
    op_par_loop(OP_KERNEL_OF(mix), "mix", edges, op_arg_dat(x, -1, OP_ID, 1, "double", OP_READ),
                op_arg_dat(y, 0, map, 1, "double", OP_INC), op_arg_dat(y, 1, map, 1, "double", OP_INC));
  check_counts();
  check_same(chosen());
  check(remembered ? op_counters()->trials == 0 : op_counters()->trials > 0);
}

int main(int argc, char **argv) {
  size = argc > 1 ? atoi(argv[1]) : 0;
  calls = argc > 2 ? atoi(argv[2]) : CALLS;
  for (int again = 0; again < (argc > 2 ? 1 : 2); again++) {
    char force[] = "OP2_TUNE=force", use[] = "OP2_TUNE=use";
    char *arguments[] = {argv[0], again ? use : force, NULL};
    op_init(2, arguments, 0);
    rank = op_rank();
    check(size > 1);
    run(again > 0);
    if (again > 0)
      op_printf("%s after %lld trials\n", chosen(), op_counters()->trials);
    op_exit();
  }
  return 0;
}
