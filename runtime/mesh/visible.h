/* Bring up to date what programs of OP2 see of sets, maps and dats (include/op2/op2jit_visible.h). */
#ifndef OP2JIT_MESH_VISIBLE_H
#define OP2JIT_MESH_VISIBLE_H

struct op_context;

/* All of them: after a declaration, and when elements were renumbered or changed their owners. */
void visible_update(struct op_context *ctx);

#endif
