// The declarations of the project that a kernel reaches, by whatever way.
#ifndef OP2JIT_JIT_CLANG_NEEDS_H
#define OP2JIT_JIT_CLANG_NEEDS_H

#include <clang/AST/ASTContext.h>
#include <clang/AST/ExprCXX.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "jit/clang/visitor.h"
#include "tokens.h"

namespace op2jit {

// Whether it is in a file of the project, not in one of the system or of this library.
bool is_own(const clang::ASTContext &context, const clang::Decl *declaration);

// A function of a header that is not the project's, as a text calls it: "sqrt double(double)".
std::string signature_of(const clang::FunctionDecl &function);

// Declarations of the project at file scope or in a namespace, by where they begin.
class Scope {
public:
  Scope(clang::ASTContext &context, const Tokens &tokens) : context_(context), tokens_(tokens) {
    collect(context.getTranslationUnitDecl());
  }
  struct Statement {
    unsigned to;
    std::vector<clang::Decl *> declarations;
  };
  // Where the declaration begins, or no statement of its own.
  bool find(const clang::Decl *declaration, unsigned &from) const;
  const Statement &at(unsigned from) const {
    return statements_.at(from);
  }
  clang::ASTContext &context() const {
    return context_;
  }
  const Tokens &tokens() const {
    return tokens_;
  }
  // using namespace: they are needed by who may be.
  const std::vector<unsigned> &directives() const {
    return directives_;
  }

private:
  void collect(clang::DeclContext *where);
  void add(clang::Decl *declaration);

  clang::ASTContext &context_;
  const Tokens &tokens_;
  std::map<unsigned, Statement> statements_;
  std::map<const clang::Decl *, unsigned> places_;
  std::vector<unsigned> directives_;
};

class Needs : private Visitor {
public:
  explicit Needs(const Scope &scope) : Visitor(true), scope_(scope) {
  }
  // From the kernel on.
  void begin(clang::FunctionDecl *kernel) {
    need(kernel);
  }
  // The same, as op_par_loop names it: with the arguments of a template.
  void begin(const clang::Expr *kernel);

  std::set<unsigned> statements; // where those begin that are needed
  std::vector<clang::VarDecl *> variables;
  std::set<std::string> signatures; // functions that the text has from elsewhere
  std::string why;                  // there can be no text: the first reason

private:
  void declaration(clang::Decl *declaration) override;
  void statement(clang::Stmt *statement) override;
  void type(clang::TypeLoc type) override;
  void need(clang::Decl *declaration);
  void need_introducer(clang::NamedDecl *found);
  void need_function(clang::FunctionDecl *function);
  void need_variable(clang::VarDecl *variable);
  void need_record(clang::CXXRecordDecl *record);
  void add(clang::Decl *declaration);
  void need_overloads(const clang::OverloadExpr *expression);
  void change(const clang::Expr *place);
  void refuse(const clang::Decl *declaration, const std::string &reason);
  void refuse_at(clang::SourceLocation where, const std::string &reason);

  const Scope &scope_;
  std::set<const clang::Decl *> seen_;
  std::vector<const clang::FunctionDecl *> inside_;
};

// Constants are const in a text, and variables in the program. A pointer or reference to one that is not const does not
// compile then; it is made const, so that the compiler itself sees whether a kernel changes what it points to.

// Where declarations begin of what points to a constant, in local variables and parameters.
std::set<clang::SourceLocation> pointers_to_constants(const Scope &scope, const Needs &needs);

} // namespace op2jit
#endif
