/* The copies of others' elements that a loop of a chain runs on (deep.h). */
#ifndef OP2JIT_LOOP_COPIES_H
#define OP2JIT_LOOP_COPIES_H

#include "plan/depth/copies.h"
#include "record/launch.h"
#include "run/schedule.h"
#include "spread/exchange.h"

/* Works of a loop's schedule: copies with rows of maps, and those whose targets are apart. */
enum { WITH_ROWS, APART, WORKS };

/* Values of a dat at the targets, by a map, of copies that have no rows: as many for each as the map has columns. */
struct apart {
  int arg; /* the loop's first one with the dat */
  struct dat *dat;
  const struct map *map;
  struct dat values; /* the dat, with memory for these alone */
  struct halo_rows rows;
  const int *copies; /* the loop's */
  long count;
  int *table; /* in place of the map's, from row `first` on */
  long first;
};

struct deep_loop {
  struct schedule schedule;
  struct apart *aparts;
  int naparts;
};

/* Copies that follow one another are an item; those before `rows` have rows of maps. OP_ERR_MEMORY. */
int deep_schedule_new(struct schedule *out, long rows, const struct copies_list *run, struct error *err);
/* Run the copies of a launch with `deep`, behind its owned elements. Their results do not count. OP_ERR_MEMORY, and
 * the backend's errors. */
int deep_loop_run(struct op_context *ctx, struct launch *launch, struct error *err);
/* Run the copies of such a schedule by the backend's work for the launch; threads may be running its owned elements.
 * OP_ERR_MEMORY. */
int deep_loop_run_some(const struct launch *launch, const struct schedule *schedule, const struct work *work,
                       struct error *err);

#endif
