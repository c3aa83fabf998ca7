#include "known.h"

#include <math.h>
#include <stdio.h>

enum known_what { RMS_P, RMS_U, RMS_V, LEAST_P, MOST_P, P_AT, U_AT, V_AT };
static const char *const known_names[] = {
    [RMS_P] = "rms of p - 50000", [RMS_U] = "rms of u",    [RMS_V] = "rms of v",    [LEAST_P] = "the least p",
    [MOST_P] = "the most p",      [P_AT] = "p at a point", [U_AT] = "u at a point", [V_AT] = "v at a point",
};
struct known {
  int size, steps;
  enum known_what what;
  int at; /* in both directions: (at, at) */
  double value;
};
static const struct known known[] = {
    {64, 0, RMS_P, 0, 2.409571554184522e-01},      {64, 0, RMS_U, 0, 4.906767570160013e-01},
    {64, 0, P_AT, 0, 50000.48191430422},           {128, 0, RMS_P, 0, 6.023928886270970e-02},
    {64, 1, RMS_P, 0, 2.409571558691376e-01},      {64, 1, U_AT, 16, 9.608196604636533e-02},
    {64, 1, P_AT, 16, 4.999951808569578e+04},      {64, 100, RMS_P, 0, 2.440642611721077e-01},
    {64, 100, P_AT, 0, 5.000046161717566e+04},     {64, 100, U_AT, 16, 9.592004549360561e-02},
    {64, 100, V_AT, 16, -9.622401546822458e-02},   {64, 4000, RMS_P, 0, 2.396412450552056e-01},
    {64, 4000, LEAST_P, 0, 49999.520348865815},    {64, 4000, MOST_P, 0, 50000.477461773233},
    {64, 4000, P_AT, 0, 5.000047746131985e+04},    {64, 4000, P_AT, 16, 4.999952034957785e+04},
    {64, 4000, U_AT, 16, 9.621939642604713e-02},   {128, 1, U_AT, 32, 2.407691128760756e-02},
    {128, 100, RMS_P, 0, 6.028021275361733e-02},   {128, 100, P_AT, 0, 5.000011936561529e+04},
    {128, 100, U_AT, 32, 2.410065519092905e-02},   {128, 100, V_AT, 32, -2.405206495926914e-02},
    {128, 4000, RMS_P, 0, 6.056895173073957e-02},  {128, 4000, RMS_U, 0, 2.454122912394374e-01},
    {128, 4000, RMS_V, 0, 2.454122912394404e-01},  {128, 4000, LEAST_P, 0, 49999.878840941412},
    {128, 4000, MOST_P, 0, 50000.121109376778},    {128, 4000, P_AT, 0, 5.000011903242458e+04},
    {128, 4000, P_AT, 32, 4.999988091095030e+04},  {128, 4000, P_AT, 64, 5.000011903204690e+04},
    {128, 4000, U_AT, 32, 2.406456118830781e-02},  {128, 4000, V_AT, 32, -2.408814119143085e-02},
    {256, 1000, RMS_P, 0, 1.508072570530934e-02},  {256, 1000, U_AT, 64, 6.021285479075648e-03},
    {256, 1000, P_AT, 0, 5.000003002872205e+04},   {512, 1000, RMS_P, 0, 3.764501598959592e-03},
    {512, 1000, U_AT, 128, 1.505515291165158e-03}, {1024, 200, RMS_P, 0, 9.412290067640175e-04},
    {1024, 200, U_AT, 256, 3.765179967365940e-04},
};

static double found_value(const struct known *k, const struct model *model, const double *u, const double *v,
                          const double *p) {
  const int count = model->m * model->n, at = k->at * model->n + k->at;
  double least = INFINITY, most = -INFINITY;
  switch (k->what) {
  case RMS_P: return model_rms(model, p, MODEL_MEAN_PRESSURE);
  case RMS_U: return model_rms(model, u, 0);
  case RMS_V: return model_rms(model, v, 0);
  case P_AT: return p[at];
  case U_AT: return u[at];
  case V_AT: return v[at];
  default: break;
  }
  for (int i = 0; i < count; i++) {
    least = fmin(least, p[i]);
    most = fmax(most, p[i]);
  }
  return k->what == LEAST_P ? least : most;
}

/* Pressures have 50000 in them, velocities are small. */
void known_check(struct check *check, const struct model *model, int steps, const double *u, const double *v,
                 const double *p) {
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    const struct known *k = &known[i];
    if (k->size != model->m || k->size != model->n || k->steps != steps)
      continue;
    char what[64];
    snprintf(what, sizeof what, "%s against the benchmark", known_names[k->what]);
    check_at_most(check, what, fabs(found_value(k, model, u, v, p) - k->value),
                  k->what == U_AT || k->what == V_AT ? 1e-10 : 1e-8);
  }
}
