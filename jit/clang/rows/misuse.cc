// A ragged map's rows are `T **x` in C, for which `x[k]` is something too, and only the text shows that it is not meant. Which
// parameters have them is followed from the kernel through the calls of helpers; also where the text does not compile.
#include <clang/AST/Stmt.h>
#include <clang/Lex/Lexer.h>

#include <deque>

#include "rows.h"

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

} // namespace

Misuse find_misuse(const KernelText &text) {
  return Search(text).run();
}

} // namespace op2jit
