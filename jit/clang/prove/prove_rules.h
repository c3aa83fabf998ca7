// The prover's knowledge at one point of a kernel's text.
#ifndef OP2JIT_JIT_CLANG_PROVE_PROVE_RULES_H
#define OP2JIT_JIT_CLANG_PROVE_PROVE_RULES_H

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>
#include <llvm/ADT/BitVector.h>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "jit/prover.h"

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
  Place target = {};  // Pointer: where to; Bound: the argument's component
  bool above = false, below = false,
       minus = false; // Bound: never below it, never above it; of the negative number

  static Value of(int64_t number) {
    return {Integer, number};
  }
  static Value to(const Place &target) {
    return {Pointer, 0, target};
  }
  static Value named(int64_t number) {
    return {Named, number};
  }
  static Value bound(const Place &target, bool above, bool below) {
    return above || below ? Value{Bound, 0, target, above, below} : Value();
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

// ---- the promises of access descriptors, and what was found against them ----

enum class Change { Assign, Increase, Modify }; // = ; += -= ++ -- ; the other compound assignments
// Whether a MIN or MAX argument is assigned a value on the right side of what it held: not known; yes; no, on the other side.
enum class Compared { No, Rightly, Wrongly };

struct Finding {
  prove_verdict verdict = PROVE_PROVED;
  prove_found what = FOUND_NONE;
  std::string name = {};
  int64_t first = 0, second = 0; // the numbers of prove_finding
  std::string file = {}, parameter = {};
  unsigned line = 0, column = 0;
};

// As op_decl_dat spells it, where it is one of those.
std::string type_word(clang::QualType type);

class Rules {
public:
  Rules(const clang::ASTContext &context, const prove_request &request, const clang::FunctionDecl &kernel);

  State start() const;
  void read(const Place &place, const clang::Expr *where, const State &state);
  // `surely`: not in a loop that may run no time at all.
  // `same`: what is written, in words, if it is the same for all elements; else "".
  void write(const Place &place, const clang::Expr *where, State &state, Change change, Compared compared,
             bool surely, const std::string &same = "");
  // `index` of the array that `array` names, which has `size` elements; that is at `place`.
  void index(const clang::Expr *array, Number index, int64_t size, const Place &place);
  // The next write to an argument declared INC keeps the smaller or larger of what it held and of another value.
  void keeps_extremum(bool minimum);
  // Reports only for elements without targets: with some the compiler sees it.
  void unset(const clang::VarDecl *variable, const clang::Expr *where);
  void at_exit(const State &state);
  void violated(const Place &place, prove_found what, const clang::Expr *where, int64_t first = 0,
                int64_t second = 0);
  void lost(const Place &place, clang::SourceLocation where, prove_found why);
  void lost_all(clang::SourceLocation where, prove_found why);
  void whole(prove_verdict verdict, prove_found what, clang::SourceLocation where,
             const std::string &name = "", int64_t first = 0, int64_t second = 0);
  // A parameter is not of the type of its argument.
  void mismatched(prove_found what, const clang::ParmVarDecl &parameter, int argument);

  const prove_argument &argument(int i) const {
    return request_.arguments[i];
  }
  // How many values of the argument's type such a value is made of, one behind the other: a structure may have those
  // of a row. 0: it is not made of them alone.
  int64_t values_of_argument(clang::QualType type, int argument) const;
  std::vector<prove_fact> facts() const;
  std::vector<Finding> findings() const; // by argument, the last about the whole kernel

private:
  // What is known of one argument.
  struct About {
    Finding finding;
    int keeps = 0; // bits, of all its changes: 1: they keep the smaller value, 2: the larger, 3: neither
    bool doubtful = false;          // some write was not followed to its component or path
    llvm::BitVector sometimes = {}; // components written on some path
    llvm::BitVector in_turn =
        {}; // those that an earlier condition wrote perhaps, as in `if (c) *w = 1; if (!c) *w = 2;`
    // The value that each component is set to; -1: a component that is not known.
    bool reads = false, differs = false;
    std::map<int64_t, std::string> values = {};
  };
  About &about(int i) {
    return about_[static_cast<size_t>(i)];
  }
  void note_stored(const Place &place, const std::string &same);
  static std::string words_of(const About &about);
  void doubt(const Place &place, clang::SourceLocation where, prove_found why);
  void report(int argument, clang::SourceLocation where, Finding found);
  static prove_found broken(const prove_argument &arg, Change change, Compared compared);
  bool inside(const Place &place, const clang::Expr *where);
  int64_t values_of(const clang::VarDecl *variable) const;
  void inside_variable(const Place &place, const clang::Expr *where);
  void outside(const clang::VarDecl *variable, const std::string &name, int64_t size, Number index,
               const clang::Expr *where);
  int components(int argument) const;
  void unwritten(int argument, int component);

  const clang::ASTContext &context_;
  const prove_request &request_;
  const clang::FunctionDecl &kernel_;
  std::vector<About> about_;
  Finding whole_;
  int keeps_next_ = 0;
};

// ---- prove_reading.cc: C that C++ does not have, or takes for something else without a word: compilers of GPUs read a text as C++ ----

struct OtherReading {
  clang::SourceLocation where;
  prove_found what;
};

// The first of each kind in the kernel's file.
std::vector<OtherReading> find_other_readings(clang::ASTContext &context);

} // namespace op2jit

#endif
