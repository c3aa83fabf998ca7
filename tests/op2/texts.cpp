// Kernels as OP2's users write them, for texts.sh: each loop prints what came of it, so that forms can be compared.
#include "op_seq.h"

#include "check.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

using namespace std;

#define DIMS 3
#define SQUARE(x) ((x) * (x))
struct vector3 {
  double x, y, z;
};
enum side { LEFT, RIGHT };
static const double weights[DIMS] = {0.5, 1.5, 2.0};
double gam = 1.4;
double limits[2] = {0.25, 8.0};
int undeclared = 3;

namespace physics {
typedef double real;
static inline void momentum(const vector3 &v, real &sum) {
  sum = weights[0] * SQUARE(v.x) + weights[1] * SQUARE(v.y) + weights[2] * SQUARE(v.z);
}
template <class T> T limited(T value) {
  return std::max(T(limits[0]), std::min(value, T(limits[1])));
}
// What both sides share is in a file of its own.
inline void flux(const double *a, const double *b, double *ra, double *rb) {
  vector3 v = {a[0] - b[0], a[1] - b[1], fabs(a[2] - b[2])};
  double sum;
  momentum(v, sum);
#include "texts_body.h"
  for (int d = 0; d < DIMS; d++) {
    ra[d] += f * weights[d];
    rb[d] -= f * weights[d];
  }
}
} // namespace physics

static void step(const double *r, double *x, double *largest) {
  for (int d = 0; d < DIMS; d++)
    x[d] += 1e-3 * physics::limited(abs(r[d])) * (std::isnan(r[d]) ? 0 : 1);
  *largest = max(*largest, x[LEFT]);
}
static void partly(const double *x, double *y) {
  if (x[RIGHT] > 0.5)
    *y = gam * pow(x[0], 2);
}
static void with_global(const double *x, double *y) {
  *y = x[0] * undeclared;
}
static void loud(const double *x, double *y) {
  if (*x > 2)
    printf("never %g\n", *x);
  *y += 1;
}
#ifdef HALVED
static const double share = 0.5;
#else
static const double share = 1;
#endif
static void shared(const double *x, double *y) {
  *y = share * x[2];
}

int main(int argc, char **argv) {
  const int size = 1000;
  op_init(argc, argv, 0);
  vector<int> table(2 * size);
  vector<double> x(DIMS * size), zero(DIMS * size), y(size);
  for (int e = 0; e < size; e++) {
    table[2 * static_cast<size_t>(e)] = e;
    table[2 * static_cast<size_t>(e) + 1] = (e * 7 + 1) % size;
    for (int d = 0; d < DIMS; d++)
      x[static_cast<size_t>(DIMS * e + d)] = (e * 13 + d * 5) % 17 / 17.0;
  }
  op_set edges = op_decl_set(size, "edges"), nodes = op_decl_set(size, "nodes");
  op_map ends = op_decl_map(edges, nodes, 2, table.data(), "ends");
  op_dat px = op_decl_dat(nodes, DIMS, "double", x.data(), "x"),
         pr = op_decl_dat(nodes, DIMS, "double", zero.data(), "r"),
         py = op_decl_dat(nodes, 1, "double", y.data(), "y");
  op_decl_const(1, "double", &gam);
  op_decl_const(2, "double", limits);
  double largest = 0, sum[4] = {0};
  for (int i = 0; i < 8; i++) {
    op_par_loop(physics::flux, "flux", edges, op_arg_dat(px, 0, ends, DIMS, "double", OP_READ),
                op_arg_dat(px, 1, ends, DIMS, "double", OP_READ),
                op_arg_dat(pr, 0, ends, DIMS, "double", OP_INC),
                op_arg_dat(pr, 1, ends, DIMS, "double", OP_INC));
    op_par_loop(step, "step", nodes, op_arg_dat(pr, -1, OP_ID, DIMS, "double", OP_READ),
                op_arg_dat(px, -1, OP_ID, DIMS, "double", OP_RW), op_arg_gbl(&largest, 1, "double", OP_MAX));
    gam += 0.01; // kernels read the variable itself
  }
  op_par_loop(partly, "partly", nodes, op_arg_dat(px, -1, OP_ID, DIMS, "double", OP_READ),
              op_arg_dat(py, -1, OP_ID, 1, "double", OP_WRITE));
  // An argument --texts leaves out what has none.
  const bool all = argc < 2 || strcmp(argv[1], "--texts") != 0;
  for (int loop = 0; loop < 4; loop++) {
    if (loop == 1 && all)
      op_par_loop(with_global, "with_global", nodes, op_arg_dat(px, -1, OP_ID, DIMS, "double", OP_READ),
                  op_arg_dat(py, -1, OP_ID, 1, "double", OP_WRITE));
    if (loop == 2)
      op_par_loop(loud, "loud", nodes, op_arg_dat(px, -1, OP_ID, DIMS, "double", OP_READ),
                  op_arg_dat(py, -1, OP_ID, 1, "double", OP_INC));
    if (loop == 3)
      op_par_loop(shared, "shared", nodes, op_arg_dat(px, -1, OP_ID, DIMS, "double", OP_READ),
                  op_arg_dat(py, -1, OP_ID, 1, "double", OP_WRITE));
    undeclared++;
    op_fetch_data(py, y.data());
    for (double one : y)
      sum[loop] += one;
  }
  const op_counters_t *counters = op2jit_counters();
  printf("%.9g %.9g %.9g %.9g %.9g\n", largest, sum[0], sum[1], sum[2], sum[3]);
  printf("compiled %s\n", counters->compiles + counters->cache_hits > 0 ? "yes" : "no");
  op_exit();
  return wrong != 0;
}
