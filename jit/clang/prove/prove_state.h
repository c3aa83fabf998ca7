// What the prover knows at one point of a kernel's text.
#ifndef OP2JIT_JIT_CLANG_PROVE_STATE_H
#define OP2JIT_JIT_CLANG_PROVE_STATE_H

#include <clang/AST/Decl.h>
#include <llvm/ADT/BitVector.h>

#include <map>
#include <optional>
#include <vector>

namespace op2jit {

using Number = std::optional<int64_t>; // nullopt: not known before the program runs

// A place in memory, as far as it matters here.
struct Place {
  enum Kind {
    Elsewhere, // not an argument's, and not followed
    Local,     // element `component` of the variable, on the kernel's own stack
    Lasting,   // a variable that outlives the element's work
    Argument,  // component `component` of pointer `entry` of the argument
    Pointers   // pointer `entry` of a vector argument
  };
  Kind kind = Elsewhere;
  const clang::VarDecl *variable = nullptr;
  int argument = -1;
  Number entry = 0, component = 0;

  bool operator==(const Place &other) const {
    return kind == other.kind && variable == other.variable && argument == other.argument &&
           entry == other.entry && component == other.component;
  }
};

struct Value {
  enum Kind { Unknown, Integer, Pointer };
  Kind kind = Unknown;
  int64_t number = 0; // Integer
  Place target;       // Pointer

  static Value of(int64_t number) {
    Value value;
    value.kind = Integer;
    value.number = number;
    return value;
  }
  static Value to(const Place &target) {
    Value value;
    value.kind = Pointer;
    value.target = target;
    return value;
  }
  Number as_number() const {
    return kind == Integer ? Number(number) : std::nullopt;
  }
  bool operator==(const Value &other) const {
    return kind == other.kind && number == other.number && target == other.target;
  }
};

struct State {
  bool reachable = true;
  std::map<std::pair<const clang::VarDecl *, int64_t>, Value> values; // absent: unknown
  std::vector<llvm::BitVector> written; // by argument: surely written components
  std::vector<llvm::BitVector> perhaps; // by argument: components that some way to here wrote

  // What holds on both ways that meet here.
  void join(const State &other);
  void forget(const clang::VarDecl *variable);
};

} // namespace op2jit
#endif
