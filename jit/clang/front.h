// C text to LLVM's intermediate form, through a clang that sees only the request's files.
#ifndef OP2JIT_JIT_CLANG_FRONT_H
#define OP2JIT_JIT_CLANG_FRONT_H

#include <llvm/IR/Module.h>

#include <memory>

#include "output.h"

namespace op2jit {

// NULL if the text is wrong; then the messages hold an error.
std::unique_ptr<llvm::Module> front_end(const compile_request &request, llvm::LLVMContext &context,
                                        Output &output);

} // namespace op2jit
#endif
