#include "entry.h"

#include <clang/AST/DeclCXX.h>
#include <clang/AST/PrettyPrinter.h>

#include <algorithm>

namespace op2jit {

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
