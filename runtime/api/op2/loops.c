/* op_par_loop of a kernel that the program's own compiler compiled. */
#include "api/api.h"
#include "loop/loop.h"
#include "op2/op2jit_compiled.h"

int op2jit_par_loop_compiled(const op2jit_compiled *compiled, const char *name, op_set set, int nargs,
                             const op_arg args[], const char *file, int line) {
  struct op_context *ctx = api_enter("op_par_loop", KEEP);
  if (!ctx)
    return api_refused();
  const struct loop_call call = {.text = "",
                                 .name = name,
                                 .set = set,
                                 .nargs = nargs,
                                 .args = args,
                                 .file = file,
                                 .line = line,
                                 .compiled = compiled};
  int code = loop_run_call(ctx, &call, api_error());
  if (code && file && *file)
    error_prefix(api_error(), "%s:%d: ", file, line);
  return api_leave(code);
}
