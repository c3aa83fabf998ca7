// Structures: where their members are, and what becomes of these when the whole is set.
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

} // namespace op2jit
