/* Groups of points that go on by themselves: the points of each are shared out evenly over as many ranks as the group becomes
 * parts, which cut it among themselves, and the parts come back. So what a rank sends and keeps does not grow with the number
 * of groups. */
#include <stdlib.h>

#include "base/list.h"
#include "bisect.h"
#include "ranks/agree.h"
#include "spread/parts/directory.h"
#include "spread/parts/mail.h"

static int no_memory(struct error *err) {
  return error_memory(err, "the bisection of a set", 0);
}

struct point {
  long long number, weight;
  double x[MOST_DIMS];
};

/* To be freed also after an error. */
struct away {
  struct arrays arrays;
  const struct part_request *request;
  long long
      *counts;  /* of points of each group: of all ranks, then of those before this one and here so far */
  int *rank_of; /* where each point goes */
  int *order;   /* of sending */
  struct tally to;
  struct point *points;
  struct mail in;
  /* The points that came, as a request has them; and the parts. */
  long long *numbers, *weights;
  double *coords;
  int *part, *back;
};

static void away_free(struct away *a) {
  arrays_free(&a->arrays);
  free(a->order);
  free(a->points);
  tally_free(&a->to);
  mail_free(&a->in);
}

static int away_new(struct away *a, const struct bisection *b, struct error *err) {
  const size_t count = (size_t)b->request->count;
  a->counts = arrays_add(&a->arrays, 2 * (size_t)b->ngroups, sizeof *a->counts);
  a->rank_of = arrays_add(&a->arrays, count, sizeof *a->rank_of);
  a->points = array_new(count, sizeof *a->points);
  a->back = arrays_add(&a->arrays, count, sizeof *a->back);
  const bool good = a->points && !a->arrays.failed;
  return agree_on_success(b->request->comm, good ? OP_OK : no_memory(err), err);
}

/* The points of a group, in the order of the ranks that have them, in equal blocks. */
static int address(struct away *a, const struct bisection *b, struct error *err) {
  struct comm *comm = b->request->comm;
  long long *all = a->counts, *before = all + b->ngroups;
  int code = OP_OK;
  for (long i = 0; i < b->request->count; i++)
    all[b->group[i]]++;
  for (int g = 0; !code && g < b->ngroups; g++)
    code = comm->table->scan_before(comm, all[g], &before[g], err);
  if (!code)
    code = comm->table->reduce_all(comm, all, b->ngroups, COMM_LLONG, COMM_SUM, err);
  for (long i = 0; !code && i < b->request->count; i++) {
    const int g = b->group[i];
    a->rank_of[i] = b->groups[g].first + block_of(all[g], b->groups[g].parts, before[g]++);
  }
  return code;
}

static int pack(struct away *a, struct error *err) {
  const struct part_request *r = a->request;
  if (!(a->order = tally_group(&a->to, a->rank_of, NULL, r->count)))
    return no_memory(err);
  for (long i = 0; i < r->count; i++) {
    const long from = a->order[i];
    struct point *p = &a->points[i];
    p->number = r->numbers[from];
    p->weight = r->weights ? r->weights[from] : 1;
    for (int d = 0; d < r->dim; d++)
      p->x[d] = r->coords[from * r->dim + d];
  }
  return OP_OK;
}

static int unpack(struct away *a, struct error *err) {
  const struct point *came = a->in.items;
  const size_t count = (size_t)a->in.total;
  const int dim = a->request->dim;
  a->numbers = arrays_add(&a->arrays, count, sizeof *a->numbers);
  a->weights = arrays_add(&a->arrays, count, sizeof *a->weights);
  a->coords = arrays_add(&a->arrays, count * (size_t)dim, sizeof *a->coords);
  a->part = arrays_add(&a->arrays, count, sizeof *a->part);
  if (a->arrays.failed)
    return no_memory(err);
  for (size_t i = 0; i < count; i++) {
    a->numbers[i] = came[i].number;
    a->weights[i] = came[i].weight;
    for (int d = 0; d < dim; d++)
      a->coords[i * (size_t)dim + (size_t)d] = came[i].x[d];
  }
  free(a->in.items);
  a->in.items = NULL;
  return OP_OK;
}

/* The group that this rank has a share of. */
static int cut_here(struct away *a, const struct bisection *b, choose_direction *choose, struct error *err) {
  struct comm *comm = b->request->comm, *own = NULL;
  int g = 0;
  while (comm->rank >= b->groups[g].first + b->groups[g].parts)
    g++;
  int code = comm->table->split(comm, g, &own, err);
  if (code)
    return code;
  own->where = comm->where;
  const struct part_request request = {.comm = own,
                                       .parts = b->groups[g].parts,
                                       .total = b->request->total,
                                       .count = a->in.total,
                                       .numbers = a->numbers,
                                       .weights = b->request->weights ? a->weights : NULL,
                                       .speeds = b->request->speeds ? b->request->speeds + b->groups[g].first
                                                                    : NULL,
                                       .coords = a->coords,
                                       .dim = b->request->dim};
  code = bisect(&request, choose, a->part, err);
  for (long i = 0; !code && i < a->in.total; i++)
    a->part[i] += b->groups[g].first;
  comm_close(own);
  return code;
}

int bisect_apart(const struct bisection *b, choose_direction *choose, struct error *err) {
  struct comm *comm = b->request->comm;
  struct away a = {.request = b->request};
  int code = away_new(&a, b, err);
  if (!code)
    code = address(&a, b, err);
  code = agree_on_success(comm, code ? code : pack(&a, err), err);
  if (!code) {
    code = mail_send(comm, a.points, &a.to, sizeof *a.points, &a.in, err);
    a.points = NULL;
  }
  code = agree_on_success(comm, code ? code : unpack(&a, err), err);
  if (!code)
    code = agree_on_success(comm, cut_here(&a, b, choose, err), err);
  if (!code)
    code = mail_send_known(comm, a.part, &a.in.from, sizeof *a.part, a.back, &a.to, err);
  for (long i = 0; !code && i < b->request->count; i++)
    b->group[a.order[i]] = a.back[i];
  away_free(&a);
  return code;
}
