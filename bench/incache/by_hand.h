/* Loops of ./dev bench incache as somebody writes them who knows the processor: vectors of four, or of eight with
 * AVX-512, rows turned in registers, increments row by row. */
#ifndef BENCH_INCACHE_BY_HAND_H
#define BENCH_INCACHE_BY_HAND_H

struct by_hand {
  int n;
  const int *map, *nodes; /* to the cells, or to corners; edges to nodes */
  double *const *values;  /* by dat */
};

void by_hand_res_calc(const struct by_hand *given);
void by_hand_save_soln(const struct by_hand *given);
void by_hand_spread(const struct by_hand *given);
void by_hand_jac(const struct by_hand *given);
void by_hand_multiply(const struct by_hand *given);

/* Those that are there with AVX-512 only (by_hand_wide.c). */
#ifdef __AVX512F__
#define BY_HAND_WIDE(function) function
#else
#define BY_HAND_WIDE(function) NULL
#endif
void by_hand_adt_calc(const struct by_hand *given);
void by_hand_euler(const struct by_hand *given);
void by_hand_gradient(const struct by_hand *given);
void by_hand_flux(const struct by_hand *given);

#endif
