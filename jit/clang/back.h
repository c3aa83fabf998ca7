// LLVM's intermediate form to an object.
#ifndef OP2JIT_JIT_CLANG_BACK_H
#define OP2JIT_JIT_CLANG_BACK_H

#include <llvm/IR/Module.h>

#include "output.h"

namespace op2jit {

// Optimises the module and writes output.object; false if LLVM cannot, then the messages say why.
bool back_end(const compile_request &request, llvm::Module &module, Output &output);

} // namespace op2jit
#endif
