/* The comm of one process: what MPI does with one rank, without MPI. It has no messages: nobody is there to send
 * one to. */
#include "ranks/comm.h"

#include <stdlib.h>
#include <string.h>

#include "base/size.h"

static int alone_barrier(struct comm *c, struct error *err) {
  (void)c, (void)err;
  return OP_OK;
}

static int check_root(int root, struct error *err) {
  return root == 0 ? OP_OK : error_mistake(err, OP_ERR_INTERNAL, "rank %d is not one of 1 rank", root);
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

static int alone_exchange(struct comm *c, const void *send, const struct comm_messages *to, void *receive,
                          const struct comm_messages *from, struct error *err) {
  (void)c;
  const size_t sent = to->count ? to->bytes[0] : 0, wanted = from->count ? from->bytes[0] : 0;
  if (sent != wanted)
    return error_mistake(err, OP_ERR_INTERNAL, "an exchange of one rank sends %zu bytes and receives %zu",
                         sent, wanted);
  copy(receive, send, sent);
  return OP_OK;
}

static int alone_post(struct comm *c, void *send, const struct comm_messages *to, void **receive,
                      struct comm_messages *from, struct error *err) {
  (void)c;
  if (!comm_messages_new(from, to->count)) {
    free(send);
    return error_memory(err, "messages", (size_t)to->count * sizeof *to->bytes);
  }
  copy(from->bytes, to->bytes, (size_t)to->count * sizeof *to->bytes);
  *receive = send;
  return OP_OK;
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
  free(c);
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
    .post = alone_post,
    .takes_gpu_memory = alone_takes_gpu_memory,
    .split = alone_split,
    .tell = alone_tell,
    .told = alone_told,
    .close = alone_close,
    .abort = alone_abort,
};

int comm_open_alone(struct comm **out, struct error *err) {
  *out = calloc(1, sizeof **out);
  if (!*out)
    return error_memory(err, "the comm", sizeof **out);
  **out = (struct comm){.table = &alone_table, .size = 1, .node_size = 1, .fortran = -1};
  return OP_OK;
}

void comm_close(struct comm *c) {
  if (c)
    c->table->close(c);
}
