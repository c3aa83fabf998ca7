// A kernel, written down: its nodes, and what they name.
#ifndef OP2JIT_JIT_CLANG_DERIVE_PROGRAM_H
#define OP2JIT_JIT_CLANG_DERIVE_PROGRAM_H

#include "ir.h"

namespace op2jit::derive {

struct Leaf {
  Type type;
  bool is_pointer;
  std::string path; // of a row that is a struct: ".left.u[2]"
};

// A thing that has an address: a variable of the text, or the rows of an argument.
struct Object {
  enum Kind {
    Local,
    Row,     // of the argument
    Handles, // of the argument's vector: pointers to rows
    Global,  // a constant of the program
    Table    // a constant of the text
  };
  Kind kind;
  int id;
  std::string name;
  std::vector<Leaf> leaves;      // Row: of one entry
  int argument = -1, which = -1; // which: of Global and Table, their number
};

// An active MIN or MAX.
inline bool is_extreme(const derive_argument &one) {
  return one.active && one.present && one.is.form != PROVE_PAYLOAD &&
         (one.is.access == OP_MIN || one.is.access == OP_MAX);
}

struct Program {
  Builder builder;
  std::vector<Parameter> parameters; // those that nodes name by number
  std::vector<Object *> rows;        // by argument
  std::vector<bool> zeros;           // by argument: the kernel leaves zeros in all of its row
  struct Table {
    std::string name;
    std::vector<Node *> values;
  };
  std::vector<Table> tables;
  std::vector<std::string> types;   // by argument, as its parameter spells it
  std::vector<std::string> globals; // names
  std::vector<bool> single;         // by global: it is no array
  std::vector<int> active_globals;  // by global: number of the request's constant, or -1
};

} // namespace op2jit::derive
#endif
