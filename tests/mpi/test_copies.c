/* A program for one process, run on several: every rank declares the whole mesh. Rank 0 warns, once; not if rank 0
 * declares everything or each rank its share. */
#include <stdbool.h>
#include <unistd.h>

#include "check.h"

enum { NODES = 4, EDGES = 3, TIMES = 2 };

static int rank, size;

static int saved = -1;
static FILE *caught;

static void catch_stderr(void) {
  fflush(stderr);
  saved = dup(STDERR_FILENO);
  caught = tmpfile();
  check(saved >= 0 && caught && dup2(fileno(caught), STDERR_FILENO) >= 0);
}

/* How often `words` were said. */
static int release_stderr(const char *words) {
  char said[4096];
  int count = 0;
  fflush(stderr);
  dup2(saved, STDERR_FILENO);
  close(saved);
  rewind(caught);
  said[fread(said, 1, sizeof said - 1, caught)] = '\0';
  fclose(caught);
  fputs(said, stderr);
  for (const char *p = said; (p = strstr(p, words)); p++)
    count++;
  return count;
}

OP_KERNEL_DEF(
    meet, void meet(const double *a, const double *b, double *n) { *n += *a + *b; })

struct part {
  int nodes, edges, first_edge;
};

/* Edges of a ring of all nodes. */
static double run(struct part p, int all_nodes, bool partition, const char *words, int expected) {
  int ends[2 * EDGES];
  const double ones[NODES] = {1, 1, 1, 1};
  double sum = 0;
  for (int e = 0; e < p.edges; e++)
    for (int k = 0; k < 2; k++)
      ends[2 * e + k] = (p.first_edge + e + k) % all_nodes;
  op_set nodes = op_decl_set(p.nodes, "nodes"), edges = op_decl_set(p.edges, "edges");
  op_map map = op_decl_map(edges, nodes, 2, ends, "edge_nodes");
  op_dat x = op_decl_dat(nodes, 1, "double", ones, "x");
  check(nodes && edges && map && x);
  catch_stderr();
  int code = partition ? op_partition("block", "", nodes, NULL, NULL) : OP_OK;
  for (int time = 0; time < TIMES; time++) {
    if (!code)
      code = op_par_loop(OP_KERNEL_OF(meet), "meet", edges, op_arg_dat(x, 0, map, 1, "double", OP_READ),
                         op_arg_dat(x, 1, map, 1, "double", OP_READ), op_arg_gbl(&sum, 1, "double", OP_INC));
    op_map again = code ? NULL : op_decl_map(edges, nodes, 2, ends, "again");
    code = again ? code : -1;
  }
  const int said = release_stderr(words);
  check(code == OP_OK);
  check(said == (rank == 0 ? expected : 0));
  return sum / (double)TIMES;
}

static void begin(int argc, char **argv) {
  check(op_init(argc, argv, 0) == OP_OK);
  rank = op_rank();
}

int main(int argc, char **argv) {
  char words[200];
  size = argc > 1 ? atoi(argv[1]) : 0;
  check(size > 1);
  snprintf(words, sizeof words,
           "each of %d ranks declared the same %d elements of set \"edges\" and %d of set \"nodes\"", size,
           EDGES, NODES);
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  for (int partition = 0; partition < 2; partition++) {
    begin(argc, argv);
    check(run((struct part){NODES, EDGES, 0}, NODES, partition, words, 1) == 2.0 * (double)EDGES * size);
    check(op_exit() == OP_OK);
  }
  begin(argc, argv);
  const struct part root = {op_is_root() ? NODES : 0, op_is_root() ? EDGES : 0, 0};
  check(run(root, NODES, false, "ranks declared the same", 0) == 2.0 * (double)EDGES);
  check(op_exit() == OP_OK);
  begin(argc, argv);
  const struct part share = {NODES, EDGES, NODES * rank};
  check(run(share, NODES * size, false, "ranks declared the same", 0) == 2.0 * (double)EDGES * size);
  check(op_exit() == OP_OK);
  op_printf("%d ranks warned of copies only\n", size);
  return 0;
}
