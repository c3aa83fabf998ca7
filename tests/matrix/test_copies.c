/* The parts of a matrix and of vectors that travel between host and device (OP2_BACKEND=cuda, where device memory can be looked into: the
 * stand-in). For a solver on the host: the elements' matrices once in an assembly, each vector once in a product. For one on
 * the device: nothing. */
#include <stdint.h>

#include "assembly.h"

/* The stand-in's addresses of the device are those of the host with this bit (tests/cuda/standin/machine.h). */
#define STANDIN_TAG ((uintptr_t)1 << 60)

OP_KERNEL_DEF(
    square, void square(const double *w, const double **x, double *a) {
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
          a[i * 3 + j] += w[0] * (1 + i) + x[i][0] * x[j][0] + 0.25 * j;
    })
OP_KERNEL_DEF(
    clear, void clear(double *y) { y[0] = 0; })
OP_KERNEL_DEF(
    spread, void spread(const double **x, double **y) {
      for (int i = 0; i < 3; i++)
        y[i][0] += x[0][0] + x[1][0] + x[2][0];
    })

#define ARG(dat, map) op_arg_dat(dat, map == OP_ID ? -1 : OP_ALL, map, 1, "double", OP_READ)

struct copied {
  long long out, in;
};

static struct copied since(const struct copied *before) {
  const op_counters_t *c = op_counters();
  return (struct copied){c->bytes_from_device - (before ? before->out : 0),
                         c->bytes_to_device - (before ? before->in : 0)};
}

static void assemble(const struct world *w, op_mat k) {
  WORKS(op_zero_mat(k));
  WORKS(op_par_loop(OP_KERNEL_OF(square), "square", w->cells, ARG(w->on_cells, OP_ID),
                    ARG(w->on_nodes, w->by_tri),
                    op_arg_mat(k, w->by_tri, w->by_tri, 1, 1, "double", OP_INC)));
}

static void multiply(const struct world *w, op_dat x, op_dat y) {
  WORKS(op_par_loop(OP_KERNEL_OF(clear), "clear", w->nodes, op_arg_dat(y, -1, OP_ID, 1, "double", OP_WRITE)));
  WORKS(op_par_loop(OP_KERNEL_OF(spread), "spread", w->cells, ARG(x, w->by_tri),
                    op_arg_dat(y, OP_ALL, w->by_tri, 1, "double", OP_INC)));
}

static void test_host(struct world *w) {
  op_mat k = op_decl_mat(1, &w->by_tri, &w->by_tri, 1, 1, "double", "k");
  op_dat x = op_decl_dat(w->nodes, 1, "double", NULL, "from"),
         y = op_decl_dat(w->nodes, 1, "double", NULL, "to");
  double in[NODES], out[NODES];
  op_coo_t coo;
  for (int times = 0; times < 3; times++) {
    const struct copied before = since(NULL);
    assemble(w, k);
    const struct copied assembled = since(&before);
    WORKS(op_coo(k, &coo));
    const struct copied brought = since(&before);
    EXPECT(times == 0 || (assembled.out == 0 && assembled.in == 0));
    EXPECT(times == 0 || (brought.in == 0 && brought.out == (long long)(CELLS * TRI * TRI * sizeof(double))));
  }
  for (int times = 0; times < 3; times++) {
    const struct copied before = since(NULL);
    for (int n = 0; n < NODES; n++)
      in[n] = n;
    WORKS(op_place(x, in, NODES, OP_READ));
    WORKS(op_place(y, out, NODES, OP_WRITE));
    multiply(w, x, y);
    WORKS(op_place_end(y));
    WORKS(op_place_end(x));
    const struct copied product = since(&before);
    EXPECT(product.out == (long long)sizeof out && (times == 0 || product.in == (long long)sizeof in));
  }
}

/* The values of the lists, from their pieces. */
static void *on_host(const void *memory) {
  return (void *)((uintptr_t)memory & ~STANDIN_TAG);
}

static void put_together(const op_coo_t *coo, const op_piece_t *pieces, int count, double *values) {
  for (int i = 0; i < count; i++)
    if (pieces[i].memory && pieces[i].count) {
      EXPECT(pieces[i].first + pieces[i].count <= coo->count);
      memcpy(values + pieces[i].first, on_host(pieces[i].memory), (size_t)pieces[i].count * sizeof *values);
    }
}

static void test_device(struct world *w) {
  enum { ROOM = 8 };
  op_mat k = op_decl_mat(1, &w->by_tri, &w->by_tri, 1, 1, "double", "on the device");
  op_dat x = op_decl_dat(w->nodes, 1, "double", w->x, "x"), y = op_decl_dat(w->nodes, 1, "double", NULL, "y");
  op_piece_t pieces[ROOM];
  op_coo_t coo, host;
  op_lent_t lent;
  int count = 0;
  WORKS(op_fix_mat(k, w->on_flags, w->on_flags, 2));
  EXPECT(op_where() == OP_ON_CUDA);
  EXPECT(op_coo_device(k, &coo, ROOM, pieces, &count) == OP_ERR_STATE);
  for (int times = 0; times < 3; times++) {
    const struct copied before = since(NULL);
    assemble(w, k);
    WORKS(op_coo_device(k, &coo, ROOM, pieces, &count));
    const struct copied brought = since(&before);
    EXPECT(times == 0 || (brought.out == 0 && brought.in == 0));
  }
  EXPECT(op_coo_device(k, &coo, 1, pieces, &count) == OP_ERR_SIZE && count == 2);
  WORKS(op_coo_device(k, &coo, ROOM, pieces, &count));
  double *values = calloc((size_t)coo.count + 1, sizeof *values);
  EXPECT(values && !coo.values);
  put_together(&coo, pieces, count, values);
  WORKS(op_coo(k, &host));
  EXPECT(host.pattern == coo.pattern && host.version == coo.version);
  for (long long i = 0; i < coo.count; i++)
    EXPECT(coo.rows[i] < 0 || fabs(values[i] - host.values[i]) <= 1e-15 * (1 + fabs(values[i])));
  free(values);
  multiply(w, x, y);
  const struct copied before = since(NULL);
  WORKS(op_lend_device(y, OP_RW, &lent));
  ((double *)on_host(lent.memory))[3] = 70;
  WORKS(op_lend_end(y));
  multiply(w, y, x);
  WORKS(op_lend_device(x, OP_WRITE, &lent));
  for (int n = 0; n < NODES; n++)
    ((double *)on_host(lent.memory))[n] = 2 * n;
  WORKS(op_lend_end(x));
  EXPECT(since(&before).out == 0 && since(&before).in == 0);
  double back[NODES];
  WORKS(op_fetch_data(x, back));
  for (int n = 0; n < NODES; n++)
    EXPECT(fabs(back[n] - 2 * n) < 1e-15);
  WORKS(op_fetch_data(y, back));
  EXPECT(fabs(back[3] - 70) < 1e-15);
}

int main(int argc, char **argv) {
  struct world w;
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  WORKS(op_init(argc, argv, 0));
  world_make(&w, 5);
  if (argc > 1 && strcmp(argv[1], "host") == 0) {
    op_lent_t lent;
    EXPECT(op_where() == OP_ON_HOST);
    EXPECT(op_lend_device(w.on_nodes, OP_READ, &lent) == OP_ERR_STATE);
    EXPECT(strstr(op_last_error()->message, "op_lend_device: loops run on the host"));
  } else {
    test_host(&w);
    test_device(&w);
  }
  WORKS(op_exit());
  return 0;
}
