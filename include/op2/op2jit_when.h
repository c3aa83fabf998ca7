/* When this unit is compiled: by it the library tells sources that changed since then. A header of its own, which counts
 * as the system's, so that -Wdate-time says nothing. -DOP2JIT_NO_TIME leaves it out: then nothing differs from one
 * compile to the next, and the library compares what it finds in the sources with the program's own function. */
#ifndef OP2JIT_WHEN_H
#define OP2JIT_WHEN_H

#if defined(__GNUC__)
#pragma GCC system_header
#endif

#if defined(OP2JIT_NO_TIME) || defined(OP2JIT_READING)
#define OP2JIT_WHEN_ ""
#else
#define OP2JIT_WHEN_ __DATE__ " " __TIME__
#endif
static constexpr const char *op2jit_when() {
  return OP2JIT_WHEN_;
}

#endif
