#include "backend/heavy.h"

#include "backend/alternatives.h"

/* Seconds: waking threads that sleep takes a part of the first. */
#define LONG_CALL 20e-6
#define VERY_LONG_CALL 1e-3
enum { VERY_LONG_COUNTS = 4 };

/* The least that loops are cut into usually, see plan/chunks.c and plan/colours.c. */
static const long usual_piece = 256;
static const long pieces_per_thread = 4, usual_pieces = 64;

bool heavy_is_few(long elements, int threads) {
  return threads > 1 && elements > 1 && elements < TUNED_ELEMENTS &&
         elements < usual_piece * pieces_per_thread * threads;
}

void heavy_note(int *long_calls, double seconds) {
  if (*long_calls == HEAVY_NEVER)
    return;
  if (seconds >= LONG_CALL)
    *long_calls += seconds >= VERY_LONG_CALL ? VERY_LONG_COUNTS : 1;
  else if (*long_calls > 0)
    --*long_calls;
  if (*long_calls > HEAVY_ENOUGH)
    *long_calls = HEAVY_ENOUGH;
}

int heavy_piece(long elements, int threads, int strip) {
  const long lanes = strip > 0 ? strip : 1;
  const long wanted = pieces_per_thread * threads;
  const long pieces = wanted > usual_pieces ? wanted : usual_pieces;
  if (2 * elements <= lanes * threads)
    return (int)((elements + threads - 1) / threads);
  const long size = (elements + pieces - 1) / pieces;
  return (int)((size + lanes - 1) / lanes * lanes);
}
