/* The prelude of C++ kernels, in the place of the standard headers. Names, meanings and overloads must be those
 * of the headers, for the reader compares which function a call means here and there. */
#include "jit/front/prelude.h"

#include "jit/front/cxx/names.h"

/* Functions in double and in float, as C has them, and the overloads of <cmath>. */
#define C1(name) "double " #name "(double);float " #name "f(float);\n"
#define C2(name) "double " #name "(double,double);float " #name "f(float,float);\n"
#define O1(name)                                                                                             \
  "using ::" #name ";inline float " #name "(float x){return " #name "f(x);}\n"                               \
  "template<class T>inline typename op2jit_whole<T>::type " #name "(T x){return " #name "((double)x);}\n"
#define O2(name)                                                                                             \
  "using ::" #name ";inline float " #name "(float x,float y){return " #name "f(x,y);}\n"                     \
  "template<class T,class U>inline typename op2jit_both<T,U>::type " #name "(T x,U y)"                       \
  "{typedef typename op2jit_both<T,U>::type R;return " #name "((R)x,(R)y);}\n"
#define G(name) "using std::" #name ";\n"
#define IS(name)                                                                                             \
  "inline bool " #name "(double x){return __builtin_" #name "(x);}\n"                                        \
  "inline bool " #name "(float x){return __builtin_" #name "(x);}\n"
#pragma GCC diagnostic ignored "-Woverlength-strings" /* a warning about compilers of 1999 */
static const char prelude[] =
    "#ifdef __cplusplus\n#pragma clang system_header\n#define op2jit_constant constexpr\n"
    "typedef unsigned long size_t;typedef long ptrdiff_t;typedef decltype(nullptr) nullptr_t;\n"
    "typedef signed char int8_t;typedef short int16_t;typedef int int32_t;typedef long int64_t;\n"
    "typedef unsigned char uint8_t;typedef unsigned short uint16_t;typedef unsigned int uint32_t;\n"
    "typedef unsigned long uint64_t;typedef unsigned int uint;typedef long intptr_t;typedef unsigned long "
    "uintptr_t;\n"
    "typedef long long ll;typedef unsigned long long ull;\n"
    /* clang-format off */
    "extern \"C\"{\n"
    ALL1(C1) ALL2(C2)
    "double fma(double,double,double);float fmaf(float,float,float);\n"
    "double ldexp(double,int);float ldexpf(float,int);double modf(double,double*);double frexp(double,int*);\n"
    "long lrint(double);long lround(double);long long llrint(double);long long llround(double);\n"
    "int printf(const char*__restrict,...);\n"
    "int abs(int) noexcept;long labs(long);long long llabs(long long);\n"
    "void*memcpy(void*,const void*,size_t);void*memmove(void*,const void*,size_t);\n"
    "void*memset(void*,int,size_t);int memcmp(const void*,const void*,size_t);\n"
    "}\n"
            /* clang-format on */
            "namespace std{\n"
            "using ::size_t;using ::ptrdiff_t;using ::nullptr_t;using ::int8_t;using ::int16_t;using "
            "::int32_t;\n"
            "using ::int64_t;using ::uint8_t;using ::uint16_t;using ::uint32_t;using ::uint64_t;\n"
            "using ::printf;using ::memcpy;using ::memmove;using ::memset;using ::memcmp;\n" CXX_TYPES
                /* clang-format off */
    ALL1(O1) ALL2(O2)
    /* clang-format on */
    /* In "contract" exp is computed in line, as in C. */
    "#ifdef OP2JIT_EXP_INLINE\n"
    "inline __attribute__((always_inline)) double exp(double x){\n"
    "const double big=0x1.8p52,y=x>750?750:x<-750?-750:x;\n"
    "const double shifted=y*0x1.71547652b82fep+0+big,k=shifted-big;\n"
    "const double r=(y-k*0x1.62e42fefa0000p-1)-k*0x1.cf79abc9e3b39p-40;\n"
    "long n=0,low,high;double p=0x1.6124613a86d09p-33,a=0,b=0;\n"
    "p=p*r+0x1.1eed8eff8d898p-29;p=p*r+0x1.ae64567f544e4p-26;p=p*r+0x1.27e4fb7789f5cp-22;\n"
    "p=p*r+0x1.71de3a556c734p-19;p=p*r+0x1.a01a01a01a01ap-16;p=p*r+0x1.a01a01a01a01ap-13;\n"
    "p=p*r+0x1.6c16c16c16c17p-10;p=p*r+0x1.1111111111111p-7;p=p*r+0x1.5555555555555p-5;\n"
    "p=p*r+0x1.5555555555555p-3;p=p*r+0.5;p=p*(r*r)+r;\n"
    "__builtin_memcpy(&n,&shifted,8);n-=0x4338000000000000;low=n>>1;high=(n-low+1023)<<52;low=(low+1023)<<52;"
    "\n"
    "__builtin_memcpy(&a,&low,8);__builtin_memcpy(&b,&high,8);return (p+1)*a*b;}\n"
    "inline float exp(float x){return (float)exp((double)x);}\n"
    "#else\n}extern \"C\"{double exp(double);float expf(float);}namespace std{\n"
    "using ::exp;inline float exp(float x){return expf(x);}\n#endif\n"
    "template<class T>inline typename op2jit_whole<T>::type exp(T x){return exp((double)x);}\n"
    "using ::fma;inline float fma(float x,float y,float z){return fmaf(x,y,z);}\n"
    "using ::ldexp;using ::modf;using ::frexp;using ::lrint;using ::lround;using ::llrint;using ::llround;\n"
    "using ::abs;inline constexpr double abs(double x){return __builtin_fabs(x);}\n"
    "inline constexpr float abs(float x){return __builtin_fabsf(x);}inline long abs(long x){return "
    "x<0?-x:x;}\n"
    "inline long long abs(long long x){return x<0?-x:x;}\n" IS(isnan) IS(isinf) IS(isfinite) IS(isnormal)
        IS(signbit) CXX_UTILITY CXX_LIMITS
    /* clang-format off */
    "}\n"
    ALL1(G) ALL2(G) G(exp) G(fma) G(abs) G(isnan) G(isinf) G(isfinite) G(isnormal) G(signbit)
    /* clang-format on */
    "#endif\n";

const char *jit_prelude_cxx(void) {
  return prelude;
}
