/* Loops that the environment names (OP2_CHECK=res_calc, OP2_VARIANT=res_calc:scalar, OP2_CAPTURE=res_calc:7:FILE) and
 * that never ran, and dats (OP2_VARIANT=soa=q) that were never declared: said at op_exit. */
#ifndef OP2JIT_LOOP_NAMES_H
#define OP2JIT_LOOP_NAMES_H

struct op_context;

/* A warning for each name that no loop or dat had, with the nearest that one had. */
void loop_names_warn(const struct op_context *ctx);

#endif
