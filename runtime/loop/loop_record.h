/* Records of loops: making and freeing one (loop_record.c), and the table that finds them (loop_table.c). For loop.c; everybody
 * else needs loop.h only. */
#ifndef OP2JIT_LOOP_RECORD_H
#define OP2JIT_LOOP_RECORD_H

#include "record/record.h"

/* One op_par_loop as the user wrote it, valid while the call lasts. */
struct loop_call {
  const char *text, *name;
  op_set set;
  int nargs;
  const op_arg *args;
  const char *file;
  int line;
};

/* A record of the call, checked and described, with its shadow if loops have one; in no table, so the caller frees it. NULL: an
 * error. */
struct loop *loop_new(struct op_context *ctx, const struct loop_call *call, struct error *err);
void loop_free(struct op_context *ctx, struct loop *loop);
/* Bytes that one call must move at least: every dat once, read, written or both, every map once. */
void loop_count_bytes(struct loop *loop);

uint64_t loop_hash(const struct loop_call *call);
/* NULL: there is none. */
struct loop *loop_find(const struct loop_table *table, uint64_t hash, const struct loop_call *call);
/* Its hash is set. The table owns it then; after an error it is still the caller's. */
int loop_add(struct op_context *ctx, struct loop *loop, struct error *err);
/* The record that was added last, and which its call did not come to use: it is freed. */
void loop_take_back(struct op_context *ctx, struct loop *loop);

#endif
