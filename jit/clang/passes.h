// Passes that LLVM's own pipeline does not have.
#ifndef OP2JIT_JIT_CLANG_PASSES_H
#define OP2JIT_JIT_CLANG_PASSES_H

#include <llvm/Passes/PassBuilder.h>

#include "jit/compiler.h"

namespace op2jit {

// Makes the pipeline do what each pass of passes.cc and roots.cc says.
void add_passes(llvm::PassBuilder &builder, const compile_request &request);

// For code that is run to see whether it goes wrong: it stops where it leaves a variable or a constant. Before
// anything is optimised. How far a pointer may go is seen within one function only, so all become one.
void guard_variables(llvm::Module &module, llvm::ModuleAnalysisManager &analyses);

// ---- roots.cc: square roots by estimate and refinement, where the divider is what a strip waits for ----

// A processor takes roots and divisions of doubles one after the other, each for many cycles, while its multipliers
// stand still. With AVX-512, adds a pass that computes so many of a strip's roots by estimate and multiplications that
// both end at once, and divides by constants with their reciprocals and the remainder. Results are the same to the last
// bit; where the number or the quotient is below 1e-290, to the last but one. With OP2_REPRODUCIBLE roots only, and to
// the last bit of any number. Not with OP2_FP=strict.
void refine_roots(llvm::FunctionPassManager &passes, const compile_request &request);

// ---- vector_math.cc: which vector forms of the functions of <math.h> the vectorisers may call ----

// Makes the pipeline mark, just before it vectorises, each call of a mathematical function with those of
// its vector forms that the request's processor and floating point allow and this machine has.
void offer_vector_math(llvm::PassBuilder &builder, const compile_request &request);

} // namespace op2jit
#endif
