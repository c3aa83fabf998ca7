// The values of variables, as far as they are known: loads, stores, and values that are lost.
#include "prove_expressions.h"

namespace op2jit {

// How many values the type holds: of arrays those of all elements, of structures those of all members; 0: not known.
// A union is not followed.
int64_t Walk::values_in(clang::QualType type) const {
  int64_t count = 1;
  while (const auto *array = type.isNull() ? nullptr : context_.getAsConstantArrayType(type)) {
    count *= array->getSize().getSExtValue();
    type = array->getElementType();
  }
  if (type.isNull() || type->isUnionType())
    return count;
  if (type->isArrayType())
    return 0;
  if (const auto *record = type->getAs<clang::RecordType>()) {
    int64_t members = 0;
    if (const clang::CXXRecordDecl *made = type->getAsCXXRecordDecl(); made && made->hasDefinition())
      for (const clang::CXXBaseSpecifier &base : made->bases())
        members += values_in(base.getType());
    for (const clang::FieldDecl *field : record->getDecl()->fields())
      members += values_in(field->getType());
    return count * members;
  }
  return count;
}

static Number times(Number a, int64_t count) {
  int64_t result;
  return a && count && !__builtin_mul_overflow(*a, count, &result) ? Number(result) : std::nullopt;
}

// A component of an array of arrays is one of all their values.
Value Walk::moved(const Value &pointer, Number by, clang::QualType pointee) {
  Value result = pointer;
  by = times(by, values_in(pointee));
  if (result.target.kind == Place::Pointers)
    result.target.entry = sum(result.target.entry, by);
  else
    result.target.component = sum(result.target.component, by);
  return result;
}

// The value of an element of a table that is const, or of a scalar that is.
Value Walk::constant_of(const clang::VarDecl *variable, Number component) {
  const clang::Expr *init = variable->getAnyInitializer();
  if (!init)
    return Value();
  init = init->IgnoreParenImpCasts();
  while (const auto *list = llvm::dyn_cast<clang::InitListExpr>(init)) {
    const auto *array = context_.getAsArrayType(list->getType());
    const int64_t each = array ? values_in(array->getElementType()) : 0;
    if (!component || *component < 0 || each < 1 || *component / each >= list->getNumInits())
      return Value();
    init = list->getInit(static_cast<unsigned>(*component / each))->IgnoreParenImpCasts();
    component = *component % each;
  }
  clang::Expr::EvalResult result;
  if (init->getType()->isIntegerType() && init->EvaluateAsInt(result, context_))
    return Value::of(result.Val.getInt().getExtValue());
  return Value();
}

Value Walk::load(const Place &from, const clang::Expr *where) {
  rules_.read(from, where, state_);
  if (from.kind == Place::Pointers) {
    if (rules_.argument(from.argument).ragged && !(in_row_ && from.entry && *from.entry == 0))
      rules_.violated(from, FOUND_ROWS_USED, where); // in a macro for instance
    Place target = from;
    target.kind = Place::Argument;
    target.component = 0;
    return Value::to(target);
  }
  const bool number = where->getType()->isArithmeticType();
  if (from.kind == Place::Argument && from.entry && from.component && number) {
    const op_access access = rules_.argument(from.argument).access;
    const std::string key = "argument " + std::to_string(from.argument) + " " + std::to_string(*from.entry) +
                            " " + std::to_string(*from.component);
    if (access == OP_READ)
      return rules_.argument(from.argument).same ? named_for_all(key) : named(key);
    if (access == OP_MIN || access == OP_MAX || access == OP_INC)
      return Value::bound(from, true, true);
  }
  if (from.kind != Place::Local || !from.variable)
    return Value();
  if (!from.component)
    return from.variable->getType().isConstant(context_) ? constant_of(from.variable, from.component)
                                                         : Value();
  const auto found = state_.values.find({from.variable, *from.component});
  if (found != state_.values.end() && found->second.kind != Value::Unset)
    return found->second;
  if (found != state_.values.end()) {
    rules_.unset(from.variable, where);
    state_.values.erase(found); // it is told once
  }
  Value result;
  if (from.variable->getType().isConstant(context_))
    result = constant_of(from.variable, from.component);
  if (result.kind == Value::Unknown && number && from.variable->hasGlobalStorage())
    result =
        named_for_all("constant " + from.variable->getName().str() + " " + std::to_string(*from.component));
  if (result.kind == Value::Unknown && number) {
    result = named("unknown " + std::to_string(names_.size()));
    state_.values[{from.variable, *from.component}] = result;
  }
  return result;
}

// Forgets the variable. Writes through it are not seen from now on.
void Walk::lose(const clang::VarDecl *variable, clang::SourceLocation where) {
  const auto begin = state_.values.lower_bound({variable, INT64_MIN});
  const auto end = state_.values.upper_bound({variable, INT64_MAX});
  for (auto at = begin; at != end; ++at)
    if (at->second.kind == Value::Pointer)
      rules_.lost(at->second.target, where, FOUND_LOST_POINTER);
  state_.values.erase(begin, end);
}

// Something of this type is written through a pointer that is not known.
void Walk::lose_escaped(clang::QualType type, clang::SourceLocation where) {
  for (const clang::VarDecl *variable : escaped_) {
    const clang::QualType held = context_.getBaseElementType(variable->getType());
    if (held->isRecordType() || type->isCharType() || context_.hasSameUnqualifiedType(held, type))
      lose(variable, where);
  }
}

void Walk::store(const Place &to, const Value &what, const clang::Expr *where, Change change,
                 Compared compared) {
  const bool followed = to.kind == Place::Local && to.variable && to.component;
  if (what.kind == Value::Pointer && !followed)
    rules_.lost(what.target, where->getExprLoc(), FOUND_LOST_STORED);
  rules_.write(to, where, state_, change, compared, uncertain_ == 0,
               change == Change::Assign && is_for_all(what) ? key_of(what) : "");
  if (to.kind == Place::Elsewhere)
    lose_escaped(where->getType(), where->getExprLoc());
  if (to.kind != Place::Local || !to.variable)
    return;
  if (!followed)
    lose(to.variable, where->getExprLoc());
  else if (what.kind == Value::Unknown)
    state_.values.erase({to.variable, *to.component});
  else
    state_.values[{to.variable, *to.component}] = bounded(what);
}

} // namespace op2jit
