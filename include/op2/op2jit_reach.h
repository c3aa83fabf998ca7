/* How each argument of a kernel is reached, for op_seq.h: a struct of each kind, for a parameter of type P. What
 * every call of the kernel needs of the frame is read once for each range. at(e, line) is the pointer that the
 * kernel gets for element e, whose rows of maps begin at `line` if all are equally long, after(e) what is left to
 * do behind it, end() what is left at the end. Programs use nothing of it. */
#ifndef OP2JIT_REACH_H
#define OP2JIT_REACH_H

#include "op_lib_cpp.h"

#include <cmath>

#if defined(__GNUC__)
#define OP2JIT_APART_ __attribute__((noinline))
#else
#define OP2JIT_APART_
#endif

/* For op_arg_idx: the element's own number. */
enum { OP2JIT_OWN = -1 };

struct op2jit_frame {
  void *const *slots;
  const op2jit_placed *places;
  char *scratch;

  template <class T> T *slot(int i) const {
    return static_cast<T *>(slots[i]);
  }
};

template <class P> struct op2jit_pointed {
  typedef typename std::remove_pointer<P>::type type;
  typedef typename std::remove_cv<type>::type plain;
};

/* Facts that are known where a loop is written: an argument's kind; its dim and, of a dat, the index, of a global, the
 * access, where they are constants, else 0; of a loop, whether an argument is a payload, and whether all maps'
 * rows are equally long. */
template <int kind_, int dim_ = 0, int more_ = 0> struct op2jit_shape {
  static constexpr int kind = kind_, dim = dim_, more = more_;
};
template <bool pays_, bool even_> struct op2jit_whole { static constexpr bool pays = pays_, even = even_; };

/* Rows of values, one behind the other. What is of no type that the library knows is reached by its bytes. */
template <class T, int known> struct op2jit_rows {
  typedef typename std::remove_cv<T>::type U;
  static constexpr bool is_named = op2jit_named(static_cast<U *>(nullptr))[0] != 0;
  T *first;
  long step;
  op2jit_rows(const op2jit_frame &f, const op2jit_placed &place)
      : first(f.slot<T>(place.base)), step(is_named ? place.dim : place.bytes) {
  }
  T *at(long row) const {
    return is_named
               ? first + row * (known ? known : step)
               : reinterpret_cast<T *>(reinterpret_cast<size_t>(first) + static_cast<size_t>(row * step));
  }
};

/* ---- an extremum and the payload of the element that has it ---- */

/* The value just worse than `now`: a kernel that gets it tells of equal values, too. */
template <class U, bool is_real, bool is_number> struct op2jit_worse {
  typedef typename std::conditional<sizeof(U) == sizeof(int), int, long long>::type bits_of;
  static U than(U now, U, bool least) {
    bits_of bits = 0;
    if (sizeof(U) > sizeof bits)
      return std::nextafter(now, (least ? 1 : -1) * std::numeric_limits<U>::infinity());
    if (!(now < 0 || now > 0))
      return (least ? 1 : -1) * std::numeric_limits<U>::denorm_min();
    /* A real number's bits as a whole number: the next is the next real number, away from zero. */
    memcpy(&bits, &now, sizeof bits);
    bits += (now > 0) == least ? 1 : -1;
    memcpy(&now, &bits, sizeof bits);
    return now;
  }
};
template <class U> struct op2jit_worse<U, false, true> {
  static U than(U now, U, bool least) {
    return static_cast<U>(least ? now + 1 : now - 1);
  }
};
template <class U> struct op2jit_worse<U, false, false> {
  static U than(U, U start, bool) {
    return start;
  }
};

/* A range needs of it one value that fits a register; the rest is found again by the few elements that
 * tell. */
template <class U, bool is_number = std::is_arithmetic<U>::value> struct op2jit_extremum {
  const op2jit_placed *place; /* NULL: this is none with a payload */
  U given;                    /* what the kernel gets */
  op2jit_extremum(const op2jit_frame &, int) : place(nullptr), given() {
  }
  void after(const op2jit_frame &, long, const U &) {
  }
};
template <class U> struct op2jit_extremum<U, true> {
  const op2jit_placed *place;
  U given;

  op2jit_extremum(const op2jit_frame &f, int i)
      : place(f.places[i].payload < 0 ? nullptr : f.places + i), given() {
    if (place)
      given = give(f, place);
  }
  void after(const op2jit_frame &f, long e, U value) {
    if (!(value == given))
      given = offer(f, place, e, value);
  }

private:
  typedef op2jit_worse<U, std::is_floating_point<U>::value,
                       std::is_integral<U>::value && !std::is_same<U, bool>::value>
      worse;
  static op2jit_won *won_of(const op2jit_frame &f, const op2jit_placed *place) {
    return f.slot<op2jit_won>(f.places[place->payload].base);
  }
  static U give(const op2jit_frame &f, const op2jit_placed *place) {
    const U start = *f.slot<const U>(place->start);
    return won_of(f, place)->element < 0
               ? start
               : worse::than(*f.slot<U>(place->base), start, place->access == OP_MIN);
  }
  /* The lowest element of those that have the best value wins, in whatever order they come. */
  OP2JIT_APART_ static U offer(const op2jit_frame &f, const op2jit_placed *place, long e, U value) {
    const op2jit_placed *payload = f.places + place->payload;
    const int *numbers = f.slot<const int>(place->numbers);
    const long long number = numbers ? numbers[e] : e;
    U *best = f.slot<U>(place->base);
    op2jit_won *won = won_of(f, place);
    const bool better = place->access == OP_MIN ? value < *best : *best < value;
    if (better || (value == *best && number < won->element)) {
      *best = value;
      won->element = number;
      memcpy(static_cast<void *>(won + 1), f.scratch + payload->scratch, static_cast<size_t>(payload->bytes));
    }
    return give(f, place);
  }
};

/* ---- any kind, found out when the loop runs ---- */

template <class P, class Whole, class Shape, int kind = Shape::kind> struct op2jit_reach {
  typedef typename op2jit_pointed<P>::type T;
  typedef typename op2jit_pointed<P>::plain U;
  const op2jit_placed *place;
  const op2jit_frame &frame;
  op2jit_rows<T, 0> rows;
  const int *map;
  char *scratch;
  op2jit_extremum<U> extremum;

  op2jit_reach(const op2jit_frame &f, int i)
      : place(f.places + i), frame(f), rows(f, *place),
        map(place->map < 0 ? nullptr : f.slot<const int>(place->map) + place->column),
        scratch(f.scratch + place->scratch), extremum(f, i) {
    if (place->kind == OP2JIT_PAYLOAD)
      memcpy(scratch, f.slot<const op2jit_won>(place->base) + 1, static_cast<size_t>(place->bytes));
  }
  P at(long e, long) {
    switch (place->kind) {
    case OP2JIT_DIRECT: return rows.at(e);
    case OP2JIT_MAPPED: return rows.at(map[e * place->arity]);
    case OP2JIT_GLOBAL:
      if (!extremum.place)
        return rows.first;
      memcpy(scratch, &extremum.given, sizeof(U));
      return own();
    case OP2JIT_WORK:
      if (rows.first)
        memcpy(scratch, rows.first, static_cast<size_t>(place->bytes));
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
    if (extremum.place)
      extremum.after(frame, e, *reinterpret_cast<const U *>(scratch));
  }
  void end() {
  }
  P own() {
    return reinterpret_cast<P>(scratch);
  }
};

/* ---- elements ---- */

/* For most kinds nothing is left to do. */
struct op2jit_reach_nothing_left {
  void after(long) {
  }
  void end() {
  }
};

template <class P, class Whole, class Shape>
struct op2jit_reach<P, Whole, Shape, OP2JIT_DIRECT> : op2jit_reach_nothing_left {
  op2jit_rows<typename op2jit_pointed<P>::type, Shape::dim> rows;
  op2jit_reach(const op2jit_frame &f, int i) : rows(f, f.places[i]) {
  }
  P at(long e, long) {
    return rows.at(e);
  }
};

template <class P, class Whole, class Shape>
struct op2jit_reach<P, Whole, Shape, OP2JIT_MAPPED> : op2jit_reach_nothing_left {
  op2jit_rows<typename op2jit_pointed<P>::type, Shape::dim> rows;
  const int *map;
  long arity;
  op2jit_reach(const op2jit_frame &f, int i)
      : rows(f, f.places[i]), map(f.slot<const int>(f.places[i].map) + f.places[i].column),
        arity(f.places[i].arity) {
  }
  P at(long e, long line) {
    return rows.at(map[Whole::even ? line : e * arity]);
  }
};

/* All targets of a map, or none: P is T **. */
template <class P, class Whole, class Shape>
struct op2jit_reach<P, Whole, Shape, OP2JIT_VECTOR> : op2jit_reach_nothing_left {
  typedef typename op2jit_pointed<P>::plain pointer;
  typedef typename std::remove_pointer<pointer>::type T;
  static constexpr int known = Shape::more < -1 ? -Shape::more : 0;
  pointer targets[known ? known : static_cast<int>(OP2JIT_WIDEST)];
  op2jit_rows<T, Shape::dim> rows;
  const int *map;
  int arity;
  op2jit_reach(const op2jit_frame &f, int i) : rows(f, f.places[i]), map(nullptr), arity(f.places[i].arity) {
    if (f.places[i].kind == OP2JIT_VECTOR)
      map = f.slot<const int>(f.places[i].map);
  }
  P at(long e, long) {
    for (int n = 0; map && n < (known ? known : arity); n++)
      targets[n] = rows.at(map[e * (known ? known : arity) + n]);
    return targets;
  }
};

template <class P, class Whole, class Shape>
struct op2jit_reach<P, Whole, Shape, OP2JIT_NUMBER> : op2jit_reach_nothing_left {
  const int *map;
  long arity;
  int number;
  op2jit_reach(const op2jit_frame &f, int i) : map(nullptr), arity(f.places[i].arity), number(0) {
    if (f.places[i].map >= 0)
      map = f.slot<const int>(f.places[i].map) + f.places[i].column;
  }
  P at(long e, long) {
    number = Shape::more == OP2JIT_OWN || !map ? static_cast<int>(e) : map[e * arity];
    return reinterpret_cast<P>(&number);
  }
};

/* ---- globals: a few values, which the compiler may keep in registers, or what is in memory ---- */

template <int n> struct op2jit_few {
  template <class U> static void copy(U *to, const U *from) {
    op2jit_few<n - 1>::copy(to, from);
    to[n - 1] = from[n - 1];
  }
};
template <> struct op2jit_few<0> {
  template <class U> static void copy(U *, const U *) {
  }
};

template <class P, int dim, int access, bool pays> struct op2jit_reach_global {
  typedef typename op2jit_pointed<P>::plain U;
  U near[dim];
  U *far;
  bool writes;
  op2jit_reach_global(const op2jit_frame &f, int i)
      : far(f.slot<U>(f.places[i].base)), writes((access ? access : f.places[i].access) != OP_READ) {
    op2jit_few<dim>::copy(near, far);
  }
  P at() {
    return near;
  }
  void after(long) {
  }
  void end() {
    if (writes)
      op2jit_few<dim>::copy(far, near);
  }
};
template <class P, int access, bool pays>
struct op2jit_reach_global<P, 0, access, pays> : op2jit_reach_nothing_left {
  typedef typename op2jit_pointed<P>::type T;
  T *far;
  op2jit_reach_global(const op2jit_frame &f, int i) : far(f.slot<T>(f.places[i].base)) {
  }
  P at() {
    return far;
  }
};
/* One value that may be an extremum with a payload. */
template <class P, int access> struct op2jit_reach_global<P, 1, access, true> {
  typedef typename op2jit_pointed<P>::plain U;
  const op2jit_frame &frame;
  U near[1];
  U *far;
  op2jit_extremum<U> extremum;
  bool writes;
  op2jit_reach_global(const op2jit_frame &f, int i)
      : frame(f), far(f.slot<U>(f.places[i].base)), extremum(f, i),
        writes((access ? access : f.places[i].access) != OP_READ && !extremum.place) {
    near[0] = extremum.place ? extremum.given : *far;
  }
  P at() {
    return near;
  }
  void after(long e) {
    if (extremum.place) {
      extremum.after(frame, e, near[0]);
      near[0] = extremum.given;
    }
  }
  void end() {
    if (writes)
      *far = near[0];
  }
};

template <class P, class Whole, class Shape> struct op2jit_reach_global_of {
  typedef op2jit_reach_global<P, (Shape::dim <= OP2JIT_NEAR ? Shape::dim : 0), Shape::more,
                              Whole::pays &&
                                  (Shape::more == 0 || Shape::more == OP_MIN || Shape::more == OP_MAX)>
      type;
};
template <class P, class Whole, class Shape>
struct op2jit_reach<P, Whole, Shape, OP2JIT_GLOBAL> : op2jit_reach_global_of<P, Whole, Shape>::type {
  typedef typename op2jit_reach_global_of<P, Whole, Shape>::type base;
  op2jit_reach(const op2jit_frame &f, int i) : base(f, i) {
  }
  P at(long, long) {
    return base::at();
  }
};

template <class P, class Whole, class Shape>
struct op2jit_reach<P, Whole, Shape, OP2JIT_PAYLOAD> : op2jit_reach_nothing_left {
  char *scratch;
  op2jit_reach(const op2jit_frame &f, int i) : scratch(f.scratch + f.places[i].scratch) {
    memcpy(scratch, f.slot<const op2jit_won>(f.places[i].base) + 1, static_cast<size_t>(f.places[i].bytes));
  }
  P at(long, long) {
    return reinterpret_cast<P>(scratch);
  }
};

#endif
