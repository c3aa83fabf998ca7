// Constants are const in a text, and variables in the program. A pointer or reference to one that is not const does not
// compile then; it is made const, so that the compiler itself sees whether a kernel changes what it points to.
#ifndef OP2JIT_JIT_CLANG_POINTERS_H
#define OP2JIT_JIT_CLANG_POINTERS_H

#include "needs.h"

namespace op2jit {

// Where declarations begin of what points to a constant, in local variables and parameters.
std::set<clang::SourceLocation> pointers_to_constants(const Scope &scope, const Needs &needs);

} // namespace op2jit
#endif
