/* Results of a launch: partial ones are combined in the order of their slots, so that the number of threads does not
 * matter. */
#include "record/results.h"

#include <math.h>
#include <string.h>

#include "base/exact.h"
#include "context/context.h"
#include "mesh/globals.h"

/* Component c of a partial result, which is an exact sum. */
static void add_exact(const struct loop_arg *arg, const struct partial *from, int c, void *into) {
  const unsigned char *first = from->first + arg->offset + (size_t)c * sizeof(struct exact);
  for (int s = 0; s < from->count; s++)
    exact_cut(into, (const void *)(first + (size_t)s * from->distance));
  for (int s = 0; s < from->count; s++)
    exact_add(into, (const void *)(first + (size_t)s * from->distance));
}

static void put_number(enum type_code type, unsigned char *to, double value) {
  const float narrow = (float)value;
  memcpy(to, type == TYPE_FLOAT ? (const void *)&narrow : &value, type_info(type)->size);
}

/* The sum is rounded before it is added to what was there. */
static void combine_exactly(const struct loop_arg *arg, const struct partial *from, unsigned char *into) {
  const size_t size = type_info(arg->type)->size;
  for (int c = 0; c < arg->dim; c++) {
    unsigned char *to = into + (size_t)c * size;
    const double start = type_number(arg->type, to);
    double now = start;
    if (arg->access == OP_INC) {
      struct exact sum = {0};
      add_exact(arg, from, c, &sum);
      now = start + (arg->type == TYPE_FLOAT ? (double)exact_value_of_floats(&sum) : exact_value(&sum));
    } else
      for (int s = 0; s < from->count; s++)
        exact_extremum(arg->access == OP_MAX, start, &now,
                       type_number(arg->type, from->first + (size_t)s * from->distance + arg->offset +
                                                  (size_t)c * size));
    put_number(arg->type, to, now);
  }
}

void results_combine(const struct loop_arg *arg, const struct partial *from, unsigned char *into) {
  const size_t size = type_info(arg->type)->size;
  if (arg->exact) {
    combine_exactly(arg, from, into);
    return;
  }
  for (int c = 0; c < arg->dim; c++)
    type_combine_many(arg->type, arg->access, into + (size_t)c * size,
                      from->first + arg->offset + (size_t)c * size, from->distance, (size_t)from->count);
}

/* If the user's start is a NaN, any number is better, as in type_combine_many. */
static bool improves(const struct loop_arg *arg, const void *start, const void *now, const void *candidate) {
  unsigned char best[sizeof(long double)];
  if (isnan(type_number(arg->type, start)) &&
      (isnan(type_number(arg->type, now)) || isnan(type_number(arg->type, candidate))))
    return !isnan(type_number(arg->type, candidate));
  memcpy(best, now, arg->bytes);
  type_combine(arg->type, arg->access, best, candidate);
  return memcmp(best, now, arg->bytes) != 0;
}

/* As the code of loops has it: zeros of both signs are equal, and so are all NaN. */
static bool is_equal(const struct loop_arg *arg, const void *a, const void *b) {
  if (memcmp(a, b, arg->bytes) == 0)
    return true;
  const double x = type_number(arg->type, a), y = type_number(arg->type, b);
  return type_info(arg->type)->is_float && (x == y || (isnan(x) && isnan(y)));
}

void launch_offer_extremum(const struct launch *launch, int i, unsigned char *slot, const void *value,
                           const void *payload, long long number) {
  const struct loop *loop = launch->loop;
  const struct loop_arg *arg = &loop->args[i], *info = &loop->args[arg->info];
  unsigned char *best = slot + arg->offset;
  long long winner;
  /* The kernel saw the user's own value; if it left it, the element is no candidate. */
  if (memcmp(value, launch->user[i], arg->bytes) == 0)
    return;
  memcpy(&winner, slot + info->offset, sizeof winner);
  const bool equal = is_equal(arg, value, best);
  if (!improves(arg, launch->user[i], best, value) && !(equal && number < winner))
    return;
  memcpy(best, value, arg->bytes);
  memcpy(slot + info->offset, &number, sizeof number);
  memcpy(slot + info->offset + PAYLOAD_NUMBER, payload, info->bytes);
}

/* An extremum with a payload: only slots in which an element won count; ties go to the lowest number, and the
 * user's own value wins over an equal element. */
static void combine_with_payload(const struct launch *launch, int i, const struct partial *from) {
  const struct loop *loop = launch->loop;
  const struct loop_arg *arg = &loop->args[i], *payload = &loop->args[arg->info];
  unsigned char start[sizeof(long double)];
  long long best = -1;
  memcpy(start, launch->user[i], arg->bytes);
  for (int s = 0; s < from->count; s++) {
    const unsigned char *slot = from->first + (size_t)s * from->distance;
    const unsigned char *value = slot + arg->offset;
    long long element;
    memcpy(&element, slot + payload->offset, sizeof element);
    if (element < 0)
      continue;
    const bool equal = is_equal(arg, value, launch->user[i]);
    if (!improves(arg, start, launch->user[i], value) && !(equal && best >= 0 && element < best))
      continue;
    best = element;
    memcpy(launch->user[i], value, arg->bytes);
    memcpy(launch->user[arg->info], slot + payload->offset + PAYLOAD_NUMBER, payload->bytes);
  }
}

/* The partial results of parts that count. */
static struct partial own_results(const struct launch *launch) {
  const int last = launch->loop->ready.nresults - 1;
  return (struct partial){.first = launch->slots,
                          .distance = launch->loop->ready.slot_bytes,
                          .count = launch->part_slots[last].first + launch->part_slots[last].count};
}

void results_hand_back(const struct launch *launch, const struct partial *from,
                       const unsigned char *globals) {
  const struct loop *loop = launch->loop;
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (!arg_is_result(arg) || loop->desc.args[i].kept)
      continue;
    if (arg->gbl)
      gbl_wrote(arg->gbl, SPACE_HOST);
    if (arg_is_reduction(arg) && arg->info >= 0)
      combine_with_payload(launch, i, from);
    else if (arg_is_reduction(arg))
      results_combine(arg, from, launch->user[i]);
    else
      memcpy(launch->user[i], globals + arg->offset, arg->bytes);
  }
}

void results_merge(const struct launch *launch, unsigned char *slot) {
  const struct loop *loop = launch->loop;
  const struct partial own = own_results(launch);
  launch_start_slot(launch, slot);
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (!arg_is_reduction(arg))
      continue;
    const bool sum = arg->exact && arg->access == OP_INC;
    if (sum && own.count == 1) /* a device's: it cannot be cut once it is carried */
      memcpy(slot + arg->offset, own.first + arg->offset, (size_t)arg->dim * sizeof(struct exact));
    for (int c = 0; c < arg->dim && sum && own.count > 1; c++)
      add_exact(arg, &own, c, slot + arg->offset + (size_t)c * sizeof(struct exact));
    if (arg->info < 0 && !sum)
      results_combine(arg, &own, slot + arg->offset);
    for (int s = 0; arg->info >= 0 && s < own.count; s++) {
      const unsigned char *part = own.first + (size_t)s * own.distance;
      const unsigned char *payload = part + loop->args[arg->info].offset;
      long long element;
      memcpy(&element, payload, sizeof element);
      if (element >= 0)
        launch_offer_extremum(launch, i, slot, part + arg->offset, payload + PAYLOAD_NUMBER, element);
    }
  }
}

void results_here(const struct launch *launch) {
  const struct partial own = own_results(launch);
  results_hand_back(launch, &own, launch->globals);
}

int launch_results(struct op_context *ctx, struct launch *launch, struct error *err) {
  if (ctx->late || launch->loop->set->spread)
    return results_with_others(ctx, launch, err);
  results_here(launch);
  return OP_OK;
}
