#include "plan/depth/early.h"

#include <stdlib.h>

#include "base/size.h"

/* What late elements did to an element of a dat. What arrives is reached by elements of the border and copies alone, which
 * are all late. */
enum { LATE_READ = 1, LATE_WRITTEN = 2 };

struct walk {
  const struct chain *chain;
  const struct copies_set *sets;
  unsigned char **late; /* of dats */
};

/* What the access of the element reaches: marks that are set there, to which `more` are added. */
static unsigned visit(const struct walk *w, const struct chain_loop *loop, const struct chain_access *a,
                      long e, unsigned more) {
  unsigned char *late = w->late[a->dat];
  unsigned marks = 0;
  if (a->map < 0) {
    marks = late[e];
    late[e] |= (unsigned char)more;
    return marks;
  }
  const struct chain_map *map = &w->chain->maps[a->map];
  for (long k = 0; e < w->sets[loop->set].rows && k < a->count; k++) {
    const long target = chain_target(map, chain_begin(map, a, e) + k);
    marks |= late[target];
    late[target] |= (unsigned char)more;
  }
  return marks;
}

/* It reaches copies, reads what is written late, or changes what is written or read late. */
static bool is_late(const struct walk *w, const struct chain_loop *loop, long e) {
  bool late = e >= w->sets[loop->set].core;
  for (int i = 0; i < loop->naccesses && !late; i++) {
    const struct chain_access *a = &loop->accesses[i];
    const unsigned minds = a->use == CHAIN_READS ? LATE_WRITTEN : LATE_WRITTEN | LATE_READ;
    late = (visit(w, loop, a, e, 0) & minds) != 0;
  }
  return late;
}

/* Before the loop's next element is looked at: what adds to the same target later is late, too. */
static void note(const struct walk *w, const struct chain_loop *loop, long e) {
  for (int i = 0; i < loop->naccesses; i++)
    visit(w, loop, &loop->accesses[i], e, loop->accesses[i].use == CHAIN_READS ? LATE_READ : LATE_WRITTEN);
}

static void walk_loop(const struct walk *w, const struct chain_loop *loop, const struct copies_list *run,
                      bool *early) {
  for (long e = 0; e < w->sets[loop->set].owned; e++) {
    early[e] = !is_late(w, loop, e);
    if (!early[e])
      note(w, loop, e);
  }
  for (long i = 0; i < run->count; i++)
    note(w, loop, run->elements[i]);
}

static bool make_room(struct walk *w) {
  w->late = array_new((size_t)w->chain->ndats, sizeof *w->late);
  bool all = w->late;
  for (int d = 0; all && d < w->chain->ndats; d++) {
    w->late[d] = array_new((size_t)w->sets[w->chain->dats[d]].all, 1);
    all = w->late[d];
  }
  return all;
}

void early_free(bool **early, int nloops) {
  for (int l = 0; early && l < nloops; l++)
    free(early[l]);
  free(early);
}

int early_find(bool ***out, const struct chain *chain, const struct copies_set *sets, int first, int end,
               const struct copies *c, struct error *err) {
  struct walk w = {.chain = chain, .sets = sets};
  bool **early = array_new((size_t)(end - first), sizeof *early);
  bool all = make_room(&w) && early;
  for (int l = first; all && l < end; l++) {
    const struct chain_loop *loop = &chain->loops[l];
    early[l - first] = array_new((size_t)sets[loop->set].owned, sizeof **early);
    all = early[l - first];
    if (all)
      walk_loop(&w, loop, &c->run[l - first], early[l - first]);
  }
  for (int d = 0; w.late && d < chain->ndats; d++)
    free(w.late[d]);
  free(w.late);
  *out = all ? early : NULL;
  if (all)
    return OP_OK;
  early_free(early, end - first);
  return error_memory(err, "what of a chain needs no messages", 0);
}
