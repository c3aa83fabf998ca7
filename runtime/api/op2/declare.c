/* OP2's declarations where they differ from op2jit's. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/api.h"
#include "api/op2/text.h"
#include "base/list.h"
#include "base/log.h"
#include "base/whereami.h"
#include "loop/balance.h"
#include "mesh/mesh.h"
#include "op2/op2jit_op2.h"
#include "ranks/agree.h"
#include "spread/parts/partition.h"
#include "spread/spread.h"

int op2jit_op2_init(int argc, char **argv, int diags) {
  static const char base[] = "OP_MAPS_BASE_INDEX=";
  const int code = api_init(argc, argv, diags, NULL, true);
  struct op_context *ctx = api_context();
  for (int i = 1; !code && ctx && i < argc; i++)
    if (strncmp(argv[i], base, sizeof base - 1) == 0)
      ctx->maps_base = atoi(argv[i] + sizeof base - 1);
  return code;
}

/* ---- maps that count from 1 ---- */

static int maps_base(void) {
  const struct op_context *ctx = api_context();
  return ctx ? ctx->maps_base : 0;
}

/* NULL where nothing is to be changed, or there is no memory: then the table is refused, as it counts from 1. */
static size_t entries_of(op_set from, int arity) {
  const int size = op2jit_get_size(from);
  return size > 0 && arity > 0 ? (size_t)size * (size_t)arity : 0;
}

op_map op2jit_op2_decl_map(op_set from, op_set to, int arity, const int *table, const char *name) {
  const int base = maps_base();
  const size_t entries = base && table ? entries_of(from, arity) : 0;
  int *shifted = entries ? array_new(entries, sizeof *shifted) : NULL;
  for (size_t i = 0; shifted && i < entries; i++)
    shifted[i] = table[i] - base;
  op_map map = op2jit_decl_map(from, to, arity, shifted ? shifted : table, name);
  free(shifted);
  return map;
}

op_map op2jit_op2_decl_map_long(op_set from, op_set to, int arity, const long long *table, const char *name) {
  const int base = maps_base();
  const size_t entries = base && table ? entries_of(from, arity) : 0;
  long long *shifted = entries ? array_new(entries, sizeof *shifted) : NULL;
  for (size_t i = 0; shifted && i < entries; i++)
    shifted[i] = table[i] - base;
  op_map map = op2jit_decl_map_long(from, to, arity, shifted ? shifted : table, name);
  free(shifted);
  return map;
}

/* ---- constants: kernels read the program's own variables ---- */

int op2jit_op2_decl_const(const char *text, int dim, const char *type, const void *value, const char *is) {
  struct op_context *ctx = api_enter("op_decl_const", FLUSH);
  if (!ctx)
    return api_refused();
  int code = api_error()->code;
  struct text word = {0}, name = {0};
  text += strspn(text, "& (");
  text_add_bytes(&word, text, strcspn(text, " )"));
  /* A constant without a name of its own, or with the name of another one, is known to its kernels all the same. */
  if (!code && text_constant_name(text_str(&word), &name)) {
    struct constant *constant = mesh_find_constant(ctx->mesh, text_str(&name));
    if (constant)
      constant->several |= constant->live != value;
    else if (!(code = mesh_constant(ctx, text_str(&name), dim, type, value, is, api_error())) &&
             whereami_static(value)) /* one on a stack or heap may be gone when it is looked at */
      mesh_find_constant(ctx->mesh, text_str(&name))->live = value;
  }
  text_free(&word);
  text_free(&name);
  return api_leave_local(code);
}

/* ---- owners ---- */

/* A library and method to try. */
struct choice {
  const char *lib, *method;
};

static bool is_word(const char *said, const char *word) {
  return said && strcasecmp(said, word) == 0;
}

static int list_choices(const char *lib, const char *method, const struct partition_call *call,
                        struct choice *out) {
  int n = 0;
  const bool geometric = is_word(method, "GEOM") || is_word(lib, "INERTIAL") || is_word(lib, "GEOM");
  out[n++] = (struct choice){lib, method};
  if (call->map && !geometric)
    out[n++] = (struct choice){"ptscotch", ""};
  if (call->coords)
    out[n++] = (struct choice){"rcb", ""};
  out[n++] = (struct choice){"block", ""};
  return n;
}

static bool is_missing(int code) {
  return code == OP_ERR_METHOD || code == OP_ERR_NOT_BUILT || code == OP_ERR_ARGUMENT || code == OP_ERR_DIM ||
         code == OP_ERR_MAP_SET || code == OP_ERR_TYPE;
}

static int partition(struct op_context *ctx, const char *lib, const char *method, struct partition_call *call,
                     struct error *err) {
  enum { MOST = 4 };
  struct choice choices[MOST];
  const int count = list_choices(lib, method, call, choices);
  int code = OP_OK;
  balance_fill(ctx, call);
  for (int i = 0; i < count; i++) {
    call->lib = choices[i].lib;
    call->method = choices[i].method;
    code = mesh_partition(ctx, call, err);
    if (!is_missing(code) || i + 1 == count)
      break;
    if (ctx->comm->rank == 0 && !comm_alone(ctx->comm))
      log_line(ctx->log, LOG_WARN, "mpi", "%s; %s is tried instead", error_message(err), choices[i + 1].lib);
    error_clear(err);
  }
  free(call->times);
  if (!code)
    balance_parted(ctx, call);
  return code;
}

int op2jit_op2_partition(const char *lib, const char *method, op_set prime, op_map map, op_dat coords) {
  struct op_context *ctx = api_enter("op_partition", FLUSH);
  if (!ctx)
    return api_refused();
  struct partition_call call = {.lib = lib, .method = method};
  int code = api_partition_call(ctx, prime, map, coords, &call);
  /* Without a prime set, or a library, elements stay where they are. */
  if (!code && call.prime && lib && *lib)
    code = partition(ctx, lib, method, &call, api_error());
  if (!code)
    code = mesh_distribute(ctx, api_error());
  return api_leave(code);
}
