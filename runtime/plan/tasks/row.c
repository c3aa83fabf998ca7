/* Blocks that wait for one another: as blocks by colour, and with the same bits, but nobody waits for a whole colour. */
#include "base/size.h"
#include "plan/plan_inner.h"
#include "plan/strategy.h"
#include "plan/tasks/tasks.h"

/* What the columns of a request increment. The caller frees the accesses. */
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

static int verify(const struct plan_entry *e, const struct plan_wish *w, int level, struct error *err) {
  struct tasks_loop loop = {0};
  int code = plan_verify(&e->plan, &w->request, level, err);
  if (code || level < 2)
    return code;
  loop.nslots = e->schedule.nitems;
  code = describe_loop(&w->request, &loop, err);
  if (!code)
    code = tasks_verify(&e->schedule, &loop, &w->request.size, 1, w->request.begin, err);
  free((void *)loop.accesses);
  return code;
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
