/* The checking form: the loop runs element by element on a mesh of one element at a time, in guarded buffers, and what
 * the kernel does is compared with what its descriptors promise. At the end data and results are those of a normal run. */
#ifndef OP2JIT_CHECK_H
#define OP2JIT_CHECK_H

#include <stdbool.h>

#include "base/error.h"

struct op_context;
struct loop;
struct launch;

/* Does OP2_CHECK ask for this loop? "off", "on", or loop names separated by ','. */
bool check_wanted(const char *value, const char *loop_name);

/* Run it. Dats are in the host's memory, the launch's slots hold start values (one slot). OP_ERR_VIOLATION names loop, argument,
 * element and component; data and results are then as before. */
int check_run(struct op_context *ctx, struct launch *launch, struct error *err);
/* Release what check_run keeps with the loop. */
void check_drop(struct loop *loop);

#endif
