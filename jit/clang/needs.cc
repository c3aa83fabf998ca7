#include "needs.h"

#include <clang/AST/DeclTemplate.h>
#include <clang/AST/StmtCXX.h>
#include <clang/AST/TypeLoc.h>
#include <clang/Basic/SourceManager.h>

#include "jit/clang/messages.h"

namespace op2jit {

bool is_own(const clang::ASTContext &context, const clang::Decl *declaration) {
  const clang::SourceManager &sources = context.getSourceManager();
  const clang::SourceLocation at = sources.getExpansionLoc(declaration->getLocation());
  return at.isValid() && !sources.isInSystemHeader(at) && !sources.isWrittenInBuiltinFile(at) &&
         !sources.isWrittenInCommandLineFile(at);
}

std::string signature_of(const clang::FunctionDecl &function) {
  std::string words =
      function.getNameAsString() + " " + function.getReturnType().getCanonicalType().getAsString() + "(";
  for (const clang::ParmVarDecl *parameter : function.parameters())
    words += parameter->getType().getCanonicalType().getAsString() + ",";
  return words + ")";
}

/* ---- statements ----*/

void Scope::add(clang::Decl *declaration) {
  const clang::FunctionDecl *function = declaration->getAsFunction();
  unsigned from, to;
  if (!tokens_.statement(declaration->getBeginLoc(), declaration->getEndLoc(),
                         function && function->doesThisDeclarationHaveABody(), from, to))
    return;
  Statement &statement = statements_[from];
  statement.to = std::max(statement.to, to);
  statement.declarations.push_back(declaration);
  places_[declaration] = from;
  if (llvm::isa<clang::UsingDirectiveDecl>(declaration))
    directives_.push_back(from);
}

void Scope::collect(clang::DeclContext *where) {
  for (clang::Decl *declaration : where->decls()) {
    if (declaration->isImplicit() || !is_own(context_, declaration))
      continue;
    auto *inner =
        llvm::isa<clang::NamespaceDecl>(declaration) || llvm::isa<clang::LinkageSpecDecl>(declaration)
            ? llvm::cast<clang::DeclContext>(declaration)
            : nullptr;
    if (inner)
      collect(inner);
    else
      add(declaration);
  }
}

// Templates stand where their pattern is, members where their class is.
static const clang::Decl *outermost(const clang::Decl *declaration) {
  for (;;) {
    if (const clang::TemplateDecl *described = declaration->getDescribedTemplate())
      declaration = described;
    const clang::DeclContext *around = declaration->getLexicalDeclContext();
    if (!around || around->isFileContext() || around->isExternCContext() || around->isExternCXXContext())
      return declaration;
    declaration = llvm::cast<clang::Decl>(around);
  }
}

bool Scope::find(const clang::Decl *declaration, unsigned &from) const {
  const auto found = places_.find(outermost(declaration));
  if (found == places_.end())
    return false;
  from = found->second;
  return true;
}

/* ---- needs ----*/

void Needs::begin(const clang::Expr *kernel) {
  walk(const_cast<clang::Expr *>(kernel));
}

void Needs::refuse_at(clang::SourceLocation where, const std::string &reason) {
  if (!why.empty())
    return;
  const Spot at = spot_of(scope_.context().getSourceManager(), where);
  why = reason + (at.line ? " (" + at.file + ":" + std::to_string(at.line) + ")" : "");
}

void Needs::refuse(const clang::Decl *declaration, const std::string &reason) {
  refuse_at(is_own(scope_.context(), declaration) ? declaration->getLocation() : clang::SourceLocation(),
            reason);
}

// With all that shares its statement.
void Needs::add(clang::Decl *declaration) {
  unsigned from;
  if (!scope_.find(declaration, from) || !statements.insert(from).second)
    return;
  for (clang::Decl *other : scope_.at(from).declarations)
    if (other != declaration && !llvm::isa<clang::FunctionDecl>(other))
      need(other);
}

static bool is_inside_function(const clang::Decl *declaration) {
  return declaration->getParentFunctionOrMethod() != nullptr;
}

void Needs::need(clang::Decl *declaration) {
  if (!declaration || !why.empty())
    return;
  if (auto *variable = llvm::dyn_cast<clang::VarDecl>(declaration)) {
    if (variable->hasGlobalStorage() && !variable->isStaticLocal())
      need_variable(variable->getCanonicalDecl());
    return;
  }
  if (auto *function = llvm::dyn_cast<clang::FunctionDecl>(declaration)) {
    need_function(function);
    return;
  }
  if (is_inside_function(declaration) || !is_own(scope_.context(), declaration))
    return;
  if (auto *described = llvm::dyn_cast<clang::ClassTemplateDecl>(declaration))
    declaration = described->getTemplatedDecl();
  if (auto *record = llvm::dyn_cast<clang::CXXRecordDecl>(declaration)) {
    need_record(record);
    return;
  }
  if (auto *value = llvm::dyn_cast<clang::EnumConstantDecl>(declaration))
    declaration = llvm::cast<clang::Decl>(value->getDeclContext());
  if (auto *field = llvm::dyn_cast<clang::FieldDecl>(declaration)) {
    need(field->getParent());
    return;
  }
  if (!seen_.insert(declaration->getCanonicalDecl()).second)
    return;
  for (clang::Decl *other : declaration->redecls())
    add(other);
  walk(declaration);
}

void Needs::need_record(clang::CXXRecordDecl *record) {
  if (auto *special = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(record)) {
    need(special->getSpecializedTemplate());
    if (!special->isExplicitSpecialization())
      return;
  }
  if (!seen_.insert(record->getCanonicalDecl()).second)
    return;
  if (record->getDefinition() && record->getDefinition()->isPolymorphic())
    refuse(record, "it uses the class '" + record->getNameAsString() + "', which has virtual functions");
  for (clang::Decl *other : record->redecls())
    add(other);
  if (clang::ClassTemplateDecl *described = record->getDescribedClassTemplate()) {
    for (clang::Decl *other : described->redecls())
      add(other);
    for (clang::ClassTemplateSpecializationDecl *special : described->specializations())
      if (special->isExplicitSpecialization())
        need(special);
  }
  if (clang::CXXRecordDecl *around = llvm::dyn_cast<clang::CXXRecordDecl>(record->getDeclContext()))
    need(around);
  if (clang::CXXRecordDecl *definition = record->getDefinition())
    walk(definition);
}

void Needs::need_function(clang::FunctionDecl *function) {
  if (function->isTemplateInstantiation()) {
    clang::FunctionDecl *pattern = function->getTemplateInstantiationPattern();
    if (pattern && is_own(scope_.context(), pattern))
      need_function(pattern);
    if (is_own(scope_.context(), function) && seen_.insert(function->getCanonicalDecl()).second)
      walk(function);
    if (is_own(scope_.context(), function))
      return;
  }
  clang::FunctionDecl *first = function->getCanonicalDecl();
  for (const clang::FunctionDecl *around : inside_)
    if (around == first)
      refuse(function, "'" + function->getNameAsString() + "' calls itself");
  if (!is_own(scope_.context(), function) && !is_inside_function(function)) {
    if (function->getDeclName().isIdentifier() && !function->isCXXClassMember())
      signatures.insert(signature_of(*function));
    return;
  }
  if (is_inside_function(function) || !seen_.insert(first).second)
    return;
  if (auto *method = llvm::dyn_cast<clang::CXXMethodDecl>(function))
    need(method->getParent());
  for (clang::FunctionDecl *other : function->redecls()) {
    add(other);
    if (clang::FunctionTemplateDecl *described = other->getDescribedFunctionTemplate())
      add(described);
  }
  clang::FunctionDecl *definition = function->getDefinition();
  if (!definition && !function->getBuiltinID() && !function->isDefaulted() && !function->isDeleted())
    refuse(function, "it calls '" + function->getNameAsString() + "', whose text is in another unit");
  if (!definition)
    return;
  inside_.push_back(first);
  walk(definition);
  inside_.pop_back();
}

// Values that the compiler knows are text; others belong to the running program.
void Needs::need_variable(clang::VarDecl *variable) {
  if (!seen_.insert(variable).second)
    return;
  const clang::ASTContext &context = scope_.context();
  clang::VarDecl *definition = variable->getDefinition();
  const clang::VarDecl *value = nullptr;
  const clang::Expr *init = variable->getAnyInitializer(value);
  const bool fixed = (variable->getType().isConstant(context) || variable->isConstexpr()) && init &&
                     (init->isValueDependent() || init->isConstantInitializer(scope_.context(), false));
  if (variable->getTLSKind() != clang::VarDecl::TLS_None)
    refuse(variable,
           "it names the variable '" + variable->getNameAsString() + "', which each thread has its own of");
  else if (!is_own(context, variable) && !fixed)
    refuse(variable, "it names the variable '" + variable->getNameAsString() + "' of a header of the system");
  else if (fixed) {
    if (auto *record = llvm::dyn_cast<clang::CXXRecordDecl>(variable->getDeclContext()))
      need(record);
    for (clang::VarDecl *other : variable->redecls())
      add(other);
    walk(definition ? definition : variable);
  } else if (!variable->getDeclContext()->getRedeclContext()->isTranslationUnit())
    refuse(variable, "it names the variable '" + variable->getQualifiedNameAsString() +
                         "', and only constants at file scope can be declared");
  else
    variables.push_back(variable);
}

void Needs::need_introducer(clang::NamedDecl *found) {
  if (auto *shadow = llvm::dyn_cast_or_null<clang::UsingShadowDecl>(found))
    if (is_own(scope_.context(), shadow->getIntroducer()))
      add(shadow->getIntroducer());
}

void Needs::need_overloads(const clang::OverloadExpr *expression) {
  for (clang::NamedDecl *found : expression->decls()) {
    need_introducer(found);
    clang::NamedDecl *meant = found->getUnderlyingDecl();
    if (auto *described = llvm::dyn_cast<clang::FunctionTemplateDecl>(meant))
      meant = described->getTemplatedDecl();
    if (is_own(scope_.context(), meant))
      need(meant);
  }
}

// A variable that a kernel changes is no constant.
void Needs::change(const clang::Expr *place) {
  place = place->IgnoreParenImpCasts();
  while (const auto *item = llvm::dyn_cast<clang::ArraySubscriptExpr>(place))
    place = item->getBase()->IgnoreParenImpCasts();
  const auto *name = llvm::dyn_cast<clang::DeclRefExpr>(place);
  const auto *variable = name ? llvm::dyn_cast<clang::VarDecl>(name->getDecl()) : nullptr;
  if (variable && variable->hasGlobalStorage() && !variable->isStaticLocal())
    refuse_at(place->getBeginLoc(), "it changes the variable '" + variable->getNameAsString() + "'");
}

// ---- the walk, to the first reason that there can be no text ----

// Assembler, and what needs the language's library when it runs.
static const struct {
  clang::Stmt::StmtClass what;
  const char *words;
} refused[] = {{clang::Stmt::GCCAsmStmtClass, "it has assembler text"},
               {clang::Stmt::CXXThrowExprClass, "it throws an exception"},
               {clang::Stmt::CXXTryStmtClass, "it catches exceptions"},
               {clang::Stmt::CXXNewExprClass, "it takes memory with new"},
               {clang::Stmt::CXXDeleteExprClass, "it gives memory back with delete"},
               {clang::Stmt::CXXTypeidExprClass, "it asks for types with typeid"},
               {clang::Stmt::CXXDynamicCastExprClass, "it has a dynamic_cast"}};

void Needs::statement(clang::Stmt *statement) {
  if (!why.empty())
    return;
  for (const auto &row : refused)
    if (statement->getStmtClass() == row.what)
      refuse_at(statement->getBeginLoc(), row.words);
  if (auto *name = llvm::dyn_cast<clang::DeclRefExpr>(statement)) {
    need_introducer(name->getFoundDecl());
    need(name->getDecl());
  } else if (const auto *member = llvm::dyn_cast<clang::MemberExpr>(statement))
    need(member->getMemberDecl());
  else if (const auto *made = llvm::dyn_cast<clang::CXXConstructExpr>(statement))
    need(made->getConstructor());
  else if (const auto *several = llvm::dyn_cast<clang::OverloadExpr>(statement))
    need_overloads(several);
  else if (const auto *binary = llvm::dyn_cast<clang::BinaryOperator>(statement)) {
    if (binary->isAssignmentOp())
      change(binary->getLHS());
  } else if (const auto *unary = llvm::dyn_cast<clang::UnaryOperator>(statement))
    if (unary->isIncrementDecrementOp())
      change(unary->getSubExpr());
}

void Needs::type(clang::TypeLoc type) {
  if (!why.empty())
    return;
  if (const auto alias = type.getAs<clang::TypedefTypeLoc>())
    need(alias.getTypedefNameDecl());
  else if (const auto tag = type.getAs<clang::TagTypeLoc>())
    need(tag.getDecl());
  else if (const auto used = type.getAs<clang::UsingTypeLoc>())
    need_introducer(used.getFoundDecl());
  else if (const auto special = type.getAs<clang::TemplateSpecializationTypeLoc>())
    need(special.getTypePtr()->getTemplateName().getAsTemplateDecl());
}

// A variable that is kept from call to call belongs to the program.
void Needs::declaration(clang::Decl *declaration) {
  auto *variable = llvm::dyn_cast<clang::VarDecl>(declaration);
  if (!why.empty() || !variable || !variable->isStaticLocal() || variable->isConstexpr())
    return;
  const std::string name = "the static variable '" + variable->getNameAsString() + "'";
  if (!variable->getType().isConstant(scope_.context()))
    refuse(variable, name + " keeps what one element leaves");
  else if (variable->getInit() && !variable->getInit()->isValueDependent() &&
           !variable->getInit()->isConstantInitializer(scope_.context(), false))
    refuse(variable, name + " gets its value when the program runs");
}

} // namespace op2jit
