// Which vector forms of the functions of <math.h> the vectorisers may call.
#ifndef OP2JIT_JIT_CLANG_VECTOR_MATH_H
#define OP2JIT_JIT_CLANG_VECTOR_MATH_H

#include <llvm/IR/Module.h>

#include "../compiler.h"

namespace op2jit {

// Marks each call of a mathematical function with those forms in libmvec that the request's processor
// and floating point allow and this machine has. Strict floating point allows none.
void offer_vector_math(llvm::Module &module, const compile_request &request);

} // namespace op2jit
#endif
