#include "plan/plan.h"

#include <limits.h>
#include <string.h>

#include "base/list.h"
#include "plan/plan_staging.h"
#include "plan/strategy.h"

/* Colours are found 32 at a time: a bit per colour in the mark of each target. */
static const int colours_at_once = 32;
static const uint32_t all_taken = ~(uint32_t)0;

/* Clearing marks one by one costs as much as clearing so many in a row. */
static const size_t sparse_clearing = 16;

/* ---- colours of blocks -----------------------------------------------------------------------------*/

/* Ends as soon as all colours are taken: on a mesh without order most blocks of a round find that early. */
static uint32_t marks_of_range(const struct marks *m, const struct plan_request *r, long begin, long end) {
  enum { stride = 128 };
  uint32_t taken = 0;
  for (long from = begin; from < end && taken != all_taken; from += stride)
    for (int c = 0; c < r->ncolumns; c++) {
      const struct plan_column *column = &r->columns[c];
      const uint32_t *mark = m->of_column[c];
      const long to = end - from > stride ? from + stride : end;
      for (long p = column_place(column, from), last = column_place(column, to); p < last; p++)
        taken |= mark[column_target(column, p)];
    }
  return taken;
}

/* Leaves each target of the elements the colours `keep`, and adds `bit`. Returns all that they have then. */
static uint32_t change_marks(const struct marks *m, const struct plan_request *r, long begin, long end,
                             uint32_t keep, uint32_t bit) {
  uint32_t taken = 0;
  for (int c = 0; c < r->ncolumns; c++) {
    const struct plan_column *column = &r->columns[c];
    uint32_t *mark = m->of_column[c];
    for (long p = column_place(column, begin), last = column_place(column, end); p < last; p++) {
      uint32_t *of = &mark[column_target(column, p)];
      taken |= *of = (*of & keep) | bit;
    }
  }
  return taken;
}

static void clear_range(const struct marks *m, const struct plan_request *r, long begin, long end) {
  change_marks(m, r, begin, end, 0, 0);
}

/* One round gives each block without a colour the first free one of colours base .. base+31, if there is one.
 * Returns how many blocks are left. */
static int colour_round(struct plan *plan, const struct plan_request *r, struct marks *m, int *colour,
                        int base) {
  int left = 0;
  for (int b = 0; b < plan->nblocks; b++) {
    if (colour[b] >= 0)
      continue;
    uint32_t taken = marks_of_range(m, r, block_begin(plan, b), block_end(plan, b));
    if (taken == all_taken) {
      left++;
      continue;
    }
    int bit = __builtin_ctz(~taken);
    colour[b] = base + bit;
    if (colour[b] >= plan->ncolours)
      plan->ncolours = colour[b] + 1;
    change_marks(m, r, block_begin(plan, b), block_end(plan, b), all_taken, (uint32_t)1 << bit);
  }
  return left;
}

static void find_block_colours(struct plan *plan, const struct plan_request *r, struct marks *m,
                               int *colour) {
  for (int b = 0; b < plan->nblocks; b++)
    colour[b] = -1;
  int base = 0;
  for (int left; (left = colour_round(plan, r, m, colour, base)) > 0; base += colours_at_once) {
    if ((size_t)left * (size_t)plan->block_size > m->count / sparse_clearing) {
      memset(m->all, 0, m->count * sizeof *m->all);
      continue;
    }
    for (int b = 0; b < plan->nblocks; b++)
      if (colour[b] < 0)
        clear_range(m, r, block_begin(plan, b), block_end(plan, b));
  }
}

/* The blocks of each colour, in their own order. */
static int sort_blocks(struct plan *plan, const int *colour, struct error *err) {
  plan->block_map = arrays_add(&plan->arrays, (size_t)plan->nblocks, sizeof *plan->block_map);
  plan->colour_first = arrays_add(&plan->arrays, (size_t)plan->ncolours + 2, sizeof *plan->colour_first);
  if (plan->arrays.failed)
    return error_memory(err, "the blocks of a plan", (size_t)plan->nblocks * sizeof *plan->block_map);
  int *next = plan->colour_first + 1;
  for (int b = 0; b < plan->nblocks; b++)
    next[colour[b] + 1]++;
  for (int c = 0; c < plan->ncolours; c++)
    next[c + 1] += next[c];
  for (int b = 0; b < plan->nblocks; b++)
    plan->block_map[next[colour[b]]++] = b;
  return OP_OK;
}

static int build_blocks(struct plan *plan, const struct plan_request *r, struct error *err) {
  struct arrays arrays = {0};
  struct marks marks;
  int *colour = arrays_add(&arrays, (size_t)plan->nblocks, sizeof *colour);
  int status = marks_new(&marks, &arrays, r->columns, r->ncolumns, err);
  if (!status) {
    find_block_colours(plan, r, &marks, colour);
    status = sort_blocks(plan, colour, err);
  }
  arrays_free(&arrays);
  return status;
}

/* ---- colours of elements ---------------------------------------------------------------------------*/

enum { no_colour = 0xffff, most_element_colours = 0xffff };

static int element_round(struct plan *plan, const struct plan_request *r, struct marks *m, int b, int base) {
  unsigned short *colour = plan->element_colour;
  int left = 0;
  for (long e = block_begin(plan, b); e < block_end(plan, b); e++) {
    if (colour[e] != no_colour)
      continue;
    const uint32_t taken = change_marks(m, r, e, e + 1, all_taken, 0);
    int bit = taken == all_taken ? colours_at_once : __builtin_ctz(~taken);
    if (bit == colours_at_once || base + bit >= most_element_colours) {
      left++;
      continue;
    }
    colour[e] = (unsigned short)(base + bit);
    if (base + bit >= plan->block_ncolours[b])
      plan->block_ncolours[b] = base + bit + 1;
    change_marks(m, r, e, e + 1, all_taken, (uint32_t)1 << bit);
  }
  return left;
}

/* False if the colours do not suffice. */
static bool colour_block(struct plan *plan, const struct plan_request *r, struct marks *m, int b) {
  long begin = block_begin(plan, b), end = block_end(plan, b);
  memset(plan->element_colour + begin, 0xff, (size_t)(end - begin) * sizeof *plan->element_colour);
  plan->block_ncolours[b] = 0;
  int left = 1;
  for (int base = 0; left && base < most_element_colours; base += colours_at_once) {
    clear_range(m, r, begin, end);
    left = element_round(plan, r, m, b, base);
  }
  return !left;
}

struct element_job {
  struct plan *plan;
  const struct plan_request *request;
  struct marks *marks; /* per thread */
  bool *failed;        /* per thread */
};

static void colour_elements(void *argument, int thread, int threads) {
  const struct element_job *job = argument;
  long n = job->plan->nblocks;
  for (int b = (int)(n * thread / threads), end = (int)(n * (thread + 1) / threads); b < end; b++)
    if (!colour_block(job->plan, job->request, &job->marks[thread], b))
      job->failed[thread] = true;
}

static int build_elements(struct plan *plan, const struct plan_request *r, struct team *team,
                          struct error *err) {
  struct arrays arrays = {0};
  struct marks marks[PLAN_MOST_THREADS];
  bool failed[PLAN_MOST_THREADS] = {0};
  struct element_job job = {.plan = plan, .request = r, .marks = marks, .failed = failed};
  int threads = plan_threads(plan, team), status = OP_OK;
  plan->element_colour = arrays_add(&plan->arrays, (size_t)plan->size, sizeof *plan->element_colour);
  plan->block_ncolours = arrays_add(&plan->arrays, (size_t)plan->nblocks, sizeof *plan->block_ncolours);
  if (plan->arrays.failed)
    status = error_memory(err, "the colours of elements", (size_t)plan->size * sizeof *plan->element_colour);
  for (int t = 0; t < threads && !status; t++)
    status = marks_new(&marks[t], &arrays, r->columns, r->ncolumns, err);
  if (!status)
    team_run(team, threads, colour_elements, &job);
  for (int t = 0; t < threads && !status; t++)
    if (failed[t])
      status = error_set(err, OP_ERR_SIZE,
                         "a block of %d elements needs more than %d element colours, because so many "
                         "of its elements increment one target; use smaller blocks",
                         plan->block_size, most_element_colours);
  for (int b = 0; b < plan->nblocks && !status; b++)
    if (plan->block_ncolours[b] > plan->max_element_colours)
      plan->max_element_colours = plan->block_ncolours[b];
  arrays_free(&arrays);
  return status;
}

/* ---- blocks of the same work -----------------------------------------------------------------------*/

long work_cut(const long long *work, long size, long k, long n) {
  const long long all = work[size] - work[0] + size, wanted = all / n * k + all % n * k / n;
  long low = 0, high = size;
  while (low < high) {
    const long middle = low + (high - low) / 2;
    if (work[middle] - work[0] + middle < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static int cut_blocks(struct plan *plan, const struct plan_request *r, struct error *err) {
  if (!r->work)
    return OP_OK;
  plan->block_first = arrays_add(&plan->arrays, (size_t)plan->nblocks + 1, sizeof *plan->block_first);
  if (!plan->block_first)
    return error_memory(err, "the blocks of a plan", (size_t)plan->nblocks * sizeof *plan->block_first);
  for (int b = 1; b <= plan->nblocks; b++)
    plan->block_first[b] = work_cut(r->work, plan->size, b, plan->nblocks);
  return OP_OK;
}

/* ---- the whole -------------------------------------------------------------------------------------*/

int plan_build(struct plan *plan, const struct plan_request *r, struct team *team, struct error *err) {
  memset(plan, 0, sizeof *plan);
  if (r->block_size < 1)
    return error_set(err, OP_ERR_ARGUMENT, "a plan with blocks of %d elements was asked for; give 1 or more",
                     r->block_size);
  long nblocks = r->size / r->block_size + (r->size % r->block_size != 0);
  if (nblocks >= INT_MAX)
    return error_set(err, OP_ERR_SIZE,
                     "a plan of %ld blocks is too large; use blocks of more than %d elements", nblocks,
                     r->block_size);
  plan->size = r->size;
  plan->block_size = r->block_size;
  plan->nblocks = (int)nblocks;
  int status = cut_blocks(plan, r, err);
  if (!status)
    status = build_blocks(plan, r, err);
  if (!status && r->element_colours)
    status = build_elements(plan, r, team, err);
  if (!status && r->nstaged)
    status = plan_build_staging(plan, r, team, err);
  if (status)
    plan_free(plan);
  return status;
}

void plan_free(struct plan *plan) {
  arrays_free(&plan->arrays);
  arrays_free(&plan->locals);
  *plan = (struct plan){0};
}

/* ---- the row: blocks for devices, which are dealt out at each launch -------------------------------*/

static int build(struct plan_entry *e, const struct plan_wish *w, struct team *team, struct error *err) {
  return plan_build(&e->plan, &w->request, team, err);
}

static int verify(const struct plan_entry *e, const struct plan_wish *w, int level, struct error *err) {
  return plan_verify(&e->plan, &w->request, level, err);
}

void describe_blocks(const struct plan_entry *e, struct text *out) {
  text_addf(out, ", %d blocks of %s%d in %d colours", e->plan.nblocks,
            e->plan.block_first ? "the same work, on average " : "", e->plan.block_size, e->plan.ncolours);
}

const struct strategy strategy_plan = {.name = "plan",
                                       .columns = COLUMNS_WRITTEN,
                                       .looks = LOOKS_AT_BLOCKS | LOOKS_AT_STAGING,
                                       .build = build,
                                       .verify = verify,
                                       .describe = describe_blocks};
