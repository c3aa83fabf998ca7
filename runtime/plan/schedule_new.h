/* How builders make schedules: room first, then phases and items in order; slots are numbered in the order of
 * items. For runtime/schedule_*.c only. */
#ifndef OP2JIT_SCHEDULE_NEW_H
#define OP2JIT_SCHEDULE_NEW_H

#include "run/schedule.h"

/* Room for so many; the list is NULL if its length is 0. OP_ERR_MEMORY, OP_ERR_SIZE: then *s is empty. */
int schedule_new(struct schedule *s, long nitems, long nphases, long list_length, struct error *err);
void schedule_add_phase(struct schedule *s, bool owned);
/* To the last phase; owner -1: any. Until schedules are shifted their elements count from 0. */
void schedule_add_item(struct schedule *s, int work, long begin, long end, int owner);

#endif
