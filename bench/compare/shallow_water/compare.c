/* Shallow water: the classic benchmark of the National Center for Atmospheric Research on a periodic
 * staggered grid, as one set of points, maps to the neighbours and three loops a step that write only
 * their own point. The kernels know nothing of the grid: `--mesh` numbers the same torus by rows, at
 * random, or as rows of hexagons, where the grid's two axes and one diagonal lead to the six neighbours. */
#include "common/arguments.h"
#include "common/memory.h"
#include "common/options.h"
#include "common/ranks.h"
#include "common/report.h"
#include "known.h"
#include "model.h"
#include "twin.h"

#include <math.h>
#include <op2jit.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Mass fluxes, potential vorticity and height. Neighbours: east, west, north, south. */
OP_KERNEL_DEF(
    fluxes,
    void fluxes(const double *p, const double *p_w, const double *p_s, const double *p_sw, const double *u,
                const double *u_s, const double *u_e, const double *v, const double *v_w, const double *v_n,
                double *cu, double *cv, double *z, double *h, const double *fsdx, const double *fsdy) {
      *cu = 0.5 * (*p + *p_w) * *u;
      *cv = 0.5 * (*p + *p_s) * *v;
      *z = (*fsdx * (*v - *v_w) - *fsdy * (*u - *u_s)) / (*p_sw + *p_s + *p + *p_w);
      *h = *p + 0.25 * (*u_e * *u_e + *u * *u + *v_n * *v_n + *v * *v);
    })

OP_KERNEL_DEF(
    leap,
    void leap(const double *z, const double *z_n, const double *z_e, const double *cv, const double *cv_n,
              const double *cv_nw, const double *cv_w, const double *cu, const double *cu_e,
              const double *cu_s, const double *cu_se, const double *h, const double *h_w, const double *h_s,
              const double *uold, const double *vold, const double *pold, double *unew, double *vnew,
              double *pnew, const double *tdts8, const double *tdtsdx, const double *tdtsdy) {
      *unew = *uold + *tdts8 * (*z_n + *z) * (*cv_n + *cv_nw + *cv_w + *cv) - *tdtsdx * (*h - *h_w);
      *vnew = *vold - *tdts8 * (*z_e + *z) * (*cu_e + *cu + *cu_s + *cu_se) - *tdtsdy * (*h - *h_s);
      *pnew = *pold - *tdtsdx * (*cu_e - *cu) - *tdtsdy * (*cv_n - *cv);
    })

OP_KERNEL_DEF(
    filter, void filter(double *u, double *v, double *p, double *uold, double *vold, double *pold,
                        const double *unew, const double *vnew, const double *pnew, const double *alpha) {
      *uold = *u + *alpha * (*unew - 2 * *u + *uold);
      *vold = *v + *alpha * (*vnew - 2 * *v + *vold);
      *pold = *p + *alpha * (*pnew - 2 * *p + *pold);
      *u = *unew;
      *v = *vnew;
      *p = *pnew;
    })

/* The neighbours, in the order of the map's columns. */
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
  int *table = room((long long)NEIGHBOURS * m * n, sizeof *table);
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < NEIGHBOURS; k++)
        table[NEIGHBOURS * number[i * n + j] + k] =
            number[(i + offset[k][0] + m) % m * n + (j + offset[k][1] + n) % n];
  return table;
}

struct settings {
  int m, n, steps, compare;
  const char *mesh, *fp;
};

static int is_hexagons(const struct settings *s) {
  return !strcmp(s->mesh, "hexagons");
}

/* ---- the library's run ----------------------------------------------------------------------------*/

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
  op_par_loop(OP_KERNEL_OF(fluxes), "fluxes", w->points, own(w->p, OP_READ), at(w, w->p, WEST),
              at(w, w->p, SOUTH), at(w, w->p, SOUTH_WEST), own(w->u, OP_READ), at(w, w->u, SOUTH),
              at(w, w->u, EAST), own(w->v, OP_READ), at(w, w->v, WEST), at(w, w->v, NORTH),
              own(w->cu, OP_WRITE), own(w->cv, OP_WRITE), own(w->z, OP_WRITE), own(w->h, OP_WRITE),
              number_of(&f.fsdx), number_of(&f.fsdy));
  op_par_loop(OP_KERNEL_OF(leap), "leap", w->points, own(w->z, OP_READ), at(w, w->z, NORTH),
              at(w, w->z, EAST), own(w->cv, OP_READ), at(w, w->cv, NORTH), at(w, w->cv, NORTH_WEST),
              at(w, w->cv, WEST), own(w->cu, OP_READ), at(w, w->cu, EAST), at(w, w->cu, SOUTH),
              at(w, w->cu, SOUTH_EAST), own(w->h, OP_READ), at(w, w->h, WEST), at(w, w->h, SOUTH),
              own(w->uold, OP_READ), own(w->vold, OP_READ), own(w->pold, OP_READ), own(w->unew, OP_WRITE),
              own(w->vnew, OP_WRITE), own(w->pnew, OP_WRITE), number_of(&f.tdts8), number_of(&f.tdtsdx),
              number_of(&f.tdtsdy));
  op_par_loop(OP_KERNEL_OF(filter), "filter", w->points, own(w->u, OP_RW), own(w->v, OP_RW), own(w->p, OP_RW),
              own(w->uold, OP_RW), own(w->vold, OP_RW), own(w->pold, OP_RW), own(w->unew, OP_READ),
              own(w->vnew, OP_READ), own(w->pnew, OP_READ), number_of(&f.smoothing));
}

static op_dat declare(op_set points, const int *number, const double *field, const char *name) {
  int count = op_get_size(points);
  double *row = room(count, sizeof *row);
  for (int k = 0; k < count; k++)
    row[number[k]] = field ? field[k] : 0;
  op_dat dat = op_decl_dat(points, 1, "double", row, name);
  free(row);
  return dat;
}

static void fetch(op_dat dat, const int *number, int count, double *field) {
  double *row = room(count, sizeof *row);
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
  w.points = op_decl_set(declared(model->m * model->n), "points");
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
  share_out(w.points);
  return w;
}

/* Returns the seconds of one step, without the first. */
static double water_run(const struct water *w, const struct model *model, int steps) {
  double start = 0, value;
  for (int k = 0; k < steps; k++) {
    if (k == (steps > 1))
      start = clock_seconds();
    step(w, model_factors_of(model, k));
  }
  wait_for(w->p, &value);
  return (clock_seconds() - start) / (steps > 1 ? steps - 1 : 1);
}

/* Leaves the state at the end in `state`;  returns the seconds of one step. */
static double run_library(const struct settings *s, const struct model *model, const int *number,
                          const struct state *state) {
  int count = model->m * model->n;
  model_initial(model, state->u, state->v, state->p);
  struct water w = water_make(model, number, state);
  double seconds = water_run(&w, model, s->steps);
  fetch(w.u, number, count, state->u);
  fetch(w.v, number, count, state->v);
  fetch(w.p, number, count, state->p);
  return seconds;
}

/* ---- what is known ----------------------------------------------------------------------------------*/

static struct state state_make(int count) {
  return (struct state){room(count, sizeof(double)), room(count, sizeof(double)),
                        room(count, sizeof(double))};
}

static void state_free(struct state *state) {
  free(state->u);
  free(state->v);
  free(state->p);
}

static uint64_t bits_of(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static long long different_values(const double *a, const double *b, int count) {
  long long different = 0;
  for (int k = 0; k < count; k++)
    different += bits_of(a[k]) != bits_of(b[k]);
  return different;
}

static void check_twin(struct check *check, const struct settings *s, int count, const struct state *a,
                       const struct state *b) {
  if (!strcmp(s->fp, "strict")) {
    check_equal(check, "values of u, v and p with other bits than the twin's",
                different_values(a->u, b->u, count) + different_values(a->v, b->v, count) +
                    different_values(a->p, b->p, count),
                0);
  } else {
    check_at_most(check, "u and v against the hand-written loops",
                  fmax(largest_difference(a->u, b->u, count), largest_difference(a->v, b->v, count)), 1e-10);
    check_at_most(check, "p against the hand-written loops", largest_difference(a->p, b->p, count), 1e-8);
  }
}

/* On the mesh that the library had. */
static void compare_by_map(struct check *check, const struct settings *s, const struct numbering *numbering,
                           const struct model *model, const struct state *library, const struct state *twin,
                           double *base) {
  int count = s->m * s->n, *number = room(count, sizeof *number);
  numbering->number(s->m, s->n, number);
  int *table = neighbour_table(s->m, s->n, number);
  struct state there = state_make(count);
  model_initial(model, twin->u, twin->v, twin->p);
  double *const fields[3][2] = {{there.u, twin->u}, {there.v, twin->v}, {there.p, twin->p}};
  for (int f = 0; f < 3; f++)
    for (int k = 0; k < count; k++)
      fields[f][0][number[k]] = fields[f][1][k];
  double seconds = twin_run_by_map(model, s->steps, table, there.u, there.v, there.p);
  for (int f = 0; f < 3; f++)
    for (int k = 0; k < count; k++)
      fields[f][1][k] = fields[f][0][number[k]];
  check_twin(check, s, count, library, twin);
  compare_row("hand-written, OpenMP, by the map", seconds, 256.0 * count, base);
  state_free(&there);
  free(number);
  free(table);
}

/* What the library left and how long a step took, against all that is known. Returns the program's status. */
static int check_all(const struct settings *s, const struct numbering *numbering, const struct model *model,
                     const struct state *library, double library_seconds) {
  int count = s->m * s->n;
  struct state twin = state_make(count);
  struct check check = {0};
  model_initial(model, twin.u, twin.v, twin.p);
  double mean = model_mean(model, twin.p);
  known_check(&check, model, 0, twin.u, twin.v, twin.p);
  double serial_seconds = twin_run(model, s->steps, 0, twin.u, twin.v, twin.p);
  op_printf("%d x %d points, %s, %d steps: rms of p - 50000 %.15e, of u %.15e\n", s->m, s->n, numbering->name,
            s->steps, model_rms(model, library->p, MODEL_MEAN_PRESSURE), model_rms(model, library->u, 0));
  known_check(&check, model, s->steps, library->u, library->v, library->p);
  check_at_most(&check, "mean of p: relative change",
                relative_difference(model_mean(model, library->p), mean), 1e-14);
  check_twin(&check, s, count, library, &twin);
  double bytes = 256.0 * count, base = 0;
  compare_header("one step");
  compare_row("hand-written, serial", serial_seconds, bytes, &base);
  if (s->compare) {
    compare_row("hand-written, OpenMP", twin_run(model, s->steps, 1, twin.u, twin.v, twin.p), bytes, &base);
    check_twin(&check, s, count, library, &twin);
    compare_by_map(&check, s, numbering, model, library, &twin, &base);
  }
  compare_row("op2jit", library_seconds, bytes, &base);
  state_free(&twin);
  return check_end(&check, "shallow_water");
}

static int run(const struct settings *s, const struct numbering *numbering) {
  struct model model = model_make(s->m, s->n);
  int count = s->m * s->n, *number = room(count, sizeof *number), status = EXIT_SUCCESS;
  struct state state = state_make(count);
  numbering->number(s->m, s->n, number);
  double seconds = run_library(s, &model, number, &state);
  if (op_is_root())
    status = check_all(s, numbering, &model, &state, seconds);
  state_free(&state);
  free(number);
  return status;
}

/* All tables of which fit in what most machines have, and their entries in an int. */
enum { MOST_POINTS = 300000000 };

static int is_floating_point(const char *word) {
  return !strcmp(word, "strict") || !strcmp(word, "contract") || !strcmp(word, "fast");
}

/* As the library decides: a word of the command line, --fp, the environment. Sums in another order are for who asks. */
static const char *floating_point(int argc, char **argv, const char *asked) {
  static const char name[] = "OP2_FP=";
  for (int i = argc - 1; i > 0; i--)
    if (!strncmp(argv[i], name, sizeof name - 1))
      return argv[i] + sizeof name - 1;
  const char *set = getenv("OP2_FP");
  return asked ? asked : set && *set ? set : "strict";
}

static const struct numbering *find_numbering(const struct settings *s) {
  for (size_t k = 0; k < sizeof numberings / sizeof *numberings; k++)
    if (!strcmp(s->mesh, numberings[k].name))
      return &numberings[k];
  return NULL;
}

int main(int argc, char **argv) {
  struct settings s = {.m = 64, .n = 0, .steps = 100, .mesh = "rows"};
  const struct option_entry entries[] = {
      {"m", OPTION_INT, &s.m, 2, 16384, "points in x"},
      {"n", OPTION_INT, &s.n, 0, 16384, "points in y; 0: as many as in x (hexagons: twice)"},
      {"steps", OPTION_INT, &s.steps, 1, 1e9, "time steps"},
      {"mesh", OPTION_WORD, &s.mesh, 0, 0, "how points are numbered: rows, shuffled or hexagons"},
      {"fp", OPTION_WORD, &s.fp, 0, 0,
       "strict, contract or fast [OP2_FP, or strict]: with strict, all bits must be the twin's"},
      {"compare", OPTION_FLAG, &s.compare, 0, 0, "run the hand-written loops with OpenMP too"},
  };
  enum options_outcome outcome = options_read(argc, argv, "the shallow-water equations on a periodic grid",
                                              sizeof entries / sizeof *entries, entries);
  if (outcome != OPTIONS_RUN)
    return outcome;
  const struct numbering *numbering = find_numbering(&s);
  if (!numbering)
    return options_refuse("--mesh %s: expected rows, shuffled or hexagons", s.mesh);
  if (s.fp && !is_floating_point(s.fp))
    return options_refuse("--fp %s: expected strict, contract or fast", s.fp);
  int hexagons = is_hexagons(&s);
  if (s.n == 0)
    s.n = hexagons ? 2 * s.m : s.m;
  if (hexagons && s.n != 2 * s.m)
    return options_refuse("--n %d: expected %d, twice what --m gives, as --mesh hexagons needs it", s.n,
                          2 * s.m);
  if ((long long)s.m * s.n > MOST_POINTS)
    return options_refuse("--m %d --n %d: expected at most %d points in all", s.m, s.n, MOST_POINTS);
  s.fp = floating_point(argc, argv, s.fp);
  char word[64];
  snprintf(word, sizeof word, "OP2_FP=%s", s.fp);
  init_with(argc, argv, 1, word);
  int status = run(&s, numbering);
  op_exit();
  return status;
}
