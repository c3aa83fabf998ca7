/* The prelude of kernels written in C for OpenCL C: names of C that it lacks, C's functions of mathematics, which are
 * not overloaded, and helpers of the generated code, one for each type. */
#include "jit/emit/gpu/gpu.h"
#include "jit/kernel/names.h"
#include "jit/kernel/prelude.h"

#pragma GCC diagnostic ignored "-Woverlength-strings" /* a warning about compilers of 1999 */

/* Helpers for a type T; B: unsigned integers as wide. */
#define HELPERS_OF_ALL                                                                                       \
  "#define OP2_OF(T) \\\n"                                                                                   \
  "  static bool op2_improves_##T(T to, T start, T v, bool most) { \\\n"                                     \
  "    bool beats = most ? v > to : v < to; \\\n"                                                            \
  "    return start != start ? v == v && (to != to || beats) : v != v || beats; \\\n"                        \
  "  } \\\n"                                                                                                 \
  "  static bool op2_same_##T(T a, T b) { return a == b || (a != a && b != b); }\n"                          \
  "#define OP2_WHOLE(T) OP2_OF(T) \\\n"                                                                      \
  "  static T op2_nothing_##T(T x) { return x; } \\\n"                                                       \
  "  static bool op2_better_##T(T a, T b, bool most) { return most ? a > b : a < b; }\n"                     \
  "#define OP2_REAL(T, B, NAN_) OP2_OF(T) \\\n"                                                              \
  "  static T op2_nothing_##T(T x) { return as_##T((B)NAN_); } \\\n"                                         \
  "  static bool op2_better_##T(T a, T b, bool most) { \\\n"                                                 \
  "    if (as_##B(a) == (B)NAN_ || as_##B(b) == (B)NAN_) return a == a; \\\n"                                \
  "    return (most ? a > b : a < b) || (a != a && b == b); \\\n"                                            \
  "  }\n"                                                                                                    \
  "OP2_WHOLE(int) OP2_WHOLE(uint) OP2_WHOLE(long) OP2_WHOLE(ulong) OP2_WHOLE(short) OP2_WHOLE(char)\n"       \
  "OP2_WHOLE(bool) OP2_REAL(float, uint, 0x7fcf2022u)\n"                                                     \
  "#ifdef OP2_DOUBLE\nOP2_REAL(double, ulong, 0x7ff80000000f2022ul)\n#endif\n"                               \
  "#define op2_improve(T, p, start, v, most) do { if (op2_improves_##T(*(p), start, v, most)) *(p) = v; } "  \
  "while (0)\n"

/* A tree over a group: behind the step that leaves `down` values. The last steps are one sub-group's, where they are;
 * how a driver puts work-items into them is its own, so places are counted by them. A step of OP2_LANES that have
 * neighbouring places: those of one sub-group, or else the group waits, whose work-items all see the same size. */
#define HELPERS_OF_GROUPS                                                                                    \
  "#define OP2_ALL (CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)\n"                                           \
  "#ifdef OP2_SUBGROUPS\n"                                                                                   \
  "#ifdef cl_khr_subgroups\n#pragma OPENCL EXTENSION cl_khr_subgroups : enable\n#endif\n"                    \
  "#ifdef cl_intel_subgroups\n#pragma OPENCL EXTENSION cl_intel_subgroups : enable\n#endif\n"                \
  "#define op2_place() ((int)(get_sub_group_id() * get_max_sub_group_size() + get_sub_group_local_id()))\n"  \
  "#define op2_meet(down) do { if ((down) > (int)get_max_sub_group_size()) barrier(OP2_ALL); "               \
  "else sub_group_barrier(OP2_ALL); } while (0)\n"                                                           \
  "#define op2_step() do { if (get_max_sub_group_size() % OP2_LANES) barrier(CLK_LOCAL_MEM_FENCE); "         \
  "else sub_group_barrier(CLK_LOCAL_MEM_FENCE); } while (0)\n"                                               \
  "#else\n"                                                                                                  \
  "#define op2_place() ((int)get_local_id(0))\n#define op2_meet(down) barrier(OP2_ALL)\n"                    \
  "#endif\n"                                                                                                 \
  "#ifdef OP2_REQUIRED\n#define op2_sized __attribute__((intel_reqd_sub_group_size(OP2_LANES)))\n"           \
  "#else\n#define op2_sized\n#endif\n"

/* True for the last of `count` groups to leave its result, as in CUDA C (cuda_prelude.c); `told` is the group's. Of OpenCL C 2.0: the compiler
 * is told where a device has it. */
#define HELPERS_OF_TICKETS                                                                                   \
  "#ifdef OP2_TICKETS\n"                                                                                     \
  "#define op2_see_all() atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, "                \
  "memory_scope_device)\n"                                                                                   \
  "static bool op2_is_last(__global uint *ticket, int count, __local int *told) {\n"                         \
  "  volatile __global atomic_uint *at = (volatile __global atomic_uint *)ticket;\n"                         \
  "  barrier(OP2_ALL);\n"                                                                                    \
  "  if (get_local_id(0) == 0) {\n"                                                                          \
  "    op2_see_all();\n"                                                                                     \
  "    *told = atomic_fetch_add_explicit(at, 1u, memory_order_relaxed, memory_scope_device) == (uint)count " \
  "- "                                                                                                       \
  "1u;\n"                                                                                                    \
  "    op2_see_all();\n"                                                                                     \
  "    if (*told) atomic_store_explicit(at, 0u, memory_order_relaxed, memory_scope_device);\n"               \
  "  }\n"                                                                                                    \
  "  barrier(OP2_ALL);\n"                                                                                    \
  "  op2_see_all();\n"                                                                                       \
  "  return *told;\n"                                                                                        \
  "}\n"                                                                                                      \
  "#endif\n"

/* A word that holds the value, W: its type, X: the exchange of words; `v` is added, or improves. op2_add_pair adds two
 * floats that lie in one word of 8 bytes. Types smaller than a word are changed by the word around them. */
#define HELPERS_OF_ATOMICS                                                                                   \
  "#define OP2_WORDS(T, W, OR, X) \\\n"                                                                      \
  "  static T op2_peek_##T(__global T *p) { return as_##T(OR((volatile __global W *)p, (W)0)); } \\\n"       \
  "  static void op2_add_##T(__global T *p, T v) { \\\n"                                                     \
  "    volatile __global W *word = (volatile __global W *)p; \\\n"                                           \
  "    W old = OR(word, (W)0), seen; \\\n"                                                                   \
  "    do { \\\n"                                                                                            \
  "      seen = old; \\\n"                                                                                   \
  "      old = X(word, seen, as_##W((T)(as_##T(seen) + v))); \\\n"                                           \
  "    } while (old != seen); \\\n"                                                                          \
  "  } \\\n"                                                                                                 \
  "  static void op2_atomic_improve_##T(__global T *p, T start, T v, bool most) { \\\n"                      \
  "    if (v == start || (v != v && start != start)) return; \\\n"                                           \
  "    volatile __global W *word = (volatile __global W *)p; \\\n"                                           \
  "    W old = OR(word, (W)0), seen; \\\n"                                                                   \
  "    do { \\\n"                                                                                            \
  "      seen = old; \\\n"                                                                                   \
  "      if (!op2_improves_##T(as_##T(seen), start, v, most)) return; \\\n"                                  \
  "      old = X(word, seen, as_##W(v)); \\\n"                                                               \
  "    } while (old != seen); \\\n"                                                                          \
  "  }\n"                                                                                                    \
  "OP2_WORDS(float, uint, atomic_or, atomic_cmpxchg) OP2_WORDS(int, uint, atomic_or, atomic_cmpxchg)\n"      \
  "OP2_WORDS(uint, uint, atomic_or, atomic_cmpxchg)\n"                                                       \
  "#ifdef OP2_ATOMICS\n"                                                                                     \
  "#define OP2_OR64(p, v) atom_cmpxchg(p, 0ul, 0ul)\n"                                                       \
  "OP2_WORDS(long, ulong, OP2_OR64, atom_cmpxchg) OP2_WORDS(ulong, ulong, OP2_OR64, atom_cmpxchg)\n"         \
  "#ifdef OP2_DOUBLE\nOP2_WORDS(double, ulong, OP2_OR64, atom_cmpxchg)\n#endif\n"                            \
  "#endif\n"                                                                                                 \
  "static void op2_add_pair(__global float *p, float a, float b) {\n"                                        \
  "#ifdef OP2_ATOMICS\n"                                                                                     \
  "  volatile __global ulong *word = (volatile __global ulong *)(volatile __global void *)p;\n"              \
  "  ulong old = OP2_OR64(word, 0ul), seen;\n"                                                               \
  "  do {\n"                                                                                                 \
  "    seen = old;\n"                                                                                        \
  "    old = atom_cmpxchg(word, seen, as_ulong(as_float2(seen) + (float2)(a, b)));\n"                        \
  "  } while (old != seen);\n"                                                                               \
  "#else\n"                                                                                                  \
  "  op2_add_float(p, a);\n"                                                                                 \
  "  op2_add_float(p + 1, b);\n"                                                                             \
  "#endif\n"                                                                                                 \
  "}\n"                                                                                                      \
  "#define OP2_SMALL(T, M, S) \\\n"                                                                          \
  "  static T op2_peek_##T(__global S *p) { \\\n"                                                            \
  "    uint shift = 8 * ((uint)(size_t)p & 3); \\\n"                                                         \
  "    volatile __global uint *word = (volatile __global uint *)((size_t)p & ~(size_t)3); \\\n"              \
  "    return (T)(S)(atomic_or(word, 0u) >> shift); \\\n"                                                    \
  "  } \\\n"                                                                                                 \
  "  static void op2_add_##T(__global S *p, T v) { \\\n"                                                     \
  "    uint shift = 8 * ((uint)(size_t)p & 3), mask = M << shift; \\\n"                                      \
  "    volatile __global uint *word = (volatile __global uint *)((size_t)p & ~(size_t)3); \\\n"              \
  "    uint old = atomic_or(word, 0u), seen; \\\n"                                                           \
  "    do { \\\n"                                                                                            \
  "      seen = old; \\\n"                                                                                   \
  "      uint sum = ((uint)(S)(T)((T)(S)(seen >> shift) + v)) << shift; \\\n"                                \
  "      old = atomic_cmpxchg(word, seen, (seen & ~mask) | (sum & mask)); \\\n"                              \
  "    } while (old != seen); \\\n"                                                                          \
  "  } \\\n"                                                                                                 \
  "  static void op2_atomic_improve_##T(__global S *p, T start, T v, bool most) { \\\n"                      \
  "    if (v == start) return; \\\n"                                                                         \
  "    uint shift = 8 * ((uint)(size_t)p & 3), mask = M << shift; \\\n"                                      \
  "    volatile __global uint *word = (volatile __global uint *)((size_t)p & ~(size_t)3); \\\n"              \
  "    uint old = atomic_or(word, 0u), seen; \\\n"                                                           \
  "    do { \\\n"                                                                                            \
  "      seen = old; \\\n"                                                                                   \
  "      if (!op2_improves_##T((T)(S)(seen >> shift), start, v, most)) return; \\\n"                         \
  "      old = atomic_cmpxchg(word, seen, (seen & ~mask) | (((uint)(S)v << shift) & mask)); \\\n"            \
  "    } while (old != seen); \\\n"                                                                          \
  "  }\n"                                                                                                    \
  "OP2_SMALL(short, 0xffffu, short) OP2_SMALL(char, 0xffu, char) OP2_SMALL(bool, 0xffu, uchar)\n"

/* Classes of numbers: OpenCL's functions may be macros, which C's names replace below. */
#define CLASS(f)                                                                                             \
  "static int op2_f_" #f "(float x) { return " #f "(x) != 0; }\n"                                            \
  "#ifdef OP2_DOUBLE\nstatic int op2_d_" #f "(double x) { return " #f "(x) != 0; }\n"                        \
  "#else\n#define op2_d_" #f " op2_f_" #f "\n#endif\n"
#define CLASSES                                                                                              \
  CLASS(isnan)                                                                                               \
  CLASS(isinf)                                                                                               \
  CLASS(isfinite)                                                                                            \
  CLASS(isnormal)                                                                                            \
  CLASS(signbit)                                                                                             \
  "#define OP2_CLASS(f, x) (sizeof(x) == 4 ? op2_f_##f((float)(x)) : op2_d_##f(x))\n"                        \
  "#ifdef OP2_DOUBLE\nstatic int op2_differ(double x, double y) { return x < y || x > y; }\n"                \
  "#else\nstatic int op2_differ(float x, float y) { return x < y || x > y; }\n#endif\n"

/* C's functions of one and of two numbers (ALL1, ALL2 and exp), of double and of float. */
#define OTHERS(X) X(exp) X(fma) X(ldexp) X(frexp) X(modf) X(ilogb) X(lround) X(lrint)
#define ONE_OF(f) "OP2_ONE(" #f ") "
#define TWO_OF(f) "OP2_TWO(" #f ") "
#define MATHEMATICS_OF(T, S, JOIN)                                                                           \
  "#define OP2_ONE(n) static " T " op2_m_##n" JOIN S "(" T " x) { return n(x); }\n"                          \
  "#define OP2_TWO(n) static " T " op2_m_##n" JOIN S "(" T " x, " T                                          \
  " y) { return n(x, y); }\n#define nearbyint rint\n" ALL1(ONE_OF) ONE_OF(exp)                               \
      ALL2(TWO_OF) "\n#undef OP2_ONE\n#undef OP2_TWO\n#undef nearbyint\n"                                    \
                   "static " T " op2_m_fma" S "(" T " x, " T " y, " T " z) { return fma(x, y, z); }\n"       \
                   "static " T " op2_m_ldexp" S "(" T " x, int n) { return ldexp(x, n); }\n"                 \
                   "static " T " op2_m_frexp" S "(" T " x, int *n) { return frexp(x, n); }\n"                \
                   "static " T " op2_m_modf" S "(" T " x, " T " *n) { return modf(x, n); }\n"                \
                   "static int op2_m_ilogb" S "(" T " x) { return ilogb(x); }\n"                             \
                   "static long op2_m_lround" S "(" T " x) { return (long)round(x); }\n"                     \
                   "static long op2_m_lrint" S "(" T " x) { return (long)rint(x); }\n"
#define MATHEMATICS                                                                                          \
  "#ifdef OP2_DOUBLE\n" MATHEMATICS_OF("double", "", "") "#endif\n" MATHEMATICS_OF("float", "f", "##")

/* C's functions that are neither. */
#define COPY_AND_SET                                                                                         \
  "static void *op2_m_memcpy(void *to, const void *from, size_t n) {\n"                                      \
  "  for (size_t i = 0; i < n; i++) ((char *)to)[i] = ((const char *)from)[i];\n"                            \
  "  return to;\n"                                                                                           \
  "}\n"                                                                                                      \
  "static void *op2_m_memset(void *to, int c, size_t n) {\n"                                                 \
  "  for (size_t i = 0; i < n; i++) ((char *)to)[i] = (char)c;\n"                                            \
  "  return to;\n"                                                                                           \
  "}\n"

/* The user's names are ours from here on. Without double those of double compute in float, as numbers do. */
#define BOTH(f)                                                                                              \
  "#define " #f " op2_m_" #f "\n#define " #f "f op2_m_" #f "f\n"                                             \
  "#ifndef OP2_DOUBLE\n#define op2_m_" #f " op2_m_" #f "f\n#endif\n"
#define OURS(f) "#define " #f " op2_m_" #f "\n"
/* clang-format off */
#define RENAMES                                                                                              \
  ALL1(BOTH) ALL2(BOTH) OTHERS(BOTH)                                                                         \
  OURS(abs) OURS(labs) OURS(memcpy) OURS(memmove) OURS(memset) OURS(memcmp)                                  \
  "#define llabs op2_m_labs\n#define llround op2_m_lround\n#define llrint op2_m_lrint\n"                     \
  "#define llroundf op2_m_lroundf\n#define llrintf op2_m_lrintf\n"                                           \
  "#define scalbn op2_m_ldexp\n#define scalbnf op2_m_ldexpf\n"                                               \
  "#define nexttoward op2_m_nextafter\n#define nexttowardf op2_m_nextafterf\n"

static const char prelude[] =
    "#ifdef OP2_DOUBLE\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#endif\n"
    "#ifdef OP2_ATOMICS\n#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n#endif\n"
    "#define op2_bounds(n) __attribute__((reqd_work_group_size(n, 1, 1)))\n"
    "#define _Bool bool\n#define inline\n#define __inline\n#define __inline__\n#define register\n#define "
    "auto\n"
    "#define _Noreturn\n#undef NULL\n#define NULL ((void *)0)\n" HELPERS_OF_ALL HELPERS_OF_GROUPS
        HELPERS_OF_TICKETS HELPERS_OF_ATOMICS CLASSES MATHEMATICS
        WHOLE_AND_MEMORY("static ", "op2_m_") COPY_AND_SET NAMES_OF_C LIMITS_OF_LONG_DOUBLE("", "")
    "#undef HUGE_VAL\n#undef HUGE_VALF\n#define HUGE_VAL ((double)INFINITY)\n#define HUGE_VALF INFINITY\n"
    "#define HUGE_VALL HUGE_VAL\n"
    "#define __builtin_inff() INFINITY\n#define __builtin_inf() HUGE_VAL\n#define __builtin_huge_valf() "
    "INFINITY\n#define __builtin_huge_val() HUGE_VAL\n#define __builtin_nanf(words) NAN\n"
    "#define __builtin_nan(words) ((double)NAN)\n"
    "#define __builtin_isnan(x) OP2_CLASS(isnan, x)\n#define __builtin_isinf(x) OP2_CLASS(isinf, x)\n"
    "#define __builtin_isinf_sign(x) OP2_CLASS(isinf, x)\n#define __builtin_isfinite(x) OP2_CLASS(isfinite, "
    "x)\n"
    "#define __builtin_isnormal(x) OP2_CLASS(isnormal, x)\n#define __builtin_signbit(x) OP2_CLASS(signbit, "
    "x)\n"
    "#define __builtin_isgreater(x, y) ((x) > (y))\n#define __builtin_isless(x, y) ((x) < (y))\n"
    "#define __builtin_isgreaterequal(x, y) ((x) >= (y))\n#define __builtin_islessequal(x, y) ((x) <= (y))\n"
    "#define __builtin_islessgreater(x, y) op2_differ(x, y)\n"
    "#define __builtin_isunordered(x, y) (OP2_CLASS(isnan, x) || OP2_CLASS(isnan, y))\n"
    "#define __builtin_fpclassify(nan, inf, normal, small, zero, x) (OP2_CLASS(isnan, x) ? nan : "
    "OP2_CLASS(isinf, x) ? inf : (x) == 0 ? zero : OP2_CLASS(isnormal, x) ? normal : small)\n"
    "#define __STDC_VERSION__ 201710L\n"
    "#define OP_ANY_ORDER\n"
    "#define OP_ROW(x, k) ((x)[0] + op2jit_row((x)[1], (x)[2], (x)[3], (k)))\n"
    "#define op2jit_row(to, dim, n, k) ((long)(k) * (long)(dim))\n" /* of copies */
    "#define OP2JIT_KERNEL 1\n#define op_assert(c) ((void)0)\n#define op2jit_assert(c, words) ((void)0)\n"
    "#undef assert\n#define assert(c) ((void)0)\n" RENAMES;
/* clang-format on */

const char *opencl_prelude(void) {
  return prelude;
}
