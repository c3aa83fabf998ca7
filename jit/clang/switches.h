// LLVM's vectorisers refuse loops with a switch in them.
#ifndef OP2JIT_JIT_CLANG_SWITCHES_H
#define OP2JIT_JIT_CLANG_SWITCHES_H

#include <llvm/Passes/PassBuilder.h>

namespace op2jit {

// Makes the pipeline turn switches into branches just before it vectorises, in functions with a loop
// that asks to be vectorised.
void lower_switches(llvm::PassBuilder &builder);

} // namespace op2jit
#endif
