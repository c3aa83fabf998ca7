#include "backend/alternatives.h"

#include "backend/code.h"

static const long elements_per_thread = 16384;
/* The gather form moves what an element increments three times, so it is for short rows. */
static const size_t turned_most = 64;

bool elements_are_few(long elements, int threads) {
  return elements < elements_per_thread * threads;
}

struct offered {
  struct variant *out;
  int count;
};

static void add(struct offered *list, struct variant v) {
  if (list->count < MOST_ALTERNATIVES)
    list->out[list->count++] = v;
}

static void add_shapes(struct offered *list, const struct variant *standard,
                       const struct alternatives_of *loop) {
  for (int i = 0; i < loop->nshapes; i++) {
    struct variant v = *standard;
    v.shape = loop->shapes[i];
    if (loop->heavy)
      v.block_size = heavy_piece(loop->elements, loop->threads, v.shape.width);
    if (!shape_equal(&v.shape, &standard->shape))
      add(list, v);
  }
  if (loop->sorted) {
    struct variant v = *standard;
    v.shape = *loop->sorted;
    v.sorted = true;
    add(list, v);
  }
}

/* The gather form for few blocks, too: they may meet in many colours and leave threads without work, and what is
 * moved is little beside what is computed. */
static void add_apart(struct offered *list, struct variant v, const struct variant *standard,
                      const struct alternatives_of *loop) {
  v.shape.straight = v.shape.stream = v.shape.piped = false;
  if (loop->heavy)
    v.block_size = standard->block_size;
  if (loop->turned_bytes > 0 && (loop->heavy || loop->turned_bytes <= turned_most))
    add(list, v);
}

static void add_strategies(struct offered *list, const struct variant *standard,
                           const struct alternatives_of *loop) {
  struct variant v = {.shape = standard->shape, .threads = standard->threads};
  for (int i = 0; (v.strategy = strategies[i]); i++) {
    if (v.strategy->instead_of != standard->strategy)
      continue;
    v.block_size = loop->heavy && v.strategy->same_piece ? standard->block_size : 0;
    if (v.strategy->apart)
      add_apart(list, v, standard, loop);
    else
      add(list, v);
  }
}

static void add_sizes(struct offered *list, const struct variant *standard,
                      const struct alternatives_of *loop) {
  const int *sizes = standard->strategy->sizes;
  for (int i = 0; !loop->heavy && sizes && sizes[i]; i++) {
    struct variant v = *standard;
    v.block_size = sizes[i];
    if (sizes[i] != standard->block_size && sizes[i] <= loop->elements)
      add(list, v);
  }
}

/* A part of many threads may take all that the memory gives. Nothing less is tried but for heavy loops: on a machine that is busy
 * with other things fewer threads may win, and be remembered. For that there is the crew (crew.h). */
static void add_threads(struct offered *list, const struct variant *standard,
                        const struct alternatives_of *loop) {
  struct variant v = *standard;
  if (standard->strategy->serial || loop->threads < 2)
    return;
  for (v.threads = loop->threads / 2; v.threads > 1 && 4 * v.threads >= loop->threads; v.threads /= 2)
    add(list, v);
  v.threads = 1;
  if (loop->heavy)
    add(list, v);
}

int alternatives(const struct variant *standard, const struct alternatives_of *loop,
                 struct variant out[MOST_ALTERNATIVES]) {
  struct offered list = {.out = out};
  if (loop->elements < TUNED_ELEMENTS && !loop->heavy)
    return 0;
  /* Other programs on the machine may leave a heavy loop without the threads that it was given unasked. */
  if (loop->heavy)
    add_threads(&list, standard, loop);
  add_shapes(&list, standard, loop);
  add_strategies(&list, standard, loop);
  add_sizes(&list, standard, loop);
  if (!loop->heavy)
    add_threads(&list, standard, loop);
  return list.count;
}
