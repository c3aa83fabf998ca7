#include "jit/front/prelude.h"

#include "jit/front/names.h"

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
    NAMES_OF_C "typedef __WCHAR_TYPE__ wchar_t;\n"
               "#define bool _Bool\n#define true 1\n#define false 0\n"
               "#define NULL ((void*)0)\n#define offsetof(t,m) __builtin_offsetof(t,m)\n"
               "#define INFINITY __builtin_inff()\n#define NAN __builtin_nanf(\"\")\n"
               "#define HUGE_VAL __builtin_huge_val()\n#define HUGE_VALF __builtin_huge_valf()\n"
               "#define HUGE_VALL __builtin_huge_vall()\n#define DECIMAL_DIG __LDBL_DECIMAL_DIG__\n"
    /* clang-format off */
    BUILTIN(LDBL_MAX) BUILTIN(LDBL_MIN) BUILTIN(LDBL_EPSILON) BUILTIN(LDBL_DIG) BUILTIN(LDBL_MANT_DIG)
    BUILTIN(LDBL_MAX_EXP) BUILTIN(LDBL_MIN_EXP) BUILTIN(LDBL_MAX_10_EXP) BUILTIN(LDBL_MIN_10_EXP)
    BUILTIN(LDBL_DECIMAL_DIG) DEFINE(LDBL_TRUE_MIN, "__LDBL_DENORM_MIN__")
    /* math.h */
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
                                /* clang-format on */
                                /* functions of stdlib.h and string.h that people expect everywhere */
                                "int printf(const char*restrict,...);\n#define OP2JIT_KERNEL 1\n"
                                "#define op_assert(c) op2jit_assert((c)?1:0,#c)\n#define assert(c) "
                                "op_assert(c)\n"
                                "#define OP_ANY_ORDER\n" /* see +rows in jit/generate/shape.h */
                                /* The rows of a ragged map's targets, or, with -dim, of the element's own entries. */
                                "#define OP_ROW(x,k) ((x)[0]+op2jit_row((x)[1],(x)[2],(x)[3],k))\n"
                                "static inline __attribute__((always_inline,unused)) long op2jit_row(const "
                                "void*to,const void*dim,const void*n,long k){"
                                "return(long)dim<0?k*-(long)dim:((const int*)to)[k]*(long)dim;}\n"
                                "int abs(int);long labs(long);long long llabs(long long);\n"
                                "void*memcpy(void*restrict,const "
                                "void*restrict,size_t);void*memmove(void*,const void*,size_t);\n"
                                "void*memset(void*,int,size_t);int memcmp(const void*,const void*,size_t);\n"
                                /* In "contract" (the compiler defines the name) exp is computed in line, so that
                                 * loops with it become vectors of any width: within one unit in the last place,
                                 * where the forms of libmvec are three off. */
                                "#ifdef OP2JIT_EXP_INLINE\n"
                                "static inline __attribute__((always_inline, unused)) double "
                                "op2jit_exp(double x) {\n"
                                "const double big = 0x1.8p52, y = x > 750 ? 750 : x < -750 ? -750 : x;\n"
                                "const double shifted = y * 0x1.71547652b82fep+0 + big, k = shifted - big;\n"
                                "const double r = (y - k * 0x1.62e42fefa0000p-1) - k * "
                                "0x1.cf79abc9e3b39p-40;\n"
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
