// Follows a kernel's text from its first statement, knowing constants and where pointers point, and tells the
// rules of every read and write.
#ifndef OP2JIT_JIT_CLANG_PROVE_WALK_H
#define OP2JIT_JIT_CLANG_PROVE_WALK_H

#include <clang/AST/Expr.h>
#include <clang/AST/Stmt.h>

#include "prove_rules.h"

namespace op2jit {

class Walk {
public:
  Walk(const clang::ASTContext &context, Rules &rules)
      : context_(context), rules_(rules), state_(rules.start()) {
  }
  void kernel(const clang::FunctionDecl &function, const prove_request &request);

private:
  // Statements: prove_statements.cc
  void run(const clang::Stmt *statement);
  void declare(const clang::VarDecl *variable);
  void branch(const clang::IfStmt *statement);
  void loop(const clang::Stmt *whole, const clang::Expr *condition, const clang::Stmt *body,
            const clang::Expr *step, bool body_first);
  void note_length(const clang::Stmt *whole, const clang::Expr *condition, Number known);
  void endless_loop(const clang::Expr *condition, const clang::Stmt *body, const clang::Expr *step,
                    bool body_first);
  void body_of_loop(const clang::Stmt *body, const clang::Expr *step);
  void choose(const clang::SwitchStmt *statement);
  void enter_case(const clang::SwitchCase *label);
  void forget_assigned(const clang::Stmt *statement);
  Value run_body(const clang::FunctionDecl &function);

  // Expressions: prove_expressions.cc
  Value value(const clang::Expr *expression);
  // `used`: read or written there, not just pointed to.
  Place place(const clang::Expr *expression, bool used = false);
  Place element(const clang::ArraySubscriptExpr *expression, bool used);
  Value load(const Place &from, const clang::Expr *where);
  void store(const Place &to, const Value &what, const clang::Expr *where, Change change, Compared compared);
  Value cast(const clang::CastExpr *expression);
  Value unary(const clang::UnaryOperator *expression);
  Value binary(const clang::BinaryOperator *expression);
  Value assign(const clang::BinaryOperator *expression);
  Value conditional(const clang::AbstractConditionalOperator *expression);
  Value call(const clang::CallExpr *expression);
  Value call_outside(const clang::CallExpr *expression, const clang::FunctionDecl *callee);
  Value constant_of(const clang::VarDecl *variable, Number component);
  Value moved(const Value &pointer, Number by, clang::QualType pointee);

  // Comparisons with MIN and MAX arguments that hold here: prove_extrema.cc
  struct Guard {
    int argument; // -1: something is NaN
    bool below;   // the other side is below the argument's value
  };
  void add_guards(const clang::Expr *condition, bool holds);
  Compared compared(const Place &place, const clang::Expr *assigned, const std::vector<bool> &read_before);
  void note_extremum(const Place &to, const clang::Expr *assigned);
  Compared compared_in(const clang::Expr *assigned, int argument, bool minimum);

  struct Jumps {
    std::vector<State> breaks, continues;
  };
  struct Choice {
    State entry;
    Number value;
    bool some_case; // a label other than default has the value
  };

  const clang::ASTContext &context_;
  Rules &rules_;
  State state_;
  std::vector<Jumps> jumps_;
  std::vector<Choice> choices_;
  std::vector<State> returns_;
  std::vector<Value> return_values_;
  std::vector<const clang::FunctionDecl *> calls_;
  std::vector<Guard> guards_;
  int uncertain_ = 0; // depth of loops that may run no time at all
  int steps_ = 0;
};

} // namespace op2jit
#endif
