/* The names that kernels have without an #include: mathematics, limits, fixed-width integers, bool. */
#ifndef OP2JIT_JIT_KERNEL_PRELUDE_H
#define OP2JIT_JIT_KERNEL_PRELUDE_H

#include <stdbool.h>
#include <stddef.h>

/* C text that generated code for CPUs starts with. It ends with a newline, declares no file-scope name
 * that a C program with all the headers would not have but op2jit_exp, and needs the compiler that knows gcc's
 * predefined macros. Part of the generated text, hence of every loop's key. */
const char *jit_prelude(void);

/* True: it declares the name, which has so many letters. */
bool prelude_declares(const char *name, size_t length);

/* The same for kernels in C++; nothing where C reads it. */
const char *jit_prelude_cxx(void);
/* The part for texts in C++ in CUDA, to stand in their namespace. */
const char *jit_cuda_cxx(void);

/* ---- names that a program's constants may have ---- */
/* The reason why kernels cannot use a constant of this name, with a remedy; NULL: they can. */
const char *constant_name_wrong(const char *name);

/* The part of the C++ standard library that reads alike for processors and GPUs: overloads of <cmath>, and what
 * kernels use of <algorithm>, <utility>, <array> and <limits>. A part of the preludes of texts in C++. */

/* Functions of C that GPUs lack: `function` stands before each, `name` is the beginning of its name. */
#define WHOLE_AND_MEMORY(function, name)                                                                     \
  function "int " name "abs(int x) { return x < 0 ? -x : x; }\n" function "long " name                       \
           "labs(long x) { return x < 0 ? -x : x; }\n" function "void *" name                                \
           "memmove(void *to, const void *from, size_t n) {\n"                                               \
           "  if (to < from)\n"                                                                              \
           "    for (size_t i = 0; i < n; i++) ((char *)to)[i] = ((const char *)from)[i];\n"                 \
           "  else\n"                                                                                        \
           "    for (size_t i = n; i-- > 0;) ((char *)to)[i] = ((const char *)from)[i];\n"                   \
           "  return to;\n"                                                                                  \
           "}\n" function "int " name "memcmp(const void *a, const void *b, size_t n) {\n"                   \
           "  const unsigned char *x = (const unsigned char *)a, *y = (const unsigned char *)b;\n"           \
           "  for (size_t i = 0; i < n; i++)\n"                                                              \
           "    if (x[i] != y[i]) return x[i] - y[i];\n"                                                     \
           "  return 0;\n"                                                                                   \
           "}\n"
/* A GPU's long double is a double. */
#define LIMITS_OF_LONG_DOUBLE(before, behind)                                                                \
  "#define DECIMAL_DIG DBL_DECIMAL_DIG\n#define LDBL_DECIMAL_DIG DBL_DECIMAL_DIG\n"                          \
  "#define LDBL_MAX " before "DBL_MAX" behind "\n#define LDBL_MIN " before "DBL_MIN" behind "\n"             \
  "#define LDBL_TRUE_MIN " before "DBL_TRUE_MIN" behind "\n"                                                 \
  "#define LDBL_EPSILON " before "DBL_EPSILON" behind "\n#define LDBL_DIG DBL_DIG\n"                         \
  "#define LDBL_MANT_DIG DBL_MANT_DIG\n#define LDBL_MAX_EXP DBL_MAX_EXP\n"                                   \
  "#define LDBL_MIN_EXP DBL_MIN_EXP\n#define LDBL_MAX_10_EXP DBL_MAX_10_EXP\n"                               \
  "#define LDBL_MIN_10_EXP DBL_MIN_10_EXP\n"

/* clang-format off */
#define ALL1(X)                                                                                              \
  X(acos) X(asin) X(atan) X(cos) X(sin) X(tan) X(acosh) X(asinh) X(atanh) X(cosh) X(sinh) X(tanh) X(exp2)      \
  X(expm1) X(log) X(log10) X(log1p) X(log2) X(logb) X(cbrt) X(fabs) X(sqrt) X(erf) X(erfc) X(lgamma) X(tgamma) \
  X(ceil) X(floor) X(nearbyint) X(rint) X(round) X(trunc)
#define ALL2(X)                                                                                              \
  X(atan2) X(hypot) X(pow) X(fmod) X(remainder) X(copysign) X(nextafter) X(fdim) X(fmax) X(fmin)
/* op2jit_constant: constexpr, where the compiler can tell infinity while it compiles. */
#define LIMITS(type, has, least, most, low, epsilon, digits, whole, sign)                                    \
  "template<>struct numeric_limits<" type ">{static constexpr bool is_specialized=true,is_integer=" whole     \
  ",is_exact=" whole ",is_signed=" sign ",has_infinity=" has ",has_quiet_NaN=" has ";\n"                        \
  "static constexpr int digits=" digits ";static constexpr " type " min() noexcept{return " least ";}\n"       \
  "static constexpr " type " max() noexcept{return " most ";}static constexpr " type                           \
  " lowest() noexcept{return " low ";}\n"                                                                     \
  "static constexpr " type " epsilon() noexcept{return " epsilon ";}static op2jit_constant " type                    \
  " infinity() noexcept{return " has "?(" type ")__builtin_huge_val():(" type ")0;}\n"                          \
  "static op2jit_constant " type " quiet_NaN() noexcept{return " has "?(" type ")__builtin_nan(\"\"):(" type ")0;}};\n"
#define WHOLE(type, least, most, digits, sign) LIMITS(type, "false", least, most, least, "0", digits, "true", sign)
/* The type that a whole number, or two numbers, count as in an overload of <cmath>. */
#define CXX_TYPES \
  "template<class T>struct op2jit_whole{};\n" \
  "template<>struct op2jit_whole<int>{typedef double type;};template<>struct op2jit_whole<unsigned>{typedef double " \
  "type;};\n" \
  "template<>struct op2jit_whole<long>{typedef double type;};template<>struct op2jit_whole<unsigned long>{typedef " \
  "double type;};\n" \
  "template<>struct op2jit_whole<long long>{typedef double type;};template<>struct op2jit_whole<short>{typedef " \
  "double type;};\n" \
  "template<>struct op2jit_whole<unsigned long long>{typedef double type;};template<>struct " \
  "op2jit_whole<char>{typedef double type;};\n" \
  "template<>struct op2jit_whole<bool>{typedef double type;};\n" \
  "template<class T>struct op2jit_one:op2jit_whole<T>{};\n" \
  "template<>struct op2jit_one<double>{typedef double type;};template<>struct op2jit_one<float>{typedef float " \
  "type;};\n" \
  "template<class T,class U>struct op2jit_both{typedef decltype(typename op2jit_one<T>::type()+typename " \
  "op2jit_one<U>::type()) type;};\n"
#define CXX_UTILITY \
  "#ifndef __CUDACC_RTC__\n" /* NVRTC has it built in */ \
  "template<class T>class initializer_list{const T*op2jit_items;size_t op2jit_count;public:typedef T value_type;\n" \
  "constexpr initializer_list() noexcept:op2jit_items(0),op2jit_count(0){}\n" \
  "constexpr size_t size()const noexcept{return op2jit_count;}\n" \
  "constexpr const T*begin()const noexcept{return op2jit_items;}\n" \
  "constexpr const T*end()const noexcept{return op2jit_items+op2jit_count;}};\n" \
  "#else\nusing ::std::initializer_list;\n" /* this may be a namespace within another */ \
  "#endif\n" \
  "template<class T>constexpr T min(initializer_list<T> l){const T*b=l.begin();\n" \
  "for(const T*i=b;i!=l.end();++i)if(*i<*b)b=i;return *b;}\n" \
  "template<class T>constexpr T max(initializer_list<T> l){const T*b=l.begin();\n" \
  "for(const T*i=b;i!=l.end();++i)if(*b<*i)b=i;return *b;}\n" \
  "template<class T>constexpr const T&min(const T&a,const T&b){return b<a?b:a;}\n" \
  "template<class T>constexpr const T&max(const T&a,const T&b){return a<b?b:a;}\n" \
  "template<class T,class C>constexpr const T&min(const T&a,const T&b,C c){return c(b,a)?b:a;}\n" \
  "template<class T,class C>constexpr const T&max(const T&a,const T&b,C c){return c(a,b)?b:a;}\n" \
  "template<class T>constexpr const T&clamp(const T&x,const T&a,const T&b){return x<a?a:b<x?b:x;}\n" \
  "template<class T>constexpr void swap(T&a,T&b){T c=a;a=b;b=c;}\n" \
  "template<class T,size_t n>struct array{typedef T value_type;typedef T*iterator;typedef const T*const_iterator;\n" \
  "T op2jit_items[n];\n" \
  "constexpr T&operator[](size_t i){return op2jit_items[i];}\n" \
  "constexpr const T&operator[](size_t i)const{return op2jit_items[i];}\n" \
  "constexpr T&front(){return op2jit_items[0];}constexpr T&back(){return op2jit_items[n-1];}\n" \
  "constexpr T*data(){return op2jit_items;}constexpr const T*data()const{return op2jit_items;}\n" \
  "constexpr T*begin(){return op2jit_items;}constexpr const T*begin()const{return op2jit_items;}\n" \
  "constexpr T*end(){return op2jit_items+n;}constexpr const T*end()const{return op2jit_items+n;}\n" \
  "constexpr size_t size()const{return n;}\n" \
  "constexpr void fill(const T&x){for(size_t i=0;i<n;i++)op2jit_items[i]=x;}};\n"
#define CXX_LIMITS \
  "template<class T>struct numeric_limits{static constexpr bool is_specialized=false;};\n" \
  LIMITS("double", "true", "0x1p-1022", "0x1.fffffffffffffp1023", "-0x1.fffffffffffffp1023", "0x1p-52", "53", "false", "true") \
  LIMITS("float", "true", "0x1p-126f", "0x1.fffffep127f", "-0x1.fffffep127f", "0x1p-23f", "24", "false", "true") \
  WHOLE("int", "-2147483647-1", "2147483647", "31", "true") WHOLE("unsigned", "0", "4294967295U", "32", "false") \
  WHOLE("long", "-9223372036854775807L-1", "9223372036854775807L", "63", "true") \
  WHOLE("unsigned long", "0", "18446744073709551615UL", "64", "false") \
  WHOLE("long long", "-9223372036854775807LL-1", "9223372036854775807LL", "63", "true") \
  WHOLE("unsigned long long", "0", "18446744073709551615ULL", "64", "false") \
  WHOLE("short", "-32768", "32767", "15", "true") WHOLE("bool", "false", "true", "1", "false")
/* clang-format on */

#endif
