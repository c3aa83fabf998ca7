/* Shallow water: the classic benchmark of the National Center for Atmospheric Research on a periodic
 * staggered grid, as one set of points, maps to the neighbours and three loops a step that write only
 * their own point. The kernels know nothing of the grid: `--mesh` numbers the same torus by rows, at
 * random, or as rows of hexagons, where the grid's two axes and one diagonal lead to the six neighbours.
 *
 * The equations: u_t - ZV + H_x = 0, v_t + ZU + H_y = 0, p_t + U_x + V_y = 0 with U = pu, V = pv, Z = (v_x - u_y)/p,
 * H = p + (u^2 + v^2)/2; leapfrog in time with a filter that keeps the two time levels together. */
#include <math.h>
#include <op2jit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shallow_water_kernels.h"

/* ---- the model ----------------------------------------------------------------------------------- */

struct model {
  int m, n;         /* points in x and in y */
  double dt;        /* seconds; of the first step, later ones are leaps over two of them */
  double dx, dy;    /* metres */
  double smoothing; /* of the filter */
};

/* The factors of one step. */
struct model_factors {
  double fsdx, fsdy, tdts8, tdtsdx, tdtsdy, smoothing;
};

enum { MODEL_MEAN_PRESSURE = 50000 };

static void *array(long long count, size_t size) {
  void *made = calloc((size_t)count + 1, size);
  if (!made) {
    fprintf(stderr, "no memory for %lld values\n", count);
    exit(1);
  }
  return made;
}

static struct model model_make(int m, int n) {
  return (struct model){.m = m, .n = n, .dt = 90, .dx = 1e5, .dy = 1e5, .smoothing = 0.001};
}

/* Velocities are differences of a stream function. The benchmark's pi is a single-precision number. */
static void model_initial(const struct model *model, double *u, double *v, double *p) {
  const double a = 1e6, pi = 4.0 * (double)atanf(1.0f);
  int m = model->m, n = model->n;
  double length = n * model->dx, di = (pi + pi) / m, dj = (pi + pi) / n;
  double pcf = pi * pi * a * a / (length * length);
  double *psi = array((m + 1LL) * (n + 1), sizeof *psi);
  for (int i = 0; i <= m; i++)
    for (int j = 0; j <= n; j++)
      psi[(size_t)i * (size_t)(n + 1) + (size_t)j] = a * sin((i + 0.5) * di) * sin((j + 0.5) * dj);
  for (int i = 0; i < m; i++) {
    for (int j = 0; j < n; j++) {
      const double *here = psi + (size_t)i * (size_t)(n + 1) + (size_t)j, *east = here + n + 1;
      size_t right = (size_t)((i + 1) % m) * (size_t)n + (size_t)j;
      size_t above = (size_t)i * (size_t)n + (size_t)((j + 1) % n);
      p[(size_t)i * (size_t)n + (size_t)j] =
          pcf * (cos(2.0 * i * di) + cos(2.0 * j * dj)) + (double)MODEL_MEAN_PRESSURE;
      u[right] = -(east[1] - east[0]) / model->dy;
      v[above] = (east[1] - here[1]) / model->dx;
    }
  }
  free(psi);
}

static struct model_factors model_factors_of(const struct model *model, int step) {
  double leap = step == 0 ? model->dt : model->dt + model->dt;
  return (struct model_factors){
      .fsdx = 4 / model->dx,
      .fsdy = 4 / model->dy,
      .tdts8 = leap / 8,
      .tdtsdx = leap / model->dx,
      .tdtsdy = leap / model->dy,
      .smoothing = step == 0 ? 0 : model->smoothing,
  };
}

static double model_rms(const struct model *model, const double *x, double from) {
  double sum = 0;
  for (long long i = 0; i < (long long)model->m * model->n; i++)
    sum += (x[i] - from) * (x[i] - from);
  return sqrt(sum / ((double)model->m * model->n));
}

static double model_mean(const struct model *model, const double *x) {
  double sum = 0;
  for (long long i = 0; i < (long long)model->m * model->n; i++)
    sum += x[i] - (double)MODEL_MEAN_PRESSURE;
  return (double)MODEL_MEAN_PRESSURE + sum / ((double)model->m * model->n);
}

/* The neighbours, in the order of the map's columns. */
enum { EAST, WEST, NORTH, SOUTH, NORTH_WEST, SOUTH_EAST, SOUTH_WEST, NEIGHBOURS };
static const int offset[NEIGHBOURS][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {-1, 1}, {1, -1}, {-1, -1}};

/* ---- the meshes: number[i*n + j] is the point at (i, j) -------------------------------------------*/

static void number_by_rows(int m, int n, int *number) {
  for (int k = 0; k < m * n; k++)
    number[k] = k;
}

static void number_at_random(int m, int n, int *number) {
  unsigned long long state = 2463534242ULL;
  number_by_rows(m, n, number);
  for (int k = m * n - 1; k > 0; k--) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    int other = (int)((state >> 33) % (unsigned)(k + 1)), held = number[k];
    number[k] = number[other];
    number[other] = held;
  }
}

/* Hexagons in n rows of m, odd rows half a cell to the right. Along a row is one axis; the other goes up
 * and to the right, from row to row by turns straight up and one further in the count. After n = 2m rows it
 * has gone round the torus once. */
static void number_hexagons(int m, int n, int *number) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++)
      number[i * n + j] = j * m + (i + j / 2) % m;
}

struct numbering {
  const char *name;
  void (*number)(int m, int n, int *number);
};
static const struct numbering numberings[] = {
    {"rows", number_by_rows}, {"shuffled", number_at_random}, {"hexagons", number_hexagons}};

static int *neighbour_table(int m, int n, const int *number) {
  int *table = array((long long)NEIGHBOURS * m * n, sizeof *table);
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < NEIGHBOURS; k++)
        table[NEIGHBOURS * number[i * n + j] + k] =
            number[(i + offset[k][0] + m) % m * n + (j + offset[k][1] + n) % n];
  return table;
}

/* ---- the library's run ----------------------------------------------------------------------------*/

/* Under mpirun the first process declares everything, and op_partition shares it out. */
static int here(int size) {
  return op_is_root() ? size : 0;
}

struct state {
  double *u, *v, *p;
};

struct water {
  op_set points;
  op_map to;
  op_dat u, v, p, unew, vnew, pnew, uold, vold, pold, cu, cv, z, h;
};

static op_arg own(op_dat dat, op_access access) {
  return op_arg_dat(dat, -1, OP_ID, 1, "double", access);
}

static op_arg at(const struct water *w, op_dat dat, int neighbour) {
  return op_arg_dat(dat, neighbour, w->to, 1, "double", OP_READ);
}

static op_arg number_of(double *value) {
  return op_arg_gbl(value, 1, "double", OP_READ);
}

static void step(const struct water *w, struct model_factors f) {
  op_par_loop(OP_KERNEL_FILE("shallow_water_kernels.h", fluxes), "fluxes", w->points, own(w->p, OP_READ),
              at(w, w->p, WEST), at(w, w->p, SOUTH), at(w, w->p, SOUTH_WEST), own(w->u, OP_READ),
              at(w, w->u, SOUTH), at(w, w->u, EAST), own(w->v, OP_READ), at(w, w->v, WEST),
              at(w, w->v, NORTH), own(w->cu, OP_WRITE), own(w->cv, OP_WRITE), own(w->z, OP_WRITE),
              own(w->h, OP_WRITE), number_of(&f.fsdx), number_of(&f.fsdy));
  op_par_loop(OP_KERNEL_FILE("shallow_water_kernels.h", leap), "leap", w->points, own(w->z, OP_READ),
              at(w, w->z, NORTH), at(w, w->z, EAST), own(w->cv, OP_READ), at(w, w->cv, NORTH),
              at(w, w->cv, NORTH_WEST), at(w, w->cv, WEST), own(w->cu, OP_READ), at(w, w->cu, EAST),
              at(w, w->cu, SOUTH), at(w, w->cu, SOUTH_EAST), own(w->h, OP_READ), at(w, w->h, WEST),
              at(w, w->h, SOUTH), own(w->uold, OP_READ), own(w->vold, OP_READ), own(w->pold, OP_READ),
              own(w->unew, OP_WRITE), own(w->vnew, OP_WRITE), own(w->pnew, OP_WRITE), number_of(&f.tdts8),
              number_of(&f.tdtsdx), number_of(&f.tdtsdy));
  op_par_loop(OP_KERNEL_FILE("shallow_water_kernels.h", filter), "filter", w->points, own(w->u, OP_RW),
              own(w->v, OP_RW), own(w->p, OP_RW), own(w->uold, OP_RW), own(w->vold, OP_RW),
              own(w->pold, OP_RW), own(w->unew, OP_READ), own(w->vnew, OP_READ), own(w->pnew, OP_READ),
              number_of(&f.smoothing));
}

static op_dat declare(op_set points, const int *number, const double *field, const char *name) {
  int count = op_get_size(points);
  double *row = array(count, sizeof *row);
  for (int k = 0; k < count; k++)
    row[number[k]] = field ? field[k] : 0;
  op_dat dat = op_decl_dat(points, 1, "double", row, name);
  free(row);
  return dat;
}

static void fetch(op_dat dat, const int *number, int count, double *field) {
  double *row = array(count, sizeof *row);
  op_fetch_data(dat, row);
  for (int k = 0; op_is_root() && k < count; k++)
    field[k] = row[number[k]];
  free(row);
}

/* `start` is m x n. */
static struct water water_make(const struct model *model, const int *number, const struct state *start) {
  const double *u = start->u, *v = start->v, *p = start->p;
  int *table = neighbour_table(model->m, model->n, number);
  struct water w;
  w.points = op_decl_set(here(model->m * model->n), "points");
  w.to = op_decl_map(w.points, w.points, NEIGHBOURS, table, "neighbours");
  free(table);
  struct {
    op_dat *dat;
    const double *field;
    const char *name;
  } fields[] = {{&w.u, u, "u"},          {&w.v, v, "v"},          {&w.p, p, "p"},
                {&w.uold, u, "uold"},    {&w.vold, v, "vold"},    {&w.pold, p, "pold"},
                {&w.unew, NULL, "unew"}, {&w.vnew, NULL, "vnew"}, {&w.pnew, NULL, "pnew"},
                {&w.cu, NULL, "cu"},     {&w.cv, NULL, "cv"},     {&w.z, NULL, "z"},
                {&w.h, NULL, "h"}};
  for (size_t k = 0; k < sizeof fields / sizeof *fields; k++)
    *fields[k].dat = declare(w.points, number, fields[k].field, fields[k].name);
  op_partition("block", "", w.points, NULL, NULL);
  return w;
}

static void water_run(const struct water *w, const struct model *model, int steps) {
  for (int k = 0; k < steps; k++)
    step(w, model_factors_of(model, k));
}

static struct state state_make(int count) {
  return (struct state){array(count, sizeof(double)), array(count, sizeof(double)),
                        array(count, sizeof(double))};
}

static void state_free(struct state *state) {
  free(state->u);
  free(state->v);
  free(state->p);
}

/* ---- what is known ----------------------------------------------------------------------------------*/

/* One line for each thing that must hold. */
static int failures;
static void expect(const char *what, double error, double most) {
  const int holds = error >= 0 && error <= most;
  op_printf("  %-48s %10.3e, at most %8.1e: %s\n", what, error, most, holds ? "yes" : "NO");
  failures += !holds;
}

/* The benchmark's values on n x n points: rms of p - 50000, and u at (n/4, n/4). */
static const struct known {
  int size, steps;
  double rms, u;
} known[] = {
    {64, 1, 2.409571558691376e-01, 9.608196604636533e-02},
    {64, 100, 2.440642611721077e-01, 9.592004549360561e-02},
    {64, 4000, 2.396412450552056e-01, 9.621939642604713e-02},
    {128, 100, 6.028021275361733e-02, 2.410065519092905e-02},
    {128, 4000, 6.056895173073957e-02, 2.406456118830781e-02},
    {256, 1000, 1.508072570530934e-02, 6.021285479075648e-03},
    {512, 1000, 3.764501598959592e-03, 1.505515291165158e-03},
    {1024, 200, 9.412290067640175e-04, 3.765179967365940e-04},
};

static void check(const struct model *model, int steps, double mean, const struct state *end) {
  const double now = model_mean(model, end->p), rms = model_rms(model, end->p, MODEL_MEAN_PRESSURE);
  const int quarter = model->m / 4;
  op_printf("rms of p - 50000 %.15e, of u %.15e\n", rms, model_rms(model, end->u, 0));
  expect("mean of p: relative change", fabs(now - mean) / mean, 1e-14);
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    if (known[k].size != model->m || known[k].size != model->n || known[k].steps != steps)
      continue;
    expect("rms of p - 50000 against the benchmark", fabs(rms - known[k].rms), 1e-8);
    expect("u at a point against the benchmark", fabs(end->u[quarter * model->n + quarter] - known[k].u),
           1e-10);
  }
}

struct wishes {
  int m, n, steps;
  const struct numbering *mesh;
  const char *write;
};

static const struct numbering *find_numbering(const char *name) {
  for (size_t k = 0; k < sizeof numberings / sizeof *numberings; k++)
    if (!strcmp(name, numberings[k].name))
      return &numberings[k];
  return NULL;
}

static int read_wishes(struct wishes *w, int argc, char **argv) {
  w->mesh = &numberings[0];
  for (int a = 1; a < argc; a++) {
    const char *value = a + 1 < argc ? argv[a + 1] : "";
    if (!strncmp(argv[a], "OP2_", 4))
      continue; /* for the library */
    if (!strcmp(argv[a], "--m"))
      w->m = atoi(value);
    else if (!strcmp(argv[a], "--n"))
      w->n = atoi(value);
    else if (!strcmp(argv[a], "--steps"))
      w->steps = atoi(value);
    else if (!strcmp(argv[a], "--mesh"))
      w->mesh = find_numbering(value);
    else if (!strcmp(argv[a], "--write"))
      w->write = value;
    else
      w->m = 0;
    a++;
  }
  const int hexagons = w->mesh && !strcmp(w->mesh->name, "hexagons");
  if (w->n == 0)
    w->n = hexagons ? 2 * w->m : w->m;
  if (w->m >= 2 && w->n >= 2 && w->m <= 16384 && w->n <= 16384 && w->steps >= 1 && w->mesh &&
      (!hexagons || w->n == 2 * w->m))
    return 0;
  fprintf(stderr, "usage: shallow_water [--m POINTS-IN-X] [--n POINTS-IN-Y, hexagons: 2 m] [--steps N]\n"
                  "                     [--mesh rows|shuffled|hexagons] [--write FILE.h5]\n");
  return -1;
}

int main(int argc, char **argv) {
  struct wishes wishes = {.m = 64, .steps = 100};
  if (read_wishes(&wishes, argc, argv))
    return 2;
  if (op_init(argc, argv, 1))
    return 1;
  const struct model model = model_make(wishes.m, wishes.n);
  const int count = wishes.m * wishes.n;
  int *number = array(count, sizeof *number);
  struct state state = state_make(count);
  wishes.mesh->number(wishes.m, wishes.n, number);
  model_initial(&model, state.u, state.v, state.p);
  const double mean = model_mean(&model, state.p);
  const struct water water = water_make(&model, number, &state);
  op_printf("%d x %d points, %s, %d steps\n", wishes.m, wishes.n, wishes.mesh->name, wishes.steps);
  water_run(&water, &model, wishes.steps);
  fetch(water.u, number, count, state.u);
  fetch(water.p, number, count, state.p);
  if (op_is_root())
    check(&model, wishes.steps, mean, &state);
  if (wishes.write)
    op_dump_to_hdf5(wishes.write);
  state_free(&state);
  free(number);
  op_printf("shallow_water: %s\n", failures ? "FAILED" : "PASSED");
  return op_exit() || failures;
}
