#include "visitor.h"

#include <clang/AST/RecursiveASTVisitor.h>

namespace op2jit {

class Walker : public clang::RecursiveASTVisitor<Walker> {
public:
  explicit Walker(Visitor &visitor) : visitor_(visitor) {
  }
  bool shouldVisitImplicitCode() const {
    return visitor_.implicit_;
  }
  bool shouldVisitTemplateInstantiations() const {
    return visitor_.implicit_;
  }
  bool VisitDecl(clang::Decl *declaration) {
    visitor_.declaration(declaration);
    return true;
  }
  bool VisitStmt(clang::Stmt *statement) {
    visitor_.statement(statement);
    return true;
  }
  bool VisitTypeLoc(clang::TypeLoc type) {
    visitor_.type(type);
    return true;
  }

private:
  Visitor &visitor_;
};

void Visitor::walk(clang::Decl *declaration) {
  Walker(*this).TraverseDecl(declaration);
}

void Visitor::walk(clang::Stmt *statement) {
  Walker(*this).TraverseStmt(statement);
}

} // namespace op2jit
