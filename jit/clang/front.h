// C text to LLVM's intermediate form, through a clang that sees only the request's files.
#ifndef OP2JIT_JIT_CLANG_FRONT_H
#define OP2JIT_JIT_CLANG_FRONT_H

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <memory>

#include "plugin.h"

namespace clang {
class ASTConsumer;
class ASTContext;
class CallExpr;
class CodeGenerator;
class CompilerInstance;
class Expr;
class FunctionDecl;
class Preprocessor;
class Stmt;
} // namespace clang

namespace op2jit {

// Parses the request's text. `consume` makes what is told of each declaration; `done` is called at the end if
// there was no error. False, with an error in the messages, if there was; then `consume` may have been called twice.
bool parse(const compile_request &request, Output &output,
           llvm::function_ref<std::unique_ptr<clang::ASTConsumer>(clang::CompilerInstance &)> consume,
           llvm::function_ref<void(clang::ASTContext &)> done, bool cxx = false);
clang::Preprocessor &preprocessor_of(clang::CompilerInstance &compiler);

// The kernel's definition, or null. In C++ it may be in a namespace, "inner::flux"; those without a name, and inline ones, are
// not said.
const clang::FunctionDecl *find_kernel(const clang::ASTContext &context, llvm::StringRef name);

// Whether both read the same, but for parentheses and conversions.
bool is_same(const clang::Expr *one, const clang::Expr *other, const clang::ASTContext &context);
// The name of a function, or "".
llvm::StringRef name_of(const clang::FunctionDecl *function);
// The call in OP_ROW(x, k), which the prelude spells as the first row plus a call that gives the way to the k-th one; or null.
// k is its last argument. op2_row is the one of checked forms.
const clang::CallExpr *row_call(const clang::Stmt *sum);

// Whether the kernel, the second file, is C++: its name ends in .cc. The main file is then read twice: as C, where it holds the
// loop and calls the kernel by its entry, and as C++, where it holds the entry and includes the kernel.
bool is_cxx(const compile_request &request);

// The module made from a text, and the context that owns it.
struct Lowered {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  bool is_whole =
      true; // else a compiler that broke down left it so, with ways into a stack that is gone: it must not be freed
};

// Lowers what is parsed. It stays with the compiler instance, and belongs to it.
clang::CodeGenerator *lower(clang::CompilerInstance &compiler, llvm::LLVMContext &context);

// Parses and lowers. NULL if the text is wrong; then the messages hold an error.
std::unique_ptr<llvm::Module> front_end(const compile_request &request, llvm::LLVMContext &context,
                                        Output &output);

} // namespace op2jit
#endif
