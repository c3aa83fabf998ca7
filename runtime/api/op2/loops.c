/* op_par_loop of a kernel that the program's own compiler compiled. */
#include "api/api.h"
#include "loop/loop.h"
#include "mesh/mesh.h"
#include "op2/op2jit_compiled.h"

int op2jit_par_loop_compiled(const op2jit_compiled *compiled, const char *name, op_set set, int nargs,
                             const op_arg args[], const op2jit_origin *origin) {
  struct op_context *ctx = api_enter("op_par_loop", KEEP);
  if (!ctx)
    return api_refused();
  const struct loop_call call = {.text = "",
                                 .name = name,
                                 .set = set,
                                 .nargs = nargs,
                                 .args = args,
                                 .file = origin->file,
                                 .line = origin->line,
                                 .compiled = compiled,
                                 .origin = origin};
  mesh_look_at_constants(ctx);
  int code = loop_run_call(ctx, &call, api_error());
  if (code && *origin->file)
    error_prefix(api_error(), "%s:%d: ", origin->file, origin->line);
  return api_leave(code);
}
