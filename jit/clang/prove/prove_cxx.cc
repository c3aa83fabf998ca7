// What C++ has beyond C: references, and more lvalues. Classes that do more than hold values are not followed.
#include <clang/AST/ExprCXX.h>

#include "prove_walk.h"

namespace op2jit {

// A reference is a pointer that is followed wherever it is named.
Value Walk::bind(const clang::Expr *expression) {
  const Place at = place(expression);
  if (at.kind == Place::Local && at.variable)
    escaped_.insert(at.variable);
  return at.kind == Place::Elsewhere ? Value() : Value::to(at);
}

Place Walk::referred(const clang::VarDecl *reference) const {
  const auto found = state_.values.find({reference, 0});
  return found != state_.values.end() && found->second.kind == Value::Pointer ? found->second.target
                                                                              : Place();
}

static bool is_plain(const clang::Expr *expression) {
  const auto *made = llvm::dyn_cast<clang::CXXConstructExpr>(expression);
  return made && made->getConstructor()->isTrivial();
}

static bool is_followed(const clang::Expr *expression) {
  if (llvm::isa<clang::CXXConstructExpr>(expression))
    return is_plain(expression);
  if (const auto *call = llvm::dyn_cast<clang::CallExpr>(expression))
    return !llvm::isa_and_nonnull<clang::CXXMethodDecl>(call->getCalleeDecl());
  return !llvm::isa<clang::LambdaExpr>(expression) && !llvm::isa<clang::CXXNewExpr>(expression) &&
         !llvm::isa<clang::CXXDeleteExpr>(expression) && !llvm::isa<clang::CXXThrowExpr>(expression) &&
         !llvm::isa<clang::CXXThisExpr>(expression);
}

bool Walk::value_cxx(const clang::Expr *expression, Value &result) {
  if (const auto *kept = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(expression))
    result = value(kept->getSubExpr());
  else if (const auto *whole = llvm::dyn_cast<clang::FullExpr>(expression))
    result = value(whole->getSubExpr());
  else if (const auto *usual = llvm::dyn_cast<clang::CXXDefaultArgExpr>(expression))
    result = value(usual->getExpr());
  else if (!is_followed(expression))
    rules_.lost_all(expression->getExprLoc(), "could not be followed through this C++");
  else
    return false;
  return true;
}

bool Walk::place_cxx(const clang::Expr *expression, bool used, Place &result) {
  if (const auto *choice = llvm::dyn_cast<clang::AbstractConditionalOperator>(expression)) {
    value(choice->getCond());
    for (const clang::Expr *one : {choice->getTrueExpr(), choice->getFalseExpr()}) {
      const Place at = place(one);
      rules_.lost(at, expression->getExprLoc(), "is one of two places");
      if (at.kind == Place::Local && at.variable)
        lose(at.variable, expression->getExprLoc());
    }
    return true;
  }
  const auto *unary = llvm::dyn_cast<clang::UnaryOperator>(expression);
  if (unary && unary->isPrefix() && unary->isIncrementDecrementOp()) {
    value(unary);
    result = place(unary->getSubExpr(), used);
    return true;
  }
  if (const auto *binary = llvm::dyn_cast<clang::BinaryOperator>(expression)) {
    value(binary->isAssignmentOp() ? binary : binary->getLHS());
    result = place(binary->isAssignmentOp() ? binary->getLHS() : binary->getRHS(), used);
    return true;
  }
  const auto *call = llvm::dyn_cast<clang::CallExpr>(expression);
  if (!call || !expression->isGLValue())
    return false;
  const Value given = value(call);
  if (given.kind == Value::Pointer)
    result = given.target;
  return true;
}

} // namespace op2jit
