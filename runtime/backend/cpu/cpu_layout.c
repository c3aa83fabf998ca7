/* Layouts on the host: a dat that was declared in rows is turned as a whole, and its loops are made anew. */
#include "context/context.h"
#include "cpu_loop.h"
#include "mesh/data.h"
#include "record/record.h"
#include "run/team.h"
#include "tune/layouts.h"

/* Loops over fewer elements are not worth a trial. */
static const long free_elements = 4096;

/* Who asks for components apart has them. */
static bool is_free(const struct dat *dat) {
  return !dat->asked_soa && dat->set->size >= free_elements;
}

static bool is_made(const struct loop *loop) {
  return loop->prepared && loop->backend_state;
}

static bool is_found(const struct loop *loop) {
  const struct cpu_loop *cpu = loop->backend_state;
  return !cpu->tuning.tuner || tuner_is_settled(cpu->tuning.tuner);
}

static int current(const struct loop *loop) {
  return ((const struct cpu_loop *)loop->backend_state)->current;
}

static int turn(struct op_context *ctx, struct dat *dat, bool soa, struct error *err) {
  int code = soa == dat->soa ? OP_OK : dat_turn(ctx, dat, err);
  if (!code)
    loop_follow_layout(ctx, dat);
  return code;
}

static int threads(const struct op_context *ctx) {
  return ctx->team ? team_threads(ctx->team) : 1;
}

const struct layout_table cpu_layout_table = {.where = "in memory",
                                              .space = SPACE_HOST,
                                              .is_free = is_free,
                                              .needs_direct = true,
                                              .is_made = is_made,
                                              .is_found = is_found,
                                              .turn = turn,
                                              .variants = cpu_tuning_of,
                                              .current = current,
                                              .target = cpu_target,
                                              .threads = threads,
                                              .loop_cost = 0.15,
                                              .byte_cost = 2e-9};
