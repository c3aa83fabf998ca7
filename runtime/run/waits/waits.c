/* Ready items are bits, in words; a bit in `some` says that a word may have any. Who takes the last bit of a word takes
 * that one away, and looks at the word again: it may have got a new bit meanwhile.
 *
 * All of that is seq_cst, for it looks at one variable after it wrote another one: in an order that all threads share one
 * of two such threads sees what the other wrote. acquire and release alone do not promise it, and processors with a weak
 * order, or with buffers for stores, do not keep it.
 *
 * A thread that finds nothing says that it is idle, looks once more, and sleeps at the gate. Who ends an item makes
 * others ready first and then looks for idle threads: of the two one sees the other. */
#include "run/waits/waits.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "base/clock.h"
#include "base/size.h"
#include "run/team_gate.h"

enum { BITS = 64 };

struct waits {
  int nitems;
  int *before;
  unsigned *at; /* items[at[i]] .. items[at[i + 1] - 1] wait for item i */
  int *items;
  /* Of a run: */
  _Atomic int *left; /* of each item, how many it waits for still */
  _Atomic uint64_t *ready, *some;
  char apart[64];     /* what all threads write, from what they read */
  _Atomic int undone; /* items that are not over */
  char apart_too[64];
  _Atomic int idle; /* threads that found nothing */
  struct gate gate;
};

/* ---- what waits for what ---- */

static int fill(struct waits *w, const struct wait *list, size_t count) {
  for (size_t i = 0; i < count; i++) {
    w->before[list[i].item]++;
    w->at[list[i].before + 1]++;
  }
  for (int i = 0; i < w->nitems; i++)
    w->at[i + 1] += w->at[i];
  for (size_t i = 0; i < count; i++)
    w->items[w->at[list[i].before]++] = list[i].item;
  for (int i = w->nitems; i > 0; i--)
    w->at[i] = w->at[i - 1];
  w->at[0] = 0;
  return OP_OK;
}

static size_t words_of(size_t bits) {
  return bits / BITS + (bits % BITS != 0);
}

int waits_new(struct waits **out, int nitems, const struct wait *list, size_t count, struct error *err) {
  struct waits *w;
  const size_t n = (size_t)nitems, words = words_of(n);
  *out = NULL;
  if (count > UINT_MAX)
    return error_set(err, OP_ERR_SIZE, "%zu pairs of blocks wait for one another; use larger blocks", count);
  if (!(w = calloc(1, sizeof *w)))
    return error_memory(err, "items that wait", sizeof *w);
  w->nitems = nitems;
  w->before = array_new(n, sizeof *w->before);
  w->at = array_new(n + 1, sizeof *w->at);
  w->items = array_new(count, sizeof *w->items);
  w->left = array_new(n, sizeof *w->left);
  w->ready = array_new(words, sizeof *w->ready);
  w->some = array_new(words_of(words), sizeof *w->some);
  if (!w->before || !w->at || !w->items || !w->left || !w->ready || !w->some) {
    waits_free(w);
    return error_memory(err, "items that wait", (count + n) * sizeof *w->items);
  }
  *out = w;
  return fill(w, list, count);
}

void waits_free(struct waits *w) {
  if (!w)
    return;
  free(w->before);
  free(w->at);
  free(w->items);
  free(w->left);
  free(w->ready);
  free(w->some);
  free(w);
}

size_t waits_bytes(const struct waits *w) {
  const size_t n = w ? (size_t)w->nitems : 0, words = words_of(n);
  return w ? sizeof *w + (2 * n + w->at[n]) * sizeof(int) + (n + 1) * sizeof *w->at +
                 (words + words_of(words)) * sizeof *w->ready
           : 0;
}

int waits_before(const struct waits *w, int i) {
  return w->before[i];
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

static void set(struct waits *w, int i) {
  const int word = i / BITS;
  /* release: what the item waited for was done before; who gets the bit acquires it */
  if (atomic_fetch_or(&w->ready[word], bit(i)) == 0)
    atomic_fetch_or(&w->some[word / BITS], bit(word));
}

/* Is the bit there, and this thread the one that got it? */
static bool got(struct waits *w, int i) {
  const int word = i / BITS;
  const uint64_t before = atomic_fetch_and(&w->ready[word], ~bit(i));
  if ((before & ~bit(i)) == 0) {
    atomic_fetch_and(&w->some[word / BITS], ~bit(word));
    if (atomic_load(&w->ready[word]))
      atomic_fetch_or(&w->some[word / BITS], bit(word));
  }
  return before & bit(i);
}

/* Of the bits of word `word` those of numbers first .. end-1. */
static uint64_t between(uint64_t bits, int word, int first, int end) {
  const int from = first - word * BITS, to = end - word * BITS;
  if (from > 0)
    bits = from < BITS ? bits & (~(uint64_t)0 << from) : 0;
  if (to < BITS)
    bits = to > 0 ? bits & ~(~(uint64_t)0 << to) : 0;
  return bits;
}

static int lowest(uint64_t bits) {
  return __builtin_ctzll(bits);
}

static int highest(uint64_t bits) {
  return BITS - 1 - __builtin_clzll(bits);
}

/* In one word. -1: there is none. */
static int take_in(struct waits *w, int word, int first, int end, int (*choose)(uint64_t bits)) {
  for (uint64_t bits; (bits = between(atomic_load(&w->ready[word]), word, first, end));) {
    const int i = word * BITS + choose(bits);
    if (got(w, i))
      return i;
  }
  return -1;
}

/* The first ready item of first .. end-1. */
static int take_first(struct waits *w, int first, int end) {
  for (int s = first / BITS / BITS; s * BITS * BITS < end; s++)
    for (uint64_t words = between(atomic_load(&w->some[s]), s, first / BITS, (end - 1) / BITS + 1); words;
         words &= words - 1) {
      const int i = take_in(w, s * BITS + lowest(words), first, end, lowest);
      if (i >= 0)
        return i;
    }
  return -1;
}

static int take_last(struct waits *w, int first, int end) {
  for (int s = (end - 1) / BITS / BITS; s >= first / BITS / BITS; s--)
    for (uint64_t words = between(atomic_load(&w->some[s]), s, first / BITS, (end - 1) / BITS + 1); words;
         words &= ~bit(highest(words))) {
      const int i = take_in(w, s * BITS + highest(words), first, end, highest);
      if (i >= 0)
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
  int i = first < end ? take_first(w, first, end) : -1;
  for (int k = 1; i < 0 && k < threads; k++) {
    const int other = (thread + k) % threads;
    first = share(w, other, threads);
    end = share(w, other + 1, threads);
    i = first < end ? take_last(w, first, end) : -1;
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
