/* The other name of a file while it is written, beside it: FILE.MACHINE.PID.part. It is renamed when it is whole, so that a process
 * that is killed leaves what was there before, and only that other file besides. MACHINE, eight digits, tells apart the hosts and
 * containers that share a folder: what a process of this one left is known as such. */
#ifndef OP2JIT_BASE_ASIDE_H
#define OP2JIT_BASE_ASIDE_H

#include "base/error.h"

/* Also deletes what processes of this machine that are no more left of the same file. */
int aside_name(const char *path, struct text *out, struct error *err);

#endif
