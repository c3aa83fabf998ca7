// A compiler is set up to parse a unit of the program.
#ifndef OP2JIT_JIT_CLANG_READ_UNIT_H
#define OP2JIT_JIT_CLANG_READ_UNIT_H

#include <clang/Frontend/CompilerInstance.h>

#include "flags.h"

namespace op2jit {

// Up to the context, in which nothing is parsed yet. `few`: without headers that kernels hardly need. False: the
// compiler's messages say why.
bool begin_unit(const read_request &request, const Flags &flags, bool few, clang::CompilerInstance &compiler);

} // namespace op2jit
#endif
