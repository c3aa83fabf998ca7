/* Ranks without MPI: one rank that is its own neighbour. A part of each set's elements becomes a boundary whose
 * maps lead partly to copies, as if other ranks owned the targets; copies of the boundary lead to the rest. So
 * everything that loops do over ranks happens in one process: parts, exchanges, redundant execution, results that
 * must not count twice. */
#ifndef OP2JIT_TESTS_MIRROR_H
#define OP2JIT_TESTS_MIRROR_H

#include "op2jit.h"
#include "random.h"

/* Right after their declaration, before dats are declared on the set. */
void mirror_set(op_set set, struct random *r);
void mirror_map(op_map map, struct random *r);
/* With the set of its entries, whose boundary is that of the elements. */
void mirror_ragged(op_map map, struct random *r);
/* A map with the rows of another one, copies included. */
void mirror_as(op_map map, op_map other);

#endif
