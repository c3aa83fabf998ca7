/* Blocks by colour: blocks of one colour increment nothing in common, and run at the same time. */
#include "plan/plan_inner.h"
#include "plan/strategy.h"

int schedule_block_colours(struct schedule *s, const struct plan *plan, struct error *err) {
  int status = schedule_new(s, plan->nblocks, plan->ncolours, 0, err);
  if (status)
    return status;
  for (int colour = 0; colour < plan->ncolours; colour++) {
    schedule_add_phase(s, false);
    for (int i = plan->colour_first[colour]; i < plan->colour_first[colour + 1]; i++)
      schedule_add_item(s, WORK_RANGE, block_begin(plan, plan->block_map[i]),
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

static int build(struct plan_entry *e, const struct plan_wish *w, struct team *team, struct error *err) {
  int status = plan_build(&e->plan, &w->request, team, err);
  return status ? status : schedule_block_colours(&e->schedule, &e->plan, err);
}

static int verify(const struct plan_entry *e, const struct plan_wish *w, int level, struct error *err) {
  int status = plan_verify(&e->plan, &w->request, level, err);
  return status ? status : verify_dealt(e, w, level, err);
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
                                          .describe = describe_blocks};
