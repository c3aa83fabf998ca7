/* The types of pointers, and op_par_loop: a part of op2jit.h, which includes it. In a C11 or C++ program, calls that take
 * a pointer and a type, or a dat that has one, become these. `is` names the type that the pointer points to. It is ""
 * for void, for char and unsigned char, which are raw bytes as everywhere in C, and for types that the library does not
 * have: then nothing is compared. The functions under their own names compare nothing either: (op_fetch_data)(dat, out). */
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
op_dat op2jit_decl_dat_view_typed(op_set set, int dim, const char *type, void *array, const char *name,
                                  const char *is);
int op2jit_decl_const_typed(const char *name, int dim, const char *type, const void *value, const char *is);
int op2jit_update_const_typed(const char *name, const void *value, const char *is);
op_gbl op2jit_decl_gbl_typed(int dim, const char *type, const void *value, const char *name, const char *is);
int op2jit_get_gbl_typed(op_gbl gbl, void *out, const char *is);
int op2jit_put_gbl_typed(op_gbl gbl, const void *in, const char *is);
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

/* cppcheck cannot read _Generic inside a call: give it -D__CPPCHECK__ for programs that include this. */
#if !defined(__CPPCHECK__) &&                                                                                \
    (defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L))

/* The name of the type that a pointer points to, which is not evaluated. */
#ifdef __cplusplus
enum op2jit_type {
  OP2JIT_NONE_ = 1,
  OP2JIT_DOUBLE_,
  OP2JIT_FLOAT_,
  OP2JIT_INT_,
  OP2JIT_UNSIGNED_,
  OP2JIT_LONG_LONG_,
  OP2JIT_UNSIGNED_LONG_LONG_,
  OP2JIT_BOOL_,
  OP2JIT_SHORT_
};
template <unsigned type> struct op2jit_is { char bytes[type]; };
template <typename T> op2jit_is<OP2JIT_NONE_> op2jit_type_at(const T &);
#define OP2JIT_IS_(T, type)                                                                                  \
  op2jit_is<type> op2jit_type_at(T *);                                                                       \
  op2jit_is<type> op2jit_type_at(const T *);
OP2JIT_IS_(double, OP2JIT_DOUBLE_)
OP2JIT_IS_(float, OP2JIT_FLOAT_)
OP2JIT_IS_(int, OP2JIT_INT_)
OP2JIT_IS_(unsigned, OP2JIT_UNSIGNED_)
OP2JIT_IS_(long, sizeof(long) == sizeof(int) ? OP2JIT_INT_ : OP2JIT_LONG_LONG_)
OP2JIT_IS_(unsigned long, sizeof(long) == sizeof(int) ? OP2JIT_UNSIGNED_ : OP2JIT_UNSIGNED_LONG_LONG_)
OP2JIT_IS_(long long, OP2JIT_LONG_LONG_)
OP2JIT_IS_(unsigned long long, OP2JIT_UNSIGNED_LONG_LONG_)
OP2JIT_IS_(bool, OP2JIT_BOOL_)
OP2JIT_IS_(short, OP2JIT_SHORT_)
inline const char *op2jit_type_name(size_t type) {
  static const char *const names[] = {
      "", "", "double", "float", "int", "unsigned int", "long long", "unsigned long long", "bool", "short"};
  return names[type];
}
#define OP2JIT_TYPE_AT_(pointer) op2jit_type_name(sizeof op2jit_type_at(pointer))
#else
#define OP2JIT_IS_(T, name) T * : name, const T * : name
#define OP2JIT_TYPE_AT_(pointer)                                                                             \
  _Generic((pointer), OP2JIT_IS_(double, "double"), OP2JIT_IS_(float, "float"), OP2JIT_IS_(int, "int"),      \
           OP2JIT_IS_(unsigned, "unsigned int"),                                                             \
           OP2JIT_IS_(long, sizeof(long) == sizeof(int) ? "int" : "long long"),                              \
           OP2JIT_IS_(unsigned long, sizeof(long) == sizeof(int) ? "unsigned int" : "unsigned long long"),   \
           OP2JIT_IS_(long long, "long long"), OP2JIT_IS_(unsigned long long, "unsigned long long"),         \
           OP2JIT_IS_(_Bool, "bool"), OP2JIT_IS_(short, "short"), default                                    \
           : "")
#endif

/* A value may hold commas: (double[]){1, 2}. Such a call, as one with too many or too few arguments, has not as many
 * as the function for the preprocessor, and stays the function's. */
#define OP2JIT_TYPED_(function, nth, ...) function##_typed(__VA_ARGS__, OP2JIT_TYPE_AT_(nth(__VA_ARGS__, ~)))
#define OP2JIT_PLAIN_(function, nth, ...) (function)(__VA_ARGS__)
#define OP2JIT_IF_TYPED_ ~, OP2JIT_TYPED_
#define OP2JIT_SECOND_(one, two, ...) two
#define OP2JIT_SIXTH_(a, b, c, d, e, f, ...) OP2JIT_SECOND_(f, OP2JIT_PLAIN_, ~)
#define OP2JIT_OF_FIVE_(...) OP2JIT_SIXTH_(__VA_ARGS__, OP2JIT_IF_TYPED_, ~, ~, ~, ~, ~)
#define OP2JIT_OF_FOUR_(...) OP2JIT_OF_FIVE_(~, __VA_ARGS__)
#define OP2JIT_OF_TWO_(...) OP2JIT_OF_FIVE_(~, ~, ~, __VA_ARGS__)
#define OP2JIT_FIRST_(a, ...) a
#define OP2JIT_THIRD_(a, b, c, ...) c
#define OP2JIT_FOURTH_(a, b, c, d, ...) d

#define op2jit_decl_dat(...) OP2JIT_OF_FIVE_(__VA_ARGS__)(op2jit_decl_dat, OP2JIT_FOURTH_, __VA_ARGS__)
#define op2jit_decl_dat_temp(...)                                                                            \
  OP2JIT_OF_FIVE_(__VA_ARGS__)(op2jit_decl_dat_temp, OP2JIT_FOURTH_, __VA_ARGS__)
#define op2jit_decl_dat_view(...)                                                                            \
  OP2JIT_OF_FIVE_(__VA_ARGS__)(op2jit_decl_dat_view, OP2JIT_FOURTH_, __VA_ARGS__)
#define op2jit_decl_const(...) OP2JIT_OF_FOUR_(__VA_ARGS__)(op2jit_decl_const, OP2JIT_FOURTH_, __VA_ARGS__)
#define op2jit_update_const(...) OP2JIT_OF_TWO_(__VA_ARGS__)(op2jit_update_const, OP2JIT_SECOND_, __VA_ARGS__)
#define op2jit_decl_gbl(...) OP2JIT_OF_FOUR_(__VA_ARGS__)(op2jit_decl_gbl, OP2JIT_THIRD_, __VA_ARGS__)
#define op2jit_get_gbl(...) OP2JIT_OF_TWO_(__VA_ARGS__)(op2jit_get_gbl, OP2JIT_SECOND_, __VA_ARGS__)
#define op2jit_put_gbl(...) OP2JIT_OF_TWO_(__VA_ARGS__)(op2jit_put_gbl, OP2JIT_SECOND_, __VA_ARGS__)
#define op2jit_arg_gbl(...) OP2JIT_OF_FOUR_(__VA_ARGS__)(op2jit_arg_gbl, OP2JIT_FIRST_, __VA_ARGS__)
#define op2jit_opt_arg_gbl(...) OP2JIT_OF_FIVE_(__VA_ARGS__)(op2jit_opt_arg_gbl, OP2JIT_SECOND_, __VA_ARGS__)
#define op2jit_arg_info(...) OP2JIT_OF_FOUR_(__VA_ARGS__)(op2jit_arg_info, OP2JIT_FIRST_, __VA_ARGS__)
#define op2jit_fetch_data(...) OP2JIT_OF_TWO_(__VA_ARGS__)(op2jit_fetch_data, OP2JIT_SECOND_, __VA_ARGS__)
#define op2jit_fetch_data_idx(...)                                                                           \
  OP2JIT_OF_FOUR_(__VA_ARGS__)(op2jit_fetch_data_idx, OP2JIT_SECOND_, __VA_ARGS__)
#define op2jit_put_data(...) OP2JIT_OF_TWO_(__VA_ARGS__)(op2jit_put_data, OP2JIT_SECOND_, __VA_ARGS__)
#define op2jit_get_const_hdf5(...)                                                                           \
  OP2JIT_OF_FIVE_(__VA_ARGS__)(op2jit_get_const_hdf5, OP2JIT_FOURTH_, __VA_ARGS__)
#define op2jit_write_const_hdf5(...)                                                                         \
  OP2JIT_OF_FIVE_(__VA_ARGS__)(op2jit_write_const_hdf5, OP2JIT_FOURTH_, __VA_ARGS__)
#endif

/* ---- op_par_loop -------------------------------------------------------------------------------*/

#ifndef __cplusplus
/* A C function in place of the text, as in OP2, is an error when the program is compiled. */
#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L && !defined(__CPPCHECK__)
#define OP2JIT_MUST_BE_TEXT_(source)                                                                         \
  (void)sizeof(struct {                                                                                      \
    _Static_assert(                                                                                          \
        _Generic((source), char * : 1, const char * : 1, void * : 1, const void * : 1, int : 1,              \
                 default : 0),                                                                               \
        "op_par_loop takes the kernel's text: for a function f write OP_KERNEL_OF(f), and define f with "    \
        "OP_KERNEL_DEF");                                                                                    \
    char op2jit_member;                                                                                      \
  })
#else
#define OP2JIT_MUST_BE_TEXT_(source) (void)0
#endif
/* In two steps, so that a macro of the program may stand for several arguments. */
#define op_par_loop(...) OP2JIT_PAR_LOOP_(__VA_ARGS__)
#define OP2JIT_PAR_LOOP_(source, name, set, ...)                                                             \
  (OP2JIT_MUST_BE_TEXT_(source),                                                                             \
   op2jit_par_loop_array((source), (name), (set), (int)(sizeof((op_arg[]){__VA_ARGS__}) / sizeof(op_arg)),   \
                         (const op_arg[]){__VA_ARGS__}, __FILE__, __LINE__))
#else
/* Compound literals are not C++. __builtin_FILE and __builtin_LINE take the place of the call. */
template <typename... Args>
inline int op2jit_par_loop_at(const char *file, int line, const char *source, const char *name, op_set set,
                              Args... args) {
  const op_arg list[] = {args...};
  return op2jit_par_loop_array(source, name, set, static_cast<int>(sizeof...(Args)), list, file, line);
}
#define op_par_loop(...) op2jit_par_loop_at(__FILE__, __LINE__, __VA_ARGS__)
#endif

#endif
