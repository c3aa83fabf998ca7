/* Ranks, clocks, counters, reports and checkpoints. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "api/api.h"
#include "base/clock.h"
#include "checkpoint/tell.h"
#include "context/trace.h"
#include "include/op2jit_checkpoint.h"
#include "include/op2jit_tools.h"
#include "loop/chain/watch.h"
#include "ranks/agree.h"
#include "report/report.h"

int op2jit_rank(void) {
  return api_rank();
}

int op2jit_rank_count(void) {
  return api_ranks();
}

int op2jit_is_root(void) {
  return op2jit_rank() == 0;
}

void op2jit_barrier(void) {
  struct op_context *ctx = api_enter("op_barrier", FLUSH);
  if (ctx)
    api_leave(api_agree("op_barrier"));
}

void op2jit_printf(const char *format, ...) {
  if (!op2jit_is_root())
    return;
  va_list args;
  va_start(args, format);
  vprintf(format, args);
  va_end(args);
}

int op2jit_add_tool(const op_tool *tool) {
  api_hold("op_add_tool", HOLD_TOOL, true);
  struct op_context *ctx = api_enter("op_add_tool", KEEP);
  if (!ctx)
    return api_refused();
  if (!tool || tool->version != OP_TOOL_VERSION)
    return api_leave_local(
        error_set(api_error(), OP_ERR_ARGUMENT, "op_add_tool: %s; expected a table of version %d",
                  tool ? "the table is of another version" : "the table is NULL", OP_TOOL_VERSION));
  return api_leave_local(trace_add_tool(ctx->trace, tool, api_error()));
}

extern const char declared_json[]; /* made by declared.py */

const char *op2jit_declarations(void) {
  return declared_json;
}

double op2jit_wtime(void) {
  api_clock("op_wtime");
  return clock_seconds();
}

void op2jit_timers(double *cpu, double *wall) {
  struct rusage usage;
  api_clock("op_timers");
  getrusage(RUSAGE_SELF, &usage);
  if (cpu)
    *cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  if (wall)
    *wall = clock_seconds();
}

const op_counters_t *op2jit_counters(void) {
  static const op_counters_t nothing;
  const struct op_context *ctx = api_context();
  return ctx ? ctx->counters : &nothing;
}

static void print_report(const char *call,
                         int (*report)(struct op_context *, struct text *, struct error *)) {
  struct op_context *ctx = api_enter(call, FLUSH);
  if (!ctx)
    return;
  struct text out = {0};
  int code = api_agree("%s", call);
  if (!code)
    code = report(ctx, &out, api_error());
  if (!code && !text_ok(&out))
    code = error_memory(api_error(), "a report", out.length);
  if (!code && op2jit_is_root())
    context_print(ctx, &out);
  text_free(&out);
  api_leave(code);
}

void op2jit_timing_output(void) {
  print_report("op_timing_output", context_timing);
}

void op2jit_diagnostic_output(void) {
  print_report("op_diagnostic_output", context_diagnostics);
}

/* Reports of ranks differ in length, and who asks again asks all: where one rank has too little room, all have. */
static int agree_on_room(struct op_context *ctx, int code, const struct text *report, size_t size) {
  const size_t mine = report->length + 1;
  double values[] = {mine > size ? 1 : 0, (double)mine};
  code = agree_on_largest(ctx->agreement, code, values, 2, api_error());
  if (!code && values[0] > 0)
    code = error_set(api_error(), OP_ERR_SIZE, "op_report_json: %zu bytes are too few; the report has %.0f",
                     size, values[1]);
  return code;
}

int op2jit_report_json(char *out, size_t size) {
  struct op_context *ctx = api_enter("op_report_json", FLUSH);
  if (!ctx)
    return api_refused();
  struct text report = {0};
  int code = api_error()->code;
  if (!code && !out)
    code = error_set(api_error(), OP_ERR_ARGUMENT,
                     "op_report_json: the memory is NULL; expected room for the report");
  code = agree_on_call(ctx, code, api_error(), "op_report_json");
  if (!code)
    code = agree_on_room(ctx, context_json(ctx, &report, api_error()), &report, size);
  if (!code)
    memcpy(out, text_str(&report), report.length + 1);
  text_free(&report);
  return api_leave_local(code);
}

int op2jit_plan_check(int level) {
  struct op_context *ctx = api_enter("op_plan_check", FLUSH);
  if (!ctx)
    return api_refused();
  int code = api_error()->code;
  if (!code && (level < 0 || level > 2))
    code =
        error_set(api_error(), OP_ERR_ARGUMENT, "op_plan_check: the level is %d; expected 0, 1 or 2", level);
  return api_leave_local(code ? code : context_check_plans(ctx, level, api_error()));
}

/* ---- checkpoints, as far as the program speaks of them ---- */
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
