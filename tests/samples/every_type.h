/* Shared by the tables of types: the types, and memory for their values. */
#ifndef TESTS_SAMPLES_EVERY_TYPE_H
#define TESTS_SAMPLES_EVERY_TYPE_H

#include <op2jit.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The types of dats: C's name, a word for names, op2jit's name. */
#define EACH_TYPE(ROW)                                                                                       \
  ROW(double, double, "double")                                                                              \
  ROW(float, float, "float")                                                                                 \
  ROW(int, int, "int")                                                                                       \
  ROW(unsigned int, uint, "uint")                                                                            \
  ROW(long long, ll, "ll")                                                                                   \
  ROW(unsigned long long, ull, "ull")                                                                        \
  ROW(bool, bool, "bool")                                                                                    \
  ROW(char, char, "char")                                                                                    \
  ROW(short, short, "short")

static void *array(long long count, size_t size) {
  void *made = calloc((size_t)count + 1, size);
  if (!made) {
    fprintf(stderr, "no memory for %lld values\n", count);
    exit(1);
  }
  return made;
}

/* Under mpirun the first process declares everything, and op_partition shares it out. */
static int here(int size) {
  return op_is_root() ? size : 0;
}

#endif
