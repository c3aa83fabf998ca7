#include "jit/kernel/prelude.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/text.h"
#include "jit/kernel/lexer.h"
#include "jit/kernel/names.h"

/* Functions in double and in float. */
#define F1(name) "double " #name "(double);float " #name "f(float);\n"
#define F2(name) "double " #name "(double,double);float " #name "f(float,float);\n"
#define F3(name) "double " #name "(double,double,double);float " #name "f(float,float,float);\n"
#define TO(type, name) type " " #name "(double);" type " " #name "f(float);\n"
#define BY(type, name) "double " #name "(double," type ");float " #name "f(float," type ");\n"
#define DEFINE(name, value) "#define " #name " " value "\n"
#define BUILTIN(name) DEFINE(name, "__" #name "__")

/* In "contract" (the compiler defines the name) exp is computed in line, so that loops with it become vectors of any width:
 * within one unit in the last place, where the forms of libmvec are three off. */
#define EXP_BODY                                                                                             \
  "const double big=0x1.8p52,y=x>750?750:x<-750?-750:x;\n"                                                   \
  "const double shifted=y*0x1.71547652b82fep+0+big,k=shifted-big;\n"                                         \
  "const double r=(y-k*0x1.62e42fefa0000p-1)-k*0x1.cf79abc9e3b39p-40;\n"                                     \
  "long n=0,low,high;double p=0x1.6124613a86d09p-33,a=0,b=0;\n"                                              \
  "p=p*r+0x1.1eed8eff8d898p-29;p=p*r+0x1.ae64567f544e4p-26;p=p*r+0x1.27e4fb7789f5cp-22;\n"                   \
  "p=p*r+0x1.71de3a556c734p-19;p=p*r+0x1.a01a01a01a01ap-16;p=p*r+0x1.a01a01a01a01ap-13;\n"                   \
  "p=p*r+0x1.6c16c16c16c17p-10;p=p*r+0x1.1111111111111p-7;p=p*r+0x1.5555555555555p-5;\n"                     \
  "p=p*r+0x1.5555555555555p-3;p=p*r+0.5;p=p*(r*r)+r;\n"                                                      \
  "__builtin_memcpy(&n,&shifted,8);n-=0x4338000000000000;low=n>>1;high=(n-low+1023)<<52;\n"                  \
  "low=(low+1023)<<52;__builtin_memcpy(&a,&low,8);__builtin_memcpy(&b,&high,8);return (p+1)*a*b;}\n"

/* Parsed anew for each loop, hence short: macros where the headers have macros, no line that is not needed.
 * Bessel's functions are left out, for a mesh code needs y0 and y1 for itself. */
#pragma GCC diagnostic ignored "-Woverlength-strings" /* a warning about compilers of 1999 */
/* clang-format off */
static const char prelude[] =
    NAMES_OF_C
    "typedef __WCHAR_TYPE__ wchar_t;\n#define bool _Bool\n#define true 1\n#define false 0\n"
    "#define NULL ((void*)0)\n#define offsetof(t,m) __builtin_offsetof(t,m)\n"
    "#define INFINITY __builtin_inff()\n#define NAN __builtin_nanf(\"\")\n"
    "#define HUGE_VAL __builtin_huge_val()\n#define HUGE_VALF __builtin_huge_valf()\n"
    "#define HUGE_VALL __builtin_huge_vall()\n#define DECIMAL_DIG __LDBL_DECIMAL_DIG__\n"
    BUILTIN(LDBL_MAX) BUILTIN(LDBL_MIN) BUILTIN(LDBL_EPSILON) BUILTIN(LDBL_DIG) BUILTIN(LDBL_MANT_DIG)
    BUILTIN(LDBL_MAX_EXP) BUILTIN(LDBL_MIN_EXP) BUILTIN(LDBL_MAX_10_EXP) BUILTIN(LDBL_MIN_10_EXP)
    BUILTIN(LDBL_DECIMAL_DIG) DEFINE(LDBL_TRUE_MIN, "__LDBL_DENORM_MIN__")
    /* math.h */
    ALL1(F1) F1(exp) ALL2(F2) F3(fma)
    TO("int", ilogb) TO("long", lrint) TO("long", lround) TO("long long", llrint) TO("long long", llround)
    BY("int*", frexp) BY("int", ldexp) BY("int", scalbn) BY("long", scalbln) BY("long double", nexttoward)
    "double modf(double,double*);float modff(float,float*);\n"
    "double remquo(double,double,int*);float remquof(float,float,int*);\n"
    "double nan(const char*);float nanf(const char*);\n"
    /* functions of stdlib.h and string.h that people expect everywhere */
    "int printf(const char*restrict,...);\n#define OP2JIT_KERNEL 1\n"
    "#define op_assert(c) op2jit_assert((c)?1:0,#c)\n#define assert(c) op_assert(c)\n"
    "#define OP_ANY_ORDER\n" /* see +rows in jit/emit/choose.h */
    /* The rows of a ragged map's targets, or, with -dim, of the element's own entries. */
    "#define OP_ROW(x,k) ((x)[0]+op2jit_row((x)[1],(x)[2],(x)[3],k))\n"
    "static inline __attribute__((always_inline,unused)) long op2jit_row(const void*to,const void*dim,const "
    "void*n,long k){return(long)dim<0?k*-(long)dim:((const int*)to)[k]*(long)dim;}\n"
    "int abs(int);long labs(long);long long llabs(long long);\n"
    "void*memcpy(void*restrict,const void*restrict,size_t);void*memmove(void*,const void*,size_t);\n"
    "void*memset(void*,int,size_t);int memcmp(const void*,const void*,size_t);\n"
    "#ifdef OP2JIT_EXP_INLINE\n"
    "static inline __attribute__((always_inline, unused)) double op2jit_exp(double x){\n" EXP_BODY
    "#define exp(x) op2jit_exp(x)\n#define expf(x) ((float)op2jit_exp(x))\n#endif\n";
/* clang-format on */

const char *jit_prelude(void) {
  return prelude;
}

static bool is_identifier(const char *name) {
  if (isdigit((unsigned char)*name) || !*name)
    return false;
  while (is_in_word(*name))
    name++;
  return !*name;
}

static const char keywords[] = " asm typeof auto break case char const continue default do double else enum "
                               "extern float for goto if inline "
                               "int long bool true false register restrict return short signed sizeof static "
                               "struct switch typedef union "
                               "unsigned void volatile while ";

/* A name stands behind #define, in front of its parameters, or at the end of a typedef; all other words are in
 * parentheses. The last lines, which depend on the compiler, declare only names of the library. */
bool prelude_declares(const char *name, size_t length) {
  static const char define[] = "#define ";
  int depth = 0;
  bool inside_define = false;
  for (const char *p = jit_prelude(); *p && strncmp(p, "#if", 3) != 0;) {
    const bool macro = strncmp(p, define, sizeof define - 1) == 0;
    inside_define = (inside_define && *p != '\n') || macro;
    p += macro ? sizeof define - 1 : 0;
    size_t n = 0;
    while (is_in_word(p[n]))
      n++;
    if (n == length && memcmp(p, name, n) == 0 &&
        (macro || (!inside_define && depth == 0 && (p[n] == '(' || p[n] == ';'))))
      return true;
    depth += inside_define ? 0 : (*p == '(') - (*p == ')');
    p += n ? n : 1;
  }
  return false;
}

const char *constant_name_wrong(const char *name) {
  if (!is_identifier(name))
    return "this is no C identifier; choose a name that kernels can use";
  if (word_is_among(name, strlen(name), keywords))
    return "this is a word of C itself; choose another name";
  if (strncmp(name, "op2", 3) == 0)
    return "names that begin with op2 are the library's own in kernels; choose another name";
  if (name[0] == '_' && (name[1] == '_' || isupper((unsigned char)name[1])))
    return "names that begin with _ and another _ or a capital are the compilers' own; choose another name";
  if (prelude_declares(name, strlen(name)))
    return "every kernel has a function, macro or type of this name; choose another name";
  return NULL;
}

/* The prelude of C++ kernels, in the place of the standard headers. Names, meanings and overloads must be those
 * of the headers, for the reader compares which function a call means here and there. */

/* The overloads of <cmath>. */
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
static const char cxx_prelude[] =
    "#ifdef __cplusplus\n#pragma clang system_header\n#define op2jit_constant constexpr\n"
    "typedef unsigned long size_t;typedef long ptrdiff_t;typedef decltype(nullptr) nullptr_t;\n"
    "typedef signed char int8_t;typedef short int16_t;typedef int int32_t;typedef long int64_t;\n"
    "typedef unsigned char uint8_t;typedef unsigned short uint16_t;typedef unsigned int uint32_t;\n"
    "typedef unsigned long uint64_t;typedef unsigned int uint;typedef long intptr_t;typedef unsigned long "
    "uintptr_t;\n"
    "typedef long long ll;typedef unsigned long long ull;\n"
    /* clang-format off */
    "extern \"C\"{\n"
    ALL1(F1) ALL2(F2) F3(fma)
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
    "#ifdef OP2JIT_EXP_INLINE\n"
    "inline __attribute__((always_inline)) double exp(double x){\n" EXP_BODY
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
  return cxx_prelude;
}

/* The C++ part of the prelude for CUDA. It stands behind the C part, in the namespace of texts in C++. */

#define CUDA_F1(name)                                                                                        \
  "inline float " #name "(float x){return ::" #name "f(x);}\n"                                               \
  "template<class T>inline typename std::op2jit_whole<T>::type " #name "(T x){return ::" #name               \
  "((double)x);}\n"
#define CUDA_F2(name)                                                                                        \
  "inline float " #name "(float x,float y){return ::" #name "f(x,y);}\n"                                     \
  "template<class T,class U>inline typename std::op2jit_both<T,U>::type " #name "(T x,U y)"                  \
  "{typedef typename std::op2jit_both<T,U>::type R;return " #name "((R)x,(R)y);}\n"
#define U(name) "using op2_user::" #name ";\n"
#define CUDA_IS(name, value)                                                                                 \
  "inline bool " #name "(double x){return " value ";}inline bool " #name "(float x){return " value ";}\n"

static const char names[] =
    "#undef auto\n#undef register\n#undef true\n#undef false\n#undef NULL\n#define NULL nullptr\n"
    "#undef isnan\n#undef isinf\n#undef isfinite\n#undef isnormal\n#undef signbit\n#undef fpclassify\n"
    "#define __null 0\n#define op2jit_constant\n"
    "typedef unsigned int uint;typedef long long ll;typedef unsigned long long ull;\n"
    "namespace std{typedef unsigned long size_t;\n" CXX_TYPES "}\n"
    /* clang-format off */
    ALL1(CUDA_F1) CUDA_F1(exp) ALL2(CUDA_F2)
    /* clang-format on */
    "inline double abs(double x){return ::fabs(x);}inline float abs(float x){return ::fabsf(x);}\n"
    "inline long abs(long x){return x<0?-x:x;}inline long long abs(long long x){return x<0?-x:x;}\n" CUDA_IS(
        isnan, "x!=x") CUDA_IS(isfinite, "x-x==0") CUDA_IS(isinf, "x==x&&x-x!=0")
        CUDA_IS(signbit, "op2_signbit(x)!=0") CUDA_IS(isnormal, "op2_isnormal(x)!=0") "namespace std{\n"
    /* clang-format off */
    ALL1(U) U(exp) ALL2(U) U(fma) U(abs) U(isnan) U(isinf) U(isfinite) U(isnormal) U(signbit)
    /* clang-format on */
    CXX_UTILITY CXX_LIMITS
    "}\n"
    "struct op2_any{const void*op2_p;template<class T>operator T*()const{return (T*)op2_p;}};\n";

const char *jit_cuda_cxx(void) {
  return names;
}
