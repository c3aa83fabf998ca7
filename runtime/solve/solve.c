#include "solve/solve.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/list.h"
#include "base/whereami.h"
#include "context/context.h"
#include "context/env.h"
#include "ranks/agree.h"

int solving_open(struct op_context *ctx, int argc, char **argv, struct error *err) {
  const size_t count = argc > 0 ? (size_t)argc : 0;
  struct solving *s = calloc(1, sizeof *s);
  ctx->solving = s;
  if (s)
    s->argv = array_new(count + 1, sizeof *s->argv);
  if (!s || !s->argv)
    return error_memory(err, "the program's arguments", (count + 1) * sizeof *s->argv);
  for (; s->argc < argc; s->argc++)
    if (!(s->argv[s->argc] = strdup(argv[s->argc])))
      return error_memory(err, "the program's arguments", strlen(argv[s->argc]));
  return OP_OK;
}

void solving_free(struct solving *s) {
  if (!s)
    return;
  for (int i = 0; s->argv && i < s->argc; i++)
    free(s->argv[i]);
  free(s->argv);
  free(s);
}

/* Under another MPI the two would be strangers in one process. */
static int check_mpi(const struct comm *comm, const struct solver_table *table, struct error *err) {
  if (comm->fortran == -1 || strcmp(comm->table->name, table->mpi) == 0)
    return OP_OK;
  return error_set(err, OP_ERR_MPI,
                   "PETSc is there for %s only, and this program runs under %s; start it with the "
                   "mpirun of %s",
                   table->mpi, comm->table->name, table->mpi);
}

static int open_at(struct op_context *ctx, const char *path, const struct solver_table **out,
                   struct error *err) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *why = dlerror();
    return error_set(err, OP_ERR_FILE, "the PETSc plugin does not open: %s", why ? why : "no reason given");
  }
  const struct solver_table *table = dlsym(library, "op2jit_solver_table");
  int code = OP_OK;
  if (!table || table->version != SOLVER_TABLE_VERSION)
    code = error_set(err, OP_ERR_FILE,
                     "%s is not the PETSc plugin of this version of op2jit; install both together", path);
  if (!code)
    code = check_mpi(ctx->comm, table, err);
  if (code)
    dlclose(library);
  else
    *out = table;
  return code;
}

int solving_table(struct op_context *ctx, const char *call, const struct solver_table **out,
                  struct error *err) {
  struct solving *s = ctx->solving;
  struct text path = {0};
  int code = OP_OK;
  if (!s->table) {
    code = plugin_path("op2jit-petsc-real.so", env_value(ctx->env, ENV_PLUGINS), &path, err);
    if (code == OP_ERR_NOT_BUILT)
      error_prefix(err, "there are no solvers (Debian: op2jit-petsc; to build them petsc-dev, meson option "
                        "-Dpetsc=enabled): ");
    if (!code)
      code = open_at(ctx, text_str(&path), out, err);
    if (code)
      error_prefix(err, "%s: ", call);
    text_free(&path);
    code = agree_on_success(ctx->comm, code, err);
    if (!code)
      s->table = *out;
  }
  *out = s->table;
  return code;
}
