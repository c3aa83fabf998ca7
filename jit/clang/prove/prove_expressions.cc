#include "prove_expressions.h"
#include "jit/clang/front.h"

namespace op2jit {

// Where an element of an array is, or what follows a pointer.
Place Walk::element(const clang::ArraySubscriptExpr *item, bool used) {
  const clang::Expr *array = item->getBase()->IgnoreParens();
  const auto *decay = llvm::dyn_cast<clang::ImplicitCastExpr>(array);
  const bool of_array = decay && decay->getCastKind() == clang::CK_ArrayToPointerDecay;
  Value base;
  if (of_array) {
    const Place first = place(decay->getSubExpr(), used);
    base = first.kind == Place::Elsewhere ? Value() : Value::to(first);
  } else
    base = value(item->getBase());
  const Number index = value(item->getIdx()).as_number();
  const auto *size = of_array ? context_.getAsConstantArrayType(decay->getSubExpr()->getType()) : nullptr;
  const Place at = base.kind == Value::Pointer ? moved(base, index, item->getType()).target : Place();
  if (used && size)
    rules_.index(decay->getSubExpr(), index, size->getSize().getSExtValue(), at);
  if (used && base.kind == Value::Integer && base.number == 0)
    rules_.whole(PROVE_VIOLATED, FOUND_NULL_POINTER, item->getExprLoc());
  return at;
}

// Where an lvalue is; its parts are evaluated on the way.
Place Walk::place(const clang::Expr *expression, bool used) {
  expression = expression->IgnoreParens();
  Place result;
  if (const auto *name = llvm::dyn_cast<clang::DeclRefExpr>(expression)) {
    const auto *variable = llvm::dyn_cast<clang::VarDecl>(name->getDecl());
    if (!variable || variable->getType()->isReferenceType())
      return variable ? referred(variable) : result;
    result.variable = variable;
    result.kind = variable->hasGlobalStorage() && !variable->getType().isConstant(context_) ? Place::Lasting
                                                                                            : Place::Local;
    return result;
  }
  if (const auto *item = llvm::dyn_cast<clang::ArraySubscriptExpr>(expression))
    return element(item, used);
  if (const auto *unary = llvm::dyn_cast<clang::UnaryOperator>(expression)) {
    if (unary->getOpcode() == clang::UO_Deref) {
      const Value pointer = value(unary->getSubExpr());
      if (used && pointer.kind == Value::Integer && pointer.number == 0)
        rules_.whole(PROVE_VIOLATED, FOUND_NULL_POINTER, unary->getExprLoc());
      return pointer.kind == Value::Pointer ? pointer.target : result;
    }
    if (unary->getOpcode() == clang::UO_Extension || unary->getOpcode() == clang::UO_Real ||
        unary->getOpcode() == clang::UO_Imag)
      return place(unary->getSubExpr(), used);
  }
  if (const auto *part = llvm::dyn_cast<clang::MemberExpr>(expression))
    return member(part, used);
  if (const auto *casts = llvm::dyn_cast<clang::CastExpr>(expression))
    return base_of(place(casts->getSubExpr(), used), casts);
  if (!place_cxx(expression, used, result) && expression->isPRValue())
    value(expression);
  return result;
}

Value Walk::cast(const clang::CastExpr *expression) {
  const clang::Expr *inner = expression->getSubExpr();
  switch (expression->getCastKind()) {
  case clang::CK_LValueToRValue: {
    Value extremum;
    return chosen(inner, extremum) ? extremum : load(place(inner, true), inner);
  }
  case clang::CK_ArrayToPointerDecay: {
    const Place first = place(inner);
    if (first.kind == Place::Local)
      escaped_.insert(first.variable);
    return first.kind == Place::Elsewhere ? Value() : Value::to(first);
  }
  case clang::CK_NullToPointer: value(inner); return Value::of(0);
  case clang::CK_PointerToBoolean: {
    const Value pointer = value(inner);
    return pointer.kind == Value::Integer ? Value::of(pointer.number != 0) : Value();
  }
  case clang::CK_NoOp:
  case clang::CK_FunctionToPointerDecay: return value(inner);
  case clang::CK_IntegralToBoolean: {
    const Value result = value(inner);
    return result.kind == Value::Integer ? Value::of(result.number != 0) : of_operation("bool", {result});
  }
  case clang::CK_IntegralCast: {
    Value result = value(inner);
    if (result.kind == Value::Integer && expression->getType()->isIntegerType()) {
      const unsigned width = context_.getIntWidth(expression->getType());
      llvm::APSInt number(
          llvm::APInt(64, static_cast<uint64_t>(result.number)).trunc(width < 64 ? width : 64),
          expression->getType()->isUnsignedIntegerOrEnumerationType());
      result.number = number.getExtValue();
    } else if (result.kind == Value::Named)
      return of_operation(expression->getType().getCanonicalType().getAsString(), {result});
    return result;
  }
  case clang::CK_BitCast: {
    Value result = value(inner);
    const clang::QualType from = inner->getType()->getPointeeType(),
                          to = expression->getType()->getPointeeType();
    const bool same =
        !from.isNull() && !to.isNull() &&
        from.getCanonicalType().getUnqualifiedType() == to.getCanonicalType().getUnqualifiedType();
    const bool through_void = !to.isNull() && (to->isVoidType() || from->isVoidType());
    if (result.kind == Value::Pointer && !same && !through_void && result.target.kind != Place::Pointers) {
      rules_.lost(result.target, expression->getExprLoc(), FOUND_LOST_CAST);
      result.target.component = std::nullopt;
    }
    return result;
  }
  case clang::CK_PointerToIntegral: {
    const Value pointer = value(inner);
    rules_.lost(pointer.target, expression->getExprLoc(), FOUND_LOST_NUMBER);
    return Value();
  }
  default: {
    const Value result = value(inner);
    if (result.kind == Value::Bound && expression->getCastKind() == clang::CK_FloatingCast)
      return result;
    return of_operation(expression->getType().getCanonicalType().getAsString(), {bounded(result)});
  }
  }
}

Value Walk::unary(const clang::UnaryOperator *expression) {
  const clang::Expr *inner = expression->getSubExpr();
  if (expression->isIncrementDecrementOp()) {
    const Place at = place(inner, true);
    const int64_t step = expression->isIncrementOp() ? 1 : -1;
    const bool adds = at.kind == Place::Argument && rules_.argument(at.argument).access == OP_INC;
    const Value before = adds ? Value() : load(at, inner);
    Value after;
    if (before.kind == Value::Pointer)
      after = moved(before, step, inner->getType()->getPointeeType());
    else if (const Number number = sum(before.as_number(), step))
      after = Value::of(*number);
    store(at, after, expression, Change::Increase, Compared::No);
    return expression->isPostfix() ? before : after;
  }
  switch (expression->getOpcode()) {
  case clang::UO_AddrOf: {
    const clang::Expr *target = inner->IgnoreParens();
    if (target->getType()->isFunctionType())
      return Value();
    const Place at = place(target);
    if (at.kind == Place::Local)
      escaped_.insert(at.variable);
    return at.kind == Place::Elsewhere ? Value() : Value::to(at);
  }
  case clang::UO_Deref: return Value::to(place(expression));
  case clang::UO_Minus: {
    Value operand = bounded(value(inner));
    if (operand.kind == Value::Bound) {
      operand.minus = !operand.minus;
      return operand;
    }
    const Number number = operand.as_number();
    return number && *number != INT64_MIN ? Value::of(-*number) : of_operation("-", {operand});
  }
  case clang::UO_LNot:
  case clang::UO_Not: {
    const Number number = value(inner).as_number();
    const bool truth = expression->getOpcode() == clang::UO_LNot;
    return number ? Value::of(truth ? !*number : ~*number) : Value();
  }
  default: return value(inner);
  }
}

static Value compute(clang::BinaryOperatorKind operation, int64_t a, int64_t b) {
  int64_t result = 0;
  switch (operation) {
  case clang::BO_Add: return __builtin_add_overflow(a, b, &result) ? Value() : Value::of(result);
  case clang::BO_Sub: return __builtin_sub_overflow(a, b, &result) ? Value() : Value::of(result);
  case clang::BO_Mul: return __builtin_mul_overflow(a, b, &result) ? Value() : Value::of(result);
  case clang::BO_Div: return b == 0 || b == -1 ? Value() : Value::of(a / b);
  case clang::BO_Rem: return b == 0 || b == -1 ? Value() : Value::of(a % b);
  case clang::BO_Shl: return b < 0 || b > 31 || a < 0 || a > INT32_MAX ? Value() : Value::of(a << b);
  case clang::BO_Shr: return b < 0 || b > 63 || a < 0 ? Value() : Value::of(a >> b);
  case clang::BO_And: return Value::of(a & b);
  case clang::BO_Or: return Value::of(a | b);
  case clang::BO_Xor: return Value::of(a ^ b);
  case clang::BO_LT: return Value::of(a < b);
  case clang::BO_GT: return Value::of(a > b);
  case clang::BO_LE: return Value::of(a <= b);
  case clang::BO_GE: return Value::of(a >= b);
  case clang::BO_EQ: return Value::of(a == b);
  case clang::BO_NE: return Value::of(a != b);
  default: return Value();
  }
}

static Value combine(clang::BinaryOperatorKind operation, const Value &left, const Value &right,
                     const clang::ASTContext &context, clang::QualType type) {
  if (left.kind != Value::Integer || right.kind != Value::Integer || !type->isIntegerType())
    return Value();
  const Value result = compute(operation, left.number, right.number);
  // A value that does not fit the type would wrap; it is not worth following.
  const unsigned width = context.getIntWidth(type);
  if (result.kind == Value::Integer && width < 64 &&
      (type->isUnsignedIntegerOrEnumerationType()
           ? result.number < 0 || result.number >> width
           : result.number >> (width - 1) != 0 && result.number >> (width - 1) != -1))
    return Value();
  return result;
}

// Two places of one row or variable.
static Value compare_pointers(clang::BinaryOperatorKind operation, const Place &a, const Place &b) {
  const bool alike = a.kind == b.kind && a.variable == b.variable && a.argument == b.argument &&
                     (a.kind == Place::Argument || a.kind == Place::Local) && a.entry && a.entry == b.entry;
  return alike && a.component && b.component ? compute(operation, *a.component, *b.component) : Value();
}

// Splits a sum in which `old` stands once, and nothing is taken from.
static bool split_sum(const clang::Expr *sum, const clang::Expr *old, const clang::ASTContext &context,
                      std::vector<const clang::Expr *> &others) {
  sum = sum->IgnoreParenImpCasts();
  if (is_same(sum, old, context))
    return true;
  const auto *operation = llvm::dyn_cast<clang::BinaryOperator>(sum);
  if (!operation || !operation->isAdditiveOp())
    return false;
  if (split_sum(operation->getLHS(), old, context, others)) {
    others.push_back(operation->getRHS());
    return true;
  }
  if (operation->getOpcode() == clang::BO_Sub || !split_sum(operation->getRHS(), old, context, others))
    return false;
  others.push_back(operation->getLHS());
  return true;
}

// *r = *r + x is *r += x.
bool Walk::adds_to_itself(const clang::BinaryOperator *expression) {
  const clang::Expr *left = expression->getLHS()->IgnoreParens();
  std::vector<const clang::Expr *> others;
  if (left->HasSideEffects(context_) || !split_sum(expression->getRHS(), left, context_, others))
    return false;
  const Place to = place(left);
  if (to.kind != Place::Argument || rules_.argument(to.argument).access != OP_INC)
    return false;
  for (const clang::Expr *other : others)
    value(other);
  store(place(left, true), Value(), expression, Change::Increase, Compared::No);
  return true;
}

static bool is_zero(const clang::Expr *expression) {
  expression = expression->IgnoreParenImpCasts();
  const auto *whole = llvm::dyn_cast<clang::IntegerLiteral>(expression);
  const auto *fraction = llvm::dyn_cast<clang::FloatingLiteral>(expression);
  return (whole && whole->getValue() == 0) || (fraction && fraction->getValue().isZero());
}

Value Walk::assign(const clang::BinaryOperator *expression) {
  const clang::Expr *left = expression->getLHS(), *right = expression->getRHS();
  if (!expression->isCompoundAssignmentOp()) {
    if (left->getType()->isRecordType()) {
      const Place to = place(left, true);
      rules_.write(to, expression, state_, Change::Assign, Compared::No, uncertain_ == 0);
      copy_record(to, right);
      return Value();
    }
    if (adds_to_itself(expression))
      return Value();
    const Value what = value(right);
    const Place to = place(left, true);
    store(to, what, expression, Change::Assign, compared(to, what));
    return what;
  }
  const Value by = value(right);
  const Place to = place(left, true);
  const clang::BinaryOperatorKind operation =
      clang::BinaryOperator::getOpForCompoundAssignment(expression->getOpcode());
  const bool adds = operation == clang::BO_Add || operation == clang::BO_Sub;
  // Adding to an INC argument reads nothing; any other change of one is refused as that change.
  const bool accumulates = to.kind == Place::Argument && rules_.argument(to.argument).access == OP_INC;
  const Value before = accumulates ? Value() : load(to, left);
  Value after;
  if (before.kind == Value::Pointer && adds) {
    Number step = by.as_number();
    if (step && operation == clang::BO_Sub)
      step = -*step;
    after = moved(before, step, left->getType()->getPointeeType());
  } else
    after = combine(operation, before, by, context_, left->getType());
  store(to, after, expression, adds ? Change::Increase : Change::Modify, Compared::No);
  return after;
}

Value Walk::binary(const clang::BinaryOperator *expression) {
  const clang::BinaryOperatorKind operation = expression->getOpcode();
  if (expression->isAssignmentOp())
    return assign(expression);
  if (operation == clang::BO_Comma) {
    value(expression->getLHS());
    return value(expression->getRHS());
  }
  if (operation == clang::BO_LAnd || operation == clang::BO_LOr) {
    const Number left = value(expression->getLHS()).as_number();
    const bool decides = operation == clang::BO_LOr;
    if (left && (*left != 0) == decides)
      return Value::of(decides);
    const State without = state_;
    const Number right = value(expression->getRHS()).as_number();
    if (!left)
      state_.join(without);
    return left && right ? Value::of(*right != 0) : Value();
  }
  Value found;
  if (operation == clang::BO_Add && row(expression, found))
    return found;
  const Value left = value(expression->getLHS()), right = value(expression->getRHS());
  if (expression->isComparisonOp())
    sides_[expression] = {left, right};
  if (expression->isComparisonOp() && left.kind == Value::Pointer && right.kind == Value::Pointer)
    return compare_pointers(operation, left.target, right.target);
  if (expression->getType()->isPointerType() && expression->isAdditiveOp()) {
    const bool left_points = expression->getLHS()->getType()->isPointerType();
    const Value &pointer = left_points ? left : right;
    Number by = (left_points ? right : left).as_number();
    if (by && operation == clang::BO_Sub)
      by = -*by;
    return pointer.kind == Value::Pointer ? moved(pointer, by, expression->getType()->getPointeeType())
                                          : Value();
  }
  const Value result = combine(operation, left, right, context_, expression->getType());
  if (result.kind != Value::Unknown || !expression->getType()->isArithmeticType())
    return result;
  if (expression->isAdditiveOp() && is_zero(expression->getRHS()))
    return bounded(left);
  if (operation == clang::BO_Add && is_zero(expression->getLHS()))
    return bounded(right);
  return of_operation(expression->getOpcodeStr().str() +
                          expression->getType().getCanonicalType().getAsString(),
                      {left, right});
}

Value Walk::conditional(const clang::AbstractConditionalOperator *expression) {
  const Number known = value(expression->getCond()).as_number();
  if (known)
    return value(*known ? expression->getTrueExpr() : expression->getFalseExpr());
  const State before = state_;
  const size_t facts = facts_.size();
  learn(expression->getCond(), true);
  const Value yes = bounded(value(expression->getTrueExpr()));
  facts_.resize(facts);
  const State after = state_;
  state_ = before;
  learn(expression->getCond(), false);
  const Value no = bounded(value(expression->getFalseExpr()));
  facts_.resize(facts);
  state_.join(after);
  const Value both = yes.joined(no);
  for (const Value &one : {yes, no})
    if (one.kind == Value::Pointer && both.kind == Value::Unknown)
      rules_.lost(one.target, expression->getExprLoc(), FOUND_LOST_POINTERS);
  return both;
}

// ---- calls -------------------------------------------------------------------------------------

Value Walk::call(const clang::CallExpr *expression) {
  const clang::FunctionDecl *callee = expression->getDirectCallee();
  const clang::FunctionDecl *definition = nullptr;
  // op2jit_exp: what the prelude puts in the place of exp, where code is made that computes it in line
  if (!callee || !callee->hasBody(definition) || name_of(callee) == "op2jit_exp")
    return call_outside(expression, callee);
  for (const clang::FunctionDecl *caller : calls_)
    if (caller == definition)
      return Value(); // Reached has said so
  const auto *method = llvm::dyn_cast<clang::CXXMethodDecl>(definition);
  const bool on_object = method && !method->isStatic();
  const bool object_first = on_object && llvm::isa<clang::CXXOperatorCallExpr>(expression);
  const Value object = on_object ? object_of(expression) : Value();
  give(*definition,
       std::vector<const clang::Expr *>(expression->arg_begin() + object_first, expression->arg_end()));
  if (on_object)
    objects_.push_back(this_in(*method, object, expression->getExprLoc()));
  const Value result = run_body(*definition);
  if (on_object)
    objects_.pop_back();
  return result;
}

// Functions without a text here: the mathematical ones and what copies memory.
Value Walk::call_outside(const clang::CallExpr *expression, const clang::FunctionDecl *callee) {
  const llvm::StringRef name = name_of(callee);
  const bool one_result = name.starts_with("frexp") || name.starts_with("modf") || name.starts_with("remquo");
  std::vector<Value> values;
  bool pure = callee != nullptr;
  for (unsigned i = 0; i < expression->getNumArgs(); i++) {
    const clang::Expr *operand = expression->getArg(i);
    const Value given = value(operand);
    values.push_back(given);
    pure &= operand->getType()->isArithmeticType();
    if (given.kind != Value::Pointer)
      continue;
    if (given.target.kind == Place::Local && given.target.variable)
      lose(given.target.variable, operand->getExprLoc());
    if (one_result)
      store(given.target, Value(), operand, Change::Assign, Compared::No);
    else
      rules_.lost(given.target, operand->getExprLoc(), FOUND_LOST_CALL);
  }
  if (!pure)
    return Value();
  if (name == "fmax" || name == "fmaxf" || name == "fmin" || name == "fminf")
    return extremum_of(values[0], values[1], name.starts_with("fmax"));
  return of_operation(name.str(), values);
}

Value Walk::value(const clang::Expr *expression) {
  expression = expression->IgnoreParens();
  steps_++;
  Value result;
  if (value_cxx(expression, result))
    return result;
  if (const auto *literal = llvm::dyn_cast<clang::IntegerLiteral>(expression))
    return literal->getValue().getActiveBits() < 64
               ? Value::of(static_cast<int64_t>(literal->getValue().getZExtValue()))
               : Value();
  if (const auto *casts = llvm::dyn_cast<clang::CastExpr>(expression))
    return cast(casts);
  if (const auto *operation = llvm::dyn_cast<clang::UnaryOperator>(expression))
    return unary(operation);
  if (const auto *operation = llvm::dyn_cast<clang::BinaryOperator>(expression))
    return binary(operation);
  if (const auto *choice = llvm::dyn_cast<clang::AbstractConditionalOperator>(expression))
    return conditional(choice);
  if (const auto *calls = llvm::dyn_cast<clang::CallExpr>(expression))
    return call(calls);
  if (expression->isGLValue())
    return Value::to(place(expression));
  if (const auto *literal = llvm::dyn_cast<clang::FloatingLiteral>(expression)) {
    llvm::SmallString<32> digits;
    literal->getValue().toString(digits);
    return named_for_all(digits.str().str());
  }
  if (expression->getType()->isIntegerType()) {
    clang::Expr::EvalResult result;
    if (expression->EvaluateAsInt(result, context_))
      return Value::of(result.Val.getInt().getExtValue());
    return Value();
  }
  for (const clang::Stmt *part : expression->children())
    if (const auto *inner = llvm::dyn_cast_or_null<clang::Expr>(part)) {
      const Value held = value(inner);
      if (held.kind == Value::Pointer && expression->getType()->isRecordType())
        rules_.lost(held.target, inner->getExprLoc(), FOUND_LOST_STORED);
    }
  return Value();
}

} // namespace op2jit
