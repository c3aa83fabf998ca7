/* Calling a function of 1 to 32 pointer parameters by its address. */
#include "call.h"

#define P1 p[0]
#define P2 P1, p[1]
#define P3 P2, p[2]
#define P4 P3, p[3]
#define P5 P4, p[4]
#define P6 P5, p[5]
#define P7 P6, p[6]
#define P8 P7, p[7]
#define P9 P8, p[8]
#define P10 P9, p[9]
#define P11 P10, p[10]
#define P12 P11, p[11]
#define P13 P12, p[12]
#define P14 P13, p[13]
#define P15 P14, p[14]
#define P16 P15, p[15]
#define P17 P16, p[16]
#define P18 P17, p[17]
#define P19 P18, p[18]
#define P20 P19, p[19]
#define P21 P20, p[20]
#define P22 P21, p[21]
#define P23 P22, p[22]
#define P24 P23, p[23]
#define P25 P24, p[24]
#define P26 P25, p[25]
#define P27 P26, p[26]
#define P28 P27, p[27]
#define P29 P28, p[28]
#define P30 P29, p[29]
#define P31 P30, p[30]
#define P32 P31, p[31]

#define T1 void *
#define T2 T1, void *
#define T3 T2, void *
#define T4 T3, void *
#define T5 T4, void *
#define T6 T5, void *
#define T7 T6, void *
#define T8 T7, void *
#define T9 T8, void *
#define T10 T9, void *
#define T11 T10, void *
#define T12 T11, void *
#define T13 T12, void *
#define T14 T13, void *
#define T15 T14, void *
#define T16 T15, void *
#define T17 T16, void *
#define T18 T17, void *
#define T19 T18, void *
#define T20 T19, void *
#define T21 T20, void *
#define T22 T21, void *
#define T23 T22, void *
#define T24 T23, void *
#define T25 T24, void *
#define T26 T25, void *
#define T27 T26, void *
#define T28 T27, void *
#define T29 T28, void *
#define T30 T29, void *
#define T31 T30, void *
#define T32 T31, void *

/* Laid out by hand: clang-format would move one M with each run. */
/* clang-format off */
#define EACH(M)                                                                                   \
  M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9) M(10) M(11) M(12) M(13) M(14) M(15) M(16)          \
  M(17) M(18) M(19) M(20) M(21) M(22) M(23) M(24) M(25) M(26) M(27) M(28) M(29) M(30) M(31) M(32)
/* clang-format on */

/* Nothing else happens here, also under the thread sanitizer: the checking form has prepared the stack below. */
#define SHIM(n)                                                                                              \
  static __attribute__((no_sanitize_thread)) void call##n(op_kernel_function f, void *const *p) {            \
    ((void (*)(T##n))f)(P##n);                                                                               \
  }
EACH(SHIM)

#define ROW(n) [n] = call##n,
static native_call *const calls[OP_MAX_ARGS + 1] = {EACH(ROW)};

native_call *native_call_of(int nargs) {
  return calls[nargs];
}
