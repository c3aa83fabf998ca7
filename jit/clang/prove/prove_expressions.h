// Follows a kernel's text from its first statement, in the order in which it runs. It knows constants and where pointers point,
// and tells the rules of every read and write.
#ifndef OP2JIT_JIT_CLANG_PROVE_EXPRESSIONS_H
#define OP2JIT_JIT_CLANG_PROVE_EXPRESSIONS_H

#include <clang/AST/Expr.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/Stmt.h>

#include <set>

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
  // Runs a function whose parameters have their values, and gives back what it returns.
  Value run_body(const clang::FunctionDecl &function);
  void run(const clang::Stmt *statement);
  void branch(const clang::IfStmt *statement);
  void repeat(const clang::Stmt *statement);
  void loop(const clang::Stmt *whole, const clang::Expr *condition, const clang::Stmt *body,
            const clang::Expr *step, bool body_first);
  void note_length(const clang::Stmt *whole, const clang::Expr *condition, Number known);
  void endless_loop(const clang::Expr *condition, const clang::Stmt *body, const clang::Expr *step);
  void body_of_loop(const clang::Stmt *body, const clang::Expr *step);
  void choose(const clang::SwitchStmt *statement);
  void enter_case(const clang::SwitchCase *label);
  void forget_assigned(const clang::Stmt *statement);
  void forget_target(const clang::Expr *target);

  // Expressions: prove_expressions.cc
  Value value(const clang::Expr *expression);
  // `used`: read or written there, not just pointed to.
  Place place(const clang::Expr *expression, bool used = false);
  Place element(const clang::ArraySubscriptExpr *expression, bool used);
  Value cast(const clang::CastExpr *expression);
  Value unary(const clang::UnaryOperator *expression);
  Value binary(const clang::BinaryOperator *expression);
  Value assign(const clang::BinaryOperator *expression);
  Value conditional(const clang::AbstractConditionalOperator *expression);
  Value call(const clang::CallExpr *expression);
  Value call_outside(const clang::CallExpr *expression, const clang::FunctionDecl *callee);
  bool adds_to_itself(const clang::BinaryOperator *expression);

  // Values of variables: prove_memory.cc
  void lose(const clang::VarDecl *variable, clang::SourceLocation where);
  void lose_escaped(clang::QualType type, clang::SourceLocation where);
  Value load(const Place &from, const clang::Expr *where);
  void store(const Place &to, const Value &what, const clang::Expr *where, Change change, Compared compared);
  Value constant_of(const clang::VarDecl *variable, Number component);
  int64_t values_in(clang::QualType type) const;
  Value moved(const Value &pointer, Number by, clang::QualType pointee);

  // Structures, and rows of ragged maps: prove_records.cc
  void declare(const clang::VarDecl *variable);
  bool row(const clang::BinaryOperator *expression, Value &result);
  Place member(const clang::MemberExpr *expression, bool used);
  void initialise(const clang::VarDecl *variable, int64_t component, const clang::Expr *initialiser);
  void copy_record(const Place &to, const clang::Expr *from);
  bool is_row(const Place &at, clang::QualType type) const;
  void use_record(Place at, const clang::Expr *where, bool writes);
  Place field_of(Place whole, const clang::FieldDecl *field) const;
  Place base_of(Place whole, const clang::CastExpr *expression) const;
  // And what C++ has beyond C. False: it is as in C.
  bool value_cxx(const clang::Expr *expression, Value &result);
  bool place_cxx(const clang::Expr *expression, bool used, Place &result);
  bool chosen(const clang::Expr *expression, Value &result);
  Value bind(const clang::Expr *expression);
  Place referred(const clang::VarDecl *reference, int64_t component = 0) const;
  Value object_of(const clang::CallExpr *expression);
  void give(const clang::FunctionDecl &function, const std::vector<const clang::Expr *> &arguments);
  bool construct(const Place &to, const clang::CXXConstructExpr *made);
  void make(const clang::LambdaExpr *lambda);
  Value this_in(const clang::CXXMethodDecl &method, const Value &object, clang::SourceLocation where);

  // Facts about numbers that are compared with MIN and MAX arguments: prove_extrema.cc
  struct Fact {
    int64_t number; // of a Named value; -1: something is NaN
    Value bound;
  };
  Value bounded(const Value &value) const;
  void learn(const clang::Expr *condition, bool holds);
  Value named(const std::string &key);
  std::string key_of(const Value &value);
  void learn_of(const Value &smaller, const Value &larger);
  Compared compared(const Place &to, const Value &what);
  Value extremum_of(const Value &left, const Value &right, bool largest);
  Value of_operation(const std::string &name, const std::vector<Value> &operands);
  // The same for all elements of the loop.
  Value named_for_all(const std::string &key);
  bool is_for_all(const Value &value) const;

  // A lambda, when it was made.
  struct Closure {
    Value object;
    std::vector<const clang::VarDecl *> copied;
    std::map<std::pair<const clang::VarDecl *, int64_t>, Value> values;
    bool changes = false; // it changes its copies
  };

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
  struct Frame { // of one function
    std::vector<Jumps> jumps;
    std::vector<Choice> choices;
    std::vector<State> returns;
    std::vector<Value> values; // that it returns
  };
  Frame frame_;
  std::vector<const clang::FunctionDecl *> calls_;
  std::vector<Fact> facts_;
  int uncertain_ = 0; // depth of loops that may run no time at all
  int steps_ = 0;
  std::vector<Value> objects_; // `this`, of methods inside one another
  std::map<const clang::CXXRecordDecl *, Closure> closures_;
  std::map<std::string, int64_t> names_;
  std::set<int64_t> for_all_;                                    // names of numbers that all elements have
  std::map<const clang::Expr *, std::pair<Value, Value>> sides_; // of comparisons, when they were last made
  std::set<const clang::VarDecl *> escaped_;                     // variables whose address was taken
  bool in_row_ = false; // between the parentheses of OP_ROW's first pointer
};

} // namespace op2jit
#endif
