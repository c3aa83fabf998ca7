// What LLVM's intermediate form of a kernel may hold. C has a few constructs that are none of the kernel
// language and that LLVM would abort on, or think about for hours.
#ifndef OP2JIT_JIT_CLANG_ACCEPT_H
#define OP2JIT_JIT_CLANG_ACCEPT_H

#include <llvm/IR/Module.h>

#include "output.h"

namespace op2jit {

// False with an error in the messages: assembler text, thread-local variables, constructors, and vectors
// beyond any machine's.
bool acceptable(const llvm::Module &module, Output &output);

} // namespace op2jit
#endif
