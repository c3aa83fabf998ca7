/* The comm of one process: what MPI does with one rank, without MPI. */
#include "ranks/comm.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A message to oneself: it is done when the other end with the same tag was started as well. */
struct comm_request {
  struct comm_request *next; /* started, not done */
  unsigned char *data;
  size_t bytes;
  int tag;
  bool sends, waits;
};

struct alone {
  struct comm comm;
  struct comm_request *started; /* oldest first */
};

static int alone_barrier(struct comm *c, struct error *err) {
  (void)c, (void)err;
  return OP_OK;
}

static int check_root(int root, struct error *err) {
  return root == 0 ? OP_OK : error_set(err, OP_ERR_INTERNAL, "rank %d is not one of 1 rank", root);
}

static int alone_broadcast(struct comm *c, void *data, size_t bytes, int root, struct error *err) {
  (void)c, (void)data, (void)bytes;
  return check_root(root, err);
}

static int alone_reduce_all(struct comm *c, void *values, int count, enum comm_value type, enum comm_op op,
                            struct error *err) {
  (void)c, (void)values, (void)count, (void)type, (void)op, (void)err;
  return OP_OK;
}

static int alone_scan_before(struct comm *c, long long mine, long long *before, struct error *err) {
  (void)c, (void)mine, (void)err;
  *before = 0;
  return OP_OK;
}

static void copy(void *to, const void *from, size_t bytes) {
  if (bytes && to != from)
    memmove(to, from, bytes);
}

static int alone_gather_all(struct comm *c, const void *mine, size_t bytes, void *all, struct error *err) {
  (void)c, (void)err;
  copy(all, mine, bytes);
  return OP_OK;
}

static int alone_gather(struct comm *c, const void *mine, size_t bytes, void *all, const size_t *sizes,
                        int root, struct error *err) {
  (void)c, (void)sizes;
  copy(all, mine, bytes);
  return check_root(root, err);
}

static int alone_exchange(struct comm *c, const void *send, const size_t *send_bytes, void *receive,
                          const size_t *receive_bytes, struct error *err) {
  (void)c;
  if (send_bytes[0] != receive_bytes[0])
    return error_set(err, OP_ERR_INTERNAL, "an exchange of one rank sends %zu bytes and receives %zu",
                     send_bytes[0], receive_bytes[0]);
  copy(receive, send, send_bytes[0]);
  return OP_OK;
}

static int new_request(void *data, size_t bytes, int peer, int tag, bool sends, struct comm_request **out,
                       struct error *err) {
  if (peer != 0)
    return error_set(err, OP_ERR_INTERNAL, "rank %d is not one of 1 rank", peer);
  struct comm_request *request = calloc(1, sizeof *request);
  if (!request)
    return error_memory(err, "a message", sizeof *request);
  *request = (struct comm_request){.data = data, .bytes = bytes, .tag = tag, .sends = sends};
  *out = request;
  return OP_OK;
}

static int alone_send_init(struct comm *c, const void *data, size_t bytes, int peer, int tag,
                           struct comm_request **out, struct error *err) {
  (void)c;
  return new_request((void *)(uintptr_t)data, bytes, peer, tag, true, out, err);
}

static int alone_receive_init(struct comm *c, void *data, size_t bytes, int peer, int tag,
                              struct comm_request **out, struct error *err) {
  (void)c;
  return new_request(data, bytes, peer, tag, false, out, err);
}

static struct comm_request **find_other_end(struct alone *a, const struct comm_request *request) {
  struct comm_request **link = &a->started;
  while (*link && ((*link)->tag != request->tag || (*link)->sends == request->sends))
    link = &(*link)->next;
  return link;
}

static int start_one(struct alone *a, struct comm_request *request, struct error *err) {
  struct comm_request **link = find_other_end(a, request), *other = *link;
  request->next = NULL;
  request->waits = !other;
  if (!other) {
    while (*link)
      link = &(*link)->next;
    *link = request;
    return OP_OK;
  }
  *link = other->next;
  other->waits = false;
  const struct comm_request *from = request->sends ? request : other, *to = request->sends ? other : request;
  if (from->bytes != to->bytes)
    return error_set(err, OP_ERR_INTERNAL, "a message of %zu bytes meets a receiver of %zu", from->bytes,
                     to->bytes);
  copy(to->data, from->data, from->bytes);
  return OP_OK;
}

static int alone_start(struct comm *c, struct comm_request *const *requests, int count, struct error *err) {
  int code = OP_OK;
  for (int i = 0; !code && i < count; i++)
    code = requests[i]->bytes ? start_one(c->state, requests[i], err) : OP_OK;
  return code;
}

static int alone_test(struct comm *c, struct comm_request *const *requests, int count, bool *done,
                      struct error *err) {
  (void)c, (void)err;
  *done = true;
  for (int i = 0; i < count; i++)
    *done &= !requests[i]->waits;
  return OP_OK;
}

static int alone_wait(struct comm *c, struct comm_request *const *requests, int count, struct error *err) {
  bool done = false;
  int code = alone_test(c, requests, count, &done, err);
  if (!code && !done)
    code = error_set(err, OP_ERR_INTERNAL, "a message to oneself has no other end (%s)",
                     c->where ? c->where : "");
  return code;
}

static void alone_request_free(struct comm *c, struct comm_request *request) {
  struct alone *a = c->state;
  for (struct comm_request **link = &a->started; *link; link = &(*link)->next)
    if (*link == request) {
      *link = request->next;
      break;
    }
  free(request);
}

static int alone_split(struct comm *c, int colour, struct comm **out, struct error *err) {
  (void)c;
  *out = NULL;
  return colour < 0 ? OP_OK : comm_open_alone(out, err);
}

static bool alone_takes_gpu_memory(const struct comm *c) {
  (void)c;
  return false;
}

static void alone_tell(struct comm *c, const struct error *err) {
  (void)c, (void)err;
}

static int alone_told(struct comm *c, struct error *err) {
  (void)c, (void)err;
  return OP_OK;
}

static void alone_close(struct comm *c) {
  free(c ? c->state : NULL);
}

static void alone_abort(struct comm *c, int status) {
  (void)c;
  exit(status);
}

static const struct comm_table alone_table = {
    .version = COMM_TABLE_VERSION,
    .name = "one process",
    .barrier = alone_barrier,
    .broadcast = alone_broadcast,
    .reduce_all = alone_reduce_all,
    .scan_before = alone_scan_before,
    .gather_all = alone_gather_all,
    .gather = alone_gather,
    .exchange = alone_exchange,
    .send_init = alone_send_init,
    .receive_init = alone_receive_init,
    .start = alone_start,
    .test = alone_test,
    .wait = alone_wait,
    .request_free = alone_request_free,
    .takes_gpu_memory = alone_takes_gpu_memory,
    .split = alone_split,
    .tell = alone_tell,
    .told = alone_told,
    .close = alone_close,
    .abort = alone_abort,
};

int comm_open_alone(struct comm **out, struct error *err) {
  struct alone *a = calloc(1, sizeof *a);
  if (!a)
    return error_memory(err, "the comm", sizeof *a);
  a->comm = (struct comm){.table = &alone_table, .size = 1, .node_size = 1, .fortran = -1, .state = a};
  *out = &a->comm;
  return OP_OK;
}

void comm_close(struct comm *c) {
  if (c)
    c->table->close(c);
}
