/* The types of pointers: a part of op2jit.h, which includes it. Calls that take a pointer and a type, or a dat that has one, are these in a
 * C11 or C++ program: `is` names the type that the pointer points to, "" if it is void or none of the library's. The functions
 * under their own names compare nothing: (op_fetch_data)(dat, out). */
#ifndef OP2JIT_TYPED_H
#define OP2JIT_TYPED_H

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

op_dat op2jit_decl_dat_typed(op_set set, int dim, const char *type, const void *data, const char *name,
                             const char *is);
op_dat op2jit_decl_dat_temp_typed(op_set set, int dim, const char *type, const void *data, const char *name,
                                  const char *is);
int op2jit_decl_const_typed(const char *name, int dim, const char *type, const void *value, const char *is);
int op2jit_update_const_typed(const char *name, const void *value, const char *is);
op_arg op2jit_arg_gbl_typed(void *data, int dim, const char *type, op_access access, const char *is);
op_arg op2jit_opt_arg_gbl_typed(int present, void *data, int dim, const char *type, op_access access,
                                const char *is);
op_arg op2jit_arg_info_typed(void *payload, int dim, const char *type, int ref, const char *is);
int op2jit_fetch_data_typed(op_dat dat, void *out, const char *is);
int op2jit_fetch_data_idx_typed(op_dat dat, void *out, int low, int high, const char *is);
int op2jit_put_data_typed(op_dat dat, const void *in, const char *is);
int op2jit_get_const_hdf5_typed(const char *name, int dim, const char *type, void *value, const char *file,
                                const char *is);
int op2jit_write_const_hdf5_typed(const char *name, int dim, const char *type, const void *value,
                                  const char *file, const char *is);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
} /* extern "C" */
#endif

#define OP2JIT_LONG_ (sizeof(long) == sizeof(int) ? "int" : "long long")
#define OP2JIT_UNSIGNED_LONG_ (sizeof(long) == sizeof(int) ? "unsigned int" : "unsigned long long")
/* cppcheck cannot read _Generic inside a call: give it -D__CPPCHECK__ for programs that include this. */
#if !defined(__cplusplus) && !defined(__CPPCHECK__) && defined(__STDC_VERSION__) &&                          \
    __STDC_VERSION__ >= 201112L
#define OP2JIT_IS_(T, name) T * : name, const T * : name
#define OP2JIT_TYPE_AT_(pointer)                                                                             \
  _Generic((pointer), OP2JIT_IS_(double, "double"), OP2JIT_IS_(float, "float"), OP2JIT_IS_(int, "int"),      \
           OP2JIT_IS_(unsigned, "unsigned int"), OP2JIT_IS_(long, OP2JIT_LONG_),                             \
           OP2JIT_IS_(unsigned long, OP2JIT_UNSIGNED_LONG_), OP2JIT_IS_(long long, "long long"),             \
           OP2JIT_IS_(unsigned long long, "unsigned long long"), OP2JIT_IS_(_Bool, "bool"),                  \
           OP2JIT_IS_(char, "char"), OP2JIT_IS_(short, "short"), default                                     \
           : "")

/* A value of C may hold commas: (double[]){1, 2}. Such a call, as one with too many or too few arguments, has not as many as the
 * function for the preprocessor, and stays the function's. */
#define OP2JIT_SECOND_(one, two, ...) two
#define OP2JIT_TYPED_(typed) ~, typed
#define OP2JIT_IF_TWO_(function, a, b, c, ...) OP2JIT_SECOND_(c, function, ~)
#define OP2JIT_IF_FOUR_(function, a, b, c, d, e, ...) OP2JIT_SECOND_(e, function, ~)
#define OP2JIT_IF_FIVE_(function, a, b, c, d, e, f, ...) OP2JIT_SECOND_(f, function, ~)
#define OP2JIT_TWO_(function, typed, ...)                                                                    \
  OP2JIT_IF_TWO_(function, __VA_ARGS__, OP2JIT_TYPED_(typed), ~, ~)(__VA_ARGS__)
#define OP2JIT_FOUR_(function, typed, ...)                                                                   \
  OP2JIT_IF_FOUR_(function, __VA_ARGS__, OP2JIT_TYPED_(typed), ~, ~)(__VA_ARGS__)
#define OP2JIT_FIVE_(function, typed, ...)                                                                   \
  OP2JIT_IF_FIVE_(function, __VA_ARGS__, OP2JIT_TYPED_(typed), ~, ~)(__VA_ARGS__)

#define OP2JIT_DAT_(set, dim, type, data, name)                                                              \
  op2jit_decl_dat_typed((set), (dim), (type), (data), (name), OP2JIT_TYPE_AT_(data))
#define OP2JIT_TEMP_(set, dim, type, data, name)                                                             \
  op2jit_decl_dat_temp_typed((set), (dim), (type), (data), (name), OP2JIT_TYPE_AT_(data))
#define OP2JIT_GBL_(data, dim, type, access)                                                                 \
  op2jit_arg_gbl_typed((data), (dim), (type), (access), OP2JIT_TYPE_AT_(data))
#define OP2JIT_OPT_GBL_(present, data, dim, type, access)                                                    \
  op2jit_opt_arg_gbl_typed((present), (data), (dim), (type), (access), OP2JIT_TYPE_AT_(data))
#define OP2JIT_INFO_(payload, dim, type, ref)                                                                \
  op2jit_arg_info_typed((payload), (dim), (type), (ref), OP2JIT_TYPE_AT_(payload))
#define OP2JIT_FETCH_IDX_(dat, out, low, high)                                                               \
  op2jit_fetch_data_idx_typed((dat), (out), (low), (high), OP2JIT_TYPE_AT_(out))
#define OP2JIT_FETCH_(dat, out) op2jit_fetch_data_typed((dat), (out), OP2JIT_TYPE_AT_(out))
#define OP2JIT_PUT_(dat, in) op2jit_put_data_typed((dat), (in), OP2JIT_TYPE_AT_(in))
#define OP2JIT_CONST_(name, dim, type, value)                                                                \
  op2jit_decl_const_typed((name), (dim), (type), (value), OP2JIT_TYPE_AT_(value))
#define OP2JIT_UPDATE_CONST_(name, value) op2jit_update_const_typed((name), (value), OP2JIT_TYPE_AT_(value))
#define OP2JIT_GET_CONST_(name, dim, type, value, file)                                                      \
  op2jit_get_const_hdf5_typed((name), (dim), (type), (value), (file), OP2JIT_TYPE_AT_(value))
#define OP2JIT_WRITE_CONST_(name, dim, type, value, file)                                                    \
  op2jit_write_const_hdf5_typed((name), (dim), (type), (value), (file), OP2JIT_TYPE_AT_(value))

#define op2jit_decl_dat(...) OP2JIT_FIVE_((op2jit_decl_dat), OP2JIT_DAT_, __VA_ARGS__)
#define op2jit_decl_dat_temp(...) OP2JIT_FIVE_((op2jit_decl_dat_temp), OP2JIT_TEMP_, __VA_ARGS__)
#define op2jit_arg_gbl(...) OP2JIT_FOUR_((op2jit_arg_gbl), OP2JIT_GBL_, __VA_ARGS__)
#define op2jit_opt_arg_gbl(...) OP2JIT_FIVE_((op2jit_opt_arg_gbl), OP2JIT_OPT_GBL_, __VA_ARGS__)
#define op2jit_arg_info(...) OP2JIT_FOUR_((op2jit_arg_info), OP2JIT_INFO_, __VA_ARGS__)
#define op2jit_fetch_data_idx(...) OP2JIT_FOUR_((op2jit_fetch_data_idx), OP2JIT_FETCH_IDX_, __VA_ARGS__)
#define op2jit_get_const_hdf5(...) OP2JIT_FIVE_((op2jit_get_const_hdf5), OP2JIT_GET_CONST_, __VA_ARGS__)
#define op2jit_write_const_hdf5(...) OP2JIT_FIVE_((op2jit_write_const_hdf5), OP2JIT_WRITE_CONST_, __VA_ARGS__)
#define op2jit_decl_const(...) OP2JIT_FOUR_((op2jit_decl_const), OP2JIT_CONST_, __VA_ARGS__)
#define op2jit_update_const(...) OP2JIT_TWO_((op2jit_update_const), OP2JIT_UPDATE_CONST_, __VA_ARGS__)
#define op2jit_fetch_data(...) OP2JIT_TWO_((op2jit_fetch_data), OP2JIT_FETCH_, __VA_ARGS__)
#define op2jit_put_data(...) OP2JIT_TWO_((op2jit_put_data), OP2JIT_PUT_, __VA_ARGS__)
#endif

#ifdef __cplusplus
template <typename T> struct op2jit_type {
  static const char *name() {
    return "";
  }
};
template <typename T> struct op2jit_type<const T> : op2jit_type<T> {};
#define OP2JIT_IS_(T, word)                                                                                  \
  template <> struct op2jit_type<T> {                                                                        \
    static const char *name() {                                                                              \
      return word;                                                                                           \
    }                                                                                                        \
  };
OP2JIT_IS_(double, "double")
OP2JIT_IS_(float, "float")
OP2JIT_IS_(int, "int")
OP2JIT_IS_(unsigned, "unsigned int")
OP2JIT_IS_(long, OP2JIT_LONG_)
OP2JIT_IS_(unsigned long, OP2JIT_UNSIGNED_LONG_)
OP2JIT_IS_(long long, "long long")
OP2JIT_IS_(unsigned long long, "unsigned long long")
OP2JIT_IS_(bool, "bool")
OP2JIT_IS_(char, "char")
OP2JIT_IS_(short, "short")
#undef OP2JIT_IS_

/* The first of each takes what a template cannot: NULL and nullptr. */
inline op_dat op2jit_decl_dat_of(op_set set, int dim, const char *type, const void *data, const char *name) {
  return op2jit_decl_dat_typed(set, dim, type, data, name, "");
}
template <typename T>
inline op_dat op2jit_decl_dat_of(op_set set, int dim, const char *type, T *data, const char *name) {
  return op2jit_decl_dat_typed(set, dim, type, data, name, op2jit_type<T>::name());
}
inline op_dat op2jit_decl_dat_temp_of(op_set set, int dim, const char *type, const void *data,
                                      const char *name) {
  return op2jit_decl_dat_temp_typed(set, dim, type, data, name, "");
}
template <typename T>
inline op_dat op2jit_decl_dat_temp_of(op_set set, int dim, const char *type, T *data, const char *name) {
  return op2jit_decl_dat_temp_typed(set, dim, type, data, name, op2jit_type<T>::name());
}
inline int op2jit_decl_const_of(const char *name, int dim, const char *type, const void *value) {
  return op2jit_decl_const_typed(name, dim, type, value, "");
}
template <typename T> inline int op2jit_decl_const_of(const char *name, int dim, const char *type, T *value) {
  return op2jit_decl_const_typed(name, dim, type, value, op2jit_type<T>::name());
}
inline int op2jit_update_const_of(const char *name, const void *value) {
  return op2jit_update_const_typed(name, value, "");
}
template <typename T> inline int op2jit_update_const_of(const char *name, T *value) {
  return op2jit_update_const_typed(name, value, op2jit_type<T>::name());
}
inline op_arg op2jit_arg_gbl_of(void *data, int dim, const char *type, op_access access) {
  return op2jit_arg_gbl_typed(data, dim, type, access, "");
}
template <typename T> inline op_arg op2jit_arg_gbl_of(T *data, int dim, const char *type, op_access access) {
  return op2jit_arg_gbl_typed(data, dim, type, access, op2jit_type<T>::name());
}
inline op_arg op2jit_opt_arg_gbl_of(int present, void *data, int dim, const char *type, op_access access) {
  return op2jit_opt_arg_gbl_typed(present, data, dim, type, access, "");
}
template <typename T>
inline op_arg op2jit_opt_arg_gbl_of(int present, T *data, int dim, const char *type, op_access access) {
  return op2jit_opt_arg_gbl_typed(present, data, dim, type, access, op2jit_type<T>::name());
}
inline op_arg op2jit_arg_info_of(void *payload, int dim, const char *type, int ref) {
  return op2jit_arg_info_typed(payload, dim, type, ref, "");
}
template <typename T> inline op_arg op2jit_arg_info_of(T *payload, int dim, const char *type, int ref) {
  return op2jit_arg_info_typed(payload, dim, type, ref, op2jit_type<T>::name());
}
inline int op2jit_fetch_data_of(op_dat dat, void *out) {
  return op2jit_fetch_data_typed(dat, out, "");
}
template <typename T> inline int op2jit_fetch_data_of(op_dat dat, T *out) {
  return op2jit_fetch_data_typed(dat, out, op2jit_type<T>::name());
}
inline int op2jit_fetch_data_idx_of(op_dat dat, void *out, int low, int high) {
  return op2jit_fetch_data_idx_typed(dat, out, low, high, "");
}
template <typename T> inline int op2jit_fetch_data_idx_of(op_dat dat, T *out, int low, int high) {
  return op2jit_fetch_data_idx_typed(dat, out, low, high, op2jit_type<T>::name());
}
inline int op2jit_put_data_of(op_dat dat, const void *in) {
  return op2jit_put_data_typed(dat, in, "");
}
template <typename T> inline int op2jit_put_data_of(op_dat dat, T *in) {
  return op2jit_put_data_typed(dat, in, op2jit_type<T>::name());
}
inline int op2jit_get_const_hdf5_of(const char *name, int dim, const char *type, void *value,
                                    const char *file) {
  return op2jit_get_const_hdf5_typed(name, dim, type, value, file, "");
}
template <typename T>
inline int op2jit_get_const_hdf5_of(const char *name, int dim, const char *type, T *value, const char *file) {
  return op2jit_get_const_hdf5_typed(name, dim, type, value, file, op2jit_type<T>::name());
}
inline int op2jit_write_const_hdf5_of(const char *name, int dim, const char *type, const void *value,
                                      const char *file) {
  return op2jit_write_const_hdf5_typed(name, dim, type, value, file, "");
}
template <typename T>
inline int op2jit_write_const_hdf5_of(const char *name, int dim, const char *type, T *value,
                                      const char *file) {
  return op2jit_write_const_hdf5_typed(name, dim, type, value, file, op2jit_type<T>::name());
}
#define op2jit_get_const_hdf5(...) op2jit_get_const_hdf5_of(__VA_ARGS__)
#define op2jit_write_const_hdf5(...) op2jit_write_const_hdf5_of(__VA_ARGS__)
#define op2jit_decl_dat(...) op2jit_decl_dat_of(__VA_ARGS__)
#define op2jit_decl_dat_temp(...) op2jit_decl_dat_temp_of(__VA_ARGS__)
#define op2jit_decl_const(...) op2jit_decl_const_of(__VA_ARGS__)
#define op2jit_update_const(...) op2jit_update_const_of(__VA_ARGS__)
#define op2jit_arg_gbl(...) op2jit_arg_gbl_of(__VA_ARGS__)
#define op2jit_opt_arg_gbl(...) op2jit_opt_arg_gbl_of(__VA_ARGS__)
#define op2jit_arg_info(...) op2jit_arg_info_of(__VA_ARGS__)
#define op2jit_fetch_data(...) op2jit_fetch_data_of(__VA_ARGS__)
#define op2jit_fetch_data_idx(...) op2jit_fetch_data_idx_of(__VA_ARGS__)
#define op2jit_put_data(...) op2jit_put_data_of(__VA_ARGS__)
#endif

#endif
