/* Every form of argument for every type, as a table that proves itself. Each cell is a loop of its own whose
 * result is compared element by element. */
#include "every_type.h"

/* Element e of `from` has the targets (e * 3 + 1) mod n and (e + 2) mod n of `to`; both maps of one entry are
 * permutations, so that indirect writes never meet. */
struct mesh {
  int n;
  op_set from, to, one;     /* `one` has one element */
  op_map pair, place, back; /* `back` leads from `to` to `from` */
  const int *pair_table, *place_table;
};

enum {
  DIRECT_WRITE,
  DIRECT_RW,
  INDIRECT_READ,
  VECTOR_READ,
  INDIRECT_WRITE,
  INDIRECT_RW,
  INDIRECT_INC,
  VECTOR_RW,
  DIRECT_INC,
  GLOBAL_READ,
  GLOBAL_WORK,
  GLOBAL_WRITE,
  OPTIONAL_THERE,
  OPTIONAL_ABSENT,
  OPTIONAL_GLOBAL,
  NUMBERS,
  SCALAR_CONSTANT,
  ARRAY_CONSTANT,
  COMPONENTS_APART,
  INDIRECT_APART,
  VECTOR_APART,
  INC_APART,
  VECTOR_WRITE,
  OPTIONAL_INC,
  UPDATED_CONSTANT,
  FORMS
};
static const char *const form_names[FORMS] = {
    "direct, WRITE",
    "direct, RW",
    "through a map, READ",
    "vector, READ",
    "through a map, WRITE",
    "through a map, RW",
    "vector, INC",
    "vector, RW",
    "direct, INC",
    "global, READ",
    "global, WORK",
    "global, WRITE and RW",
    "optional, present",
    "optional, absent",
    "optional global",
    "element numbers",
    "constant",
    "constant array",
    "dim 3, :soa",
    ":soa through a map",
    ":soa vector, READ",
    ":soa vector, INC",
    "vector, WRITE",
    "optional, INC",
    "constant, updated",
};

/* One type: its kernels, its constants, and a function that says which forms are right. Values stay below
 * 128, so that all types hold them; bool turns them into 0 and 1, and so does what is expected. */
#define TYPE(T, S, NAME)                                                                                     \
  static T scalar_##S, array_##S[3];                                                                         \
  OP_KERNEL_DEF(                                                                                             \
      copy_##S, void copy_##S(const T *x, T *y) { *y = *x; })                                                \
  OP_KERNEL_DEF(                                                                                             \
      more_##S, void more_##S(T *x) { *x = (T)(*x + 1); })                                                   \
  OP_KERNEL_DEF(                                                                                             \
      both_##S, void both_##S(const T *x[2], T *y) { *y = (T)(x[0][0] + x[1][0]); })                         \
  OP_KERNEL_DEF(                                                                                             \
      give_##S, void give_##S(const T *x, T *y[2]) {                                                         \
        y[0][0] += *x;                                                                                       \
        y[1][0] += *x;                                                                                       \
      })                                                                                                     \
  OP_KERNEL_DEF(                                                                                             \
      add_##S, void add_##S(const T *x, T *y) { *y += *x; })                                                 \
  OP_KERNEL_DEF(                                                                                             \
      less_##S, void less_##S(T *x[1]) { x[0][0] = (T)(x[0][0] - 1); })                                      \
  OP_KERNEL_DEF(                                                                                             \
      set_##S, void set_##S(T *g, T *h) {                                                                    \
        g[0] = (T)5;                                                                                         \
        g[1] = (T)0;                                                                                         \
        h[0] = (T)(h[0] + 2);                                                                                \
      })                                                                                                     \
  OP_KERNEL_DEF(                                                                                             \
      global_##S, void global_##S(const T *g, T *y) { *y = (T)(g[0] + g[2]); })                              \
  OP_KERNEL_DEF(                                                                                             \
      work_##S, void work_##S(const T *x, T *w, T *y) {                                                      \
        for (int k = 0; k < 4; k++)                                                                          \
          w[k] = *x;                                                                                         \
        *y = w[3];                                                                                           \
      })                                                                                                     \
  OP_KERNEL_DEF(                                                                                             \
      perhaps_##S, void perhaps_##S(const T *x, const T *optional, const int *there, T *y) {                 \
        *y = *there ? *optional : *x;                                                                        \
      })                                                                                                     \
  OP_KERNEL_DEF(                                                                                             \
      numbers_##S,                                                                                           \
      void numbers_##S(const int *own, const int *target, T *y) { *y = (T)((*own + *target) % 50); })        \
  OP_KERNEL_DEF(                                                                                             \
      constant_##S, void constant_##S(T *y) { *y = scalar_##S; })                                            \
  OP_KERNEL_DEF(                                                                                             \
      constants_##S, void constants_##S(T *y) { *y = (T)(array_##S[0] + array_##S[2]); })                    \
  OP_KERNEL_DEF(                                                                                             \
      turn_##S, void turn_##S(const T *x, T *y) {                                                            \
        for (int k = 0; k < 3; k++)                                                                          \
          y[k] = x[2 - k];                                                                                   \
      })                                                                                                     \
  OP_KERNEL_DEF(                                                                                             \
      across_##S, void across_##S(const T *x[2], T *y) {                                                     \
        for (int k = 0; k < 3; k++)                                                                          \
          y[k] = (T)(x[0][k] + x[1][2 - k]);                                                                 \
      })                                                                                                     \
  OP_KERNEL_DEF(                                                                                             \
      apart_##S, void apart_##S(const T *x, T *y[2]) {                                                       \
        for (int k = 0; k < 3; k++) {                                                                        \
          y[0][k] += x[k];                                                                                   \
          y[1][k] += x[2 - k];                                                                               \
        }                                                                                                    \
      })                                                                                                     \
  OP_KERNEL_DEF(                                                                                             \
      put_##S, void put_##S(const T *x, T *y[1]) { y[0][0] = *x; })                                          \
  OP_KERNEL_DEF(                                                                                             \
      perhaps_add_##S, void perhaps_add_##S(const T *x, const int *there, T *y) {                            \
        if (*there)                                                                                          \
          *y += *x;                                                                                          \
      })                                                                                                     \
  static int same_##S(op_dat dat, int count, const T *want) {                                                \
    T *got = array(count, sizeof *got);                                                                      \
    int same = 1;                                                                                            \
    op_fetch_data(dat, got);                                                                                 \
    for (int k = 0; k < count; k++)                                                                          \
      same &= got[k] == want[k];                                                                             \
    free(got);                                                                                               \
    return same;                                                                                             \
  }                                                                                                          \
  static void blank_##S(op_dat dat, int count) {                                                             \
    T *zeros = array(count, sizeof *zeros);                                                                  \
    for (int k = 0; k < count; k++)                                                                          \
      zeros[k] = 0;                                                                                          \
    op_put_data(dat, zeros);                                                                                 \
    free(zeros);                                                                                             \
  }                                                                                                          \
  static void run_##S(const struct mesh *m, int right[FORMS]) {                                              \
    int n = m->n, absent = 0, there = 1;                                                                     \
    T *x = array(3LL * n, sizeof *x), *want = array(3LL * n, sizeof *want), global[3] = {1, 0, 2};           \
    for (int k = 0; k < 3 * n; k++)                                                                          \
      x[k] = (T)(k % 40);                                                                                    \
    scalar_##S = (T)7;                                                                                       \
    array_##S[0] = (T)3;                                                                                     \
    array_##S[2] = (T)8;                                                                                     \
    op_decl_const("scalar_" #S, 1, NAME, &scalar_##S);                                                       \
    op_decl_const("array_" #S, 3, NAME, array_##S);                                                          \
    op_dat a = op_decl_dat_temp(m->from, 1, NAME, x, "a"), b = op_decl_dat_temp(m->to, 1, NAME, x, "b");     \
    op_dat y = op_decl_dat_temp(m->from, 1, NAME, NULL, "y"),                                                \
           z = op_decl_dat_temp(m->to, 1, NAME, NULL, "z");                                                  \
    op_arg read = op_arg_dat(a, -1, OP_ID, 1, NAME, OP_READ);                                                \
    op_arg write = op_arg_dat(y, -1, OP_ID, 1, NAME, OP_WRITE);                                              \
    op_par_loop(OP_KERNEL_OF(copy_##S), "copy_" #S, m->from, read, write);                                   \
    right[DIRECT_WRITE] = same_##S(y, n, x);                                                                 \
    op_par_loop(OP_KERNEL_OF(more_##S), "more_" #S, m->from, op_arg_dat(y, -1, OP_ID, 1, NAME, OP_RW));      \
    for (int e = 0; e < n; e++)                                                                              \
      want[e] = (T)(x[e] + 1);                                                                               \
    right[DIRECT_RW] = same_##S(y, n, want);                                                                 \
    op_par_loop(OP_KERNEL_OF(copy_##S), "copy_" #S, m->from, op_arg_dat(b, 1, m->pair, 1, NAME, OP_READ),    \
                write);                                                                                      \
    for (int e = 0; e < n; e++)                                                                              \
      want[e] = x[m->pair_table[2 * e + 1]];                                                                 \
    right[INDIRECT_READ] = same_##S(y, n, want);                                                             \
    op_par_loop(OP_KERNEL_OF(both_##S), "both_" #S, m->from, op_arg_dat(b, -2, m->pair, 1, NAME, OP_READ),   \
                write);                                                                                      \
    for (int e = 0; e < n; e++)                                                                              \
      want[e] = (T)(x[m->pair_table[2 * e]] + x[m->pair_table[2 * e + 1]]);                                  \
    right[VECTOR_READ] = same_##S(y, n, want);                                                               \
    op_par_loop(OP_KERNEL_OF(copy_##S), "copy_" #S, m->from, read,                                           \
                op_arg_dat(z, 0, m->place, 1, NAME, OP_WRITE));                                              \
    for (int e = 0; e < n; e++)                                                                              \
      want[m->place_table[e]] = x[e];                                                                        \
    right[INDIRECT_WRITE] = same_##S(z, n, want);                                                            \
    op_par_loop(OP_KERNEL_OF(more_##S), "more_" #S, m->from, op_arg_dat(z, 0, m->place, 1, NAME, OP_RW));    \
    for (int e = 0; e < n; e++)                                                                              \
      want[e] = (T)(want[e] + 1);                                                                            \
    right[INDIRECT_RW] = same_##S(z, n, want);                                                               \
    blank_##S(z, n);                                                                                         \
    for (int k = 0; k < n; k++)                                                                              \
      want[k] = 0;                                                                                           \
    op_par_loop(OP_KERNEL_OF(give_##S), "give_" #S, m->from, read,                                           \
                op_arg_dat(z, -2, m->pair, 1, NAME, OP_INC));                                                \
    for (int k = 0; k < 2 * n; k++)                                                                          \
      want[m->pair_table[k]] = (T)(want[m->pair_table[k]] + x[k / 2]);                                       \
    right[INDIRECT_INC] = same_##S(z, n, want);                                                              \
    op_par_loop(OP_KERNEL_OF(less_##S), "less_" #S, m->from, op_arg_dat(z, -1, m->place, 1, NAME, OP_RW));   \
    for (int e = 0; e < n; e++)                                                                              \
      want[e] = (T)(want[e] - 1);                                                                            \
    right[VECTOR_RW] = same_##S(z, n, want);                                                                 \
    blank_##S(y, n);                                                                                         \
    for (int k = 0; k < 2; k++)                                                                              \
      op_par_loop(OP_KERNEL_OF(add_##S), "add_" #S, m->from, read,                                           \
                  op_arg_dat(y, -1, OP_ID, 1, NAME, OP_INC));                                                \
    for (int e = 0; e < n; e++)                                                                              \
      want[e] = (T)(x[e] + x[e]);                                                                            \
    right[DIRECT_INC] = same_##S(y, n, want);                                                                \
    blank_##S(y, n);                                                                                         \
    op_par_loop(OP_KERNEL_OF(global_##S), "global_" #S, m->from, op_arg_gbl(global, 3, NAME, OP_READ),       \
                write);                                                                                      \
    for (int e = 0; e < n; e++)                                                                              \
      want[e] = (T)3;                                                                                        \
    right[GLOBAL_READ] = same_##S(y, n, want);                                                               \
    blank_##S(y, n);                                                                                         \
    op_par_loop(OP_KERNEL_OF(work_##S), "work_" #S, m->from, read, op_arg_gbl(NULL, 4, NAME, OP_WORK),       \
                write);                                                                                      \
    right[GLOBAL_WORK] = same_##S(y, n, x);                                                                  \
    T written[2] = {1, 1}, changed = 0;                                                                      \
    op_par_loop(OP_KERNEL_OF(set_##S), "set_" #S, m->one, op_arg_gbl(written, 2, NAME, OP_WRITE),            \
                op_arg_gbl(&changed, 1, NAME, OP_RW));                                                       \
    right[GLOBAL_WRITE] = written[0] == (T)5 && written[1] == (T)0 && changed == (T)2;                       \
    op_par_loop(OP_KERNEL_OF(perhaps_##S), "perhaps_" #S, m->from, read,                                     \
                op_opt_arg_dat(1, b, 0, m->place, 1, NAME, OP_READ), op_arg_gbl(&there, 1, "int", OP_READ),  \
                write);                                                                                      \
    for (int e = 0; e < n; e++)                                                                              \
      want[e] = x[m->place_table[e]];                                                                        \
    right[OPTIONAL_THERE] = same_##S(y, n, want);                                                            \
    op_par_loop(OP_KERNEL_OF(perhaps_##S), "perhaps_" #S, m->from, read,                                     \
                op_opt_arg_dat(0, NULL, 0, m->place, 1, NAME, OP_READ),                                      \
                op_arg_gbl(&absent, 1, "int", OP_READ), write);                                              \
    right[OPTIONAL_ABSENT] = same_##S(y, n, x);                                                              \
    blank_##S(y, n);                                                                                         \
    op_par_loop(OP_KERNEL_OF(perhaps_##S), "perhaps_" #S, m->from, read,                                     \
                op_opt_arg_gbl(1, global + 2, 1, NAME, OP_READ), op_arg_gbl(&there, 1, "int", OP_READ),      \
                write);                                                                                      \
    for (int e = 0; e < n; e++)                                                                              \
      want[e] = global[2];                                                                                   \
    right[OPTIONAL_GLOBAL] = same_##S(y, n, want);                                                           \
    op_par_loop(OP_KERNEL_OF(perhaps_##S), "perhaps_" #S, m->from, read,                                     \
                op_opt_arg_gbl(0, NULL, 1, NAME, OP_READ), op_arg_gbl(&absent, 1, "int", OP_READ), write);   \
    right[OPTIONAL_GLOBAL] &= same_##S(y, n, x);                                                             \
    op_par_loop(OP_KERNEL_OF(numbers_##S), "numbers_" #S, m->from, op_arg_idx(-1, OP_ID),                    \
                op_arg_idx(1, m->pair), write);                                                              \
    for (int e = 0; e < n; e++)                                                                              \
      want[e] = (T)((e + m->pair_table[2 * e + 1]) % 50);                                                    \
    right[NUMBERS] = same_##S(y, n, want);                                                                   \
    blank_##S(y, n);                                                                                         \
    op_par_loop(OP_KERNEL_OF(constant_##S), "constant_" #S, m->from, write);                                 \
    for (int e = 0; e < n; e++)                                                                              \
      want[e] = (T)7;                                                                                        \
    right[SCALAR_CONSTANT] = same_##S(y, n, want);                                                           \
    blank_##S(y, n);                                                                                         \
    op_par_loop(OP_KERNEL_OF(constants_##S), "constants_" #S, m->from, write);                               \
    for (int e = 0; e < n; e++)                                                                              \
      want[e] = (T)11;                                                                                       \
    right[ARRAY_CONSTANT] = same_##S(y, n, want);                                                            \
    op_dat in = op_decl_dat_temp(m->from, 3, NAME ":soa", x, "in");                                          \
    op_dat out = op_decl_dat_temp(m->from, 3, NAME ":soa", NULL, "out");                                     \
    op_par_loop(OP_KERNEL_OF(turn_##S), "turn_" #S, m->from, op_arg_dat(in, -1, OP_ID, 3, NAME, OP_READ),    \
                op_arg_dat(out, -1, OP_ID, 3, NAME, OP_WRITE));                                              \
    for (int k = 0; k < 3 * n; k++)                                                                          \
      want[k] = x[k / 3 * 3 + 2 - k % 3];                                                                    \
    right[COMPONENTS_APART] = same_##S(out, 3 * n, want);                                                    \
    blank_##S(out, 3 * n);                                                                                   \
    op_par_loop(OP_KERNEL_OF(turn_##S), "turn_" #S, m->to, op_arg_dat(in, 0, m->back, 3, NAME, OP_READ),     \
                op_arg_dat(out, 0, m->back, 3, NAME, OP_WRITE));                                             \
    right[INDIRECT_APART] = same_##S(out, 3 * n, want);                                                      \
    op_dat far = op_decl_dat_temp(m->to, 3, NAME ":soa", x, "far");                                          \
    op_dat sums = op_decl_dat_temp(m->to, 3, NAME ":soa", NULL, "sums");                                     \
    op_par_loop(OP_KERNEL_OF(across_##S), "across_" #S, m->from,                                             \
                op_arg_dat(far, -2, m->pair, 3, NAME, OP_READ),                                              \
                op_arg_dat(out, -1, OP_ID, 3, NAME, OP_WRITE));                                              \
    for (int k = 0; k < 3 * n; k++) {                                                                        \
      const int *targets = m->pair_table + k / 3 * 2;                                                        \
      want[k] = (T)(x[3 * targets[0] + k % 3] + x[3 * targets[1] + 2 - k % 3]);                              \
    }                                                                                                        \
    right[VECTOR_APART] = same_##S(out, 3 * n, want);                                                        \
    for (int k = 0; k < 3 * n; k++)                                                                          \
      want[k] = 0;                                                                                           \
    for (int k = 0; k < 3 * n; k++) {                                                                        \
      T *one = want + 3 * m->pair_table[k / 3 * 2], *other = want + 3 * m->pair_table[k / 3 * 2 + 1];        \
      one[k % 3] = (T)(one[k % 3] + x[k]);                                                                   \
      other[2 - k % 3] = (T)(other[2 - k % 3] + x[k]);                                                       \
    }                                                                                                        \
    op_par_loop(OP_KERNEL_OF(apart_##S), "apart_" #S, m->from, op_arg_dat(in, -1, OP_ID, 3, NAME, OP_READ),  \
                op_arg_dat(sums, -2, m->pair, 3, NAME, OP_INC));                                             \
    right[INC_APART] = same_##S(sums, 3 * n, want);                                                          \
    blank_##S(z, n);                                                                                         \
    op_par_loop(OP_KERNEL_OF(put_##S), "put_" #S, m->from, read,                                             \
                op_arg_dat(z, -1, m->place, 1, NAME, OP_WRITE));                                             \
    for (int e = 0; e < n; e++)                                                                              \
      want[m->place_table[e]] = x[e];                                                                        \
    right[VECTOR_WRITE] = same_##S(z, n, want);                                                              \
    blank_##S(z, n);                                                                                         \
    op_par_loop(OP_KERNEL_OF(perhaps_add_##S), "perhaps_add_" #S, m->from, read,                             \
                op_arg_gbl(&there, 1, "int", OP_READ), op_opt_arg_dat(1, z, 0, m->place, 1, NAME, OP_INC));  \
    op_par_loop(OP_KERNEL_OF(perhaps_add_##S), "perhaps_add_" #S, m->from, read,                             \
                op_arg_gbl(&absent, 1, "int", OP_READ), op_opt_arg_dat(0, z, 0, m->place, 1, NAME, OP_INC)); \
    right[OPTIONAL_INC] = same_##S(z, n, want);                                                              \
    scalar_##S = (T)0;                                                                                       \
    op_update_const("scalar_" #S, &scalar_##S);                                                              \
    op_par_loop(OP_KERNEL_OF(constant_##S), "constant_" #S, m->from, write);                                 \
    for (int e = 0; e < n; e++)                                                                              \
      want[e] = (T)0;                                                                                        \
    right[UPDATED_CONSTANT] = same_##S(y, n, want);                                                          \
    op_free_dat_temp(far);                                                                                   \
    op_free_dat_temp(sums);                                                                                  \
    op_free_dat_temp(a);                                                                                     \
    op_free_dat_temp(b);                                                                                     \
    op_free_dat_temp(y);                                                                                     \
    op_free_dat_temp(z);                                                                                     \
    op_free_dat_temp(in);                                                                                    \
    op_free_dat_temp(out);                                                                                   \
    free(x);                                                                                                 \
    free(want);                                                                                              \
  }

EACH_TYPE(TYPE)

struct type_run {
  const char *name;
  void (*run)(const struct mesh *mesh, int right[FORMS]);
};
#define RUN_OF(T, S, NAME) {NAME, run_##S},
static const struct type_run types[] = {EACH_TYPE(RUN_OF)};
enum { TYPES = sizeof types / sizeof *types };

static struct mesh make_mesh(int n, int *pair, int *place) {
  struct mesh made = {.n = n, .pair_table = pair, .place_table = place};
  for (int e = 0; e < n; e++) {
    pair[2 * e] = (int)((3LL * e + 1) % n);
    pair[2 * e + 1] = (e + 2) % n;
    place[e] = n - 1 - e;
  }
  made.from = op_decl_set(here(n), "from");
  made.to = op_decl_set(here(n), "to");
  made.one = op_decl_set(here(1), "one");
  made.pair = op_decl_map(made.from, made.to, 2, pair, "pair");
  made.place = op_decl_map(made.from, made.to, 1, place, "place");
  made.back = op_decl_map(made.to, made.from, 1, place, "back");
  op_partition("block", "", made.from, NULL, NULL);
  return made;
}

static int run(int n) {
  int *pair = array(2LL * n, sizeof *pair), *place = array(n, sizeof *place), right[TYPES][FORMS], wrong = 0;
  struct mesh mesh = make_mesh(n, pair, place);
  for (int t = 0; t < TYPES; t++)
    types[t].run(&mesh, right[t]);
  op_printf("%-24s", "");
  for (int t = 0; t < TYPES; t++)
    op_printf("%8s", types[t].name);
  op_printf("\n");
  for (int f = 0; f < FORMS; f++) {
    op_printf("%-24s", form_names[f]);
    for (int t = 0; t < TYPES; t++) {
      op_printf("%8s", right[t][f] ? "right" : "WRONG");
      wrong += !right[t][f];
    }
    op_printf("\n");
  }
  free(pair);
  free(place);
  op_printf("types: %d wrong entries in the table: %s\n", wrong, wrong ? "FAILED" : "PASSED");
  return wrong > 0;
}

int main(int argc, char **argv) {
  int n = 1009;
  for (int a = 1; a + 1 < argc; a++)
    if (!strcmp(argv[a], "--size"))
      n = atoi(argv[a + 1]);
  if (op_init(argc, argv, 1))
    return 2;
  const int wrong = run(n);
  return op_exit() || wrong;
}
