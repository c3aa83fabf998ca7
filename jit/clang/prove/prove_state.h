// The prover's knowledge at one point of a kernel's text.
#ifndef OP2JIT_JIT_CLANG_PROVE_STATE_H
#define OP2JIT_JIT_CLANG_PROVE_STATE_H

#include <clang/AST/Decl.h>
#include <llvm/ADT/BitVector.h>

#include <map>
#include <optional>
#include <vector>

namespace op2jit {

using Number = std::optional<int64_t>; // nullopt: not known before the program runs

inline Number sum(Number a, Number b) {
  int64_t result;
  return a && b && !__builtin_add_overflow(*a, *b, &result) ? Number(result) : std::nullopt;
}

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

  static Place local(const clang::VarDecl *variable, int64_t component = 0) {
    return {Local, variable, -1, 0, component};
  }
  static Place of(int argument, Kind kind = Argument) {
    return {kind, nullptr, argument, 0, 0};
  }
  bool operator==(const Place &other) const {
    return kind == other.kind && variable == other.variable && argument == other.argument &&
           entry == other.entry && component == other.component;
  }
};

struct Value {
  enum Kind {
    Unknown,
    Integer,
    Pointer,
    Named, // not known, but the same wherever it has this number
    Bound, // on a known side of what an argument held at first
    Unset  // of a number that has no value yet
  };
  Kind kind = Unknown;
  int64_t number = 0; // Integer, Named
  Place target;       // Pointer: where to; Bound: the argument's component
  bool above = false, below = false,
       minus = false; // Bound: never below it, never above it; of the negative number

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
  static Value unset() {
    Value value;
    value.kind = Unset;
    return value;
  }
  static Value named(int64_t number) {
    Value value = of(number);
    value.kind = Named;
    return value;
  }
  static Value bound(const Place &target, bool above, bool below) {
    Value value = to(target);
    value.kind = Bound;
    value.above = above;
    value.below = below;
    return above || below ? value : Value();
  }
  Number as_number() const {
    return kind == Integer ? Number(number) : std::nullopt;
  }
  // The value that describes both.
  Value joined(const Value &other) const;
  bool operator==(const Value &other) const {
    return kind == other.kind && number == other.number && target == other.target && minus == other.minus &&
           above == other.above && below == other.below;
  }
};

struct State {
  bool reachable = true;
  std::map<std::pair<const clang::VarDecl *, int64_t>, Value> values; // absent: unknown
  std::vector<llvm::BitVector> written; // by argument: surely written components
  std::vector<llvm::BitVector> perhaps; // by argument: components that some way to here wrote

  // Values of variables that two ways leave otherwise are not known behind them, but bounds hold that both have.
  void join(const State &other);
  void forget(const clang::VarDecl *variable);
};

} // namespace op2jit
#endif
