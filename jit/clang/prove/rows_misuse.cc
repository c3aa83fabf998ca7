// A ragged map's rows are `T **x` in C, for which `x[k]` is something too, and only the text shows that it is not meant. Which
// parameters have them is followed from the kernel through the calls of helpers; also where the text does not compile.
#include <clang/AST/Stmt.h>
#include <clang/Basic/Builtins.h>
#include <clang/Lex/Lexer.h>

#include <deque>

#include "jit/clang/front.h"
#include "rows_misuse.h"

namespace op2jit {
namespace {

class Search {
public:
  explicit Search(const KernelText &text) : text_(text), sources_(text.context.getSourceManager()) {
  }

  Misuse run() {
    for (int i = 0; i < text_.request.narguments; i++)
      add(text_.kernel.getParamDecl(static_cast<unsigned>(prove_parameter(&text_.request, i))), i);
    while (!is_found() && !left_.empty()) {
      const clang::ParmVarDecl *parameter = left_.front();
      left_.pop_front();
      const auto *function = llvm::cast<clang::FunctionDecl>(parameter->getDeclContext());
      const clang::ParentMap parents(function->getBody());
      each(function->getBody(), [&](const clang::Stmt *part) {
        if (llvm::isa<clang::DeclRefExpr>(part) && variable_of(part) == parameter)
          use(llvm::cast<clang::DeclRefExpr>(part), parents);
        values(part);
      });
    }
    return found_;
  }

private:
  void add(const clang::ParmVarDecl *parameter, int argument) {
    if (arguments_.insert({parameter, argument}).second)
      left_.push_back(parameter);
  }

  void use(const clang::DeclRefExpr *name, const clang::ParentMap &parents) {
    const auto *parameter = llvm::cast<clang::ParmVarDecl>(name->getDecl());
    const int argument = arguments_[parameter];
    const prove_argument &passed = text_.request.arguments[argument];
    const clang::Stmt *around = parents.getParentIgnoreParenImpCasts(const_cast<clang::DeclRefExpr *>(name));
    const auto *cast = llvm::dyn_cast_or_null<clang::CStyleCastExpr>(around);
    if (is_handle(name, around)) {
      if (!passed.ragged)
        report_use(passed.form == PROVE_VECTOR ? FOUND_ROW_OF_VECTOR : FOUND_ROW_OF_ONE, argument, name);
    } else if (const auto *call = llvm::dyn_cast_or_null<clang::CallExpr>(around)) {
      pass(call, parameter, argument);
    } else if (passed.ragged && !(cast && cast->getCastKind() == clang::CK_ToVoid)) {
      const auto *element = llvm::dyn_cast_or_null<clang::ArraySubscriptExpr>(around);
      report_use(element && variable_of(element->getBase()) == parameter ? FOUND_NOT_BY_ROW : FOUND_ROWS_USED,
                 argument, name);
    }
  }

  // A function that the text does not define may do with it what it likes.
  void pass(const clang::CallExpr *call, const clang::ParmVarDecl *parameter, int argument) {
    const clang::FunctionDecl *callee = text_.own_function(call->getDirectCallee());
    for (unsigned i = 0; callee && i < call->getNumArgs() && i < callee->getNumParams(); i++)
      if (variable_of(call->getArg(i)) == parameter)
        add(callee->getParamDecl(i), argument);
  }

  // Whether it is x of OP_ROW(x, k). Where the text does not compile, only the macro shows it.
  bool is_handle(const clang::DeclRefExpr *name, const clang::Stmt *around) {
    const auto *element = llvm::dyn_cast_or_null<clang::ArraySubscriptExpr>(around);
    clang::SourceLocation at = name->getLocation();
    if (!element || text_.is_here(sources_.getSpellingLoc(element->getIdx()->getExprLoc())))
      return false;
    for (; sources_.isMacroArgExpansion(at); at = sources_.getImmediateSpellingLoc(at)) {
      const clang::SourceLocation body = sources_.getImmediateExpansionRange(at).getBegin();
      if (clang::Lexer::getImmediateMacroName(body, sources_, text_.context.getLangOpts()) == "OP_ROW" &&
          *sources_.getCharacterData(body) == 'x')
        return true;
    }
    return false;
  }

  // Two pointers are subtracted or compared, where a `*` was forgotten before one.
  void values(const clang::Stmt *part) {
    const auto *operation = llvm::dyn_cast<clang::BinaryOperator>(part);
    if (!operation || !(operation->isComparisonOp() || operation->getOpcode() == clang::BO_Sub) ||
        operation->getType()->isPointerType())
      return;
    for (const clang::Expr *side : {operation->getLHS(), operation->getRHS()}) {
      const Row row = row_at(text_, side->IgnoreParenImpCasts());
      const int end = row.place >= 0 ? text_.behind_bracket(row.place) : -1;
      if (end < 0 || is_found())
        continue;
      report(FOUND_ROW_AS_NUMBER, -1, sources_.getLocForStartOfFile(text_.file).getLocWithOffset(row.place));
      found_.finding.name = words(row.place, end);
    }
  }

  // Where people wrote the name: in a macro where the macro misuses what it is given.
  clang::SourceLocation written(clang::SourceLocation at) const {
    for (; sources_.isMacroArgExpansion(at); at = sources_.getImmediateSpellingLoc(at)) {
      const clang::SourceLocation body =
          sources_.getSpellingLoc(sources_.getImmediateExpansionRange(at).getBegin());
      if (text_.is_here(body))
        return body;
    }
    return sources_.getSpellingLoc(at);
  }

  std::string words(int begin, int end) const {
    return text_.text.slice(static_cast<size_t>(begin), static_cast<size_t>(end)).str();
  }
  bool is_found() const {
    return found_.finding.verdict != PROVE_PROVED;
  }

  void report(prove_found what, int argument, clang::SourceLocation where) {
    const clang::PresumedLoc place = sources_.getPresumedLoc(where);
    found_.argument = argument;
    found_.finding.verdict = PROVE_VIOLATED;
    found_.finding.what = what;
    found_.finding.file = text_.request.files[1].name;
    found_.finding.line = place.getLine();
    found_.finding.column = place.getColumn();
  }

  void report_use(prove_found what, int argument, const clang::DeclRefExpr *name) {
    if (is_found())
      return;
    const bool of_row = what == FOUND_ROW_OF_VECTOR || what == FOUND_ROW_OF_ONE;
    const clang::SourceLocation where =
        of_row ? sources_.getSpellingLoc(name->getLocation()) : written(name->getLocation());
    const row_range word = text_.range(where);
    const size_t open = text_.text.find('[', static_cast<size_t>(word.begin));
    const int end = open == llvm::StringRef::npos ? -1 : text_.behind_bracket(static_cast<int>(open));
    report(what == FOUND_NOT_BY_ROW && end < 0 ? FOUND_ROWS_USED : what, argument, where);
    found_.finding.parameter = words(word.begin, word.end);
    found_.finding.first = name->getDecl()->getDeclContext() != &text_.kernel;
    found_.finding.second = text_.request.arguments[argument].arity;
    if (what == FOUND_NOT_BY_ROW && end >= 0)
      found_.finding.name = words(static_cast<int>(open) + 1, end - 1);
  }

  const KernelText &text_;
  const clang::SourceManager &sources_;
  std::map<const clang::ParmVarDecl *, int> arguments_; // of the loop, that parameters are
  std::deque<const clang::ParmVarDecl *> left_;
  Misuse found_;
};

// Reasons why several threads cannot share a kernel's loop, in it and in the functions that it reaches: anything that lasts,
// that a pointer in a value leads to, or that is not known. What is not listed here is a doubt, whatever it may be.

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

Misuse find_misuse(const KernelText &text) {
  return Search(text).run();
}

split_why doubt_of_text(const KernelText &text) {
  return Doubts(text).run();
}

} // namespace op2jit
