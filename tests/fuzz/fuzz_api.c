/* A byte string as a program: declarations, loops and fetches in any order with any handles, numbers and names, on
 * the native backend. Every call returns a status that op_last_error has too, and right loops still work
 * afterwards. */
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "op2jit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever is declared is small, so this is enough for what any call may read or write. */
enum { MOST = 8, SIZES = 32, DIMS = 4, ARITIES = 4, VALUES = SIZES * 16 * 8, STEPS = 200 };

OP_KERNEL_DEF(
    raise, void raise(double *a) { *a += 1; })
OP_KERNEL_DEF(
    add, void add(const double *a, double *b) { *b += *a; })
OP_KERNEL_DEF(
    set, void set(const float *a, double *b) { *b = (double)*a; })
OP_KERNEL_DEF(
    sum, void sum(const double *x[2], double *s) { *s += x[0][0] - x[1][0]; })
OP_KERNEL_DEF(
    number, void number(const int *n, double *a) { *a = *n; })
OP_KERNEL_DEF(
    largest, void largest(const double *a, double *m, int *p, const int *n) {
      if (*a > *m) {
        *m = *a;
        *p = *n;
      }
    })
OP_KERNEL_DEF(
    whole, void whole(int *a, unsigned int *b, char *c) {
      *a += 1;
      *b += 1;
      *c = (char)(*c ^ 1);
    })

static const char *kernel_text(unsigned n) {
  switch (n % 10) {
  case 0: return OP_KERNEL_OF(raise);
  case 1: return OP_KERNEL_OF(add);
  case 2: return OP_KERNEL_OF(set);
  case 3: return OP_KERNEL_OF(sum);
  case 4: return OP_KERNEL_OF(number);
  case 5: return OP_KERNEL_OF(largest);
  case 6: return OP_KERNEL_OF(whole);
  case 7: return "void raise(double *a) { *a += 2; }";
  case 8: return "";
  default: return NULL;
  }
}
static const char *const kernel_names[] = {"raise", "add", "set", "sum", "number", "largest", "whole", NULL};
static const char *const types[] = {"double", "float", "int",   "unsigned int", "uint",      "ll",    "ull",
                                    "bool",   "char",  "short", "char:soa",     "float:soa", "dubel", NULL};

struct program {
  const uint8_t *at, *end;
  op_set sets[MOST];
  op_map maps[MOST];
  op_dat dats[MOST];
  int nsets, nmaps, ndats;
  unsigned char memory[VALUES], *globals;
};

static unsigned next(struct program *p) {
  return p->at < p->end ? *p->at++ : 0;
}

static void expect(int status) {
  const op_error *error = op_last_error();
  if (error->code != status || !error->name || !error->message || (status && !*error->message))
    abort();
}

static void expect_handle(const void *handle) {
  if ((handle != NULL) != (op_last_error()->code == OP_OK))
    abort();
}

/* Mostly one that was declared; else NULL, another kind, or nothing of the library's. */
static void *any_handle(struct program *p, void *const *own, int count) {
  const unsigned n = next(p);
  if (n < 200 && count)
    return own[n % (unsigned)count];
  if (n < 220 && p->nsets)
    return p->sets[n % (unsigned)p->nsets];
  if (n < 240 && p->ndats)
    return p->dats[n % (unsigned)p->ndats];
  return n < 250 ? NULL : (void *)(uintptr_t)(n * 8);
}
#define ANY(p, kind) any_handle(p, (void *const *)(void *)(p)->kind##s, (p)->n##kind##s)

static op_map any_map(struct program *p) {
  return next(p) % 2 ? (op_map)ANY(p, map) : OP_ID;
}

static const char *any_type(struct program *p) {
  return types[next(p) % (sizeof types / sizeof *types)];
}

/* -1 .. DIMS; more is never right, and a dat's row must fit the kernels' variables. */
static int any_dim(struct program *p) {
  return (int)(next(p) % (DIMS + 2)) - 1;
}

/* ---- declarations ---- */

static void declare_set(struct program *p) {
  static const int odd[] = {-1, INT_MIN, 0, 1};
  const unsigned n = next(p);
  op_set set = op_decl_set(n < 240 ? (int)(n % SIZES) : odd[n % 4], n % 3 ? "set" : NULL);
  expect_handle(set);
  if (set && p->nsets < MOST)
    p->sets[p->nsets++] = set;
}

/* Targets 0 .. 15, of which some sets have fewer; the table is as long as any set and arity want. */
static void declare_map(struct program *p) {
  static int table[SIZES * ARITIES];
  static long long wide[SIZES * ARITIES];
  op_set from = ANY(p, set), to = ANY(p, set);
  const int arity = (int)(next(p) % (ARITIES + 2)) - 1;
  const unsigned pattern = next(p);
  for (int i = 0; i < SIZES * ARITIES; i++) {
    table[i] = (int)((pattern % 5 + 1) * (unsigned)i % (pattern % 16 + 1));
    wide[i] = pattern == 77 ? LLONG_MAX : table[i];
  }
  if (pattern == 78)
    table[1] = -1;
  op_map map = pattern % 2 ? op_decl_map(from, to, arity, pattern == 99 ? NULL : table, "map")
                           : op_decl_map_long(from, to, arity, wide, NULL);
  expect_handle(map);
  if (map && p->nmaps < MOST)
    p->maps[p->nmaps++] = map;
}

static void declare_dat(struct program *p) {
  op_set set = ANY(p, set);
  const int dim = any_dim(p);
  const char *type = any_type(p);
  const unsigned n = next(p);
  const void *values = n % 3 ? p->memory : NULL;
  op_dat dat =
      n % 2 ? op_decl_dat(set, dim, type, values, "dat") : op_decl_dat_temp(set, dim, type, values, NULL);
  expect_handle(dat);
  if (dat && p->ndats < MOST)
    p->dats[p->ndats++] = dat;
}

static void declare_constant(struct program *p) {
  static const char *const names[] = {"gam", "x1", "1x", "", "int", NULL};
  const char *name = names[next(p) % 6];
  const unsigned n = next(p);
  const int dim = any_dim(p);
  const char *type = any_type(p);
  expect(n % 4 ? op_decl_const(name, dim, type, n % 7 ? p->memory : NULL)
               : op_update_const(name, n % 7 ? p->memory : NULL));
}

/* ---- the rest ---- */

/* All bytes are taken first: the order in which arguments are evaluated is the compiler's. The kernels use what
 * they are given, so it is absent only where none of them runs. */
static op_arg any_argument(struct program *p, bool may_be_absent) {
  const unsigned form = next(p);
  const int idx = (int)(next(p) % 7) - 3, dim = any_dim(p);
  const op_access access = (op_access)(next(p) % 9);
  const char *type = any_type(p);
  op_map map = any_map(p);
  op_dat dat = ANY(p, dat);
  const int more = (int)(next(p) % 5);
  void *global = form % 11 ? p->globals : NULL;
  switch (form % 8) {
  case 0: return op_arg_gbl(global, dim, type, access);
  case 1: return op_opt_arg_gbl(!may_be_absent || more % 2, global, dim, type, access);
  case 2: return op_arg_idx(map == OP_ID ? -1 : idx, map);
  case 3: return op_arg_info(global, dim, type, more);
  case 4: return op_opt_arg_dat(!may_be_absent || more % 2, dat, idx, map, dim, type, access);
  case 5: return op_arg_dat(dat, idx, map, dim, type, access);
  default: return op_arg_dat(dat, map == OP_ID ? -1 : idx, map, dim, type, access);
  }
}

static void run_loop(struct program *p) {
  op_arg args[4];
  const unsigned kernel = next(p);
  const int nargs = kernel % 10 == 0 ? 1 : (int)(next(p) % 5);
  for (int i = 0; i < nargs && i < 4; i++)
    args[i] = any_argument(p, kernel % 10 > 6);
  memset(p->globals, 0, VALUES);
  op_set set = ANY(p, set);
  expect(op_par_loop_array(kernel_text(kernel), kernel < 240 ? kernel_names[kernel % 10 % 8] : "other", set,
                           nargs == 4 && kernel == 255 ? OP_MAX_ARGS + 1 : nargs, args, __FILE__, __LINE__));
}

static void use_dat(struct program *p) {
  op_dat dat = ANY(p, dat);
  const unsigned n = next(p);
  switch (n % 4) {
  case 0: expect(op_fetch_data(dat, n % 16 ? p->memory : NULL)); break;
  case 1: expect(op_put_data(dat, p->memory)); break;
  case 2: {
    const int low = (int)(next(p) % 40) - 4, high = (int)(next(p) % 40) - 4;
    expect(op_fetch_data_idx(dat, p->memory, low, high));
    break;
  }
  default: expect(op_free_dat_temp(dat)); break;
  }
}

static void ask(struct program *p) {
  const unsigned n = next(p);
  switch (n % 6) {
  case 0: expect_handle(op_get_size(ANY(p, set)) >= 0 ? p : NULL); break;
  case 1: expect(op_renumber(ANY(p, map))); break;
  case 2: {
    op_map map = ANY(p, map);
    op_dat coordinates = ANY(p, dat);
    expect(op_renumber_by(n % 5 ? "hilbert" : "rcb", map, coordinates));
    break;
  }
  case 3: expect(op_plan_check((int)(n / 6))); break;
  case 4: op_counters(); break;
  default: op_update_const("gam", NULL); break;
  }
}

static void step(struct program *p) {
  static void (*const steps[])(struct program *) = {declare_set,      declare_map, declare_dat, declare_dat,
                                                    declare_constant, run_loop,    run_loop,    run_loop,
                                                    use_dat,          ask};
  steps[next(p) % (sizeof steps / sizeof *steps)](p);
}

/* An earlier mistake must not matter to a right loop. */
static void run_right_loop(void) {
  double values[3] = {1, 2, 3}, sum = 0, out[3];
  op_set set = op_decl_set(3, "right");
  op_dat dat = op_decl_dat(set, 1, "double", values, "values");
  if (op_par_loop(OP_KERNEL_OF(raise), "raise", set, op_arg_dat(dat, -1, OP_ID, 1, "double", OP_RW)) ||
      op_par_loop(OP_KERNEL_OF(add), "add", set, op_arg_dat(dat, -1, OP_ID, 1, "double", OP_READ),
                  op_arg_gbl(&sum, 1, "double", OP_INC)) ||
      op_fetch_data(dat, out) || sum != 9 || out[0] != 2 || out[2] != 4)
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct program *p = calloc(1, sizeof *p);
  if (!p || !(p->globals = calloc(1, VALUES))) {
    free(p);
    return 0;
  }
  p->at = data;
  p->end = data + size;
  const bool checked = next(p) % 2;
  char *argv[] = {"fuzz", "OP2_BACKEND=native", "OP2_CACHE=off", "OP2_LOG=error",
                  checked ? "OP2_CHECK=on" : "OP2_CHECK=off"};
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  if (op_init(5, argv, 0) != OP_OK)
    abort();
  for (int i = 0; i < STEPS && p->at < p->end; i++)
    step(p);
  run_right_loop();
  if (op_exit() != OP_OK)
    abort();
  free(p->globals);
  free(p);
  return 0;
}
