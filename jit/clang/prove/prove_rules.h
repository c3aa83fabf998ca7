// What each access descriptor allows, and what was found against it.
#ifndef OP2JIT_JIT_CLANG_PROVE_RULES_H
#define OP2JIT_JIT_CLANG_PROVE_RULES_H

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>

#include <map>
#include <string>

#include "jit/prover.h"
#include "prove_state.h"

namespace op2jit {

enum class Change { Assign, Increase, Modify }; // = ; += -= ++ -- ; the other compound assignments
// Is what a MIN or MAX argument is assigned on the right side of what it held: not known; yes; no, on the other side.
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
  // What is written next is the smaller or larger of what its argument, declared INC, held and of another value.
  void keeps_extremum(bool minimum);
  void null_pointer(const clang::Expr *where);
  // Of an element without targets: with some the compiler sees it.
  void unset(const clang::VarDecl *variable, const clang::Expr *where);
  // What a ragged map leads to is used by something else than OP_ROW, in a macro for instance.
  void not_by_row(const Place &place, const clang::Expr *where);
  void at_exit(const State &state);
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
  // Of an argument: what each component is set to, -1 for one that is not known.
  struct Stored {
    bool reads = false, differs = false;
    std::map<int64_t, std::string> values;
  };
  void note_stored(const Place &place, const std::string &same);
  static std::string words_of(const Stored &stored);
  void doubt(const Place &place, clang::SourceLocation where, prove_found why);
  void report(int argument, clang::SourceLocation where, Finding found);
  void violated(const Place &place, prove_found what, const clang::Expr *where, int64_t first = 0,
                int64_t second = 0);
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
  std::vector<Finding> findings_;
  std::vector<int>
      keeps_; // by argument: of all its changes, 1: they keep the smaller value, 2: the larger, 3: neither
  int keeps_next_ = 0;
  std::vector<Stored> stored_;
  std::vector<bool> doubtful_; // by argument: some write was not followed to its component or path
  std::vector<llvm::BitVector> sometimes_; // by argument: components written on some path
  // By argument: components written where an earlier condition had written them perhaps, as in `if (c) *w = 1; if
  // (!c) *w = 2;`.
  std::vector<llvm::BitVector> in_turn_;
};

} // namespace op2jit
#endif
