#include "plan/tasks.h"

#include <limits.h>
#include <string.h>

#include "base/list.h"
#include "plan/plan_staging.h"
#include "plan/strategy.h"

/* An item before it has its place in the schedule. */
struct block {
  int loop, number;
  double place; /* in the mesh, 0 to 1: of its own elements, or of those that it waits for */
  int item;
};

/* The blocks that touched a target: the last one that changed it, and those that read it since. -1: none. */
struct touched {
  int writer, readers;
};
struct reader {
  int block, next;
};

struct building {
  struct arrays arrays; /* but for those that grow */
  const struct tasks_loop *loops;
  int nloops;
  struct block *blocks, *sorted; /* by loops; by their places */
  int nblocks;
  int *first;               /* of loops: their first block */
  int *met;                 /* of blocks: the last one that was found to wait for it */
  struct touched **touched; /* of dats */
  int ndats;
  struct reader *readers;
  size_t nreaders;
  struct wait *waits; /* of blocks, and of items in the end */
  size_t nwaits;
  double places; /* of the blocks that the current one waits for, summed up */
  int nplaces;
};

/* Sets of fewer elements than the largest one's, divided by this, are borders: where their blocks lie in the mesh is not
 * where they lie in their set. */
enum { BORDER_SHARE = 16 };

/* ---- who touched what ---- */

static int wait_for(struct building *b, int block, int before, struct error *err) {
  if (before < 0 || before == block || b->met[before] == block)
    return OP_OK;
  b->met[before] = block;
  struct wait *waits = array_more(b->waits, b->nwaits, sizeof *waits);
  if (!waits)
    return error_memory(err, "blocks that wait for one another", 2 * b->nwaits * sizeof *waits);
  b->waits = waits;
  waits[b->nwaits++] = (struct wait){.item = block, .before = before};
  b->places += b->blocks[before].place;
  b->nplaces++;
  return OP_OK;
}

/* Readers of earlier changes are not looked at again: who changed the target waited for them. */
static int change(struct building *b, struct touched *t, int block, struct error *err) {
  int code = wait_for(b, block, t->writer, err);
  for (int r = t->readers; !code && r >= 0; r = b->readers[r].next)
    code = wait_for(b, block, b->readers[r].block, err);
  *t = (struct touched){.writer = block, .readers = -1};
  return code;
}

static int look(struct building *b, struct touched *t, int block, struct error *err) {
  const int code = wait_for(b, block, t->writer, err);
  if (code || (t->readers >= 0 && b->readers[t->readers].block == block))
    return code;
  struct reader *readers =
      b->nreaders < INT_MAX ? array_more(b->readers, b->nreaders, sizeof *readers) : NULL;
  if (!readers)
    return error_memory(err, "blocks that read", 2 * b->nreaders * sizeof *readers);
  b->readers = readers;
  readers[b->nreaders] = (struct reader){.block = block, .next = t->readers};
  t->readers = (int)b->nreaders++;
  return OP_OK;
}

static int touch(struct building *b, int block, const struct tasks_access *a, struct error *err) {
  const struct plan *plan = b->loops[b->blocks[block].loop].plan;
  const int number = b->blocks[block].number;
  const long end = column_place(&a->at, block_end(plan, number));
  struct touched *touched = b->touched[a->at.target];
  int code = OP_OK;
  for (long p = column_place(&a->at, block_begin(plan, number)); !code && p < end; p++)
    code = (a->use == CHAIN_READS ? look : change)(b, &touched[column_target(&a->at, p)], block, err);
  return code;
}

/* All reads of a block before its changes: what it changes it may read. */
static int touch_all(struct building *b, int block, struct error *err) {
  const struct tasks_loop *loop = &b->loops[b->blocks[block].loop];
  int code = OP_OK;
  b->places = 0;
  b->nplaces = 0;
  for (int reads = 1; reads >= 0; reads--)
    for (int a = 0; !code && a < loop->naccesses; a++)
      if ((loop->accesses[a].use == CHAIN_READS) == (reads != 0) && b->touched[loop->accesses[a].at.target])
        code = touch(b, block, &loop->accesses[a], err);
  return code;
}

static long largest_size(const struct building *b) {
  long largest = 0;
  for (int l = 0; l < b->nloops; l++)
    largest = b->loops[l].plan->size > largest ? b->loops[l].plan->size : largest;
  return largest;
}

static int touch_by_loops(struct building *b, struct error *err) {
  const long largest = largest_size(b);
  int code = OP_OK;
  for (int l = 0; l < b->nloops; l++) {
    const struct plan *plan = b->loops[l].plan;
    const bool border = plan->size < largest / BORDER_SHARE;
    for (int i = 0; !code && i < plan->nblocks; i++) {
      const int block = b->first[l] + plan->block_map[i];
      code = touch_all(b, block, err);
      if (border && b->nplaces > 0)
        b->blocks[block].place = b->places / b->nplaces;
    }
  }
  return code;
}

/* ---- room ---- */

static void number_blocks(struct building *b) {
  for (int l = 0, next = 0; l < b->nloops; l++) {
    const struct plan *plan = b->loops[l].plan;
    b->first[l] = next;
    for (int i = 0; i < plan->nblocks; i++, next++) {
      b->met[next] = -1;
      b->blocks[next] = (struct block){.loop = l, .number = i, .place = (i + 0.5) / (double)plan->nblocks};
    }
  }
}

/* Only dats that some loop changes are looked at: for the others nobody waits. */
static void make_touched(struct building *b) {
  for (int l = 0; l < b->nloops; l++)
    for (int a = 0; a < b->loops[l].naccesses; a++) {
      const struct tasks_access *access = &b->loops[l].accesses[a];
      const size_t size = (size_t)access->at.target_size;
      struct touched **t = &b->touched[access->at.target];
      if (access->use == CHAIN_READS || *t)
        continue;
      *t = arrays_add(&b->arrays, size, sizeof **t);
      for (size_t e = 0; *t && e < size; e++)
        (*t)[e] = (struct touched){-1, -1};
    }
}

static int make_room(struct building *b, struct error *err) {
  long nblocks = 0;
  for (int l = 0; l < b->nloops; l++) {
    nblocks += b->loops[l].plan->nblocks;
    for (int a = 0; a < b->loops[l].naccesses; a++)
      if (b->loops[l].accesses[a].at.target >= b->ndats)
        b->ndats = b->loops[l].accesses[a].at.target + 1;
  }
  if (nblocks >= INT_MAX)
    return error_set(err, OP_ERR_SIZE, "tasks of %ld blocks are too many; use larger blocks", nblocks);
  b->nblocks = (int)nblocks;
  b->blocks = arrays_add(&b->arrays, (size_t)nblocks, sizeof *b->blocks);
  b->sorted = arrays_add(&b->arrays, (size_t)nblocks, sizeof *b->sorted);
  b->met = arrays_add(&b->arrays, (size_t)nblocks, sizeof *b->met);
  b->first = arrays_add(&b->arrays, (size_t)b->nloops, sizeof *b->first);
  b->touched = arrays_add(&b->arrays, (size_t)b->ndats, sizeof *b->touched);
  if (b->touched)
    make_touched(b);
  if (b->arrays.failed)
    return error_memory(err, "the blocks of tasks", (size_t)nblocks * sizeof *b->blocks);
  number_blocks(b);
  return OP_OK;
}

/* ---- items ---- */

static int by_place(const void *x, const void *y) {
  const struct block *a = x, *b = y;
  if (a->place < b->place || a->place > b->place)
    return a->place < b->place ? -1 : 1;
  return a->loop != b->loop ? a->loop - b->loop : a->number - b->number;
}

static int add_items(struct building *b, struct schedule *s, struct error *err) {
  memcpy(b->sorted, b->blocks, (size_t)b->nblocks * sizeof *b->sorted);
  qsort(b->sorted, (size_t)b->nblocks, sizeof *b->sorted, by_place);
  schedule_add_phase(s, false);
  for (int i = 0; i < b->nblocks; i++) {
    const struct block *block = &b->sorted[i];
    const struct plan *plan = b->loops[block->loop].plan;
    schedule_add_item(s, block->loop, block_begin(plan, block->number), block_end(plan, block->number), -1);
    s->items[i].slot = block->number;
    b->blocks[b->first[block->loop] + block->number].item = i;
  }
  for (size_t i = 0; i < b->nwaits; i++)
    b->waits[i] = (struct wait){b->blocks[b->waits[i].item].item, b->blocks[b->waits[i].before].item};
  return waits_new(&s->waits, b->nblocks, b->waits, b->nwaits, err);
}

int tasks_build(struct schedule *s, const struct tasks_loop *loops, int nloops, struct error *err) {
  struct building b = {.loops = loops, .nloops = nloops};
  memset(s, 0, sizeof *s);
  int code = make_room(&b, err);
  if (!code)
    code = touch_by_loops(&b, err);
  if (!code)
    code = schedule_new(s, b.nblocks, 1, 0, err);
  if (!code)
    code = add_items(&b, s, err);
  if (code)
    schedule_free(s);
  arrays_free(&b.arrays);
  free(b.readers);
  free(b.waits);
  return code;
}

/* Blocks that wait for one another: as blocks by colour, and with the same bits, but nobody waits for a whole colour. */

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
