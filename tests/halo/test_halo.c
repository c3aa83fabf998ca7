/* Loops over a rank that is its own neighbour (tests/property/mirror.h), on few dats, so that every order of
 * reading and writing meets halos of every age: against plain arrays, and by counting exchanges. */
#include "../unit.h"
#include <stdlib.h>
#include <string.h>

#include "../property/mirror.h"
#include "api/api.h"
#include "op2jit.h"
#include "record/record.h"

typedef unsigned u;

enum { CELLS = 60, EDGES = 90, ARITY = 2 };

/* ---- the kernels ---- */

OP_KERNEL_DEF(
    inc_far, void inc_far(const unsigned *a, unsigned *x0, unsigned *x1) {
      *x0 += *a;
      *x1 += 3 * *a;
    })
OP_KERNEL_DEF(
    inc_both, void inc_both(unsigned *b, unsigned *x0, unsigned *x1) {
      *b += 1;
      *x0 += 1;
      *x1 += 2;
    })
OP_KERNEL_DEF(
    write_near,
    void write_near(unsigned *b, const unsigned *x0, const unsigned *x1, unsigned *y0, unsigned *y1) {
      *b = *x0 + 5 * *x1;
      *y0 += *b;
      *y1 += 1;
    })
OP_KERNEL_DEF(
    change_near, void change_near(unsigned *a, unsigned *y0, unsigned *y1) {
      *a = 3 * *a + 1;
      *y0 += *a;
      *y1 += 7;
    })
OP_KERNEL_DEF(
    gather, void gather(unsigned *a, const unsigned *x0, const unsigned *x1) { *a = *x0 + 9 * *x1; })
OP_KERNEL_DEF(
    near_only, void near_only(unsigned *b, const unsigned *a) { *b = 2 * *b + *a; })
OP_KERNEL_DEF(
    sum, void sum(const unsigned *b, const unsigned *x0, const unsigned *x1, unsigned *total) {
      *total += *b + *x0 * 3 + *x1;
    })
OP_KERNEL_DEF(
    on_cells, void on_cells(unsigned *x, const unsigned *y) { *x = *x + *y; })
OP_KERNEL_DEF(
    inc_twice, void inc_twice(unsigned *y, unsigned *far, const unsigned *x) {
      *y += *x;
      *far += 11;
    })

OP_KERNEL_DEF(
    use_near, void use_near(const unsigned *near, unsigned *far) { *far += 13 * *near; })

/* ---- the mesh, and its model ---- */

struct model {
  op_set cells, edges;
  op_map ec, cc;
  op_dat a, b, x, y;
  int ec_table[EDGES][ARITY], cc_table[CELLS];
  u ma[EDGES], mb[EDGES], mx[CELLS], my[CELLS];
  struct random r;
};

static void open_mesh(struct model *m, const char *type, uint64_t seed) {
  char *argv[] = {"halo", "OP2_BACKEND=native"};
  memset(m, 0, sizeof *m);
  m->r = random_stream(seed, 0);
  assert_int_equal(op_init(2, argv, 0), OP_OK);
  for (int e = 0; e < EDGES; e++) {
    m->ma[e] = (u)random_next(&m->r), m->mb[e] = (u)random_next(&m->r);
    for (int i = 0; i < ARITY; i++)
      m->ec_table[e][i] = random_below(&m->r, CELLS);
  }
  for (int c = 0; c < CELLS; c++) {
    m->mx[c] = (u)random_next(&m->r), m->my[c] = (u)random_next(&m->r);
    m->cc_table[c] = random_below(&m->r, CELLS);
  }
  m->cells = op_decl_set(CELLS, "cells");
  mirror_set(m->cells, &m->r);
  m->edges = op_decl_set(EDGES, "edges");
  mirror_set(m->edges, &m->r);
  m->ec = op_decl_map(m->edges, m->cells, ARITY, &m->ec_table[0][0], "ec");
  mirror_map(m->ec, &m->r);
  m->cc = op_decl_map(m->cells, m->cells, 1, m->cc_table, "cc");
  mirror_map(m->cc, &m->r);
  m->a = op_decl_dat(m->edges, 1, type, (const void *)m->ma, "a");
  m->b = op_decl_dat(m->edges, 1, type, (const void *)m->mb, "b");
  m->x = op_decl_dat(m->cells, 1, type, (const void *)m->mx, "x");
  m->y = op_decl_dat(m->cells, 1, type, (const void *)m->my, "y");
}

static void check_dat(op_dat dat, const u *model, int size) {
  u got[EDGES];
  assert_int_equal(op_fetch_data(dat, got), OP_OK);
  for (int e = 0; e < size; e++)
    if (got[e] != model[e])
      fail_msg("element %d is %u, should be %u", e, got[e], model[e]);
}

static void check_all(const struct model *m) {
  check_dat(m->a, m->ma, EDGES);
  check_dat(m->b, m->mb, EDGES);
  check_dat(m->x, m->mx, CELLS);
  check_dat(m->y, m->my, CELLS);
}

/* ---- one loop each, in the library and in the model ---- */

#define NEAR(d, access) op_arg_dat(m->d, -1, OP_ID, 1, "uint", access)
#define FAR(d, i, access) op_arg_dat(m->d, i, m->ec, 1, "uint", access)
#define RUN(name, set, ...)                                                                                  \
  assert_int_equal(op_par_loop(OP_KERNEL_OF(name), #name, m->set, __VA_ARGS__), OP_OK)
#define EACH_EDGE(...)                                                                                       \
  for (int e = 0; e < EDGES; e++) {                                                                          \
    const int c0 = m->ec_table[e][0], c1 = m->ec_table[e][1];                                                \
    __VA_ARGS__(void) c0, (void)c1;                                                                          \
  }

static void run_inc_far(struct model *m) {
  RUN(inc_far, edges, NEAR(a, OP_READ), FAR(x, 0, OP_INC), FAR(x, 1, OP_INC));
  EACH_EDGE(inc_far(&m->ma[e], &m->mx[c0], &m->mx[c1]);)
}

static void run_inc_both(struct model *m) {
  RUN(inc_both, edges, NEAR(b, OP_INC), FAR(x, 0, OP_INC), FAR(x, 1, OP_INC));
  EACH_EDGE(inc_both(&m->mb[e], &m->mx[c0], &m->mx[c1]);)
}

static void run_write_near(struct model *m) {
  RUN(write_near, edges, NEAR(b, OP_WRITE), FAR(x, 0, OP_READ), FAR(x, 1, OP_READ), FAR(y, 0, OP_INC),
      FAR(y, 1, OP_INC));
  EACH_EDGE(write_near(&m->mb[e], &m->mx[c0], &m->mx[c1], &m->my[c0], &m->my[c1]);)
}

static void run_change_near(struct model *m) {
  RUN(change_near, edges, NEAR(a, OP_RW), FAR(y, 0, OP_INC), FAR(y, 1, OP_INC));
  EACH_EDGE(change_near(&m->ma[e], &m->my[c0], &m->my[c1]);)
}

static void run_gather(struct model *m) {
  RUN(gather, edges, NEAR(a, OP_WRITE), FAR(x, 0, OP_READ), FAR(x, 1, OP_READ));
  EACH_EDGE(gather(&m->ma[e], &m->mx[c0], &m->mx[c1]);)
}

static void run_near_only(struct model *m) {
  RUN(near_only, edges, NEAR(b, OP_RW), NEAR(a, OP_READ));
  EACH_EDGE(near_only(&m->mb[e], &m->ma[e]);)
}

static void run_sum(struct model *m) {
  u total = 17, model = 17;
  RUN(sum, edges, NEAR(b, OP_READ), FAR(x, 0, OP_READ), FAR(x, 1, OP_READ),
      op_arg_gbl(&total, 1, "uint", OP_INC));
  EACH_EDGE(sum(&m->mb[e], &m->mx[c0], &m->mx[c1], &model);)
  assert_int_equal(total, model);
}

static void run_on_cells(struct model *m) {
  RUN(on_cells, cells, NEAR(x, OP_RW), NEAR(y, OP_READ));
  for (int c = 0; c < CELLS; c++)
    on_cells(&m->mx[c], &m->my[c]);
}

static void run_inc_twice(struct model *m) {
  RUN(inc_twice, cells, NEAR(y, OP_INC), op_arg_dat(m->y, 0, m->cc, 1, "uint", OP_INC), NEAR(x, OP_READ));
  for (int c = 0; c < CELLS; c++)
    inc_twice(&m->my[c], &m->my[m->cc_table[c]], &m->mx[c]);
}

static void run_use_b(struct model *m) {
  RUN(use_near, edges, NEAR(b, OP_READ), FAR(y, 1, OP_INC));
  EACH_EDGE(use_near(&m->mb[e], &m->my[c1]);)
}

static void run_use_y(struct model *m) {
  RUN(use_near, cells, NEAR(y, OP_READ), op_arg_dat(m->x, 0, m->cc, 1, "uint", OP_INC));
  for (int c = 0; c < CELLS; c++)
    use_near(&m->my[c], &m->mx[m->cc_table[c]]);
}

static void run_put(struct model *m) {
  for (int c = 0; c < CELLS; c++)
    m->mx[c] = (u)random_next(&m->r);
  assert_int_equal(op_put_data(m->x, (const void *)m->mx), OP_OK);
}

static void (*const steps[])(struct model *m) = {
    run_inc_far, run_inc_both, run_write_near, run_change_near, run_gather, run_near_only,
    run_sum,     run_on_cells, run_inc_twice,  run_use_b,       run_use_y,  run_put};
enum { STEPS = sizeof steps / sizeof *steps };

TEST(random_sequences) {
  for (uint64_t seed = 0; seed < 200; seed++) {
    struct model m;
    open_mesh(&m, seed % 2 ? "uint" : "uint:soa", seed);
    for (int step = 0; step < 40; step++) {
      steps[random_below(&m.r, STEPS)](&m);
      if (random_chance(&m.r, 10))
        check_all(&m);
    }
    check_all(&m);
    assert_int_equal(op_exit(), OP_OK);
  }
}

/* ---- counting ---- */

static long long exchanges_of(struct model *m, void (*step)(struct model *m)) {
  const long long before = op_counters()->exchanges;
  step(m);
  return op_counters()->exchanges - before;
}

TEST(nothing_is_exchanged_twice) {
  struct model m;
  open_mesh(&m, "uint", 1);
  assert_int_equal(exchanges_of(&m, run_gather), 1); /* x, for the first time */
  assert_int_equal(exchanges_of(&m, run_gather), 0);
  assert_int_equal(exchanges_of(&m, run_sum), 0); /* the same part of x; b is not executed twice */
  assert_int_equal(exchanges_of(&m, run_near_only), 0);
  assert_int_equal(exchanges_of(&m, run_gather), 0); /* a loop over edges alone changes no cell */
  assert_int_equal(exchanges_of(&m, run_on_cells), 0);
  assert_int_equal(exchanges_of(&m, run_gather), 1);  /* which has changed x */
  assert_int_equal(exchanges_of(&m, run_inc_far), 1); /* a, which was written for owned edges only */
  assert_int_equal(exchanges_of(&m, run_inc_far), 0);
  assert_int_equal(exchanges_of(&m, run_gather), 1); /* increments of copies are no values */
  assert_int_equal(op_exit(), OP_OK);
}

TEST(what_is_computed_twice_is_not_exchanged) {
  struct model m;
  open_mesh(&m, "uint", 2);
  run_gather(&m);
  assert_int_equal(exchanges_of(&m, run_change_near), 1); /* the old values of a */
  assert_int_equal(exchanges_of(&m, run_change_near), 0); /* computed here as well */
  assert_int_equal(exchanges_of(&m, run_inc_far), 0);
  assert_int_equal(exchanges_of(&m, run_inc_both), 0); /* increments need no old value */
  assert_int_equal(op_exit(), OP_OK);
}

TEST(one_message_for_all_dats) {
  struct model m;
  open_mesh(&m, "uint", 3);
  run_gather(&m);
  run_put(&m);
  const long long messages = op_counters()->messages, bytes = op_counters()->bytes_sent;
  u total = 0;
  assert_int_equal(
      op_par_loop(OP_KERNEL_OF(sum), "sum", m.edges, op_arg_dat(m.a, -1, OP_ID, 1, "uint", OP_READ),
                  op_arg_dat(m.x, 0, m.ec, 1, "uint", OP_READ), op_arg_dat(m.y, 1, m.ec, 1, "uint", OP_READ),
                  op_arg_gbl(&total, 1, "uint", OP_INC)),
      OP_OK);
  assert_int_equal(op_counters()->messages, messages + 1);
  assert_true(op_counters()->bytes_sent > bytes);
  assert_int_equal(op_exit(), OP_OK);
}

TEST(what_another_map_has_brought_is_not_exchanged) {
  struct model m;
  open_mesh(&m, "uint", 5);
  op_map again = op_decl_map(m.edges, m.cells, ARITY, &m.ec_table[0][0], "again");
  mirror_as(again, m.ec);
  assert_int_equal(exchanges_of(&m, run_gather), 1);
  op_map first = m.ec;
  m.ec = again;
  assert_int_equal(exchanges_of(&m, run_gather), 0);
  run_put(&m);
  assert_int_equal(exchanges_of(&m, run_gather), 1);
  m.ec = first;
  assert_int_equal(exchanges_of(&m, run_gather), 0);
  check_all(&m);
  assert_int_equal(op_exit(), OP_OK);
}

TEST(a_freed_dat_takes_its_messages_along) {
  struct model m;
  open_mesh(&m, "uint", 4);
  for (int i = 0; i < 3; i++) {
    op_dat t = op_decl_dat_temp(m.cells, 1, "uint", NULL, "t");
    assert_int_equal(
        op_par_loop(OP_KERNEL_OF(gather), "gather", m.edges, op_arg_dat(m.a, -1, OP_ID, 1, "uint", OP_WRITE),
                    op_arg_dat(t, 0, m.ec, 1, "uint", OP_READ), op_arg_dat(t, 1, m.ec, 1, "uint", OP_READ)),
        OP_OK);
    assert_int_equal(op_free_dat_temp(t), OP_OK);
  }
  assert_int_equal(op_counters()->exchanges, 3);
  assert_int_equal(op_exit(), OP_OK);
}

OP_KERNEL_DEF(
    take, void take(const float *x, float *a) { *a = *x; })

/* The checking form sees rows that no exchange has brought: here because the loop forgets what it needs. */
TEST(stale_copies_are_found) {
  static struct model m;
  setenv("OP2_CHECK", "on", 1);
  open_mesh(&m, "float", 5);
  unsetenv("OP2_CHECK");
  for (int call = 0; call < 4; call++) {
    const int code =
        op_par_loop(OP_KERNEL_OF(take), "take", m.edges, op_arg_dat(m.x, 0, m.ec, 1, "float", OP_READ),
                    op_arg_dat(m.a, -1, OP_ID, 1, "float", OP_WRITE));
    assert_int_equal(code, call < 3 ? OP_OK : OP_ERR_VIOLATION);
    struct loop **loops = loop_records(api_context());
    assert_non_null(loops);
    assert_int_equal(loops[0]->ready.nneeds, call < 3);
    if (call == 2)
      loops[0]->ready.nneeds = 0;
    free(loops);
  }
  const char *said = op_last_error()->message;
  if (!strstr(said, "loop take, argument 1 (dat \"x\", OP_READ), element ") ||
      !strstr(said,
              " of set \"cells\", which another rank owns, and whose copy here was not brought up to date"))
    fail_msg("%s", said);
  assert_int_equal(op_exit(), OP_OK);
}

int main(void) {
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  return run_these(NULL, NULL);
}
