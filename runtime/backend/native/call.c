/* Calling a function of 1 to 64 pointer parameters by its address. */
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
#define P33 P32, p[32]
#define P34 P33, p[33]
#define P35 P34, p[34]
#define P36 P35, p[35]
#define P37 P36, p[36]
#define P38 P37, p[37]
#define P39 P38, p[38]
#define P40 P39, p[39]
#define P41 P40, p[40]
#define P42 P41, p[41]
#define P43 P42, p[42]
#define P44 P43, p[43]
#define P45 P44, p[44]
#define P46 P45, p[45]
#define P47 P46, p[46]
#define P48 P47, p[47]
#define P49 P48, p[48]
#define P50 P49, p[49]
#define P51 P50, p[50]
#define P52 P51, p[51]
#define P53 P52, p[52]
#define P54 P53, p[53]
#define P55 P54, p[54]
#define P56 P55, p[55]
#define P57 P56, p[56]
#define P58 P57, p[57]
#define P59 P58, p[58]
#define P60 P59, p[59]
#define P61 P60, p[60]
#define P62 P61, p[61]
#define P63 P62, p[62]
#define P64 P63, p[63]

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
#define T33 T32, void *
#define T34 T33, void *
#define T35 T34, void *
#define T36 T35, void *
#define T37 T36, void *
#define T38 T37, void *
#define T39 T38, void *
#define T40 T39, void *
#define T41 T40, void *
#define T42 T41, void *
#define T43 T42, void *
#define T44 T43, void *
#define T45 T44, void *
#define T46 T45, void *
#define T47 T46, void *
#define T48 T47, void *
#define T49 T48, void *
#define T50 T49, void *
#define T51 T50, void *
#define T52 T51, void *
#define T53 T52, void *
#define T54 T53, void *
#define T55 T54, void *
#define T56 T55, void *
#define T57 T56, void *
#define T58 T57, void *
#define T59 T58, void *
#define T60 T59, void *
#define T61 T60, void *
#define T62 T61, void *
#define T63 T62, void *
#define T64 T63, void *

/* Laid out by hand: clang-format would move one M with each run. */
/* clang-format off */
#define EACH(M)                                                                                   \
  M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9) M(10) M(11) M(12) M(13) M(14) M(15) M(16)          \
  M(17) M(18) M(19) M(20) M(21) M(22) M(23) M(24) M(25) M(26) M(27) M(28) M(29) M(30) M(31) M(32) \
  M(33) M(34) M(35) M(36) M(37) M(38) M(39) M(40) M(41) M(42) M(43) M(44) M(45) M(46) M(47) M(48) \
  M(49) M(50) M(51) M(52) M(53) M(54) M(55) M(56) M(57) M(58) M(59) M(60) M(61) M(62) M(63) M(64)
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
