/* CUDA C for the host's C++ compiler: included in front of every program by the stand-in
 * for NVRTC. Nothing of it is part of the library. */
#include "machine.h"

typedef unsigned long size_t;
typedef long ptrdiff_t;
typedef standin_dim dim3;
extern "C" int printf(const char *, ...); /* NVRTC has it without a header */

extern "C" __attribute__((visibility("hidden"))) standin_machine *standin;
standin_machine *standin;

#define threadIdx (standin->thread)
#define blockIdx (standin->block)
#define blockDim (standin->block_dim)
#define gridDim (standin->grid_dim)
#ifndef OP2_LANES /* HIP's programs come with theirs */
#define OP2_LANES 32
#endif
#define warpSize OP2_LANES

#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __global__ __attribute__((visibility("hidden")))
#define __shared__ static __attribute__((section("standin_shared")))
#define __constant__ __attribute__((visibility("default"), used))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __CUDACC__ 1
#define __CUDACC_RTC__ 1

/* NVRTC has it built in. */
namespace std {
template <class T> class initializer_list {
  const T *first;
  unsigned long count;
  constexpr initializer_list(const T *items, unsigned long size) : first(items), count(size) {
  }

public:
  typedef T value_type;
  constexpr initializer_list() noexcept : first(0), count(0) {
  }
  constexpr unsigned long size() const noexcept {
    return count;
  }
  constexpr const T *begin() const noexcept {
    return first;
  }
  constexpr const T *end() const noexcept {
    return first + count;
  }
};
} // namespace std

#define STANDIN_RAW __attribute__((no_sanitize_thread))

/* Addresses that kernels find in memory. */
#define OP2_ADDRESS(word) ((word) & ~STANDIN_TAG)

/* The library's own, of which no host's compiler knows the instruction. */
static inline void op2_wait_for_before() {
  standin->access(0, 0, STANDIN_WAIT, 0);
}

/* ---- vectors ---- */
/* One access each, where the compiler would take them apart: so that it is checked, and counted, as the device has it. */
#ifdef STANDIN_CHECKED
#define STANDIN_ASSIGNED(name)                                                                               \
  name() = default;                                                                                          \
  name(const name &) = default;                                                                              \
  __attribute__((noinline, no_sanitize_thread, no_icf)) name &operator=(const name &from) {                  \
    standin->access(&from, sizeof from, STANDIN_READ, __builtin_return_address(0));                          \
    standin->access(this, sizeof from, STANDIN_WRITE, __builtin_return_address(0));                          \
    __builtin_memcpy(this, &from, sizeof from);                                                              \
    return *this;                                                                                            \
  }
#else
#define STANDIN_ASSIGNED(name)
#endif
#define STANDIN_VECTOR2(T, name)                                                                             \
  struct __attribute__((aligned(2 * sizeof(T)))) name {                                                      \
    T x, y;                                                                                                  \
    STANDIN_ASSIGNED(name)                                                                                   \
  };                                                                                                         \
  static inline name make_##name(T x, T y) {                                                                 \
    name v;                                                                                                  \
    v.x = x, v.y = y;                                                                                        \
    return v;                                                                                                \
  }
#define STANDIN_VECTOR4(T, name, align)                                                                      \
  struct __attribute__((aligned(align))) name {                                                              \
    T x, y, z, w;                                                                                            \
    STANDIN_ASSIGNED(name)                                                                                   \
  };                                                                                                         \
  static inline name make_##name(T x, T y, T z, T w) {                                                       \
    name v;                                                                                                  \
    v.x = x, v.y = y, v.z = z, v.w = w;                                                                      \
    return v;                                                                                                \
  }
STANDIN_VECTOR2(double, double2)
STANDIN_VECTOR2(float, float2)
STANDIN_VECTOR2(int, int2)
STANDIN_VECTOR2(unsigned, uint2)
STANDIN_VECTOR2(long long, longlong2)
STANDIN_VECTOR2(unsigned long long, ulonglong2)
STANDIN_VECTOR4(float, float4, 16)
STANDIN_VECTOR4(int, int4, 16)
STANDIN_VECTOR4(unsigned, uint4, 16)
STANDIN_VECTOR4(double, double4, 16)

/* ---- mathematics: built into NVRTC, for double and float ---- */
#define STANDIN_MATH1(name)                                                                                  \
  extern "C" double name(double) noexcept;                                                                   \
  extern "C" float name##f(float) noexcept;                                                                  \
  static inline float name(float x) {                                                                        \
    return __builtin_##name##f(x);                                                                           \
  }
#define STANDIN_MATH2(name)                                                                                  \
  extern "C" double name(double, double) noexcept;                                                           \
  extern "C" float name##f(float, float) noexcept;                                                           \
  static inline float name(float x, float y) {                                                               \
    return __builtin_##name##f(x, y);                                                                        \
  }
STANDIN_MATH1(sqrt)
STANDIN_MATH1(cbrt)
STANDIN_MATH1(exp)
STANDIN_MATH1(exp2)
STANDIN_MATH1(expm1)
STANDIN_MATH1(log)
STANDIN_MATH1(log2)
STANDIN_MATH1(log10)
STANDIN_MATH1(log1p)
STANDIN_MATH1(sin)
STANDIN_MATH1(cos)
STANDIN_MATH1(tan)
STANDIN_MATH1(asin)
STANDIN_MATH1(acos)
STANDIN_MATH1(atan)
STANDIN_MATH1(sinh)
STANDIN_MATH1(cosh)
STANDIN_MATH1(tanh)
STANDIN_MATH1(asinh)
STANDIN_MATH1(acosh)
STANDIN_MATH1(atanh)
STANDIN_MATH1(fabs)
STANDIN_MATH1(logb)
STANDIN_MATH1(floor)
STANDIN_MATH1(ceil)
STANDIN_MATH1(trunc)
STANDIN_MATH1(round)
STANDIN_MATH1(rint)
STANDIN_MATH1(nearbyint)
STANDIN_MATH1(erf)
STANDIN_MATH1(erfc)
STANDIN_MATH1(tgamma)
STANDIN_MATH1(lgamma)
STANDIN_MATH2(pow)
STANDIN_MATH2(fmod)
STANDIN_MATH2(fmin)
STANDIN_MATH2(fmax)
STANDIN_MATH2(atan2)
STANDIN_MATH2(hypot)
STANDIN_MATH2(copysign)
STANDIN_MATH2(fdim)
STANDIN_MATH2(remainder)
STANDIN_MATH2(nextafter)
extern "C" double fma(double, double, double) noexcept;
extern "C" float fmaf(float, float, float) noexcept;
extern "C" double ldexp(double, int) noexcept;
extern "C" float ldexpf(float, int) noexcept;
extern "C" double frexp(double, int *) noexcept;
extern "C" float frexpf(float, int *) noexcept;
extern "C" double modf(double, double *) noexcept;
extern "C" float modff(float, float *) noexcept;
extern "C" double remquo(double, double, int *) noexcept;
extern "C" float remquof(float, float, int *) noexcept;
extern "C" double nan(const char *) noexcept;
extern "C" float nanf(const char *) noexcept;
extern "C" long lround(double) noexcept;
extern "C" long long llround(double) noexcept;
extern "C" double scalbn(double, int) noexcept;
extern "C" float scalbnf(float, int) noexcept;
extern "C" double scalbln(double, long) noexcept;
extern "C" float scalblnf(float, long) noexcept;
extern "C" int ilogbf(float) noexcept;
extern "C" long lroundf(float) noexcept;
extern "C" long long llroundf(float) noexcept;
extern "C" long lrintf(float) noexcept;
extern "C" long long llrintf(float) noexcept;
extern "C" int ilogb(double) noexcept;
extern "C" long lrint(double) noexcept;
extern "C" long long llrint(double) noexcept;
extern "C" int abs(int) noexcept;
extern "C" long labs(long) noexcept;
extern "C" long long llabs(long long) noexcept;
extern "C" void *memcpy(void *, const void *, size_t) noexcept;
extern "C" void *memset(void *, int, size_t) noexcept;
static inline float fma(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
static inline double abs(double x) {
  return __builtin_fabs(x);
}
static inline float abs(float x) {
  return __builtin_fabsf(x);
}
#define isnan(x) __builtin_isnan(x)
#define isinf(x) __builtin_isinf(x)
#define isfinite(x) __builtin_isfinite(x)
#define signbit(x) __builtin_signbit(x)
template <class T> static inline T min(T a, T b) {
  return b < a ? b : a;
}
template <class T> static inline T max(T a, T b) {
  return a < b ? b : a;
}
static inline double __longlong_as_double(long long v) {
  double d;
  __builtin_memcpy(&d, &v, sizeof d);
  return d;
}
static inline long long __double_as_longlong(double v) {
  long long d;
  __builtin_memcpy(&d, &v, sizeof d);
  return d;
}
static inline float __int_as_float(int v) {
  float d;
  __builtin_memcpy(&d, &v, sizeof d);
  return d;
}
static inline int __float_as_int(float v) {
  int d;
  __builtin_memcpy(&d, &v, sizeof d);
  return d;
}
static inline int __popc(unsigned v) {
  return __builtin_popcount(v);
}
static inline int __ffs(int v) {
  return __builtin_ffs(v);
}
static inline int __clz(int v) {
  return v ? __builtin_clz((unsigned)v) : 32;
}
#define __ldg(p) (*(p))
#define assert(c) ((c) ? (void)0 : standin->trap("assertion failed: " #c, __LINE__))
#define __trap() standin->trap("__trap", __LINE__)
#ifdef STANDIN_CHECKED
#define __threadfence() standin->access(0, 0, STANDIN_FENCE, 0)
#else
#define __threadfence() ((void)0)
#endif
#define __threadfence_block() ((void)0)

/* ---- meetings of threads ---- */
template <class T> static inline STANDIN_RAW unsigned long long standin_bits(T v) {
  unsigned long long b = 0;
  static_assert(sizeof v <= sizeof b, "shuffles carry at most 8 bytes");
  __builtin_memcpy(&b, &v, sizeof v);
  return b;
}
template <class T> static inline STANDIN_RAW T standin_value(unsigned long long b) {
  T v;
  __builtin_memcpy(&v, &b, sizeof v);
  return v;
}
static inline void __syncthreads(int line = __builtin_LINE()) {
  standin->meet(STANDIN_BARRIER, 0, 0, 0, 0, line);
}
static inline int __syncthreads_or(int v, int line = __builtin_LINE()) {
  return (int)(standin->meet(STANDIN_BARRIER, 0, v != 0, 0, 0, line) != 0);
}
static inline int __syncthreads_count(int v, int line = __builtin_LINE()) {
  return (int)standin->meet(STANDIN_BARRIER, 0, v != 0, 0, 0, line);
}
static inline void __syncwarp(unsigned mask = 0xffffffffu, int line = __builtin_LINE()) {
  standin->meet(STANDIN_SYNCWARP, mask, 0, 0, 32, line);
}
#define STANDIN_SHFL(name, meeting)                                                                          \
  template <class T>                                                                                         \
  static inline T name(unsigned mask, T v, unsigned lane, int width = 32, int line = __builtin_LINE()) {     \
    return standin_value<T>(standin->meet(meeting, mask, standin_bits(v), lane, width, line));               \
  }
/* HIP's: all threads of the wavefront, or of the part of it that the width names. Those run in step, so that a barrier
 * of the compiler's alone is a meeting of theirs. */
static inline unsigned long long standin_part(int width) {
  const unsigned first = standin->thread.x % OP2_LANES / (unsigned)width * (unsigned)width;
  return width == OP2_LANES ? ~0ULL >> (64 - OP2_LANES) : ((1ULL << width) - 1) << first;
}
template <class T>
static inline T __shfl_down(T v, unsigned lane, int width = OP2_LANES, int line = __builtin_LINE()) {
  return standin_value<T>(
      standin->meet(STANDIN_SHUFFLE_DOWN, standin_part(width), standin_bits(v), lane, width, line));
}
template <class T>
static inline T __shfl_xor(T v, unsigned lane, int width = OP2_LANES, int line = __builtin_LINE()) {
  return standin_value<T>(
      standin->meet(STANDIN_SHUFFLE_XOR, standin_part(width), standin_bits(v), lane, width, line));
}
template <class T> static inline T __shfl(T v, int lane, int width = OP2_LANES, int line = __builtin_LINE()) {
  return standin_value<T>(
      standin->meet(STANDIN_SHUFFLE, standin_part(width), standin_bits(v), (unsigned)lane, width, line));
}
#define __ATOMIC_ACQ_REL 4
#define __builtin_amdgcn_fence(order, scope) ((void)0)
static const int OP2_ROWS = OP2_LANES; /* unless the program has a macro of that name */
#define __builtin_amdgcn_wave_barrier()                                                                      \
  standin->meet(STANDIN_SYNCWARP, standin_part(OP2_ROWS), 0, 0, OP2_LANES, __builtin_LINE())
#define __ATOMIC_RELAXED 0
#define __HIP_MEMORY_SCOPE_AGENT 4
#define __hip_atomic_load(p, order, scope) standin_peek(p)
STANDIN_SHFL(__shfl_sync, STANDIN_SHUFFLE)
STANDIN_SHFL(__shfl_up_sync, STANDIN_SHUFFLE_UP)
STANDIN_SHFL(__shfl_down_sync, STANDIN_SHUFFLE_DOWN)
STANDIN_SHFL(__shfl_xor_sync, STANDIN_SHUFFLE_XOR)
static inline unsigned __ballot_sync(unsigned mask, int v, int line = __builtin_LINE()) {
  return (unsigned)standin->meet(STANDIN_BALLOT, mask, v != 0, 0, 32, line);
}
static inline int __any_sync(unsigned mask, int v, int line = __builtin_LINE()) {
  return __ballot_sync(mask, v, line) != 0;
}
static inline int __all_sync(unsigned mask, int v, int line = __builtin_LINE()) {
  return __ballot_sync(mask, v, line) == mask;
}

/* ---- atomics: one thread runs at a time, so plain operations do; the checker is told ---- */
#ifdef STANDIN_CHECKED
#define STANDIN_TOUCH(p)                                                                                     \
  standin->access((const void *)(p), sizeof *(p), STANDIN_ATOMIC, __builtin_return_address(0))
#define STANDIN_ATOMIC_FORM static __attribute__((noinline, no_sanitize_thread, no_icf))
#else
#define STANDIN_TOUCH(p) ((void)0)
#define STANDIN_ATOMIC_FORM static inline
#endif
#define STANDIN_ATOMIC_OP(name, T, result)                                                                   \
  STANDIN_ATOMIC_FORM T name(T *p, T v) {                                                                    \
    STANDIN_TOUCH(p);                                                                                        \
    T old = *p;                                                                                              \
    *p = (result);                                                                                           \
    return old;                                                                                              \
  }
#define STANDIN_ATOMICS(T)                                                                                   \
  STANDIN_ATOMIC_OP(atomicAdd, T, (T)(old + v))                                                              \
  STANDIN_ATOMIC_OP(atomicExch, T, v)
#define STANDIN_ATOMICS_INT(T)                                                                               \
  STANDIN_ATOMICS(T)                                                                                         \
  STANDIN_ATOMIC_OP(atomicMin, T, v < old ? v : old)                                                         \
  STANDIN_ATOMIC_OP(atomicMax, T, old < v ? v : old)                                                         \
  STANDIN_ATOMIC_OP(atomicOr, T, old | v)                                                                    \
  STANDIN_ATOMIC_OP(atomicAnd, T, old &v)                                                                    \
  STANDIN_ATOMIC_FORM T atomicCAS(T *p, T expected, T v) {                                                   \
    STANDIN_TOUCH(p);                                                                                        \
    T old = *p;                                                                                              \
    if (old == expected)                                                                                     \
      *p = v;                                                                                                \
    return old;                                                                                              \
  }
STANDIN_ATOMICS(double)
STANDIN_ATOMICS(float)
#if __CUDA_ARCH__ >= 900
/* Each component by itself, in global memory. */
STANDIN_ATOMIC_FORM void atomicAdd(float2 *p, float2 v) {
  STANDIN_TOUCH(p);
  p->x += v.x, p->y += v.y;
}
STANDIN_ATOMIC_FORM void atomicAdd(float4 *p, float4 v) {
  STANDIN_TOUCH(p);
  p->x += v.x, p->y += v.y, p->z += v.z, p->w += v.w;
}
#endif
STANDIN_ATOMICS_INT(int)
STANDIN_ATOMICS_INT(unsigned)
STANDIN_ATOMICS_INT(unsigned long long)
STANDIN_ATOMIC_OP(atomicInc, unsigned, old >= v ? 0 : old + 1)
/* Past the cache that is not coherent: it sees what atomics leave. */
#define STANDIN_LDCG(T)                                                                                      \
  STANDIN_ATOMIC_FORM T standin_peek(const T *p) {                                                           \
    STANDIN_TOUCH(p);                                                                                        \
    return *p;                                                                                               \
  }                                                                                                          \
  STANDIN_ATOMIC_FORM T __ldcg(const T *p) {                                                                 \
    STANDIN_TOUCH(p);                                                                                        \
    return *p;                                                                                               \
  }
STANDIN_LDCG(unsigned long long)
STANDIN_LDCG(unsigned)
STANDIN_LDCG(unsigned short)
STANDIN_LDCG(unsigned char)
/* As NVRTC has it: no atomicAdd on long long. */
STANDIN_ATOMIC_FORM unsigned short atomicCAS(unsigned short *p, unsigned short expected, unsigned short v) {
  STANDIN_TOUCH(p);
  unsigned short old = *p;
  if (old == expected)
    *p = v;
  return old;
}

/* ---- kernels as the driver calls them ---- */
template <class T> struct standin_parameter {
  static const bool pointer = false;
  static STANDIN_RAW T get(void *p) {
    return *(T *)p;
  }
};
template <class T> struct standin_parameter<T *> {
  static const bool pointer = true;
  static STANDIN_RAW T *get(void *p) {
    return (T *)(*(unsigned long long *)p & ~STANDIN_TAG);
  }
};
template <class T> struct standin_plain { typedef T type; };
template <class T> struct standin_plain<T const> { typedef T type; };
template <int... I> struct standin_list {};
template <int N, int... I> struct standin_upto : standin_upto<N - 1, N - 1, I...> {};
template <int... I> struct standin_upto<0, I...> { typedef standin_list<I...> type; };
template <class F> struct standin_shape;
template <class... A> struct standin_shape<void (*)(A...)> {
  static const int count = sizeof...(A);
  template <void (*f)(A...), int... I> static STANDIN_RAW void call(void *const *p, standin_list<I...>) {
    (void)p;
    f(standin_parameter<typename standin_plain<A>::type>::get(p[I])...);
  }
  template <void (*f)(A...)> static STANDIN_RAW void run(void *const *p) {
    call<f>(p, typename standin_upto<sizeof...(A)>::type());
  }
  static constexpr unsigned sizes[] = {sizeof(A)..., 0};
  static constexpr unsigned char pointers[] = {standin_parameter<typename standin_plain<A>::type>::pointer...,
                                               0};
};
#define STANDIN_KERNEL(f, bound)                                                                             \
  {                                                                                                          \
#f, bound, standin_shape < decltype(&f)> ::count, standin_shape < decltype(&f)> ::sizes,                 \
        standin_shape < decltype(&f)> ::pointers, &standin_shape < decltype(&f)> ::run < &f>                 \
  }

extern "C" unsigned char __start_standin_shared[] __attribute__((weak, visibility("hidden")));
extern "C" unsigned char __stop_standin_shared[] __attribute__((weak, visibility("hidden")));

#ifdef STANDIN_CHECKED
/* The functions that -fsanitize=thread calls. */
#define STANDIN_HOOK(name, size, kind)                                                                       \
  extern "C" __attribute__((visibility("hidden"), used, no_sanitize_thread)) void name(void *p) {            \
    standin->access(p, size, kind, __builtin_return_address(0));                                             \
  }
#define STANDIN_HOOKS(size)                                                                                  \
  STANDIN_HOOK(__tsan_read##size, size, STANDIN_READ)                                                        \
  STANDIN_HOOK(__tsan_write##size, size, STANDIN_WRITE)                                                      \
  STANDIN_HOOK(__tsan_unaligned_read##size, size, STANDIN_READ)                                              \
  STANDIN_HOOK(__tsan_unaligned_write##size, size, STANDIN_WRITE)                                            \
  STANDIN_HOOK(__tsan_volatile_read##size, size, STANDIN_READ)                                               \
  STANDIN_HOOK(__tsan_volatile_write##size, size, STANDIN_WRITE)
STANDIN_HOOKS(1)
STANDIN_HOOKS(2)
STANDIN_HOOKS(4)
STANDIN_HOOKS(8)
STANDIN_HOOKS(16)
extern "C" __attribute__((visibility("hidden"), used, no_sanitize_thread)) void __tsan_read_range(void *p,
                                                                                                  long n) {
  standin->access(p, (unsigned)n, STANDIN_READ, __builtin_return_address(0));
}
extern "C" __attribute__((visibility("hidden"), used, no_sanitize_thread)) void __tsan_write_range(void *p,
                                                                                                   long n) {
  standin->access(p, (unsigned)n, STANDIN_WRITE, __builtin_return_address(0));
}
extern "C" __attribute__((visibility("hidden"), used, no_sanitize_thread)) void __tsan_init(void) {
}
extern "C" __attribute__((visibility("hidden"), used, no_sanitize_thread)) void __tsan_func_entry(void *) {
}
extern "C" __attribute__((visibility("hidden"), used, no_sanitize_thread)) void __tsan_func_exit(void *) {
}
/* The functions that -fsanitize=alignment calls: a vector that the compiler takes apart keeps its alignment's check. */
struct standin_mismatch {
  const char *file;
  unsigned line, column;
  const void *type;
  unsigned char log_alignment, kind;
};
extern "C" __attribute__((visibility("hidden"), used, no_sanitize_thread)) void
__ubsan_handle_type_mismatch_v1(void *about, void *p) {
  standin->access(p, 1u << ((const standin_mismatch *)about)->log_alignment, STANDIN_ALIGN,
                  __builtin_return_address(0));
}
#endif
