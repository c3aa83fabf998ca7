/* The C++ part of the prelude for CUDA. It stands behind the C part, in the namespace of texts in C++. */
#include "jit/front/prelude.h"

#include "jit/front/cxx/names.h"

#define F1(name)                                                                                             \
  "inline float " #name "(float x){return ::" #name "f(x);}\n"                                               \
  "template<class T>inline typename std::op2jit_whole<T>::type " #name "(T x){return ::" #name               \
  "((double)x);}\n"
#define F2(name)                                                                                             \
  "inline float " #name "(float x,float y){return ::" #name "f(x,y);}\n"                                     \
  "template<class T,class U>inline typename std::op2jit_both<T,U>::type " #name "(T x,U y)"                  \
  "{typedef typename std::op2jit_both<T,U>::type R;return " #name "((R)x,(R)y);}\n"
#define U(name) "using op2_user::" #name ";\n"
#define IS(name, value)                                                                                      \
  "inline bool " #name "(double x){return " value ";}inline bool " #name "(float x){return " value ";}\n"

#pragma GCC diagnostic ignored "-Woverlength-strings" /* a warning about compilers of 1999 */
static const char names[] =
    "#undef auto\n#undef register\n#undef true\n#undef false\n#undef NULL\n#define NULL nullptr\n"
    "#undef isnan\n#undef isinf\n#undef isfinite\n#undef isnormal\n#undef signbit\n#undef fpclassify\n"
    "#define __null 0\n#define op2jit_constant\n"
    "typedef unsigned int uint;typedef long long ll;typedef unsigned long long ull;\n"
    "namespace std{typedef unsigned long size_t;\n" CXX_TYPES "}\n"
    /* clang-format off */
    ALL1(F1) F1(exp) ALL2(F2)
    /* clang-format on */
    "inline double abs(double x){return ::fabs(x);}inline float abs(float x){return ::fabsf(x);}\n"
    "inline long abs(long x){return x<0?-x:x;}inline long long abs(long long x){return x<0?-x:x;}\n" IS(
        isnan, "x!=x") IS(isfinite, "x-x==0") IS(isinf, "x==x&&x-x!=0") IS(signbit, "op2_signbit(x)!=0")
        IS(isnormal, "op2_isnormal(x)!=0") "namespace std{\n"
    /* clang-format off */
    ALL1(U) U(exp) ALL2(U) U(fma) U(abs) U(isnan) U(isinf) U(isfinite) U(isnormal) U(signbit)
    /* clang-format on */
    CXX_UTILITY CXX_LIMITS
    "}\n"
    "struct op2_any{const void*op2_p;template<class T>operator T*()const{return (T*)op2_p;}};\n";

const char *jit_cuda_cxx(void) {
  return names;
}
