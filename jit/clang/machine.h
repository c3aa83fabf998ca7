// What a request says about its processor, asked by several parts.
#ifndef OP2JIT_JIT_CLANG_MACHINE_H
#define OP2JIT_JIT_CLANG_MACHINE_H

#include <llvm/ADT/StringRef.h>

#include "jit/compiler.h"

namespace op2jit {

// Is this feature on in the request's list?
bool has_feature(const compile_request &request, llvm::StringRef name);

// The processor to tune for, of those that this clang knows.
const char *known_processor(const compile_request &request);

// Must what the code computes be the operations that the text has, whatever takes less time?
bool keeps_operations(const compile_request &request);

// Bits of the vectors that code should use; 512 where the processor has them and does not slow down for
// them, which of those that clang names only Skylake's server forms do.
unsigned vector_width(const compile_request &request);

} // namespace op2jit
#endif
