/* The types of dats, as C and as op2jit call them: ROW(C type, a word for names, op2jit's name). */
#ifndef SAMPLES_EACH_TYPE_H
#define SAMPLES_EACH_TYPE_H

#include <stdbool.h>

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

#endif
