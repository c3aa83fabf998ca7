#include "agree.h"

#include <stdlib.h>
#include <string.h>

#include "base/size.h"

/* "rank 2: ", "ranks 2, 5: " or "all 8 ranks: ". */
static void name_ranks(const unsigned char *failed, int size, struct text *out) {
  enum { MOST = 8 };
  int count = 0, named = 0;
  for (int r = 0; r < size; r++)
    count += failed[r];
  if (count == size) {
    text_addf(out, "all %d ranks: ", size);
    return;
  }
  text_add(out, count == 1 ? "rank" : "ranks");
  for (int r = 0; r < size && named < MOST; r++)
    if (failed[r])
      text_addf(out, "%s%d", named++ ? ", " : " ", r);
  if (count > MOST)
    text_addf(out, " and %d more", count - MOST);
  text_add(out, ": ");
}

/* A part of a message, of one size on all ranks: a rank without memory takes part all the same. */
struct words {
  int code;
  size_t left; /* of the message, this part included */
  char part[4000];
};

/* Everybody gets the message of rank `first`. */
static int spread_failure(struct comm *c, int first, const unsigned char *failed, struct error *err) {
  const bool tells = c->rank == first;
  struct text message = {0};
  struct words w = {.code = err->code};
  int status = OP_OK;
  if (tells) {
    name_ranks(failed, c->size, &message);
    text_add(&message, error_message(err));
    w.left = message.length;
  }
  for (size_t done = 0; !status; done += sizeof w.part) {
    const size_t length = w.left < sizeof w.part ? w.left : sizeof w.part;
    if (tells && length)
      memcpy(w.part, message.data + done, length);
    status = c->table->broadcast(c, &w, sizeof w, first, err);
    if (!tells && !status)
      text_add_bytes(&message, w.part, w.left < sizeof w.part ? w.left : sizeof w.part);
    if (w.left <= sizeof w.part)
      break;
    w.left -= tells ? sizeof w.part : 0;
  }
  if (!status) {
    status = error_set(err, w.code, "%s", text_str(&message));
    err->teller = tells ? ERROR_AGREED : ERROR_ELSEWHERE;
  }
  text_free(&message);
  return status;
}

int agree_on_success(struct comm *c, int code, struct error *err) {
  if (comm_alone(c))
    return code;
  long long worst = code != OP_OK;
  int status = c->table->reduce_all(c, &worst, 1, COMM_LLONG, COMM_MAX, err);
  if (status || !worst)
    return status;
  const unsigned char mine = code != OP_OK;
  unsigned char *failed = array_new((size_t)c->size, 1);
  if (!failed) /* nobody can be told any more */
    return error_memory(err, "the outcome of the ranks", (size_t)c->size);
  status = c->table->gather_all(c, &mine, 1, failed, err);
  int first = 0;
  while (!status && first < c->size - 1 && !failed[first])
    first++;
  if (!status)
    status = spread_failure(c, first, failed, err);
  free(failed);
  return status;
}
