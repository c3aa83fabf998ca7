#include "io/together.h"

#include "agree.h"

int together_agree(struct comm *comm, int code, struct error *err) {
  /* What the ranks have agreed on once is known to all of them. */
  if (together_alone(comm) || (code && err->teller != ERROR_MINE))
    return code;
  return agree_on_success(comm, code, err);
}

static int reduce(struct comm *comm, long long *value, enum comm_op op, struct error *err) {
  return together_alone(comm) ? OP_OK : comm->table->reduce_all(comm, value, 1, COMM_LLONG, op, err);
}

int together_most(struct comm *comm, long long *value, struct error *err) {
  return reduce(comm, value, COMM_MAX, err);
}

int together_sum(struct comm *comm, long long *value, struct error *err) {
  return reduce(comm, value, COMM_SUM, err);
}

int together_before(struct comm *comm, long long mine, long long *before, struct error *err) {
  *before = 0;
  return together_alone(comm) ? OP_OK : comm->table->scan_before(comm, mine, before, err);
}

int together_broadcast(struct comm *comm, void *data, size_t bytes, struct error *err) {
  return together_alone(comm) ? OP_OK : comm->table->broadcast(comm, data, bytes, 0, err);
}

void together_share(const struct comm *comm, long long total, long long *first, long long *count) {
  const long long rank = comm ? comm->rank : 0, size = comm ? comm->size : 1;
  /* total / size for each, and one more for the first total % size: no product that could overflow. */
  const long long each = total / size, more = total % size;
  *first = rank * each + (rank < more ? rank : more);
  *count = each + (rank < more ? 1 : 0);
}
