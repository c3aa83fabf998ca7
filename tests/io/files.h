/* Shared by the tests of files: a folder of their own, a small mesh, and what the trouble is called. */
#ifndef OP2JIT_TESTS_IO_FILES_H
#define OP2JIT_TESTS_IO_FILES_H

#include <dirent.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../api/support.h"

static char folder[] = "/tmp/op2jit-files-XXXXXX";

/* Valid until the fourth call from now. */
static inline const char *in_folder(const char *name) {
  static char paths[4][PATH_MAX];
  static int next;
  char *path = paths[next++ % 4];
  snprintf(path, PATH_MAX, "%s/%s", folder, name);
  return path;
}

static inline int make_folder(void **state) {
  (void)state;
  return mkdtemp(folder) ? 0 : -1;
}

static inline int files_in_folder(void) {
  int n = 0;
  DIR *dir = opendir(folder);
  assert_non_null(dir);
  for (struct dirent *e; (e = readdir(dir));)
    n += e->d_name[0] != '.';
  closedir(dir);
  return n;
}

static inline int empty_folder(void) {
  DIR *dir = opendir(folder);
  if (!dir)
    return -1;
  for (struct dirent *e; (e = readdir(dir));)
    if (e->d_name[0] != '.')
      unlink(in_folder(e->d_name));
  closedir(dir);
  return 0;
}

static inline int remove_folder(void **state) {
  (void)state;
  return empty_folder() || rmdir(folder);
}

/* Ends with status 77 where this build has no HDF5. */
static inline void need_hdf5(void) {
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  op_init(0, NULL, 0);
  if (op_open_hdf5() == OP_ERR_NOT_BUILT) {
    printf("skipped: %s\n", op_last_error()->message);
    exit(77);
  }
  op_exit();
}

#define handle_fails(expected, call)                                                                         \
  do {                                                                                                       \
    assert_null(call);                                                                                       \
    assert_int_equal(op_last_error()->code, (expected));                                                     \
  } while (0)

static inline void message_has(const char *words) {
  if (!strstr(op_last_error()->message, words))
    fail_msg("the message lacks \"%s\": %s", words, op_last_error()->message);
}

/* A strip of quadrilaterals: n cells, 2(n+1) nodes. */
struct strip {
  int n;
  op_set nodes, cells;
  op_map cell_nodes;
  op_dat x, q;
};

static inline struct strip declare_strip(int n) {
  struct strip s = {.n = n};
  int *table = malloc(sizeof(int) * 4 * (size_t)n);
  double *x = malloc(sizeof(double) * 4 * (size_t)(n + 1)), *q = malloc(sizeof(double) * (size_t)n);
  for (int i = 0; i < n; i++) {
    const int row[4] = {2 * i, 2 * i + 2, 2 * i + 3, 2 * i + 1};
    memcpy(table + 4 * i, row, sizeof row);
    q[i] = 0.5 * i;
  }
  for (int i = 0; i < 2 * (n + 1); i++) {
    x[2 * i] = i / 2;
    x[2 * i + 1] = i % 2;
  }
  s.nodes = op_decl_set(2 * (n + 1), "nodes");
  s.cells = op_decl_set(n, "cells");
  s.cell_nodes = op_decl_map(s.cells, s.nodes, 4, table, "cell_nodes");
  s.x = op_decl_dat(s.nodes, 2, "double", x, "x");
  s.q = op_decl_dat(s.cells, 1, "double", q, "q");
  assert_non_null(s.cell_nodes);
  assert_non_null(s.x);
  assert_non_null(s.q);
  free(table);
  free(x);
  free(q);
  return s;
}

#endif
