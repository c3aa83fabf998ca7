// A walk over clang's tree that is compiled once: a class of its own over RecursiveASTVisitor takes its file ten seconds more.
#ifndef OP2JIT_JIT_CLANG_VISITOR_H
#define OP2JIT_JIT_CLANG_VISITOR_H

namespace clang {
class Decl;
class Stmt;
class TypeLoc;
} // namespace clang

namespace op2jit {

class Visitor {
public:
  // Calls the functions below for each part, outer ones first. With `implicit` also for what the compiler adds, and for
  // instances of templates.
  void walk(clang::Decl *declaration);
  void walk(clang::Stmt *statement);

protected:
  explicit Visitor(bool implicit = false) : implicit_(implicit) {
  }
  ~Visitor() = default;
  virtual void declaration(clang::Decl *) {
  }
  virtual void statement(clang::Stmt *) {
  }
  virtual void type(clang::TypeLoc) {
  }

private:
  friend class Walker;
  const bool implicit_;
};

} // namespace op2jit
#endif
