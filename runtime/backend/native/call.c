/* Calling a function of 1 to 64 pointer parameters by its address. */
#include "call.h"

/* R: up to eight of a kind from number b on; E: eights from 0 on, each with a comma behind it. */
#define R1(M, b) M(b)
#define R2(M, b) R1(M, b), M(b + 1)
#define R3(M, b) R2(M, b), M(b + 2)
#define R4(M, b) R3(M, b), M(b + 3)
#define R5(M, b) R4(M, b), M(b + 4)
#define R6(M, b) R5(M, b), M(b + 5)
#define R7(M, b) R6(M, b), M(b + 6)
#define R8(M, b) R7(M, b), M(b + 7)
#define E0(M)
#define E1(M) R8(M, 0),
#define E2(M) E1(M) R8(M, 8),
#define E3(M) E2(M) R8(M, 16),
#define E4(M) E3(M) R8(M, 24),
#define E5(M) E4(M) R8(M, 32),
#define E6(M) E5(M) R8(M, 40),
#define E7(M) E6(M) R8(M, 48),

#define TYPE(i) void *
#define POINTER(i) p[i]
/* Nothing else happens here, also under the thread sanitizer: the checking form has prepared the stack below. */
#define SHIM(q, r)                                                                                           \
  static __attribute__((no_sanitize_thread)) void call##q##r(op_kernel_function f, void *const *p) {         \
    ((void (*)(E##q(TYPE) R##r(TYPE, 0)))f)(E##q(POINTER) R##r(POINTER, 8 * q));                             \
  }
#define ROW(q, r) [8 * q + r] = call##q##r,

/* 8 * q + r parameters. Laid out by hand: clang-format would move one M with each run. */
/* clang-format off */
#define EIGHT(M, q) M(q, 1) M(q, 2) M(q, 3) M(q, 4) M(q, 5) M(q, 6) M(q, 7) M(q, 8)
#define EACH(M)                                                                                               \
  EIGHT(M, 0) EIGHT(M, 1) EIGHT(M, 2) EIGHT(M, 3) EIGHT(M, 4) EIGHT(M, 5) EIGHT(M, 6) EIGHT(M, 7)
/* clang-format on */

EACH(SHIM)
static native_call *const calls[OP_MAX_ARGS + 1] = {EACH(ROW)};

native_call *native_call_of(int nargs) {
  return calls[nargs];
}
