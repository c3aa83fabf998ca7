/* The kernels and loops of airfoil for one precision. Included with `real`, its name `REAL`, `REAL_SQRT`,
 * `REAL_ABS` and the name `SOLVER` of what it defines. OP_KERNEL_DEF replaces these macros
 * before it makes the text. */

static real gam, gm1, cfl, eps, qinf[4];

OP_KERNEL_DEF(
    save_soln, void save_soln(const real *q, real *old) {
      for (int n = 0; n < 4; n++)
        old[n] = q[n];
    })

/* Area over time step of a cell: the sum of the wave speeds through its four sides. */
OP_KERNEL_DEF(
    adt_calc, void adt_calc(const real *x[4], const real *q, real *adt) {
      real inverse = 1.0f / q[0];
      real u = inverse * q[1];
      real v = inverse * q[2];
      real c = REAL_SQRT(gam * gm1 * (inverse * q[3] - 0.5f * (u * u + v * v)));
      real sum = 0.0f;
      for (int side = 0; side < 4; side++) {
        real dx = x[(side + 1) % 4][0] - x[side][0];
        real dy = x[(side + 1) % 4][1] - x[side][1];
        sum += REAL_ABS(u * dy - v * dx) + c * REAL_SQRT(dx * dx + dy * dy);
      }
      *adt = sum / cfl;
    })

/* The flux through an edge: the mean of both sides, and smoothing in proportion to their difference. */
OP_KERNEL_DEF(
    res_calc, void res_calc(const real *x1, const real *x2, const real *q1, const real *q2, const real *adt1,
                            const real *adt2, real *res1, real *res2) {
      real dx = x1[0] - x2[0];
      real dy = x1[1] - x2[1];
      real inverse1 = 1.0f / q1[0];
      real inverse2 = 1.0f / q2[0];
      real p1 = gm1 * (q1[3] - 0.5f * inverse1 * (q1[1] * q1[1] + q1[2] * q1[2]));
      real p2 = gm1 * (q2[3] - 0.5f * inverse2 * (q2[1] * q2[1] + q2[2] * q2[2]));
      real through1 = inverse1 * (q1[1] * dy - q1[2] * dx);
      real through2 = inverse2 * (q2[1] * dy - q2[2] * dx);
      real mu = 0.5f * (*adt1 + *adt2) * eps;
      real f;

      f = 0.5f * (through1 * q1[0] + through2 * q2[0]) + mu * (q1[0] - q2[0]);
      res1[0] += f;
      res2[0] -= f;
      f = 0.5f * (through1 * q1[1] + p1 * dy + through2 * q2[1] + p2 * dy) + mu * (q1[1] - q2[1]);
      res1[1] += f;
      res2[1] -= f;
      f = 0.5f * (through1 * q1[2] - p1 * dx + through2 * q2[2] - p2 * dx) + mu * (q1[2] - q2[2]);
      res1[2] += f;
      res2[2] -= f;
      f = 0.5f * (through1 * (q1[3] + p1) + through2 * (q2[3] + p2)) + mu * (q1[3] - q2[3]);
      res1[3] += f;
      res2[3] -= f;
    })

/* A boundary edge: pressure only at the wall, else a flux against the free stream. */
OP_KERNEL_DEF(
    bres_calc, void bres_calc(const real *x1, const real *x2, const real *q, const real *adt, real *res,
                              const int *kind) {
      real dx = x1[0] - x2[0];
      real dy = x1[1] - x2[1];
      real inverse = 1.0f / q[0];
      real p = gm1 * (q[3] - 0.5f * inverse * (q[1] * q[1] + q[2] * q[2]));
      if (*kind == 1) {
        res[1] += p * dy;
        res[2] -= p * dx;
      } else {
        real inverse_far = 1.0f / qinf[0];
        real p_far = gm1 * (qinf[3] - 0.5f * inverse_far * (qinf[1] * qinf[1] + qinf[2] * qinf[2]));
        real through = inverse * (q[1] * dy - q[2] * dx);
        real through_far = inverse_far * (qinf[1] * dy - qinf[2] * dx);
        real mu = *adt * eps;
        res[0] += 0.5f * (through * q[0] + through_far * qinf[0]) + mu * (q[0] - qinf[0]);
        res[1] +=
            0.5f * (through * q[1] + p * dy + through_far * qinf[1] + p_far * dy) + mu * (q[1] - qinf[1]);
        res[2] +=
            0.5f * (through * q[2] - p * dx + through_far * qinf[2] - p_far * dx) + mu * (q[2] - qinf[2]);
        res[3] += 0.5f * (through * (q[3] + p) + through_far * (qinf[3] + p_far)) + mu * (q[3] - qinf[3]);
      }
    })

OP_KERNEL_DEF(
    update, void update(const real *old, real *q, real *res, const real *adt, double *rms, real *largest,
                        int *place, const int *cell) {
      real inverse = 1.0f / *adt;
      for (int n = 0; n < 4; n++) {
        real step = inverse * res[n];
        q[n] = old[n] - step;
        res[n] = 0.0f;
        *rms += step * step;
        if (step * step > *largest) {
          *largest = step * step;
          *place = *cell;
        }
      }
    })

struct airfoil {
  int cell_count; /* that this rank declares */
  double all_cells;
  op_set nodes, cells, edges, boundary_edges;
  op_map cell_nodes, edge_nodes, edge_cells, boundary_nodes, boundary_cell;
  op_dat x, q, old, adt, res, kind;
};

static void declare_constants(void) {
  double stream[4];
  flow_free_stream(stream);
  for (int n = 0; n < 4; n++)
    qinf[n] = (real)stream[n];
  gam = (real)FLOW_GAMMA;
  gm1 = (real)(FLOW_GAMMA - 1);
  cfl = (real)FLOW_CFL;
  eps = (real)FLOW_EPS;
  op_decl_const("gam", 1, REAL, &gam);
  op_decl_const("gm1", 1, REAL, &gm1);
  op_decl_const("cfl", 1, REAL, &cfl);
  op_decl_const("eps", 1, REAL, &eps);
  op_decl_const("qinf", 4, REAL, qinf);
}

/* Sets, maps and places of a mesh in memory, under the names that OP2's airfoil has: what is written is read again. */
static void declare_tables(struct airfoil *a, const struct airfoil_mesh *mesh) {
  a->nodes = op_decl_set(mesh->nodes, "nodes");
  a->cells = op_decl_set(mesh->cells, "cells");
  a->edges = op_decl_set(mesh->edges, "edges");
  a->boundary_edges = op_decl_set(mesh->boundary_edges, "bedges");
  a->cell_nodes = op_decl_map(a->cells, a->nodes, 4, mesh->cell_nodes, "pcell");
  a->edge_nodes = op_decl_map(a->edges, a->nodes, 2, mesh->edge_nodes, "pedge");
  a->edge_cells = op_decl_map(a->edges, a->cells, 2, mesh->edge_cells, "pecell");
  a->boundary_nodes = op_decl_map(a->boundary_edges, a->nodes, 2, mesh->boundary_nodes, "pbedge");
  a->boundary_cell = op_decl_map(a->boundary_edges, a->cells, 1, mesh->boundary_cell, "pbecell");
  real *x = room(2LL * mesh->nodes, sizeof *x);
  for (int i = 0; i < 2 * mesh->nodes; i++)
    x[i] = (real)mesh->x[i];
  a->x = op_decl_dat(a->nodes, 2, REAL, x, "p_x");
  a->kind = op_decl_dat(a->boundary_edges, 1, "int", mesh->boundary_kind, "p_bound");
  free(x);
}

static struct airfoil declare_mesh(const struct airfoil_mesh *mesh) {
  struct airfoil a;
  declare_tables(&a, mesh);
  a.cell_count = op_get_size(a.cells);
  a.all_cells = (double)op_get_global_size(a.cells);
  real *q = room(4LL * a.cell_count, sizeof *q);
  for (int i = 0; i < 4 * a.cell_count; i++)
    q[i] = qinf[i % 4];
  a.q = op_decl_dat(a.cells, 4, REAL, q, "q");
  a.old = op_decl_dat(a.cells, 4, REAL, NULL, "old");
  a.adt = op_decl_dat(a.cells, 1, REAL, NULL, "adt");
  a.res = op_decl_dat(a.cells, 4, REAL, NULL, "res");
  free(q);
  /* Over the ranks of mpirun: cells that are near one another. */
  double begin = op_wtime();
  op_partition("rcb", "", a.cells, a.cell_nodes, a.x);
  if (a.cell_count < a.all_cells)
    op_printf("parted over the ranks in %.4f s\n", op_wtime() - begin);
  return a;
}

static void residual(const struct airfoil *a) {
  op_par_loop(
      OP_KERNEL_OF(adt_calc), "adt_calc", a->cells, op_arg_dat(a->x, -4, a->cell_nodes, 2, REAL, OP_READ),
      op_arg_dat(a->q, -1, OP_ID, 4, REAL, OP_READ), op_arg_dat(a->adt, -1, OP_ID, 1, REAL, OP_WRITE));
  op_par_loop(OP_KERNEL_OF(res_calc), "res_calc", a->edges,
              op_arg_dat(a->x, 0, a->edge_nodes, 2, REAL, OP_READ),
              op_arg_dat(a->x, 1, a->edge_nodes, 2, REAL, OP_READ),
              op_arg_dat(a->q, 0, a->edge_cells, 4, REAL, OP_READ),
              op_arg_dat(a->q, 1, a->edge_cells, 4, REAL, OP_READ),
              op_arg_dat(a->adt, 0, a->edge_cells, 1, REAL, OP_READ),
              op_arg_dat(a->adt, 1, a->edge_cells, 1, REAL, OP_READ),
              op_arg_dat(a->res, 0, a->edge_cells, 4, REAL, OP_INC),
              op_arg_dat(a->res, 1, a->edge_cells, 4, REAL, OP_INC));
  op_par_loop(OP_KERNEL_OF(bres_calc), "bres_calc", a->boundary_edges,
              op_arg_dat(a->x, 0, a->boundary_nodes, 2, REAL, OP_READ),
              op_arg_dat(a->x, 1, a->boundary_nodes, 2, REAL, OP_READ),
              op_arg_dat(a->q, 0, a->boundary_cell, 4, REAL, OP_READ),
              op_arg_dat(a->adt, 0, a->boundary_cell, 1, REAL, OP_READ),
              op_arg_dat(a->res, 0, a->boundary_cell, 4, REAL, OP_INC),
              op_arg_dat(a->kind, -1, OP_ID, 1, "int", OP_READ));
}

static void *start(const struct airfoil_mesh *mesh, int block) {
  (void)block;
  struct airfoil *a = room(1, sizeof *a);
  declare_constants();
  *a = declare_mesh(mesh);
  return a;
}

static struct flow_step iterate(void *run) {
  const struct airfoil *a = run;
  double rms = 0;
  real largest = 0;
  int cell = -1;
  op_par_loop(OP_KERNEL_OF(save_soln), "save_soln", a->cells, op_arg_dat(a->q, -1, OP_ID, 4, REAL, OP_READ),
              op_arg_dat(a->old, -1, OP_ID, 4, REAL, OP_WRITE));
  for (int stage = 0; stage < 2; stage++) {
    residual(a);
    rms = 0;
    largest = 0;
    cell = -1;
    op_par_loop(OP_KERNEL_OF(update), "update", a->cells, op_arg_dat(a->old, -1, OP_ID, 4, REAL, OP_READ),
                op_arg_dat(a->q, -1, OP_ID, 4, REAL, OP_WRITE), op_arg_dat(a->res, -1, OP_ID, 4, REAL, OP_RW),
                op_arg_dat(a->adt, -1, OP_ID, 1, REAL, OP_READ), op_arg_gbl(&rms, 1, "double", OP_INC),
                op_arg_gbl(&largest, 1, REAL, OP_MAX), op_arg_info(&cell, 1, "int", 6),
                op_arg_idx(-1, OP_ID));
  }
  return (struct flow_step){sqrt(rms / a->all_cells), (double)largest, cell};
}

static void finish(void *run, double *q) {
  struct airfoil *a = run;
  if (q) {
    real *state = room(4LL * a->cell_count, sizeof *state);
    op_fetch_data(a->q, state);
    for (int i = 0; i < 4 * a->cell_count; i++)
      q[i] = (double)state[i];
    free(state);
  }
  free(a);
}

const struct flow_code SOLVER = {"op2jit", start, iterate, finish};
