#include "mail.h"

#include <stdlib.h>
#include <string.h>

#include "base/size.h"

void mail_free(struct mail *mail) {
  free(mail->counts);
  free(mail->items);
  *mail = (struct mail){0};
}

void running_sum(long *first, const long *counts, int ranks) {
  first[0] = 0;
  for (int r = 0; r < ranks; r++)
    first[r + 1] = first[r] + counts[r];
}

void sort_by_rank(const int *rank_of, long count, int ranks, long *counts, long *first, long *order) {
  for (int r = 0; r < ranks; r++)
    counts[r] = 0;
  for (long i = 0; i < count; i++)
    counts[rank_of[i]]++;
  running_sum(first, counts, ranks);
  for (long i = 0; i < count; i++)
    order[first[rank_of[i]]++] = i;
  running_sum(first, counts, ranks);
}

int mail_send_known(struct comm *comm, const void *items, const long *counts, size_t item_bytes, void *in,
                    const long *in_counts, struct error *err) {
  const size_t ranks = (size_t)comm->size;
  size_t *bytes = array_new(2 * ranks, sizeof *bytes);
  if (!bytes)
    return error_memory(err, "the sizes of messages", 2 * ranks * sizeof *bytes);
  for (size_t r = 0; r < ranks; r++) {
    bytes[r] = (size_t)counts[r] * item_bytes;
    bytes[ranks + r] = (size_t)in_counts[r] * item_bytes;
  }
  int code = comm->table->exchange(comm, items, bytes, in, bytes + ranks, err);
  free(bytes);
  return code;
}

int mail_send(struct comm *comm, void *items, const long *counts, size_t item_bytes, struct mail *in,
              struct error *err) {
  const size_t ranks = (size_t)comm->size;
  size_t *bytes = array_new(2 * ranks, sizeof *bytes);
  *in = (struct mail){.counts = array_new(ranks, sizeof *in->counts)};
  int code =
      bytes && in->counts ? OP_OK : error_memory(err, "the sizes of messages", 2 * ranks * sizeof *bytes);
  for (size_t r = 0; !code && r < ranks; r++)
    bytes[r] = (size_t)counts[r] * item_bytes;
  if (!code)
    code = comm->table->post(comm, items, bytes, &in->items, bytes + ranks, err);
  else
    free(items);
  for (size_t r = 0; !code && r < ranks; r++)
    in->total += in->counts[r] = (long)(bytes[ranks + r] / item_bytes);
  free(bytes);
  if (code)
    mail_free(in);
  return code;
}

/* ---- sides ---- */

int side_from_counts(struct halo_side *side, int ranks, const long *counts, int *elements,
                     struct error *err) {
  int count = 0;
  for (int r = 0; r < ranks; r++)
    count += counts[r] > 0;
  *side = (struct halo_side){.count = count,
                             .ranks = array_new((size_t)count, sizeof *side->ranks),
                             .first = array_new((size_t)count + 1, sizeof *side->first),
                             .elements = elements};
  if (!side->ranks || !side->first || !elements) {
    halo_side_free(side);
    return error_memory(err, "a list of neighbours", (size_t)count * sizeof(long));
  }
  int i = 0;
  for (int r = 0; r < ranks; r++)
    if (counts[r] > 0) {
      side->ranks[i] = r;
      side->first[i + 1] = side->first[i] + counts[r];
      i++;
    }
  return OP_OK;
}

/* ---- rows on their way ---- */

/* Bytes between two ranks at a time. */
enum { BATCH = 1 << 18 };

struct carrier {
  struct comm *comm;
  const struct halo_side *send, *receive;
  const struct row_store *from, *into; /* `stores` of each */
  int stores;
  size_t row_bytes; /* in all of them */
  long batch;       /* rows between two ranks at a time */
  size_t *bytes;
  unsigned char *out, *in;
};

/* Messages of a round to neighbour i: which of its elements. */
struct span {
  long begin, end;
};

static struct span span_of(const struct carrier *c, const struct halo_side *side, int i, long round) {
  const long begin = side->first[i] + round * c->batch, end = side->first[i + 1];
  if (side->ranks[i] == c->comm->rank || begin >= end)
    return (struct span){0, 0};
  return (struct span){begin, end - begin > c->batch ? begin + c->batch : end};
}

/* Rows of one round, and the bytes of each rank (NULL: only count). */
static long rows_of_round(const struct carrier *c, const struct halo_side *side, long round, size_t *bytes) {
  long rows = 0;
  for (int i = 0; i < side->count; i++) {
    const struct span s = span_of(c, side, i, round);
    rows += s.end - s.begin;
    if (bytes)
      bytes[side->ranks[i]] = (size_t)(s.end - s.begin) * c->row_bytes;
  }
  return rows;
}

static long long rounds_of(const struct carrier *c, const struct halo_side *side) {
  long most = 0;
  for (int i = 0; i < side->count; i++) {
    const long rows = side->first[i + 1] - side->first[i];
    most = side->ranks[i] != c->comm->rank && rows > most ? rows : most;
  }
  return (most + c->batch - 1) / c->batch;
}

/* Elements that stay, which are the same on both sides. */
static void carry_home(const struct carrier *c) {
  long from = -1, into = -1, count = 0;
  for (int i = 0; i < c->send->count; i++)
    if (c->send->ranks[i] == c->comm->rank) {
      from = c->send->first[i];
      count = c->send->first[i + 1] - from;
    }
  for (int i = 0; i < c->receive->count; i++)
    if (c->receive->ranks[i] == c->comm->rank)
      into = c->receive->first[i];
  for (long k = 0; from >= 0 && into >= 0 && k < count; k++)
    for (int i = 0; i < c->stores; i++)
      row_copy(&c->from[i], c->send->elements[from + k], &c->into[i], c->receive->elements[into + k]);
}

/* The rows of an element lie one behind the other, as do elements. */
static unsigned char *pack_rows(const struct carrier *c, long element, unsigned char *to) {
  for (int i = 0; i < c->stores; i++) {
    struct row_store packed = c->from[i];
    packed.stride = 0;
    packed.memory = to;
    row_copy(&c->from[i], element, &packed, 0);
    to += packed.value_bytes * (size_t)packed.values;
  }
  return to;
}

static unsigned char *unpack_rows(const struct carrier *c, long element, unsigned char *from) {
  for (int i = 0; i < c->stores; i++) {
    struct row_store packed = c->into[i];
    packed.stride = 0;
    packed.memory = from;
    row_copy(&packed, 0, &c->into[i], element);
    from += packed.value_bytes * (size_t)packed.values;
  }
  return from;
}

static int carry_round(const struct carrier *c, long round, struct error *err) {
  const size_t ranks = (size_t)c->comm->size;
  unsigned char *at = c->out;
  memset(c->bytes, 0, 2 * ranks * sizeof *c->bytes);
  rows_of_round(c, c->send, round, c->bytes);
  rows_of_round(c, c->receive, round, c->bytes + ranks);
  for (int i = 0; i < c->send->count; i++) {
    const struct span s = span_of(c, c->send, i, round);
    for (long k = s.begin; k < s.end; k++)
      at = pack_rows(c, c->send->elements[k], at);
  }
  int code = c->comm->table->exchange(c->comm, c->out, c->bytes, c->in, c->bytes + ranks, err);
  at = c->in;
  for (int i = 0; !code && i < c->receive->count; i++) {
    const struct span s = span_of(c, c->receive, i, round);
    for (long k = s.begin; k < s.end; k++)
      at = unpack_rows(c, c->receive->elements[k], at);
  }
  return code;
}

int carry(struct comm *comm, const struct halo_side *send, const struct halo_side *receive,
          const struct row_store *from, const struct row_store *into, int stores, struct error *err) {
  struct carrier c = {
      .comm = comm, .send = send, .receive = receive, .from = from, .into = into, .stores = stores};
  for (int i = 0; i < stores; i++)
    c.row_bytes += from[i].value_bytes * (size_t)from[i].values;
  c.batch = c.row_bytes < BATCH ? (long)(BATCH / c.row_bytes) : 1;
  const long long out = rounds_of(&c, send), in = rounds_of(&c, receive);
  long long rounds = out > in ? out : in;
  int code = comm->table->reduce_all(comm, &rounds, 1, COMM_LLONG, COMM_MAX, err);
  if (code)
    return code;
  const long going = rows_of_round(&c, send, 0, NULL), coming = rows_of_round(&c, receive, 0, NULL);
  c.bytes = array_new(2 * (size_t)comm->size, sizeof *c.bytes);
  c.out = array_new((size_t)going, c.row_bytes);
  c.in = array_new((size_t)coming, c.row_bytes);
  if (!c.bytes || !c.out || !c.in)
    code = error_memory(err, "rows on their way to other ranks", (size_t)(going + coming) * c.row_bytes);
  if (!code)
    carry_home(&c);
  for (long round = 0; !code && round < rounds; round++)
    code = carry_round(&c, round, err);
  free(c.bytes);
  free(c.out);
  free(c.in);
  return code;
}

int carry_rows(struct comm *comm, const struct halo_side *send, const struct halo_side *receive,
               size_t row_bytes, const void *from, void *into, struct error *err) {
  /* What is sent is only read. */
  union {
    const void *read;
    void *memory;
  } given = {.read = from};
  const struct row_store out = {.memory = given.memory, .value_bytes = row_bytes, .values = 1},
                         in = {.memory = into, .value_bytes = row_bytes, .values = 1};
  return carry(comm, send, receive, &out, &in, 1, err);
}
