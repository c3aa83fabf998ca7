/* Types of the program in data and kernels: a part of op2jit.h, which includes it. */
#ifndef OP2JIT_STRUCT_H
#define OP2JIT_STRUCT_H

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* A member as the program's compiler lays it out. */
typedef struct op2jit_member {
  const char *name, *type; /* "" if it is none of the library's: a struct, a second dimension */
  size_t offset, size;
} op2jit_member;
int op2jit_decl_type(const char *name, size_t size, int nmembers, const op2jit_member members[]);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
} /* extern "C" */
#endif

/* OP_TYPE(struct state, rho, u, e, kind) makes a struct of the program a type of data: `op_decl_dat(cells, 1,
 * "struct state", states, "w")`, and in the same way of temporaries, globals and constants. Kernels take
 * `struct state *`; the struct's text is in a prelude (op_decl_prelude, op_prelude_file). The members are all that the
 * struct has, at most 32; those of a struct within are written with a dot, `OP_TYPE(struct flow, left.rho, left.u)`,
 * and arrays by their name. They must not be pointers. Size and offsets are compared with what the kernels' compiler
 * makes of the prelude's text. A row of such a type is one value: ":soa" changes nothing. OP_INC, OP_MIN and OP_MAX do
 * not know how to combine it. Call it after op_init and before the first use of the name; the same call again changes
 * nothing. Under MPI all ranks call it. Returns 0 or OP_ERR_TYPE: a name that is one already, with another layout;
 * OP_ERR_SIZE: too many types; OP_ERR_ARGUMENT, OP_ERR_MPI. */
#ifdef __cplusplus
#define OP_TYPE(T, ...)                                                                                      \
  ([]() -> int {                                                                                             \
    static const op2jit_member op2jit_members[] = {OP2JIT_MEMBERS_(T, __VA_ARGS__)};                         \
    return op2jit_decl_type(#T, sizeof(T), (int)(sizeof op2jit_members / sizeof *op2jit_members),            \
                            op2jit_members);                                                                 \
  }())
#else
#define OP_TYPE(T, ...)                                                                                      \
  op2jit_decl_type(                                                                                          \
      #T, sizeof(T),                                                                                         \
      (int)(sizeof((op2jit_member[]){OP2JIT_MEMBERS_(T, __VA_ARGS__)}) / sizeof(op2jit_member)),             \
      (const op2jit_member[]){OP2JIT_MEMBERS_(T, __VA_ARGS__)})
#endif

/* The type of a member, or of the elements of one that is an array. */
#if defined(__cplusplus) && !defined(__CPPCHECK__)
template <typename M> inline const char *op2jit_member_type(const M *) {
  return OP2JIT_TYPE_AT_((M *)0);
}
inline const char *op2jit_member_type(const char *) {
  return "char";
}
template <typename M> inline const char *op2jit_member_type(M *const *) {
  return "*";
}
template <typename M, size_t n> inline const char *op2jit_member_type(const M (*)[n]) {
  return op2jit_member_type((const M *)0);
}
#define OP2JIT_MEMBER_TYPE_(T, m) op2jit_member_type((decltype(((T *)0)->m) *)0)
#elif defined(OP2JIT_TYPE_AT_)
#define OP2JIT_MEMBER_TYPE_(T, m)                                                                            \
  _Generic(&((T *)0)->m, char * : "char", char(*)[] : "char", void ** : "*", char ** : "*", int ** : "*",     \
           float ** : "*", double ** : "*", const char ** : "*", const double ** : "*", default                                       \
           : *OP2JIT_TYPE_AT_(&((T *)0)->m) ? OP2JIT_TYPE_AT_(&((T *)0)->m) : OP2JIT_TYPE_AT_(((T *)0)->m))
#else
#define OP2JIT_MEMBER_TYPE_(T, m) ""
#endif
#define OP2JIT_MEMBER_(T, m)                                                                                 \
  { #m, OP2JIT_MEMBER_TYPE_(T, m), offsetof(T, m), sizeof(((T *)0)->m) }

/* One after the other: the preprocessor has no loops. */
#define OP2JIT_M1_(T, m) OP2JIT_MEMBER_(T, m)
#define OP2JIT_M2_(T, m, ...) OP2JIT_MEMBER_(T, m), OP2JIT_M1_(T, __VA_ARGS__)
#define OP2JIT_M3_(T, m, ...) OP2JIT_MEMBER_(T, m), OP2JIT_M2_(T, __VA_ARGS__)
#define OP2JIT_M4_(T, m, ...) OP2JIT_MEMBER_(T, m), OP2JIT_M3_(T, __VA_ARGS__)
#define OP2JIT_M5_(T, m, ...) OP2JIT_MEMBER_(T, m), OP2JIT_M4_(T, __VA_ARGS__)
#define OP2JIT_M6_(T, m, ...) OP2JIT_MEMBER_(T, m), OP2JIT_M5_(T, __VA_ARGS__)
#define OP2JIT_M7_(T, m, ...) OP2JIT_MEMBER_(T, m), OP2JIT_M6_(T, __VA_ARGS__)
#define OP2JIT_M8_(T, m, ...) OP2JIT_MEMBER_(T, m), OP2JIT_M7_(T, __VA_ARGS__)
#define OP2JIT_M9_(T, m, ...) OP2JIT_MEMBER_(T, m), OP2JIT_M8_(T, __VA_ARGS__)
#define OP2JIT_M10_(T, m, ...) OP2JIT_MEMBER_(T, m), OP2JIT_M9_(T, __VA_ARGS__)
#define OP2JIT_M11_(T, m, ...) OP2JIT_MEMBER_(T, m), OP2JIT_M10_(T, __VA_ARGS__)
#define OP2JIT_M12_(T, m, ...) OP2JIT_MEMBER_(T, m), OP2JIT_M11_(T, __VA_ARGS__)
#define OP2JIT_M13_(T, m, ...) OP2JIT_MEMBER_(T, m), OP2JIT_M12_(T, __VA_ARGS__)
#define OP2JIT_M14_(T, m, ...) OP2JIT_MEMBER_(T, m), OP2JIT_M13_(T, __VA_ARGS__)
#define OP2JIT_M15_(T, m, ...) OP2JIT_MEMBER_(T, m), OP2JIT_M14_(T, __VA_ARGS__)
#define OP2JIT_M16_(T, m, ...) OP2JIT_MEMBER_(T, m), OP2JIT_M15_(T, __VA_ARGS__)
#define OP2JIT_M17_(T, m, ...) OP2JIT_MEMBER_(T, m), OP2JIT_M16_(T, __VA_ARGS__)
#define OP2JIT_M18_(T, m, ...) OP2JIT_MEMBER_(T, m), OP2JIT_M17_(T, __VA_ARGS__)
#define OP2JIT_M19_(T, m, ...) OP2JIT_MEMBER_(T, m), OP2JIT_M18_(T, __VA_ARGS__)
#define OP2JIT_M20_(T, m, ...) OP2JIT_MEMBER_(T, m), OP2JIT_M19_(T, __VA_ARGS__)
#define OP2JIT_M21_(T, m, ...) OP2JIT_MEMBER_(T, m), OP2JIT_M20_(T, __VA_ARGS__)
#define OP2JIT_M22_(T, m, ...) OP2JIT_MEMBER_(T, m), OP2JIT_M21_(T, __VA_ARGS__)
#define OP2JIT_M23_(T, m, ...) OP2JIT_MEMBER_(T, m), OP2JIT_M22_(T, __VA_ARGS__)
#define OP2JIT_M24_(T, m, ...) OP2JIT_MEMBER_(T, m), OP2JIT_M23_(T, __VA_ARGS__)
#define OP2JIT_M25_(T, m, ...) OP2JIT_MEMBER_(T, m), OP2JIT_M24_(T, __VA_ARGS__)
#define OP2JIT_M26_(T, m, ...) OP2JIT_MEMBER_(T, m), OP2JIT_M25_(T, __VA_ARGS__)
#define OP2JIT_M27_(T, m, ...) OP2JIT_MEMBER_(T, m), OP2JIT_M26_(T, __VA_ARGS__)
#define OP2JIT_M28_(T, m, ...) OP2JIT_MEMBER_(T, m), OP2JIT_M27_(T, __VA_ARGS__)
#define OP2JIT_M29_(T, m, ...) OP2JIT_MEMBER_(T, m), OP2JIT_M28_(T, __VA_ARGS__)
#define OP2JIT_M30_(T, m, ...) OP2JIT_MEMBER_(T, m), OP2JIT_M29_(T, __VA_ARGS__)
#define OP2JIT_M31_(T, m, ...) OP2JIT_MEMBER_(T, m), OP2JIT_M30_(T, __VA_ARGS__)
#define OP2JIT_M32_(T, m, ...) OP2JIT_MEMBER_(T, m), OP2JIT_M31_(T, __VA_ARGS__)
#define OP2JIT_33RD_(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,   \
                     m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30, m31, m32, m33, ...)              \
  m33
#define OP2JIT_MEMBERS_(T, ...)                                                                              \
  OP2JIT_MEMBERS_AS_(OP2JIT_33RD_(__VA_ARGS__, OP2JIT_M32_, OP2JIT_M31_, OP2JIT_M30_, OP2JIT_M29_,           \
                                  OP2JIT_M28_, OP2JIT_M27_, OP2JIT_M26_, OP2JIT_M25_, OP2JIT_M24_,           \
                                  OP2JIT_M23_, OP2JIT_M22_, OP2JIT_M21_, OP2JIT_M20_, OP2JIT_M19_,           \
                                  OP2JIT_M18_, OP2JIT_M17_, OP2JIT_M16_, OP2JIT_M15_, OP2JIT_M14_,           \
                                  OP2JIT_M13_, OP2JIT_M12_, OP2JIT_M11_, OP2JIT_M10_, OP2JIT_M9_,            \
                                  OP2JIT_M8_, OP2JIT_M7_, OP2JIT_M6_, OP2JIT_M5_, OP2JIT_M4_, OP2JIT_M3_,    \
                                  OP2JIT_M2_, OP2JIT_M1_, ~),                                                \
                     T, __VA_ARGS__)
#define OP2JIT_MEMBERS_AS_(form, ...) form(__VA_ARGS__)

#endif
