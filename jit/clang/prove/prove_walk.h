// Follows a kernel's text from its first statement, in the order in which it runs.
#ifndef OP2JIT_JIT_CLANG_PROVE_WALK_H
#define OP2JIT_JIT_CLANG_PROVE_WALK_H

#include <clang/AST/Stmt.h>

#include "prove_expressions.h"

namespace op2jit {

class Walk final : private Expressions {
public:
  Walk(const clang::ASTContext &context, Rules &rules) : Expressions(context, rules) {
  }
  void kernel(const clang::FunctionDecl &function, const prove_request &request);

private:
  Value run_body(const clang::FunctionDecl &function) override;
  void run(const clang::Stmt *statement);
  void branch(const clang::IfStmt *statement);
  void repeat(const clang::Stmt *statement);
  void loop(const clang::Stmt *whole, const clang::Expr *condition, const clang::Stmt *body,
            const clang::Expr *step, bool body_first);
  void note_length(const clang::Stmt *whole, const clang::Expr *condition, Number known);
  void endless_loop(const clang::Expr *condition, const clang::Stmt *body, const clang::Expr *step,
                    bool body_first);
  void body_of_loop(const clang::Stmt *body, const clang::Expr *step);
  void choose(const clang::SwitchStmt *statement);
  void enter_case(const clang::SwitchCase *label);
  void forget_assigned(const clang::Stmt *statement);
  void forget_target(const clang::Expr *target);

  struct Jumps {
    std::vector<State> breaks, continues;
  };
  struct Choice {
    State entry;
    Number value;
    bool some_case; // a label other than default has the value
  };

  std::vector<Jumps> jumps_;
  std::vector<Choice> choices_;
  std::vector<State> returns_;
  std::vector<Value> return_values_;
};

} // namespace op2jit
#endif
