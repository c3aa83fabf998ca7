// The function that the generated loop calls: the kernel itself. For a method or a template's instance it is a function of
// our own that calls the kernel, since generated code names functions.
#ifndef OP2JIT_JIT_CLANG_ENTRY_H
#define OP2JIT_JIT_CLANG_ENTRY_H

#include <clang/AST/ASTContext.h>

#include <string>
#include <vector>

#include "tokens.h"

namespace op2jit {

// Its full name, "inner::flux".
std::string entry_of(const clang::FunctionDecl &kernel);
// Adds to a text that has the kernel what `entry_of` names, if it is not there.
void add_entry(const clang::ASTContext &context, const clang::FunctionDecl &kernel, std::string &text,
               std::vector<LineOrigin> &origins);

} // namespace op2jit
#endif
