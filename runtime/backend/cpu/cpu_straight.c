#include "base/clock.h"
#include "base/log.h"
#include "context/context.h"
#include "cpu_loop.h"
#include "jit/emit/generate.h"
#include "mesh/mesh.h"
#include "plan/plan_cache.h"
#include "record/columns.h"
#include "services/services.h"

/* Strips as wide as most are. */
enum { USUAL_WIDTH = 8 };

static int find_in_part(struct op_context *ctx, const struct loop *loop, const struct loop_part *part,
                        const struct plan_entry **entry, struct error *err) {
  struct plan_column *columns = NULL;
  bool built = false;
  struct plan_wish wish = {.request = {.begin = part->begin, .size = part->end - part->begin},
                           .strategy = &strategy_straight,
                           .set_name = loop->set->name,
                           .epoch = ctx->mesh->epoch};
  int code = loop_columns(loop, part, COLUMNS_USED, &columns, &wish.request.ncolumns, err);
  wish.request.columns = columns;
  if (!code)
    code = context_plan(ctx, loop->name, &wish, entry, &built, err);
  free(columns);
  return code;
}

static double bytes_of_maps(const struct desc *d) {
  double bytes = 0;
  for (int m = 0; m < d->nmaps; m++)
    bytes += desc_arity(&d->maps[m]) * (double)sizeof(int);
  return bytes;
}

int cpu_find_straight(struct op_context *ctx, struct loop *loop, struct cpu_loop *cpu, double *share,
                      struct error *err) {
  const struct shape usual = {.width = USUAL_WIDTH};
  double covered = 0, elements = 0, start = clock_seconds();
  int code = OP_OK;
  *share = 0;
  if (loop->ranged || !shape_can_be_straight(&loop->desc, &usual))
    return OP_OK;
  for (int p = 0; p < loop->ready.nparts && !code; p++) {
    const struct loop_part *part = &loop->ready.parts[p];
    if (part->begin == part->end)
      continue;
    code = find_in_part(ctx, loop, part, &cpu->straight[p], err);
    covered += code ? 0 : (double)straight_covered(&cpu->straight[p]->straight, USUAL_WIDTH);
    elements += (double)(part->end - part->begin);
  }
  *share = elements > 0 ? covered / elements : 0;
  cpu->spared = covered * bytes_of_maps(&loop->desc);
  loop->stats.plan_seconds += clock_seconds() - start;
  log_line(ctx->log, LOG_DEBUG, "plan", "loop %s: %.0f %% of %.0f elements of %s lie in straight ranges",
           loop->name, 100 * *share, elements, loop->set->name);
  return code;
}

void cpu_drop_straight(struct op_context *ctx, struct cpu_loop *cpu) {
  for (int p = 0; p < LOOP_PARTS; p++) {
    if (cpu->straight[p])
      plan_cache_release(ctx->plans, cpu->straight[p]);
    cpu->straight[p] = NULL;
  }
}
