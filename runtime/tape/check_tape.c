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

static int put_all(struct test *t, bool dots, struct error *err) {
  int code = OP_OK;
  for (int i = 0; !code && i < t->n; i++) {
    const struct thing *thing = t->things[i];
    if (dots ? thing->input : thing->varied)
      code = test_put_noise(t->ctx, dots ? thing->dot : thing->bar, (struct noise){t->seed, !dots}, i, err);
  }
  return code;
}

/* The norms are those of what comes of it in this test. */
static int add_all(struct test *t, bool inputs, double sums[3], struct error *err) {
  int code = OP_OK;
  for (int i = 0; !code && i < t->n; i++) {
    struct thing *thing = t->things[i];
    if (inputs ? thing->input : thing->varied)
      code = test_add_product(t->ctx, thing->dot, thing->bar, sums, err);
  }
  return code;
}

/* Dots at the end times the weights that will be put there. */
static int forwards(struct test *t, double sums[3], struct error *err) {
  struct tape *tape = t->tape;
  tape->at = tape->nevents;
  int code = tape_undo(t->ctx, tape, 0, err);
  tape->taped = INT_MAX;
  if (!code)
    code = put_all(t, true, err);
  if (!code)
    code = tape_replay(t->ctx, tape, tape->end, run_with_dots, err);
  if (!code)
    code = put_all(t, false, err);
  return code ? code : add_all(t, false, sums, err);
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
  for (int i = 0; !code && i < t->n; i++)
    code = thing_clear(t->ctx, t->things[i]->dot, err);
  if (!code)
    code = put_all(t, true, err);
  return code ? code : add_all(t, true, sums, err);
}

static int run_test(struct test *t, double *difference, struct error *err) {
  double of_y[3] = {0}, of_x[3] = {0}, products[2] = {0}, norms = 0;
  const int taped = t->tape->taped;
  int code = forwards(t, of_y, err);
  if (!code)
    code = backwards(t, taped, of_x, err);
  if (!code)
    code = test_sum(t->ctx, of_y, of_x, products, &norms, err);
  *difference = norms > 0 ? fabs(products[0] - products[1]) / norms : 0;
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
