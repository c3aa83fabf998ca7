// Structures: where their members are, and what becomes of these when the whole is set; and what C++ has beyond C.
#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>

#include "prove_walk.h"

namespace op2jit {

// A structure's values are those of its members, one after the other.
Place Walk::member(const clang::MemberExpr *expression, bool used) {
  const Value through = expression->isArrow() ? value(expression->getBase()) : Value();
  Place whole = through.kind == Value::Pointer ? through.target : Place();
  if (!expression->isArrow())
    whole = place(expression->getBase(), used);
  if (whole.kind == Place::Lasting)
    return whole;
  const auto *field = llvm::dyn_cast<clang::FieldDecl>(expression->getMemberDecl());
  if (whole.kind != Place::Local || !field || field->getParent()->isUnion()) {
    rules_.lost(whole, expression->getExprLoc(), "is used as a structure");
    return Place();
  }
  for (const clang::FieldDecl *before : field->getParent()->fields()) {
    if (before == field)
      break;
    whole.component = sum(whole.component, values_in(before->getType()));
  }
  return whole;
}

// What members of one are, members of the other become.
void Walk::copy_record(const Place &to, const clang::Expr *from) {
  const auto *load = llvm::dyn_cast<clang::ImplicitCastExpr>(from->IgnoreParens());
  const bool copies = load && load->getCastKind() == clang::CK_LValueToRValue;
  const auto *made = llvm::dyn_cast<clang::CXXConstructExpr>(from->IgnoreParens());
  const bool of_cxx = made && made->getConstructor()->isCopyOrMoveConstructor() &&
                      made->getConstructor()->isTrivial() && made->getArg(0)->isGLValue();
  if (made && made->getConstructor()->isTrivial() && made->getConstructor()->isDefaultConstructor())
    return;
  const Place source = copies   ? place(load->getSubExpr(), true)
                       : of_cxx ? place(made->getArg(0), true)
                                : Place();
  if (!copies && !of_cxx)
    value(from);
  else
    rules_.lost(source, from->getExprLoc(), "is used as a structure");
  if (to.kind != Place::Local || !to.variable)
    return;
  if (!to.component || source.kind != Place::Local || !source.component) {
    lose(to.variable, from->getExprLoc());
    return;
  }
  std::vector<Value> values;
  for (int64_t i = 0; i < values_in(from->getType()); i++) {
    const auto found = state_.values.find({source.variable, *source.component + i});
    values.push_back(found == state_.values.end() ? Value() : found->second);
  }
  for (size_t i = 0; i < values.size(); i++) {
    const std::pair<const clang::VarDecl *, int64_t> key = {to.variable,
                                                            *to.component + static_cast<int64_t>(i)};
    if (values[i].kind == Value::Unknown)
      state_.values.erase(key);
    else
      state_.values[key] = values[i];
  }
}

void Walk::initialise(const clang::VarDecl *variable, int64_t component, const clang::Expr *initialiser) {
  const auto *list = llvm::dyn_cast<clang::InitListExpr>(initialiser->IgnoreParens());
  const clang::QualType type = initialiser->getType();
  const auto *array = list ? context_.getAsArrayType(type) : nullptr;
  const auto *record = list ? type->getAs<clang::RecordType>() : nullptr;
  Place to;
  to.kind = type->isUnionType() ? Place::Elsewhere : Place::Local;
  to.variable = variable;
  to.component = component;
  if (array) {
    for (unsigned i = 0; i < list->getNumInits(); i++, component += values_in(array->getElementType()))
      initialise(variable, component, list->getInit(i));
  } else if (record && !type->isUnionType()) {
    unsigned next = 0;
    for (const clang::FieldDecl *field : record->getDecl()->fields()) {
      if (field->isUnnamedBitField() || next == list->getNumInits())
        continue;
      initialise(variable, component, list->getInit(next++));
      component += values_in(field->getType());
    }
  } else if (list) {
    for (const clang::Expr *one : list->inits())
      store(to, value(one), one, Change::Assign, Compared::No);
  } else if (type->isRecordType())
    copy_record(to, initialiser);
  else
    store(to, value(initialiser), initialiser, Change::Assign, Compared::No);
}

// ---- C++: references, and more lvalues. Classes that do more than hold values are not followed ----

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
