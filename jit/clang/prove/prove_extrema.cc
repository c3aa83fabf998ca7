#include <clang/Basic/Builtins.h>

#include "prove_walk.h"

namespace op2jit {

// The argument that an operand of a comparison is, without effects; -1 if it is none.
static int compared_argument(const clang::Expr *operand, const State &state) {
  operand = operand->IgnoreParenImpCasts();
  const clang::Expr *base = nullptr;
  if (const auto *item = llvm::dyn_cast<clang::ArraySubscriptExpr>(operand))
    base = item->getBase();
  else if (const auto *unary = llvm::dyn_cast<clang::UnaryOperator>(operand))
    base = unary->getOpcode() == clang::UO_Deref ? unary->getSubExpr() : nullptr;
  const auto *name = base ? llvm::dyn_cast<clang::DeclRefExpr>(base->IgnoreParenImpCasts()) : nullptr;
  const auto *variable = name ? llvm::dyn_cast<clang::VarDecl>(name->getDecl()) : nullptr;
  const auto found = variable ? state.values.find({variable, 0}) : state.values.end();
  return found != state.values.end() && found->second.kind == Value::Pointer &&
                 found->second.target.kind == Place::Argument
             ? found->second.target.argument
             : -1;
}

// x != x, or isnan(x).
static bool tests_for_nan(const clang::Expr *condition, const clang::ASTContext &context) {
  if (const auto *calls = llvm::dyn_cast<clang::CallExpr>(condition))
    return calls->getBuiltinCallee() == clang::Builtin::BI__builtin_isnan;
  const auto *comparison = llvm::dyn_cast<clang::BinaryOperator>(condition);
  if (!comparison || comparison->getOpcode() != clang::BO_NE ||
      !comparison->getLHS()->getType()->isRealFloatingType())
    return false;
  llvm::FoldingSetNodeID left, right;
  comparison->getLHS()->Profile(left, context, true);
  comparison->getRHS()->Profile(right, context, true);
  return left == right;
}

void Walk::add_guards(const clang::Expr *condition, bool holds) {
  condition = condition->IgnoreParenImpCasts();
  if (holds && tests_for_nan(condition, context_))
    guards_.push_back({-1, false});
  if (const auto *unary = llvm::dyn_cast<clang::UnaryOperator>(condition)) {
    if (unary->getOpcode() == clang::UO_LNot)
      add_guards(unary->getSubExpr(), !holds);
    return;
  }
  const auto *comparison = llvm::dyn_cast<clang::BinaryOperator>(condition);
  if (!comparison)
    return;
  // Either side of && and ||: `if (v > *m || v != v) *m = v` lets NaNs through on purpose.
  if (comparison->isLogicalOp()) {
    add_guards(comparison->getLHS(), holds);
    add_guards(comparison->getRHS(), holds);
  }
  if (!comparison->isRelationalOp())
    return;
  const bool less = comparison->getOpcode() == clang::BO_LT || comparison->getOpcode() == clang::BO_LE;
  const int on_left = compared_argument(comparison->getLHS(), state_);
  const int on_right = compared_argument(comparison->getRHS(), state_);
  if (on_right >= 0)
    guards_.push_back({on_right, less == holds});
  if (on_left >= 0)
    guards_.push_back({on_left, less != holds});
}

// What the assigned value says itself: *m = fmin(*m, v), *m = v < *m ? v : *m.
Compared Walk::compared_in(const clang::Expr *assigned, int argument, bool minimum) {
  assigned = assigned->IgnoreParenImpCasts();
  if (const auto *calls = llvm::dyn_cast<clang::CallExpr>(assigned)) {
    const clang::FunctionDecl *callee = calls->getDirectCallee();
    const llvm::StringRef name = callee && callee->getIdentifier() ? callee->getName() : "";
    const bool smaller = name == "fmin" || name == "fminf", larger = name == "fmax" || name == "fmaxf";
    bool mentioned = false;
    for (const clang::Expr *operand : calls->arguments())
      mentioned |= compared_argument(operand, state_) == argument;
    if (mentioned && (smaller || larger))
      return smaller == minimum ? Compared::Rightly : Compared::Wrongly;
  }
  if (const auto *choice = llvm::dyn_cast<clang::ConditionalOperator>(assigned)) {
    const bool keeps_else = compared_argument(choice->getFalseExpr(), state_) == argument;
    const bool keeps_then = compared_argument(choice->getTrueExpr(), state_) == argument;
    const size_t before = guards_.size();
    Compared result = Compared::No;
    add_guards(choice->getCond(), keeps_else);
    for (size_t i = before; i < guards_.size() && (keeps_else || keeps_then); i++)
      if (guards_[i].argument == argument)
        result = guards_[i].below == minimum ? Compared::Rightly : Compared::Wrongly;
    guards_.resize(before);
    return result;
  }
  return Compared::No;
}

// For who declared OP_INC what is OP_MIN or OP_MAX.
void Walk::note_extremum(const Place &to, const clang::Expr *assigned) {
  if (to.kind != Place::Argument || rules_.argument(to.argument).access != PROVE_INC)
    return;
  Compared found = compared_in(assigned, to.argument, true);
  for (const Guard &guard : guards_)
    if (guard.argument == to.argument)
      found = guard.below ? Compared::Rightly : Compared::Wrongly;
  if (found == Compared::Rightly || found == Compared::Wrongly)
    rules_.keeps_extremum(to.argument, found == Compared::Rightly);
}

Compared Walk::compared(const Place &to, const clang::Expr *assigned, const std::vector<bool> &read_before) {
  if (to.kind != Place::Argument)
    return Compared::No;
  const bool minimum = rules_.argument(to.argument).access == PROVE_MIN;
  Compared result = compared_in(assigned, to.argument, minimum);
  for (const Guard &guard : guards_)
    if (guard.argument < 0 || (guard.argument == to.argument && guard.below == minimum))
      return Compared::Rightly;
    else if (guard.argument == to.argument && result == Compared::No)
      result = Compared::Wrongly;
  // It may have been compared by way of a variable, or the kernel returned before.
  const bool read = read_before[static_cast<size_t>(to.argument)];
  return result == Compared::No && read ? Compared::Somehow : result;
}

} // namespace op2jit
