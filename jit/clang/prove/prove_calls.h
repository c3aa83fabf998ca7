// Which functions a kernel reaches, by calls or by their addresses: none may reach itself.
#ifndef OP2JIT_JIT_CLANG_PROVE_CALLS_H
#define OP2JIT_JIT_CLANG_PROVE_CALLS_H

#include "prove_rules.h"

namespace op2jit {

// Reports a violation about the whole kernel where a function that is being followed is named again.
void check_recursion(const clang::FunctionDecl &kernel, Rules &rules);

} // namespace op2jit
#endif
