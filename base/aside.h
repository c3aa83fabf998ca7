/* The other name of a file while it is written, beside it: FILE.MACHINE.PID.part. It is renamed when it is whole, so that a process
 * that is killed leaves what was there before, and only that other file besides. MACHINE, eight digits, tells apart the hosts and
 * containers that share a folder: what a process of this one left is known as such. */
#ifndef OP2JIT_BASE_ASIDE_H
#define OP2JIT_BASE_ASIDE_H

#include <stdbool.h>
#include <stdio.h>

#include "error.h"

/* Also deletes what processes of this machine that are no more left of the same file. */
int aside_name(const char *path, struct text *out, struct error *err);

/* A file that is written so. A link is followed, so that it stays one. What is there and is no file (a device, a pipe, a stream of the
 * process as /dev/stdout) is written as it is: no file must take its place. */
struct aside {
  struct text path, name; /* the name is empty: written as it is */
  FILE *file;
};

/* OP_ERR_FILE. After a failure too, aside_close releases what there is. */
int aside_open(struct aside *a, const char *path, struct error *err);
/* `code`: how the writing went. If badly, what was there before is there again. */
int aside_close(struct aside *a, int code, struct error *err);
/* OP_ERR_FILE unless a file could be written there. */
int aside_check(const char *path, struct error *err);
int aside_refused(const char *path,
                  struct error *err); /* OP_ERR_FILE: cannot be written, for the reason that errno has */

#endif
