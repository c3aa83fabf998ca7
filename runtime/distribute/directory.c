#include "distribute/directory.h"

#include <stdlib.h>

#include "base/size.h"
#include "distribute/mail.h"

long long block_begin(long long total, int ranks, int rank) {
  const long long size = total / ranks, rest = total % ranks;
  return size * rank + (rank < rest ? rank : rest);
}

int block_of(long long total, int ranks, long long number) {
  const long long size = total / ranks, rest = total % ranks, wide = (size + 1) * rest;
  return (int)(number < wide ? number / (size + 1) : rest + (number - wide) / size);
}

/* Items and the ranks they go to; everything that both telling and asking need. */
struct post {
  int *rank_of;
  long *counts, *first, *order;
};

static int post_new(struct post *p, long count, int ranks, struct error *err) {
  *p = (struct post){.rank_of = array_new((size_t)count, sizeof *p->rank_of),
                     .counts = array_new((size_t)ranks, sizeof *p->counts),
                     .first = array_new((size_t)ranks + 1, sizeof *p->first),
                     .order = array_new((size_t)count, sizeof *p->order)};
  return p->rank_of && p->counts && p->first && p->order
             ? OP_OK
             : error_memory(err, "messages to other ranks", (size_t)count * sizeof *p->order);
}

static void post_free(struct post *p) {
  free(p->rank_of);
  free(p->counts);
  free(p->first);
  free(p->order);
}

int tell_blocks(struct comm *comm, long long total, const struct told *told, long count, struct mail *in,
                struct error *err) {
  *in = (struct mail){0};
  struct post p;
  int code = post_new(&p, count, comm->size, err);
  struct told *out = array_new((size_t)count, sizeof *out);
  if (!code && !out)
    code = error_memory(err, "messages to other ranks", (size_t)count * sizeof *out);
  if (!code) {
    for (long i = 0; i < count; i++)
      p.rank_of[i] = block_of(total, comm->size, told[i].number);
    sort_by_rank(p.rank_of, count, comm->size, p.counts, p.first, p.order);
    for (long i = 0; i < count; i++)
      out[i] = told[p.order[i]];
    free(p.order);
    free(p.rank_of);
    p.order = NULL;
    p.rank_of = NULL;
    code = mail_send(comm, out, p.counts, sizeof *out, in, err);
  }
  free(out);
  post_free(&p);
  return code;
}

int directory_make(struct directory *d, struct comm *comm, long long total, const long long *numbers,
                   long count, const int *values, int same, struct error *err) {
  *d = (struct directory){.total = total, .first = block_begin(total, comm->size, comm->rank)};
  d->size = (long)(block_begin(total, comm->size, comm->rank + 1) - d->first);
  d->values = array_new((size_t)d->size, sizeof *d->values);
  struct told *told = array_new((size_t)count, sizeof *told);
  struct mail in = {0};
  int code = OP_OK;
  if (!d->values || !told)
    code = error_memory(err, "the directory of a set", (size_t)count * sizeof *told);
  else {
    for (long i = 0; i < count; i++)
      told[i] = (struct told){.number = numbers[i], .value = values ? values[i] : same};
    code = tell_blocks(comm, total, told, count, &in, err);
  }
  if (!code) {
    for (long i = 0; i < d->size; i++)
      d->values[i] = -1;
    const struct told *said = in.items;
    for (long i = 0; i < in.total; i++)
      d->values[said[i].number - d->first] = (int)said[i].value;
  }
  mail_free(&in);
  free(told);
  return code;
}

int directory_ask(const struct directory *d, struct comm *comm, const long long *numbers, long count,
                  int *values, struct error *err) {
  struct post p;
  struct mail asked = {0};
  int *answers = NULL, *mine = NULL;
  long long *out = array_new((size_t)count, sizeof *out);
  int code = post_new(&p, count, comm->size, err);
  if (!code && !out)
    code = error_memory(err, "questions to other ranks", (size_t)count * sizeof *out);
  if (code)
    goto done;
  for (long i = 0; i < count; i++)
    p.rank_of[i] = block_of(d->total, comm->size, numbers[i]);
  sort_by_rank(p.rank_of, count, comm->size, p.counts, p.first, p.order);
  for (long i = 0; i < count; i++)
    out[i] = numbers[p.order[i]];
  code = mail_send(comm, out, p.counts, sizeof *out, &asked, err);
  if (code)
    goto done;
  answers = array_new((size_t)asked.total, sizeof *answers);
  mine = array_new((size_t)count, sizeof *mine);
  if (!answers || !mine) {
    code = error_memory(err, "answers to other ranks", (size_t)(asked.total + count) * sizeof *mine);
    goto done;
  }
  for (long i = 0; i < asked.total; i++)
    answers[i] = d->values[((const long long *)asked.items)[i] - d->first];
  code = mail_send_known(comm, answers, asked.counts, sizeof *mine, mine, p.counts, err);
  for (long i = 0; !code && i < count; i++)
    values[p.order[i]] = mine[i];

done:
  mail_free(&asked);
  free(answers);
  free(mine);
  free(out);
  post_free(&p);
  return code;
}

void directory_free(struct directory *d) {
  free(d->values);
  *d = (struct directory){0};
}
