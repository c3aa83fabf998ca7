// Square roots by estimate and refinement, where the divider is what a strip waits for.
#ifndef OP2JIT_JIT_CLANG_ROOTS_H
#define OP2JIT_JIT_CLANG_ROOTS_H

#include <llvm/IR/PassManager.h>

#include "jit/compiler.h"

namespace op2jit {

// A processor takes roots and divisions of doubles one after the other, each for many cycles, while its multipliers
// stand still. With AVX-512, adds a pass that computes so many of a strip's roots by estimate and multiplications that
// both end at once, and divides by constants with their reciprocals and the remainder. Results are the same to the last
// bit; where the number or the quotient is below 1e-290, to the last but one. With OP2_REPRODUCIBLE roots only, and to
// the last bit of any number. Not with OP2_FP=strict.
void refine_roots(llvm::FunctionPassManager &passes, const compile_request &request);

} // namespace op2jit
#endif
