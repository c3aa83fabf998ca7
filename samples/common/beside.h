/* A file that is written under another name beside its own, and renamed when it is whole: a full disk leaves what was there.
 * A link is followed, so that it stays one. What is there and is no file (a device, a pipe, a stream, a link to a file yet to come) is
 * written as it is. */
#ifndef SAMPLES_BESIDE_H
#define SAMPLES_BESIDE_H

#include <stdio.h>

struct beside {
  FILE *file;
  char *path, *name; /* the name is NULL: written as it is */
};

/* 0, or -1 with errno set, and nothing to close. */
int beside_open(struct beside *b, const char *path);
/* The same: what was there is there again. */
int beside_close(struct beside *b);

/* Whether the path leads to what is written as it is. */
int beside_is_stream(const char *path);
/* That other name; free() it. */
char *beside_name(const char *path);

#endif
