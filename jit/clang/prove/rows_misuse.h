// A kernel's use of the rows of ragged maps, as its tree shows it (jit/kernel/rows.h). In doubt the answer is no.
#ifndef OP2JIT_JIT_CLANG_PROVE_ROWS_MISUSE_H
#define OP2JIT_JIT_CLANG_PROVE_ROWS_MISUSE_H

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>
#include <clang/AST/ParentMap.h>
#include <clang/Basic/SourceManager.h>

#include <map>
#include <set>
#include <string>

#include "jit/clang/prove/prove_rules.h"
#include "jit/kernel/rows.h"
#include "jit/prover.h"

namespace op2jit {

// A kernel whose parameters match its arguments, and its text.
class KernelText {
public:
  KernelText(const clang::ASTContext &context, const prove_request &request,
             const clang::FunctionDecl &kernel);

  // The loop's argument that a parameter of the kernel is; -1: it is none.
  int argument(const clang::Decl *parameter) const;
  bool is_number_of_targets(const clang::Decl *parameter) const;
  // A function that the text defines.
  const clang::FunctionDecl *own_function(const clang::FunctionDecl *function) const;
  bool is_here(clang::SourceLocation at) const {
    return context.getSourceManager().getFileID(at) == file;
  }
  // Bytes of the text; -1: it stands elsewhere, or a macro has made it.
  int place(clang::SourceLocation at) const;
  row_range range(clang::SourceRange at) const; // of whole words
  int end_of(const clang::Stmt *statement) const;
  // Behind the bracket that closes the first one from `at` on; -1: none does.
  int behind_bracket(int at) const;

  const clang::ASTContext &context;
  const prove_request &request;
  const clang::FunctionDecl &kernel;
  clang::FileID file;
  llvm::StringRef text;
  std::set<int> directives;     // where preprocessor lines begin
  std::map<int, int> any_order; // what follows an OP_ANY_ORDER, and where that is
  int named = 0;                // how often the kernel's name is in the text
  bool has_typeof = false;

private:
  void look_at_words();
};

// OP_ROW(x, k): `handle` is x.
struct Row {
  const clang::Expr *handle = nullptr, *index = nullptr;
  int place = -1; // of the word OP_ROW; -1: a macro has made it
  explicit operator bool() const {
    return handle != nullptr;
  }
};
Row row_at(const KernelText &text, const clang::Stmt *statement);
// Where x is, four times.
std::set<const clang::Stmt *> handles_of(const clang::Stmt *row);

// The variable that is named, with parentheses perhaps; NULL: it is something else.
const clang::VarDecl *variable_of(const clang::Stmt *expression);
// Whether only the target of a pointer is used.
bool is_followed(const clang::ParentMap &parents, const clang::Stmt *pointer);
// The statement and all in it.
void each(const clang::Stmt *statement, llvm::function_ref<void(const clang::Stmt *)> look);

// The first place where OP_ROW is used of something else, or rows of a ragged map without it.
struct Misuse {
  int argument = -1;
  Finding finding;
};
Misuse find_misuse(const KernelText &text);

// Why nothing of the kernel's and its helpers' text can be shared by threads, whatever its loops are; WHY_NOT_LOOKED_AT: it can.
split_why doubt_of_text(const KernelText &text);
void find_loops(const KernelText &text, row_facts &out);
void find_stays(const KernelText &text, row_facts &out);

} // namespace op2jit
#endif
