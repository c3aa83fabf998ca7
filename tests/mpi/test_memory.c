/* SIDE [resident]: a mesh of side x side cells like airfoil's, of which each rank makes its own rows, and
 * airfoil's dats. Nothing that the library keeps may grow with the mesh of others: what the library has allocated
 * on any rank is at no time more than 1.8 times the rank's share of what was declared, and 1 MB. "resident": also
 * the peak resident memory of the process, MPI included, is at most 1.8 times the share and 60 MB. */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "api/api.h"
#include "check.h"
#include "mesh/data.h"
#include "mesh/mesh.h"
#include "ranks/comm.h"
#include "record/record.h"

/* ---- what the library allocates: the linker leads its calls here (--wrap) ---- */

static long long live, peak;

static void *count_new(void *memory) {
  live += memory ? (long long)malloc_usable_size(memory) : 0;
  peak = live > peak ? live : peak;
  return memory;
}

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
int __real_posix_memalign(void **out, size_t alignment, size_t bytes);
void __real_free(void *memory);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
int __wrap_posix_memalign(void **out, size_t alignment, size_t bytes);
void __wrap_free(void *memory);

void *__wrap_malloc(size_t bytes) {
  return count_new(__real_malloc(bytes));
}
void *__wrap_calloc(size_t count, size_t bytes) {
  return count_new(__real_calloc(count, bytes));
}
void *__wrap_realloc(void *old, size_t bytes) {
  const long long before = old ? (long long)malloc_usable_size(old) : 0;
  void *memory = __real_realloc(old, bytes);
  live -= memory ? before : 0;
  return count_new(memory);
}
int __wrap_posix_memalign(void **out, size_t alignment, size_t bytes) {
  const int status = __real_posix_memalign(out, alignment, bytes);
  count_new(status ? NULL : *out);
  return status;
}
void __wrap_free(void *memory) {
  live -= memory ? (long long)malloc_usable_size(memory) : 0;
  __real_free(memory);
}

/* ---- the mesh ---- */

OP_KERNEL_DEF(
    flux, void flux(const double *x1, const double *x2, const double *q1, const double *q2, double *r1,
                    double *r2) {
      double d = (*x1 - *x2) * (q1[0] - q2[0]);
      for (int n = 0; n < 4; n++) {
        r1[n] += d;
        r2[n] -= d;
      }
    })
OP_KERNEL_DEF(
    size, void size(const double **x, const double *q, double *a) {
      *a = x[0][0] + x[1][0] + x[2][1] + x[3][1] + q[0];
    })

/* Cells (i, j) have the number i + j * side; nodes are the corners, edges the sides between cells of one row or
 * column. */
struct part {
  long side, first, last; /* rows of cells */
  double bytes;           /* declared here */
};

static op_dat add_dat(struct part *p, op_set set, int dim, const char *name) {
  p->bytes += (double)op_get_size(set) * dim * (double)sizeof(double);
  return op_decl_dat(set, dim, "double", NULL, name);
}

static op_map add_map(struct part *p, op_set from, op_set to, int arity, const int *table, const char *name) {
  p->bytes += (double)op_get_size(from) * arity * (double)sizeof(int);
  op_map map = op_decl_map(from, to, arity, table, name);
  check(map);
  return map;
}

static void fill_corners(const struct part *p, int *table) {
  for (long j = p->first; j < p->last; j++)
    for (long i = 0; i < p->side; i++, table += 4) {
      const long node = i + j * (p->side + 1),
                 corners[] = {node, node + 1, node + p->side + 2, node + p->side + 1};
      for (int c = 0; c < 4; c++)
        table[c] = (int)corners[c];
    }
}

/* To the right and upwards, round the edges of the mesh. */
static void fill_edges(const struct part *p, int *cells, int *nodes) {
  for (long j = p->first; j < p->last; j++)
    for (long i = 0; i < p->side; i++)
      for (int up = 0; up < 2; up++, cells += 2, nodes += 2) {
        const long right = (i + 1) % p->side + j * p->side, above = i + (j + 1) % p->side * p->side;
        cells[0] = (int)(i + j * p->side);
        cells[1] = (int)(up ? above : right);
        nodes[0] = (int)(i + 1 + (j + 1) * (p->side + 1));
        nodes[1] = (int)(up ? nodes[0] - 1 : nodes[0] - p->side - 1);
      }
}

static void run(struct part *p) {
  const long rows = p->last - p->first, cells = rows * p->side;
  const long node_rows = p->last == p->side ? rows + 1 : rows;
  op_set cell = op_decl_set((int)cells, "cells"), edge = op_decl_set((int)(2 * cells), "edges");
  op_set node = op_decl_set((int)(node_rows * (p->side + 1)), "nodes");
  /* The program's own memory is not counted. */
  const size_t bytes = (size_t)cells * 8 * sizeof(int) + 1;
  int *table = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  check(table != MAP_FAILED);
  fill_corners(p, table);
  op_map corners = add_map(p, cell, node, 4, table, "cell_nodes");
  fill_edges(p, table, table + 4 * cells);
  op_map edge_cells = add_map(p, edge, cell, 2, table, "edge_cells");
  op_map edge_nodes = add_map(p, edge, node, 2, table + 4 * cells, "edge_nodes");
  munmap(table, bytes);
  op_dat x = add_dat(p, node, 2, "x"), q = add_dat(p, cell, 4, "q"), res = add_dat(p, cell, 4, "res");
  op_dat adt = add_dat(p, cell, 1, "adt"), old = add_dat(p, cell, 4, "old");
  check(x && q && res && adt && old);
  check(op_partition("rcb", "", node, OP_ID, x) == OP_OK);
  op_par_loop(OP_KERNEL_OF(size), "size", cell, op_arg_dat(x, -4, corners, 2, "double", OP_READ),
              op_arg_dat(q, -1, OP_ID, 4, "double", OP_READ),
              op_arg_dat(adt, -1, OP_ID, 1, "double", OP_WRITE));
  op_par_loop(
      OP_KERNEL_OF(flux), "flux", edge, op_arg_dat(x, 0, edge_nodes, 2, "double", OP_READ),
      op_arg_dat(x, 1, edge_nodes, 2, "double", OP_READ), op_arg_dat(q, 0, edge_cells, 4, "double", OP_READ),
      op_arg_dat(q, 1, edge_cells, 4, "double", OP_READ), op_arg_dat(res, 0, edge_cells, 4, "double", OP_INC),
      op_arg_dat(res, 1, edge_cells, 4, "double", OP_INC));
}

static double largest(struct comm *c, double value) {
  struct error err = {0};
  check(c->table->reduce_all(c, &value, 1, COMM_DOUBLE, COMM_MAX, &err) == OP_OK);
  return value;
}

int main(int argc, char **argv) {
  struct rusage usage;
  struct error err = {0};
  struct part p = {.side = argc > 1 ? atol(argv[1]) : 100};
  op_init(argc, argv, 0);
  struct comm *c = api_context()->comm;
  p.first = p.side * c->rank / c->size;
  p.last = p.side * (c->rank + 1) / c->size;
  const long long before = live;
  peak = live;
  run(&p);
  getrusage(RUSAGE_SELF, &usage);
  double all = p.bytes;
  check(c->table->reduce_all(c, &all, 1, COMM_DOUBLE, COMM_SUM, &err) == OP_OK);
  const double share = all / c->size, allocated = largest(c, (double)(peak - before)),
               resident = largest(c, 1024.0 * (double)usage.ru_maxrss);
  op_printf(
      "%.1f MB on each of %d ranks: at most %.1f MB allocated, %.1f allowed; %.0f resident, %.0f allowed\n",
      share * 1e-6, c->size, allocated * 1e-6, 1.8 * share * 1e-6 + 1, resident * 1e-6,
      1.8 * share * 1e-6 + 60);
  fflush(stdout);
  check(allocated > share); /* it was counted */
  check(allocated <= 1.8 * share + 1e6);
  check(argc < 3 || strcmp(argv[2], "resident") != 0 || resident <= 1.8 * share + 60e6);
  op_exit();
  return 0;
}
