// Follows a kernel's text, through helpers, branches and loops, and writes it down as names that are given once.
#ifndef OP2JIT_JIT_CLANG_DERIVE_TRACE_H
#define OP2JIT_JIT_CLANG_DERIVE_TRACE_H

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>
#include <clang/AST/Stmt.h>

#include <llvm/ADT/STLFunctionalExtras.h>

#include <set>

#include "ir.h"

namespace op2jit::derive {

struct Place {
  Object *object = nullptr; // NULL: nobody knows
  Node *entry = nullptr;    // Row: which row
  Node *offset = nullptr;   // in leaves
};

// A place so many leaves further on.
inline Place moved(Builder &builder, Place place, int64_t leaves) {
  if (place.object)
    place.offset = builder.binary(Op::Add, place.offset->type, place.offset,
                                  builder.integer(leaves, place.offset->type));
  return place;
}

struct Value {
  enum Kind { None, Scalar, Pointer, Record };
  Kind kind = None;
  Node *node = nullptr;
  Place place;               // Pointer; without object: it depends on data, or is NULL
  std::vector<Value> leaves; // Record

  bool operator==(const Value &other) const {
    return kind == other.kind && node == other.node && place.object == other.place.object &&
           place.entry == other.place.entry && place.offset == other.place.offset;
  }

  static Value of(Node *node) {
    Value value;
    value.kind = Scalar;
    value.node = node;
    return value;
  }
  static Value to(const Place &place) {
    Value value;
    value.kind = Pointer;
    value.place = place;
    return value;
  }
};

struct Refusal {
  derive_refusal what = DERIVE_FINE;
  clang::SourceLocation where = {};
  std::string name = {};
  int number = 0; // of operations, at most
};

class Trace {
public:
  Trace(const clang::ASTContext &context, const derive_request &request, const clang::FunctionDecl &kernel,
        std::vector<bool> &in_place);
  // In `in_place` go arguments of WRITE whose stores must stay where they are: then it is to be done again.
  void run();
  Program &program() {
    return program_;
  }
  const Refusal &refusal() const {
    return refusal_;
  }
  bool again() const {
    return again_;
  }

private:
  using Key = std::pair<int, int64_t>; // object, leaf; of rows in all entries
  using State = std::map<Key, Value>;
  struct Jump {
    enum Kind { Return, Break, Continue } kind;
    int object; // its leaf 0: it was made
  };
  struct Frame {
    const clang::FunctionDecl *function;
    Object *result; // leaf 0: it has returned; then what
    size_t jumps;   // of the frames below
    std::map<const clang::VarDecl *, Object *> variables;
  };
  enum class Way { Straight, Guarded };

  // trace.cc
  void parameters();
  void finish();
  void finish_row(int argument);
  void finish_extreme(const Object &row, int64_t leaf, Node *value);
  void refuse(derive_refusal what, clang::SourceLocation where, const std::string &name = "");
  // Refuses, and gives a value for the one that there is none of.
  Value no_value(derive_refusal what, clang::SourceLocation where, const std::string &name = "",
                 Type type = Type::Int) {
    refuse(what, where, name);
    return Value::of(builder_.zero(type));
  }
  bool refused() const {
    return refusal_.what != DERIVE_FINE || again_;
  }
  int value_of(int argument) {
    return find_parameter(program_.parameters, DERIVE_VALUE, argument, -1);
  }
  const derive_argument &argument(const Object &row) const {
    return request_.arguments[row.argument];
  }
  // Does its row hold nothing before the kernel?
  bool begins_empty(const Object &row) const {
    return argument(row).is.access == OP_WRITE || argument(row).is.access == OP_WORK;
  }
  // Stores to a row of WRITE must stay where they are.
  void keep_in_place(const Object &row) {
    if (argument(row).is.access == OP_WRITE && !in_place_[static_cast<size_t>(row.argument)])
      in_place_[static_cast<size_t>(row.argument)] = again_ = true;
  }

  // trace_statements.cc
  void run(const clang::Stmt *statement);
  void run_list(llvm::ArrayRef<const clang::Stmt *> list);
  void declare(const clang::VarDecl *variable);
  void repeat(const clang::Expr *condition, const clang::Expr *step, const clang::Stmt *body,
              bool body_first);
  void jump(Jump::Kind kind, clang::SourceLocation where);
  void give_back(const clang::ReturnStmt *statement);
  void choose(const clang::SwitchStmt *statement);
  Value call(const clang::CallExpr *expression);
  Value inlined(const clang::CallExpr *expression, const clang::FunctionDecl &function);
  Value outside(const clang::CallExpr *expression, const clang::FunctionDecl &function);
  bool memory(const clang::CallExpr *expression, llvm::StringRef name, Value &result);

  // trace.cc
  Node *stopped(); // 0, 1 or a condition: a jump was made
  Node *flag(int object);
  void set_flag(int object, Node *value);
  int new_jump(Jump::Kind kind); // the object of its flag, which is 0
  // The branch, or NULL if the condition is known and only one side was run.
  Node *branch(Node *condition, llvm::function_ref<void()> then, llvm::function_ref<void()> other);
  // Runs `then` where no jump was made, and `other` where one was.
  void go_on(Node *stop, llvm::function_ref<void()> then, llvm::function_ref<void()> other = nullptr);
  void merge(Node *branch, const State &then, const State &other);
  Value merged(Node *branch, const Key &key, const Value *then, const Value *other);

  // trace_loops.cc
  // The parts of a loop, as functions that write them down once more each time: what is in them matters to statements only.
  struct Rounds {
    llvm::function_ref<void()> body, step;
    llvm::function_ref<Node *()> condition;
    bool body_first;
    clang::SourceLocation where, at_condition;
    int continues = -1; // the object of that jump
  };
  void loop(Rounds rounds);
  bool unroll(const Rounds &rounds, Way way, int round, int most, int nodes);
  void body_once(const Rounds &rounds);
  void roll(const Rounds &rounds);
  enum class Rolled {
    Done,
    Refused,
    Impure,
    More
  }; // Impure: the condition changes something; More: is carried than was known
  Rolled try_roll(const Rounds &rounds, const Key *go, const State &start, std::set<Key> &carried);
  bool round_once(const Rounds &rounds, const Key *go, const State &head, int objects, Node *&condition);
  bool close_rounds(Node *loop, const State &start, const State &after, const std::map<Key, Node *> &nodes);
  bool is_changed(const State &head, const Key &key, const Value &value);
  Node *as_truth(Node *condition) {
    return builder_.binary(Op::Ne, Type::Int, condition, builder_.zero(condition->type));
  }
  bool carry(Node *loop, const Key &key, const State &start, std::map<Key, Node *> &nodes);
  Value initial(const Key &key, const Value &like);
  struct Mark {
    Block *block;
    size_t items;
    State state;
    Refusal refusal;
  };
  Mark mark() const;
  void restore(const Mark &mark);

  // trace_expressions.cc
  Value value(const clang::Expr *expression);
  Node *scalar(const clang::Expr *expression);
  Node *truth(const clang::Expr *expression);
  Value cast(const clang::CastExpr *expression);
  Value unary(const clang::UnaryOperator *expression);
  Value binary(const clang::BinaryOperator *expression);
  Value pointers(const clang::BinaryOperator *expression);
  Value logical(const clang::BinaryOperator *expression);
  Value assign(const clang::BinaryOperator *expression);
  Value conditional(const clang::AbstractConditionalOperator *expression);
  Value constant(const clang::Expr *expression);
  Value from(const clang::APValue &value, clang::QualType type);
  bool is_row(const clang::BinaryOperator *expression, Value &result);
  Node *condition(Node *value);

  // trace_places.cc
  Place place(const clang::Expr *expression);
  Place element(const Place &base, Node *index, clang::QualType type);
  Object *object_of(const clang::VarDecl *variable, clang::SourceLocation where);
  Object *constant_object(const clang::VarDecl *variable, clang::SourceLocation where);
  Object *object(Object::Kind kind, const std::string &name, std::vector<Leaf> leaves);
  Value load(const Place &at, clang::QualType type, clang::SourceLocation where);
  void store(const Place &at, const Value &value, clang::QualType type, clang::SourceLocation where);
  void add(const Place &at, Node *value, clang::SourceLocation where);
  Value load_leaf(const Place &at, const Leaf &leaf, clang::SourceLocation where);
  Value load_row(const Place &at, const Leaf &leaf, clang::SourceLocation where);
  Value start_of_row(const Object &row, int64_t leaf, clang::SourceLocation where);
  Value gathered(const Place &at, Type type, clang::SourceLocation where);
  void store_leaf(const Place &at, const Value &value, clang::SourceLocation where);
  void initialise(const Place &at, const clang::Expr *initialiser, clang::QualType type);
  Type type_of(clang::QualType type, clang::SourceLocation where);
  const std::vector<Leaf> &leaves_of(clang::QualType type, clang::SourceLocation where);
  void flatten(clang::QualType type, const std::string &path, clang::SourceLocation where,
               std::vector<Leaf> &out);
  int64_t size_of(clang::QualType type, clang::SourceLocation where) {
    return static_cast<int64_t>(leaves_of(type, where).size());
  }
  int64_t leaves_before(const clang::FieldDecl *field, clang::SourceLocation where);
  Node *index(Node *value);

  const clang::ASTContext &context_;
  const derive_request &request_;
  const clang::FunctionDecl &kernel_;
  std::vector<bool> &in_place_;
  std::vector<bool> unread_; // by argument: it is written where nobody knows
  bool again_ = false;
  Program program_;
  Builder &builder_;
  Refusal refusal_;
  State state_;
  std::deque<Object> objects_;
  std::map<const clang::VarDecl *, Object *> constants_;
  std::map<const clang::Type *, std::vector<Leaf>> leaves_;
  std::vector<Frame> frames_;
  std::vector<Jump> jumps_;
};

} // namespace op2jit::derive
#endif
