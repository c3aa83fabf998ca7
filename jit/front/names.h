/* The macros and types of <stddef.h>, <stdint.h>, <limits.h>, <float.h> and <math.h> that read alike in C and in
 * the C++ of GPUs: a part of every dialect's prelude, so that a name is missing nowhere. Their values are those of
 * this machine's headers; the dialect says what __builtin_isnan and its like are, NULL, INFINITY, and all that is
 * of long double. */
#ifndef OP2JIT_JIT_FRONT_NAMES_H
#define OP2JIT_JIT_FRONT_NAMES_H

/* clang-format off */
#ifdef __CHAR_UNSIGNED__ /* on aarch64 */
#define CHAR_LIMITS "#define CHAR_MAX 255\n#define CHAR_MIN 0\n"
#else
#define CHAR_LIMITS "#define CHAR_MAX 127\n#define CHAR_MIN (-CHAR_MAX-1)\n"
#endif
#if __WCHAR_MIN__ == 0 /* on aarch64 */
#define WCHAR_LIMITS "#define WCHAR_MAX UINT_MAX\n#define WCHAR_MIN 0U\n"
#else
#define WCHAR_LIMITS "#define WCHAR_MAX INT_MAX\n#define WCHAR_MIN INT_MIN\n"
#endif
#ifdef __aarch64__
#define ILOGB_LIMITS "#define FP_ILOGB0 (-INT_MAX)\n#define FP_ILOGBNAN INT_MAX\n"
#else
#define ILOGB_LIMITS "#define FP_ILOGB0 INT_MIN\n#define FP_ILOGBNAN INT_MIN\n"
#endif
#define NAMES_OF_C \
  "#undef linux\n#undef unix\n" /* no names of C */ \
  "typedef unsigned long size_t;typedef long ptrdiff_t;\n" \
  "typedef struct {long long a __attribute__((aligned(8)));long double b __attribute__((aligned(16)));} max_align_t;\n" \
  "#define __bool_true_false_are_defined 1\n#define CHAR_BIT 8\n#define MB_LEN_MAX 16\n" \
  "typedef signed char int8_t;typedef signed char int_least8_t;typedef signed char int_fast8_t;\n" \
  "typedef unsigned char uint8_t;typedef unsigned char uint_least8_t;typedef unsigned char uint_fast8_t;\n" \
  "#define INT8_MAX 127\n#define INT8_MIN (-INT8_MAX-1)\n#define UINT8_MAX 255\n" \
  "#define INT_LEAST8_MAX 127\n#define INT_LEAST8_MIN (-INT_LEAST8_MAX-1)\n" \
  "#define UINT_LEAST8_MAX 255\n#define INT_FAST8_MAX 127\n#define INT_FAST8_MIN (-INT_FAST8_MAX-1)\n" \
  "#define UINT_FAST8_MAX 255\n#define INT8_C(c) c\n#define UINT8_C(c) c\n" \
  "typedef short int16_t;typedef short int_least16_t;typedef long int_fast16_t;\n" \
  "typedef unsigned short uint16_t;typedef unsigned short uint_least16_t;typedef unsigned long uint_fast16_t;\n" \
  "#define INT16_MAX 32767\n#define INT16_MIN (-INT16_MAX-1)\n#define UINT16_MAX 65535\n" \
  "#define INT_LEAST16_MAX 32767\n#define INT_LEAST16_MIN (-INT_LEAST16_MAX-1)\n" \
  "#define UINT_LEAST16_MAX 65535\n#define INT_FAST16_MAX LONG_MAX\n" \
  "#define INT_FAST16_MIN (-INT_FAST16_MAX-1)\n#define UINT_FAST16_MAX ULONG_MAX\n" \
  "#define INT16_C(c) c\n#define UINT16_C(c) c\n" \
  "typedef int int32_t;typedef int int_least32_t;typedef long int_fast32_t;\n" \
  "typedef unsigned int uint32_t;typedef unsigned int uint_least32_t;typedef unsigned long uint_fast32_t;\n" \
  "#define INT32_MAX INT_MAX\n#define INT32_MIN (-INT32_MAX-1)\n#define UINT32_MAX UINT_MAX\n" \
  "#define INT_LEAST32_MAX INT_MAX\n#define INT_LEAST32_MIN (-INT_LEAST32_MAX-1)\n" \
  "#define UINT_LEAST32_MAX UINT_MAX\n#define INT_FAST32_MAX LONG_MAX\n" \
  "#define INT_FAST32_MIN (-INT_FAST32_MAX-1)\n#define UINT_FAST32_MAX ULONG_MAX\n" \
  "#define INT32_C(c) c\n#define UINT32_C(c) c##U\n" \
  "typedef long int64_t;typedef long int_least64_t;typedef long int_fast64_t;\n" \
  "typedef unsigned long uint64_t;typedef unsigned long uint_least64_t;typedef unsigned long uint_fast64_t;\n" \
  "#define INT64_MAX LONG_MAX\n#define INT64_MIN (-INT64_MAX-1)\n#define UINT64_MAX ULONG_MAX\n" \
  "#define INT_LEAST64_MAX LONG_MAX\n#define INT_LEAST64_MIN (-INT_LEAST64_MAX-1)\n" \
  "#define UINT_LEAST64_MAX ULONG_MAX\n#define INT_FAST64_MAX LONG_MAX\n" \
  "#define INT_FAST64_MIN (-INT_FAST64_MAX-1)\n#define UINT_FAST64_MAX ULONG_MAX\n" \
  "#define INT64_C(c) c##L\n#define UINT64_C(c) c##UL\n" \
  "typedef long intptr_t;typedef unsigned long uintptr_t;\n#define INTPTR_MAX LONG_MAX\n" \
  "#define INTPTR_MIN LONG_MIN\n#define UINTPTR_MAX ULONG_MAX\n" \
  "typedef long intmax_t;typedef unsigned long uintmax_t;\n#define INTMAX_MAX LONG_MAX\n" \
  "#define INTMAX_MIN LONG_MIN\n#define UINTMAX_MAX ULONG_MAX\n#define INTMAX_C(c) c##L\n" \
  "#define UINTMAX_C(c) c##UL\n#define SIZE_MAX ULONG_MAX\n#define PTRDIFF_MAX LONG_MAX\n" \
  "#define PTRDIFF_MIN LONG_MIN\n" WCHAR_LIMITS \
  "#define WINT_MAX UINT_MAX\n#define WINT_MIN 0U\n#define SIG_ATOMIC_MAX INT_MAX\n" \
  "#define SIG_ATOMIC_MIN INT_MIN\n#define SCHAR_MAX 127\n#define SCHAR_MIN (-SCHAR_MAX-1)\n" \
  CHAR_LIMITS "#define SHRT_MAX 32767\n" \
  "#define SHRT_MIN (-SHRT_MAX-1)\n#define INT_MAX 2147483647\n#define INT_MIN (-INT_MAX-1)\n" \
  "#define LONG_MAX 9223372036854775807L\n#define LONG_MIN (-LONG_MAX-1)\n" \
  "#define LLONG_MAX 9223372036854775807LL\n#define LLONG_MIN (-LLONG_MAX-1)\n#define UCHAR_MAX 255\n" \
  "#define USHRT_MAX 65535\n#define UINT_MAX 4294967295U\n#define ULONG_MAX 18446744073709551615UL\n" \
  "#define ULLONG_MAX 18446744073709551615ULL\n#define FLT_RADIX 2\n#define FLT_EVAL_METHOD 0\n" \
  "#define FLT_ROUNDS 1\n#define FLT_MANT_DIG 24\n#define FLT_DIG 6\n#define FLT_DECIMAL_DIG 9\n" \
  "#define FLT_MAX_EXP 128\n#define FLT_MIN_EXP (-125)\n#define FLT_MAX_10_EXP 38\n" \
  "#define FLT_MIN_10_EXP (-37)\n#define FLT_MAX 0x1.fffffep127f\n#define FLT_MIN 0x1p-126f\n" \
  "#define FLT_TRUE_MIN 0x1p-149f\n#define FLT_EPSILON 0x1p-23f\n#define FLT_HAS_SUBNORM 1\n" \
  "#define DBL_MANT_DIG 53\n#define DBL_DIG 15\n#define DBL_DECIMAL_DIG 17\n#define DBL_MAX_EXP 1024\n" \
  "#define DBL_MIN_EXP (-1021)\n#define DBL_MAX_10_EXP 308\n#define DBL_MIN_10_EXP (-307)\n" \
  "#define DBL_MAX 0x1.fffffffffffffp1023\n#define DBL_MIN 0x1p-1022\n#define DBL_TRUE_MIN 0x1p-1074\n" \
  "#define DBL_EPSILON 0x1p-52\n#define DBL_HAS_SUBNORM 1\n#define LDBL_HAS_SUBNORM 1\n" \
  "typedef float float_t;typedef double double_t;\n#define FP_NAN 0\n#define FP_INFINITE 1\n" \
  "#define FP_ZERO 2\n#define FP_SUBNORMAL 3\n#define FP_NORMAL 4\n" \
  ILOGB_LIMITS "#define MATH_ERRNO 1\n#define MATH_ERREXCEPT 2\n" \
  "#define math_errhandling 0\n#define M_E 2.7182818284590452354\n" \
  "#define M_LOG2E 1.4426950408889634074\n#define M_LOG10E 0.43429448190325182765\n" \
  "#define M_LN2 0.69314718055994530942\n#define M_LN10 2.30258509299404568402\n" \
  "#define M_PI 3.14159265358979323846\n#define M_PI_2 1.57079632679489661923\n" \
  "#define M_PI_4 0.78539816339744830962\n#define M_1_PI 0.31830988618379067154\n" \
  "#define M_2_PI 0.63661977236758134308\n#define M_2_SQRTPI 1.12837916709551257390\n" \
  "#define M_SQRT2 1.41421356237309504880\n#define M_SQRT1_2 0.70710678118654752440\n" \
  "#define isfinite(x) __builtin_isfinite(x)\n#define isinf(x) __builtin_isinf(x)\n" \
  "#define isnan(x) __builtin_isnan(x)\n#define isnormal(x) __builtin_isnormal(x)\n" \
  "#define isgreater(x,y) __builtin_isgreater(x,y)\n" \
  "#define isgreaterequal(x,y) __builtin_isgreaterequal(x,y)\n" \
  "#define isless(x,y) __builtin_isless(x,y)\n#define islessequal(x,y) __builtin_islessequal(x,y)\n" \
  "#define islessgreater(x,y) __builtin_islessgreater(x,y)\n" \
  "#define isunordered(x,y) __builtin_isunordered(x,y)\n#define signbit(x) ((int)(__builtin_signbit(x)!=0))\n" \
  "#define fpclassify(x) __builtin_fpclassify(FP_NAN,FP_INFINITE,FP_NORMAL,FP_SUBNORMAL,FP_ZERO,x)\n"
/* clang-format on */

#endif
