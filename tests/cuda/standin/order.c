/* Blocks of a launch are ordered by this: a thread that fences and then changes a word by an atomic operation hands over what it and
 * its block did before; one that changes that word later and then fences takes it over, and so does its block behind the next
 * barrier. Blocks run one after the other, so that "later" is plain. */
#include <stdlib.h>
#include <string.h>

#include "standin.h"

enum { MAX_THREADS = 1024 };

struct handed {
  uintptr_t word; /* 0: nothing */
  uint32_t epoch; /* of the fence */
  int thread;
  bool started; /* the block */
};

static struct {
  struct handed *of; /* each block's newest */
  uint32_t blocks, room;
  struct {
    bool fenced;
    uint32_t epoch;
    uintptr_t changed; /* its last atomic operation's word */
  } threads[MAX_THREADS];
  struct handed taken; /* by the running block */
} order;

bool order_launch(uint32_t blocks) {
  if (!standin_settings.checked)
    return true;
  if (blocks > order.room) {
    struct handed *of = realloc(order.of, blocks * sizeof *of);
    if (!of)
      return false;
    order.of = of;
    order.room = blocks;
  }
  memset(order.of, 0, blocks * sizeof *order.of);
  order.blocks = blocks;
  return true;
}

void order_block(uint32_t number) {
  if (!standin_settings.checked)
    return;
  memset(order.threads, 0, sizeof order.threads);
  order.taken = (struct handed){0};
  order.of[number].started = true;
}

void order_fence(void) {
  const struct thread_state *t = running.thread;
  order.threads[t->number].fenced = true;
  order.threads[t->number].epoch = t->epoch;
  if (order.threads[t->number].changed)
    order.taken =
        (struct handed){.word = order.threads[t->number].changed, .epoch = t->epoch, .thread = t->number};
}

void order_atomic(uintptr_t word) {
  const struct thread_state *t = running.thread;
  order.threads[t->number].changed = word;
  if (order.threads[t->number].fenced)
    order.of[running.block] = (struct handed){
        .word = word, .epoch = order.threads[t->number].epoch, .thread = t->number, .started = true};
}

static bool covers(const struct handed *h, const struct mark *m) {
  return h->word == order.taken.word &&
         (m->epoch < h->epoch || (m->block != MARK_BLOCKS && m->epoch == h->epoch && m->thread == h->thread));
}

bool order_before(const struct mark *m) {
  const struct handed *taken = &order.taken;
  const struct thread_state *t = running.thread;
  if (!taken->word || (t->epoch <= taken->epoch && t->number != taken->thread))
    return false;
  if (m->block != MARK_BLOCKS)
    return covers(&order.of[m->block], m);
  for (uint32_t b = 0; b < order.blocks; b++) /* any of those that ran, this one too */
    if (order.of[b].started && !covers(&order.of[b], m))
      return false;
  return true;
}
