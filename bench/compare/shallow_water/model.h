/* The shallow-water equations on a periodic staggered grid: u_t - ZV + H_x = 0, v_t + ZU + H_y = 0,
 * p_t + U_x + V_y = 0 with U = pu, V = pv, Z = (v_x - u_y)/p, H = p + (u^2 + v^2)/2; leapfrog in time
 * with a filter that keeps the two time levels together. */
#ifndef SHALLOW_WATER_MODEL_H
#define SHALLOW_WATER_MODEL_H

/* For those that do not include the sample. */
#ifndef SHALLOW_WATER_SAMPLE
struct model {
  int m, n;         /* points in x and in y */
  double dt;        /* seconds; of the first step, later ones are leaps over two of them */
  double dx, dy;    /* metres */
  double smoothing; /* of the filter */
};

struct model model_make(int m, int n);
/* The state at the start, m x n, n fastest. */
void model_initial(const struct model *model, double *u, double *v, double *p);

/* The factors of one step. */
struct model_factors {
  double fsdx, fsdy, tdts8, tdtsdx, tdtsdy, smoothing;
};
struct model_factors model_factors_of(const struct model *model, int step);

/* Root of the mean of (x - from)^2. */
double model_rms(const struct model *model, const double *x, double from);
double model_mean(const struct model *model, const double *x);

enum { MODEL_MEAN_PRESSURE = 50000 };
#endif

#endif
