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

} // namespace op2jit
#endif
