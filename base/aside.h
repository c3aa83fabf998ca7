/* A file is written under another name beside it, FILE.PID.part, and renamed when it is whole. A process that
 * is killed leaves the old file as it was, and that other file. */
#ifndef OP2JIT_BASE_ASIDE_H
#define OP2JIT_BASE_ASIDE_H

#include <stdbool.h>
#include <stdio.h>

#include "error.h"

/* The two names of a file of process `pid`. Links are followed, so that they stay links. */
int aside_name(const char *path, long pid, struct text *file, struct text *name, struct error *err);

/* A file that is written so. What is there and is no file (a device, a pipe, a stream of the
 * process as /dev/stdout) is written as it is: no file must take its place. */
struct aside {
  struct text path, name; /* the name is empty: written as it is */
  FILE *file;
};

/* OP_ERR_FILE. After a failure too, aside_close releases what there is. */
int aside_open(struct aside *a, const char *path, struct error *err);
/* `code`: how the writing went. After a failure the old file is there again. */
int aside_close(struct aside *a, int code, struct error *err);
/* OP_ERR_FILE unless a file could be written there. */
int aside_check(const char *path, struct error *err);
int aside_refused(const char *path,
                  struct error *err); /* OP_ERR_FILE: cannot be written, for the reason that errno has */
/* All that a file holds, appended. OP_ERR_FILE, OP_ERR_MEMORY. */
int file_read(const char *path, struct text *out, struct error *err);
/* Any bytes as a whole file. */
int aside_whole(const char *path, const void *bytes, size_t length, struct error *err);

#endif
