#include "mail.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"

void mail_free(struct mail *mail) {
  tally_free(&mail->from);
  free(mail->items);
  *mail = (struct mail){0};
}

static int messages_of(struct comm_messages *m, const struct tally *counts, size_t item_bytes,
                       struct error *err) {
  if (!comm_messages_new(m, counts->count))
    return error_memory(err, "the sizes of messages", (size_t)counts->count * sizeof *m->bytes);
  for (int i = 0; i < counts->count; i++) {
    m->ranks[i] = counts->ranks[i];
    m->bytes[i] = (size_t)counts->items[i] * item_bytes;
  }
  return OP_OK;
}

int mail_send_known(struct comm *comm, const void *items, const struct tally *to, size_t item_bytes, void *in,
                    const struct tally *from, struct error *err) {
  struct comm_messages sent = {0}, wanted = {0};
  int code = messages_of(&sent, to, item_bytes, err);
  if (!code)
    code = messages_of(&wanted, from, item_bytes, err);
  if (!code)
    code = comm->table->exchange(comm, items, &sent, in, &wanted, err);
  comm_messages_free(&sent);
  comm_messages_free(&wanted);
  return code;
}

int mail_send(struct comm *comm, void *items, const struct tally *to, size_t item_bytes, struct mail *in,
              struct error *err) {
  struct comm_messages sent = {0}, came = {0};
  *in = (struct mail){0};
  int code = messages_of(&sent, to, item_bytes, err);
  if (!code)
    code = comm->table->post(comm, items, &sent, &in->items, &came, err);
  else
    free(items);
  for (int i = 0; !code && i < came.count; i++) {
    const long count = (long)(came.bytes[i] / item_bytes);
    in->total += count;
    if (!tally_add(&in->from, came.ranks[i], count))
      code = error_memory(err, "the sizes of messages", (size_t)came.count * sizeof *came.bytes);
  }
  comm_messages_free(&sent);
  comm_messages_free(&came);
  if (code)
    mail_free(in);
  return code;
}

/* ---- sides ---- */

int side_from_tally(struct halo_side *side, const struct tally *counts, int *elements, struct error *err) {
  const size_t count = (size_t)counts->count;
  *side = (struct halo_side){.count = counts->count,
                             .ranks = array_new(count, sizeof *side->ranks),
                             .first = tally_first(counts),
                             .elements = elements};
  if (!side->ranks || !side->first || !elements) {
    halo_side_free(side);
    return error_memory(err, "a list of neighbours", count * sizeof(long));
  }
  if (count)
    memcpy(side->ranks, counts->ranks, count * sizeof *side->ranks);
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
  size_t row_bytes;              /* in all of them */
  long batch;                    /* rows between two ranks at a time */
  struct comm_messages to, come; /* of a round */
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

/* Rows of one round, and their messages. */
static long rows_of_round(const struct carrier *c, const struct halo_side *side, long round,
                          struct comm_messages *messages) {
  long rows = 0;
  messages->count = 0;
  for (int i = 0; i < side->count; i++) {
    const struct span s = span_of(c, side, i, round);
    rows += s.end - s.begin;
    if (s.begin == s.end)
      continue;
    messages->ranks[messages->count] = side->ranks[i];
    messages->bytes[messages->count++] = (size_t)(s.end - s.begin) * c->row_bytes;
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

static int carry_round(struct carrier *c, long round, struct error *err) {
  unsigned char *at = c->out;
  rows_of_round(c, c->send, round, &c->to);
  rows_of_round(c, c->receive, round, &c->come);
  for (int i = 0; i < c->send->count; i++) {
    const struct span s = span_of(c, c->send, i, round);
    for (long k = s.begin; k < s.end; k++)
      at = pack_rows(c, c->send->elements[k], at);
  }
  int code = c->comm->table->exchange(c->comm, c->out, &c->to, c->in, &c->come, err);
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
  long going = 0, coming = 0;
  if (!comm_messages_new(&c.to, send->count) || !comm_messages_new(&c.come, receive->count))
    code = error_memory(err, "messages to other ranks", (size_t)send->count * sizeof *c.to.bytes);
  if (!code) {
    going = rows_of_round(&c, send, 0, &c.to);
    coming = rows_of_round(&c, receive, 0, &c.come);
    c.out = array_new((size_t)going, c.row_bytes);
    c.in = array_new((size_t)coming, c.row_bytes);
    if (!c.out || !c.in)
      code = error_memory(err, "rows on their way to other ranks", (size_t)(going + coming) * c.row_bytes);
  }
  if (!code)
    carry_home(&c);
  for (long round = 0; !code && round < rounds; round++)
    code = carry_round(&c, round, err);
  comm_messages_free(&c.to);
  comm_messages_free(&c.come);
  free(c.out);
  free(c.in);
  return code;
}

int carry_rows(struct comm *comm, const struct halo_side *send, const struct halo_side *receive,
               size_t row_bytes, const void *from, void *into, struct error *err) {
  void *read = (void *)(uintptr_t)from; /* only */
  const struct row_store out = {.memory = read, .value_bytes = row_bytes, .values = 1},
                         in = {.memory = into, .value_bytes = row_bytes, .values = 1};
  return carry(comm, send, receive, &out, &in, 1, err);
}
