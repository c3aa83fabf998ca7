/* Blocks by colour: blocks of one colour increment nothing in common, and run at the same time. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "plan/listed.h"
#include "plan/plan_staging.h"
#include "plan/strategy.h"

int schedule_colours(struct schedule *s, const struct plan *plan, const int *list, struct error *err) {
  int status = schedule_new(s, plan->nblocks, plan->ncolours, list ? plan->size : 0, err);
  if (status)
    return status;
  if (list && plan->size > 0)
    memcpy(s->list, list, (size_t)plan->size * sizeof *list);
  for (int colour = 0; colour < plan->ncolours; colour++) {
    schedule_add_phase(s, false);
    for (int i = plan->colour_first[colour]; i < plan->colour_first[colour + 1]; i++)
      schedule_add_item(s, list ? WORK_LIST : WORK_RANGE, block_begin(plan, plan->block_map[i]),
                        block_end(plan, plan->block_map[i]), -1);
  }
  return OP_OK;
}

/* Blocks that fit in the second-level cache, but enough of them for any number of threads; the same whatever the
 * number of threads, since reductions are combined block by block. Rounded up: one block more than a power of two
 * would make all threads but one wait for it. */
static long block_size(long elements, bool combining) {
  enum { LARGEST = 16384, SMALLEST = 256, BLOCKS = 64, MULTIPLE = 64 };
  const long size = (elements + BLOCKS * MULTIPLE - 1) / (BLOCKS * MULTIPLE) * MULTIPLE;
  (void)combining;
  return size < SMALLEST ? SMALLEST : size > LARGEST ? LARGEST : size;
}

/* On a mesh without order nearly all blocks meet: they would run one after the other. Small sets run on one thread, and
 * are not worth code for a list. */
static bool is_crowded(const struct plan *plan) {
  enum { FEW_BLOCKS = 8, FEW_ELEMENTS = 4096 };
  return plan->nblocks >= FEW_BLOCKS && plan->size >= FEW_ELEMENTS && 2L * plan->ncolours > plan->nblocks;
}

/* Elements that meet come into the same blocks, if their order allows that: not where all have one target. *list stays
 * NULL then. */
static int bring_together(struct plan_entry *e, const struct plan_wish *w, int **list, struct team *team,
                          struct error *err) {
  const struct plan_request *r = &w->request;
  struct plan plan = {0};
  *list = array_new((size_t)r->size, sizeof **list);
  int status = *list ? OP_OK : error_memory(err, "elements in a list", (size_t)r->size * sizeof **list);
  if (!status)
    status = list_neighbours(*list, r, team, err);
  if (!status)
    status = plan_of_list(&plan, r, *list, r->size, r->block_size, err);
  if (!status && !is_crowded(&plan)) {
    e->crowded = e->plan.ncolours;
    plan_free(&e->plan);
    e->plan = plan;
    return OP_OK;
  }
  plan_free(&plan);
  free(*list);
  *list = NULL;
  return status;
}

static int build(struct plan_entry *e, const struct plan_wish *w, struct team *team, struct error *err) {
  int *list = NULL, status = plan_build(&e->plan, &w->request, team, err);
  if (!status && !w->request.in_order && is_crowded(&e->plan))
    status = bring_together(e, w, &list, team, err);
  if (!status)
    status = schedule_colours(&e->schedule, &e->plan, list, err);
  free(list);
  return status;
}

/* The plan of a list has no columns any more to compare it with. */
static int verify(const struct plan_entry *e, const struct plan_wish *w, int level, struct error *err) {
  int status = e->schedule.list ? OP_OK : plan_verify(&e->plan, &w->request, level, err);
  return status ? status : verify_dealt(e, w, level, err);
}

static void describe(const struct plan_entry *e, struct text *out) {
  describe_blocks(e, out);
  if (e->crowded)
    text_addf(out, ", through a list of neighbours: in their own order they had %d colours", e->crowded);
}

static const int sizes[] = {1024, 4096, 16384, 65536, 256, 64, 0};

const struct strategy strategy_colours = {.name = "colours",
                                          .columns = COLUMNS_WRITTEN,
                                          .looks = LOOKS_AT_BLOCKS | LOOKS_AT_STAGING,
                                          .deals = true,
                                          .sizes = sizes,
                                          .piece = block_size,
                                          .same_piece = true,
                                          .build = build,
                                          .verify = verify,
                                          .describe = describe};
