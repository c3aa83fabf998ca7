#include "directory.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "mail.h"

long long block_begin(long long total, int ranks, int rank) {
  const long long size = total / ranks, rest = total % ranks;
  return size * rank + (rank < rest ? rank : rest);
}

int block_of(long long total, int ranks, long long number) {
  const long long size = total / ranks, rest = total % ranks, wide = (size + 1) * rest;
  return (int)(number < wide ? number / (size + 1) : rest + (number - wide) / size);
}

/* Looks up the ranks of numbers that mostly follow one another. */
struct lookup {
  long long total, begin, end; /* of the block of `rank` */
  int ranks, rank;
};

static int rank_of(struct lookup *l, long long number) {
  if (number < l->begin || number >= l->end) {
    l->rank = block_of(l->total, l->ranks, number);
    l->begin = block_begin(l->total, l->ranks, l->rank);
    l->end = block_begin(l->total, l->ranks, l->rank + 1);
  }
  return l->rank;
}

/* ---- telling ---- */

/* Brought together by rank in place. */
static int sort_told(struct told *told, long count, struct lookup *l, struct tally *to, struct error *err) {
  bool good = true;
  for (long i = 0; good && i < count; i++)
    good = tally_add(to, rank_of(l, told[i].number), 1);
  long *next = good ? tally_first(to) : NULL, *end = good ? tally_first(to) : NULL;
  good = next && end;
  for (int p = 0; good && p < to->count; p++)
    while (next[p] < end[p + 1]) {
      const struct told one = told[next[p]];
      const int place = tally_place(to, rank_of(l, one.number));
      told[next[p]] = told[next[place]];
      told[next[place]++] = one;
    }
  free(next);
  free(end);
  return good ? OP_OK : error_memory(err, "messages to other ranks", (size_t)to->count * sizeof *next);
}

int tell_blocks(struct comm *comm, long long total, struct told *told, long count, struct mail *in,
                struct error *err) {
  struct lookup l = {.total = total, .ranks = comm->size};
  struct tally to = {0};
  *in = (struct mail){0};
  int code = sort_told(told, count, &l, &to, err);
  if (!code)
    code = mail_send(comm, told, &to, sizeof *told, in, err);
  else
    free(told);
  tally_free(&to);
  return code;
}

int told_group(const struct mail *in, long long first, long size, const char *what, struct grouped *out,
               struct error *err) {
  const struct told *told = in->items;
  *out = (struct grouped){array_new((size_t)size + 2, sizeof *out->start),
                          array_new((size_t)in->total, sizeof *out->values)};
  if (!out->start || !out->values)
    return error_memory(err, what, 0);
  /* Two places further on: filling moves each beginning up to its end. */
  for (long i = 0; i < in->total; i++)
    out->start[told[i].number - first + 2]++;
  for (long i = 0; i < size; i++)
    out->start[i + 2] += out->start[i + 1];
  for (long i = 0; i < in->total; i++)
    out->values[out->start[told[i].number - first + 1]++] = told[i].value;
  return OP_OK;
}

void grouped_free(struct grouped *g) {
  free(g->start);
  free(g->values);
}

/* Consecutive numbers in one block with the same value travel together. */
struct stretch {
  long long number;
  int count, value;
};

/* In the order of numbers, into the items, where each rank's begin; `next` NULL: they are counted only. */
static bool list_stretches(struct parcel *s, const struct telling *e, const int *order, struct lookup *l,
                           long *next) {
  struct stretch *out = s->items;
  int rank = -1;
  long *at = NULL;
  bool good = true;
  for (long k = 0; good && k < e->count; k++) {
    const int i = order[k], before = k ? order[k - 1] : -1;
    const int value = e->values ? e->values[i] : e->same, to = rank_of(l, e->numbers[i]);
    const bool follows = before >= 0 && to == rank && e->numbers[i] == e->numbers[before] + 1 &&
                         (!e->values || value == e->values[before]);
    if (!follows && !next)
      good = tally_add(&s->to, to, 1);
    if (!follows && next) {
      at = &next[tally_place(&s->to, to)];
      out[(*at)++] = (struct stretch){.number = e->numbers[i], .value = value};
    }
    if (next)
      out[*at - 1].count++;
    rank = to;
  }
  return good;
}

static int take_stretches(struct parcel *s, const struct telling *e, int ranks, struct error *err) {
  struct lookup l = {.total = e->total, .ranks = ranks};
  int *order = numbers_order(e->numbers, e->count);
  bool good = order && list_stretches(s, e, order, &l, NULL);
  long *next = good ? tally_first(&s->to) : NULL;
  s->item_bytes = sizeof(struct stretch);
  if (next)
    s->items = array_new((size_t)next[s->to.count], s->item_bytes);
  good = next && s->items;
  if (good)
    list_stretches(s, e, order, &l, next);
  free(next);
  free(order);
  return good ? OP_OK : error_memory(err, "the directory of a set", (size_t)s->to.count * s->item_bytes);
}

static int fill(struct directory *d, const struct mail *in, struct error *err) {
  if (!(d->values = array_new((size_t)d->size, sizeof *d->values)))
    return error_memory(err, "the directory of a set", (size_t)d->size * sizeof *d->values);
  for (long i = 0; i < d->size; i++)
    d->values[i] = -1;
  const struct stretch *said = in->items;
  for (long i = 0; i < in->total; i++)
    for (int k = 0; k < said[i].count; k++)
      d->values[said[i].number - d->first + k] = said[i].value;
  return OP_OK;
}

int directories_make(struct comm *comm, const struct telling *told, int n, struct error *err) {
  struct parcel *parcels = array_new((size_t)n, sizeof *parcels);
  int code = parcels ? OP_OK : error_memory(err, "directories", (size_t)n * sizeof *parcels);
  for (int i = 0; i < n; i++) {
    struct directory *d = told[i].directory;
    *d = (struct directory){.total = told[i].total,
                            .first = block_begin(told[i].total, comm->size, comm->rank)};
    d->size = (long)(block_begin(told[i].total, comm->size, comm->rank + 1) - d->first);
    if (!code)
      code = take_stretches(&parcels[i], &told[i], comm->size, err);
  }
  if (!code)
    code = parcels_send(comm, parcels, n, err);
  for (int i = 0; !code && i < n; i++)
    code = fill(told[i].directory, &parcels[i].in, err);
  parcels_free(parcels, n);
  return code;
}

int directory_make(struct directory *d, struct comm *comm, long long total, const long long *numbers,
                   long count, const int *values, int same, struct error *err) {
  const struct telling told = {d, total, numbers, values, count, same};
  return directories_make(comm, &told, 1, err);
}

/* ---- asking ---- */

/* Questions: numbers in the order of sending, `here` their places. rank_of NULL: there was no memory for it. */
static int post_sort(struct parcel *p, const int *rank_of, const long long *numbers, long count,
                     struct error *err) {
  p->here = rank_of ? tally_group(&p->to, rank_of, NULL, count) : NULL;
  long long *sorted = p->items = p->here ? array_new((size_t)count, sizeof *sorted) : NULL;
  p->item_bytes = sizeof *sorted;
  for (long i = 0; sorted && i < count; i++)
    sorted[i] = numbers[p->here[i]];
  return sorted ? OP_OK : error_memory(err, "questions to other ranks", (size_t)count * sizeof *sorted);
}

static int post_send(struct parcel *p, struct comm *comm, struct error *err) {
  void *sent = p->items;
  p->items = NULL;
  /* p stays with the caller, who frees it. NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
  return mail_send(comm, sent, &p->to, p->item_bytes, &p->in, err);
}

/* Answers of `bytes` each, one for each number that was asked here, go to out[] of those who asked. */
static int post_answer(struct parcel *p, struct comm *comm, const void *answers, size_t bytes, void *out,
                       struct error *err) {
  unsigned char *mine = array_new((size_t)p->to.total, bytes);
  if (!mine)
    return error_memory(err, "answers of other ranks", (size_t)p->to.total * bytes);
  int code = mail_send_known(comm, answers, &p->in.from, bytes, mine, &p->to, err);
  for (long i = 0; !code && i < p->to.total; i++)
    memcpy((unsigned char *)out + (size_t)p->here[i] * bytes, mine + (size_t)i * bytes, bytes);
  free(mine);
  return code;
}

static int address(struct parcel *p, const struct question *q, int ranks, struct error *err) {
  struct lookup l = {.total = q->directory->total, .ranks = ranks};
  int *to = array_new((size_t)q->count, sizeof *to);
  for (long i = 0; to && i < q->count; i++)
    to[i] = rank_of(&l, q->numbers[i]);
  const int code = post_sort(p, to, q->numbers, q->count, err);
  free(to);
  return code;
}

/* NULL: no memory. */
static int *answers_to(const struct mail *asked, const struct directory *d, struct error *err) {
  int *answers = array_new((size_t)asked->total, sizeof *answers);
  if (!answers)
    error_memory(err, "answers to other ranks", (size_t)asked->total * sizeof *answers);
  for (long i = 0; answers && i < asked->total; i++)
    answers[i] = d->values[((const long long *)asked->items)[i] - d->first];
  return answers;
}

int directories_ask(struct comm *comm, const struct question *questions, int n, struct error *err) {
  struct parcel *asked = array_new((size_t)n, sizeof *asked), *told = array_new((size_t)n, sizeof *told);
  int code = asked && told ? OP_OK : error_memory(err, "questions to other ranks", (size_t)n * sizeof *asked);
  for (int i = 0; !code && i < n; i++)
    code = address(&asked[i], &questions[i], comm->size, err);
  if (!code)
    code = parcels_send(comm, asked, n, err);
  for (int i = 0; !code && i < n; i++) {
    told[i] = (struct parcel){.items = answers_to(&asked[i].in, questions[i].directory, err),
                              .item_bytes = sizeof(int),
                              .to = asked[i].in.from};
    asked[i].in.from = (struct tally){0};
    code = err->code;
  }
  if (!code)
    code = parcels_send(comm, told, n, err);
  for (int i = 0; !code && i < n; i++)
    for (long k = 0; k < questions[i].count; k++)
      questions[i].values[asked[i].here[k]] = ((const int *)told[i].in.items)[k];
  parcels_free(asked, n);
  parcels_free(told, n);
  return code;
}

/* One alone needs no packing: its numbers travel as they are, and answers as many as were asked. */
int directory_ask(const struct directory *d, struct comm *comm, const long long *numbers, long count,
                  int *values, struct error *err) {
  const struct question q = {d, numbers, count, values};
  struct parcel p = {0};
  int *answers = NULL, code = address(&p, &q, comm->size, err);
  if (!code)
    code = post_send(&p, comm, err);
  if (!code && !(answers = answers_to(&p.in, d, err)))
    code = err->code;
  if (!code)
    code = post_answer(&p, comm, answers, sizeof *answers, values, err);
  parcel_free(&p);
  free(answers);
  return code;
}

/* Answer for numbers that this rank owns: to be asked for another one is a mistake of the library. */
static int answer_rows(const struct mail *asked, const struct numbers *ids, long owned, size_t row_bytes,
                       const void *rows, unsigned char *answers, struct error *err) {
  for (long i = 0; i < asked->total; i++) {
    const long long number = ((const long long *)asked->items)[i];
    const int id = numbers_find(ids, number);
    if (id < 0 || id >= owned)
      return error_mistake(err, OP_ERR_INTERNAL, "a rank is asked for element %lld, which it does not own",
                           number);
    memcpy(answers + (size_t)i * row_bytes, (const unsigned char *)rows + (size_t)id * row_bytes, row_bytes);
  }
  return OP_OK;
}

/* Questions to the owners of the ids behind the owned ones. */
static int post_to_owners(struct parcel *p, struct comm *comm, long long total, const struct numbers *ids,
                          long owned, struct error *err) {
  const long long *wanted = ids->number + owned;
  const long count = ids->count - owned;
  struct directory owners = {0};
  int *owner = array_new((size_t)count, sizeof *owner);
  int code = owner ? OP_OK : post_sort(p, NULL, wanted, count, err);
  if (!code)
    code = directory_make(&owners, comm, total, ids->number, owned, NULL, comm->rank, err);
  if (!code)
    code = directory_ask(&owners, comm, wanted, count, owner, err);
  directory_free(&owners);
  for (long i = 0; !code && i < count; i++)
    if (owner[i] < 0)
      code = error_mistake(err, OP_ERR_INTERNAL, "no rank owns element %lld of a set", wanted[i]);
  if (!code)
    code = post_sort(p, owner, wanted, count, err);
  free(owner);
  return code ? code : post_send(p, comm, err);
}

int directory_rows(struct comm *comm, long long total, const struct numbers *ids, long owned,
                   size_t row_bytes, const void *rows, void *out, struct error *err) {
  struct parcel p = {0};
  unsigned char *answers = NULL;
  int code = post_to_owners(&p, comm, total, ids, owned, err);
  if (!code && !(answers = array_new((size_t)p.in.total, row_bytes)))
    code = error_memory(err, "rows for other ranks", (size_t)p.in.total * row_bytes);
  if (!code)
    code = answer_rows(&p.in, ids, owned, row_bytes, rows, answers, err);
  if (!code)
    code = post_answer(&p, comm, answers, row_bytes, out, err);
  free(answers);
  parcel_free(&p);
  return code;
}

int directory_add(struct comm *comm, long long total, const struct numbers *ids, long owned,
                  long long *values, struct error *err) {
  const long count = ids->count - owned;
  struct parcel p = {0};
  long long *in = NULL, *out = NULL;
  int code = post_to_owners(&p, comm, total, ids, owned, err);
  if (!code &&
      (!(in = array_new((size_t)p.in.total, sizeof *in)) || !(out = array_new((size_t)count, sizeof *out))))
    code = error_memory(err, "values of other ranks", (size_t)(p.in.total + count) * sizeof *in);
  for (long i = 0; !code && i < count; i++)
    out[i] = values[owned + p.here[i]];
  if (!code)
    code = mail_send_known(comm, out, &p.to, sizeof *out, in, &p.in.from, err);
  for (long i = 0; !code && i < p.in.total; i++) {
    const int id = numbers_find(ids, ((const long long *)p.in.items)[i]);
    if (id < 0 || id >= owned)
      code = error_mistake(err, OP_ERR_INTERNAL, "a rank is told of an element that it does not own");
    else
      values[id] += in[i];
  }
  free(in);
  free(out);
  parcel_free(&p);
  return code;
}

void directory_free(struct directory *d) {
  free(d->values);
  *d = (struct directory){0};
}
