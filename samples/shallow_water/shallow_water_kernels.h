/* The kernels of shallow_water.c, which includes this file and gives it to the library. */
/* Mass fluxes, potential vorticity and height. Neighbours: east, west, north, south. */
static void fluxes(const double *p, const double *p_w, const double *p_s, const double *p_sw, const double *u,
                   const double *u_s, const double *u_e, const double *v, const double *v_w,
                   const double *v_n, double *cu, double *cv, double *z, double *h, const double *fsdx,
                   const double *fsdy) {
  *cu = 0.5 * (*p + *p_w) * *u;
  *cv = 0.5 * (*p + *p_s) * *v;
  *z = (*fsdx * (*v - *v_w) - *fsdy * (*u - *u_s)) / (*p_sw + *p_s + *p + *p_w);
  *h = *p + 0.25 * (*u_e * *u_e + *u * *u + *v_n * *v_n + *v * *v);
}

static void leap(const double *z, const double *z_n, const double *z_e, const double *cv, const double *cv_n,
                 const double *cv_nw, const double *cv_w, const double *cu, const double *cu_e,
                 const double *cu_s, const double *cu_se, const double *h, const double *h_w,
                 const double *h_s, const double *uold, const double *vold, const double *pold, double *unew,
                 double *vnew, double *pnew, const double *tdts8, const double *tdtsdx,
                 const double *tdtsdy) {
  *unew = *uold + *tdts8 * (*z_n + *z) * (*cv_n + *cv_nw + *cv_w + *cv) - *tdtsdx * (*h - *h_w);
  *vnew = *vold - *tdts8 * (*z_e + *z) * (*cu_e + *cu + *cu_s + *cu_se) - *tdtsdy * (*h - *h_s);
  *pnew = *pold - *tdtsdx * (*cu_e - *cu) - *tdtsdy * (*cv_n - *cv);
}

static void filter(double *u, double *v, double *p, double *uold, double *vold, double *pold,
                   const double *unew, const double *vnew, const double *pnew, const double *alpha) {
  *uold = *u + *alpha * (*unew - 2 * *u + *uold);
  *vold = *v + *alpha * (*vnew - 2 * *v + *vold);
  *pold = *p + *alpha * (*pnew - 2 * *p + *pold);
  *u = *unew;
  *v = *vnew;
  *p = *pnew;
}
