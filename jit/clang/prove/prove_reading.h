// What a text means in C alone: C++, as which compilers of GPUs read it, would take it for something else without a
// word.
#ifndef OP2JIT_JIT_CLANG_PROVE_READING_H
#define OP2JIT_JIT_CLANG_PROVE_READING_H

#include <clang/AST/ASTContext.h>

#include "jit/prover.h"

namespace op2jit {

struct OtherReading {
  clang::SourceLocation where; // invalid: there is none
  prove_found what = FOUND_NONE;
};

// The first of the unit.
OtherReading find_other_reading(clang::ASTContext &context);

} // namespace op2jit
#endif
