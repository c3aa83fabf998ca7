#include "jit/trial.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "include/op2jit.h"

/* ---- the numbers of the text ---- */

static void add_literal(struct made *m, double value) {
  for (int i = 0; i < m->nliterals; i++)
    if (m->literals[i] == value)
      return;
  if (isfinite(value) && m->nliterals < MADE_LITERALS)
    m->literals[m->nliterals++] = value;
}

/* Comments are read too: more numbers do no harm. */
static void read_literals(struct made *m, const char *text) {
  for (const char *at = text; *at;) {
    char *end = NULL;
    if (isalpha((unsigned char)*at) || *at == '_')
      while (isalnum((unsigned char)*at) || *at == '_')
        at++;
    else if (isdigit((unsigned char)*at) || (*at == '.' && isdigit((unsigned char)at[1]))) {
      add_literal(m, strtod(at, &end));
      for (at = end; isalnum((unsigned char)*at) || *at == '.'; at++)
        ;
    } else if (*at == '\'' && at[1] && at[2] == '\'') {
      add_literal(m, at[1]);
      at += 3;
    } else
      at++;
  }
}

void made_open(struct made *m, const struct desc *d) {
  *m = (struct made){0};
  read_literals(m, d->text);
  for (int i = 0; i < d->nconsts; i++)
    for (int c = 0; d->consts[i].value && c < d->consts[i].dim; c++)
      add_literal(m, type_number(d->consts[i].type,
                                 d->consts[i].value + (size_t)c * type_info(d->consts[i].type)->size));
}

/* ---- values ---- */

static unsigned long mixed(unsigned long x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/* A number near one of the text. */
static double near_literal(const struct made *m, unsigned long random) {
  static const double factors[] = {1, 1, 1, -1, 1, 1, 0.99, 1.01}, sums[] = {0, 0, 0, 0, 1, -1, 0, 0};
  const double literal = m->nliterals ? m->literals[(random >> 8) % (unsigned long)m->nliterals] : 1;
  return literal * factors[random % 8] + sums[random % 8];
}

enum { PLAIN = 6, WAYS = 16 };

static double mixture(const struct made *m, unsigned long trial, unsigned long random) {
  const double fraction = (double)(random >> 40) / (double)(1ul << 24);
  const unsigned long way = (random >> 4) % WAYS;
  if (trial % 4 == 0) /* where roots and logarithms are defined */
    return 0.5 + fraction;
  if (way < 3)
    return (double)way - 1;
  if (way == 3)
    return -0.0;
  if (way < 8)
    return floor((fraction - 0.5) * 1024) / 64;
  if (way < 10)
    return floor((fraction - 0.5) * 2000);
  if (way == 10)
    return (fraction - 0.5) / 1000;
  if (way == 11) /* the same at several places */
    return floor((double)(mixed(trial) >> 40) / (double)(1ul << 24) * 20) / 2 - 5;
  return near_literal(m, random);
}

/* Most whole numbers are indices, lengths and kinds of something. */
static double whole(const struct made *m, unsigned long trial, unsigned long random) {
  const unsigned long way = (random >> 4) % WAYS, more = random >> 8;
  if (trial % 4 == 0 || way < 6)
    return (double)(more % 4);
  if (way < 8)
    return (double)(more % 20);
  if (way == 8)
    return -1 - (double)(more % 4);
  if (way == 9)
    return (double)(more % 200);
  return way < 12 ? mixture(m, trial, random) : near_literal(m, random);
}

void made_put(enum type_code type, double value, unsigned char *out) {
  const float narrow = (float)value;
  const bool truth = value != 0;
  if (type == TYPE_DOUBLE)
    memcpy(out, &value, sizeof value);
  else if (type == TYPE_FLOAT)
    memcpy(out, &narrow, sizeof narrow);
  else if (type == TYPE_BOOL)
    memcpy(out, &truth, sizeof truth);
  else {
    /* The low bytes come first. A struct gets 0 or 1 all over, which its members can hold, whatever they are. */
    const size_t size = type_info(type)->size;
    const long long cut = fabs(value) < 9e18 ? (long long)value : 0,
                    number = type_is_struct(type) ? cut & 1 : cut;
    for (size_t at = 0; at < size; at += sizeof number)
      memcpy(out + at, &number, size - at < sizeof number ? size - at : sizeof number);
  }
}

bool made_is_added(enum type_code type, double start, const unsigned char *step, const unsigned char *got) {
  unsigned char want[sizeof(long double)];
  if (!isfinite(type_number(type, step)))
    return true;
  made_put(type, start, want);
  type_combine(type, OP_INC, want, step);
  if (memcmp(want, got, type_info(type)->size) == 0)
    return true;
  const double wanted = type_number(type, want);
  const double tolerance = (type == TYPE_FLOAT ? 1e-2 : 1e-6) * fabs(start);
  return type_info(type)->is_float &&
         (!isfinite(wanted) || fabs(type_number(type, got) - wanted) <= tolerance);
}

void made_value(const struct made *m, unsigned long trial, unsigned place, enum type_code type, bool number,
                unsigned char *out) {
  static const double plain[PLAIN] = {1, 0, -1, 0.5, 2, -3};
  const struct type_info *info = type_info(type);
  const unsigned long random = mixed(mixed(trial) + place);
  double value = trial < PLAIN    ? plain[trial] + (trial >= 3 ? place % 16 : 0)
                 : info->is_float ? mixture(m, trial, random)
                                  : whole(m, trial, random);
  if (number || (!info->is_float && !info->is_signed))
    value = fabs(value);
  made_put(type, value, out);
}
