/* The same bits on a device (OP2_REPRODUCIBLE): a mesh whose elements meet in every way runs in blocks of other sizes, with
 * other numbers of elements, layouts and orders of blocks, from an empty cache and from a full one, and each time all data and globals
 * are compared, bit by bit, with what a program does that goes through the elements in the order of their numbers.
 *
 *   test_same BACKEND all|one|planted|unequal [WORDS ...]
 *
 * `one` runs with the words for op_init that follow, `all` with each of many; with ranks each has a share of everything, and may
 * part it anew. `planted` sums by atomic operations, without the variable, and has to differ, and with it has to be refused;
 * `unequal` is the first of these with ranks. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/exact.h"
#include "op2jit.h"

enum {
  WIDE = 29,
  HIGH = 23,
  CELLS = WIDE * HIGH,
  EDGES = 2 * CELLS,
  LISTS = 60,
  MOST = 5,
  ROUNDS = 3,
  EACH = 2,
  GUESTS = EACH * CELLS
};

/* ---- the mesh, and what is computed by hand ---- */

static int ends[2 * EDGES], targets[LISTS * MOST];
static long long offsets[LISTS + 1];

struct data {
  double x[CELLS], r[2 * CELLS], q[2 * CELLS], low[CELLS], met[CELLS], z[2 * CELLS], sums[2], away[2], least,
      visited, farthest;
  float narrow[CELLS], high[CELLS], total, most;
};
static struct data first, expected, got;

static uint64_t chance = 88172645463325252u;
static uint64_t drawn(void) {
  chance ^= chance << 13;
  chance ^= chance >> 7;
  chance ^= chance << 17;
  return chance;
}

/* A value of either sign, from 2^-21 to 2^20. */
static double number(void) {
  const double v = ldexp((double)(drawn() >> 11) + 1, -53 - 20 + (int)(drawn() % 41));
  return drawn() % 2 ? v : -v;
}

static void make(void) {
  int order[EDGES];
  for (int e = 0; e < EDGES; e++)
    order[e] = e;
  for (int e = EDGES - 1; e > 0; e--) {
    const int other = (int)(drawn() % (unsigned)(e + 1)), was = order[e];
    order[e] = order[other];
    order[other] = was;
  }
  for (int c = 0; c < CELLS; c++)
    for (int up = 0; up < 2; up++) {
      int *const to = ends + 2 * order[2 * c + up];
      to[0] = c;
      to[1] = up ? (c + WIDE) % CELLS : c % WIDE + 1 < WIDE ? c + 1 : c + 1 - WIDE;
    }
  for (int l = 0; l < LISTS; l++) {
    offsets[l + 1] = offsets[l] + 1 + (long long)(drawn() % MOST);
    for (long long k = offsets[l]; k < offsets[l + 1]; k++)
      targets[k] = (int)(drawn() % 40);
  }
  for (int c = 0; c < CELLS; c++) {
    first.x[c] = number();
    first.narrow[c] = (float)number();
    first.low[c] = c % 7 ? number() : 0.0;
    first.high[c] = (float)number();
    first.met[c] = number();
    first.q[2 * c] = number();
    first.q[2 * c + 1] = number();
  }
  for (int i = 0; i < 2 * CELLS; i++)
    first.z[i] = (drawn() % 2 ? 1 : -1) * (1 + (double)(drawn() >> 12) * 0x1p-52);
  for (int i = 0; i < 2; i++) { /* with ranks the first one has them */
    first.z[6 + i] = i ? 0x1p80 : 0x1p40;
    first.z[20 + i] = -first.z[6 + i];
  }
  first.x[5] = -0.0;
  first.x[6] = 0.0;
  first.least = first.sums[0] = first.sums[1] = 0.1;
}

/* A value to be rounded is in memory: no compiler joins or widens it. */
static double kept(double v) {
  volatile double memory = v;
  return memory;
}
static float kept_float(float v) {
  volatile float memory = v;
  return memory;
}

static const char flux[] = OP_KERNEL(void flux(const double *a, const double *b, double *ra, double *rb) {
  const double f = *a * *b + *a;
  ra[0] += f;
  ra[0] += *b * 0.3;
  ra[1] -= f;
  rb[0] -= f;
  rb[1] += *b * 0.7;
  rb[1] += f;
});

static void flux_by_hand(struct data *d) {
  for (int e = 0; e < EDGES; e++) {
    const int to[2] = {ends[2 * e], ends[2 * e + 1]};
    const double a = d->x[to[0]], b = d->x[to[1]], f = kept(kept(a * b) + a);
    const double adds[2][2] = {{kept(f + kept(b * 0.3)), -f}, {-f, kept(kept(b * 0.7) + f)}};
    for (int k = 0; k < 2; k++)
      for (int i = 0; i < 2; i++)
        d->r[2 * to[k] + i] = kept(d->r[2 * to[k] + i] + adds[k][i]);
  }
}

static const char advance[] = OP_KERNEL(void advance(double *r, double *q, const float *n, double *sums,
                                                     double *least, float *total, float *most) {
  q[0] += r[0] * 0.01;
  q[0] += 0.1;
  q[1] -= r[1] * 0.01;
  sums[0] += r[0];
  sums[1] += r[1] * r[1];
  if (r[0] < *least)
    *least = r[0];
  *total += *n;
  if (*n > *most)
    *most = *n;
  r[0] = 0;
  r[1] = r[1] * 0.5;
});

static void advance_by_hand(struct data *d) {
  struct exact sums[2] = {0}, total = {0};
  for (int c = 0; c < CELLS; c++) {
    double *r = d->r + 2 * c, *q = d->q + 2 * c;
    q[0] = kept(q[0] + kept(kept(r[0] * 0.01) + 0.1));
    q[1] = kept(q[1] + -kept(r[1] * 0.01));
    exact_add_value(&sums[0], r[0]);
    exact_add_value(&sums[1], kept(r[1] * r[1]));
    exact_add_value(&total, d->narrow[c]);
    exact_extremum(false, 1, &d->least, r[0]);
    d->most = d->narrow[c] > d->most ? d->narrow[c] : d->most;
    r[0] = 0;
    r[1] = kept(r[1] * 0.5);
  }
  for (int i = 0; i < 2; i++)
    d->sums[i] = kept(d->sums[i] + exact_value(&sums[i]));
  d->total = kept_float(d->total + kept_float((float)exact_value(&total)));
}

/* Zeros of both signs are among them: the first of equal ones stays. */
static const char limits[] =
    OP_KERNEL(void limits(const double *x, const float *n, double *low, float *high) {
      if (*x < *low)
        *low = *x;
      if (*n > *high)
        *high = *n;
    });

static void limits_by_hand(struct data *d) {
  for (int e = 0; e < EDGES; e++) {
    const int from = ends[2 * e], to = ends[2 * e + 1];
    d->low[to] = d->x[from] < d->low[to] ? d->x[from] : d->low[to];
    d->high[to] = d->narrow[from] > d->high[to] ? d->narrow[from] : d->high[to];
  }
}

static const char meet[] = OP_KERNEL(void meet(const double *x, double *met) { *met = *met * 0.75 + *x; });

static void meet_by_hand(struct data *d) {
  for (int e = 0; e < EDGES; e++) {
    double *met = d->met + ends[2 * e + 1];
    *met = kept(kept(*met * 0.75) + d->x[ends[2 * e]]);
  }
}

/* Elements that meet, and results of them: with ranks they are where the cell is in which they meet. */
static const char visit[] = OP_KERNEL(void visit(const double *w, double *met, double *sum, double *most) {
  *met = *met * 0.5 + *w;
  *sum += *met;
  if (*met > *most)
    *most = *met;
});

static void visit_by_hand(struct data *d) {
  struct exact sum = {0};
  for (int g = 0; g < GUESTS; g++) {
    double *met = d->met + g / EACH;
    *met = kept(kept(*met * 0.5) + first.q[g]);
    exact_add_value(&sum, *met);
    d->farthest = *met > d->farthest ? *met : d->farthest;
  }
  d->visited = kept(d->visited + exact_value(&sum));
}

/* Values so far apart that the last bits of most are cut off: whoever has the largest one. */
static const char reach[] = OP_KERNEL(void reach(const double *z, double *away) {
  away[0] += z[0];
  away[1] += z[1];
});

static void reach_by_hand(struct data *d) {
  for (int i = 0; i < 2; i++) {
    struct exact sum = {0};
    const double cut = i ? 0x1p-18 : 0x1p-50;
    for (int c = 0; c < CELLS; c++)
      exact_add_value(&sum, trunc(first.z[2 * c + i] / cut) * cut);
    d->away[i] = kept(d->away[i] + exact_value(&sum));
  }
}

static const char scatter[] = OP_KERNEL(void scatter(const double *w, int n, double **to) {
  for (int k = 0; k < n; k++)
    OP_ROW(to, k)[0] += *w * (k + 1);
});

static void scatter_by_hand(struct data *d) {
  for (int l = 0; l < LISTS; l++)
    for (long long k = offsets[l]; k < offsets[l + 1]; k++)
      d->x[targets[k]] = kept(d->x[targets[k]] + kept(first.x[100 + l] * (double)(k - offsets[l] + 1)));
}

static void by_hand(void) {
  expected = first;
  for (int i = 0; i < ROUNDS; i++) {
    flux_by_hand(&expected);
    advance_by_hand(&expected);
    limits_by_hand(&expected);
    meet_by_hand(&expected);
    visit_by_hand(&expected);
    reach_by_hand(&expected);
    scatter_by_hand(&expected);
  }
}

/* ---- the same with the library ---- */

struct mesh {
  op_set cells, edges, lists, guests;
  op_map ec, lc, gc;
  op_dat x, r, q, low, met, narrow, high, w, v, z;
};

static op_arg direct(op_dat dat, int dim, const char *type, op_access access) {
  return op_arg_dat(dat, -1, OP_ID, dim, type, access);
}

static int run_flux(const struct mesh *m) {
  return op_par_loop(flux, "flux", m->edges, op_arg_dat(m->x, 0, m->ec, 1, "double", OP_READ),
                     op_arg_dat(m->x, 1, m->ec, 1, "double", OP_READ),
                     op_arg_dat(m->r, 0, m->ec, 2, "double", OP_INC),
                     op_arg_dat(m->r, 1, m->ec, 2, "double", OP_INC));
}

static void run_advance(const struct mesh *m) {
  op_par_loop(advance, "advance", m->cells, direct(m->r, 2, "double", OP_RW),
              direct(m->q, 2, "double", OP_INC), direct(m->narrow, 1, "float", OP_READ),
              op_arg_gbl(got.sums, 2, "double", OP_INC), op_arg_gbl(&got.least, 1, "double", OP_MIN),
              op_arg_gbl(&got.total, 1, "float", OP_INC), op_arg_gbl(&got.most, 1, "float", OP_MAX));
}

static void run_round(const struct mesh *m) {
  run_flux(m);
  run_advance(m);
  op_par_loop(limits, "limits", m->edges, op_arg_dat(m->x, 0, m->ec, 1, "double", OP_READ),
              op_arg_dat(m->narrow, 0, m->ec, 1, "float", OP_READ),
              op_arg_dat(m->low, 1, m->ec, 1, "double", OP_MIN),
              op_arg_dat(m->high, 1, m->ec, 1, "float", OP_MAX));
  op_par_loop(meet, "meet", m->edges, op_arg_dat(m->x, 0, m->ec, 1, "double", OP_READ),
              op_arg_dat(m->met, 1, m->ec, 1, "double", OP_RW));
  op_par_loop(visit, "visit", m->guests, direct(m->v, 1, "double", OP_READ),
              op_arg_dat(m->met, 0, m->gc, 1, "double", OP_RW), op_arg_gbl(&got.visited, 1, "double", OP_INC),
              op_arg_gbl(&got.farthest, 1, "double", OP_MAX));
  op_par_loop(reach, "reach", m->cells, direct(m->z, 2, "double", OP_READ),
              op_arg_gbl(got.away, 2, "double", OP_INC));
  op_par_loop(scatter, "scatter", m->lists, direct(m->w, 1, "double", OP_READ),
              op_arg_dat(m->x, OP_ALL, m->lc, 1, "double", OP_INC));
}

/* The part of n that this rank declares. */
static int share(int n, int *begin) {
  const int rank = op_rank(), ranks = op_rank_count();
  *begin = (int)((long)n * rank / ranks);
  return (int)((long)n * (rank + 1) / ranks) - *begin;
}

static void declare(struct mesh *m) {
  int cell, edge, list;
  long long own[LISTS + 1];
  m->cells = op_decl_set(share(CELLS, &cell), "cells");
  m->edges = op_decl_set(share(EDGES, &edge), "edges");
  const int lists = share(LISTS, &list);
  m->lists = op_decl_set(lists, "lists");
  for (int l = 0; l <= lists; l++)
    own[l] = offsets[list + l] - offsets[list];
  int homes[GUESTS];
  const int cells = share(CELLS, &cell);
  for (int g = 0; g < EACH * cells; g++)
    homes[g] = cell + g / EACH;
  m->guests = op_decl_set(EACH * cells, "guests");
  m->gc = op_decl_map(m->guests, m->cells, 1, homes, "gc");
  m->v = op_decl_dat(m->guests, 1, "double", first.q + EACH * cell, "v");
  m->ec = op_decl_map(m->edges, m->cells, 2, ends + 2 * edge, "ec");
  m->lc = op_decl_map_ragged(m->lists, m->cells, own, targets + offsets[list], "lc");
  m->x = op_decl_dat(m->cells, 1, "double", first.x + cell, "x");
  m->r = op_decl_dat(m->cells, 2, "double", first.r + 2 * cell, "r");
  m->q = op_decl_dat(m->cells, 2, "double", first.q + 2 * cell, "q");
  m->low = op_decl_dat(m->cells, 1, "double", first.low + cell, "low");
  m->met = op_decl_dat(m->cells, 1, "double", first.met + cell, "met");
  m->narrow = op_decl_dat(m->cells, 1, "float", first.narrow + cell, "narrow");
  m->high = op_decl_dat(m->cells, 1, "float", first.high + cell, "high");
  m->z = op_decl_dat(m->cells, 2, "double", first.z + 2 * cell, "z");
  m->w = op_decl_dat(m->lists, 1, "double", first.x + 100 + list, "w");
}

static int differences(const char *what, const void *a, const void *b, size_t bytes, size_t size) {
  int count = 0;
  for (size_t i = 0; i < bytes; i += size)
    count += memcmp((const char *)a + i, (const char *)b + i, size) != 0;
  if (count)
    printf("  %s: %d of %zu values differ\n", what, count, bytes / size);
  return count;
}
#define DIFFER(member, size) differences(#member, got.member, expected.member, sizeof got.member, size)

/* Only what this rank declared may differ. */
#define FETCH(member, values)                                                                                \
  (memcpy(got.member, expected.member, sizeof got.member),                                                   \
   op_fetch_data(m->member, got.member + (values) * (size_t)begin))

static int compare(const struct mesh *m) {
  int begin;
  share(CELLS, &begin);
  FETCH(x, 1);
  FETCH(r, 2);
  FETCH(q, 2);
  FETCH(low, 1);
  FETCH(met, 1);
  FETCH(high, 1);
  return DIFFER(x, 8) + DIFFER(r, 8) + DIFFER(q, 8) + DIFFER(low, 8) + DIFFER(met, 8) + DIFFER(high, 4) +
         DIFFER(sums, 8) + DIFFER(away, 8) + differences("least", &got.least, &expected.least, 8, 8) +
         differences("visited", &got.visited, &expected.visited, 8, 8) +
         differences("farthest", &got.farthest, &expected.farthest, 8, 8) +
         differences("total", &got.total, &expected.total, 4, 4) +
         differences("most", &got.most, &expected.most, 4, 4);
}

static int run(const char *backend, const char *reproducible, const char *words, bool renumbered) {
  char text[300], *argv[16] = {"same"}, *rest = NULL;
  struct mesh m;
  int argc = 1;
  snprintf(text, sizeof text, "OP2_BACKEND=%s %s %s", backend, reproducible, words);
  for (char *word = strtok_r(text, " ", &rest); word && argc < 16; word = strtok_r(NULL, " ", &rest))
    argv[argc++] = word;
  if (op_init(argc, argv, 0) != OP_OK)
    return -1;
  got = first;
  declare(&m);
  if (renumbered && op_rank_count() > 1)
    op_partition("random", "", m.cells, m.ec, NULL);
  if (renumbered)
    op_renumber(m.ec);
  for (int i = 0; i < ROUNDS; i++)
    run_round(&m);
  const int wrong = compare(&m);
  printf("%s%s: %d values differ\n", words, renumbered ? ", renumbered" : "", wrong);
  op_exit();
  return wrong;
}

/* The library keeps kernels in a file of its own here: empty for the first, full for the second. */
static int run_all(const char *backend) {
  static const char *const words[] = {
      "OP2_CACHE=off OP2_TUNE=off",
      "OP2_CACHE=off OP2_TUNE=off OP2_VARIANT=64",
      "OP2_CACHE=off OP2_TUNE=off OP2_VARIANT=512/scalars",
      "OP2_CACHE=off OP2_TUNE=off OP2_VARIANT=128/each4/soa",
      "OP2_CACHE=off OP2_TUNE=off OP2_VARIANT=apart/192",
      "OP2_CACHE=off OP2_TUNE=off OP2_VARIANT=colours/64/each2",
      "OP2_CACHE=off OP2_TUNE=force",
      "OP2_CACHE=off OP2_TUNE=off OP2_LAZY=on OP2_FUSE=on",
      "OP2_CACHE=off OP2_TUNE=off OP2_FP=strict",
      "OP2_CACHE=FILE",
      "OP2_CACHE=FILE",
  };
  char folder[] = "/tmp/op2jit-same-XXXXXX", command[64];
  int wrong = mkdtemp(folder) ? 0 : 1;
  for (size_t i = 0; i < sizeof words / sizeof *words && !wrong; i++)
    for (int renumbered = 0; renumbered < 2; renumbered++) {
      char text[200];
      snprintf(text, sizeof text, "%s", words[i]);
      char *file = strstr(text, "FILE");
      if (file)
        snprintf(file, sizeof text - (size_t)(file - text), "%s/kernels.db", folder);
      wrong += run(backend, "OP2_REPRODUCIBLE=on", text, renumbered) != 0;
    }
  snprintf(command, sizeof command, "rm -r %s", folder);
  return system(command) != 0 || wrong;
}

/* Forms that add in an order of their own are errors. */
static int are_refused(const char *backend) {
  static const char *const forms[] = {"atomics/64", "warps/64", "blocks/64", "staged/64"};
  int wrong = 0;
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    char words[2][64], *argv[] = {"same", words[0], words[1], "OP2_REPRODUCIBLE=on", "OP2_CACHE=off"};
    struct mesh m;
    snprintf(words[0], sizeof words[0], "OP2_BACKEND=%s", backend);
    snprintf(words[1], sizeof words[1], "OP2_VARIANT=flux:%s", forms[i]);
    if (op_init(5, argv, 0) != OP_OK)
      return 1;
    declare(&m);
    const bool refused = run_flux(&m) == OP_ERR_ENV &&
                         strstr(op_last_error()->message, "another order than OP2_REPRODUCIBLE asks for");
    printf("%s is %s\n", forms[i], refused ? "refused" : "not refused");
    wrong += !refused;
    op_exit();
  }
  return wrong;
}

static bool is_unequal(const char *backend) {
  return run(backend, "OP2_REPRODUCIBLE=off", "OP2_CACHE=off OP2_TUNE=off OP2_VARIANT=flux:atomics/64",
             true) > 0;
}

int main(int argc, char **argv) {
  setenv("STANDIN_QUIET", "1", 1);
  if (argc < 3)
    return 2;
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  make();
  by_hand();
  if (strcmp(argv[2], "all") == 0)
    return run_all(argv[1]);
  if (strcmp(argv[2], "planted") == 0)
    return are_refused(argv[1]) || !is_unequal(argv[1]);
  if (strcmp(argv[2], "unequal") == 0)
    return !is_unequal(argv[1]);
  for (int i = 3; i < argc; i++)
    if (run(argv[1], "OP2_REPRODUCIBLE=on", argv[i], i % 2) != 0)
      return 1;
  return 0;
}
