// What LLVM's own pipeline does not do.
#ifndef OP2JIT_JIT_CLANG_PASSES_H
#define OP2JIT_JIT_CLANG_PASSES_H

#include <llvm/Passes/PassBuilder.h>

#include "jit/compiler.h"

namespace op2jit {

// LLVM's vectorisers refuse loops with a switch in them: makes the pipeline turn switches into branches just before
// it vectorises, in functions with a loop that asks to be vectorised.
void lower_switches(llvm::PassBuilder &builder);

// The first of the request's files says whether the kernel's loops mostly run a few rounds, and not always as many: makes
// the pipeline leave those rolled whose number of rounds is not known.
void keep_loops_rolled(llvm::PassBuilder &builder, const compile_request &request);

// LLVM 19 says of the results of calls what holds behind the branches before them, and then brings such a call in front of
// a branch with what it said (`if (v < low) return low; return min(v, high);` gave v): makes the pipeline forget it.
void forget_ranges(llvm::PassBuilder &builder);

// What leaves a strip as minus something else, as fluxes do, is turned into rows like it: makes the pipeline negate
// rows in place of lanes, so that both are turned once, and the negation becomes a subtraction.
void negate_rows(llvm::PassBuilder &builder);

// Divisions and square roots take long, and most of what follows waits for them: makes the pipeline begin each one of a
// strip as soon as what it needs is loaded, before other data are, but for those that wait for another one.
void begin_divisions(llvm::PassBuilder &builder, const compile_request &request);

// For code that is run to see whether it goes wrong: it stops where it leaves a variable or a constant. Before
// anything is optimised. How far a pointer may go is seen within one function only, so all become one.
void guard_variables(llvm::Module &module, llvm::ModuleAnalysisManager &analyses);

} // namespace op2jit
#endif
