#include "prove_calls.h"

#include <clang/AST/ExprCXX.h>

#include <set>
#include <vector>

namespace op2jit {
namespace {

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

void check_recursion(const clang::FunctionDecl &kernel, Rules &rules) {
  Reached(rules).follow(&kernel);
}

} // namespace op2jit
