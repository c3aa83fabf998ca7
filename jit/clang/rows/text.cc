#include <clang/AST/Stmt.h>
#include <clang/Lex/Lexer.h>

#include "jit/clang/front.h"
#include "rows.h"

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

} // namespace op2jit
