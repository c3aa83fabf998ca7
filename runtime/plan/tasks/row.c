/* Blocks that wait for one another: as blocks by colour, and with the same bits, but nobody waits for a whole colour. */
#include "base/size.h"
#include "plan/plan_inner.h"
#include "plan/strategy.h"
#include "plan/tasks/tasks.h"

/* Describes the loop by the columns that it increments. The caller frees the accesses. */
static int describe_loop(const struct plan_request *r, struct tasks_loop *loop, struct error *err) {
  struct tasks_access *accesses = array_new((size_t)r->ncolumns, sizeof *accesses);
  if (!accesses)
    return error_memory(err, "the blocks of tasks", (size_t)r->ncolumns * sizeof *accesses);
  for (int c = 0; c < r->ncolumns; c++)
    accesses[c] = (struct tasks_access){.at = r->columns[c], .use = CHAIN_ADDS};
  loop->accesses = accesses;
  loop->naccesses = r->ncolumns;
  return OP_OK;
}

static int build(struct plan_entry *e, const struct plan_wish *w, struct team *team, struct error *err) {
  struct tasks_loop loop = {.plan = &e->plan};
  int code = plan_build(&e->plan, &w->request, team, err);
  if (!code)
    code = describe_loop(&w->request, &loop, err);
  if (!code)
    code = tasks_build(&e->schedule, &loop, 1, err);
  free((void *)loop.accesses);
  return code;
}

/* Slots are there for all items, whose blocks may stand in another order. */
int schedule_verify(const struct schedule *s, const struct plan_request *r, struct error *err) {
  struct tasks_loop loop = {.nslots = s->nitems};
  for (int i = 0; i < s->nitems && !s->waits; i++)
    if (s->items[i].slot != i || s->nslots != s->nitems)
      return error_mistake(err, OP_ERR_PLAN,
                           "item %d has reduction slot %d of %d; slots are in the order of items", i,
                           s->items[i].slot, s->nslots);
  int code = describe_loop(r, &loop, err);
  if (!code)
    code = tasks_verify(s, &loop, &r->size, 1, r->begin, err);
  free((void *)loop.accesses);
  return code;
}

int verify_dealt(const struct plan_entry *e, const struct plan_wish *wish, int level, struct error *err) {
  return level >= 2 ? schedule_verify(&e->schedule, &wish->request, err) : OP_OK;
}

static int verify(const struct plan_entry *e, const struct plan_wish *w, int level, struct error *err) {
  const int code = plan_verify(&e->plan, &w->request, level, err);
  return code ? code : verify_dealt(e, w, level, err);
}

static long block_size(long elements, bool combining) {
  return strategy_colours.piece(elements, combining);
}

static void describe(const struct plan_entry *e, struct text *out) {
  describe_blocks(e, out);
  text_add(out, ", which wait for one another");
}

const struct strategy strategy_tasks = {.name = "tasks",
                                        .columns = COLUMNS_WRITTEN,
                                        .looks = LOOKS_AT_BLOCKS,
                                        .deals = true,
                                        .instead_of = &strategy_colours,
                                        .piece = block_size,
                                        .same_piece = true,
                                        .build = build,
                                        .verify = verify,
                                        .describe = describe};
