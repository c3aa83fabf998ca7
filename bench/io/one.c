/* Files against plain read() and write(): a mesh of quadrilaterals with 4 values per cell, as airfoil's. Run by io.sh, on one rank
 * or several: io FILE CELLS make | load. Prints what, bytes, seconds, GB/s and the
 * first rank's memory; any rank that holds more of the mesh than 1.8 times its share and 60 MB is a failure. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "op2jit.h"

/* The most memory that this process had at a time, in MB. */
static double peak(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)usage.ru_maxrss / 1024;
}

static void row(const char *what, double bytes, double seconds) {
  op_printf("%-34s %8.0f MB %8.2f s %7.2f GB/s %8.0f MB here\n", what, bytes / 1e6, seconds,
            bytes / seconds / 1e9, peak());
}

enum { BLOCK = 8 << 20 };

/* The same number of bytes by the system alone. */
static void plain(const char *path, double bytes) {
  char other[4096], *block = malloc(BLOCK);
  snprintf(other, sizeof other, "%s.plain", path);
  memset(block, 1, BLOCK);
  double start = op_wtime(), done = 0;
  int fd = open(other, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  for (; fd >= 0 && done < bytes; done += (double)BLOCK)
    if (write(fd, block, BLOCK) != BLOCK)
      break;
  close(fd);
  op_printf("%-34s %8.0f MB %8.2f s %7.2f GB/s\n", "write()", done / 1e6, op_wtime() - start,
            done / (op_wtime() - start) / 1e9);
  start = op_wtime();
  done = 0;
  fd = open(other, O_RDONLY);
  for (ssize_t n = 1; fd >= 0 && n > 0; done += (double)(n > 0 ? n : 0))
    n = read(fd, block, BLOCK);
  close(fd);
  op_printf("%-34s %8.0f MB %8.2f s %7.2f GB/s\n", "read()", done / 1e6, op_wtime() - start,
            done / (op_wtime() - start) / 1e9);
  unlink(other);
  free(block);
}

/* Of a grid of cells this rank's rows, as a program would make them. */
static void make(const char *path, int cells, int side) {
  int nodes_across = side + 1, *table = malloc(sizeof(int) * 4 * (size_t)cells);
  for (int c = 0; c < cells; c++) {
    const int n = c % side + c / side * nodes_across,
              corner[4] = {n, n + 1, n + nodes_across + 1, n + nodes_across};
    memcpy(table + 4 * (size_t)c, corner, sizeof corner);
  }
  op_set set = op_decl_set(cells, "cells"), nodes = op_decl_set(nodes_across * (cells / side + 2), "nodes");
  op_decl_map(set, nodes, 4, table, "pcell");
  free(table);
  op_decl_dat(nodes, 2, "double", NULL, "p_x");
  op_decl_dat(set, 4, "double", NULL, "p_q");
  const double bytes = 48.0 * cells + 16.0 * op_get_size(nodes), start = op_wtime();
  if (op_dump_to_hdf5(path) == OP_OK)
    row("op_dump_to_hdf5", bytes, op_wtime() - start);
  plain(path, bytes);
}

static void load(const char *path) {
  const double before = peak(), start = op_wtime();
  op_set cells = op_decl_set_hdf5(path, "cells"), nodes = op_decl_set_hdf5(path, "nodes");
  op_map map = op_decl_map_hdf5(cells, nodes, 4, path, "pcell");
  op_dat x = op_decl_dat_hdf5(nodes, 2, "double", path, "p_x"),
         q = op_decl_dat_hdf5(cells, 4, "double", path, "p_q");
  if (!map || !x || !q)
    exit(1);
  const double bytes = 48.0 * (double)op_get_global_size(cells) + 16.0 * (double)op_get_global_size(nodes);
  const double share = (48.0 * op_get_size(cells) + 16.0 * op_get_size(nodes)) / 1048576,
               seconds = op_wtime() - start;
  row("op_decl_*_hdf5", bytes, seconds);
  const double most = peak() - before, allowed = 1.8 * share + 60;
  op_printf("  this rank's share %.0f MB, memory for it %.0f MB, allowed %.0f MB\n", share, most, allowed);
  if (most > allowed) {
    fprintf(stderr, "rank %d holds %.0f MB, more than %.0f MB\n", op_rank(), most, allowed);
    exit(1);
  }
}

int main(int argc, char **argv) {
  const int side = 1000;
  if (argc < 4 || op_init(argc, argv, 0))
    return 2;
  if (strcmp(argv[3], "make") == 0)
    make(argv[1], atoi(argv[2]) / side * side, side);
  else
    load(argv[1]);
  return op_exit();
}
