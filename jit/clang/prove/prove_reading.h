// C that C++ does not have, or takes for something else without a word: compilers of GPUs read a text as C++.
#ifndef OP2JIT_JIT_CLANG_PROVE_READING_H
#define OP2JIT_JIT_CLANG_PROVE_READING_H

#include <clang/AST/ASTContext.h>

#include <vector>

#include "jit/prover.h"

namespace op2jit {

struct OtherReading {
  clang::SourceLocation where;
  prove_found what;
};

// The first of each kind in the kernel's file.
std::vector<OtherReading> find_other_readings(clang::ASTContext &context);

} // namespace op2jit
#endif
