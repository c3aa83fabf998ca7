// Expressions of a kernel's text.
#include <algorithm>

#include "jit/clang/front.h"
#include "trace.h"

namespace op2jit::derive {

Node *Trace::scalar(const clang::Expr *expression) {
  const Value result = value(expression);
  if (result.kind == Value::Scalar && result.node)
    return result.node;
  if (result.kind != Value::None || !expression->getType()->isVoidType())
    refuse(result.kind == Value::Pointer ? DERIVE_POINTER : DERIVE_STATEMENT, expression->getExprLoc(),
           expression->getStmtClassName());
  return builder_.integer(0);
}

Node *Trace::condition(Node *node) {
  return is_real(node->type) ? builder_.binary(Op::Ne, Type::Int, node, builder_.real(0, node->type)) : node;
}

Node *Trace::truth(const clang::Expr *expression) {
  const Value what = value(expression);
  return what.kind == Value::Pointer ? builder_.integer(what.place.object != nullptr)
         : what.node                 ? condition(what.node)
                                     : builder_.integer(0);
}

// Literals, sizes, enumerators.
Value Trace::constant(const clang::Expr *expression) {
  clang::Expr::EvalResult result;
  if (!expression->EvaluateAsRValue(result, context_) || result.HasSideEffects)
    return {};
  return result.Val.isInt() || result.Val.isFloat() ? from(result.Val, expression->getType()) : Value();
}

Value Trace::value(const clang::Expr *expression) {
  expression = expression->IgnoreParens();
  if (refused())
    return expression->getType()->isPointerType() ? Value::to({}) : Value::of(builder_.integer(0));
  if (const auto *casts = llvm::dyn_cast<clang::CastExpr>(expression))
    return cast(casts);
  if (const auto *unary_one = llvm::dyn_cast<clang::UnaryOperator>(expression))
    return unary(unary_one);
  if (const auto *binary_one = llvm::dyn_cast<clang::BinaryOperator>(expression))
    return binary(binary_one);
  if (const auto *choice = llvm::dyn_cast<clang::AbstractConditionalOperator>(expression))
    return conditional(choice);
  if (const auto *calls = llvm::dyn_cast<clang::CallExpr>(expression))
    return call(calls);
  if (const auto *clean = llvm::dyn_cast<clang::ConstantExpr>(expression))
    return value(clean->getSubExpr());
  if (const auto *opaque = llvm::dyn_cast<clang::OpaqueValueExpr>(expression))
    return value(opaque->getSourceExpr());
  if (const auto *list = llvm::dyn_cast<clang::InitListExpr>(expression)) {
    Object *made = object(Object::Local, "", leaves_of(list->getType(), list->getExprLoc()));
    const Place at = {made, builder_.integer(0), builder_.integer(0)};
    initialise(at, list, list->getType());
    return load(at, list->getType(), list->getExprLoc());
  }
  if (llvm::isa<clang::ImplicitValueInitExpr>(expression) && !expression->getType()->isPointerType())
    return Value::of(builder_.zero(type_of(expression->getType(), expression->getExprLoc())));
  const Value known = constant(expression);
  if (known.kind != Value::None)
    return known;
  if (expression->isLValue() || llvm::isa<clang::CompoundLiteralExpr, clang::MemberExpr>(expression))
    return load(place(expression), expression->getType(), expression->getExprLoc());
  return no_value(DERIVE_STATEMENT, expression->getExprLoc(), expression->getStmtClassName());
}

Value Trace::cast(const clang::CastExpr *expression) {
  const clang::Expr *inner = expression->getSubExpr();
  const clang::SourceLocation where = expression->getExprLoc();
  switch (expression->getCastKind()) {
  case clang::CK_LValueToRValue: return load(place(inner), expression->getType(), where);
  case clang::CK_ArrayToPointerDecay: {
    if (llvm::isa<clang::StringLiteral>(inner->IgnoreParens()))
      return Value::to({});
    return Value::to(place(inner));
  }
  case clang::CK_NullToPointer: return Value::to({});
  case clang::CK_NoOp:
  case clang::CK_FunctionToPointerDecay: return value(inner);
  case clang::CK_BitCast: {
    const Value pointer = value(inner);
    const clang::QualType from = inner->getType()->getPointeeType(),
                          to = expression->getType()->getPointeeType();
    const bool through_void = !to.isNull() && (to->isVoidType() || from->isVoidType());
    if (!through_void && !from.isNull() && !to.isNull() &&
        from.getCanonicalType().getUnqualifiedType() != to.getCanonicalType().getUnqualifiedType())
      refuse(DERIVE_POINTER_CAST, where);
    return pointer;
  }
  case clang::CK_ToVoid: value(inner); return {};
  case clang::CK_PointerToBoolean: return Value::of(truth(inner));
  case clang::CK_IntegralToBoolean:
  case clang::CK_FloatingToBoolean: {
    Node *node = scalar(inner);
    return Value::of(
        builder_.cast(Type::Bool, builder_.binary(Op::Ne, Type::Int, node, builder_.zero(node->type))));
  }
  case clang::CK_IntegralCast:
  case clang::CK_IntegralToFloating:
  case clang::CK_FloatingToIntegral:
  case clang::CK_FloatingCast:
  case clang::CK_BooleanToSignedIntegral:
    return Value::of(builder_.cast(type_of(expression->getType(), where), scalar(inner)));
  default:
    return no_value(expression->getType()->isPointerType() || inner->getType()->isPointerType()
                        ? DERIVE_POINTER_CAST
                        : DERIVE_STATEMENT,
                    where, expression->getCastKindName());
  }
}

Value Trace::unary(const clang::UnaryOperator *expression) {
  const clang::Expr *inner = expression->getSubExpr();
  const clang::SourceLocation where = expression->getExprLoc();
  if (expression->isIncrementDecrementOp()) {
    const Place at = place(inner);
    if (inner->getType()->isPointerType()) {
      const Value before = load(at, inner->getType(), where);
      const Value after =
          Value::to(element(before.place, builder_.integer(expression->isIncrementOp() ? 1 : -1),
                            inner->getType()->getPointeeType()));
      store(at, after, inner->getType(), where);
      return expression->isPostfix() ? before : after;
    }
    const Type type = type_of(inner->getType(), where);
    Node *one = is_real(type) ? builder_.real(1, type) : builder_.integer(1, type);
    const Op op = expression->isIncrementOp() ? Op::Add : Op::Sub;
    if (at.object && at.object->kind == Object::Row && argument(*at.object).is.access == OP_INC) {
      add(at, op == Op::Sub ? builder_.unary(Op::Neg, one) : one, where);
      return Value::of(one);
    }
    const Value before = load(at, inner->getType(), where);
    const Value after = Value::of(builder_.binary(op, type, before.node ? before.node : one, one));
    store(at, after, inner->getType(), where);
    return expression->isPostfix() ? before : after;
  }
  switch (expression->getOpcode()) {
  case clang::UO_AddrOf: return Value::to(place(inner));
  case clang::UO_Deref: return load(place(expression), expression->getType(), where);
  case clang::UO_Minus: return Value::of(builder_.unary(Op::Neg, scalar(inner)));
  case clang::UO_Plus:
  case clang::UO_Extension: return value(inner);
  case clang::UO_Not: return Value::of(builder_.unary(Op::BitNot, scalar(inner)));
  case clang::UO_LNot: return Value::of(builder_.negated(truth(inner)));
  default: return no_value(DERIVE_STATEMENT, where, "an operator of complex numbers");
  }
}

static Op operation(clang::BinaryOperatorKind kind) {
  const llvm::StringRef sign = clang::BinaryOperator::getOpcodeStr(kind);
  return std::find_if(
             std::begin(operators), std::end(operators) - 1,
             [&](const Operator &one) { return one.sign == std::string_view(sign.data(), sign.size()); })
      ->op;
}

bool Trace::is_row(const clang::BinaryOperator *expression, Value &result) {
  const clang::CallExpr *called = row_call(expression);
  if (!called)
    return false;
  const auto *first = llvm::dyn_cast<clang::ArraySubscriptExpr>(expression->getLHS()->IgnoreParenImpCasts());
  const Value handles = first ? value(first->getBase()) : Value();
  if (handles.kind != Value::Pointer || !handles.place.object ||
      handles.place.object->kind != Object::Handles) {
    refuse(DERIVE_POINTER, expression->getExprLoc());
    result = Value::to({});
    return true;
  }
  Node *k = scalar(called->getArg(3));
  if (k->op == Op::Cast && k->type == Type::Long && k->in[0]->type == Type::Int)
    k = k->in[0];
  result = Value::to(
      {program_.rows[static_cast<size_t>(handles.place.object->argument)], index(k), builder_.integer(0)});
  return true;
}

Value Trace::pointers(const clang::BinaryOperator *expression) {
  const clang::QualType left = expression->getLHS()->getType(), right = expression->getRHS()->getType();
  const Value a = value(expression->getLHS()), b = value(expression->getRHS());
  if (expression->isAdditiveOp() && left->isPointerType() != right->isPointerType()) {
    Node *by = left->isPointerType() ? b.node : a.node;
    const Value &base = left->isPointerType() ? a : b;
    if (!by)
      return Value::to({});
    if (expression->getOpcode() == clang::BO_Sub)
      by = builder_.unary(Op::Neg, builder_.cast(is_real(by->type)       ? Type::Long
                                                 : by->type == Type::Int ? Type::Int
                                                                         : Type::Long,
                                                 by));
    return Value::to(element(base.place, by, expression->getType()->getPointeeType()));
  }
  const Place &p = a.place, &q = b.place;
  if (p.object && p.object == q.object && p.entry == q.entry) {
    const int64_t size =
        p.object->kind == Object::Handles ? 1 : size_of(left->getPointeeType(), expression->getExprLoc());
    Node *x = builder_.cast(Type::Long, p.offset), *y = builder_.cast(Type::Long, q.offset);
    if (expression->getOpcode() == clang::BO_Sub)
      return Value::of(builder_.binary(Op::Div, Type::Long, builder_.binary(Op::Sub, Type::Long, x, y),
                                       builder_.integer(size, Type::Long)));
    return Value::of(builder_.binary(operation(expression->getOpcode()), Type::Int, x, y));
  }
  const bool equality = expression->isEqualityOp();
  if (!equality || (p.object && q.object && p.object == q.object))
    refuse(DERIVE_POINTER, expression->getExprLoc());
  return Value::of(builder_.integer((p.object == q.object) == (expression->getOpcode() == clang::BO_EQ)));
}

static bool may_trap(const Block &block, size_t from) {
  for (size_t i = from; i < block.items.size(); i++) {
    const Op op = block.items[i]->op;
    if (op == Op::Load || op == Op::Table || op == Op::Global || op == Op::Index || op == Op::Rem ||
        op == Op::Call || op >= Op::Phi || (op == Op::Div && !is_real(block.items[i]->type)))
      return true;
  }
  return false;
}

// The second operand is not computed where the first decides, unless that harms nobody.
Value Trace::logical(const clang::BinaryOperator *expression) {
  const bool both = expression->getOpcode() == clang::BO_LAnd;
  Node *first = truth(expression->getLHS());
  if (first->op == Op::Number) {
    if ((first->number != 0) != both)
      return Value::of(builder_.integer(!both));
    Node *second = truth(expression->getRHS());
    return Value::of(builder_.binary(Op::Ne, Type::Int, second, builder_.zero(second->type)));
  }
  Node *guard = both ? first : builder_.negated(first);
  Node *branch = builder_.branch(guard);
  const State before = state_;
  Block *outside = builder_.enter(branch->blocks[0]);
  Node *second = truth(expression->getRHS());
  if (state_ == before && !may_trap(*branch->blocks[0], 0)) {
    for (Node *node : branch->blocks[0]->items) {
      node->home = outside;
      outside->items.push_back(node);
    }
    for (const auto &known : branch->blocks[0]->known)
      outside->known.insert(known);
    builder_.enter(outside);
    return Value::of(builder_.binary(both ? Op::Both : Op::Either, Type::Int, first, second));
  }
  if (second->op == Op::Number ||
      !(second->op >= Op::Lt && second->op <= Op::Either && second->type == Type::Int))
    second = builder_.binary(Op::Ne, Type::Int, second, builder_.zero(second->type));
  builder_.enter(outside);
  const State then = state_;
  merge(branch, then, before);
  Node *result = builder_.phi(branch, second, builder_.integer(!both));
  builder_.close(branch);
  return Value::of(result);
}

Value Trace::binary(const clang::BinaryOperator *expression) {
  Value row;
  if (expression->isAssignmentOp())
    return assign(expression);
  if (expression->isLogicalOp())
    return logical(expression);
  if (expression->getOpcode() == clang::BO_Comma) {
    value(expression->getLHS());
    return value(expression->getRHS());
  }
  if (expression->getOpcode() == clang::BO_Add && is_row(expression, row))
    return row;
  if (expression->getLHS()->getType()->isPointerType() || expression->getRHS()->getType()->isPointerType())
    return pointers(expression);
  Node *a = scalar(expression->getLHS()), *b = scalar(expression->getRHS());
  return Value::of(builder_.binary(operation(expression->getOpcode()),
                                   type_of(expression->getType(), expression->getExprLoc()), a, b));
}

Value Trace::assign(const clang::BinaryOperator *expression) {
  const clang::QualType type = expression->getLHS()->getType();
  const clang::SourceLocation where = expression->getExprLoc();
  const auto *compound = llvm::dyn_cast<clang::CompoundAssignOperator>(expression);
  if (!compound) {
    const Value what = value(expression->getRHS());
    const Place at = place(expression->getLHS());
    store(at, what, type, where);
    return what;
  }
  const Op op = operation(clang::BinaryOperator::getOpForCompoundAssignment(compound->getOpcode()));
  const Place at = place(expression->getLHS());
  if (type->isPointerType()) {
    Node *by = scalar(expression->getRHS());
    const Value before = load(at, type, where);
    const Value after = Value::to(element(
        before.place, op == Op::Sub ? builder_.unary(Op::Neg, index(by)) : by, type->getPointeeType()));
    store(at, after, type, where);
    return after;
  }
  Node *by = scalar(expression->getRHS());
  const Type to = type_of(type, where), computed = type_of(compound->getComputationResultType(), where);
  const bool sums = at.object && at.object->kind == Object::Row && argument(*at.object).is.access == OP_INC;
  if (sums && (op == Op::Add || op == Op::Sub)) {
    by = builder_.cast(to, by);
    add(at, op == Op::Sub ? builder_.unary(Op::Neg, by) : by, where);
    return Value::of(by);
  }
  const Value before = load(at, type, where);
  if (!before.node)
    return before;
  Node *left = builder_.cast(type_of(compound->getComputationLHSType(), where), before.node);
  const Value after = Value::of(builder_.cast(to, builder_.binary(op, computed, left, by)));
  store(at, after, type, where);
  return after;
}

Value Trace::conditional(const clang::AbstractConditionalOperator *expression) {
  Value results[2];
  Node *made = branch(
      truth(expression->getCond()), [&] { results[0] = value(expression->getTrueExpr()); },
      [&] { results[1] = value(expression->getFalseExpr()); });
  if (!made)
    return results[results[0].kind == Value::None];
  Value result = results[0];
  const Key nowhere = {-1, 0};
  if (result.kind == Value::Record && results[1].kind == Value::Record)
    for (size_t i = 0; i < result.leaves.size(); i++)
      result.leaves[i] = merged(made, nowhere, &results[0].leaves[i], &results[1].leaves[i]);
  else if (result.kind != Value::None && result.kind == results[1].kind)
    result = merged(made, nowhere, &results[0], &results[1]);
  return result;
}

Place Trace::place(const clang::Expr *expression) {
  expression = expression->IgnoreParens();
  Node *zero = builder_.integer(0);
  if (const auto *name = llvm::dyn_cast<clang::DeclRefExpr>(expression)) {
    const auto *variable = llvm::dyn_cast<clang::VarDecl>(name->getDecl());
    if (variable)
      return {object_of(variable, expression->getExprLoc()), zero, zero};
  }
  if (const auto *item = llvm::dyn_cast<clang::ArraySubscriptExpr>(expression)) {
    const Value base = value(item->getBase());
    Node *at = scalar(item->getIdx());
    return base.kind == Value::Pointer ? element(base.place, at, item->getType()) : Place();
  }
  if (const auto *unary = llvm::dyn_cast<clang::UnaryOperator>(expression)) {
    if (unary->getOpcode() == clang::UO_Deref)
      return value(unary->getSubExpr()).place;
    if (unary->getOpcode() == clang::UO_Extension)
      return place(unary->getSubExpr());
  }
  if (const auto *part = llvm::dyn_cast<clang::MemberExpr>(expression)) {
    const auto *field = llvm::dyn_cast<clang::FieldDecl>(part->getMemberDecl());
    Place base = part->isArrow() ? value(part->getBase()).place : Place();
    if (!part->isArrow() && part->getBase()->isLValue())
      base = place(part->getBase());
    else if (!part->isArrow()) { // of a value that has no place
      const clang::QualType type = part->getBase()->getType();
      Object *made = object(Object::Local, "", leaves_of(type, part->getExprLoc()));
      base = {made, zero, zero};
      store(base, value(part->getBase()), type, part->getExprLoc());
    }
    return field ? moved(builder_, base, leaves_before(field, part->getExprLoc())) : base;
  }
  if (const auto *literal = llvm::dyn_cast<clang::CompoundLiteralExpr>(expression)) {
    Object *made = object(Object::Local, "", leaves_of(literal->getType(), literal->getExprLoc()));
    initialise({made, zero, zero}, literal->getInitializer(), literal->getType());
    return {made, zero, zero};
  }
  refuse(DERIVE_STATEMENT, expression->getExprLoc(), expression->getStmtClassName());
  return {};
}

void Trace::initialise(const Place &at, const clang::Expr *initialiser, clang::QualType type) {
  initialiser = initialiser->IgnoreParens();
  if (const auto *clean = llvm::dyn_cast<clang::ConstantExpr>(initialiser))
    initialiser = clean->getSubExpr();
  const clang::SourceLocation where = initialiser->getExprLoc();
  const auto *list = llvm::dyn_cast<clang::InitListExpr>(initialiser);
  const auto *array = context_.getAsConstantArrayType(type);
  const auto *record = type.getCanonicalType()->getAs<clang::RecordType>();
  const bool zeros = llvm::isa<clang::ImplicitValueInitExpr>(initialiser);
  if (zeros || (!list && array)) {
    if (!zeros && !llvm::isa<clang::CompoundLiteralExpr>(initialiser))
      return refuse(DERIVE_STATEMENT, where, initialiser->getStmtClassName());
    const std::vector<Leaf> leaves = leaves_of(type, where);
    for (size_t i = 0; i < leaves.size(); i++)
      store_leaf(moved(builder_, at, static_cast<int64_t>(i)),
                 leaves[i].is_pointer ? Value::to({}) : Value::of(builder_.zero(leaves[i].type)), where);
    return;
  }
  if (!list || (!array && !record))
    return store(at, value(list ? list->getInit(0) : initialiser), type, where);
  if (record && list->getNumInits() == 1 && list->isTransparent())
    return initialise(at, list->getInit(0), type);
  int64_t before = 0;
  const uint64_t count = array ? array->getSize().getZExtValue() : list->getNumInits();
  auto field = record ? record->getDecl()->field_begin() : clang::RecordDecl::field_iterator();
  for (uint64_t i = 0; i < count && !refused(); i++) {
    const clang::QualType part = array ? array->getElementType() : (*field)->getType();
    const clang::Expr *with =
        i < list->getNumInits() ? list->getInit(static_cast<unsigned>(i)) : list->getArrayFiller();
    const clang::ImplicitValueInitExpr nothing(part);
    initialise(moved(builder_, at, before), with ? with : &nothing, part);
    before += size_of(part, where);
    if (record)
      ++field;
  }
}

} // namespace op2jit::derive
