/* A file's bytes, for tests; ends the test program if it cannot be read. The caller frees. */
#ifndef OP2JIT_TESTS_LOAD_READ_FILE_H
#define OP2JIT_TESTS_LOAD_READ_FILE_H

#include <stddef.h>

void *read_file(const char *path, size_t *size);

#endif
