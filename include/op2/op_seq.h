/* op_par_loop as OP2's C++ has it: the kernel is a function of the program. The templates here make of it
 * functions that work on a range of elements, with the kernel inlined, in the program's own unit; the library runs
 * them as it runs generated code. */
#ifndef OP_SEQ_H
#define OP_SEQ_H

#include "op_hdf5.h"
#include "op_lib_cpp.h"
#include "op_rt_support.h"

static int op2_stride OP2JIT_UNUSED_ = 1;
#define OP2_STRIDE(array, index) (array)[index]

#ifdef OP2JIT_READING
/* The library reads the unit for the texts of its kernels, see jit/texts.h. */
template <class... P> void op2jit_kernel_is(const char *, void (*)(P...));
#define op_par_loop(kernel, ...) op2jit_kernel_is(#kernel, kernel)
#else

#include "op2jit_reach.h"
#include "op2jit_when.h"

#include <utility>

#if defined(__GNUC__)
#define OP2JIT_FLATTEN_ __attribute__((flatten))
#else
#define OP2JIT_FLATTEN_
#endif

/* ---- which kind an argument is of: as its type says, but pointers to pointers are vectors ---- */

template <class A> struct op2jit_shape_said { typedef op2jit_shape<OP2JIT_ABSENT> type; };
template <int kind, int dim, int more> struct op2jit_shape_said<op2jit_said<kind, dim, more>> {
  typedef op2jit_shape<kind, dim, more> type;
};
template <class P, class A> struct op2jit_shape_of {
  typedef typename op2jit_shape_said<A>::type said;
  typedef typename std::conditional<std::is_pointer<typename op2jit_pointed<P>::type>::value,
                                    op2jit_shape<OP2JIT_VECTOR, said::dim, said::more>, said>::type type;
};
/* The kind that it is taken for where it may be of another. */
template <class Shape>
using op2jit_unsure =
    typename std::conditional<Shape::kind == OP2JIT_VECTOR, Shape, op2jit_shape<OP2JIT_ABSENT>>::type;

template <int kind, class... Shapes> struct op2jit_has : std::false_type {};
template <int kind, class Shape, class... Rest>
struct op2jit_has<kind, Shape, Rest...>
    : std::integral_constant<bool, Shape::kind == kind || op2jit_has<kind, Rest...>::value> {};

template <class T> struct op2jit_depth_of : std::integral_constant<int, 0> {};
template <class T>
struct op2jit_depth_of<T *>
    : std::integral_constant<int, 1 + op2jit_depth_of<typename std::remove_cv<T>::type>::value> {};
/* The type that a pointer, or a pointer to pointers, points to in the end. */
template <class T> struct op2jit_end_of { typedef T type; };
template <class T> struct op2jit_end_of<T *> {
  typedef
      typename op2jit_end_of<typename std::conditional<std::is_pointer<T>::value,
                                                       typename std::remove_cv<T>::type, T>::type>::type type;
};

/* ---- the kernel over a range ---- */

template <class K, bool listed, class... Reach>
OP2JIT_FLATTEN_ void op2jit_walk(const int *list, long begin, long end, long arity, Reach... args) {
  for (long n = begin; n < end; n++) {
    const long e = listed ? list[n] : n, line = e * arity;
    K::value(args.at(e, line)...);
    const int done[] = {(args.after(e), 0)...};
    (void)done;
  }
  const int done[] = {(args.end(), 0)...};
  (void)done;
}

template <class... P> struct op2jit_types {};
template <class F> struct op2jit_kernel {
  static_assert(sizeof(F) == 0, "a kernel of op_par_loop is a function with a name, which returns nothing; "
                                "a lambda, an object or another pointer is called by such a function");
};
template <class... P> struct op2jit_kernel<void (*)(P...)> {
  typedef void (*pointer)(P...);
  typedef op2jit_types<P...> types;
};
#if defined(__cpp_noexcept_function_type)
template <class... P> struct op2jit_kernel<void (*)(P...) noexcept> : op2jit_kernel<void (*)(P...)> {};
#endif
template <class F> typename op2jit_kernel<F>::pointer op2jit_function(F);
template <class F> typename op2jit_kernel<F>::types op2jit_types_of(F);

template <int... i> struct op2jit_numbers {};
template <int n, int... i> struct op2jit_count : op2jit_count<n - 1, n - 1, i...> {};
template <int... i> struct op2jit_count<0, i...> { typedef op2jit_numbers<i...> type; };

/* One kernel with arguments of these shapes. */
template <class K, class Types, class... Shapes> struct op2jit_loop;
template <class K, class... P, class... Shapes> struct op2jit_loop<K, op2jit_types<P...>, Shapes...> {
  template <bool listed, class Whole, class... As, int... i>
  static void run(op2jit_numbers<i...>, void *const *slots, const int *list, long begin, long end) {
    const op2jit_placed *places = static_cast<const op2jit_placed *>(slots[0]);
    enum { LINE = 64 };
    char *room =
        static_cast<char *>(__builtin_alloca(static_cast<size_t>(places[sizeof...(P)].scratch) + LINE));
    room += (LINE - reinterpret_cast<size_t>(room) % LINE) % LINE;
    const op2jit_frame frame = {slots, places, room};
    op2jit_walk<K, listed>(list, begin, end, places[sizeof...(P)].arity,
                           op2jit_reach<P, Whole, As>(frame, i)...);
  }
  /* An exception cannot pass the library, which is C: it ends the program. */
  template <bool listed, class Whole, class... As>
  static void range(void *const *slots, const int *list, long begin, long end) noexcept {
    run<listed, Whole, As...>(typename op2jit_count<sizeof...(P)>::type(), slots, list, begin, end);
  }
  static const op2jit_compiled *compiled() {
    static constexpr bool pays = op2jit_has<OP2JIT_PAYLOAD, Shapes...>::value;
    typedef op2jit_whole<pays, op2jit_has<OP2JIT_MAPPED, Shapes...>::value> even;
    typedef op2jit_whole<pays, false> fast;
    typedef op2jit_whole<true, false> any;
    static const unsigned char kinds[] = {static_cast<unsigned char>(Shapes::kind)...};
    static const op2jit_parameter parameters[] = {
        {op2jit_named(static_cast<typename op2jit_end_of<P>::type *>(nullptr)),
         std::is_const<typename op2jit_end_of<P>::type>::value, op2jit_depth_of<P>::value}...};
    static const op2jit_compiled all = {
        sizeof(op2jit_compiled) + sizeof(op2jit_origin),
        static_cast<int>(sizeof...(P)),
        reinterpret_cast<op_kernel_function>(K::value),
        {range<false, even, Shapes...>, range<true, even, Shapes...>},
        {range<false, fast, Shapes...>, range<true, fast, Shapes...>},
        {range<false, any, op2jit_unsure<Shapes>...>, range<true, any, op2jit_unsure<Shapes>...>},
        kinds,
        parameters,
        0,
        0};
    return &all;
  }
};

template <class K, class... P, class... Args>
inline void op2jit_run(op2jit_origin origin, op2jit_types<P...>, const char *name, op_set set, Args... args) {
  static_assert(sizeof...(P) == sizeof...(Args), "a kernel has one parameter for each argument of the loop");
  static_assert(sizeof...(Args) <= OP_MAX_ARGS, "a loop has at most OP_MAX_ARGS arguments");
  const op_arg list[] = {args...};
  op2jit_par_loop_compiled(
      op2jit_loop<K, op2jit_types<P...>, typename op2jit_shape_of<P, Args>::type...>::compiled(), name, set,
      static_cast<int>(sizeof...(Args)), list, &origin);
}

#if defined(__ELF__)
/* Texts that op2jit-c++ put into this file of the program: the linker says where they begin and end. */
extern "C" {
extern const char __start_op2jit_texts[] __attribute__((weak));
extern const char __stop_op2jit_texts[] __attribute__((weak));
}
#define OP2JIT_TEXTS_ __start_op2jit_texts, __stop_op2jit_texts
#else
#define OP2JIT_TEXTS_ nullptr, nullptr
#endif
#if defined(__GNUC__) && !defined(__clang__)
#define OP2JIT_IS_GCC_ 1
#else
#define OP2JIT_IS_GCC_ 0
#endif
/* op2jit-c++ says which texts are those of this compile: units of one name may be in one program. */
#if defined(OP2JIT_EMBEDDED)
#define OP2JIT_UNIT_ __BASE_FILE__ "#" OP2JIT_EMBEDDED
#elif defined(__BASE_FILE__)
#define OP2JIT_UNIT_ __BASE_FILE__
#else
#define OP2JIT_UNIT_ __FILE__
#endif
static constexpr const char *op2jit_headers() {
  return __FILE__;
}

#define op_par_loop(kernel, ...)                                                                             \
  op2jit_run<std::integral_constant<decltype(op2jit_function(kernel)), (kernel)>>(                           \
      op2jit_origin{#kernel, __FILE__, OP2JIT_UNIT_, op2jit_headers(), op2jit_when(), __cplusplus, __LINE__, \
                    OP2JIT_IS_GCC_, OP2JIT_TEXTS_},                                                          \
      decltype(op2jit_types_of(kernel))(), __VA_ARGS__)
#endif

#endif
