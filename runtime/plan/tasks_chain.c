/* A chain of loops as blocks that wait for one another, without a barrier between its loops. */
#include <string.h>

#include "base/list.h"
#include "plan/tasks.h"

struct described {
  struct arrays arrays; /* all of these */
  const struct chain *chain;
  struct tasks_loop *loops;
  struct tasks_access *accesses; /* of all loops */
  long *sizes;
  struct plan_column *columns; /* room for one loop's */
  struct plan *plans;          /* of each loop; empty where an earlier loop has the same */
};

/* ---- accesses, column by column ---- */

static struct plan_column column_of(const struct chain *c, const struct chain_access *a, int k) {
  const struct chain_map *map = a->map < 0 ? NULL : &c->maps[a->map];
  return (struct plan_column){.table = map ? map->table : NULL,
                              .first = map ? map->first : NULL,
                              .arity = map ? map->arity : 1,
                              .column = map ? a->first + k : 0,
                              .target = a->dat,
                              .target_size = c->sets[c->dats[a->dat]].size};
}

static int columns_of(const struct chain_access *a) {
  return a->map < 0 ? 1 : a->count;
}

static size_t count_columns(const struct chain *c) {
  size_t count = 0;
  for (int l = 0; l < c->nloops; l++)
    for (int a = 0; a < c->loops[l].naccesses; a++)
      count += (size_t)columns_of(&c->loops[l].accesses[a]);
  return count;
}

static int describe(struct described *d, const struct chain *c, struct error *err) {
  const size_t nloops = (size_t)c->nloops, ncolumns = count_columns(c);
  d->chain = c;
  d->loops = arrays_add(&d->arrays, nloops, sizeof *d->loops);
  d->sizes = arrays_add(&d->arrays, nloops, sizeof *d->sizes);
  d->plans = arrays_add(&d->arrays, nloops, sizeof *d->plans);
  d->columns = arrays_add(&d->arrays, ncolumns, sizeof *d->columns);
  d->accesses = arrays_add(&d->arrays, ncolumns, sizeof *d->accesses);
  if (d->arrays.failed)
    return error_memory(err, "the description of a chain", ncolumns * sizeof *d->accesses);
  struct tasks_access *next = d->accesses;
  for (int l = 0; l < c->nloops; l++) {
    d->sizes[l] = chain_size(c, l);
    d->loops[l].accesses = next;
    for (int a = 0; a < c->loops[l].naccesses; a++) {
      const struct chain_access *one = &c->loops[l].accesses[a];
      for (int k = 0; k < columns_of(one); k++)
        *next++ = (struct tasks_access){.at = column_of(c, one, k), .use = one->use};
    }
    d->loops[l].naccesses = (int)(next - d->loops[l].accesses);
  }
  return OP_OK;
}

static void forget(struct described *d) {
  for (int l = 0; d->plans && l < d->chain->nloops; l++)
    plan_free(&d->plans[l]);
  arrays_free(&d->arrays);
}

/* ---- blocks and colours ---- */

static bool same_loop(const struct chain *c, int a, int b) {
  const struct chain_loop *x = &c->loops[a], *y = &c->loops[b];
  bool same = x->set == y->set && x->naccesses == y->naccesses;
  for (int i = 0; same && i < x->naccesses; i++) {
    const struct chain_access *p = &x->accesses[i], *q = &y->accesses[i];
    same = p->dat == q->dat && p->use == q->use && p->map == q->map && p->first == q->first &&
           p->count == q->count;
  }
  return same;
}

/* Columns in which elements of one loop meet: dats that they add to through a map. Dats that are added to directly only are
 * columns in which nobody meets. */
static int add_columns(const struct tasks_loop *loop, struct plan_column *columns) {
  int count = 0;
  for (int a = 0; a < loop->naccesses; a++)
    if (loop->accesses[a].use == CHAIN_ADDS)
      columns[count++] = loop->accesses[a].at;
  return count;
}

/* All sets in as many blocks, so that those of one place belong together; a small one in as many as it has. */
static int block_size(const struct tasks_wish *wish, long size) {
  const long share = size / wish->blocks + (size % wish->blocks != 0);
  return share > wish->least ? (int)((share + wish->least - 1) / wish->least * wish->least) : wish->least;
}

static int plan_loop(struct described *d, int loop, const struct tasks_wish *wish, struct team *team,
                     struct error *err) {
  const struct chain *c = d->chain;
  for (int l = 0; l < loop; l++)
    if (same_loop(c, l, loop)) {
      d->loops[loop].plan = d->loops[l].plan;
      return OP_OK;
    }
  const struct plan_request request = {.size = d->sizes[loop],
                                       .block_size = block_size(wish, d->sizes[loop]),
                                       .columns = d->columns,
                                       .ncolumns = add_columns(&d->loops[loop], d->columns)};
  d->loops[loop].plan = &d->plans[loop];
  return plan_build(&d->plans[loop], &request, team, err);
}

/* ---- all of it ---- */

static void count(struct tiles *t, const struct described *d) {
  t->ntiles = t->schedule.nitems;
  for (int l = 0; l < d->chain->nloops; l++) {
    t->all += d->sizes[l];
    t->nslots[l] = d->chain->loops[l].combines ? d->loops[l].plan->nblocks : 0;
  }
}

int tasks_of_chain(struct tiles *t, const struct chain *chain, const struct tasks_wish *wish,
                   struct team *team, struct error *err) {
  struct described d = {0};
  *t = (struct tiles){.nslots = array_new((size_t)chain->nloops, sizeof(int))};
  int code = describe(&d, chain, err);
  if (!code && !t->nslots)
    code = error_memory(err, "the slots of a chain", (size_t)chain->nloops * sizeof(int));
  for (int l = 0; !code && l < chain->nloops; l++)
    code = plan_loop(&d, l, wish, team, err);
  if (!code)
    code = tasks_build(&t->schedule, d.loops, chain->nloops, err);
  if (!code)
    count(t, &d);
  forget(&d);
  if (code)
    tiles_free(t);
  return code;
}

int chain_verify(const struct tiles *t, const struct chain *chain, struct error *err) {
  struct described d = {0};
  int code = describe(&d, chain, err);
  for (int l = 0; !code && l < chain->nloops; l++)
    d.loops[l].nslots = t->nslots[l];
  if (!code)
    code = tasks_verify(&t->schedule, d.loops, d.sizes, chain->nloops, 0, err);
  forget(&d);
  return code;
}
