#include "base/clock.h"
#include "base/log.h"
#include "base/size.h"
#include "context/context.h"
#include "cpu_loop.h"
#include "jit/generate/generate.h"
#include "mesh/mesh.h"
#include "record/record.h"
#include "services/services.h"

/* Strips as wide as most are. */
enum { USUAL_WIDTH = 8 };

static const struct map *map_of(const struct loop *loop, int map) {
  int i = 0;
  while (loop->desc.args[i].map != map)
    i++;
  return loop->args[i].map;
}

/* The columns that the loop uses, of a part, in the order of generated code. The caller frees the array. */
static int used_columns(const struct loop *loop, const struct loop_part *part, struct plan_column **out,
                        int *count, struct error *err) {
  const struct desc *d = &loop->desc;
  size_t most = 0;
  for (int m = 0; m < d->nmaps; m++)
    most += (size_t)d->maps[m].arity;
  struct plan_column *columns = array_new(most, sizeof *columns);
  *out = columns;
  *count = 0;
  if (!columns)
    return error_memory(err, "a plan", most * sizeof *columns);
  for (int m = 0; m < d->nmaps; m++) {
    const struct map *map = map_of(loop, m);
    for (int c = 0; c < map->arity; c++)
      if (desc_uses_column(d, m, c))
        columns[(*count)++] =
            (struct plan_column){.table = map->table + (size_t)part->begin * (size_t)map->arity,
                                 .arity = map->arity,
                                 .column = c,
                                 .target = map->to->id,
                                 .target_size = map->to->extents[EXTENT_NONEXEC]};
  }
  return OP_OK;
}

static int find_in_part(struct op_context *ctx, const struct loop *loop, const struct loop_part *part,
                        const struct plan_entry **entry, struct error *err) {
  struct plan_column *columns = NULL;
  bool built = false;
  struct plan_wish wish = {.request = {.begin = part->begin, .size = part->end - part->begin},
                           .strategy = STRATEGY_STRAIGHT,
                           .set_name = loop->set->name,
                           .epoch = ctx->mesh->epoch};
  int code = used_columns(loop, part, &columns, &wish.request.ncolumns, err);
  wish.request.columns = columns;
  if (!code)
    code = context_plan(ctx, loop->name, &wish, entry, &built, err);
  free(columns);
  return code;
}

static double bytes_of_maps(const struct desc *d) {
  double bytes = 0;
  for (int m = 0; m < d->nmaps; m++)
    bytes += d->maps[m].arity * (double)sizeof(int);
  return bytes;
}

int cpu_find_straight(struct op_context *ctx, struct loop *loop, struct cpu_loop *cpu, double *share,
                      struct error *err) {
  const struct shape usual = {.width = USUAL_WIDTH};
  double covered = 0, elements = 0, start = clock_seconds();
  int code = OP_OK;
  *share = 0;
  if (!shape_can_be_straight(&loop->desc, &usual))
    return OP_OK;
  for (int p = 0; p < loop->nparts && !code; p++) {
    const struct loop_part *part = &loop->parts[p];
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
