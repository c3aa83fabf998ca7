#include "value.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const struct vtype_info vtypes[V_TYPES] = {
    [V_DOUBLE] = {"double", NULL, sizeof(double), true, -256, 256},
    [V_FLOAT] = {"float", NULL, sizeof(float), true, -256, 256},
    [V_INT] = {"int", NULL, sizeof(int), false, -65536, 65536},
    [V_UINT] = {"unsigned int", "uint", sizeof(unsigned), false, 0, 4294967295.0},
    [V_LL] = {"long long", "ll", sizeof(long long), false, -1099511627776.0, 1099511627776.0},
    [V_ULL] = {"unsigned long long", "ull", sizeof(unsigned long long), false, 0, 1099511627776.0},
    [V_BOOL] = {"bool", NULL, sizeof(bool), false, 0, 1},
    [V_CHAR] = {"char", NULL, sizeof(char), false, CHAR_MIN, CHAR_MAX},
    [V_SHORT] = {"short", NULL, sizeof(short), false, -32768, 32767},
};

double pc_gamma = 1.25, pc_shape[3] = {0.5, -2, 3.75};
int pc_limit = 17;
long long pc_steps[2] = {-5, 1000003};
float pc_small = 0.25f;
const struct constant constants[CONSTANTS] = {
    {"pc_gamma", V_DOUBLE, 1, &pc_gamma}, {"pc_shape", V_DOUBLE, 3, pc_shape},
    {"pc_limit", V_INT, 1, &pc_limit},    {"pc_steps", V_LL, 2, pc_steps},
    {"pc_small", V_FLOAT, 1, &pc_small},
};

/* For each type: what to do with a variable `x` of it that is read from `at`. */
#define EACH_TYPE(type, at, DO)                                                                              \
  switch (type) {                                                                                            \
  case V_DOUBLE: DO(double, at); break;                                                                      \
  case V_FLOAT: DO(float, at); break;                                                                        \
  case V_INT: DO(int, at); break;                                                                            \
  case V_UINT: DO(unsigned, at); break;                                                                      \
  case V_LL: DO(long long, at); break;                                                                       \
  case V_ULL: DO(unsigned long long, at); break;                                                             \
  case V_BOOL: DO(bool, at); break;                                                                          \
  case V_CHAR: DO(char, at); break;                                                                          \
  case V_SHORT: DO(short, at); break;                                                                        \
  case V_TYPES: break;                                                                                       \
  }

struct value value_load(enum vtype type, const void *at) {
  struct value v = {0, 0};
#define LOAD(T, at)                                                                                          \
  do {                                                                                                       \
    T x;                                                                                                     \
    memcpy(&x, at, sizeof x);                                                                                \
    if (vtypes[type].floating)                                                                               \
      v.f = (double)x;                                                                                       \
    else                                                                                                     \
      v.w = (long long)x;                                                                                    \
  } while (0)
  EACH_TYPE(type, at, LOAD)
  return v;
}

void value_store(enum vtype type, void *at, struct value v) {
#define STORE(T, at)                                                                                         \
  do {                                                                                                       \
    T x = vtypes[type].floating ? (T)v.f : (T)v.w;                                                           \
    memcpy(at, &x, sizeof x);                                                                                \
  } while (0)
  EACH_TYPE(type, at, STORE)
}

void value_add(enum vtype type, void *at, struct value v, bool minus) {
  unsigned char step[8];
  value_store(type, step, v);
  struct value a = value_load(type, at), b = value_load(type, step);
  a.f += minus ? -b.f : b.f;
  unsigned long long x = (unsigned long long)a.w, y = (unsigned long long)b.w;
  a.w = (long long)(minus ? x - y : x + y);
  value_store(type, at, a);
}

bool value_less(enum vtype type, const void *a, const void *b) {
  bool less = false;
#define LESS(T, unused)                                                                                      \
  do {                                                                                                       \
    T x, y;                                                                                                  \
    memcpy(&x, a, sizeof x);                                                                                 \
    memcpy(&y, b, sizeof y);                                                                                 \
    less = x < y;                                                                                            \
  } while (0)
  EACH_TYPE(type, a, LESS)
  return less;
}

bool value_same(enum vtype type, const void *a, const void *b, double tolerance) {
  if (memcmp(a, b, vtypes[type].size) == 0)
    return true;
  if (!vtypes[type].floating)
    return false;
  double x = value_load(type, a).f, y = value_load(type, b).f;
  return x == y || fabs(x - y) <= tolerance * (1 + fabs(x));
}

bool value_in_range(enum vtype type, const void *at) {
  const struct value v = value_load(type, at);
  const double x = vtypes[type].floating ? v.f : (double)v.w;
  return x >= vtypes[type].low && x <= vtypes[type].high;
}

bool value_tame(enum vtype type, const void *at) {
  const double x = value_load(type, at).f;
  return value_in_range(type, at) &&
         (!vtypes[type].floating || ldexp(x, VALUE_BITS) == floor(ldexp(x, VALUE_BITS)));
}

void value_random(enum vtype type, void *at, struct random *r) {
  const struct vtype_info *t = &vtypes[type];
  struct value v = {0, 0};
  if (t->floating)
    v.f = random_between(r, -1024, 1024) / 4.0;
  else if (random_chance(r, 70)) /* small numbers meet each other and zero more often */
    v.w = random_between(r, t->low < 0 ? -9 : 0, t->high < 9 ? (int)t->high : 9);
  else
    v.w = (long long)t->low + (long long)(random_next(r) % (unsigned long long)(t->high - t->low + 1));
  value_store(type, at, v);
}

int value_print(enum vtype type, const void *at, char *out, size_t size) {
  struct value v = value_load(type, at);
  if (type == V_ULL)
    return snprintf(out, size, "%lluu", (unsigned long long)v.w);
  return vtypes[type].floating ? snprintf(out, size, "%.17g", v.f) : snprintf(out, size, "%lld", v.w);
}
