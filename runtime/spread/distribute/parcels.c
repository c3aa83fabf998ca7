#include "parcels.h"

#include <stdlib.h>
#include <string.h>

#include "base/size.h"

/* To one rank: how many items of each parcel, then the items. */
struct packing {
  struct comm *comm;
  const struct parcel *parcels;
  int n;
  size_t *bytes; /* to each rank, then from each */
  unsigned char *out, *in;
};

static size_t bytes_to(const struct packing *p, int rank) {
  size_t items = 0;
  bool any = false;
  for (int i = 0; i < p->n; i++) {
    items += (size_t)p->parcels[i].counts[rank] * p->parcels[i].item_bytes;
    any |= p->parcels[i].counts[rank] > 0;
  }
  return any ? (size_t)p->n * sizeof(long) + items : 0;
}

static int pack(struct packing *p, struct error *err) {
  size_t total = 0;
  for (int r = 0; r < p->comm->size; r++)
    total += p->bytes[r] = bytes_to(p, r);
  const unsigned char **next = array_new((size_t)p->n, sizeof *next);
  p->out = array_new(total, 1);
  unsigned char *to = p->out;
  for (int i = 0; next && i < p->n; i++)
    next[i] = p->parcels[i].items;
  for (int r = 0; next && to && r < p->comm->size; r++) {
    for (int i = 0; p->bytes[r] && i < p->n; i++, to += sizeof(long))
      memcpy(to, &p->parcels[i].counts[r], sizeof(long));
    for (int i = 0; i < p->n; i++) {
      const size_t bytes = (size_t)p->parcels[i].counts[r] * p->parcels[i].item_bytes;
      if (bytes)
        memcpy(to, next[i], bytes);
      to += bytes;
      next[i] += bytes;
    }
  }
  const bool good = next && p->out;
  free(next);
  return good ? OP_OK : error_memory(err, "messages to other ranks", total);
}

static bool make_room(const struct packing *p) {
  bool good = true;
  for (int i = 0; i < p->n; i++) {
    struct mail *in = p->parcels[i].in;
    in->counts = array_new((size_t)p->comm->size, sizeof *in->counts);
    good &= in->counts != NULL;
  }
  const unsigned char *from = p->in;
  for (int r = 0; good && r < p->comm->size; from += p->bytes[p->comm->size + r++])
    for (int i = 0; p->bytes[p->comm->size + r] && i < p->n; i++) {
      struct mail *in = p->parcels[i].in;
      memcpy(&in->counts[r], from + (size_t)i * sizeof(long), sizeof(long));
      in->total += in->counts[r];
    }
  for (int i = 0; good && i < p->n; i++) {
    struct mail *in = p->parcels[i].in;
    good = (in->items = array_new((size_t)in->total, p->parcels[i].item_bytes)) != NULL;
  }
  return good;
}

static int unpack(const struct packing *p, struct error *err) {
  unsigned char **next = array_new((size_t)p->n, sizeof *next);
  const unsigned char *from = p->in;
  if (!next || !make_room(p)) {
    free(next);
    return error_memory(err, "messages of other ranks", 0);
  }
  for (int i = 0; i < p->n; i++)
    next[i] = p->parcels[i].in->items;
  for (int r = 0; r < p->comm->size; r++) {
    from += p->bytes[p->comm->size + r] ? (size_t)p->n * sizeof(long) : 0;
    for (int i = 0; i < p->n; i++) {
      const size_t bytes = (size_t)p->parcels[i].in->counts[r] * p->parcels[i].item_bytes;
      if (bytes)
        memcpy(next[i], from, bytes);
      from += bytes;
      next[i] += bytes;
    }
  }
  free(next);
  return OP_OK;
}

int parcels_send(struct comm *comm, const struct parcel *parcels, int n, struct error *err) {
  struct packing p = {.comm = comm, .parcels = parcels, .n = n};
  void *in = NULL;
  for (int i = 0; i < n; i++)
    *parcels[i].in = (struct mail){0};
  p.bytes = array_new(2 * (size_t)comm->size, sizeof *p.bytes);
  int code = p.bytes ? pack(&p, err)
                     : error_memory(err, "the sizes of messages", 2 * (size_t)comm->size * sizeof *p.bytes);
  if (!code)
    code = comm->table->post(comm, p.out, p.bytes, &in, p.bytes + comm->size, err);
  else
    free(p.out);
  p.in = in;
  if (!code)
    code = unpack(&p, err);
  free(in);
  free(p.bytes);
  for (int i = 0; code && i < n; i++)
    mail_free(parcels[i].in);
  return code;
}
