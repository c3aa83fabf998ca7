// Reasons why several threads cannot share a kernel's loop, in it and in the functions that it reaches: anything that lasts,
// that a pointer in a value leads to, or that is not known. What is not listed here is a doubt, whatever it may be.
#include <clang/AST/Stmt.h>
#include <clang/Basic/Builtins.h>

#include <deque>

#include "jit/clang/front.h"
#include "rows.h"

namespace op2jit {
namespace {

// A number, or a structure of numbers: no pointer is in it.
bool is_plain(const clang::ASTContext &context, clang::QualType type) {
  type = context.getBaseElementType(type);
  const auto *record = type->getAs<clang::RecordType>();
  if (!record)
    return type->isArithmeticType();
  if (record->isUnionType() || !record->getDecl()->isCompleteDefinition())
    return false;
  return llvm::all_of(record->getDecl()->fields(),
                      [&](const clang::FieldDecl *field) { return is_plain(context, field->getType()); });
}

class Doubts {
public:
  explicit Doubts(const KernelText &text) : text_(text), sources_(text.context.getSourceManager()) {
  }

  split_why run() {
    reach(&text_.kernel);
    for (size_t i = 0; i < reached_.size() && !why_; i++)
      look_at(reached_[i]);
    return why_;
  }

private:
  void doubt(bool is_one, split_why why) {
    if (is_one && !why_)
      why_ = why;
  }

  void reach(const clang::FunctionDecl *function) {
    if (!llvm::is_contained(reached_, function))
      reached_.push_back(function);
  }

  void look_at(const clang::FunctionDecl *function) {
    const row_range at = text_.range(function->getBody()->getSourceRange());
    const auto line = text_.directives.lower_bound(at.begin);
    doubt(at.begin < 0 || at.end < 0, WHY_MACRO);
    doubt(line != text_.directives.end() && *line < at.end, WHY_DIRECTIVE);
    for (const clang::ParmVarDecl *parameter : function->parameters())
      variable(parameter);
    each(function->getBody(), [&](const clang::Stmt *part) { statement(part, function != &text_.kernel); });
  }

  void statement(const clang::Stmt *part, bool in_helper) {
    using namespace clang;
    doubt(isa<GotoStmt, LabelStmt, IndirectGotoStmt>(part), WHY_GOTO);
    doubt(
        !isa<CompoundStmt, DeclStmt, ForStmt, IfStmt, WhileStmt, DoStmt, SwitchStmt, SwitchCase, BreakStmt,
             ContinueStmt, ReturnStmt, NullStmt, AttributedStmt, DeclRefExpr, IntegerLiteral, FloatingLiteral,
             CharacterLiteral, StringLiteral, PredefinedExpr, ParenExpr, UnaryOperator, BinaryOperator,
             ConditionalOperator, ArraySubscriptExpr, CallExpr, CastExpr, MemberExpr, InitListExpr,
             ImplicitValueInitExpr, CompoundLiteralExpr, UnaryExprOrTypeTraitExpr, ConstantExpr>(part),
        WHY_NOT_C);
    doubt(is_of_own_macro(part), WHY_MACRO);
    if (const auto *declared = dyn_cast<DeclStmt>(part))
      for (const Decl *one : declared->decls())
        if (const auto *local = dyn_cast<VarDecl>(one))
          variable(local);
    if (const auto *called = dyn_cast<CallExpr>(part))
      call(called);
    if (const auto *named = dyn_cast<DeclRefExpr>(part))
      name(named);
    if (const auto *cast = dyn_cast<CastExpr>(part); cast && in_helper)
      doubt(makes_pointer(cast), WHY_MADE);
  }

  // A cast, or a conversion that takes const away.
  static bool makes_pointer(const clang::CastExpr *cast) {
    const clang::QualType to = cast->getType(), from = cast->getSubExpr()->getType();
    if (!to->isPointerType() || (!from->isPointerType() && llvm::isa<clang::ImplicitCastExpr>(cast)))
      return false;
    return llvm::isa<clang::ExplicitCastExpr>(cast) ||
           (from->getPointeeType().isConstQualified() && !to->getPointeeType().isConstQualified());
  }

  // But for constants: with other conditions it may mean something else.
  bool is_of_own_macro(const clang::Stmt *part) const {
    const auto *expression = llvm::dyn_cast<clang::Expr>(part);
    clang::SourceLocation at = expression ? expression->getExprLoc() : part->getBeginLoc();
    if (llvm::isa<clang::ImplicitCastExpr>(part))
      return false;
    while (at.isMacroID())
      if (sources_.isMacroArgExpansion(at))
        at = sources_.getImmediateSpellingLoc(at);
      else if (text_.is_here(sources_.getSpellingLoc(at)))
        return !expression || !expression->getType()->isArithmeticType() ||
               !expression->isEvaluatable(text_.context);
      else
        at = sources_.getImmediateExpansionRange(at).getBegin();
    return false;
  }

  void variable(const clang::VarDecl *variable) {
    const clang::QualType element = text_.context.getBaseElementType(variable->getType());
    doubt(
        element.isVolatileQualified() || variable->hasExternalStorage() ||
            (variable->isStaticLocal() && !(element.isConstQualified() && is_plain(text_.context, element))),
        WHY_STATIC);
    doubt(variable->hasAttrs(), WHY_NOT_C);
    doubt(element->isRecordType() && !is_plain(text_.context, element), WHY_TYPE);
  }

  // In C's library they may set errno, which nobody reads.
  static bool is_pure(const clang::FunctionDecl *function) {
    const clang::Builtin::Context &builtins = function->getASTContext().BuiltinInfo;
    const unsigned number = function->getBuiltinID();
    const char *header = number ? builtins.getHeaderName(number) : nullptr;
    return number && (builtins.isConst(number) ||
                      (header && llvm::StringRef(header) == "math.h" &&
                       llvm::all_of(function->parameters(), [](const clang::ParmVarDecl *parameter) {
                         return parameter->getType()->isArithmeticType();
                       })));
  }

  void call(const clang::CallExpr *call) {
    const clang::FunctionDecl *callee = call->getDirectCallee(), *own = text_.own_function(callee);
    callees_.insert(call->getCallee()->IgnoreParenImpCasts());
    if (own)
      reach(own);
    doubt(!own && !is_known(callee), WHY_NAME);
  }

  // The prelude's own functions have such names.
  static bool is_known(const clang::FunctionDecl *callee) {
    return callee && (is_pure(callee) || name_of(callee).starts_with("op2"));
  }

  void name(const clang::DeclRefExpr *named) {
    doubt(llvm::isa<clang::FunctionDecl>(named->getDecl()) && !callees_.count(named), WHY_NAME);
    const auto *variable = llvm::dyn_cast<clang::VarDecl>(named->getDecl());
    if (!variable || !variable->isFileVarDecl() ||
        !text_.is_here(sources_.getExpansionLoc(variable->getLocation())))
      return;
    const clang::QualType element = text_.context.getBaseElementType(variable->getType());
    doubt(!element.isConstQualified() || element.isVolatileQualified() || !is_plain(text_.context, element),
          WHY_NAME);
  }

  const KernelText &text_;
  const clang::SourceManager &sources_;
  std::deque<const clang::FunctionDecl *> reached_;
  std::set<const clang::Stmt *> callees_;
  split_why why_ = WHY_NOT_LOOKED_AT;
};

} // namespace

split_why doubt_of_text(const KernelText &text) {
  return Doubts(text).run();
}

} // namespace op2jit
