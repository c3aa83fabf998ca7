#include "exec/triad.h"

#include <stdlib.h>
#include <sys/mman.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "base/clock.h"

/* The arrays together hold so many times the cache; limits for machines that do not say what they have, or have
 * much. */
static const size_t times_cache = 4, least_bytes = (size_t)96 << 20, most_bytes = (size_t)1 << 30;
static const size_t huge_page = (size_t)2 << 20;
static const double most_seconds = 0.1; /* for passes of one kind */
static const int least_passes = 3, most_passes = 20;

struct triad {
  double *a, *b, *c;
  long n;
};

/* Pairs of values, so that vectors are aligned; `n` is even. */
static void piece(const struct triad *t, int thread, int threads, long *begin, long *end) {
  *begin = t->n / 2 * thread / threads * 2;
  *end = t->n / 2 * (thread + 1) / threads * 2;
}

static void touch(void *argument, int thread, int threads) {
  const struct triad *t = argument;
  long begin, end;
  piece(t, thread, threads, &begin, &end);
  for (long i = begin; i < end; i++) {
    t->a[i] = 0;
    t->b[i] = 1;
    t->c[i] = 2;
  }
}

static void pass(void *argument, int thread, int threads) {
  const struct triad *t = argument;
  double *restrict a = t->a;
  const double *restrict b = t->b, *restrict c = t->c;
  long begin, end;
  piece(t, thread, threads, &begin, &end);
  for (long i = begin; i < end; i++)
    a[i] = b[i] + 3.0 * c[i];
}

#if defined(__SSE2__)
/* Results that nobody reads again go past the caches, which need not read what was there. */
static void pass_past_caches(void *argument, int thread, int threads) {
  const struct triad *t = argument;
  const __m128d s = _mm_set1_pd(3.0);
  long begin, end;
  piece(t, thread, threads, &begin, &end);
  for (long i = begin; i < end; i += 2)
    _mm_stream_pd(t->a + i, _mm_add_pd(_mm_load_pd(t->b + i), _mm_mul_pd(s, _mm_load_pd(t->c + i))));
  _mm_sfence();
}
static team_task *const passes[] = {pass, pass_past_caches};
#elif defined(__aarch64__)
/* As above; of two registers, as generated code has it. */
static void pass_past_caches(void *argument, int thread, int threads) {
  const struct triad *t = argument;
  const float64x2_t s = vdupq_n_f64(3.0);
  long begin, end;
  piece(t, thread, threads, &begin, &end);
  for (; begin + 4 <= end; begin += 4) {
    const float64x2_t low = vfmaq_f64(vld1q_f64(t->b + begin), s, vld1q_f64(t->c + begin)),
                      high = vfmaq_f64(vld1q_f64(t->b + begin + 2), s, vld1q_f64(t->c + begin + 2));
    __asm__ volatile("stnp %q1, %q2, [%0]" ::"r"(t->a + begin), "w"(low), "w"(high) : "memory");
  }
  for (; begin < end; begin++)
    t->a[begin] = t->b[begin] + 3.0 * t->c[begin];
}
static team_task *const passes[] = {pass, pass_past_caches};
#else
static team_task *const passes[] = {pass};
#endif
enum { PASSES = sizeof passes / sizeof *passes };

static double best_pass(struct triad *t, struct team *team, int threads, team_task *pass_of_kind) {
  double best = 0, spent = 0;
  for (int i = 0; i < most_passes && (i < least_passes || spent < most_seconds); i++) {
    long start = clock_ns();
    team_run(team, threads, pass_of_kind, t);
    double seconds = (double)(clock_ns() - start) * 1e-9;
    spent += seconds;
    best = i == 0 || seconds < best ? seconds : best;
  }
  return best;
}

static int measure(struct team *team, int threads, size_t bytes, int kinds, double *gb_per_second,
                   struct error *err) {
  struct triad t = {.n = (long)(bytes / 3 / sizeof(double) / 2 * 2)};
  double *memory = NULL;
  if (posix_memalign((void **)&memory, huge_page, bytes) != 0)
    return error_memory(err, "the arrays of the memory measurement", bytes);
  madvise(memory, bytes, MADV_HUGEPAGE); /* as the library's dats; a refusal costs nothing */
  t.a = memory;
  t.b = memory + t.n;
  t.c = memory + 2 * t.n;
  team_run(team, threads, touch, &t);
  double seconds = 0;
  for (int i = 0; i < kinds; i++) {
    const double of_kind = best_pass(&t, team, threads, passes[i]);
    seconds = i == 0 || of_kind < seconds ? of_kind : seconds;
  }
  *gb_per_second = seconds > 0 ? 3.0 * sizeof(double) * (double)t.n / seconds * 1e-9 : 0;
  free(memory);
  return OP_OK;
}

int triad_measure(struct team *team, int threads, size_t cache_bytes, double *gb_per_second,
                  struct error *err) {
  const size_t bytes = cache_bytes * times_cache;
  return measure(team, threads,
                 bytes < least_bytes  ? least_bytes
                 : bytes > most_bytes ? most_bytes
                                      : bytes,
                 PASSES, gb_per_second, err);
}

int triad_in_cache(struct team *team, int threads, size_t cache_bytes, double *gb_per_second,
                   struct error *err) {
  const size_t share = 4, least = (size_t)64 << 10;
  const size_t bytes = cache_bytes / share;
  return measure(team, threads, bytes < least ? least : bytes, 1, gb_per_second, err);
}
