// Checks for the programs of this folder: they print what is wrong, and end with how much that was.
#ifndef CHECK_H
#define CHECK_H

#include <cstdio>
#include <cstdlib>

static int wrong = 0;

#define CHECK(condition)                                                                                     \
  do {                                                                                                       \
    if (!(condition)) {                                                                                      \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                \
      wrong++;                                                                                               \
    }                                                                                                        \
  } while (0)

#endif
