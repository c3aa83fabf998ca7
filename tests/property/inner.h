#ifndef OP2JIT_TESTS_INNER_H
#define OP2JIT_TESTS_INNER_H

struct comm;

/* The ranks between op_init and op_exit, else NULL. */
struct comm *inner_comm(void);

#endif
