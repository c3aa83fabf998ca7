#include "prove_calls.h"

#include <clang/AST/ExprCXX.h>
#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/Preprocessor.h>

#include <set>
#include <vector>

namespace op2jit {
namespace {

// op_assert and assert, and macros of the text for them, end up as the last of these words.
class Words : public clang::PPCallbacks {
public:
  Words(const clang::SourceManager &sources, int &says) : sources_(sources), says_(says) {
  }
  void MacroExpands(const clang::Token &name, const clang::MacroDefinition &, clang::SourceRange,
                    const clang::MacroArgs *) override {
    const llvm::StringRef word = name.getIdentifierInfo()->getName();
    if (sources_.isInMainFile(name.getLocation())) // the library's own
      return;
    says_ |= word == "OP_ANY_ORDER"                           ? SAYS_ANY_ORDER
             : word == "OP_ROW"                               ? SAYS_ROWS
             : word == "op_assert" || word == "op2jit_assert" ? SAYS_SPEAKS
                                                              : 0;
  }

private:
  const clang::SourceManager &sources_;
  int &says_;
};

class Reached {
public:
  explicit Reached(Rules &rules) : rules_(rules) {
  }

  void follow(const clang::FunctionDecl *function) {
    path_.push_back(function);
    look(function->getBody());
    path_.pop_back();
    done_.insert(function);
  }
  int says = 0;

private:
  void look(const clang::Stmt *statement) {
    if (!statement)
      return;
    if (const auto *name = llvm::dyn_cast<clang::DeclRefExpr>(statement))
      if (const auto *function = llvm::dyn_cast<clang::FunctionDecl>(name->getDecl()))
        reach(function, name);
    if (const auto *member = llvm::dyn_cast<clang::MemberExpr>(statement))
      if (const auto *method = llvm::dyn_cast<clang::FunctionDecl>(member->getMemberDecl()))
        reach(method, member);
    if (const auto *made = llvm::dyn_cast<clang::CXXConstructExpr>(statement))
      reach(made->getConstructor(), made);
    for (const clang::Stmt *part : statement->children())
      look(part);
  }

  void reach(const clang::FunctionDecl *function, const clang::Expr *where) {
    const clang::FunctionDecl *definition = nullptr;
    const llvm::StringRef name = function->getIdentifier() ? function->getName() : "";
    if (name == "printf" || name == "puts" || name == "putchar")
      says = SAYS_SPEAKS;
    if (!function->hasBody(definition) || done_.count(definition))
      return;
    for (const clang::FunctionDecl *caller : path_)
      if (caller == definition) {
        rules_.whole(PROVE_VIOLATED, FOUND_RECURSION, where->getExprLoc(), definition->getNameAsString());
        return;
      }
    follow(definition);
  }

  Rules &rules_;
  std::vector<const clang::FunctionDecl *> path_;
  std::set<const clang::FunctionDecl *> done_;
};

} // namespace

void watch_words(clang::Preprocessor &preprocessor, int &says) {
  preprocessor.addPPCallbacks(std::make_unique<Words>(preprocessor.getSourceManager(), says));
}

int follow_calls(const clang::FunctionDecl &kernel, Rules &rules) {
  Reached reached(rules);
  reached.follow(&kernel);
  return reached.says;
}

} // namespace op2jit
