// Which functions a kernel reaches, by calls or by their addresses, and what its text does by that: none may reach itself.
#ifndef OP2JIT_JIT_CLANG_PROVE_CALLS_H
#define OP2JIT_JIT_CLANG_PROVE_CALLS_H

#include "prove_rules.h"

namespace clang {
class Preprocessor;
} // namespace clang

namespace op2jit {

// Adds to `says` what the macros that are expanded from now on say (enum says).
void watch_words(clang::Preprocessor &preprocessor, int &says);
// Reports a violation about the whole kernel where a function that is being followed is named again. Returns whether a function
// is reached that prints: SAYS_SPEAKS, or 0.
int follow_calls(const clang::FunctionDecl &kernel, Rules &rules);

} // namespace op2jit
#endif
