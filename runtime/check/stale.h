/* Under MPI: copies of others' elements that are read and were not brought up to date. The checking form spoils
 * all copies before a loop's exchange (loop_exchange_anew), so a stale one shows. */
#ifndef OP2JIT_CHECK_STALE_H
#define OP2JIT_CHECK_STALE_H

#include "record/record.h"

/* After the exchange. OP_ERR_VIOLATION names loop, argument, element and copy. Floating point only: -1 is a number. */
int stale_find(const struct loop *loop, struct error *err);

#endif
