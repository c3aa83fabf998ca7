#include "grown.h"

#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "context/context.h"
#include "mesh/data.h"
#include "parcels.h"
#include "ranks/comm.h"

static int no_memory(struct error *err) {
  return error_memory(err, "the halos of a mesh", 0);
}

/* ---- copies that are only read ---- */

struct copy {
  int remote, id;
};

static int by_remote(const void *a, const void *b) {
  const struct copy *x = a, *y = b;
  return (x->remote > y->remote) - (x->remote < y->remote);
}

static int by_value(const void *a, const void *b) {
  const int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

/* Which ids they are, brought together by owner. */
static int list_nonexec(struct growth *g, struct grown_set *set, struct error *err) {
  const long foreign = set->ids.count - set->owned;
  const size_t ranks = (size_t)g->comm->size;
  bool *executed = array_new((size_t)foreign, sizeof *executed);
  long *first = array_new(ranks + 1, sizeof *first);
  set->nonexec = foreign - set->exec;
  set->nonexec_counts = array_new(ranks, sizeof *set->nonexec_counts);
  set->nonexec_ids = array_new((size_t)set->nonexec, sizeof *set->nonexec_ids);
  int code = executed && first && set->nonexec_counts && set->nonexec_ids ? OP_OK : no_memory(err);
  if (!code) {
    for (long i = 0; i < set->exec; i++)
      executed[set->exec_ids[i] - set->owned] = true;
    for (long i = 0; i < foreign; i++)
      set->nonexec_counts[set->owner[i]] += !executed[i];
    running_sum(first, set->nonexec_counts, g->comm->size);
    for (long i = 0; i < foreign; i++)
      if (!executed[i])
        set->nonexec_ids[first[set->owner[i]]++] = (int)(set->owned + i);
  }
  free(executed);
  free(first);
  return code;
}

/* Owners look up what they are asked for, answer with their own numbers, and send in ascending order from now on. */
static int answer(struct growth *g, const struct grown_set *set, const struct mail *asked, int *answers,
                  struct built_set *out, struct error *err) {
  int *elements = array_new((size_t)asked->total, sizeof *elements);
  if (!elements)
    return no_memory(err);
  for (long i = 0; i < asked->total; i++) {
    const int id = numbers_find(&set->ids, ((const long long *)asked->items)[i]);
    answers[i] = elements[i] = set->place[id];
  }
  for (long r = 0, at = 0; r < g->comm->size; at += asked->counts[r++])
    qsort(elements + at, (size_t)asked->counts[r], sizeof *elements, by_value);
  return side_from_counts(&out->spread->nonexec.send, g->comm->size, asked->counts, elements, err);
}

static int sort_copies(struct growth *g, struct grown_set *set, const int *remote, struct error *err) {
  struct copy *copies = array_new((size_t)set->nonexec, sizeof *copies);
  int *all = array_resize(set->remote, (size_t)(set->exec + set->nonexec), sizeof *all);
  set->remote = all ? all : set->remote;
  if (!copies || !all) {
    free(copies);
    return no_memory(err);
  }
  for (long i = 0; i < set->nonexec; i++)
    copies[i] = (struct copy){remote[i], set->nonexec_ids[i]};
  for (long r = 0, at = 0; r < g->comm->size; at += set->nonexec_counts[r++])
    qsort(copies + at, (size_t)set->nonexec_counts[r], sizeof *copies, by_remote);
  for (long i = 0; i < set->nonexec; i++) {
    set->nonexec_ids[i] = copies[i].id;
    set->remote[set->exec + i] = copies[i].remote;
  }
  free(copies);
  return OP_OK;
}

/* What is asked for a set: numbers there, the owners' own numbers back. To be freed also after an error. */
struct wanting {
  long long *numbers;
  int *answers;
  struct mail asked, back;
};

static int list_wanted(struct growth *g, struct grown_set *set, struct wanting *w, struct error *err) {
  const int code = list_nonexec(g, set, err);
  if (code)
    return code;
  if (!(w->numbers = array_new((size_t)set->nonexec, sizeof *w->numbers)))
    return no_memory(err);
  for (long i = 0; i < set->nonexec; i++)
    w->numbers[i] = set->ids.number[set->nonexec_ids[i]];
  return OP_OK;
}

static int answer_wanted(struct growth *g, const struct grown_set *set, struct wanting *w,
                         struct built_set *out, struct error *err) {
  w->answers = array_new((size_t)w->asked.total, sizeof *w->answers);
  return w->answers ? answer(g, set, &w->asked, w->answers, out, err) : no_memory(err);
}

int grown_nonexec(struct growth *g, struct built *built, struct error *err) {
  struct wanting *all = array_new((size_t)g->nsets, sizeof *all);
  struct parcel *parcels = array_new((size_t)g->nsets, sizeof *parcels);
  int code = all && parcels ? OP_OK : no_memory(err);
  for (int s = 0; !code && s < g->nsets; s++) {
    struct wanting *w = &all[s];
    code = list_wanted(g, &g->sets[s], w, err);
    parcels[s] = (struct parcel){w->numbers, g->sets[s].nonexec_counts, sizeof *w->numbers, &w->asked};
  }
  if (!code)
    code = parcels_send(g->comm, parcels, g->nsets, err);
  for (int s = 0; !code && s < g->nsets; s++) {
    struct wanting *w = &all[s];
    code = answer_wanted(g, &g->sets[s], w, &built->sets[s], err);
    parcels[s] = (struct parcel){w->answers, w->asked.counts, sizeof *w->answers, &w->back};
  }
  if (!code)
    code = parcels_send(g->comm, parcels, g->nsets, err);
  for (int s = 0; !code && s < g->nsets; s++)
    code = sort_copies(g, &g->sets[s], all[s].back.items, err);
  for (int s = 0; all && s < g->nsets; s++) {
    free(all[s].numbers);
    free(all[s].answers);
    mail_free(&all[s].asked);
    mail_free(&all[s].back);
  }
  free(all);
  free(parcels);
  return code;
}

/* ---- numbers ---- */

/* Copies lie one after the other, so that the receiving side is a range. */
static int receive_range(struct halo_side *side, int ranks, const long *counts, long begin, long count,
                         struct error *err) {
  int *elements = array_new((size_t)count, sizeof *elements);
  for (long i = 0; elements && i < count; i++)
    elements[i] = (int)(begin + i);
  return side_from_counts(side, ranks, counts, elements, err);
}

int grown_numbers(struct growth *g, int s, struct built_set *out, struct error *err) {
  struct grown_set *set = &g->sets[s];
  const long exec = set->owned + set->exec, nonexec = exec + set->nonexec;
  const long extents[EXTENTS] = {set->core, set->owned, exec, nonexec};
  const int ranks = g->comm->size;
  memcpy(out->extents, extents, sizeof extents);
  struct distribution *spread = out->spread;
  set->final = array_new((size_t)nonexec, sizeof *set->final);
  spread->numbers = array_new((size_t)nonexec, sizeof *spread->numbers);
  spread->declared_first = array_new((size_t)ranks + 1, sizeof *spread->declared_first);
  if (!set->final || !spread->numbers || !spread->declared_first)
    return no_memory(err);
  memcpy(spread->declared_first, set->first, ((size_t)ranks + 1) * sizeof *set->first);
  if (set->owned)
    memcpy(set->final, set->place, (size_t)set->owned * sizeof *set->final);
  free(set->place);
  set->place = NULL;
  for (long i = 0; i < set->exec; i++)
    set->final[set->exec_ids[i]] = (int)(set->owned + i);
  for (long i = 0; i < set->nonexec; i++)
    set->final[set->nonexec_ids[i]] = (int)(exec + i);
  for (long id = 0; id < nonexec; id++)
    spread->numbers[set->final[id]] = set->ids.number[id];
  numbers_free(&set->ids);
  int code = receive_range(&spread->exec.receive, ranks, set->exec_counts, set->owned, set->exec, err);
  if (!code)
    code = receive_range(&spread->nonexec.receive, ranks, set->nonexec_counts, exec, set->nonexec, err);
  return code;
}

/* ---- the way from and to the declaring ranks ---- */

/* What this rank has from others, `here`, and what they asked it for; both lists go over to the sides. */
static int make_sides(struct halo_side *receive, struct halo_side *send, int ranks, const long *counts,
                      int **here, struct mail *in, struct error *err) {
  int code = side_from_counts(receive, ranks, counts, *here, err);
  *here = NULL;
  if (!code) {
    code = side_from_counts(send, ranks, in->counts, in->items, err);
    in->items = NULL;
  }
  return code;
}

/* Owned elements by the user's numbers, so also by the ranks that declared them. What travels is their place there. */
static void list_home(const struct grown_set *set, const long long *numbers, const int *order, long *counts,
                      int *there) {
  int r = 0;
  for (long i = 0; i < set->owned; i++) {
    const long long number = numbers[order[i]];
    while (number >= set->first[r + 1])
      r++;
    counts[r]++;
    there[i] = (int)(number - set->first[r]);
  }
}

/* A list that goes to each owner of something; what is here, and what others ask for. To be freed also after an error. */
struct request {
  int *here, *there; /* there: sent */
  long *counts;
  struct mail in;
};

static void requests_free(struct request *requests, int n) {
  for (int i = 0; requests && i < n; i++) {
    mail_free(&requests[i].in);
    free(requests[i].here);
    free(requests[i].there);
    free(requests[i].counts);
  }
  free(requests);
}

/* All in the same messages. */
static int send_requests(struct growth *g, struct request *requests, int n, struct error *err) {
  struct parcel *parcels = array_new((size_t)n, sizeof *parcels);
  if (!parcels)
    return no_memory(err);
  for (int i = 0; i < n; i++)
    parcels[i] =
        (struct parcel){requests[i].there, requests[i].counts, sizeof *requests[i].there, &requests[i].in};
  const int code = parcels_send(g->comm, parcels, n, err);
  free(parcels);
  return code;
}

int grown_homes(struct growth *g, struct built *built, struct error *err) {
  const int ranks = g->comm->size;
  struct request *homes = array_new((size_t)g->nsets, sizeof *homes);
  int code = homes ? OP_OK : no_memory(err);
  for (int s = 0; !code && s < g->nsets; s++) {
    const struct grown_set *set = &g->sets[s];
    const long long *numbers = built->sets[s].spread->numbers;
    struct request *home = &homes[s];
    home->here = numbers_order(numbers, set->owned);
    home->there = array_new((size_t)set->owned, sizeof *home->there);
    home->counts = array_new((size_t)ranks, sizeof *home->counts);
    if (home->here && home->there && home->counts)
      list_home(set, numbers, home->here, home->counts, home->there);
    else
      code = no_memory(err);
  }
  if (!code)
    code = send_requests(g, homes, g->nsets, err);
  for (int s = 0; !code && s < g->nsets; s++) {
    struct halo_exchange *home = &built->sets[s].spread->home;
    code = make_sides(&home->receive, &home->send, ranks, homes[s].counts, &homes[s].here, &homes[s].in, err);
  }
  requests_free(homes, g->nsets);
  return code;
}

/* ---- maps ---- */

int grown_table(struct growth *g, int m, struct built_map *out, struct error *err) {
  struct grown_map *map = &g->maps[m];
  const struct grown_set *from = &g->sets[map->from], *to = &g->sets[map->to];
  const size_t arity = (size_t)map->arity;
  out->table =
      data_memory(NULL, ((size_t)(from->owned + from->exec) * arity + MAP_SLACK) * sizeof *out->table,
                  data_table_number(m));
  if (!out->table)
    return no_memory(err);
  for (long e = 0; e < from->owned; e++)
    for (size_t k = 0; k < arity; k++)
      out->table[(size_t)from->final[e] * arity + k] = to->final[map->owned[(size_t)e * arity + k]];
  int *exec = out->table + (size_t)from->owned * arity;
  for (size_t i = 0; i < (size_t)from->exec * arity; i++)
    exec[i] = to->final[map->exec[i]];
  free(map->owned);
  free(map->exec);
  map->owned = map->exec = NULL;
  return OP_OK;
}

/* The rank that owns a copy, found by its place among the copies of one kind. */
static void owners_of_copies(const struct grown_set *set, int ranks, int *owner) {
  long i = 0;
  for (int r = 0; r < ranks; r++)
    for (long k = 0; k < set->exec_counts[r]; k++)
      owner[i++] = r;
  for (int r = 0; r < ranks; r++)
    for (long k = 0; k < set->nonexec_counts[r]; k++)
      owner[i++] = r;
}

/* Copies that a table names, together by owner and ascending: how many of each, their local numbers and their
 * owners'. */
static int list_reached(struct growth *g, const struct grown_map *map, const int *table, long *counts,
                        int **here, int **there, struct error *err) {
  const struct grown_set *from = &g->sets[map->from], *to = &g->sets[map->to];
  const long copies = to->exec + to->nonexec;
  const size_t entries = (size_t)(from->owned + from->exec) * (size_t)map->arity;
  const int ranks = g->comm->size;
  bool *reached = array_new((size_t)copies, sizeof *reached);
  int *owner = array_new((size_t)copies, sizeof *owner);
  long *first = array_new((size_t)ranks + 1, sizeof *first);
  int code = reached && owner && first ? OP_OK : no_memory(err);
  if (!code) {
    owners_of_copies(to, ranks, owner);
    for (size_t i = 0; i < entries; i++)
      if (table[i] >= to->owned)
        reached[table[i] - to->owned] = true;
    for (long i = 0; i < copies; i++)
      counts[owner[i]] += reached[i];
    running_sum(first, counts, ranks);
    *here = array_new((size_t)first[ranks], sizeof **here);
    *there = array_new((size_t)first[ranks], sizeof **there);
    code = *here && *there ? OP_OK : no_memory(err);
  }
  for (long i = 0; !code && i < copies; i++)
    if (reached[i]) {
      const long at = first[owner[i]]++;
      (*here)[at] = (int)(to->owned + i);
      (*there)[at] = to->remote[i];
    }
  free(reached);
  free(owner);
  free(first);
  return code;
}

int grown_map_halos(struct growth *g, struct built *built, struct error *err) {
  const int ranks = g->comm->size;
  struct request *halos = array_new((size_t)g->nmaps, sizeof *halos);
  int code = halos ? OP_OK : no_memory(err);
  for (int m = 0; !code && m < g->nmaps; m++) {
    struct built_map *out = &built->maps[m];
    struct request *halo = &halos[m];
    halo->counts = array_new((size_t)ranks, sizeof *halo->counts);
    out->halo = array_new(1, sizeof *out->halo);
    code = halo->counts && out->halo
               ? list_reached(g, &g->maps[m], out->table, halo->counts, &halo->here, &halo->there, err)
               : no_memory(err);
  }
  if (!code)
    code = send_requests(g, halos, g->nmaps, err);
  for (int m = 0; !code && m < g->nmaps; m++) {
    struct halo_exchange *halo = &built->maps[m].halo->exchange;
    code = make_sides(&halo->receive, &halo->send, ranks, halos[m].counts, &halos[m].here, &halos[m].in, err);
  }
  requests_free(halos, g->nmaps);
  return code;
}
