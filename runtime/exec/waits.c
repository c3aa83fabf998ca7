/* Ready items are bits, in words.
 *
 * A thread that finds nothing says that it is idle, looks once more, and sleeps at the gate. Who ends an item makes
 * others ready first and then looks for idle threads: of the two one sees the other. So bits and the number of idle threads
 * are seq_cst: each thread looks at one of them after it wrote the other. acquire and release alone do not promise it, and
 * processors with a weak order, or with buffers for stores, do not keep it. */
#include "exec/waits.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "base/clock.h"
#include "base/list.h"
#include "exec/team_gate.h"

enum { BITS = 64 };

struct waits {
  struct arrays arrays; /* all of these */
  int nitems;
  int *before;
  unsigned *at; /* items[at[i]] .. items[at[i + 1] - 1] wait for item i */
  int *items;
  /* During a run: */
  _Atomic int *left;       /* of each item, how many it waits for still */
  _Atomic uint64_t *ready; /* a bit for each item */
  char apart[64];          /* what all threads write, from what they read */
  _Atomic int undone;      /* items that are not over */
  char apart_too[64];
  _Atomic int idle; /* threads that found nothing */
  struct gate gate;
};

/* ---- what waits for what ---- */

static void fill(struct waits *w, const struct wait *list, size_t count) {
  unsigned *next = w->at + 1;
  for (size_t i = 0; i < count; i++) {
    w->before[list[i].item]++;
    next[list[i].before + 1]++;
  }
  for (int i = 0; i < w->nitems; i++)
    next[i + 1] += next[i];
  for (size_t i = 0; i < count; i++)
    w->items[next[list[i].before]++] = list[i].item;
}

int waits_new(struct waits **out, int nitems, const struct wait *list, size_t count, struct error *err) {
  struct waits *w = NULL;
  const size_t n = (size_t)nitems, words = n / BITS + (n % BITS != 0);
  *out = NULL;
  if (count > UINT_MAX)
    return error_set(err, OP_ERR_SIZE, "%zu pairs of blocks wait for one another; use larger blocks", count);
  struct arrays arrays = {0};
  if ((w = arrays_add(&arrays, 1, sizeof *w)))
    *w = (struct waits){.nitems = nitems,
                        .before = arrays_add(&arrays, n, sizeof *w->before),
                        .at = arrays_add(&arrays, n + 2, sizeof *w->at),
                        .items = arrays_add(&arrays, count, sizeof *w->items),
                        .left = arrays_add(&arrays, n, sizeof *w->left),
                        .ready = arrays_add(&arrays, words, sizeof *w->ready)};
  if (arrays.failed) {
    arrays_free(&arrays);
    return error_memory(err, "items that wait", (count + n) * sizeof *w->items);
  }
  fill(w, list, count);
  w->arrays = arrays;
  *out = w;
  return OP_OK;
}

void waits_free(struct waits *w) {
  struct arrays arrays = w ? w->arrays : (struct arrays){0};
  arrays_free(&arrays);
}

size_t waits_bytes(const struct waits *w) {
  return w ? w->arrays.bytes : 0;
}

const int *waits_after(const struct waits *w, int i, int *count) {
  *count = (int)(w->at[i + 1] - w->at[i]);
  return w->items + w->at[i];
}

int waits_order(const struct waits *w, int *order, int *left) {
  int count = 0;
  memcpy(left, w->before, (size_t)w->nitems * sizeof *left);
  for (int i = 0; i < w->nitems; i++)
    if (left[i] == 0)
      order[count++] = i;
  for (int i = 0; i < count; i++)
    for (unsigned k = w->at[order[i]]; k < w->at[order[i] + 1]; k++)
      if (--left[w->items[k]] == 0)
        order[count++] = w->items[k];
  return count;
}

/* ---- bits ---- */

static uint64_t bit(int i) {
  return (uint64_t)1 << (i % BITS);
}

/* release: what the item waited for was done before; who gets the bit acquires it */
static void set(struct waits *w, int i) {
  atomic_fetch_or(&w->ready[i / BITS], bit(i));
}

/* True if the bit was there, and this thread took it. */
static bool got(struct waits *w, int i) {
  return atomic_fetch_and(&w->ready[i / BITS], ~bit(i)) & bit(i);
}

/* Keeps the bits of word `word` that have numbers first .. end-1. */
static uint64_t between(uint64_t bits, int word, int first, int end) {
  const int from = first - word * BITS, to = end - word * BITS;
  if (from > 0)
    bits = from < BITS ? bits & (~(uint64_t)0 << from) : 0;
  if (to < BITS)
    bits = to > 0 ? bits & ~(~(uint64_t)0 << to) : 0;
  return bits;
}

/* The first ready item of first .. end-1, or the last one; -1: there is none. */
static int take(struct waits *w, int first, int end, bool last) {
  const int step = last ? -1 : 1, begin = first / BITS, most = (end - 1) / BITS;
  for (int word = last ? most : begin; word >= begin && word <= most; word += step)
    for (uint64_t bits; (bits = between(atomic_load(&w->ready[word]), word, first, end));) {
      const int i = word * BITS + (last ? BITS - 1 - __builtin_clzll(bits) : __builtin_ctzll(bits));
      if (got(w, i))
        return i;
    }
  return -1;
}

/* ---- a run ---- */

void waits_begin(struct waits *w) {
  for (int i = 0; i < w->nitems; i++)
    /* relaxed: the run begins behind it, by the team's gates */
    atomic_store_explicit(&w->left[i], w->before[i], memory_order_relaxed);
  w->undone = w->nitems;
  w->idle = 0;
  for (int i = 0; i < w->nitems; i++)
    if (w->before[i] == 0)
      set(w, i);
}

static int share(const struct waits *w, int thread, int threads) {
  return (int)((long)w->nitems * thread / threads);
}

static int look(struct waits *w, int thread, int threads) {
  int first = share(w, thread, threads), end = share(w, thread + 1, threads);
  int i = first < end ? take(w, first, end, false) : -1;
  for (int k = 1; i < 0 && k < threads; k++) {
    const int other = (thread + k) % threads;
    first = share(w, other, threads);
    end = share(w, other + 1, threads);
    i = first < end ? take(w, first, end, true) : -1;
  }
  return i;
}

int waits_take(struct waits *w, struct team *team, int thread, int threads, double *waited) {
  int i = look(w, thread, threads);
  if (i >= 0 || threads == 1)
    return i;
  const double start = waited ? clock_seconds() : 0;
  while (i < 0 && atomic_load(&w->undone) > 0) {
    const uint32_t seen = gate_value(&w->gate);
    atomic_fetch_add(&w->idle, 1);
    i = look(w, thread, threads);
    if (i < 0 && atomic_load(&w->undone) > 0)
      team_await(team, &w->gate, seen);
    atomic_fetch_sub(&w->idle, 1);
  }
  if (waited)
    *waited += clock_seconds() - start;
  return i;
}

void waits_done(struct waits *w, int item) {
  int readied = 0;
  for (unsigned k = w->at[item]; k < w->at[item + 1]; k++)
    /* release: the item's results; acquire: the last of those before has the results of all, and hands them on in set() */
    if (atomic_fetch_sub_explicit(&w->left[w->items[k]], 1, memory_order_acq_rel) == 1) {
      set(w, w->items[k]);
      readied++;
    }
  /* seq_cst: after the bits of set(), before the look at idle threads. Results of the whole run are handed on by the
   * team's end, not by this. */
  if (atomic_fetch_sub(&w->undone, 1) == 1)
    gate_open(&w->gate);
  else if (readied > 0 && atomic_load(&w->idle) > 0)
    gate_open_for(&w->gate, readied);
}
