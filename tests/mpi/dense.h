/* Messages from a table with the bytes of every rank, and back. */
#ifndef OP2JIT_TESTS_DENSE_H
#define OP2JIT_TESTS_DENSE_H

#include "check.h"
#include "ranks/comm.h"

static inline struct comm_messages messages_of(const size_t *bytes, int ranks) {
  struct comm_messages m;
  check(comm_messages_new(&m, ranks));
  m.count = 0;
  for (int r = 0; r < ranks; r++)
    if (bytes[r]) {
      m.ranks[m.count] = r;
      m.bytes[m.count++] = bytes[r];
    }
  return m;
}

static inline void spread_messages(struct comm_messages *m, size_t *bytes, int ranks) {
  for (int r = 0; r < ranks; r++)
    bytes[r] = 0;
  for (int i = 0; i < m->count; i++) {
    check(m->ranks[i] >= 0 && m->ranks[i] < ranks && m->bytes[i] && (!i || m->ranks[i] > m->ranks[i - 1]));
    bytes[m->ranks[i]] = m->bytes[i];
  }
  comm_messages_free(m);
}

#endif
