#include "needs.h"

namespace op2jit {
namespace {

// The variable that a pointer, or the place of a reference, is made from: "&table[i] + 1" from table.
const clang::VarDecl *root_of(const clang::Expr *value) {
  for (;;) {
    value = value->IgnoreParenCasts();
    if (const auto *name = llvm::dyn_cast<clang::DeclRefExpr>(value))
      return llvm::dyn_cast<clang::VarDecl>(name->getDecl());
    if (const auto *unary = llvm::dyn_cast<clang::UnaryOperator>(value))
      value = unary->getSubExpr();
    else if (const auto *item = llvm::dyn_cast<clang::ArraySubscriptExpr>(value))
      value = item->getBase();
    else if (const auto *binary = llvm::dyn_cast<clang::BinaryOperator>(value))
      value = binary->getLHS()->getType()->isPointerType() || binary->getLHS()->getType()->isArrayType()
                  ? binary->getLHS()
                  : binary->getRHS();
    else if (const auto *choice = llvm::dyn_cast<clang::ConditionalOperator>(value))
      value = choice->getTrueExpr();
    else
      return nullptr;
  }
}

bool may_change(const clang::ASTContext &context, clang::QualType type) {
  if (!type->isPointerType() && !type->isLValueReferenceType())
    return false;
  return !context.getBaseElementType(type->getPointeeType()).isConstQualified();
}

class Flow : public Visitor {
public:
  Flow(const clang::ASTContext &context, const Needs &needs) : context_(context) {
    for (const clang::VarDecl *variable : needs.variables)
      pointing.insert(variable->getCanonicalDecl());
  }
  std::set<const clang::VarDecl *> pointing; // constants, and what points to them
  std::set<clang::SourceLocation> begins;

private:
  void declaration(clang::Decl *declaration) override {
    const auto *variable = llvm::dyn_cast<clang::VarDecl>(declaration);
    if (variable && variable->hasInit())
      flow(variable->getInit(), variable);
  }
  void statement(clang::Stmt *statement) override {
    const auto *assigns = llvm::dyn_cast<clang::BinaryOperator>(statement);
    const auto *call = llvm::dyn_cast<clang::CallExpr>(statement);
    const clang::FunctionDecl *function = call ? call->getDirectCallee() : nullptr;
    if (assigns && assigns->getOpcode() == clang::BO_Assign)
      if (const auto *name = llvm::dyn_cast<clang::DeclRefExpr>(assigns->getLHS()->IgnoreParenImpCasts()))
        if (const auto *variable = llvm::dyn_cast<clang::VarDecl>(name->getDecl()))
          flow(assigns->getRHS(), variable);
    for (unsigned i = 0; function && i < call->getNumArgs() && i < function->getNumParams(); i++)
      for (const clang::FunctionDecl *other : function->redecls())
        flow(call->getArg(i), other->getParamDecl(i));
  }
  void flow(const clang::Expr *from, const clang::VarDecl *to) {
    const clang::VarDecl *root = root_of(from);
    if (root && pointing.count(root->getCanonicalDecl()) && may_change(context_, to->getType()) &&
        begins.insert(to->getBeginLoc()).second)
      pointing.insert(to->getCanonicalDecl());
  }
  const clang::ASTContext &context_;
};

} // namespace

std::set<clang::SourceLocation> pointers_to_constants(const Scope &scope, const Needs &needs) {
  Flow flow(scope.context(), needs);
  for (size_t before = ~size_t{0}; before != flow.begins.size();) {
    before = flow.begins.size();
    for (unsigned from : needs.statements)
      for (clang::Decl *declaration : scope.at(from).declarations)
        flow.walk(declaration);
  }
  return flow.begins;
}

} // namespace op2jit
