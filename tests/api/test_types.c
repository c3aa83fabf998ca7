/* Structs of the program as data. */
#include "support.h"

#include <stdbool.h>
#include <unistd.h>

#include "types_in_file.h"

enum { N = 100 };

static op_set cells, edges;
static op_map map;
static op_dat w;
static control chosen = {3, 0.5};

/* clang-format off */
OP_KERNEL_DEF(advance, void advance(struct state *s, const int *number) {
  s->rho += 0.5 * s->u[0];
  s->u[1] = s->u[0] + *number;
  s->kind = *number % 3 ? FLUID : SOLID;
  s->limit.right = 2 * s->limit.left;
  s->tag = 'x';
})
OP_KERNEL_DEF(meet, void meet(const struct state *a, const struct state *b, double *total) {
  *total += a->rho * b->u[0] + (a->kind == SOLID);
})
OP_KERNEL_DEF(all, void all(const struct state *v[2], const struct state *by, struct state *out, double *total) {
  struct state s = *v[0];
  s.u[0] = v[1]->u[1] + by->rho;
  *out = s;
  *total += s.u[0];
})
OP_KERNEL_DEF(steer, void steer(struct state *s) { s->rho = chosen.gain * s->rho + chosen.steps; })
/* clang-format on */

static void declare(void) {
  int table[2 * N];
  struct state first[N] = {{0}};
  for (int i = 0; i < N; i++) {
    first[i] = (struct state){1 + i, {i, 0}, FLUID, {(float)i, 0}, 'a'};
    table[2 * i] = i;
    table[2 * i + 1] = (7 * i + 3) % N;
  }
  works(op_prelude_file("types_in_file.h"));
  works(OP_TYPE(struct state, rho, u, kind, limit.left, limit.right, tag));
  works(OP_TYPE(control, steps, gain));
  cells = op_decl_set(N, "cells");
  edges = op_decl_set(N, "edges");
  map = op_decl_map(edges, cells, 2, table, "map");
  w = op_decl_dat(cells, 1, "struct state", first, "w");
  assert_non_null(w);
}

static struct state expected(int i) {
  return (struct state){1 + i + 0.5 * i, {i, i + i}, i % 3 ? FLUID : SOLID, {(float)i, 2 * (float)i}, 'x'};
}

static void check_state(const struct state *s, int i) {
  const struct state right = expected(i);
  assert_true(s->rho == right.rho && s->u[0] == right.u[0] && s->u[1] == right.u[1] && s->kind == right.kind);
  assert_true(s->limit.left == right.limit.left && s->limit.right == right.limit.right &&
              s->tag == right.tag);
}

static void run_advance(void) {
  works(op_par_loop(OP_KERNEL_OF(advance), "advance", cells, direct(w, 1, "struct state", OP_RW),
                    op_arg_idx(-1, OP_ID)));
}

static double total_of_edges(void) {
  double total = 0;
  works(op_par_loop(OP_KERNEL_OF(meet), "meet", edges, op_arg_dat(w, 0, map, 1, "struct state", OP_READ),
                    op_arg_dat(w, 1, map, 1, "struct state", OP_READ),
                    op_arg_gbl(&total, 1, "double", OP_INC)));
  return total;
}

LIBRARY_TEST(loops_work_on_structs) {
  struct state found[N];
  double right = 0;
  declare();
  run_advance();
  works(op_fetch_data(w, found));
  for (int i = 0; i < N; i++) {
    const struct state a = expected(i), b = expected((7 * i + 3) % N);
    check_state(&found[i], i);
    right += a.rho * b.u[0] + (a.kind == SOLID);
  }
  assert_true(total_of_edges() == right);
}

LIBRARY_TEST(vectors_globals_and_temporaries_may_be_structs) {
  struct state by = {4, {0, 0}, FLUID, {0, 0}, 0}, found[N];
  double total = 0, right = 0;
  declare();
  op_dat out = op_decl_dat_temp(edges, 1, "struct  state", NULL, "out");
  run_advance();
  works(op_par_loop(OP_KERNEL_OF(all), "all", edges, op_arg_dat(w, -2, map, 1, "struct state", OP_READ),
                    op_arg_gbl(&by, 1, "struct state", OP_READ), direct(out, 1, "struct state", OP_WRITE),
                    op_arg_gbl(&total, 1, "double", OP_INC)));
  works(op_fetch_data(out, found));
  for (int i = 0; i < N; i++) {
    assert_true(found[i].rho == expected(i).rho && found[i].tag == 'x');
    assert_true(found[i].u[0] == expected((7 * i + 3) % N).u[1] + 4);
    right += found[i].u[0];
  }
  assert_true(total == right);
  works(op_free_dat_temp(out));
}

LIBRARY_TEST(a_constant_may_be_a_struct) {
  struct state found[N];
  declare();
  chosen = (control){3, 0.5};
  works(op_decl_const("chosen", 1, "control", &chosen));
  for (int i = 0; i < 2; i++)
    works(op_par_loop(OP_KERNEL_OF(steer), "steer", cells, direct(w, 1, "struct state", OP_RW)));
  chosen.steps = 0;
  works(op_update_const("chosen", &chosen));
  works(op_par_loop(OP_KERNEL_OF(steer), "steer", cells, direct(w, 1, "struct state", OP_RW)));
  works(op_fetch_data(w, found));
  for (int i = 0; i < N; i++)
    assert_true(found[i].rho == ((1 + i) * 0.25 + 1.5 + 3) * 0.5);
}

LIBRARY_TEST(another_order_and_apart_are_the_same) {
  struct state found[N], one;
  double right = 0, total;
  declare();
  for (int i = 0; i < N; i++)
    right += (1.0 + i) * ((7 * i + 3) % N);
  op_dat apart = op_decl_dat(cells, 2, "struct state:soa", NULL, "apart");
  assert_non_null(apart);
  works(op_renumber(map));
  total = total_of_edges();
  assert_true(total == right);
  run_advance();
  works(op_fetch_data_idx(w, &one, 7, 7));
  check_state(&one, 7);
  works(op_fetch_data(w, found));
  for (int i = 0; i < N; i++)
    check_state(&found[i], i);
  works(op_put_data(w, found));
}

LIBRARY_TEST(what_is_wrong_with_a_struct_is_said) {
  double total = 0;
  declare();
  struct state g = {0};
  fails(OP_ERR_TYPE, op_par_loop(OP_KERNEL_OF(steer), "steer", cells, direct(w, 1, "double", OP_RW)));
  fails(OP_ERR_ACCESS,
        op_par_loop(OP_KERNEL_OF(steer), "steer", cells, direct(w, 1, "struct state", OP_INC)));
  assert_non_null(strstr(op_last_error()->message, "struct state"));
  fails(OP_ERR_ACCESS,
        op_par_loop(OP_KERNEL_OF(steer), "steer", cells, op_arg_gbl(&g, 1, "struct state", OP_MAX)));
  fails(OP_ERR_TYPE, op_par_loop(OP_KERNEL_OF(steer), "steer", cells, op_arg_gbl(&total, 1, "double", OP_MAX),
                                 op_arg_info(&g, 1, "struct state", 1)));
  fails(OP_ERR_KERNEL, op_par_loop("void steer(struct state *s) { s->rho = 0; }", "steer", cells,
                                   direct(w, 1, "struct state", OP_READ)));
  assert_non_null(strstr(op_last_error()->message, "const struct state *s"));
  fails(OP_ERR_TYPE, OP_TYPE(struct state, rho, u));
}

/* A typedef is unknown to the compiler already where the kernel names it. */
LIBRARY_TEST(a_type_whose_text_is_not_there) {
  typedef struct {
    double left, right;
  } sides;
  const char *backend = getenv("OP2_BACKEND");
  if (!backend || strcmp(backend, "native") == 0)
    return;
  works(OP_TYPE(sides, left, right));
  op_set cells = op_decl_set(2, "cells");
  op_dat dat = op_decl_dat(cells, 1, "sides", NULL, "sides");
  fails(OP_ERR_TYPE,
        op_par_loop("void k(sides *s) { s->left = 1; }", "k", cells, direct(dat, 1, "sides", OP_RW)));
  assert_non_null(strstr(op_last_error()->message, "the text of a struct of OP_TYPE is not there"));
}

static char folder[] = "/tmp/op2jit-types-XXXXXX";

/* Another life of the library with the same cache. */
static void start_with_cache(const char *jit) {
  char cache[64], how[32], program[] = "test";
  char *words[] = {program, cache, how};
  snprintf(cache, sizeof cache, "OP2_CACHE=%s/kernels.db", folder);
  snprintf(how, sizeof how, "OP2_JIT=%s", jit);
  works(op_exit());
  works(op_init(3, words, 0));
}

static void remove_folder(void) {
  static const char *const endings[] = {"", "-wal", "-shm"};
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
    char path[64];
    snprintf(path, sizeof path, "%s/kernels.db%s", folder, endings[i]);
    unlink(path);
  }
  rmdir(folder);
}

/* The layout is a part of the key: code that is found was compiled for it, and nothing looks at it again. Another layout
 * is another key, which is not there. */
LIBRARY_TEST(a_warm_start_compares_the_layout_without_a_compiler) {
  static const op2jit_member wrong[] = {{"rho", "double", 0, 8}, {"u", "double", 8, 16}};
  const char *backend = getenv("OP2_BACKEND");
  if (!backend || strcmp(backend, "native") == 0 || strcmp(backend, "cuda") == 0)
    return;
  assert_non_null(mkdtemp(folder));
  start_with_cache("on");
  declare();
  run_advance();
  assert_int_equal(op_counters()->compiles, 1);
  start_with_cache("load");
  declare();
  run_advance();
  assert_int_equal(op_counters()->compiles, 0);
  assert_int_equal(op_counters()->cache_hits, 1);
  start_with_cache("load");
  works(op_prelude_file("types_in_file.h"));
  works(op2jit_decl_type("struct state", sizeof(struct state), 2, wrong));
  cells = op_decl_set(N, "cells");
  w = op_decl_dat(cells, 1, "struct state", NULL, "w");
  fails(OP_ERR_CACHE_MISS, op_par_loop(OP_KERNEL_OF(advance), "advance", cells,
                                       direct(w, 1, "struct state", OP_RW), op_arg_idx(-1, OP_ID)));
  remove_folder();
}
