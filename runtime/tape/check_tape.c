/* The dot-product test of a whole tape. */
#include <limits.h>
#include <math.h>

#include "context/context.h"
#include "tape/test.h"

/* An event with its tangents. What comes from outside has none. */
static int run_with_dots(struct op_context *ctx, struct event *event, struct error *err) {
  bool ran = false;
  if (event->kind == EVENT_PUT)
    return thing_clear(ctx, event->changes[0].thing->dot, err);
  if (event->kind == EVENT_CONSTANT) {
    const struct thing *thing = thing_find(ctx->tapes, mesh_find_constant(ctx->mesh, event->constant));
    return thing ? thing_clear(ctx, thing->dot, err) : OP_OK;
  }
  if (event->kind != EVENT_LOOP)
    return OP_OK;
  const int code = tangent_of_event(ctx, event, &ran, err);
  return code || ran ? code : event_primal(ctx, event, err);
}

/* Dots at the end times the weights that will be put there. */
static int forwards(struct test *t, double sums[3], struct error *err) {
  struct tape *tape = t->tape;
  tape->at = tape->nevents;
  int code = tape_undo(t->ctx, tape, 0, err);
  tape->taped = INT_MAX;
  if (!code)
    code = test_put_all(t, true, err);
  if (!code)
    code = tape_replay(t->ctx, tape, tape->end, run_with_dots, err);
  if (!code)
    code = test_put_all(t, false, err);
  return code ? code : test_add_all(t, sums, err);
}

/* As it was recorded, and backwards. */
static int backwards(struct test *t, int taped, double sums[3], struct error *err) {
  struct tape *tape = t->tape;
  int code = tape_undo(t->ctx, tape, 0, err);
  tape->taped = taped;
  if (!code)
    code = tape_replay(t->ctx, tape, tape->end, event_primal, err);
  if (!code)
    code = tape_bring_back(t->ctx, tape, err);
  if (!code)
    code = tape_reverse(t->ctx, tape, false, err);
  if (!code)
    code = test_put_all(t, true, err);
  return code ? code : test_add_all(t, sums, err);
}

static int run_test(struct test *t, double *difference, struct error *err) {
  double of_y[3] = {0}, of_x[3] = {0};
  struct products found = {0};
  const int taped = t->tape->taped;
  int code = forwards(t, of_y, err);
  if (!code)
    code = backwards(t, taped, of_x, err);
  if (!code)
    code = test_sum(t, of_y, of_x, &found, err);
  *difference = found.norms > 0 ? fabs(found.of_y - found.of_x) / found.norms : 0;
  return code;
}

int tape_check(struct op_context *ctx, struct tape *tape, unsigned seed, double *difference,
               struct error *err) {
  struct test t = {.ctx = ctx, .tape = tape, .seed = seed};
  int code = tape_derive(ctx, tape, err);
  if (!code)
    code = test_open(&t, ctx->tapes->things.items, ctx->tapes->things.count, err);
  if (!code)
    code = run_test(&t, difference, err);
  tape->broken |= code != OP_OK;
  return test_close(&t, code, err);
}
