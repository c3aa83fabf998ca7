/* The macros and types of <stddef.h>, <stdint.h>, <limits.h>, <float.h> and <math.h> that read alike in C and in
 * the C++ of GPUs: a part of every dialect's prelude, so that a name is missing nowhere. Their values are those of
 * this machine's headers; the dialect says what __builtin_isnan and its like are, NULL, INFINITY, and all that is
 * of long double. */
#ifndef OP2JIT_JIT_KERNEL_NAMES_H
#define OP2JIT_JIT_KERNEL_NAMES_H

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
/* The types and limits of <stdint.h> for one width: names of C's types, those of the fast ones, their largest values. */
#define WHOLE_OF(n, type, utype, fast, ufast, max, umax, fmax, fumax, c, uc) \
  "typedef " type " int" n "_t;typedef " type " int_least" n "_t;typedef " fast " int_fast" n "_t;\n" \
  "typedef " utype " uint" n "_t;typedef " utype " uint_least" n "_t;typedef " ufast " uint_fast" n "_t;\n" \
  "#define INT" n "_MAX " max "\n#define INT" n "_MIN (-INT" n "_MAX-1)\n#define UINT" n "_MAX " umax "\n" \
  "#define INT_LEAST" n "_MAX " max "\n#define INT_LEAST" n "_MIN (-INT_LEAST" n "_MAX-1)\n" \
  "#define UINT_LEAST" n "_MAX " umax "\n#define INT_FAST" n "_MAX " fmax "\n" \
  "#define INT_FAST" n "_MIN (-INT_FAST" n "_MAX-1)\n#define UINT_FAST" n "_MAX " fumax "\n" \
  "#define INT" n "_C(c) " c "\n#define UINT" n "_C(c) " uc "\n"
#define NAMES_OF_C \
  "#undef linux\n#undef unix\n" /* no names of C */ \
  "typedef unsigned long size_t;typedef long ptrdiff_t;\n" \
  "typedef struct {long long a __attribute__((aligned(8)));long double b __attribute__((aligned(16)));} max_align_t;\n" \
  "#define __bool_true_false_are_defined 1\n#define CHAR_BIT 8\n#define MB_LEN_MAX 16\n" \
  WHOLE_OF("8", "signed char", "unsigned char", "signed char", "unsigned char", "127", "255", "127", "255", "c", "c") \
  WHOLE_OF("16", "short", "unsigned short", "long", "unsigned long", "32767", "65535", "LONG_MAX", "ULONG_MAX", "c", "c") \
  WHOLE_OF("32", "int", "unsigned int", "long", "unsigned long", "INT_MAX", "UINT_MAX", "LONG_MAX", "ULONG_MAX", "c", \
           "c##U") \
  WHOLE_OF("64", "long", "unsigned long", "long", "unsigned long", "LONG_MAX", "ULONG_MAX", "LONG_MAX", "ULONG_MAX", \
           "c##L", "c##UL") \
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
