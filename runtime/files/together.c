#include "files/together.h"

#include "ranks/agree.h"

int together_agree(struct comm *comm, int code, struct error *err) {
  /* An error that the ranks have agreed on is known to all of them. */
  if (together_alone(comm) || (code && err->teller != ERROR_MINE))
    return code;
  return agree_on_success(comm, code, err);
}

int together_most(struct comm *comm, long long *value, struct error *err) {
  return together_alone(comm) ? OP_OK : comm->table->reduce_all(comm, value, 1, COMM_LLONG, COMM_MAX, err);
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
