/* Stores past the caches, for the hand-written loops: what is written to arrays much larger than these is not
 * there any more when it is read, and memory need not be read only to be overwritten. */
#ifndef BENCH_COMMON_STREAM_H
#define BENCH_COMMON_STREAM_H

#include <stdint.h>
#include <string.h>

/* Values in a line of a cache, and in a vector. */
enum { STREAM_LINE = 8 };
#ifdef __AVX__
#include <immintrin.h>
enum { STREAM_VALUES = 4 };
#else
enum { STREAM_VALUES = 2 };
#endif
typedef double stream_vector __attribute__((vector_size(STREAM_VALUES * sizeof(double))));

/* Whether a loop over so many bytes of data should. */
int stream_worth(double bytes);

/* How many of `count` values lie in front of the first whole line. */
static inline size_t stream_ahead(const double *to, size_t count) {
  size_t ahead = (STREAM_LINE - (uintptr_t)to / sizeof *to % STREAM_LINE) % STREAM_LINE;
  return ahead < count ? ahead : count;
}

static inline stream_vector stream_load(const double *from) {
  stream_vector read;
  memcpy(&read, from, sizeof read);
  return read;
}

/* To where a vector is aligned. All of a line should be stored. */
static inline void stream_store(double *to, stream_vector values) {
#ifdef __AVX__
  _mm256_stream_pd(to, (__m256d)values);
#else
  memcpy(to, &values, sizeof values);
#endif
}

/* Before other threads read what was stored so. */
static inline void stream_end(void) {
#ifdef __AVX__
  _mm_sfence();
#endif
}

#endif
