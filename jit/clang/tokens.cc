#include "tokens.h"

#include <algorithm>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/PrettyPrinter.h>
#include <clang/Lex/Preprocessor.h>

namespace op2jit {

void Tokens::watch(clang::Preprocessor &preprocessor) {
  preprocessor.setTokenWatcher([this, &preprocessor](const clang::Token &token) {
    if (!token.isAnnotation() && !token.is(clang::tok::eof) &&
        !preprocessor.getSourceManager().isInSystemHeader(token.getLocation()))
      take(preprocessor, token);
  });
}

void Tokens::take(clang::Preprocessor &preprocessor, const clang::Token &token) {
  places_[token.getLocation()] = static_cast<unsigned>(items_.size());
  items_.push_back({token.getLocation(), preprocessor.getSpelling(token), token.isAtStartOfLine(),
                    token.hasLeadingSpace() || token.getLocation().isMacroID()});
}

bool Tokens::find(clang::SourceLocation at, unsigned &index) const {
  const auto found = places_.find(at);
  if (at.isInvalid() || found == places_.end())
    return false;
  index = found->second;
  return true;
}

static bool is(const std::string &text, const char *words) {
  return text.size() == 1 && strchr(words, text[0]);
}

bool Tokens::statement(clang::SourceLocation begin, clang::SourceLocation end, bool body, unsigned &from,
                       unsigned &to) const {
  if (!find(begin, from) || !find(end, to) || to < from)
    return false;
  while (from > 0 && !is(items_[from - 1].text, ";{}"))
    from--;
  int depth = 0;
  for (; to < items_.size(); to++) {
    const std::string &text = items_[to].text;
    if (body || (depth == 0 && text == ";"))
      return ++to, true;
    // A bracket that closes here without an opening one may end a class.
    depth += is(text, "({[") ? 1 : is(text, ")}]") && depth > 0 ? -1 : 0;
  }
  return false;
}

static void begin_line(const clang::SourceManager &sources, clang::SourceLocation at, std::string &out,
                       std::vector<LineOrigin> &origins) {
  const clang::PresumedLoc place = sources.getPresumedLoc(sources.getExpansionLoc(at));
  if (place.isInvalid())
    return;
  const auto line = static_cast<unsigned>(std::count(out.begin(), out.end(), '\n')) + 1;
  const LineOrigin *last = origins.empty() ? nullptr : &origins.back();
  if (!last || last->file != place.getFilename() || place.getLine() - last->file_line != line - last->line)
    origins.push_back({line, place.getFilename(), place.getLine()});
  out.append(place.getColumn() - 1, ' ');
}

void Tokens::print(unsigned from, unsigned to, const clang::SourceManager &sources,
                   const std::set<clang::SourceLocation> &constant, std::string &out,
                   std::vector<LineOrigin> &origins) const {
  for (unsigned i = from; i < to; i++) {
    const bool macro = i > from && items_[i - 1].at.isMacroID(), begins = i == from || items_[i].first;
    if (begins) {
      out += i > from ? "\n" : "";
      begin_line(sources, items_[i].at, out, origins);
    } else
      out += items_[i].apart || macro ? " " : "";
    out += (constant.count(items_[i].at) ? "const " : "") + items_[i].text;
  }
  out += "\n";
}

static constexpr char entries[] = "op2jit_entries"; // a namespace

static bool is_plain(const clang::FunctionDecl &kernel) {
  return !kernel.isTemplateInstantiation() && !kernel.getTemplateSpecializationInfo() &&
         !llvm::isa<clang::CXXMethodDecl>(kernel);
}

std::string entry_of(const clang::FunctionDecl &kernel) {
  std::string name = kernel.getNameAsString();
  if (!is_plain(kernel))
    return std::string(entries) + "::" + name;
  for (const clang::DeclContext *around = kernel.getDeclContext(); around; around = around->getParent())
    if (const auto *space = llvm::dyn_cast<clang::NamespaceDecl>(around))
      if (!space->isAnonymousNamespace() && !space->isInline())
        name = space->getNameAsString() + "::" + name;
  return name;
}

// Lines of it are said to be that of the kernel.
void add_entry(const clang::ASTContext &context, const clang::FunctionDecl &kernel, std::string &text,
               std::vector<LineOrigin> &origins) {
  if (is_plain(kernel))
    return;
  const clang::FunctionDecl *definition = kernel.getDefinition();
  const clang::FunctionDecl &whole = definition ? *definition : kernel;
  clang::PrintingPolicy policy(context.getLangOpts());
  policy.SuppressUnwrittenScope = true;
  std::string parameters, arguments, called;
  for (const clang::ParmVarDecl *parameter : whole.parameters()) {
    const unsigned number = parameter->getFunctionScopeIndex();
    std::string word =
        parameter->getName().empty() ? "op2jit_" + std::to_string(number) : parameter->getName().str();
    arguments += (number ? ", " : "") + word;
    parameter->getType().getCanonicalType().getUnqualifiedType().getAsStringInternal(word, policy);
    parameters += (number ? ", " : "") + word;
  }
  llvm::raw_string_ostream stream(called);
  kernel.getNameForDiagnostic(stream, policy, true);
  stream.flush();
  const auto line = static_cast<unsigned>(std::count(text.begin(), text.end(), '\n')) + 1;
  const clang::SourceManager &sources = context.getSourceManager();
  const clang::PresumedLoc at = sources.getPresumedLoc(sources.getExpansionLoc(whole.getLocation()));
  if (at.isValid())
    origins.push_back({line, at.getFilename(), at.getLine()});
  // In two steps: its own name would hide the kernel's, and for GPUs the whole text stands in a namespace.
  text += "inline void op2jit_call(" + parameters + ") { " + called + "(" + arguments + "); }\n";
  text += std::string("namespace ") + entries + " { inline void " + kernel.getNameAsString() + "(" +
          parameters + ") { op2jit_call(" + arguments + "); } }\n";
}

} // namespace op2jit
