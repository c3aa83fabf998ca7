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
/* Put this run's times into the store, of the loops that ran often enough, if it keeps what it measures (OP2_TUNE). */
void speeds_keep(const struct op_context *ctx);
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

/* ---- profile.c: sections of a program that it times itself, one within another ---- */

struct profile;

/* The outermost section begins. NULL: no memory. */
struct profile *profile_new(const char *name);
void profile_free(struct profile *p);
/* Within the section that was entered last; one that is entered again goes on. */
void profile_enter(struct profile *p, const char *name);
void profile_leave(struct profile *p);
/* Leave all. */
void profile_end(struct profile *p);
void profile_text(const struct profile *p, struct text *out);
void profile_json(const struct profile *p, struct text *out);

#endif
