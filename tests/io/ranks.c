/* Files of several ranks, against what one process makes and expects: ranks make FILE | work FILE OUT VTK | check OUT |
 * solids VTK | trouble FOLDER FILE RANKS. The mesh is a ring of cells whose numbers are scattered, so that every rank's
 * rows reach others'. */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "api/api.h"
#include "context/context.h"
#include "files/io.h"
#include "files/layout.h"
#include "op2jit.h"

enum { CELLS = 1013, FACES = 2 * CELLS };

#define must(condition)                                                                                      \
  do {                                                                                                       \
    if (!(condition)) {                                                                                      \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, op_last_error()->message);          \
      exit(1);                                                                                               \
    }                                                                                                        \
  } while (0)

OP_KERNEL_DEF(
    spread_out, void spread_out(const double *const q[2], double *const r[2]) {
      r[0][0] += q[1][0];
      r[1][0] += q[0][0];
    })
OP_KERNEL_DEF(
    add_up, void add_up(const double *r, double *q) { q[0] += r[0]; })
OP_KERNEL_DEF(
    weigh, void weigh(int n, double **weight, const double *x) {
      for (int k = 0; k < n; k++)
        *OP_ROW(weight, k) += x[0] + k;
    })

static int scattered(int i) {
  return (int)((long long)i * 389 % CELLS);
}
static double value(int cell) {
  return 1.0 + cell % 17;
}

/* Cell c has c % 5 faces as targets. */
static long long first_of(int cell) {
  return cell / 5 * 10 + cell % 5 * (cell % 5 - 1) / 2;
}
static int target_of(int cell, int k) {
  return (cell * 7 + k * 31) % FACES;
}

static op_map declare_around(op_set cells, op_set faces) {
  static long long offsets[CELLS + 1];
  static int targets[4 * CELLS];
  for (int c = 0; c <= CELLS; c++)
    offsets[c] = first_of(c);
  for (int c = 0; c < CELLS; c++)
    for (int k = 0; k < c % 5; k++)
      targets[first_of(c) + k] = target_of(c, k);
  return op_decl_map_ragged(cells, faces, offsets, targets, "around");
}

static void make(const char *path) {
  static int table[2 * FACES];
  static double q[CELLS], x[2 * CELLS];
  static long long wide[3 * CELLS];
  for (int f = 0; f < FACES; f++) {
    table[2 * f] = scattered(f % CELLS);
    table[2 * f + 1] = scattered((f + 1 + f / CELLS) % CELLS);
  }
  for (int c = 0; c < CELLS; c++) {
    q[c] = value(c);
    x[2 * c] = c;
    x[2 * c + 1] = -c;
    for (int k = 0; k < 3; k++)
      wide[3 * c + k] = 10000000000LL * c + k;
  }
  op_set cells = op_decl_set(CELLS, "cells"), faces = op_decl_set(FACES, "faces");
  op_decl_map(faces, cells, 2, table, "face_cells");
  op_decl_dat(cells, 1, "double", q, "q");
  op_decl_dat(cells, 1, "double", NULL, "r");
  op_decl_dat(cells, 2, "double:soa", x, "x");
  op_decl_dat(cells, 3, "ll", wide, "wide");
  op_decl_dat(op_map_entries(declare_around(cells, faces)), 1, "double", NULL, "weight");
  must(op_dump_to_hdf5(path) == OP_OK);
}

struct ring {
  op_set cells, faces;
  op_map face_cells, around;
  op_dat q, r, x, wide, weight;
};

static struct ring load(const char *path) {
  struct ring m = {.cells = op_decl_set_hdf5(path, "cells"),
                   .faces = op_decl_set_hdf5_infer_size(path, "faces", "face_cells")};
  must(m.cells && m.faces);
  must(op_get_global_size(m.cells) == CELLS && op_get_global_size(m.faces) == FACES);
  m.face_cells = op_decl_map_hdf5(m.faces, m.cells, 2, path, "face_cells");
  must(m.face_cells);
  m.q = op_decl_dat_hdf5(m.cells, 1, "double", path, "q");
  m.r = op_decl_dat_hdf5(m.cells, 1, "double", path, "r");
  m.x = op_decl_dat_hdf5(m.cells, 2, "double:soa", path, "x");
  m.wide = op_decl_dat_hdf5(m.cells, 3, "ll", path, "wide");
  m.around = op_decl_map_ragged_hdf5(m.cells, m.faces, path, "around");
  must(m.q && m.r && m.x && m.wide && m.around);
  m.weight = op_decl_dat_hdf5(op_map_entries(m.around), 1, "double", path, "weight");
  must(m.weight);
  return m;
}

static void loops(const struct ring *m) {
  must(op_par_loop(OP_KERNEL_OF(spread_out), "spread_out", m->faces,
                   op_arg_dat(m->q, -2, m->face_cells, 1, "double", OP_READ),
                   op_arg_dat(m->r, -2, m->face_cells, 1, "double", OP_INC)) == OP_OK);
  must(op_par_loop(OP_KERNEL_OF(add_up), "add_up", m->cells,
                   op_arg_dat(m->r, -1, OP_ID, 1, "double", OP_READ),
                   op_arg_dat(m->q, -1, OP_ID, 1, "double", OP_RW)) == OP_OK);
  must(op_par_loop(OP_KERNEL_OF(weigh), "weigh", m->cells,
                   op_arg_dat(m->weight, OP_ALL, m->around, 1, "double", OP_RW),
                   op_arg_dat(m->x, -1, OP_ID, 2, "double", OP_READ)) == OP_OK);
}

/* A cube and a prism, whose sides another rank declares than their points. */
static const int corners[] = {0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 5, 4, 1, 2, 6, 5, 2, 3, 7,
                              6, 3, 0, 4, 7, 1, 8, 2, 5, 9, 6, 1, 8, 9, 5, 8, 2, 6, 9},
                 sides_of[] = {0, 1, 2, 3, 4, 5, 6, 7, 3, 8, 9};
static const long long corners_begin[] = {0, 4, 8, 12, 16, 20, 24, 27, 30, 34, 38},
                       sides_begin[] = {0, 6, 11};

static void write_solids(const char *vtk) {
  static const double places[] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1,
                                  1, 0, 1, 1, 1, 1, 0, 1, 1, 2, 0, 0, 2, 0, 1};
  static const double values[] = {7, 8};
  char path[4096];
  const bool root = op_is_root(), last = op_rank() == op_rank_count() - 1;
  snprintf(path, sizeof path, "%s_solids", vtk);
  op_set points = op_decl_set(root ? 10 : 0, "points"), sides = op_decl_set(last ? 10 : 0, "sides"),
         solids = op_decl_set(root ? 2 : 0, "solids");
  must(op_decl_map_ragged(sides, points, corners_begin, corners, "corners"));
  must(op_decl_map_ragged(solids, sides, sides_begin, sides_of, "sides of solids"));
  const op_dat shown[] = {op_decl_dat(points, 3, "double", places, "place"),
                          op_decl_dat(solids, 1, "double", values, "value")};
  must(op_write_vtk(path, -1, 2, shown) == OP_OK);
  must(op_partition("random", "", sides, NULL, NULL) == OP_OK);
  must(op_write_vtk(path, -1, 2, shown) == OP_OK);
  snprintf(path, sizeof path, "%s_sides", vtk);
  must(op_write_vtk(path, -1, 1, shown) == OP_OK);
}

static void read_cells(const char *path, const int *expected, int count) {
  int got[64] = {0};
  op_set numbers = op_decl_set(count, "numbers");
  op_dat cells = op_decl_dat_hdf5(numbers, 1, "int", path, "cells");
  must(cells && op_fetch_data(cells, got) == OP_OK &&
       memcmp(got, expected, (size_t)count * sizeof *got) == 0);
}

static int add_side(int *out, int side) {
  const int n = (int)(corners_begin[side + 1] - corners_begin[side]);
  out[0] = n;
  memcpy(out + 1, corners + corners_begin[side], (size_t)n * sizeof *out);
  return n + 1;
}

static void check_solids(const char *vtk) {
  char path[4096];
  int expected[64], n = 0;
  for (int solid = 0; solid < 2; solid++) {
    expected[n++] = 16;
    expected[n++] = (int)(sides_begin[solid + 1] - sides_begin[solid]);
    for (long long i = sides_begin[solid]; i < sides_begin[solid + 1]; i++)
      n += add_side(expected + n, sides_of[i]);
  }
  snprintf(path, sizeof path, "%s_solids.data.h5", vtk);
  read_cells(path, expected, n);
  n = 0;
  for (int side = 0; side < 10; side++) {
    expected[n++] = 3;
    n += add_side(expected + n, side);
  }
  snprintf(path, sizeof path, "%s_sides.data.h5", vtk);
  read_cells(path, expected, n);
}

/* Written before anybody needs local numbers, after loops, and after the elements moved to other ranks. */
static void work(const char *in, const char *out, const char *vtk) {
  const double pi = 3.25;
  double back = 0;
  struct ring m = load(in);
  must(op_dump_to_hdf5(out) == OP_OK);
  loops(&m);
  must(op_dump_to_hdf5(out) == OP_OK);
  must(op_partition("random", "", m.cells, m.face_cells, NULL) == OP_OK);
  must(op_dump_to_hdf5(out) == OP_OK);
  op_dat late = op_decl_dat_hdf5(m.cells, 3, "ll", in, "wide");
  must(late && op_fetch_data_hdf5_file_path(late, out, "late/wide") == OP_OK);
  must(op_write_const_hdf5("pi", 1, "double", &pi, out) == OP_OK);
  must(op_get_const_hdf5("pi", 1, "double", &back, out) == OP_OK && back == pi);
  must(op_open_hdf5() == OP_OK);
  const op_dat shown[] = {m.x, m.q};
  must(op_write_vtk(vtk, 0, 2, shown) == OP_OK && op_write_vtk(vtk, 1, 2, shown) == OP_OK);
  write_solids(vtk);
}

static void check_around(const struct ring *m, const char *out) {
  static double weight[4 * CELLS];
  static int targets[4 * CELLS];
  static long long offsets[CELLS + 1];
  op_set entries = op_map_entries(m->around), ends = op_decl_set(CELLS + 1, "ends");
  op_dat t = op_decl_dat_hdf5(entries, 1, "int", out, "around"),
         o = op_decl_dat_hdf5(ends, 1, "ll", out, "around_offsets");
  must(t && o && op_get_size(entries) == first_of(CELLS));
  must(op_fetch_data(t, targets) == OP_OK && op_fetch_data(o, offsets) == OP_OK &&
       op_fetch_data(m->weight, weight) == OP_OK);
  for (int c = 0; c < CELLS; c++)
    for (int k = 0; k < c % 5; k++)
      must(targets[first_of(c) + k] == target_of(c, k) && weight[first_of(c) + k] == c + k);
  for (int c = 0; c <= CELLS; c++)
    must(offsets[c] == first_of(c));
}

static void check(const char *out) {
  static double expected[CELLS], r[CELLS], q[CELLS], x[2 * CELLS];
  static long long wide[3 * CELLS], late[3 * CELLS];
  static int table[2 * FACES];
  for (int f = 0; f < FACES; f++) {
    int a = scattered(f % CELLS), b = scattered((f + 1 + f / CELLS) % CELLS);
    r[a] += value(b);
    r[b] += value(a);
  }
  for (int c = 0; c < CELLS; c++)
    expected[c] = value(c) + r[c];
  struct ring m = load(out);
  op_dat l = op_decl_dat_hdf5(m.cells, 3, "ll", out, "late/wide");
  op_dat entries = op_decl_dat_hdf5(m.faces, 2, "int", out, "face_cells");
  must(l && entries);
  must(op_fetch_data(m.q, q) == OP_OK && op_fetch_data(m.x, x) == OP_OK &&
       op_fetch_data(m.wide, wide) == OP_OK);
  must(op_fetch_data(l, late) == OP_OK && op_fetch_data(entries, table) == OP_OK);
  must(memcmp(q, expected, sizeof q) == 0);
  must(memcmp(wide, late, sizeof wide) == 0);
  for (int c = 0; c < CELLS; c++)
    must(x[2 * c] == c && x[2 * c + 1] == -c && wide[3 * c + 2] == 10000000000LL * c + 2);
  for (int f = 0; f < FACES; f++)
    must(table[2 * f] == scattered(f % CELLS) && table[2 * f + 1] == scattered((f + 1 + f / CELLS) % CELLS));
  check_around(&m, out);
}

static void fails(int code, int expected, const char *words) {
  if (code != expected || !strstr(op_last_error()->message, words)) {
    fprintf(stderr, "expected code %d with \"%s\", got %d: %s\n", expected, words, code,
            op_last_error()->message);
    exit(1);
  }
}

/* No rank may write more than so much of a file; what was there stays, and what fits still goes. */
static void too_large(const struct ring *m, const char *path) {
  const int v = 5;
  int back = 0;
  struct rlimit limit, small;
  must(op_write_const_hdf5("v", 1, "int", &v, path) == OP_OK);
  must(getrlimit(RLIMIT_FSIZE, &limit) == 0);
  small = limit;
  small.rlim_cur = 4096;
  signal(SIGXFSZ, SIG_IGN);
  must(setrlimit(RLIMIT_FSIZE, &small) == 0);
  for (int round = 0; round < 2; round++) {
    fails(op_fetch_data_hdf5_file(m->wide, path), OP_ERR_FILE, "File too large");
    fails(op_dump_to_hdf5(path), OP_ERR_FILE, "File too large");
    must(op_get_const_hdf5("v", 1, "int", &back, path) == OP_OK && back == v);
  }
  must(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  must(op_fetch_data_hdf5_file(m->wide, path) == OP_OK);
  must(op_decl_dat_hdf5(m->cells, 3, "ll", path, "wide") != NULL);
}

static void copy_half(const char *from, const char *to) {
  static char bytes[1 << 20];
  FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
  must(in && out);
  const size_t n = fread(bytes, 1, sizeof bytes, in);
  must(n > 0 && n < sizeof bytes && fwrite(bytes, 1, n / 2, out) == n / 2);
  fclose(in);
  must(fclose(out) == 0);
}

/* The same error on all ranks, and all go on. */
static void trouble(const char *folder, const char *file, bool alone) {
  char path[4096];
  const int v = 1;
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  struct ring m = load(file);
  fails(op_decl_set_hdf5(file, "none") ? 0 : op_last_error()->code, OP_ERR_FILE,
        "there is no dataset \"none\"");
  fails(op_decl_dat_hdf5(m.faces, 1, "double", file, "q") ? 0 : op_last_error()->code, OP_ERR_SIZE,
        "1013 rows");
  fails(op_decl_dat_hdf5(m.cells, 2, "double", file, "q") ? 0 : op_last_error()->code, OP_ERR_DIM,
        "rows of 2");
  fails(op_decl_dat_hdf5(m.cells, 3, "int", file, "wide") ? 0 : op_last_error()->code, OP_ERR_TYPE,
        "too large");
  fails(op_decl_map_ragged_hdf5(m.faces, m.cells, file, "around") ? 0 : op_last_error()->code, OP_ERR_SIZE,
        "expected one more than these");
  fails(op_decl_map_ragged_hdf5(m.cells, m.faces, file, "face_cells") ? 0 : op_last_error()->code,
        OP_ERR_FILE, "face_cells_offsets");
  op_set few = op_decl_set(op_is_root() ? 7 : 0, "few");
  fails(op_decl_map_hdf5(m.faces, few, 2, file, "face_cells") ? 0 : op_last_error()->code, OP_ERR_MAP_RANGE,
        "expected 0 .. 6");
  snprintf(path, sizeof path, "%s/cut.h5", folder);
  if (op_is_root())
    copy_half(file, path);
  op_barrier();
  fails(op_decl_set_hdf5(path, "cells") ? 0 : op_last_error()->code, OP_ERR_FILE, "cut.h5");
  snprintf(path, sizeof path, "%s/absent.h5", folder);
  fails(op_decl_set_hdf5(path, "q") ? 0 : op_last_error()->code, OP_ERR_FILE, "No such file");
  snprintf(path, sizeof path, "%s/text.h5", folder);
  FILE *f = op_is_root() ? fopen(path, "w") : NULL;
  if (f) {
    fputs("no HDF5 file at all, and long enough not to be empty", f);
    fclose(f);
  }
  op_barrier();
  fails(op_decl_set_hdf5(path, "q") ? 0 : op_last_error()->code, OP_ERR_FILE, "text.h5");
  snprintf(path, sizeof path, "%s/absent/new.h5", folder);
  fails(op_write_const_hdf5("v", 1, "int", &v, path), OP_ERR_FILE, "No such file");
  fails(op_dump_to_hdf5(path), OP_ERR_FILE, "No such file");
  /* One rank says something else than the others. */
  if (!alone)
    fails(op_decl_set_hdf5(file, op_is_root() ? "cells" : "q") ? 0 : op_last_error()->code, OP_ERR_MPI,
          "cells");
  snprintf(path, sizeof path, "%s/large.h5", folder);
  too_large(&m, path);
  snprintf(path, sizeof path, "%s/good.h5", folder);
  must(op_write_const_hdf5("v", 1, "int", &v, path) == OP_OK);
  must(op_fetch_data_hdf5_file_path(m.q, path, "run/q") == OP_OK);
  fails(op_write_const_hdf5("run", 1, "int", &v, path), OP_ERR_FILE, "is a folder");
  fails(op_fetch_data_hdf5_file_path(m.q, path, "run"), OP_ERR_FILE, "is a folder");
}

int main(int argc, char **argv) {
  must(argc > 2 && op_init(argc, argv, 0) == OP_OK);
  if (strcmp(argv[1], "make") == 0)
    make(argv[2]);
  else if (strcmp(argv[1], "work") == 0 && argc > 4)
    work(argv[2], argv[3], argv[4]);
  else if (strcmp(argv[1], "check") == 0)
    check(argv[2]);
  else if (strcmp(argv[1], "solids") == 0)
    check_solids(argv[2]);
  else if (strcmp(argv[1], "trouble") == 0 && argc > 4)
    trouble(argv[2], argv[3], strcmp(argv[4], "1") == 0);
  else
    return 2;
  return op_exit();
}
