/* The reports of op_timing_output, op_diagnostic_output and op_exit. */
#ifndef OP2JIT_REPORT_H
#define OP2JIT_REPORT_H

#include "base/error.h"
#include "base/text.h"

struct op_context;
struct loop;

int context_timing(struct op_context *ctx, struct text *out, struct error *err);
/* The same for other programs: as JSON, and a line for each loop. */
int context_json(struct op_context *ctx, struct text *out, struct error *err);
int context_csv(struct op_context *ctx, struct text *out, struct error *err);
int context_diagnostics(struct op_context *ctx, struct text *out, struct error *err);
int context_check_plans(struct op_context *ctx, int level, struct error *err);
/* Checks OP2_TIMING's value at op_init, and that its file can be written, so that no long run is for nothing. */
int context_check_timing(struct op_context *ctx, struct error *err);
/* To the standard output, which is emptied to see whether it takes it: a warning if not. */
void context_print(const struct op_context *ctx, const struct text *report);
/* Writes at op_exit what OP2_TIMING asks for. */
int context_report(struct op_context *ctx, struct error *err);
/* The root prints the findings of OP2_CHECK=list on all ranks: OP_ERR_VIOLATION if there are any. Collective. */
int context_findings(struct op_context *ctx, struct error *err);
/* Prints the findings of this rank so far, before an error ends the program. */
void context_print_findings(const struct op_context *ctx);

#endif
