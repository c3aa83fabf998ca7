/* OP2's calls for C++: those that know the type of what a pointer points to, and arguments that know what they
 * are. */
#ifndef OP_LIB_CPP_H
#define OP_LIB_CPP_H

#include "op_lib_c.h"

#include <type_traits>

/* The name of a type as op_decl_dat takes it; "": none, or bytes of any type. */
template <class T> constexpr const char *op2jit_named(const volatile T *) {
  return "";
}
constexpr const char *op2jit_named(const volatile double *) {
  return "double";
}
constexpr const char *op2jit_named(const volatile float *) {
  return "float";
}
constexpr const char *op2jit_named(const volatile int *) {
  return "int";
}
constexpr const char *op2jit_named(const volatile unsigned *) {
  return "unsigned int";
}
constexpr const char *op2jit_named(const volatile long *) {
  return sizeof(long) == sizeof(int) ? "int" : "long long";
}
constexpr const char *op2jit_named(const volatile unsigned long *) {
  return sizeof(long) == sizeof(int) ? "unsigned int" : "unsigned long long";
}
constexpr const char *op2jit_named(const volatile long long *) {
  return "long long";
}
constexpr const char *op2jit_named(const volatile unsigned long long *) {
  return "unsigned long long";
}
constexpr const char *op2jit_named(const volatile bool *) {
  return "bool";
}
constexpr const char *op2jit_named(const volatile short *) {
  return "short";
}

/* An argument whose kind the compiler knows, and, where they are constants, else 0, its dim and `more`, which is
 * a dat's index or a global's access. What is only an op_arg is looked at when the loop runs. */
template <int kind, int dim = 0, int more = 0> struct op2jit_said : op_arg {
  op2jit_said(const op_arg &arg) : op_arg(arg) {
  }
};
template <int dim, int more, int kind>
inline op2jit_said<kind, dim, more> op2jit_knowing(const op2jit_said<kind> &arg) {
  return op2jit_said<kind, dim, more>(arg);
}
template <int, int> inline op_arg op2jit_knowing(const op_arg &arg) {
  return arg;
}
/* OP_ID: a direct argument can be told from one with a map, and it may stand wherever a map may. */
struct op2jit_identity {
  operator op_map() const {
    return &op2jit_identity_map;
  }
};
#define OP_ID (op2jit_identity())

inline op_map op2jit_map_or_identity(op_map map) {
  return map ? map : &op2jit_identity_map;
}

/* ---- declarations ---- */

template <class T>
inline op_dat op_decl_dat(op_set set, int dim, const char *type, T *data, const char *name) {
  return op2jit_decl_dat_typed(set, dim, type, data, name, op2jit_named(data));
}
inline op_dat op_decl_dat(op_set set, int dim, const char *type, std::nullptr_t, const char *name) {
  return op2jit_decl_dat_typed(set, dim, type, nullptr, name, "");
}
inline op_dat op_decl_dat_char(op_set set, int dim, const char *type, int, const char *data,
                               const char *name) {
  return op2jit_decl_dat_typed(set, dim, type, data, name, "");
}
/* A temporary begins as zeros, whatever `data` points to. */
template <class T>
inline op_dat op_decl_dat_temp(op_set set, int dim, const char *type, T *data, const char *name) {
  return op2jit_decl_dat_temp_typed(set, dim, type, nullptr, name, op2jit_named(data));
}
inline op_dat op_decl_dat_temp_char(op_set set, int dim, const char *type, int, const char *name) {
  return op2jit_decl_dat_temp_typed(set, dim, type, nullptr, name, "");
}
inline int op_free_dat_temp_char(op_dat dat) {
  return op_free_dat_temp(dat);
}
template <class T> inline int op2jit_decl_const_of(const char *text, int dim, const char *type, T *value) {
  return op2jit_op2_decl_const(text, dim, type, value, op2jit_named(value));
}
/* Kernels read the program's own variable, so it may change between loops. */
#ifdef OP2JIT_READING
template <class T> void op2jit_constant_is(T *);
#define op_decl_const(dim, type, value) op2jit_constant_is(value)
#else
#define OP2JIT_WORDS(...) #__VA_ARGS__ /* with macros replaced, as kernels have it */
#define op_decl_const(dim, type, value) op2jit_decl_const_of(OP2JIT_WORDS(value), (dim), (type), (value))
#endif
template <class T> inline void op_decl_const2(const char *name, int dim, const char *type, T *value) {
  op2jit_op2_decl_const(name, dim, type, value, op2jit_named(value));
}

/* ---- arguments ---- */

inline op2jit_said<OP2JIT_DIRECT> op_opt_arg_dat(int present, op_dat dat, int idx, op2jit_identity, int dim,
                                                 const char *type, op_access access) {
  return op2jit_opt_arg_dat(present, dat, idx, &op2jit_identity_map, dim, type,
                            static_cast<op2jit_access>(access));
}
inline op2jit_said<OP2JIT_MAPPED> op_opt_arg_dat(int present, op_dat dat, int idx, op_map map, int dim,
                                                 const char *type, op_access access) {
  return op2jit_opt_arg_dat(present, dat, idx, op2jit_map_or_identity(map), dim, type,
                            static_cast<op2jit_access>(access));
}
inline op2jit_said<OP2JIT_DIRECT> op_arg_dat(op_dat dat, int idx, op2jit_identity, int dim, const char *type,
                                             op_access access) {
  return op_opt_arg_dat(1, dat, idx, op2jit_identity(), dim, type, access);
}
inline op2jit_said<OP2JIT_MAPPED> op_arg_dat(op_dat dat, int idx, op_map map, int dim, const char *type,
                                             op_access access) {
  return op_opt_arg_dat(1, dat, idx, map, dim, type, access);
}
template <class T>
inline op2jit_said<OP2JIT_GLOBAL> op_opt_arg_gbl(int present, T *data, int dim, const char *type,
                                                 op_access access) {
  return op2jit_opt_arg_gbl_typed(present, const_cast<typename std::remove_cv<T>::type *>(data), dim, type,
                                  static_cast<op2jit_access>(access), op2jit_named(data));
}
template <class T>
inline op2jit_said<OP2JIT_GLOBAL> op_arg_gbl(T *data, int dim, const char *type, op_access access) {
  return op_opt_arg_gbl(1, data, dim, type, access);
}
inline op_arg op_arg_gbl_char(char *data, int dim, const char *type, int, op_access access) {
  return op2jit_opt_arg_gbl_typed(1, data, dim, type, static_cast<op2jit_access>(access), "");
}
template <int kind, int dim, int more>
inline op2jit_said<kind, dim, more> op2jit_arg_may_meet(op2jit_said<kind, dim, more> arg) {
  arg.may_meet_ = 1;
  return arg;
}
/* Numbers of arguments count from 0. */
template <class T>
inline op2jit_said<OP2JIT_PAYLOAD> op_arg_info(T *data, int dim, const char *type, int ref) {
  return op2jit_arg_info_typed(data, dim, type, ref + 1, op2jit_named(data));
}
inline op2jit_said<OP2JIT_NUMBER, 1, -1> op_arg_idx(int idx, op2jit_identity) {
  return op2jit_arg_idx(idx, &op2jit_identity_map);
}
inline op2jit_said<OP2JIT_NUMBER> op_arg_idx(int idx, op_map map) {
  return op2jit_arg_idx(idx, op2jit_map_or_identity(map));
}

/* Where they are constants, dims, indices and accesses are known to the loop's code. A call with more or fewer
 * words between commas, as templates have them, is passed on as it is. */
#define OP2JIT_KNOWN(value) (__builtin_constant_p(value) ? static_cast<int>(value) : 0)
#define OP2JIT_12TH(a, b, c, d, e, f, g, h, i, j, k, l, ...) l
#define OP2JIT_IF_4(yes, no, ...) OP2JIT_12TH(__VA_ARGS__, no, no, no, no, no, no, no, yes, no, no, no, )
#define OP2JIT_IF_5(yes, no, ...) OP2JIT_12TH(__VA_ARGS__, no, no, no, no, no, no, yes, no, no, no, no, )
#define OP2JIT_IF_6(yes, no, ...) OP2JIT_12TH(__VA_ARGS__, no, no, no, no, no, yes, no, no, no, no, no, )
#define OP2JIT_IF_7(yes, no, ...) OP2JIT_12TH(__VA_ARGS__, no, no, no, no, yes, no, no, no, no, no, no, )
#define OP2JIT_CALL(name, ...) name(__VA_ARGS__)
#define OP2JIT_DAT(name, dat, idx, map, dim, type, access)                                                   \
  op2jit_knowing<OP2JIT_KNOWN(dim), OP2JIT_KNOWN(idx)>(name(dat, idx, map, dim, type, access))
#define OP2JIT_OPT_DAT(name, present, dat, idx, map, dim, type, access)                                      \
  op2jit_knowing<OP2JIT_KNOWN(dim), OP2JIT_KNOWN(idx)>(name(present, dat, idx, map, dim, type, access))
#define OP2JIT_GBL(name, data, dim, type, access)                                                            \
  op2jit_knowing<OP2JIT_KNOWN(dim), OP2JIT_KNOWN(access)>(name(data, dim, type, access))
#define OP2JIT_OPT_GBL(name, present, data, dim, type, access)                                               \
  op2jit_knowing<OP2JIT_KNOWN(dim), OP2JIT_KNOWN(access)>(name(present, data, dim, type, access))
#define op_arg_dat(...) OP2JIT_IF_6(OP2JIT_DAT, OP2JIT_CALL, __VA_ARGS__)(op_arg_dat, __VA_ARGS__)
#define op_opt_arg_dat(...) OP2JIT_IF_7(OP2JIT_OPT_DAT, OP2JIT_CALL, __VA_ARGS__)(op_opt_arg_dat, __VA_ARGS__)
#define op_arg_gbl(...) OP2JIT_IF_4(OP2JIT_GBL, OP2JIT_CALL, __VA_ARGS__)(op_arg_gbl, __VA_ARGS__)
#define op_opt_arg_gbl(...) OP2JIT_IF_5(OP2JIT_OPT_GBL, OP2JIT_CALL, __VA_ARGS__)(op_opt_arg_gbl, __VA_ARGS__)

/* ---- data ---- */

template <class T> inline void op_fetch_data(op_dat dat, T *out) {
  op2jit_fetch_data_typed(dat, out, op2jit_named(out));
}
/* Elements of all ranks, on each of them. */
template <class T> inline void op_fetch_data_idx(op_dat dat, T *out, int low, int high) {
  op2jit_op2_fetch_idx(dat, out, low, high);
}

#endif
