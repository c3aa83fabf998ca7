#include "jit/front/prelude.h"

/* Functions in double and in float. */
#define F1(name) "double " #name "(double);float " #name "f(float);\n"
#define F2(name) "double " #name "(double,double);float " #name "f(float,float);\n"
#define F3(name) "double " #name "(double,double,double);float " #name "f(float,float,float);\n"
#define TO(type, name) type " " #name "(double);" type " " #name "f(float);\n"
#define BY(type, name) "double " #name "(double," type ");float " #name "f(float," type ");\n"
#define DEFINE(name, value) "#define " #name " " value "\n"
#define BUILTIN(name) DEFINE(name, "__" #name "__")

/* Parsed anew for each loop, hence short: macros where the headers have macros, no line that is not needed.
 * Bessel's functions are left out, for a mesh code needs y0 and y1 for itself. */
#pragma GCC diagnostic ignored "-Woverlength-strings" /* a warning about compilers of 1999 */
static const char prelude[] =
    /* stddef.h, stdint.h, stdbool.h */
    "typedef __SIZE_TYPE__ size_t;typedef __PTRDIFF_TYPE__ ptrdiff_t;typedef __WCHAR_TYPE__ wchar_t;\n"
    "typedef __INT8_TYPE__ int8_t;typedef __INT16_TYPE__ int16_t;typedef __INT32_TYPE__ int32_t;\n"
    "typedef __INT64_TYPE__ int64_t;typedef __UINT8_TYPE__ uint8_t;typedef __UINT16_TYPE__ uint16_t;\n"
    "typedef __UINT32_TYPE__ uint32_t;typedef __UINT64_TYPE__ uint64_t;typedef __INTPTR_TYPE__ intptr_t;\n"
    "typedef __UINTPTR_TYPE__ uintptr_t;typedef __INTMAX_TYPE__ intmax_t;typedef __UINTMAX_TYPE__ "
    "uintmax_t;\n"
    "typedef int8_t int_least8_t;typedef int16_t int_least16_t;typedef int32_t int_least32_t;\n"
    "typedef int64_t int_least64_t;typedef uint8_t uint_least8_t;typedef uint16_t uint_least16_t;\n"
    "typedef uint32_t uint_least32_t;typedef uint64_t uint_least64_t;typedef int8_t int_fast8_t;\n"
    "typedef __INT_FAST16_TYPE__ int_fast16_t;typedef __INT_FAST32_TYPE__ int_fast32_t;\n"
    "typedef int64_t int_fast64_t;typedef uint8_t uint_fast8_t;typedef __UINT_FAST16_TYPE__ uint_fast16_t;\n"
    "typedef __UINT_FAST32_TYPE__ uint_fast32_t;typedef uint64_t uint_fast64_t;\n"
    "#define bool _Bool\n#define true 1\n#define false 0\n"
    "#define NULL ((void*)0)\n#define offsetof(t,m) __builtin_offsetof(t,m)\n"
    "#define INT8_C(c) c\n#define INT16_C(c) c\n#define INT32_C(c) c\n#define INT64_C(c) c##L\n"
    "#define UINT8_C(c) c\n#define UINT16_C(c) c\n#define UINT32_C(c) c##U\n#define UINT64_C(c) c##UL\n"
    "#define INTMAX_C(c) c##L\n#define UINTMAX_C(c) c##UL\n"
    /* limits.h and the rest of stdint.h */
    "#define CHAR_BIT 8\n#define MB_LEN_MAX 16\n"
    "#define SCHAR_MAX __SCHAR_MAX__\n#define SCHAR_MIN (-SCHAR_MAX-1)\n#define UCHAR_MAX 255\n"
    "#define CHAR_MAX __SCHAR_MAX__\n#define CHAR_MIN (-CHAR_MAX-1)\n"
    "#define SHRT_MAX __SHRT_MAX__\n#define SHRT_MIN (-SHRT_MAX-1)\n#define USHRT_MAX 65535\n"
    "#define INT_MAX __INT_MAX__\n#define INT_MIN (-INT_MAX-1)\n#define UINT_MAX (INT_MAX*2U+1U)\n"
    "#define LONG_MAX __LONG_MAX__\n#define LONG_MIN (-LONG_MAX-1L)\n#define ULONG_MAX (LONG_MAX*2UL+1UL)\n"
    "#define LLONG_MAX __LONG_LONG_MAX__\n#define LLONG_MIN (-LLONG_MAX-1LL)\n"
    "#define ULLONG_MAX (LLONG_MAX*2ULL+1ULL)\n"
    "#define INT8_MAX 127\n#define INT8_MIN (-128)\n#define UINT8_MAX 255\n"
    "#define INT16_MAX 32767\n#define INT16_MIN (-32768)\n#define UINT16_MAX 65535\n"
    "#define INT32_MAX INT_MAX\n#define INT32_MIN INT_MIN\n#define UINT32_MAX UINT_MAX\n"
    "#define INT64_MAX LONG_MAX\n#define INT64_MIN LONG_MIN\n#define UINT64_MAX ULONG_MAX\n"
    "#define INTPTR_MAX LONG_MAX\n#define INTPTR_MIN LONG_MIN\n#define UINTPTR_MAX ULONG_MAX\n"
    "#define INTMAX_MAX LONG_MAX\n#define INTMAX_MIN LONG_MIN\n#define UINTMAX_MAX ULONG_MAX\n"
    "#define SIZE_MAX ULONG_MAX\n#define PTRDIFF_MAX LONG_MAX\n#define PTRDIFF_MIN LONG_MIN\n"
    /* float.h */
    "#define FLT_RADIX 2\n#define FLT_EVAL_METHOD 0\n#define FLT_ROUNDS 1\n#define DECIMAL_DIG 21\n" BUILTIN(
        FLT_MAX) BUILTIN(FLT_MIN) BUILTIN(FLT_EPSILON) BUILTIN(FLT_DIG) BUILTIN(FLT_MANT_DIG)
        BUILTIN(FLT_MAX_EXP) BUILTIN(FLT_MIN_EXP) BUILTIN(FLT_MAX_10_EXP) BUILTIN(FLT_MIN_10_EXP)
            BUILTIN(FLT_DECIMAL_DIG) DEFINE(FLT_TRUE_MIN, "__FLT_DENORM_MIN__") DEFINE(FLT_HAS_SUBNORM, "1")
                BUILTIN(DBL_MAX) BUILTIN(DBL_MIN) BUILTIN(DBL_EPSILON) BUILTIN(DBL_DIG) BUILTIN(DBL_MANT_DIG)
                    BUILTIN(DBL_MAX_EXP) BUILTIN(DBL_MIN_EXP) BUILTIN(DBL_MAX_10_EXP) BUILTIN(DBL_MIN_10_EXP)
                        BUILTIN(DBL_DECIMAL_DIG) DEFINE(DBL_TRUE_MIN, "__DBL_DENORM_MIN__")
                            DEFINE(DBL_HAS_SUBNORM, "1") BUILTIN(LDBL_MAX) BUILTIN(LDBL_MIN)
                                BUILTIN(LDBL_EPSILON) BUILTIN(LDBL_DIG) BUILTIN(LDBL_MANT_DIG)
    /* math.h */
    "typedef float float_t;typedef double double_t;\n"
    "#define INFINITY __builtin_inff()\n#define NAN __builtin_nanf(\"\")\n"
    "#define HUGE_VAL __builtin_huge_val()\n#define HUGE_VALF __builtin_huge_valf()\n"
    "#define FP_NAN 0\n#define FP_INFINITE 1\n#define FP_ZERO 2\n#define FP_SUBNORMAL 3\n#define FP_NORMAL "
    "4\n"
    "#define FP_ILOGB0 (-2147483647-1)\n#define FP_ILOGBNAN (-2147483647-1)\n"
    "#define MATH_ERRNO 1\n#define MATH_ERREXCEPT 2\n#define math_errhandling 0\n"
    "#define fpclassify(x) __builtin_fpclassify(FP_NAN,FP_INFINITE,FP_NORMAL,FP_SUBNORMAL,FP_ZERO,x)\n"
    "#define isfinite(x) __builtin_isfinite(x)\n#define isinf(x) __builtin_isinf(x)\n"
    "#define isnan(x) __builtin_isnan(x)\n#define isnormal(x) __builtin_isnormal(x)\n"
    "#define signbit(x) (__builtin_signbit(x)!=0)\n"
    "#define isgreater(x,y) __builtin_isgreater(x,y)\n#define isless(x,y) __builtin_isless(x,y)\n"
    "#define isgreaterequal(x,y) __builtin_isgreaterequal(x,y)\n"
    "#define islessequal(x,y) __builtin_islessequal(x,y)\n"
    "#define islessgreater(x,y) __builtin_islessgreater(x,y)\n"
    "#define isunordered(x,y) __builtin_isunordered(x,y)\n"
    /* clang-format off */
    F1(acos) F1(asin) F1(atan) F2(atan2) F1(cos) F1(sin) F1(tan) F1(acosh) F1(asinh) F1(atanh) F1(cosh)
    F1(sinh) F1(tanh) F1(exp) F1(exp2) F1(expm1) F1(log) F1(log10) F1(log1p) F1(log2) F1(logb)
    F1(cbrt) F1(fabs) F2(hypot) F2(pow) F1(sqrt) F1(erf) F1(erfc) F1(lgamma) F1(tgamma)
    F1(ceil) F1(floor) F1(nearbyint) F1(rint) F1(round) F1(trunc) F2(fmod) F2(remainder)
    F2(copysign) F2(nextafter) F2(fdim) F2(fmax) F2(fmin) F3(fma)
    TO("int", ilogb) TO("long", lrint) TO("long", lround) TO("long long", llrint) TO("long long", llround)
    BY("int*", frexp) BY("int", ldexp) BY("int", scalbn) BY("long", scalbln) BY("long double", nexttoward)
    "double modf(double,double*);float modff(float,float*);\n"
    "double remquo(double,double,int*);float remquof(float,float,int*);\n"
    "double nan(const char*);float nanf(const char*);\n"
    DEFINE(M_E, "2.7182818284590452354") DEFINE(M_LOG2E, "1.4426950408889634074")
    DEFINE(M_LOG10E, "0.43429448190325182765") DEFINE(M_LN2, "0.69314718055994530942")
    DEFINE(M_LN10, "2.30258509299404568402") DEFINE(M_PI, "3.14159265358979323846")
    DEFINE(M_PI_2, "1.57079632679489661923") DEFINE(M_PI_4, "0.78539816339744830962")
    DEFINE(M_1_PI, "0.31830988618379067154") DEFINE(M_2_PI, "0.63661977236758134308")
    DEFINE(M_2_SQRTPI, "1.12837916709551257390") DEFINE(M_SQRT2, "1.41421356237309504880")
    DEFINE(M_SQRT1_2, "0.70710678118654752440")
    /* clang-format on */
    /* of stdlib.h and string.h what people expect to be everywhere */
    "int abs(int);long labs(long);long long llabs(long long);\n"
    "void*memcpy(void*restrict,const void*restrict,size_t);void*memmove(void*,const void*,size_t);\n"
    "void*memset(void*,int,size_t);int memcmp(const void*,const void*,size_t);\n"
    /* In "contract" (the compiler defines the name) exp is computed in line, so that loops with it become vectors
     * of any width: within one unit in the last place, where the forms of libmvec are three off. */
    "#ifdef OP2JIT_EXP_INLINE\n"
    "static inline __attribute__((always_inline, unused)) double op2jit_exp(double x) {\n"
    "const double big = 0x1.8p52, y = x > 750 ? 750 : x < -750 ? -750 : x;\n"
    "const double shifted = y * 0x1.71547652b82fep+0 + big, k = shifted - big;\n"
    "const double r = (y - k * 0x1.62e42fefa0000p-1) - k * 0x1.cf79abc9e3b39p-40;\n"
    "long n, low, high;\n"
    "double p = 0x1.6124613a86d09p-33, a, b;\n"
    "p = p * r + 0x1.1eed8eff8d898p-29;\n"
    "p = p * r + 0x1.ae64567f544e4p-26;\n"
    "p = p * r + 0x1.27e4fb7789f5cp-22;\n"
    "p = p * r + 0x1.71de3a556c734p-19;\n"
    "p = p * r + 0x1.a01a01a01a01ap-16;\n"
    "p = p * r + 0x1.a01a01a01a01ap-13;\n"
    "p = p * r + 0x1.6c16c16c16c17p-10;\n"
    "p = p * r + 0x1.1111111111111p-7;\n"
    "p = p * r + 0x1.5555555555555p-5;\n"
    "p = p * r + 0x1.5555555555555p-3;\n"
    "p = p * r + 0.5;\n"
    "p = p * (r * r) + r;\n"
    "__builtin_memcpy(&n, &shifted, 8);\n"
    "n -= 0x4338000000000000;\n"
    "low = n >> 1;\n"
    "high = (n - low + 1023) << 52;\n"
    "low = (low + 1023) << 52;\n"
    "__builtin_memcpy(&a, &low, 8);\n"
    "__builtin_memcpy(&b, &high, 8);\n"
    "return (p + 1) * a * b;\n"
    "}\n"
    "#define exp(x) op2jit_exp(x)\n#define expf(x) ((float)op2jit_exp(x))\n"
    "#endif\n";

const char *jit_prelude(void) {
  return prelude;
}
