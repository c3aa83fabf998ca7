// Are the sources those that the program was made from? The time of its compile says it, which is in the object. That of the
// program's file says nothing, since it may be a copy; and debug information has no sums of files that one could trust:
// g++ puts down none, and clang++ drops them all where one header is the system's. It names files, though.
#ifndef OP2JIT_JIT_CLANG_TIMES_H
#define OP2JIT_JIT_CLANG_TIMES_H

#include <string>

#include "doubts.h"
#include "flags.h"

namespace op2jit {

struct Judgement {
  std::string why;   // they are not; "" else
  std::string doubt; // they may not be; "" else
};

Judgement judge_sources(const read_request &request, const Flags &flags, const Doubts &read);

} // namespace op2jit
#endif
