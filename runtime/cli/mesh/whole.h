/* Files of text as a whole: read into memory, written aside and renamed. */
#ifndef OP2JIT_IO_MESH_WHOLE_H
#define OP2JIT_IO_MESH_WHOLE_H

#include <stdio.h>

#include "base/error.h"

/* *text is the caller's to free, and has a NUL behind its `length` bytes. */
int whole_read(const char *path, char **text, size_t *length, struct error *err);
/* `write` gives false if the file does not take it. */
int whole_write(const char *path, bool (*write)(FILE *file, void *user), void *user, struct error *err);

#endif
