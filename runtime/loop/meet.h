/* Elements that meet in what a loop writes through maps (WRITE and RW). Such a loop is right, if no two of them run at one
 * time; what comes of it depends on their order, unless they write the same. */
#ifndef OP2JIT_LOOP_MEET_H
#define OP2JIT_LOOP_MEET_H

#include "mesh/meeting/meeting.h"
#include "record/record.h"

/* The argument assigns to a dat: WRITE or RW. */
bool meet_writes(const struct loop_arg *arg);
/* Where elements meet by any argument that writes the dat of `of`; nowhere if none goes through a map. OP_ERR_MEMORY.
 * */
int meet_find(const struct op_context *ctx, const struct loop *loop, const struct loop_arg *of,
              struct meeting *out, struct error *err);
/* Sets loop->meets, which is the same on all ranks. Collective, once for each numbering of the mesh. */
int loop_look_for_meetings(struct op_context *ctx, struct loop *loop, struct error *err);
/* Behind it, when the loop's code is there: a warning, once for each call site. Collective. */
int loop_tell_meetings(struct op_context *ctx, struct loop *loop, struct error *err);

#endif
