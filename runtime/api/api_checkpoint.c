/* Checkpoints, as far as the program speaks of them. */
#include "op2jit_checkpoint.h"

#include "api/api.h"
#include "checkpoint/tell.h"
#include "ranks/agree.h"

int op2jit_checkpoint(void) {
  struct op_context *ctx = api_enter("op_checkpoint", KEEP);
  if (!ctx)
    return api_refused();
  const int code = api_agree("op_checkpoint\n");
  return api_leave(code ? code : checkpoint_here(ctx, api_error()));
}

int op2jit_checkpoint_keep(void) {
  struct op_context *ctx = api_enter("op_checkpoint_keep", KEEP);
  if (!ctx)
    return api_refused();
  checkpoint_keep(ctx);
  return api_leave_local(OP_OK);
}

int op2jit_checkpoint_facts(op_checkpoint_facts_t *out) {
  struct op_context *ctx = api_enter("op_checkpoint_facts", KEEP);
  if (!ctx)
    return api_refused();
  if (!out)
    return api_leave_local(error_set(api_error(), OP_ERR_ARGUMENT,
                                     "op_checkpoint_facts: the address for the facts is NULL; expected one"));
  checkpoint_facts(ctx, out);
  return api_leave_local(OP_OK);
}
