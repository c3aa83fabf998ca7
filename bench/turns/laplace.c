/* Laplace's equation in turns. */
#include "turns.h"

#include "common/memory.h"
#include "common/report.h"

#define main sample_main
/* NOLINTNEXTLINE(bugprone-suspicious-include): the sample's functions are its own. */
#include "samples/laplace/laplace.c"
#undef main

#include "compare/laplace/twin.h"

const double turns_limit = 1e-13;
const char *const turns_word = NULL;
static double *start;
static struct square square;
static int width;

long long turns_prepare(int size, int library) {
  width = size + 2;
  turns_bytes = 16.0 * size * size;
  double *exact = saddle(width);
  start = start_from(exact, width);
  free(exact);
  if (library)
    square = square_declare(width, start);
  return (long long)width * width;
}

/* A tolerance below all changes: it never stops before. */
static double by_hand(int steps, double *answer) {
  double seconds;
  memcpy(answer, start, (size_t)width * (size_t)width * sizeof *answer);
  laplace_twin(width, -1, steps, 1, answer, &seconds);
  return seconds;
}

const struct turns_form turns_forms[] = {{"grid", by_hand}, {NULL, NULL}};

double turns_library(int steps, double *answer) {
  op_put_data(square.u, start);
  const double begin = clock_seconds();
  iterate(&square, -1, steps);
  const double seconds = (clock_seconds() - begin) / steps;
  op_fetch_data(square.u, answer);
  return seconds;
}
