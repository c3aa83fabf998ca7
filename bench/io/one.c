/* Files against plain read() and write(): a mesh of quadrilaterals with 4 values per cell, as airfoil's. Run by
 * io.sh, on one rank or several: io FILE CELLS make | load [TIMES]. Prints what, bytes, seconds (the best of
 * several times and the first, from when all ranks are ready to when all are done), GB/s and the first rank's
 * memory; any rank that holds more of the mesh than 1.8 times its share and 60 MB is a failure. The plain calls
 * move as many bytes of the same file: each rank its share, read into memory that is new, as a mesh that is loaded
 * needs it. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "op2jit.h"

enum { SIDE = 1000 };

static int times = 3; /* that each way is tried */

/* The most memory that this process had at a time, in MB. */
static double peak(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)usage.ru_maxrss / 1024;
}

static void must(int good, const char *what) {
  if (!good) {
    fprintf(stderr, "io: %s: %s\n", what, op_last_error()->message);
    exit(1);
  }
}

/* What one rank does of a way to move the file; 0 if it went well. */
struct work {
  const char *path;
  size_t first, bytes; /* its share of the file, for the plain calls */
  int argc;            /* to begin again, without what was loaded before; 0: need not */
  char **argv;
};
typedef int step(struct work *w);

static void best(const char *what, step *run, struct work *w, double bytes) {
  double least = 1e30, first = 0;
  for (int i = 0; i < times; i++) {
    if (w->argc)
      must(op_exit() == 0 && op_init(w->argc, w->argv, 0) == 0, "beginning again");
    op_barrier();
    const double start = op_wtime();
    must(run(w) == 0, what);
    op_barrier();
    const double seconds = op_wtime() - start;
    least = seconds < least ? seconds : least;
    first = i ? first : seconds;
  }
  if (times)
    op_printf("  %-16s %6.0f MB %8.3f s, first %6.3f s %7.2f GB/s %8.0f MB here\n", what, bytes / 1e6, least,
              first, bytes / least / 1e9, peak());
}

static const size_t BLOCK = 8 << 20;

static void plain_name(const struct work *w, char name[4096]) {
  snprintf(name, 4096, "%s.plain", w->path);
}

static int plain_write(struct work *w) {
  char name[4096], *block = malloc(BLOCK);
  size_t done = 0;
  ssize_t n = 1;
  plain_name(w, name);
  /* A new file, as that of HDF5 is. */
  int fd = op_is_root() ? open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
  op_barrier();
  if (!op_is_root())
    fd = open(name, O_WRONLY);
  must(fd >= 0 && block, "a plain file");
  memset(block, 1, BLOCK);
  for (; n > 0 && done < w->bytes; done += (size_t)(n > 0 ? n : 0))
    n = pwrite(fd, block, w->bytes - done < BLOCK ? w->bytes - done : BLOCK, (off_t)(w->first + done));
  free(block);
  return close(fd) != 0 || n < 0;
}

static int plain_read(struct work *w) {
  char *memory = malloc(w->bytes + 1);
  size_t done = 0;
  ssize_t n = 1;
  int fd = open(w->path, O_RDONLY);
  must(fd >= 0 && memory, "the file");
  for (; n > 0 && done < w->bytes; done += (size_t)(n > 0 ? n : 0))
    n = pread(fd, memory + done, w->bytes - done < BLOCK ? w->bytes - done : BLOCK, (off_t)(w->first + done));
  free(memory);
  return close(fd) != 0 || n < 0;
}

/* Of a table of `total` rows those that belong to this rank. */
static void share(long long total, long long *first, long long *count) {
  static int ranks;
  if (!ranks)
    ranks = (int)op_get_global_size(op_decl_set(1, "ranks"));
  *first = total * op_rank() / ranks;
  *count = total * (op_rank() + 1) / ranks - *first;
}

static void share_of_file(struct work *w, double *bytes) {
  struct stat status;
  long long first, count;
  must(stat(w->path, &status) == 0, w->path);
  share(status.st_size, &first, &count);
  w->first = (size_t)first;
  w->bytes = (size_t)count;
  *bytes = (double)status.st_size;
}

static int dump(struct work *w) {
  return op_dump_to_hdf5(w->path);
}

/* Of a grid of cells this rank's rows, as a program would make them. */
static void make(const char *path, long long cells) {
  struct work w = {.path = path};
  const int across = SIDE + 1;
  long long first, count, first_node, nodes_here;
  double bytes;
  share(cells, &first, &count);
  share((cells / SIDE + 1) * across, &first_node, &nodes_here);
  long long *table = malloc(sizeof *table * 4 * (size_t)count);
  must(table != NULL, "no memory");
  for (long long i = 0; i < count; i++) {
    const long long c = first + i, n = c % SIDE + c / SIDE * across,
                    corner[4] = {n, n + 1, n + across + 1, n + across};
    memcpy(table + 4 * i, corner, sizeof corner);
  }
  op_set set = op_decl_set((int)count, "cells"), nodes = op_decl_set((int)nodes_here, "nodes");
  must(op_decl_map_long(set, nodes, 4, table, "pcell") != NULL, "the map");
  free(table);
  must(op_decl_dat(nodes, 2, "double", NULL, "p_x") && op_decl_dat(set, 4, "double", NULL, "p_q"),
       "the data");
  must(times > 0 || dump(&w) == 0, path);
  best("op_dump_to_hdf5", dump, &w, 48.0 * (double)cells + 16.0 * (double)op_get_global_size(nodes));
  share_of_file(&w, &bytes);
  best("write()", plain_write, &w, bytes);
  char name[4096];
  plain_name(&w, name);
  if (op_is_root())
    unlink(name);
}

static op_set cells, nodes;

static int load_all(struct work *w) {
  cells = op_decl_set_hdf5(w->path, "cells");
  nodes = op_decl_set_hdf5(w->path, "nodes");
  return !op_decl_map_hdf5(cells, nodes, 4, w->path, "pcell") ||
         !op_decl_dat_hdf5(nodes, 2, "double", w->path, "p_x") ||
         !op_decl_dat_hdf5(cells, 4, "double", w->path, "p_q");
}

static void load(const char *path, int argc, char **argv) {
  struct work w = {.path = path, .argc = argc, .argv = argv};
  const double before = peak();
  double bytes;
  op_barrier();
  const double start = op_wtime();
  must(load_all(&w) == 0, path);
  op_barrier();
  const double seconds = op_wtime() - start;
  const double here = 48.0 * op_get_size(cells) + 16.0 * op_get_size(nodes), most = peak() - before,
               allowed = 1.8 * here / 1048576 + 60;
  op_printf("  loaded at once in %.3f s; this rank's share %.0f MB, memory for it %.0f MB, allowed %.0f MB\n",
            seconds, here / 1048576, most, allowed);
  if (most > allowed) {
    fprintf(stderr, "rank %d holds %.0f MB, more than %.0f MB\n", op_rank(), most, allowed);
    exit(1);
  }
  share_of_file(&w, &bytes);
  best("op_decl_*_hdf5", load_all, &w, bytes);
  w.argc = 0;
  best("read()", plain_read, &w, bytes);
}

int main(int argc, char **argv) {
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  if (argc < 4 || op_init(argc, argv, 0))
    return 2;
  if (argc > 4 && *argv[4] >= '0' && *argv[4] <= '9')
    times = atoi(argv[4]);
  if (strcmp(argv[3], "make") == 0)
    make(argv[1], atoll(argv[2]) / SIDE * SIDE);
  else
    load(argv[1], argc, argv);
  return op_exit();
}
