#include <clang/AST/Stmt.h>
#include <clang/AST/TypeLoc.h>
#include <clang/Lex/Lexer.h>
#include <vector>

#include "jit/clang/front.h"
#include "rows_misuse.h"

namespace op2jit {

KernelText::KernelText(const clang::ASTContext &context, const prove_request &request,
                       const clang::FunctionDecl &kernel)
    : context(context), request(request), kernel(kernel) {
  const clang::SourceManager &sources = context.getSourceManager();
  file = sources.getFileID(sources.getExpansionLoc(kernel.getLocation()));
  text = sources.getBufferData(file);
  look_at_words();
}

// Finds the words that the tree does not have.
void KernelText::look_at_words() {
  const clang::SourceManager &sources = context.getSourceManager();
  clang::Lexer lexer(sources.getLocForStartOfFile(file), context.getLangOpts(), text.begin(), text.begin(),
                     text.end());
  int before = -1;
  for (clang::Token token; !lexer.LexFromRawLexer(token);) {
    const int at = static_cast<int>(sources.getFileOffset(token.getLocation()));
    const llvm::StringRef word = token.is(clang::tok::raw_identifier) ? token.getRawIdentifier() : "";
    if (token.is(clang::tok::hash) && token.isAtStartOfLine())
      directives.insert(at);
    if (before >= 0)
      any_order[at] = before;
    before = word == "OP_ANY_ORDER" ? at : -1;
    named += word == kernel.getName();
    has_typeof |= word == "typeof" || word == "__typeof__" || word == "__typeof";
  }
}

int KernelText::argument(const clang::Decl *parameter) const {
  for (int i = 0; i < request.narguments; i++)
    if (kernel.getParamDecl(static_cast<unsigned>(prove_parameter(&request, i))) == parameter)
      return i;
  return -1;
}

bool KernelText::is_number_of_targets(const clang::Decl *parameter) const {
  return llvm::is_contained(kernel.parameters(), parameter) && argument(parameter) < 0;
}

const clang::FunctionDecl *KernelText::own_function(const clang::FunctionDecl *function) const {
  const clang::FunctionDecl *definition = nullptr;
  const bool own = function && function->hasBody(definition) &&
                   is_here(context.getSourceManager().getExpansionLoc(definition->getLocation()));
  return own ? definition : nullptr;
}

int KernelText::place(clang::SourceLocation at) const {
  return at.isFileID() && is_here(at) ? static_cast<int>(context.getSourceManager().getFileOffset(at)) : -1;
}

row_range KernelText::range(clang::SourceRange at) const {
  const row_range words = {place(at.getBegin()), place(at.getEnd())};
  if (words.begin < 0 || words.end < 0)
    return {-1, -1};
  const unsigned last =
      clang::Lexer::MeasureTokenLength(at.getEnd(), context.getSourceManager(), context.getLangOpts());
  return {words.begin, words.end + static_cast<int>(last)};
}

// clang's expressions end before their semicolon.
int KernelText::end_of(const clang::Stmt *statement) const {
  if (const auto *loop = llvm::dyn_cast<clang::ForStmt>(statement))
    return end_of(loop->getBody());
  if (const auto *loop = llvm::dyn_cast<clang::WhileStmt>(statement))
    return end_of(loop->getBody());
  if (const auto *choice = llvm::dyn_cast<clang::SwitchStmt>(statement))
    return end_of(choice->getBody());
  if (const auto *choice = llvm::dyn_cast<clang::IfStmt>(statement))
    return end_of(choice->getElse() ? choice->getElse() : choice->getThen());
  if (const auto *marked = llvm::dyn_cast<clang::AttributedStmt>(statement))
    return end_of(marked->getSubStmt());
  if (llvm::isa<clang::CompoundStmt, clang::NullStmt>(statement))
    return range(statement->getSourceRange()).end;
  return place(clang::Lexer::findLocationAfterToken(
      statement->getEndLoc(), clang::tok::semi, context.getSourceManager(), context.getLangOpts(), false));
}

int KernelText::behind_bracket(int at) const {
  int depth = 0;
  for (size_t i = text.find_first_of("([{", static_cast<size_t>(at)); i < text.size(); i++) {
    depth += llvm::StringRef("([{").contains(text[i]);
    depth -= llvm::StringRef(")]}").contains(text[i]);
    if (depth == 0)
      return static_cast<int>(i) + 1;
  }
  return -1;
}

// ---- the tree ----

void each(const clang::Stmt *statement, llvm::function_ref<void(const clang::Stmt *)> look) {
  if (!statement)
    return;
  look(statement);
  for (const clang::Stmt *part : statement->children())
    each(part, look);
}

const clang::VarDecl *variable_of(const clang::Stmt *expression) {
  const auto *whole = llvm::dyn_cast_or_null<clang::Expr>(expression);
  const auto *name = whole ? llvm::dyn_cast<clang::DeclRefExpr>(whole->IgnoreParenImpCasts()) : nullptr;
  return name ? llvm::dyn_cast<clang::VarDecl>(name->getDecl()) : nullptr;
}

// Where the macro's name stands in the text. What it is given as an argument may be from another macro.
static int place_of_row(const KernelText &text, clang::SourceLocation at) {
  const clang::SourceManager &sources = text.context.getSourceManager();
  while (sources.isMacroArgExpansion(at))
    at = sources.getImmediateSpellingLoc(at);
  const bool row = at.isMacroID() &&
                   clang::Lexer::getImmediateMacroName(at, sources, text.context.getLangOpts()) == "OP_ROW";
  return row ? text.place(sources.getImmediateExpansionRange(at).getBegin()) : -1;
}

// x of (x)[i].
static const clang::Expr *indexed(const clang::Expr *expression) {
  const auto *element = llvm::dyn_cast<clang::ArraySubscriptExpr>(expression->IgnoreParenImpCasts());
  return element ? element->getBase()->IgnoreParenImpCasts() : nullptr;
}

Row row_at(const KernelText &text, const clang::Stmt *statement) {
  const clang::CallExpr *call = row_call(statement);
  const auto *sum = llvm::dyn_cast<clang::BinaryOperator>(statement);
  if (!call || text.own_function(call->getDirectCallee()) || !indexed(sum->getLHS()))
    return {};
  return {indexed(sum->getLHS()), call->getArg(3)->IgnoreParenImpCasts(),
          place_of_row(text, sum->getOperatorLoc())};
}

std::set<const clang::Stmt *> handles_of(const clang::Stmt *row) {
  const auto *sum = llvm::cast<clang::BinaryOperator>(row);
  const clang::CallExpr *call = row_call(row);
  return {indexed(sum->getLHS()), indexed(call->getArg(0)), indexed(call->getArg(1)),
          indexed(call->getArg(2))};
}

bool is_followed(const clang::ParentMap &parents, const clang::Stmt *pointer) {
  const auto *from = llvm::cast<clang::Expr>(pointer)->IgnoreParenImpCasts();
  const clang::Stmt *use = parents.getParentIgnoreParenImpCasts(const_cast<clang::Stmt *>(pointer));
  const auto *element = llvm::dyn_cast_or_null<clang::ArraySubscriptExpr>(use);
  const auto *star = llvm::dyn_cast_or_null<clang::UnaryOperator>(use);
  if (!(element && element->getBase()->IgnoreParenImpCasts() == from) &&
      !(star && star->getOpcode() == clang::UO_Deref))
    return false;
  const auto *address = llvm::dyn_cast_or_null<clang::UnaryOperator>(
      parents.getParentIgnoreParens(const_cast<clang::Stmt *>(use)));
  return !address || address->getOpcode() != clang::UO_AddrOf;
}

// ---- arguments whose rows can stay where they are: an edit of the text must do for each use of such a row ----

namespace {

// `T *`, written so: the place of the first star.
clang::PointerTypeLoc pointer_to(clang::TypeLoc type) {
  return type.getUnqualifiedLoc().getAs<clang::PointerTypeLoc>();
}

class Stays {
public:
  explicit Stays(const KernelText &text) : text_(text), parents_(text.kernel.getBody()) {
  }

  void run(row_facts &out) {
    collect();
    const int end = text_.range(text_.kernel.getSourceRange()).end;
    const auto line = text_.directives.lower_bound(text_.place(text_.kernel.getBeginLoc()));
    if (text_.named != 1 || text_.has_typeof || end < 0 || (line != text_.directives.end() && *line < end))
      return;
    for (int i = 0; i < text_.request.narguments; i++)
      if (text_.request.arguments[i].stays && parameter_can(i))
        staying_.insert(i);
    for (const clang::Stmt *name : names_)
      if (!handles_.count(name) && !is_unused(name))
        staying_.erase(text_.argument(variable_of(name)));
    for (size_t before = staying_.size() + 1; before > staying_.size();) {
      before = staying_.size();
      for (const Used &row : rows_)
        if (row.row.place < 0 || !(is_followed(parents_, row.at) || is_kept(row.at)))
          staying_.erase(row.argument);
    }
    edit(out);
  }

private:
  struct Used {
    Row row;
    const clang::Stmt *at;
    int argument;
  };

  void collect() {
    each(text_.kernel.getBody(), [&](const clang::Stmt *part) {
      const Row row = row_at(text_, part);
      if (row && text_.argument(variable_of(row.handle)) >= 0) {
        rows_.push_back({row, part, text_.argument(variable_of(row.handle))});
        handles_.merge(handles_of(part));
      }
      if (llvm::isa<clang::DeclRefExpr>(part) && variable_of(part))
        names_.push_back(part);
    });
  }

  bool is_unused(const clang::Stmt *name) const {
    const auto *cast = llvm::dyn_cast_or_null<clang::CStyleCastExpr>(
        parents_.getParentIgnoreParenImpCasts(const_cast<clang::Stmt *>(name)));
    return cast && cast->getCastKind() == clang::CK_ToVoid;
  }

  const clang::ParmVarDecl *parameter(int argument) const {
    return text_.kernel.getParamDecl(static_cast<unsigned>(prove_parameter(&text_.request, argument)));
  }

  // From its stars on.
  row_range stars(int argument) const {
    const clang::ParmVarDecl *declared = parameter(argument);
    const clang::PointerTypeLoc outer = pointer_to(declared->getTypeSourceInfo()->getTypeLoc()),
                                inner = outer ? pointer_to(outer.getPointeeLoc()) : outer;
    return inner ? text_.range({inner.getStarLoc(), declared->getLocation()}) : row_range{-1, -1};
  }

  bool parameter_can(int argument) const {
    const clang::ParmVarDecl *declared = parameter(argument);
    const row_range at = stars(argument);
    return declared->getIdentifier() && !declared->hasAttrs() && text_.place(declared->getBeginLoc()) >= 0 &&
           at.begin >= 0 && at.end == text_.range(declared->getSourceRange()).end;
  }

  // The declaration that a row is the first value of: all its names are pointers to rows that stay, for they have one type, and
  // so one space.
  const clang::DeclStmt *declaration_of(const clang::Stmt *row) const {
    const clang::Stmt *around = parents_.getParentIgnoreParens(const_cast<clang::Stmt *>(row));
    while (const auto *cast = llvm::dyn_cast_or_null<clang::ImplicitCastExpr>(around)) {
      if (cast->getCastKind() != clang::CK_NoOp)
        return nullptr;
      around = parents_.getParentIgnoreParens(const_cast<clang::Stmt *>(around));
    }
    return llvm::dyn_cast_or_null<clang::DeclStmt>(around);
  }

  bool is_kept(const clang::Stmt *row) const {
    const clang::DeclStmt *declaration = declaration_of(row);
    if (!declaration || text_.place(declaration->getBeginLoc()) < 0)
      return false;
    for (const clang::Decl *one : declaration->decls()) {
      const auto *variable = llvm::dyn_cast<clang::VarDecl>(one);
      const clang::Expr *value = variable ? variable->getInit() : nullptr;
      const Row from = value ? row_at(text_, value->IgnoreParenImpCasts()) : Row();
      const clang::PointerTypeLoc pointer =
          value ? pointer_to(variable->getTypeSourceInfo()->getTypeLoc()) : clang::PointerTypeLoc();
      if (!from || !staying_.count(text_.argument(variable_of(from.handle))) || !pointer ||
          pointer.getPointeeLoc().getType()->isPointerType() || variable->isStaticLocal())
        return false;
      for (const clang::Stmt *name : names_)
        if (variable_of(name) == variable && !is_followed(parents_, name))
          return false;
    }
    return true;
  }

  void edit(row_facts &out) const {
    std::map<int, stay> edits;
    for (const int i : staying_) {
      const int begin = text_.place(parameter(i)->getBeginLoc());
      edits[begin] = {{begin, begin}, STAY_DECLARES, i};
      edits[stars(i).begin] = {stars(i), STAY_PARAMETER, i};
    }
    for (const Used &row : rows_) {
      const clang::DeclStmt *declaration = declaration_of(row.at);
      if (!staying_.count(row.argument))
        continue;
      const int word = static_cast<int>(sizeof "OP_ROW") - 1;
      edits[row.row.place] = {{row.row.place, row.row.place + word}, STAY_ROW, row.argument};
      if (!declaration)
        continue;
      const int begin = text_.place(declaration->getBeginLoc());
      edits[begin] = {{begin, begin}, STAY_DECLARES, row.argument};
    }
    for (const auto &[at, one] : edits)
      if (edits.size() <= STAYS)
        out.stays[out.nstays++] = one;
  }

  const KernelText &text_;
  const clang::ParentMap parents_;
  std::vector<Used> rows_;
  std::vector<const clang::Stmt *> names_;
  std::set<const clang::Stmt *> handles_;
  std::set<int> staying_;
};

} // namespace

void find_stays(const KernelText &text, row_facts &out) {
  Stays(text).run(out);
}

} // namespace op2jit
