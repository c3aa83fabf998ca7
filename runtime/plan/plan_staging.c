/* Staging: for each block the targets it reaches, sorted and without duplicates, and for each element where in them
 * its own are. A strategy copies a block's targets near, works on the copies, and writes them back. */
#include "plan/plan_staging.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"

enum { most_targets = 65536, digit_bits = 11, digits = 1 << digit_bits, short_list = 48 };

/* ---- sorting ---------------------------------------------------------------------------------------*/

static void sort_short(int *list, long n) {
  for (long i = 1; i < n; i++) {
    int value = list[i];
    long at = i;
    for (; at > 0 && list[at - 1] > value; at--)
      list[at] = list[at - 1];
    list[at] = value;
  }
}

/* By one digit of value - least, from `from` to `to`. */
static void sort_digit(const int *from, int *to, long n, int least, int shift) {
  int first[digits + 1] = {0};
  for (long i = 0; i < n; i++)
    first[(((unsigned)from[i] - (unsigned)least) >> shift & (digits - 1)) + 1]++;
  for (int d = 0; d < digits; d++)
    first[d + 1] += first[d];
  for (long i = 0; i < n; i++)
    to[first[((unsigned)from[i] - (unsigned)least) >> shift & (digits - 1)]++] = from[i];
}

static void sort_targets(int *list, int *spare, long n) {
  if (n <= short_list) {
    sort_short(list, n);
    return;
  }
  int least = list[0], most = list[0];
  for (long i = 1; i < n; i++) {
    least = list[i] < least ? list[i] : least;
    most = list[i] > most ? list[i] : most;
  }
  unsigned range = (unsigned)most - (unsigned)least;
  int *from = list, *to = spare;
  for (int shift = 0; shift < 32 && range >> shift; shift += digit_bits) {
    sort_digit(from, to, n, least, shift);
    int *swap = from;
    from = to;
    to = swap;
  }
  if (from != list)
    memcpy(list, from, (size_t)n * sizeof *list);
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
  sort_targets(list, s->spare, n);
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

/* The lists move together; `first` holds their lengths before, their beginnings after. */
static int close_gaps(const struct staging_job *job, struct error *err) {
  struct plan_staging *staging = job->staging;
  size_t stride = (size_t)job->plan->block_size * (size_t)staging->ncolumns;
  for (int b = 0; b < job->plan->nblocks; b++) {
    long n = staging->first[b + 1];
    if (n > most_targets)
      return error_set(err, OP_ERR_SIZE,
                       "block %d of %d elements reaches %ld targets, and staging can number %d; use "
                       "smaller blocks",
                       b, job->plan->block_size, n, most_targets);
    if (n > staging->max_targets)
      staging->max_targets = (int)n;
    memmove(job->room + staging->first[b], job->room + (size_t)b * stride, (size_t)n * sizeof *job->room);
    staging->first[b + 1] = staging->first[b] + n;
  }
  return OP_OK;
}

static int new_staging(struct plan *plan, struct plan_staging *staging, int ncolumns, struct error *err) {
  staging->ncolumns = ncolumns;
  staging->first = array_new((size_t)plan->nblocks + 1, sizeof *staging->first);
  staging->local = array_new((size_t)ncolumns, sizeof *staging->local);
  bool there = staging->first && staging->local;
  for (int c = 0; c < ncolumns && there; c++)
    there = (staging->local[c] = array_new((size_t)plan->size, sizeof **staging->local)) != NULL;
  return there ? OP_OK
               : error_memory(err, "the staging of a plan",
                              (size_t)plan->size * (size_t)ncolumns * sizeof **staging->local);
}

static int stage_dataset(struct staging_job *job, struct team *team, struct error *err) {
  struct scratch scratch[PLAN_MOST_THREADS] = {0};
  size_t per_block = 0, room = 0;
  int threads = plan_threads(job->plan, team), status = OP_OK;
  job->scratch = scratch;
  bool fits = size_mul((size_t)job->plan->block_size, (size_t)job->staging->ncolumns, &per_block) &&
              size_mul(per_block, (size_t)job->plan->nblocks, &room);
  job->room = fits ? array_new(room, sizeof *job->room) : NULL;
  if (!job->room)
    status = error_memory(err, "the staging of a plan", room * sizeof *job->room);
  for (int t = 0; t < threads && !status; t++) {
    status = marks_new(&scratch[t].marks, job->columns, 1, err);
    scratch[t].spare = status ? NULL : array_new(per_block, sizeof *scratch[t].spare);
    if (!status && !scratch[t].spare)
      status = error_memory(err, "the staging of a plan", per_block * sizeof *scratch[t].spare);
  }
  if (!status) {
    team_run(team, threads, stage_blocks, job);
    status = close_gaps(job, err);
  }
  for (int t = 0; t < threads; t++) {
    marks_free(&scratch[t].marks);
    free(scratch[t].spare);
  }
  if (!status) {
    job->staging->targets =
        array_resize(job->room, (size_t)job->staging->first[job->plan->nblocks], sizeof(int));
    if (job->staging->targets)
      job->room = NULL;
    else
      status = error_memory(err, "the staging of a plan", room * sizeof *job->room);
  }
  free(job->room);
  return status;
}

int plan_build_staging(struct plan *plan, const struct plan_request *r, struct team *team,
                       struct error *err) {
  plan->staging = array_new((size_t)r->nstaged, sizeof *plan->staging);
  if (!plan->staging)
    return error_memory(err, "the staging of a plan", (size_t)r->nstaged * sizeof *plan->staging);
  plan->nstaging = r->nstaged;
  for (int i = 0; i < r->nstaged; i++) {
    struct staging_job job = {
        .plan = plan, .staging = &plan->staging[i], .columns = r->staged_columns + r->staged[i].first};
    int status = new_staging(plan, job.staging, r->staged[i].count, err);
    if (!status)
      status = stage_dataset(&job, team, err);
    if (status)
      return status;
  }
  return OP_OK;
}

void plan_free_staging(struct plan *plan) {
  for (int i = 0; i < plan->nstaging; i++) {
    struct plan_staging *s = &plan->staging[i];
    for (int c = 0; s->local && c < s->ncolumns; c++)
      free(s->local[c]);
    free(s->local);
    free(s->first);
    free(s->targets);
    free(s->last);
    free(s->slots);
    free(s->late);
    free(s->late_first);
  }
  free(plan->staging);
}

size_t plan_staging_bytes(const struct plan *plan) {
  size_t bytes = (size_t)plan->nstaging * sizeof *plan->staging;
  for (int i = 0; i < plan->nstaging; i++) {
    const struct plan_staging *s = &plan->staging[i];
    bytes += ((size_t)plan->nblocks + 1) * sizeof *s->first;
    bytes += s->late_first ? (2 * (size_t)s->nlate + 1) * sizeof *s->late : 0;
    bytes += (size_t)s->first[plan->nblocks] * (sizeof *s->targets + (size_t)s->entry_bytes);
    bytes +=
        (size_t)s->ncolumns * (size_t)plan->size * (s->local ? sizeof **s->local : (size_t)s->entry_bytes);
  }
  return bytes;
}

/* ---- marks of targets, and how many threads have marks of their own ---- */
/* Fewer elements are not worth waking the threads, and each thread needs marks of its own. */
static const long parallel_from = 100000;

int marks_new(struct marks *m, const struct plan_column *columns, int ncolumns, struct error *err) {
  size_t total = 0, first[OP_MAX_ARGS];
  memset(m, 0, sizeof *m);
  m->of_column = array_new((size_t)ncolumns, sizeof *m->of_column);
  size_t *offsets = ncolumns <= OP_MAX_ARGS ? first : array_new((size_t)ncolumns, sizeof *offsets);
  bool fits = m->of_column && offsets;
  for (int c = 0; c < ncolumns && fits; c++) {
    int same = 0;
    while (columns[same].target != columns[c].target)
      same++;
    offsets[c] = same < c ? offsets[same] : total;
    if (same == c)
      fits = size_add(total, (size_t)columns[c].target_size, &total);
  }
  m->all = fits ? array_new(total, sizeof *m->all) : NULL;
  m->count = total;
  for (int c = 0; c < ncolumns && m->all; c++)
    m->of_column[c] = m->all + offsets[c];
  if (offsets != first)
    free(offsets);
  if (m->all)
    return OP_OK;
  marks_free(m);
  return error_memory(err, "the marks of a plan", total * sizeof *m->all);
}

void marks_free(struct marks *m) {
  free(m->of_column);
  free(m->all);
  memset(m, 0, sizeof *m);
}

int plan_threads(const struct plan *plan, const struct team *team) {
  int threads = team_threads(team);
  if (plan->size < parallel_from || plan->nblocks < 2)
    return 1;
  if (threads > PLAN_MOST_THREADS)
    threads = PLAN_MOST_THREADS;
  return threads < plan->nblocks ? threads : plan->nblocks;
}
