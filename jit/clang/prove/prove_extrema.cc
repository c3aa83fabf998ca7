#include <clang/Basic/Builtins.h>

#include "jit/clang/front.h"
#include "prove_expressions.h"

namespace op2jit {

// ---- numbers that are not known ------------------------------------------------------------------

Value Walk::named(const std::string &key) {
  return Value::named(names_.emplace(key, static_cast<int64_t>(names_.size())).first->second);
}

Value Walk::named_for_all(const std::string &key) {
  const Value result = named(key);
  for_all_.insert(result.number);
  return result;
}

bool Walk::is_for_all(const Value &value) const {
  return value.kind == Value::Integer || (value.kind == Value::Named && for_all_.count(value.number));
}

std::string Walk::key_of(const Value &value) {
  switch (value.kind) {
  case Value::Integer: return std::to_string(value.number);
  case Value::Named: return "n" + std::to_string(value.number);
  default: return "";
  }
}

// The same operation on the same numbers gives the same.
Value Walk::of_operation(const std::string &name, const std::vector<Value> &operands) {
  std::string key = name + "(";
  bool for_all = !operands.empty();
  for (const Value &operand : operands) {
    for_all &= is_for_all(operand);
    const std::string part = key_of(operand);
    if (part.empty())
      return Value();
    key += part + ",";
  }
  return for_all ? named_for_all(key) : named(key);
}

// ---- what comparisons say ------------------------------------------------------------------------

// With all that is known here.
Value Walk::bounded(const Value &value) const {
  if (value.kind != Value::Named)
    return value;
  Value result = value;
  for (const Fact &fact : facts_)
    if (fact.number == value.number && result.kind == Value::Bound && result.target == fact.bound.target &&
        result.minus == fact.bound.minus) {
      result.above |= fact.bound.above;
      result.below |= fact.bound.below;
    } else if (fact.number == value.number && result.kind != Value::Bound)
      result = fact.bound;
  return result;
}

void Walk::learn_of(const Value &smaller, const Value &larger) {
  const auto add = [this](const Value &of, const Value &than, bool above) {
    const Value side = bounded(than);
    if (of.kind != Value::Named || side.kind != Value::Bound || !(above ? side.above : side.below))
      return;
    Value bound = side;
    bound.above = above;
    bound.below = !above;
    facts_.push_back({of.number, bound});
  };
  add(larger, smaller, true);
  add(smaller, larger, false);
}

// x != x, or isnan(x).
static bool tests_for_nan(const clang::Expr *condition, const clang::ASTContext &context) {
  condition = condition->IgnoreParenImpCasts();
  if (const auto *calls = llvm::dyn_cast<clang::CallExpr>(condition))
    return calls->getBuiltinCallee() == clang::Builtin::BI__builtin_isnan;
  const auto *comparison = llvm::dyn_cast<clang::BinaryOperator>(condition);
  return comparison && comparison->getOpcode() == clang::BO_NE &&
         comparison->getLHS()->getType()->isRealFloatingType() &&
         is_same(comparison->getLHS(), comparison->getRHS(), context);
}

// The condition was evaluated just now. Where a comparison does not hold, a NaN may be the reason; such a value may
// go through.
void Walk::learn(const clang::Expr *condition, bool holds) {
  condition = condition->IgnoreParenImpCasts();
  if (holds && tests_for_nan(condition, context_))
    facts_.push_back({-1, Value()});
  if (const auto *unary = llvm::dyn_cast<clang::UnaryOperator>(condition)) {
    if (unary->getOpcode() == clang::UO_LNot)
      learn(unary->getSubExpr(), !holds);
    return;
  }
  const auto *comparison = llvm::dyn_cast<clang::BinaryOperator>(condition);
  if (!comparison)
    return;
  const clang::Expr *left = comparison->getLHS(), *right = comparison->getRHS();
  if (comparison->isLogicalOp()) {
    const bool all = (comparison->getOpcode() == clang::BO_LAnd) == holds;
    if (all || (holds && tests_for_nan(right, context_))) // `if (v > *m || v != v) *m = v`
      learn(left, holds);
    if (all || (holds && tests_for_nan(left, context_)))
      learn(right, holds);
    return;
  }
  const auto found = sides_.find(comparison);
  if (!comparison->isRelationalOp() || found == sides_.end())
    return;
  const bool less = comparison->getOpcode() == clang::BO_LT || comparison->getOpcode() == clang::BO_LE;
  const Value one = found->second.first, other = found->second.second;
  if (less == holds)
    learn_of(one, other);
  else
    learn_of(other, one);
}

// ---- extrema ---------------------------------------------------------------------------------------

// fmax and fmin: the largest is above what either is above, and below what both are below.
Value Walk::extremum_of(const Value &one, const Value &other, bool largest) {
  const Value a = bounded(one), b = bounded(other);
  const bool a_bound = a.kind == Value::Bound, b_bound = b.kind == Value::Bound;
  if (!a_bound && !b_bound)
    return of_operation(largest ? "max" : "min", {a, b});
  if (a_bound && b_bound && (!(a.target == b.target) || a.minus != b.minus))
    return Value();
  Value result = a_bound ? a : b;
  const bool either = largest != result.minus; // of the numbers without the minus
  const auto combine = [&](bool x, bool y, bool any) { return any ? x || y : x && y; };
  result.above = combine(a_bound && a.above, b_bound && b.above, either);
  result.below = combine(a_bound && a.below, b_bound && b.below, !either);
  return result.above || result.below ? result : Value();
}

// Compares the assigned value with what the argument held.
Compared Walk::compared(const Place &to, const Value &what) {
  if (to.kind != Place::Argument)
    return Compared::No;
  const bool minimum = rules_.argument(to.argument).access == OP_MIN;
  for (const Fact &fact : facts_)
    if (fact.number < 0)
      return Compared::Rightly;
  const Value side = bounded(what);
  if (side.kind != Value::Bound || side.minus || !(side.target == to))
    return Compared::No;
  if (rules_.argument(to.argument).access == OP_INC && side.above != side.below)
    rules_.keeps_extremum(side.below);
  return (minimum ? side.below : side.above) ? Compared::Rightly : Compared::Wrongly;
}

} // namespace op2jit
