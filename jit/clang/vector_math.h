// Which vector forms of the functions of <math.h> the vectorisers may call.
#ifndef OP2JIT_JIT_CLANG_VECTOR_MATH_H
#define OP2JIT_JIT_CLANG_VECTOR_MATH_H

#include <llvm/Passes/PassBuilder.h>

#include "jit/compiler.h"

namespace op2jit {

// Makes the pipeline mark, just before it vectorises, each call of a mathematical function with those of
// its vector forms that the request's processor and floating point allow and this machine has.
void offer_vector_math(llvm::PassBuilder &builder, const compile_request &request);

} // namespace op2jit
#endif
