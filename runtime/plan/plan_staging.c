/* Staging: for each block the targets it reaches, sorted and without duplicates, and for each element where in them
 * its own are. A strategy copies a block's targets near, works on the copies, and writes them back. */
#include "plan/plan_staging.h"

#include <limits.h>
#include <string.h>

#include "base/list.h"

enum { most_targets = 65536, digit_bits = 11, digits = 1 << digit_bits, short_list = 48 };

/* ---- sorting ---------------------------------------------------------------------------------------*/

static int key_of(const int *keys, int value) {
  return keys ? keys[value] : value;
}

static void sort_short(int *list, long n, const int *keys) {
  for (long i = 1; i < n; i++) {
    int value = list[i];
    long at = i;
    for (; at > 0 && key_of(keys, list[at - 1]) > key_of(keys, value); at--)
      list[at] = list[at - 1];
    list[at] = value;
  }
}

/* By one digit of key - least, from `from` to `to`. */
static void sort_digit(const int *from, int *to, long n, const int *keys, int least, int shift) {
  int first[digits + 1] = {0};
  for (long i = 0; i < n; i++)
    first[(((unsigned)key_of(keys, from[i]) - (unsigned)least) >> shift & (digits - 1)) + 1]++;
  for (int d = 0; d < digits; d++)
    first[d + 1] += first[d];
  for (long i = 0; i < n; i++)
    to[first[((unsigned)key_of(keys, from[i]) - (unsigned)least) >> shift & (digits - 1)]++] = from[i];
}

void plan_sort_list(int *list, int *spare, long n, const int *keys) {
  if (n <= short_list) {
    sort_short(list, n, keys);
    return;
  }
  int least = INT_MAX, most = INT_MIN;
  for (long i = 0; i < n; i++) {
    const int key = key_of(keys, list[i]);
    least = key < least ? key : least;
    most = key > most ? key : most;
  }
  unsigned range = (unsigned)most - (unsigned)least;
  int *from = list, *to = spare;
  for (int shift = 0; shift < 32 && range >> shift; shift += digit_bits) {
    sort_digit(from, to, n, keys, least, shift);
    int *swap = from;
    from = to;
    to = swap;
  }
  if (from != list)
    memcpy(list, from, (size_t)n * sizeof *list);
}

int *plan_sorted(struct arrays *arrays, const struct plan_request *r, struct error *err) {
  const size_t n = (size_t)r->size;
  struct arrays room = {0};
  int *order = arrays_add(arrays, n, sizeof *order);
  int *spare = arrays_add(&room, n, sizeof *spare), *keys = arrays_add(&room, n, sizeof *keys);
  if (!order || room.failed) {
    error_memory(err, "elements in a list", n * sizeof *order);
    order = NULL;
  }
  for (long e = 0; order && e < r->size; e++) {
    order[e] = (int)e;
    keys[e] = (int)plan_number(r, e);
  }
  if (order)
    plan_sort_list(order, spare, r->size, keys);
  arrays_free(&room);
  return order;
}

/* ---- one block ---------------------------------------------------------------------------------------*/

struct scratch {
  struct marks marks; /* position + 1 in the block's targets, 0: not met yet */
  int *spare;
};

struct staging_job {
  struct plan *plan;
  struct plan_staging *staging;
  const struct plan_column *columns;
  int *room; /* block_size * ncolumns for each block */
  struct scratch *scratch;
};

/* All columns of a dataset have one target set, so one array of marks. */
static long collect(const struct staging_job *job, uint32_t *mark, int b, int *list) {
  long n = 0;
  for (int c = 0; c < job->staging->ncolumns; c++)
    for (long e = block_begin(job->plan, b); e < block_end(job->plan, b); e++) {
      int t = column_target(&job->columns[c], e);
      if (!mark[t]) {
        mark[t] = 1;
        list[n++] = t;
      }
    }
  return n;
}

static void stage_block(const struct staging_job *job, struct scratch *s, int b) {
  struct plan_staging *staging = job->staging;
  uint32_t *mark = s->marks.all;
  int *list = job->room + (size_t)b * (size_t)job->plan->block_size * (size_t)staging->ncolumns;
  long n = collect(job, mark, b, list);
  plan_sort_list(list, s->spare, n, NULL);
  for (long i = 0; i < n; i++)
    mark[list[i]] = (uint32_t)i + 1;
  for (int c = 0; c < staging->ncolumns; c++)
    for (long e = block_begin(job->plan, b); e < block_end(job->plan, b); e++)
      staging->local[c][e] = (unsigned short)(mark[column_target(&job->columns[c], e)] - 1);
  for (long i = 0; i < n; i++)
    mark[list[i]] = 0;
  staging->first[b + 1] = n;
}

static void stage_blocks(void *argument, int thread, int threads) {
  const struct staging_job *job = argument;
  long n = job->plan->nblocks;
  for (int b = (int)(n * thread / threads), end = (int)(n * (thread + 1) / threads); b < end; b++)
    stage_block(job, &job->scratch[thread], b);
}

/* ---- one dataset -------------------------------------------------------------------------------------*/

/* The lists move together, to the plan; `first` holds their lengths before, their beginnings after. */
static int keep_targets(const struct staging_job *job, struct error *err) {
  struct plan_staging *staging = job->staging;
  struct plan *plan = job->plan;
  const size_t stride = (size_t)plan->block_size * (size_t)staging->ncolumns;
  for (int b = 0; b < plan->nblocks; b++) {
    long n = staging->first[b + 1];
    if (n > most_targets)
      return error_set(err, OP_ERR_SIZE,
                       "block %d of %d elements reaches %ld targets, and staging can number %d; use "
                       "smaller blocks",
                       b, plan->block_size, n, most_targets);
    if (n > staging->max_targets)
      staging->max_targets = (int)n;
    staging->first[b + 1] = staging->first[b] + n;
  }
  const size_t count = (size_t)staging->first[plan->nblocks];
  staging->targets = arrays_add(&plan->arrays, count, sizeof *staging->targets);
  if (!staging->targets)
    return error_memory(err, "the staging of a plan", count * sizeof *staging->targets);
  for (int b = 0; b < plan->nblocks; b++)
    memcpy(staging->targets + staging->first[b], job->room + (size_t)b * stride,
           (size_t)(staging->first[b + 1] - staging->first[b]) * sizeof *staging->targets);
  return OP_OK;
}

static void add_local(struct plan *plan, struct plan_staging *staging, int ncolumns) {
  staging->ncolumns = ncolumns;
  staging->first = arrays_add(&plan->arrays, (size_t)plan->nblocks + 1, sizeof *staging->first);
  staging->local = arrays_add(&plan->locals, (size_t)ncolumns, sizeof *staging->local);
  for (int c = 0; c < ncolumns && staging->local; c++)
    staging->local[c] = arrays_add(&plan->locals, (size_t)plan->size, sizeof **staging->local);
}

static int stage_dataset(struct staging_job *job, int ncolumns, struct team *team, struct error *err) {
  struct plan *plan = job->plan;
  struct arrays arrays = {0};
  struct scratch scratch[PLAN_MOST_THREADS] = {0};
  const size_t per_block = (size_t)plan->block_size * (size_t)ncolumns;
  int threads = plan_threads(plan, team), status = OP_OK;
  add_local(plan, job->staging, ncolumns);
  job->scratch = scratch;
  job->room = arrays_add(&arrays, (size_t)plan->nblocks, per_block * sizeof *job->room);
  for (int t = 0; t < threads && !status; t++) {
    scratch[t].spare = arrays_add(&arrays, per_block, sizeof *scratch[t].spare);
    status = marks_new(&scratch[t].marks, &arrays, job->columns, 1, err);
  }
  if (!status && (plan->arrays.failed || plan->locals.failed))
    status = error_memory(err, "the staging of a plan",
                          (size_t)plan->size * (size_t)ncolumns * sizeof **job->staging->local);
  if (!status) {
    team_run(team, threads, stage_blocks, job);
    status = keep_targets(job, err);
  }
  arrays_free(&arrays);
  return status;
}

int plan_build_staging(struct plan *plan, const struct plan_request *r, struct team *team,
                       struct error *err) {
  int status = OP_OK;
  plan->staging = arrays_add(&plan->arrays, (size_t)r->nstaged, sizeof *plan->staging);
  if (!plan->staging)
    return error_memory(err, "the staging of a plan", (size_t)r->nstaged * sizeof *plan->staging);
  plan->nstaging = r->nstaged;
  for (int i = 0; i < r->nstaged && !status; i++) {
    struct staging_job job = {
        .plan = plan, .staging = &plan->staging[i], .columns = r->staged_columns + r->staged[i].first};
    status = stage_dataset(&job, r->staged[i].count, team, err);
  }
  return status;
}

/* ---- marks of targets, and how many threads have marks of their own ---- */
/* Fewer elements are not worth waking the threads, and each thread needs marks of its own. */
static const long parallel_from = 100000;

int marks_new(struct marks *m, struct arrays *arrays, const struct plan_column *columns, int ncolumns,
              struct error *err) {
  size_t total = 0, *first = arrays_add(arrays, (size_t)ncolumns, sizeof *first);
  *m = (struct marks){.of_column = arrays_add(arrays, (size_t)ncolumns, sizeof *m->of_column)};
  bool fits = !arrays->failed;
  for (int c = 0; c < ncolumns && fits; c++) {
    int same = 0;
    while (columns[same].target != columns[c].target)
      same++;
    first[c] = same < c ? first[same] : total;
    if (same == c)
      fits = size_add(total, (size_t)columns[c].target_size, &total);
  }
  m->all = fits ? arrays_add(arrays, total, sizeof *m->all) : NULL;
  m->count = total;
  for (int c = 0; c < ncolumns && m->all; c++)
    m->of_column[c] = m->all + first[c];
  return m->all ? OP_OK : error_memory(err, "the marks of a plan", total * sizeof *m->all);
}

int plan_threads(const struct plan *plan, const struct team *team) {
  int threads = team_threads(team);
  if (plan->size < parallel_from || plan->nblocks < 2)
    return 1;
  if (threads > PLAN_MOST_THREADS)
    threads = PLAN_MOST_THREADS;
  return threads < plan->nblocks ? threads : plan->nblocks;
}
