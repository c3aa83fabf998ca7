/* Every reduction the library has, for every type, as a table that proves itself: sums, minima and maxima into
 * globals of one value and of three, alone and with the place where they occurred or what was there, and sums into
 * data through a map. */
#include "every_type.h"

/* Shared by all types: the mesh. Element e adds to targets e/3 and e/2, so that some have none and
 * others several. */
struct mesh {
  int count;
  op_set elements, targets;
  op_map to;
  const int *table;
};

enum {
  SUM,
  LEAST,
  MOST,
  LEAST_PLACE,
  MOST_PLACE,
  SUM_DAT,
  SUM_DAT3,
  SUM3,
  LEAST3,
  MOST3,
  MOST_CARRIED,
  SUM_OPTIONAL,
  REDUCTIONS
};
static const char *const reduction_names[REDUCTIONS] = {"INC",      "MIN",     "MAX",      "MIN+info",
                                                        "MAX+info", "INC dat", "INC dat3", "INC[3]",
                                                        "MIN[3]",   "MAX[3]",  "MAX+T[3]", "INC opt"};

/* Small numbers, each several times, the smallest and largest first at places that are not the ends; at the
 * start, where minima begin, not zero, where sums and maxima begin. */
static int value_at(int e) {
  return (int)((e + 17LL) * 7919 % 89);
}

/* The kernels of one type, and a function that runs them and says which results are right. Sums of small
 * numbers are exact in floating point, and in integers the same modulo their size in any order. */
#define TYPE(T, S, NAME)                                                                                     \
  OP_KERNEL_DEF(                                                                                             \
      sum_##S, void sum_##S(const T *x, T *sum) { *sum += *x; })                                             \
  OP_KERNEL_DEF(                                                                                             \
      least_##S, void least_##S(const T *x, T *least) {                                                      \
        if (*x < *least)                                                                                     \
          *least = *x;                                                                                       \
      })                                                                                                     \
  OP_KERNEL_DEF(                                                                                             \
      most_##S, void most_##S(const T *x, T *most) {                                                         \
        if (*x > *most)                                                                                      \
          *most = *x;                                                                                        \
      })                                                                                                     \
  OP_KERNEL_DEF(                                                                                             \
      least_at_##S, void least_at_##S(const T *x, const int *e, T *least, int *place) {                      \
        if (*x < *least) {                                                                                   \
          *least = *x;                                                                                       \
          *place = *e;                                                                                       \
        }                                                                                                    \
      })                                                                                                     \
  OP_KERNEL_DEF(                                                                                             \
      most_at_##S, void most_at_##S(const T *x, const int *e, T *most, int *place) {                         \
        if (*x > *most) {                                                                                    \
          *most = *x;                                                                                        \
          *place = *e;                                                                                       \
        }                                                                                                    \
      })                                                                                                     \
  OP_KERNEL_DEF(                                                                                             \
      scatter_##S, void scatter_##S(const T *x, T *one, T *other) {                                          \
        *one += *x;                                                                                          \
        *other += *x;                                                                                        \
      })                                                                                                     \
  OP_KERNEL_DEF(                                                                                             \
      scatter3_##S, void scatter3_##S(const T *x, T *y[2]) {                                                 \
        for (int n = 0; n < 3; n++) {                                                                        \
          y[0][n] += *x;                                                                                     \
          y[1][n] += *x;                                                                                     \
        }                                                                                                    \
      })                                                                                                     \
  OP_KERNEL_DEF(                                                                                             \
      three_##S, void three_##S(const T *x, T *sum, T *least, T *most) {                                     \
        for (int n = 0; n < 3; n++) {                                                                        \
          sum[n] += x[n];                                                                                    \
          if (x[n] < least[n])                                                                               \
            least[n] = x[n];                                                                                 \
          if (x[n] > most[n])                                                                                \
            most[n] = x[n];                                                                                  \
        }                                                                                                    \
      })                                                                                                     \
  OP_KERNEL_DEF(                                                                                             \
      carry_##S, void carry_##S(const T *x, const T *three, T *most, T *carried) {                           \
        if (*x > *most) {                                                                                    \
          *most = *x;                                                                                        \
          for (int n = 0; n < 3; n++)                                                                        \
            carried[n] = three[n];                                                                           \
        }                                                                                                    \
      })                                                                                                     \
  OP_KERNEL_DEF(                                                                                             \
      perhaps_##S, void perhaps_##S(const T *x, const int *there, T *sum) {                                  \
        if (*there)                                                                                          \
          *sum += *x;                                                                                        \
      })                                                                                                     \
  /* Components that differ, and their sums, minima and maxima. */                                           \
  static void run_three_##S(const struct mesh *m, op_dat dat, int most_e, T want_sum, T want_most,           \
                            int right[REDUCTIONS]) {                                                         \
    T *x = array(3LL * m->count, sizeof *x);                                                                 \
    for (int k = 0; k < 3 * m->count; k++)                                                                   \
      x[k] = (T)value_at(5 * k + 1);                                                                         \
    T sum[3] = {0}, least[3], most[3] = {0}, want3[3] = {0}, want_least[3], want_most3[3] = {0};             \
    T carried[3] = {0}, largest = 0, one = 0, none = 0;                                                      \
    int there = 1, absent = 0;                                                                               \
    for (int n = 0; n < 3; n++)                                                                              \
      least[n] = want_least[n] = x[n];                                                                       \
    for (int k = 0; k < 3 * m->count; k++) {                                                                 \
      want3[k % 3] = (T)(want3[k % 3] + x[k]);                                                               \
      want_least[k % 3] = x[k] < want_least[k % 3] ? x[k] : want_least[k % 3];                               \
      want_most3[k % 3] = x[k] > want_most3[k % 3] ? x[k] : want_most3[k % 3];                               \
    }                                                                                                        \
    op_arg from = op_arg_dat(dat, -1, OP_ID, 1, NAME, OP_READ);                                              \
    op_dat dat3 = op_decl_dat_temp(m->elements, 3, NAME, x, "x3 of " NAME);                                  \
    op_arg from3 = op_arg_dat(dat3, -1, OP_ID, 3, NAME, OP_READ);                                            \
    op_par_loop(OP_KERNEL_OF(three_##S), "three_" #S, m->elements, from3, op_arg_gbl(sum, 3, NAME, OP_INC),  \
                op_arg_gbl(least, 3, NAME, OP_MIN), op_arg_gbl(most, 3, NAME, OP_MAX));                      \
    op_par_loop(OP_KERNEL_OF(carry_##S), "carry_" #S, m->elements, from, from3,                              \
                op_arg_gbl(&largest, 1, NAME, OP_MAX), op_arg_info(carried, 3, NAME, 3));                    \
    op_par_loop(OP_KERNEL_OF(perhaps_##S), "perhaps_" #S, m->elements, from,                                 \
                op_arg_gbl(&there, 1, "int", OP_READ), op_opt_arg_gbl(1, &one, 1, NAME, OP_INC));            \
    op_par_loop(OP_KERNEL_OF(perhaps_##S), "perhaps_" #S, m->elements, from,                                 \
                op_arg_gbl(&absent, 1, "int", OP_READ), op_opt_arg_gbl(0, &none, 1, NAME, OP_INC));          \
    right[SUM3] = right[LEAST3] = right[MOST3] = 1;                                                          \
    right[MOST_CARRIED] = largest == want_most;                                                              \
    right[SUM_OPTIONAL] = one == want_sum && none == (T)0;                                                   \
    for (int n = 0; n < 3; n++) {                                                                            \
      right[SUM3] &= sum[n] == want3[n];                                                                     \
      right[LEAST3] &= least[n] == want_least[n];                                                            \
      right[MOST3] &= most[n] == want_most3[n];                                                              \
      right[MOST_CARRIED] &= carried[n] == (most_e < 0 ? (T)0 : x[3 * most_e + n]);                          \
    }                                                                                                        \
    op_free_dat_temp(dat3);                                                                                  \
    free(x);                                                                                                 \
  }                                                                                                          \
  static void run_##S(const struct mesh *m, int right[REDUCTIONS]) {                                         \
    T *x = array(m->count, sizeof *x), *y = array(3LL * m->count, sizeof *y);                                \
    T *want = array(m->count, sizeof *want);                                                                 \
    memset(want, 0, (size_t)m->count * sizeof *want);                                                        \
    for (int e = 0; e < m->count; e++)                                                                       \
      x[e] = (T)value_at(e);                                                                                 \
    T sum = (T)0, want_sum = (T)0, least = x[0], most = (T)0, want_least = x[0], want_most = (T)0;           \
    T least2 = x[0], most2 = (T)0;                                                                           \
    int least_e = -1, most_e = -1, want_least_e = -1, want_most_e = -1;                                      \
    for (int e = 0; e < m->count; e++) {                                                                     \
      want_sum = (T)(want_sum + x[e]);                                                                       \
      if (x[e] < want_least) {                                                                               \
        want_least = x[e];                                                                                   \
        want_least_e = e;                                                                                    \
      }                                                                                                      \
      if (x[e] > want_most) {                                                                                \
        want_most = x[e];                                                                                    \
        want_most_e = e;                                                                                     \
      }                                                                                                      \
      for (int k = 0; k < 2; k++)                                                                            \
        want[m->table[2 * e + k]] = (T)(want[m->table[2 * e + k]] + x[e]);                                   \
    }                                                                                                        \
    op_dat dat = op_decl_dat_temp(m->elements, 1, NAME, x, "x of " NAME);                                    \
    op_dat dat1 = op_decl_dat_temp(m->targets, 1, NAME, NULL, "y of " NAME);                                 \
    op_dat dat3 = op_decl_dat_temp(m->targets, 3, NAME, NULL, "y3 of " NAME);                                \
    op_arg from = op_arg_dat(dat, -1, OP_ID, 1, NAME, OP_READ), number = op_arg_idx(-1, OP_ID);              \
    op_par_loop(OP_KERNEL_OF(sum_##S), "sum_" #S, m->elements, from, op_arg_gbl(&sum, 1, NAME, OP_INC));     \
    op_par_loop(OP_KERNEL_OF(least_##S), "least_" #S, m->elements, from,                                     \
                op_arg_gbl(&least, 1, NAME, OP_MIN));                                                        \
    op_par_loop(OP_KERNEL_OF(most_##S), "most_" #S, m->elements, from, op_arg_gbl(&most, 1, NAME, OP_MAX));  \
    op_par_loop(OP_KERNEL_OF(least_at_##S), "least_at_" #S, m->elements, from, number,                       \
                op_arg_gbl(&least2, 1, NAME, OP_MIN), op_arg_info(&least_e, 1, "int", 3));                   \
    op_par_loop(OP_KERNEL_OF(most_at_##S), "most_at_" #S, m->elements, from, number,                         \
                op_arg_gbl(&most2, 1, NAME, OP_MAX), op_arg_info(&most_e, 1, "int", 3));                     \
    op_par_loop(OP_KERNEL_OF(scatter_##S), "scatter_" #S, m->elements, from,                                 \
                op_arg_dat(dat1, 0, m->to, 1, NAME, OP_INC), op_arg_dat(dat1, 1, m->to, 1, NAME, OP_INC));   \
    op_par_loop(OP_KERNEL_OF(scatter3_##S), "scatter3_" #S, m->elements, from,                               \
                op_arg_dat(dat3, -2, m->to, 3, NAME, OP_INC));                                               \
    right[SUM] = sum == want_sum;                                                                            \
    right[LEAST] = least == want_least;                                                                      \
    right[MOST] = most == want_most;                                                                         \
    right[LEAST_PLACE] = least2 == want_least && least_e == want_least_e;                                    \
    right[MOST_PLACE] = most2 == want_most && most_e == want_most_e;                                         \
    right[SUM_DAT] = right[SUM_DAT3] = 1;                                                                    \
    op_fetch_data(dat1, y);                                                                                  \
    for (int t = 0; t < m->count; t++)                                                                       \
      right[SUM_DAT] &= y[t] == want[t];                                                                     \
    op_fetch_data(dat3, y);                                                                                  \
    for (int t = 0; t < 3 * m->count; t++)                                                                   \
      right[SUM_DAT3] &= y[t] == want[t / 3];                                                                \
    run_three_##S(m, dat, want_most_e, want_sum, want_most, right);                                          \
    op_free_dat_temp(dat);                                                                                   \
    op_free_dat_temp(dat1);                                                                                  \
    op_free_dat_temp(dat3);                                                                                  \
    free(x);                                                                                                 \
    free(y);                                                                                                 \
    free(want);                                                                                              \
  }

EACH_TYPE(TYPE)

struct type_run {
  const char *name;
  void (*run)(const struct mesh *mesh, int right[REDUCTIONS]);
};
#define RUN_OF(T, S, NAME) {NAME, run_##S},
static const struct type_run types[] = {EACH_TYPE(RUN_OF)};

/* How many entries are wrong. */
static int table_of_types(int count) {
  struct mesh mesh = {.count = count};
  int *table = array(2LL * count, sizeof *table);
  for (int e = 0; e < count; e++) {
    table[2 * e] = e / 3;
    table[2 * e + 1] = e / 2;
  }
  mesh.table = table;
  mesh.elements = op_decl_set(here(count), "elements");
  mesh.targets = op_decl_set(here(count), "targets");
  mesh.to = op_decl_map(mesh.elements, mesh.targets, 2, table, "to");
  op_partition("block", "", mesh.elements, NULL, NULL);
  op_printf("%-8s", "");
  for (int r = 0; r < REDUCTIONS; r++)
    op_printf("%10s", reduction_names[r]);
  op_printf("\n");
  int wrong = 0;
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    int right[REDUCTIONS] = {0};
    types[t].run(&mesh, right);
    op_printf("%-8s", types[t].name);
    for (int r = 0; r < REDUCTIONS; r++) {
      op_printf("%10s", right[r] ? "right" : "WRONG");
      wrong += !right[r];
    }
    op_printf("\n");
  }
  free(table);
  return wrong;
}

int main(int argc, char **argv) {
  int n = 10007;
  for (int a = 1; a + 1 < argc; a++)
    if (!strcmp(argv[a], "--size"))
      n = atoi(argv[a + 1]);
  if (op_init(argc, argv, 1))
    return 2;
  const int wrong = table_of_types(n);
  op_printf("reductions: %d wrong entries in the table: %s\n", wrong, wrong ? "FAILED" : "PASSED");
  return op_exit() || wrong;
}
