#include "parcels.h"

#include <stdlib.h>
#include <string.h>

#include "base/size.h"

/* To one rank: how many items of each parcel, then the items. */
struct packing {
  struct comm *comm;
  struct parcel *parcels;
  int n;
  struct comm_messages to, from;
  int *place;           /* of each parcel: the next rank in its tally */
  unsigned char **next; /* and where its items are */
  unsigned char *out, *in;
};

/* Items of parcel i for a rank. Ranks are asked for in their order. */
static long items_for(const struct packing *p, int i, int rank) {
  const struct tally *to = &p->parcels[i].to;
  return p->place[i] < to->count && to->ranks[p->place[i]] == rank ? to->items[p->place[i]] : 0;
}

/* All ranks that get anything, and how much. */
static bool address(struct packing *p) {
  struct tally all = {0};
  bool good = true;
  for (int i = 0; good && i < p->n; i++) {
    const struct parcel *parcel = &p->parcels[i];
    for (int k = 0; good && k < parcel->to.count; k++)
      if (parcel->to.items[k])
        good = tally_add(&all, parcel->to.ranks[k], parcel->to.items[k] * (long)parcel->item_bytes);
  }
  good = good && tally_sort(&all) && comm_messages_new(&p->to, all.count);
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
      memcpy(to, &(long){items_for(p, i, p->to.ranks[k])}, sizeof(long));
    for (int i = 0; i < p->n; i++) {
      const size_t bytes = (size_t)items_for(p, i, p->to.ranks[k]) * p->parcels[i].item_bytes;
      const struct tally *all = &p->parcels[i].to;
      if (bytes)
        memcpy(to, p->next[i], bytes);
      to += bytes;
      p->next[i] += bytes;
      p->place[i] += p->place[i] < all->count && all->ranks[p->place[i]] == p->to.ranks[k];
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
      good = !count || tally_add(&in->from, p->from.ranks[k], count);
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
  struct packing p = {.comm = comm,
                      .parcels = parcels,
                      .n = n,
                      .place = array_new((size_t)n, sizeof *p.place),
                      .next = array_new((size_t)n, sizeof *p.next)};
  void *in = NULL;
  int code = p.place && p.next ? pack(&p, err)
                               : error_memory(err, "the sizes of messages", (size_t)n * sizeof *p.next);
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
  free(p.place);
  free((void *)p.next);
  return code;
}

void parcels_free(struct parcel *parcels, int n) {
  for (int i = 0; parcels && i < n; i++) {
    free(parcels[i].items);
    tally_free(&parcels[i].to);
    mail_free(&parcels[i].in);
  }
  free(parcels);
}
