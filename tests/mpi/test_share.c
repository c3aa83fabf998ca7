/* One rank of a kind compiles. FOLDER RANKS COMPILES LEADERS: each rank has a database of its own in FOLDER, and
 * plugins of its own in FOLDER/plugins.RANK if there is such a folder, NVRTC at FOLDER/nvrtc.RANK if there is
 * FOLDER/nvrtc, and a stand-in for a GPU of the capability that is the name behind the link
 * FOLDER/capability.RANK. The leading ranks ("0" or "02") are to compile so many kernels, and the others none, and
 * only the leaders' databases are there afterwards. */
#include <stdbool.h>
#include <unistd.h>

#include "check.h"

enum { ROWS = 1000, EDGES = 999 };

static int rank;

static int launched_rank(void) {
  const char *word = getenv("OMPI_COMM_WORLD_RANK");
  return atoi(word ? word : getenv("PMI_RANK") ? getenv("PMI_RANK") : "0");
}

OP_KERNEL_DEF(
    spread, void spread(const double *from, double *a, double *b) {
      *a += *from;
      *b -= *from;
    })
OP_KERNEL_DEF(
    largest, void largest(const double *x, double *most) {
      if (*x > *most)
        *most = *x;
    })

static void run_loops(void) {
  static int ends[2 * EDGES];
  static double values[EDGES];
  for (int i = 0; i < EDGES; i++) {
    ends[2 * i] = i;
    ends[2 * i + 1] = i + 1;
    values[i] = i;
  }
  op_set rows = op_decl_set(ROWS, "rows"), edges = op_decl_set(EDGES, "edges");
  op_map edge_rows = op_decl_map(edges, rows, 2, ends, "edge_rows");
  op_dat from = op_decl_dat(edges, 1, "double", values, "from");
  op_dat sum = op_decl_dat(rows, 1, "double", NULL, "sum");
  double most = -1e30;
  op_par_loop(OP_KERNEL_OF(spread), "spread", edges, op_arg_dat(from, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(sum, 0, edge_rows, 1, "double", OP_INC),
              op_arg_dat(sum, 1, edge_rows, 1, "double", OP_INC));
  op_par_loop(OP_KERNEL_OF(largest), "largest", rows, op_arg_dat(sum, -1, OP_ID, 1, "double", OP_READ),
              op_arg_gbl(&most, 1, "double", OP_MAX));
}

/* Before the GPU's stand-in is opened. */
static void set_capability(const char *folder) {
  char link[400], number[16] = "";
  snprintf(link, sizeof link, "%s/capability.%d", folder, rank);
  if (readlink(link, number, sizeof number - 1) > 0)
    setenv("STANDIN_CAPABILITY", number, 1);
}

int main(int argc, char **argv) {
  char cache[500], plugins[500], nvrtc[500], file[400];
  check(argc == 5);
  rank = launched_rank();
  const int size = atoi(argv[2]), compiles = atoi(argv[3]);
  const bool leads = strchr(argv[4], '0' + rank) != NULL;
  set_capability(argv[1]);
  snprintf(file, sizeof file, "%s/cache.%d", argv[1], rank);
  snprintf(cache, sizeof cache, "OP2_CACHE=%s", file);
  snprintf(plugins, sizeof plugins, "OP2_PLUGINS=%s/plugins.%d", argv[1], rank);
  snprintf(nvrtc, sizeof nvrtc, "OP2_NVRTC=%s/nvrtc", argv[1]);
  char *arguments[5] = {argv[0], cache};
  int count = 2;
  if (access(plugins + strlen("OP2_PLUGINS="), R_OK) == 0)
    arguments[count++] = plugins;
  if (access(nvrtc + strlen("OP2_NVRTC="), R_OK) == 0) {
    snprintf(nvrtc, sizeof nvrtc, "OP2_NVRTC=%s/nvrtc.%d", argv[1], rank);
    arguments[count++] = nvrtc;
  }
  op_init(count, arguments, 0);
  check(op_rank() == rank && rank < size);
  run_loops();
  const op_counters_t *counters = op_counters();
  check(counters->compiles == (leads ? compiles : 0));
  check(counters->compiles + counters->cache_hits > 0);
  op_exit();
  check((access(file, F_OK) == 0) == leads);
  return 0;
}
