// Structures: where their members are, and what becomes of these when the whole is set; and references, methods,
// constructors and lambdas.
#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>

#include "jit/clang/front.h"
#include "prove_expressions.h"

namespace op2jit {

// A structure that is a row of an argument, or a part of one.
bool Walk::is_row(const Place &at, clang::QualType type) const {
  return at.kind == Place::Argument && rules_.values_of_argument(type, at.argument) > 0;
}

// The whole of it is read, or written.
void Walk::use_record(Place at, const clang::Expr *where, bool writes) {
  if (!is_row(at, where->getType())) {
    if (writes)
      rules_.write(at, where, state_, Change::Assign, Compared::No, uncertain_ == 0);
    else
      rules_.lost(at, where->getExprLoc(), FOUND_LOST_RECORD);
    return;
  }
  for (int64_t i = values_in(where->getType()); i > 0; i--, at.component = sum(at.component, 1))
    if (writes)
      rules_.write(at, where, state_, Change::Assign, Compared::No, uncertain_ == 0);
    else
      rules_.read(at, where, state_);
}

// A structure's values are those of its members, one after the other.
Place Walk::member(const clang::MemberExpr *expression, bool used) {
  const Value through = expression->isArrow() ? value(expression->getBase()) : Value();
  Place whole = through.kind == Value::Pointer ? through.target : Place();
  if (!expression->isArrow())
    whole = place(expression->getBase(), used);
  if (whole.kind == Place::Lasting)
    return whole;
  const auto *field = llvm::dyn_cast<clang::FieldDecl>(expression->getMemberDecl());
  const bool of_row = field && is_row(whole, clang::QualType(field->getParent()->getTypeForDecl(), 0));
  if (!of_row && (whole.kind != Place::Local || !field || field->getParent()->isUnion())) {
    rules_.lost(whole, expression->getExprLoc(), FOUND_LOST_RECORD);
    return Place();
  }
  whole = field_of(whole, field);
  if (!field->getType()->isReferenceType())
    return whole;
  return referred(whole.variable, whole.component.value_or(-1));
}

// Behind those of the classes that it is made from.
Place Walk::field_of(Place whole, const clang::FieldDecl *field) const {
  if (const auto *record = llvm::dyn_cast<clang::CXXRecordDecl>(field->getParent()))
    for (const clang::CXXBaseSpecifier &base : record->bases())
      whole.component = sum(whole.component, values_in(base.getType()));
  for (const clang::FieldDecl *before : field->getParent()->fields()) {
    if (before == field)
      break;
    whole.component = sum(whole.component, values_in(before->getType()));
  }
  return whole;
}

// The place of a base class, behind a cast to it.
Place Walk::base_of(Place whole, const clang::CastExpr *expression) const {
  const bool to_base = expression->getCastKind() == clang::CK_DerivedToBase ||
                       expression->getCastKind() == clang::CK_UncheckedDerivedToBase;
  if (!to_base || whole.kind == Place::Elsewhere)
    return whole;
  const clang::QualType given = expression->getSubExpr()->getType();
  const clang::CXXRecordDecl *record =
      (given->isPointerType() ? given->getPointeeType() : given)->getAsCXXRecordDecl();
  for (const clang::CXXBaseSpecifier *step : expression->path()) {
    for (const clang::CXXBaseSpecifier &before : record->bases()) {
      if (context_.hasSameUnqualifiedType(before.getType(), step->getType()))
        break;
      whole.component = sum(whole.component, values_in(before.getType()));
    }
    record = step->getType()->getAsCXXRecordDecl();
  }
  return whole;
}

// Gives the members of one structure the values of the other's.
void Walk::copy_record(const Place &to, const clang::Expr *from) {
  const auto *load = llvm::dyn_cast<clang::ImplicitCastExpr>(from->IgnoreParens());
  const bool copies = load && load->getCastKind() == clang::CK_LValueToRValue;
  const auto *made = llvm::dyn_cast<clang::CXXConstructExpr>(from->IgnoreParens());
  const bool of_cxx = made && made->getConstructor()->isCopyOrMoveConstructor() &&
                      made->getConstructor()->isTrivial() && made->getArg(0)->isGLValue();
  if (made && made->getConstructor()->isTrivial() && made->getConstructor()->isDefaultConstructor())
    return;
  if (made && !of_cxx && construct(to, made))
    return;
  if (llvm::isa<clang::InitListExpr>(from->IgnoreParens()) && to.kind == Place::Local && to.variable &&
      to.component) {
    initialise(to.variable, *to.component, from);
    return;
  }
  const bool as_place = from->isGLValue();
  const Place source = copies     ? place(load->getSubExpr(), true)
                       : of_cxx   ? place(made->getArg(0), true)
                       : as_place ? place(from, true)
                                  : Place();
  if (!copies && !of_cxx && !as_place)
    value(from);
  else
    use_record(source, from, false);
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
  Place to = Place::local(variable, component);
  if (type->isUnionType())
    to.kind = Place::Elsewhere;
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

void Walk::declare(const clang::VarDecl *variable) {
  if (variable->hasGlobalStorage())
    return;
  if (!variable->hasInit()) {
    if (variable->getType()->isArithmeticType())
      state_.values[{variable, 0}] = {Value::Unset};
    return;
  }
  state_.forget(variable);
  const clang::CXXRecordDecl *record = context_.getBaseElementType(variable->getType())->getAsCXXRecordDecl();
  if (record && record->hasDefinition() && !record->hasTrivialDestructor())
    rules_.lost_all(variable->getLocation(), FOUND_LOST_CXX);
  if (variable->getType()->isReferenceType()) {
    const Value bound = bind(variable->getInit());
    if (bound.kind == Value::Pointer)
      state_.values[{variable, 0}] = bound;
  } else
    initialise(variable, 0, variable->getInit());
}

// ---- What C++ has beyond C. Classes whose values do more when they end are not followed ----

// A reference is a pointer that is followed wherever it is named.
Value Walk::bind(const clang::Expr *expression) {
  const Place at = place(expression);
  if (at.kind == Place::Local && at.variable)
    escaped_.insert(at.variable);
  return at.kind == Place::Elsewhere ? Value() : Value::to(at);
}

Place Walk::referred(const clang::VarDecl *reference, int64_t component) const {
  const auto found = state_.values.find({reference, component});
  return found != state_.values.end() && found->second.kind == Value::Pointer ? found->second.target
                                                                              : Place();
}

static bool ends_plainly(const clang::CXXRecordDecl *record) {
  return record && (!record->hasDefinition() || record->hasTrivialDestructor());
}

static bool is_followed(const clang::Expr *expression) {
  if (const auto *made = llvm::dyn_cast<clang::CXXConstructExpr>(expression))
    return (made->getConstructor()->isTrivial() || made->getConstructor()->hasBody()) &&
           ends_plainly(made->getConstructor()->getParent());
  if (const auto *call = llvm::dyn_cast<clang::CallExpr>(expression)) {
    const auto *method = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(call->getCalleeDecl());
    return !method || (method->hasBody() && !method->isVirtual()) || method->isTrivial();
  }
  return !llvm::isa<clang::CXXNewExpr>(expression) && !llvm::isa<clang::CXXDeleteExpr>(expression) &&
         !llvm::isa<clang::CXXThrowExpr>(expression) && !llvm::isa<clang::CXXBindTemporaryExpr>(expression);
}

// a = b of a class that is copied as it is.
static const clang::CXXOperatorCallExpr *is_copy(const clang::Expr *expression) {
  const auto *call = llvm::dyn_cast<clang::CXXOperatorCallExpr>(expression);
  const auto *method = call ? llvm::dyn_cast_or_null<clang::CXXMethodDecl>(call->getCalleeDecl()) : nullptr;
  return method && method->isTrivial() && call->getNumArgs() == 2 ? call : nullptr;
}

bool Walk::value_cxx(const clang::Expr *expression, Value &result) {
  if (const auto *kept = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(expression))
    result = value(kept->getSubExpr());
  else if (const auto *whole = llvm::dyn_cast<clang::FullExpr>(expression))
    result = value(whole->getSubExpr());
  else if (const auto *usual = llvm::dyn_cast<clang::CXXDefaultArgExpr>(expression))
    result = value(usual->getExpr());
  else if (const auto *usual_field = llvm::dyn_cast<clang::CXXDefaultInitExpr>(expression))
    result = value(usual_field->getExpr());
  else if (llvm::isa<clang::CXXThisExpr>(expression))
    result = objects_.empty() ? Value() : objects_.back();
  else if (const auto *lambda = llvm::dyn_cast<clang::LambdaExpr>(expression))
    make(lambda);
  else if (!is_followed(expression))
    rules_.lost_all(expression->getExprLoc(), FOUND_LOST_CXX);
  else if (const clang::CXXOperatorCallExpr *copy = is_copy(expression)) {
    const Place to = place(copy->getArg(0), true);
    copy_record(to, copy->getArg(1));
    use_record(to, copy->getArg(0), true);
    result = to.kind == Place::Elsewhere ? Value() : Value::to(to);
  } else if (const auto *made = llvm::dyn_cast<clang::CXXConstructExpr>(expression))
    copy_record(Place(), made);
  else if (const auto *casts = llvm::dyn_cast<clang::CastExpr>(expression);
           casts && expression->getType()->isPointerType() &&
           (casts->getCastKind() == clang::CK_DerivedToBase ||
            casts->getCastKind() == clang::CK_UncheckedDerivedToBase)) {
    result = value(casts->getSubExpr());
    if (result.kind == Value::Pointer)
      result.target = base_of(result.target, casts);
  } else
    return false;
  return true;
}

// std::max(*m, x) keeps what *m holds, as fmax does.
bool Walk::chosen(const clang::Expr *expression, Value &result) {
  const auto *call = llvm::dyn_cast<clang::CallExpr>(expression->IgnoreParens());
  const clang::FunctionDecl *function = call ? call->getDirectCallee() : nullptr;
  const llvm::StringRef name = name_of(function);
  if (!function || !function->isInStdNamespace() || call->getNumArgs() != 2 ||
      (name != "max" && name != "min") || !call->getType()->isArithmeticType())
    return false;
  std::vector<Value> values;
  for (const clang::Expr *one : call->arguments())
    values.push_back(one->isGLValue() && !llvm::isa<clang::MaterializeTemporaryExpr>(one)
                         ? load(place(one, true), one)
                         : value(one));
  result = values[0].kind == Value::Bound ? extremum_of(values[0], values[1], name == "max") : Value();
  return true;
}

// ---- objects ----

Value Walk::object_of(const clang::CallExpr *expression) {
  const auto *member = llvm::dyn_cast<clang::CXXMemberCallExpr>(expression);
  const clang::Expr *object = member                     ? member->getImplicitObjectArgument()
                              : expression->getNumArgs() ? expression->getArg(0)
                                                         : nullptr;
  if (!object)
    return Value();
  return object->getType()->isPointerType() ? value(object) : bind(object);
}

void Walk::give(const clang::FunctionDecl &function, const std::vector<const clang::Expr *> &arguments) {
  std::vector<Value> values;
  for (const clang::Expr *one : arguments)
    values.push_back(one->isGLValue() ? bind(one) : one->getType()->isRecordType() ? Value() : value(one));
  for (unsigned i = 0; i < function.getNumParams() && i < values.size(); i++) {
    const clang::ParmVarDecl *parameter = function.getParamDecl(i);
    state_.forget(parameter);
    if (values[i].kind != Value::Unknown)
      state_.values[{parameter, 0}] = values[i];
    if (parameter->getType()->isRecordType())
      copy_record(Place::local(parameter), arguments[i]);
  }
}

// A value of a class comes to be at that place. False: not by a function.
bool Walk::construct(const Place &to, const clang::CXXConstructExpr *made) {
  const clang::FunctionDecl *definition = nullptr;
  if (!made->getConstructor()->hasBody(definition))
    return false;
  for (const clang::FunctionDecl *caller : calls_)
    if (caller == definition)
      return true; // Reached has said so
  give(*definition, std::vector<const clang::Expr *>(made->arg_begin(), made->arg_end()));
  objects_.push_back(to.kind == Place::Elsewhere ? Value() : Value::to(to));
  for (const clang::CXXCtorInitializer *one : llvm::cast<clang::CXXConstructorDecl>(definition)->inits()) {
    const clang::FieldDecl *field = one->getAnyMember();
    const Place at = field ? field_of(to, field) : to;
    if (!field && one->isBaseInitializer()) {
      rules_.lost(to, made->getExprLoc(), FOUND_LOST_RECORD);
      if (to.variable)
        lose(to.variable, made->getExprLoc());
      value(one->getInit());
    } else if (to.kind == Place::Local && to.variable && at.component)
      initialise(to.variable, *at.component, one->getInit());
    else
      value(one->getInit());
  }
  run_body(*definition);
  objects_.pop_back();
  return true;
}

// ---- lambdas: what they capture is what it was outside, as long as that has not changed ----

void Walk::make(const clang::LambdaExpr *lambda) {
  Closure closure;
  const clang::LambdaExpr::const_capture_init_iterator inits = lambda->capture_init_begin();
  unsigned number = 0;
  for (const clang::LambdaCapture &capture : lambda->captures()) {
    const clang::Expr *init = inits[number++];
    if (capture.capturesThis())
      closure.object =
          capture.getCaptureKind() == clang::LCK_This && !objects_.empty() ? objects_.back() : Value();
    const auto *variable =
        capture.capturesVariable() ? llvm::dyn_cast<clang::VarDecl>(capture.getCapturedVar()) : nullptr;
    if (!variable)
      continue;
    if (variable->isInitCapture())
      declare(variable);
    else if (capture.getCaptureKind() == clang::LCK_ByCopy) {
      value(init);
      closure.copied.push_back(variable);
      for (auto at = state_.values.lower_bound({variable, INT64_MIN});
           at != state_.values.end() && at->first.first == variable; ++at)
        closure.values.insert(*at);
    } else
      escaped_.insert(variable);
    closure.changes |= lambda->isMutable() && capture.getCaptureKind() == clang::LCK_ByCopy;
  }
  closures_[lambda->getLambdaClass()] = closure;
}

// `this` within a method; of a lambda that of where it was made.
Value Walk::this_in(const clang::CXXMethodDecl &method, const Value &object, clang::SourceLocation where) {
  if (!method.getParent()->isLambda())
    return object;
  const auto found = closures_.find(method.getParent());
  bool same = found != closures_.end() && !found->second.changes;
  for (size_t i = 0; same && i < found->second.copied.size(); i++)
    for (auto at = state_.values.lower_bound({found->second.copied[i], INT64_MIN});
         at != state_.values.end() && at->first.first == found->second.copied[i]; ++at) {
      const auto then = found->second.values.find(at->first);
      same &= then != found->second.values.end() && then->second == at->second;
    }
  if (!same)
    rules_.lost_all(where, FOUND_LOST_CXX);
  return same ? found->second.object : Value();
}

bool Walk::place_cxx(const clang::Expr *expression, bool used, Place &result) {
  if (const auto *choice = llvm::dyn_cast<clang::AbstractConditionalOperator>(expression)) {
    value(choice->getCond());
    for (const clang::Expr *one : {choice->getTrueExpr(), choice->getFalseExpr()}) {
      const Place at = place(one);
      rules_.lost(at, expression->getExprLoc(), FOUND_LOST_PLACES);
      if (at.kind == Place::Local && at.variable)
        lose(at.variable, expression->getExprLoc());
    }
    return true;
  }
  if (const auto *kept = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(expression)) {
    if (kept->getType()->isRecordType())
      copy_record(Place(), kept->getSubExpr());
    else
      value(kept->getSubExpr());
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

bool Walk::row(const clang::BinaryOperator *expression, Value &result) {
  const clang::CallExpr *call = row_call(expression);
  if (!call)
    return false;
  in_row_ = true;
  result = value(expression->getLHS());
  in_row_ = false;
  const Place &at = result.target;
  const bool ragged =
      result.kind == Value::Pointer && at.kind == Place::Argument && rules_.argument(at.argument).ragged;
  if (ragged)
    result.target.entry = value(call->getArg(3)).as_number();
  return ragged;
}

} // namespace op2jit
