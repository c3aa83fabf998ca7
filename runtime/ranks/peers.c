#include "ranks/peers.h"

#include <string.h>

#include "ranks/agree.h"
#include "ranks/comm.h"

static const char *nth_word(const char *list, int n, size_t *length) {
  for (; n > 0 && strchr(list, ','); n--)
    list = strchr(list, ',') + 1;
  *length = strcspn(list, ",");
  return list;
}

int node_word(const char *list, int number, struct text *out) {
  size_t length, other = 0;
  int words = 1, place = 0;
  for (const char *p = list; (p = strchr(p, ',')); p++)
    words++;
  number = number < words ? number : words - 1;
  const char *word = nth_word(list, number, &length);
  while (place < number) {
    const char *before = nth_word(list, place, &other);
    if (other == length && memcmp(before, word, length) == 0)
      break;
    place++;
  }
  text_add_bytes(out, word, length);
  return place;
}

/* Among the ranks of the machine that have this one's word: by that they share its devices. */
static int count_before(const char *list, int node_rank, int place) {
  int before = 0;
  for (int r = 0; r < node_rank; r++) {
    struct text ignored = {0};
    before += node_word(list, r, &ignored) == place;
    text_free(&ignored);
  }
  return before;
}

int peers_open(struct op_context *ctx, const char *list, struct error *err) {
  struct comm *all = ctx->comm;
  struct text word = {0};
  const int place = node_word(list, all->node_rank, &word);
  double ends[] = {place, -place};
  int code = text_ok(&word) ? OP_OK : error_memory(err, "the ranks of one backend", word.length);
  text_free(&word);
  code = agree_on_largest(all, code, ends, 2, err);
  if (code || ends[0] == -ends[1])
    return code;
  code = all->table->split(all, place, &ctx->peers, err);
  if (code)
    return code;
  ctx->peers->node_rank = count_before(list, all->node_rank, place);
  ctx->peers->node_size = all->node_size;
  ctx->peers->share = all->share;
  return OP_OK;
}

void peers_close(struct op_context *ctx) {
  comm_close(ctx->peers);
  ctx->peers = NULL;
}
