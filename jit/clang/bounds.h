// How much of a text is accepted. Beyond it there is an error, not an endless compilation: macros can make
// millions of words out of ten lines.
#ifndef OP2JIT_JIT_CLANG_BOUNDS_H
#define OP2JIT_JIT_CLANG_BOUNDS_H

#include <clang/Lex/Preprocessor.h>

#include "output.h"

namespace op2jit::bounds {

constexpr unsigned nesting = 4000;      // brackets of any kind within each other
constexpr unsigned errors = 20;         // after so many the rest is not read either
constexpr unsigned statement = 1000000; // words between two semicolons or braces
constexpr unsigned text = 5000000;      // words in all

// Counts the words that the parser gets, and abandons the compilation where there are too many.
void watch(clang::Preprocessor &preprocessor, Output &output);

} // namespace op2jit::bounds
#endif
