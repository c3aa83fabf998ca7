#include "distribute/mail.h"

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

int mail_send(struct comm *comm, const void *items, const long *counts, size_t item_bytes, struct mail *in,
              struct error *err) {
  const size_t ranks = (size_t)comm->size;
  *in = (struct mail){.counts = array_new(ranks, sizeof *in->counts)};
  long *ones = array_new(ranks, sizeof *ones);
  int code = OP_OK;
  if (!in->counts || !ones) {
    code = error_memory(err, "the sizes of messages", 2 * ranks * sizeof *ones);
    goto done;
  }
  for (size_t r = 0; r < ranks; r++)
    ones[r] = 1;
  code = mail_send_known(comm, counts, ones, sizeof *counts, in->counts, ones, err);
  if (code)
    goto done;
  for (size_t r = 0; r < ranks; r++)
    in->total += in->counts[r];
  in->items = array_new((size_t)in->total, item_bytes);
  if (!in->items)
    code = error_memory(err, "messages of other ranks", (size_t)in->total * item_bytes);
  else
    code = mail_send_known(comm, items, counts, item_bytes, in->items, in->counts, err);

done:
  free(ones);
  if (code)
    mail_free(in);
  return code;
}

/* ---- sides ---- */

void halo_side_free(struct halo_side *side) {
  free(side->ranks);
  free(side->first);
  free(side->elements);
  *side = (struct halo_side){0};
}

void distribution_free(struct distribution *d) {
  if (!d)
    return;
  free(d->declared_first);
  free(d->numbers);
  struct halo_exchange *const exchanges[] = {&d->exec, &d->nonexec, &d->home};
  for (size_t i = 0; i < sizeof exchanges / sizeof *exchanges; i++) {
    halo_side_free(&exchanges[i]->send);
    halo_side_free(&exchanges[i]->receive);
  }
  free(d);
}

void map_halo_free(struct map_halo *halo) {
  if (!halo)
    return;
  halo_side_free(&halo->exchange.send);
  halo_side_free(&halo->exchange.receive);
  free(halo);
}

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

static void side_bytes(const struct halo_side *side, size_t row_bytes, size_t *bytes) {
  for (int i = 0; i < side->count; i++)
    bytes[side->ranks[i]] = (size_t)(side->first[i + 1] - side->first[i]) * row_bytes;
}

int carry_rows(struct comm *comm, const struct halo_side *send, const struct halo_side *receive,
               size_t row_bytes, const void *from, void *into, struct error *err) {
  const size_t ranks = (size_t)comm->size;
  const size_t going = (size_t)send->first[send->count], coming = (size_t)receive->first[receive->count];
  size_t *bytes = array_new(2 * ranks, sizeof *bytes);
  unsigned char *out = array_new(going, row_bytes), *in = array_new(coming, row_bytes);
  int code = OP_OK;
  if (!bytes || !out || !in)
    code = error_memory(err, "rows on their way to other ranks", (going + coming) * row_bytes);
  else {
    side_bytes(send, row_bytes, bytes);
    side_bytes(receive, row_bytes, bytes + ranks);
    for (size_t i = 0; i < going; i++)
      memcpy(out + i * row_bytes, (const unsigned char *)from + (size_t)send->elements[i] * row_bytes,
             row_bytes);
    code = comm->table->exchange(comm, out, bytes, in, bytes + ranks, err);
  }
  for (size_t i = 0; !code && i < coming; i++)
    memcpy((unsigned char *)into + (size_t)receive->elements[i] * row_bytes, in + i * row_bytes, row_bytes);
  free(bytes);
  free(out);
  free(in);
  return code;
}
