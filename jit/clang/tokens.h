// The tokens of a project's own files as the parser saw them: macros expanded, files included.
#ifndef OP2JIT_JIT_CLANG_TOKENS_H
#define OP2JIT_JIT_CLANG_TOKENS_H

#include <clang/AST/ASTContext.h>
#include <clang/Basic/SourceManager.h>
#include <llvm/ADT/DenseMap.h>
#include <set>
#include <string>
#include <vector>

namespace clang {
class Preprocessor;
class Token;
} // namespace clang

namespace op2jit {

// Where a line of a text is from; those behind it are from the lines behind that.
struct LineOrigin {
  unsigned line;
  std::string file;
  unsigned file_line;
};

class Tokens {
public:
  // Collects from now on, until the parser is done.
  void watch(clang::Preprocessor &preprocessor);

  // The whole declaration that begins and ends there, with what stands before its specifiers and the semicolon behind
  // it: [from, to). False if it is not there as tokens.
  bool statement(clang::SourceLocation begin, clang::SourceLocation end, bool body, unsigned &from,
                 unsigned &to) const;
  // Lines stay lines, and begin where they began. "const" is put before what begins at the locations.
  void print(unsigned from, unsigned to, const clang::SourceManager &sources,
             const std::set<clang::SourceLocation> &constant, std::string &out,
             std::vector<LineOrigin> &origins) const;
  clang::SourceLocation at(unsigned index) const {
    return items_[index].at;
  }
  const std::string &text(unsigned index) const {
    return items_[index].text;
  }

private:
  struct Item {
    clang::SourceLocation at;
    std::string text;
    bool first, apart; // on its line; from the one before
  };
  void take(clang::Preprocessor &preprocessor, const clang::Token &token);
  bool find(clang::SourceLocation at, unsigned &index) const;

  std::vector<Item> items_;
  llvm::DenseMap<clang::SourceLocation, unsigned> places_;
};

// The function that the generated loop calls: the kernel itself. For a method or a template's instance it is a function of
// our own that calls the kernel, since generated code names functions.

// Its full name, "inner::flux".
std::string entry_of(const clang::FunctionDecl &kernel);
// Adds to a text that has the kernel what `entry_of` names, if it is not there.
void add_entry(const clang::ASTContext &context, const clang::FunctionDecl &kernel, std::string &text,
               std::vector<LineOrigin> &origins);

} // namespace op2jit

#endif
