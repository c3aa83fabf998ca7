/* op_par_loop as OP2's C++ has it: the kernel is a function of the program. The templates here make of it
 * functions that work on a range of elements, with the kernel inlined, in the program's own unit; the library runs
 * them as it runs generated code. */
#ifndef OP_SEQ_H
#define OP_SEQ_H

#include "op_hdf5.h"
#include "op_lib_cpp.h"
#include "op_rt_support.h"

#include <utility>

static int op2_stride OP2JIT_UNUSED_ = 1;
#define OP2_STRIDE(array, index) (array)[index]

#if defined(__GNUC__)
#define OP2JIT_FLATTEN_ __attribute__((flatten))
#else
#define OP2JIT_FLATTEN_
#endif

/* ---- how an argument is reached: one struct of each kind, for a parameter of type P; what every call of the
 * kernel needs of the frame is read once for each range. at(e) is the pointer that the kernel gets for element e,
 * after(e) what is left to do behind it, end() what is left at the end. ---- */

struct op2jit_frame {
  void *const *slots;
  const op2jit_place *places;
  char *scratch;
};

template <class P> struct op2jit_pointed {
  typedef typename std::remove_pointer<P>::type type;
  typedef typename std::remove_cv<type>::type plain;
};

/* Any kind, found out when the loop runs. */
template <int kind, class P> struct op2jit_reach {
  typedef typename op2jit_pointed<P>::type T;
  typedef typename op2jit_pointed<P>::plain U;
  const op2jit_place *place;
  T *base;
  const int *map, *numbers;
  const U *start;
  char *scratch;
  op2jit_won *won;
  const char *payload;
  long payload_bytes;

  op2jit_reach(const op2jit_frame &f, int i)
      : place(f.places + i), base(static_cast<T *>(f.slots[place->base])),
        map(place->map < 0 ? nullptr : static_cast<const int *>(f.slots[place->map]) + place->column),
        numbers(static_cast<const int *>(f.slots[place->numbers])),
        start(static_cast<const U *>(f.slots[place->start])), scratch(f.scratch + place->scratch),
        won(nullptr), payload(nullptr), payload_bytes(0) {
    if (place->kind == OP2JIT_GLOBAL && place->payload >= 0) {
      const op2jit_place *other = f.places + place->payload;
      won = static_cast<op2jit_won *>(f.slots[other->base]);
      payload = f.scratch + other->scratch;
      payload_bytes = other->bytes;
    }
    if (place->kind == OP2JIT_PAYLOAD)
      memcpy(scratch, static_cast<const op2jit_won *>(f.slots[place->base]) + 1,
             static_cast<size_t>(place->bytes));
  }
  P at(long e) {
    switch (place->kind) {
    case OP2JIT_DIRECT: return base + e * place->dim;
    case OP2JIT_MAPPED: return base + static_cast<long>(map[e * place->arity]) * place->dim;
    case OP2JIT_GLOBAL:
      if (!won)
        return base;
      memcpy(scratch, start, sizeof(U));
      return own();
    case OP2JIT_WORK:
      if (base)
        memcpy(scratch, base, static_cast<size_t>(place->bytes));
      return own();
    case OP2JIT_NUMBER:
      for (int n = 0; n < place->dim; n++)
        reinterpret_cast<int *>(scratch)[n] = map ? map[e * place->arity + n] : static_cast<int>(e);
      return own();
    case OP2JIT_PAYLOAD: return own();
    default: return nullptr;
    }
  }
  void after(long e) {
    if (won)
      offer(e, *reinterpret_cast<const U *>(scratch));
  }
  void end() {
  }

  P own() {
    return reinterpret_cast<P>(scratch);
  }
  void offer(long e, U value) {
    U *best = const_cast<U *>(base);
    const long long number = numbers ? numbers[e] : e;
    const bool better = place->access == OP_MIN ? value < *best : *best < value;
    if (!better && !(value == *best && number < won->element))
      return;
    *best = value;
    won->element = number;
    memcpy(static_cast<void *>(won + 1), payload, static_cast<size_t>(payload_bytes));
  }
};

template <class P> struct op2jit_reach<OP2JIT_DIRECT, P> {
  typedef typename op2jit_pointed<P>::type T;
  T *base;
  long dim;
  op2jit_reach(const op2jit_frame &f, int i)
      : base(static_cast<T *>(f.slots[f.places[i].base])), dim(f.places[i].dim) {
  }
  P at(long e) {
    return base + e * dim;
  }
  void after(long) {
  }
  void end() {
  }
};

template <class P> struct op2jit_reach<OP2JIT_MAPPED, P> {
  typedef typename op2jit_pointed<P>::type T;
  T *base;
  const int *map;
  long arity, dim;
  op2jit_reach(const op2jit_frame &f, int i)
      : base(static_cast<T *>(f.slots[f.places[i].base])),
        map(static_cast<const int *>(f.slots[f.places[i].map]) + f.places[i].column),
        arity(f.places[i].arity), dim(f.places[i].dim) {
  }
  P at(long e) {
    return base + map[e * arity] * dim;
  }
  void after(long) {
  }
  void end() {
  }
};

/* All targets of a map, or none: P is T **. */
template <class P> struct op2jit_reach<OP2JIT_VECTOR, P> {
  typedef typename op2jit_pointed<P>::plain row;
  typedef typename std::remove_pointer<row>::type T;
  row rows[OP2JIT_WIDEST];
  T *base;
  const int *map;
  long dim;
  int arity, used;
  op2jit_reach(const op2jit_frame &f, int i)
      : base(static_cast<T *>(f.slots[f.places[i].base])), map(nullptr), dim(f.places[i].dim),
        arity(f.places[i].arity), used(f.places[i].kind == OP2JIT_VECTOR ? arity : 0) {
    if (used)
      map = static_cast<const int *>(f.slots[f.places[i].map]);
  }
  P at(long e) {
    for (int n = 0; n < used; n++)
      rows[n] = base + map[e * arity + n] * dim;
    return rows;
  }
  void after(long) {
  }
  void end() {
  }
};

/* A few values, which the compiler may keep in registers. */
template <class P> struct op2jit_reach<OP2JIT_GLOBAL, P> {
  typedef typename op2jit_pointed<P>::type T;
  typedef typename op2jit_pointed<P>::plain U;
  op2jit_reach<OP2JIT_ABSENT, P> slow; /* of an extremum with a payload */
  U near[OP2JIT_NEAR];
  U *far;
  int dim;
  bool pays, writes;
  op2jit_reach(const op2jit_frame &f, int i)
      : slow(f, i), far(static_cast<U *>(f.slots[f.places[i].base])), dim(f.places[i].dim),
        pays(f.places[i].payload >= 0), writes(f.places[i].access != OP_READ) {
    near[0] = far[0];
    near[1] = far[dim > 1 ? 1 : 0];
    near[2] = far[dim > 2 ? 2 : 0];
    near[3] = far[dim > 3 ? 3 : 0];
    near[4] = far[dim > 4 ? 4 : 0];
    near[5] = far[dim > 5 ? 5 : 0];
    near[6] = far[dim > 6 ? 6 : 0];
    near[7] = far[dim > 7 ? 7 : 0];
  }
  P at(long) {
    if (pays)
      near[0] = *slow.start;
    return near;
  }
  void after(long e) {
    if (pays)
      slow.offer(e, near[0]);
  }
  void end() {
    if (!writes || pays)
      return;
    far[0] = near[0];
    if (dim > 1)
      far[1] = near[1];
    if (dim > 2)
      far[2] = near[2];
    if (dim > 3)
      far[3] = near[3];
    if (dim > 4)
      far[4] = near[4];
    if (dim > 5)
      far[5] = near[5];
    if (dim > 6)
      far[6] = near[6];
    if (dim > 7)
      far[7] = near[7];
  }
};

template <class P> struct op2jit_reach<OP2JIT_NUMBER, P> {
  const int *map;
  long arity;
  int number;
  op2jit_reach(const op2jit_frame &f, int i) : map(nullptr), arity(f.places[i].arity), number(0) {
    if (f.places[i].map >= 0)
      map = static_cast<const int *>(f.slots[f.places[i].map]) + f.places[i].column;
  }
  P at(long e) {
    number = map ? map[e * arity] : static_cast<int>(e);
    return reinterpret_cast<P>(&number);
  }
  void after(long) {
  }
  void end() {
  }
};

/* ---- which kind an argument is of: as its type says, but pointers to pointers are vectors ---- */

template <int kind> struct op2jit_as : std::integral_constant<int, kind> {};
template <class A> struct op2jit_kind_said : op2jit_as<OP2JIT_ABSENT> {};
template <int kind> struct op2jit_kind_said<op2jit_said<kind>> : op2jit_as<kind> {};
template <class P, class A>
struct op2jit_kind_of
    : op2jit_as<std::is_pointer<typename op2jit_pointed<P>::type>::value ? static_cast<int>(OP2JIT_VECTOR)
                                                                         : op2jit_kind_said<A>::value> {};
template <class T> struct op2jit_depth_of : std::integral_constant<int, 0> {};
template <class T>
struct op2jit_depth_of<T *>
    : std::integral_constant<int, 1 + op2jit_depth_of<typename std::remove_cv<T>::type>::value> {};
/* What a pointer, or a pointer to pointers, points to in the end. */
template <class T> struct op2jit_end_of { typedef T type; };
template <class T> struct op2jit_end_of<T *> {
  typedef
      typename op2jit_end_of<typename std::conditional<std::is_pointer<T>::value,
                                                       typename std::remove_cv<T>::type, T>::type>::type type;
};

/* ---- the kernel over a range ---- */

template <class K, bool listed, class... Reach>
OP2JIT_FLATTEN_ void op2jit_walk(const int *list, long begin, long end, Reach... args) {
  for (long n = begin; n < end; n++) {
    const long e = listed ? list[n] : n;
    K::value(args.at(e)...);
    const int done[] = {(args.after(e), 0)...};
    (void)done;
  }
  const int done[] = {(args.end(), 0)...};
  (void)done;
}

template <class... P> struct op2jit_types {};
template <class... P> op2jit_types<P...> op2jit_types_of(void (*)(P...));
template <class... P> constexpr auto op2jit_function(void (*kernel)(P...)) -> decltype(kernel);

template <int... i> struct op2jit_numbers {};
template <int n, int... i> struct op2jit_count : op2jit_count<n - 1, n - 1, i...> {};
template <int... i> struct op2jit_count<0, i...> { typedef op2jit_numbers<i...> type; };

/* One kernel with arguments of these kinds. */
template <class K, class Types, class... Kinds> struct op2jit_loop;
template <class K, class... P, class... Kinds> struct op2jit_loop<K, op2jit_types<P...>, Kinds...> {
  template <bool listed, bool fast, int... i>
  static void run(op2jit_numbers<i...>, void *const *slots, const int *list, long begin, long end) {
    const op2jit_place *places = static_cast<const op2jit_place *>(slots[0]);
    enum { LINE = 64 };
    char *room =
        static_cast<char *>(__builtin_alloca(static_cast<size_t>(places[sizeof...(P)].scratch) + LINE));
    room += (LINE - reinterpret_cast<size_t>(room) % LINE) % LINE;
    const op2jit_frame frame = {slots, places, room};
    op2jit_walk<K, listed>(list, begin, end,
                           op2jit_reach < fast || Kinds::value == static_cast<int>(OP2JIT_VECTOR)
                               ? Kinds::value
                               : static_cast<int>(OP2JIT_ABSENT),
                           P > (frame, i)...);
  }
  template <bool listed, bool fast>
  /* An exception cannot pass the library, which is C: it ends the program. */
  static void range(void *const *slots, const int *list, long begin, long end) noexcept {
    run<listed, fast>(typename op2jit_count<sizeof...(P)>::type(), slots, list, begin, end);
  }
  static const op2jit_compiled *compiled() {
    static const unsigned char kinds[] = {static_cast<unsigned char>(Kinds::value)...};
    static const op2jit_parameter parameters[] = {
        {op2jit_named(static_cast<typename op2jit_end_of<P>::type *>(nullptr)),
         std::is_const<typename op2jit_end_of<P>::type>::value, op2jit_depth_of<P>::value}...};
    static const op2jit_compiled all = {sizeof(op2jit_compiled),
                                        static_cast<int>(sizeof...(P)),
                                        reinterpret_cast<op_kernel_function>(K::value),
                                        {range<false, true>, range<true, true>},
                                        {range<false, false>, range<true, false>},
                                        kinds,
                                        parameters};
    return &all;
  }
};

template <class K, class... P, class... Args>
inline void op2jit_run(const char *file, int line, op2jit_types<P...>, const char *name, op_set set,
                       Args... args) {
  static_assert(sizeof...(P) == sizeof...(Args), "a kernel has one parameter for each argument of the loop");
  static_assert(sizeof...(Args) <= OP_MAX_ARGS, "a loop has at most OP_MAX_ARGS arguments");
  const op_arg list[] = {args...};
  op2jit_par_loop_compiled(
      op2jit_loop<K, op2jit_types<P...>, op2jit_as<op2jit_kind_of<P, Args>::value>...>::compiled(), name, set,
      static_cast<int>(sizeof...(Args)), list, file, line);
}

#define op_par_loop(kernel, ...)                                                                             \
  op2jit_run<std::integral_constant<decltype(op2jit_function(kernel)), (kernel)>>(                           \
      __FILE__, __LINE__, decltype(op2jit_types_of(kernel))(), __VA_ARGS__)

#endif
