/* Every construct of the kernel language, and unusual right kernels, by the public calls, on the backend that
 * OP2_BACKEND names, against the C functions called one element after the other (OP2_BACKEND=native). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fill.h"
#include "kernels.h"
#include "right.h"

enum { ELEMENTS = 211, TARGETS = 67, ARITY = 3, LARGEST = 32, ARGS = 8 };

/* All that a loop leaves behind. */
struct outcome {
  int code;
  char message[512];
  _Alignas(16) unsigned char dats[ARGS][ELEMENTS * LARGEST * 8];
  _Alignas(16) unsigned char globals[ARGS][LARGEST * 8];
};

static const char *backend(void) {
  const char *named = getenv("OP2_BACKEND");
  return named ? named : "native";
}

static unsigned seed;

struct mesh {
  op_set elements, targets;
  op_map map;
  op_dat dats[ARGS];
};

static void declare_mesh(struct mesh *m) {
  static int table[ELEMENTS * ARITY];
  for (int e = 0; e < ELEMENTS; e++)
    for (int c = 0; c < ARITY; c++)
      table[e * ARITY + c] = (e * 5 + c * 17 + e / 7) % TARGETS;
  m->elements = op_decl_set(ELEMENTS, "elements");
  m->targets = op_decl_set(TARGETS, "targets");
  m->map = op_decl_map(m->elements, m->targets, ARITY, table, "map");
}

static op_arg make_arg(const struct kernel_case *c, int i, struct mesh *m, bool soa, struct outcome *out) {
  const struct kernel_arg *a = &c->args[i];
  const char *type = type_info(a->type)->name;
  char declared[40];
  switch (a->how) {
  case GLOBAL:
    kernel_fill(&seed, a->type, out->globals[i], a->dim);
    return op_arg_gbl(out->globals[i], a->dim, type, (op_access)a->access);
  case NUMBER: return op_arg_idx(-1, OP_ID);
  case NUMBER_VIA: return op_arg_idx(1, m->map);
  case PAYLOAD: return op_arg_info(out->globals[i], a->dim, type, i);
  default: break;
  }
  if (a->shared) {
    m->dats[i] = m->dats[a->shared - 1];
  } else {
    kernel_fill(&seed, a->type, out->dats[i], (a->how == DIRECT ? ELEMENTS : TARGETS) * a->dim);
    snprintf(declared, sizeof declared, "%s%s", type, soa ? ":soa" : "");
    m->dats[i] =
        op_decl_dat(a->how == DIRECT ? m->elements : m->targets, a->dim, declared, out->dats[i], "dat");
  }
  const int idx = a->how == DIRECT ? -1 : a->how == VECTOR ? -ARITY : (int)a->how - (int)VIA_0;
  return op_arg_dat(m->dats[i], idx, a->how == DIRECT ? OP_ID : m->map, a->dim, type, (op_access)a->access);
}

static bool has_dat(const struct kernel_arg *a) {
  return a->how <= VECTOR && !a->shared;
}

static void run(const struct kernel_case *c, bool native, bool soa, struct outcome *out) {
  char wanted[32];
  char *argv[] = {(char *)(size_t) "test_kernels", wanted, NULL};
  struct mesh m;
  op_arg args[ARGS];
  memset(out, 0, sizeof *out);
  snprintf(wanted, sizeof wanted, "OP2_BACKEND=%s", native ? "native" : backend());
  seed = 77;
  out->code = op_init(2, argv, 0);
  if (!out->code) {
    declare_mesh(&m);
    for (int i = 0; i < c->nargs; i++)
      args[i] = make_arg(c, i, &m, soa, out);
    op_kernel_native(c->text, c->function);
    out->code = op_par_loop_array(c->text, c->name, m.elements, c->nargs, args, __FILE__, __LINE__);
    snprintf(out->message, sizeof out->message, "%s", op_last_error()->message);
    for (int i = 0; i < c->nargs; i++)
      if (has_dat(&c->args[i]) && op_fetch_data(m.dats[i], out->dats[i]) != OP_OK)
        out->code = op_last_error()->code;
    op_exit();
  } else
    snprintf(out->message, sizeof out->message, "%s", op_last_error()->message);
}

static bool near(enum type_code type, const unsigned char *a, const unsigned char *b) {
  if (!type_info(type)->is_float)
    return memcmp(a, b, type_info(type)->size) == 0;
  const double x = type_number(type, a), y = type_number(type, b),
               tolerance = type == TYPE_DOUBLE ? 2e-12 : 1e-4;
  return x == y || (x != x && y != y) || fabs(x - y) <= tolerance * (1 + fabs(x));
}

static bool same(const struct kernel_case *c, const struct outcome *wanted, const struct outcome *got) {
  for (int i = 0; i < c->nargs; i++) {
    const struct kernel_arg *a = &c->args[i];
    const bool dat = has_dat(a), global = (a->how == GLOBAL && a->access != OP_WORK) || a->how == PAYLOAD;
    const size_t size = type_info(a->type)->size;
    const unsigned char *x = dat ? wanted->dats[i] : wanted->globals[i],
                        *y = dat ? got->dats[i] : got->globals[i];
    const int count = dat ? (a->how == DIRECT ? ELEMENTS : TARGETS) * a->dim : global ? a->dim : 0;
    for (int k = 0; k < count; k++)
      if (!near(a->type, x + (size_t)k * size, y + (size_t)k * size)) {
        char p[40], q[40];
        type_print(a->type, x + (size_t)k * size, p, sizeof p);
        type_print(a->type, y + (size_t)k * size, q, sizeof q);
        printf("%s (%s): argument %d, value %d: native has %s, %s has %s\n", c->construct, c->name, i + 1, k,
               p, backend(), q);
        return false;
      }
  }
  return true;
}

/* A GPU refuses what C++ does not have, OpenCL what its C does not have, with a remedy. */
static bool refused_on_gpus(const struct kernel_case *c) {
  static const struct {
    const char *backend, *name;
  } refused[] = {{"cuda", "k_compound"}, {"cuda", "k_vla"},   {"cuda", "k_struct"},     {"hip", "k_compound"},
                 {"hip", "k_vla"},       {"hip", "k_struct"}, {"opencl", "k_compound"}, {"opencl", "k_vla"}};
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
    if (strcmp(backend(), refused[i].backend) == 0 && strcmp(c->name, refused[i].name) == 0)
      return true;
  return false;
}

static bool judge(const struct kernel_case *c, bool soa) {
  static struct outcome wanted, got;
  run(c, true, soa, &wanted);
  run(c, false, soa, &got);
  if (wanted.code) {
    printf("%s (%s): native: %s\n", c->construct, c->name, wanted.message);
    return false;
  }
  if (refused_on_gpus(c) ? got.code != OP_ERR_KERNEL : got.code != OP_OK) {
    printf("%s (%s): %s: code %d, %s\n", c->construct, c->name, backend(), got.code, got.message);
    return false;
  }
  return got.code || same(c, &wanted, &got);
}

int main(void) {
  int failed = 0;
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  for (int i = 0; i < KERNEL_CASES; i++)
    failed += !judge(&kernel_cases[i], i % 2 == 1);
  for (int i = 0; i < RIGHT_CASES; i++)
    failed += !judge(&right_cases[i], i % 2 == 1);
  printf("%d kernels on %s, %d failed\n", KERNEL_CASES + RIGHT_CASES, backend(), failed);
  return failed != 0;
}
