/* Chunks in any order: nothing is incremented through a map. */
#include "plan/strategy.h"

/* Enough chunks for any machine, and the same whatever the number of threads, so that reductions are too. Where
 * each of them has results to combine they are fewer and longer, so that beginning and ending one costs nothing,
 * in steps that many threads can share out evenly; the others run in one go where they follow one another. */
static const long most_chunks = 256, combined_chunks = 64, long_chunk = 8192, least_chunk = 256,
                  chunk_multiple = 64, long_enough = 16;

static long share_out(long size, long chunks) {
  return size / chunks + (size % chunks != 0);
}

long schedule_chunk_size(long size, bool combining) {
  const long fewest = combined_chunks * (size / (combined_chunks * long_chunk) + 1);
  const long chunk = share_out(size, combining && fewest < most_chunks ? fewest : most_chunks);
  return chunk < least_chunk ? least_chunk : (chunk + chunk_multiple - 1) / chunk_multiple * chunk_multiple;
}

void schedule_add_chunks(struct schedule *s, int work, long size, long chunk) {
  for (long begin = 0; begin < size; begin += chunk)
    schedule_add_item(s, work, begin, size - begin > chunk ? begin + chunk : size, -1);
}

/* Strips begin at the beginning of a range, and long chunks lose nothing by beginning where whole strips do. */
static long cut(const struct plan_request *r, long k, long n) {
  const long at = work_cut(r->work, r->size, k, n),
             whole = (at + chunk_multiple / 2) / chunk_multiple * chunk_multiple;
  return k == n || r->size / n < long_enough * chunk_multiple ? at : whole < r->size ? whole : r->size;
}

int schedule_request_chunks(struct schedule *s, const struct plan_request *r, struct error *err) {
  const long chunk = r->block_size > 0 ? r->block_size : schedule_chunk_size(r->size, false);
  const long n = r->size / chunk + (r->size % chunk != 0);
  int status = schedule_new(s, n, 1, 0, err);
  if (status)
    return status;
  schedule_add_phase(s, false);
  if (!r->work)
    schedule_add_chunks(s, WORK_RANGE, r->size, chunk);
  for (long k = 0; r->work && k < n; k++)
    schedule_add_item(s, WORK_RANGE, cut(r, k, n), cut(r, k + 1, n), -1);
  return OP_OK;
}

static int build(struct plan_entry *e, const struct plan_wish *w, struct team *team, struct error *err) {
  (void)team;
  return schedule_request_chunks(&e->schedule, &w->request, err);
}

static void describe(const struct plan_entry *e, struct text *out) {
  text_addf(out, ", %d chunk%s", e->schedule.nitems, e->schedule.nitems == 1 ? "" : "s");
}

static const int sizes[] = {1024, 16384, 0};

const struct strategy strategy_chunks = {.name = "chunks",
                                         .deals = true,
                                         .unsafe = true,
                                         .sizes = sizes,
                                         .piece = schedule_chunk_size,
                                         .build = build,
                                         .verify = verify_dealt,
                                         .describe = describe};
