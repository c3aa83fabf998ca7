/* A count of what the cases have run: one table, in which an empty cell is a failure. */
#ifndef OP2JIT_TESTS_COVERAGE_H
#define OP2JIT_TESTS_COVERAGE_H

#include <stdio.h>

#include "kernel.h"

enum layout { LAYOUT_AOS, LAYOUT_SOA, LAYOUT_GLOBAL, LAYOUTS };
enum { ACCESSES = OP_WORK + 1 };
enum drawn { DRAWN_ABSENT, DRAWN_REPEATED, DRAWN_NUMBERS, DRAWN_RESULTS, DRAWN_SUBSETS, DRAWN };

struct coverage {
  int cells[LAYOUTS][ACCESSES][V_TYPES][MAX_DIM + 1];
  int forms[FORM_INFO + 1][ACCESSES], boxed[ACCESSES];
  int meeting[FORM_INFO + 1][ACCESSES], meets[MEETS], meets_soa, meets_subsets,
      twins; /* arguments where elements really met */
  long loops, elements;
  uint64_t hash;     /* of what was not compared, see world.h */
  long drawn[DRAWN]; /* arguments, and loops over subsets */
};

/* The layout that has been run less often for this parameter. */
enum layout coverage_rarer(const struct coverage *c, const struct param *p);
void coverage_count(struct coverage *c, const struct param *p, enum layout layout);
/* An argument by which elements changed one row. */
void coverage_count_meeting(struct coverage *c, const struct param *p, bool soa, bool subset);
/* Print it; returns how many cells of legal combinations are empty. */
int coverage_print(const struct coverage *c, const char *backend, const char *strategy, FILE *out);
/* Where elements met, in a line; returns how many kinds of it there were not. */
int coverage_print_meeting(const struct coverage *c, FILE *out);
/* Prints what was drawn, in a line; returns how many kinds of it were not. */
int coverage_print_drawn(const long drawn[DRAWN], FILE *out);

#endif
