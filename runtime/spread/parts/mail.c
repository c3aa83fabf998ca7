#include "mail.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"

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

/* Rows of a round between the stores and a message, where all rows of an element lie one behind the other, and so do elements. */
static void copy_round(const struct carrier *c, long round, bool out) {
  const struct halo_side *side = out ? c->send : c->receive;
  const struct row_store *stores = out ? c->from : c->into;
  unsigned char *at = out ? c->out : c->in;
  for (int i = 0; i < side->count; i++) {
    const struct span s = span_of(c, side, i, round);
    for (long k = s.begin; k < s.end; k++)
      for (int n = 0; n < c->stores; n++) {
        const struct row_store packed = {at, stores[n].value_bytes, stores[n].values, 0};
        if (out)
          row_copy(&stores[n], side->elements[k], &packed, 0);
        else
          row_copy(&packed, 0, &stores[n], side->elements[k]);
        at += packed.value_bytes * (size_t)packed.values;
      }
  }
}

static int carry_round(struct carrier *c, long round, struct error *err) {
  rows_of_round(c, c->send, round, &c->to);
  rows_of_round(c, c->receive, round, &c->come);
  copy_round(c, round, true);
  const int code = c->comm->table->exchange(c->comm, c->out, &c->to, c->in, &c->come, err);
  if (!code)
    copy_round(c, round, false);
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

/* To one rank: how many items of each parcel, then the items. */
struct packing {
  struct comm *comm;
  struct parcel *parcels;
  int n;
  struct comm_messages to, from;
  unsigned char **next; /* of each parcel: its items for the next rank */
  unsigned char *out, *in;
};

static long items_for(struct parcel *parcel, int rank) {
  const int place = tally_place(&parcel->to, rank);
  return place < 0 ? 0 : parcel->to.items[place];
}

/* All ranks that get anything, and how much. */
static bool address(struct packing *p) {
  struct tally all = {0};
  bool good = true;
  for (int i = 0; good && i < p->n; i++) {
    const struct parcel *parcel = &p->parcels[i];
    for (int k = 0; good && k < parcel->to.count; k++)
      good = tally_add(&all, parcel->to.ranks[k], parcel->to.items[k] * (long)parcel->item_bytes);
  }
  good = good && comm_messages_new(&p->to, all.count);
  for (int k = 0; good && k < all.count; k++) {
    p->to.ranks[k] = all.ranks[k];
    p->to.bytes[k] = (size_t)p->n * sizeof(long) + (size_t)all.items[k];
  }
  tally_free(&all);
  return good;
}

static int pack(struct packing *p, struct error *err) {
  size_t total = 0;
  bool good = address(p);
  for (int k = 0; k < p->to.count; k++)
    total += p->to.bytes[k];
  if (!good || !(p->out = array_new(total, 1)))
    return error_memory(err, "messages to other ranks", total);
  unsigned char *to = p->out;
  for (int i = 0; i < p->n; i++)
    p->next[i] = p->parcels[i].items;
  for (int k = 0; k < p->to.count; k++) {
    for (int i = 0; i < p->n; i++, to += sizeof(long))
      memcpy(to, &(long){items_for(&p->parcels[i], p->to.ranks[k])}, sizeof(long));
    for (int i = 0; i < p->n; i++) {
      const size_t bytes = (size_t)items_for(&p->parcels[i], p->to.ranks[k]) * p->parcels[i].item_bytes;
      if (bytes)
        memcpy(to, p->next[i], bytes);
      to += bytes;
      p->next[i] += bytes;
    }
  }
  return OP_OK;
}

static bool make_room(const struct packing *p) {
  bool good = true;
  const unsigned char *from = p->in;
  for (int k = 0; good && k < p->from.count; from += p->from.bytes[k++])
    for (int i = 0; good && i < p->n; i++) {
      struct mail *in = &p->parcels[i].in;
      long count;
      memcpy(&count, from + (size_t)i * sizeof(long), sizeof(long));
      good = tally_add(&in->from, p->from.ranks[k], count);
      in->total += count;
    }
  for (int i = 0; good && i < p->n; i++) {
    struct mail *in = &p->parcels[i].in;
    good = (in->items = array_new((size_t)in->total, p->parcels[i].item_bytes)) != NULL;
  }
  return good;
}

static int unpack(const struct packing *p, struct error *err) {
  const unsigned char *from = p->in;
  if (!make_room(p))
    return error_memory(err, "messages of other ranks", 0);
  for (int i = 0; i < p->n; i++)
    p->next[i] = p->parcels[i].in.items;
  for (int k = 0; k < p->from.count; k++) {
    const unsigned char *counts = from;
    from += (size_t)p->n * sizeof(long);
    for (int i = 0; i < p->n; i++) {
      long count;
      memcpy(&count, counts + (size_t)i * sizeof(long), sizeof(long));
      const size_t bytes = (size_t)count * p->parcels[i].item_bytes;
      if (bytes)
        memcpy(p->next[i], from, bytes);
      from += bytes;
      p->next[i] += bytes;
    }
  }
  return OP_OK;
}

int parcels_send(struct comm *comm, struct parcel *parcels, int n, struct error *err) {
  struct packing p = {.comm = comm, .parcels = parcels, .n = n, .next = array_new((size_t)n, sizeof *p.next)};
  void *in = NULL;
  int code = p.next ? pack(&p, err) : error_memory(err, "the sizes of messages", (size_t)n * sizeof *p.next);
  if (!code)
    code = comm->table->post(comm, p.out, &p.to, &in, &p.from, err);
  else
    free(p.out);
  p.in = in;
  if (!code)
    code = unpack(&p, err);
  free(in);
  comm_messages_free(&p.to);
  comm_messages_free(&p.from);
  free((void *)p.next);
  return code;
}

bool parcel_add(struct parcel *p, int rank, const void *item) {
  unsigned char *items = array_more(p->items, (size_t)p->to.total, p->item_bytes);
  p->items = items ? items : p->items;
  if (!items || !tally_add(&p->to, rank, 1))
    return false;
  memcpy(items + (size_t)(p->to.total - 1) * p->item_bytes, item, p->item_bytes);
  return true;
}

int parcel_sides(struct parcel *p, struct halo_side *here, struct halo_side *others, struct error *err) {
  int code = side_from_tally(here, &p->to, p->here, err);
  p->here = NULL;
  if (!code) {
    code = side_from_tally(others, &p->in.from, p->in.items, err);
    p->in.items = NULL;
  }
  return code;
}

void parcel_free(struct parcel *p) {
  free(p->items);
  free(p->here);
  tally_free(&p->to);
  mail_free(&p->in);
}

void parcels_free(struct parcel *parcels, int n) {
  for (int i = 0; parcels && i < n; i++)
    parcel_free(&parcels[i]);
  free(parcels);
}
