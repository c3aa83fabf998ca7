// A kernel as names that are given once: what is between clang's tree and the derived text. A block is a list of nodes in
// the order in which they were made; branches and loops are nodes with blocks of their own. Nodes without effect may be
// written anywhere in their block behind what they are made of, so that what nobody uses is never written.
#ifndef OP2JIT_JIT_CLANG_DERIVE_IR_H
#define OP2JIT_JIT_CLANG_DERIVE_IR_H

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "jit/deriver.h"

namespace op2jit::derive {

enum class Type : uint8_t {
  Bool,
  Char,
  SChar,
  UChar,
  Short,
  UShort,
  Int,
  UInt,
  Long,
  ULong,
  LLong,
  ULLong,
  Float,
  Double
};
struct TypeInfo {
  const char *name, *suffix; // of a number
  int bits;
  bool is_signed; // a real is
};
const TypeInfo &type_info(Type type);
inline bool is_real(Type type) {
  return type >= Type::Float;
}

enum class Op : uint8_t {
  Number,
  Load,   // of a parameter: entry and component, the second counted in values
  Count,  // how many targets the element has by a ragged map
  Global, // a constant of the program: its component
  Table,  // of a constant array of the text: its component
  Neg,
  Not,
  BitNot,
  Add,
  Sub,
  Mul,
  Div,
  Rem,
  Shl,
  Shr,
  And,
  Or,
  Xor,
  Lt,
  Gt,
  Le,
  Ge,
  Eq,
  Ne,
  Both,   // &&, of operands that may both be computed
  Either, // ||
  Cast,
  Call,    // of a function of <math.h>
  Array,   // values side by side, of which Index takes one
  Index,   // array, index
  Phi,     // behind a branch: the value of one side or of the other
  Carried, // in a loop, at the start of a round: init at first, next of the round before
  Left,    // the same behind the loop
  Kept,    // what a round of a loop kept: number of the tape, round
  // With effect, or with blocks.
  Store,   // to a parameter: entry, component, value
  Inc,     // the same, added
  Extreme, // the same: a candidate for MIN or MAX. Of the kernel itself only
  Keep,    // round, value
  If,      // condition
  Loop     // condition, which is in the body's block
};
inline bool has_effect(Op op) {
  return op == Op::Store || op == Op::Inc || op == Op::Extreme || op == Op::Keep;
}

// The operators of C with two operands, "+": as its grammar has them, more binds stronger.
struct Operator {
  Op op;
  std::string_view sign;
  int strength;
};
extern const Operator operators[18];

struct Node;

struct Block {
  Node *owner = nullptr; // the branch or loop; NULL: the kernel's own
  Block *parent = nullptr;
  std::vector<Node *> items;
  std::map<std::vector<uint64_t>, Node *> known; // to find a node that is there already
  // In a derived text: the block that it stands for, the nodes made for those there, and their dots.
  const Block *of = nullptr;
  std::unordered_map<const Node *, Node *> values, dots;
  Node *round = nullptr; // of a loop that goes backwards: the number of the round
};

struct Node {
  Op op;
  Type type;
  int id;
  Block *home;
  std::vector<Node *> in;
  int64_t number =
      0; // Number of an integer; Load, Store, Inc, Extreme: the parameter; Count: the map; Table, Global: which
  double real = 0;                  // Number of a real
  const char *name = "";            // Call
  Node *owner = nullptr;            // Phi, Carried, Left, Kept
  Block *blocks[2] = {};            // If: then, else; Loop: body
  std::vector<Node *> results = {}; // If: its Phis; Loop: its Carrieds
  Node *left = nullptr;             // Carried: the same behind the loop
  bool closed = false;              // If, Loop: it is among the items of its block
  bool ordered = false;             // Load: nothing that is stored may pass it
  bool varied = false;              // of the kernel itself: it depends on an active value
  int64_t bound = -1;               // Loop: rounds at most, -1 for not known
  uint32_t where = 0;               // Loop: its place in the text

  bool is_number(double value) const {
    return op == Op::Number && (is_real(type) ? real == value : static_cast<double>(number) == value);
  }
};

// A parameter that the kernel or its derivative may have.
struct Parameter {
  derive_role role;
  int argument, constant;
};

// Makes nodes in the current block.
class Builder {
public:
  Builder() : root_(block(nullptr)), now_(root_) {
  }
  Block *root() const {
    return root_;
  }
  Block *now() const {
    return now_;
  }
  // Returns the one before.
  Block *enter(Block *block) {
    Block *before = now_;
    now_ = block;
    return before;
  }
  Block *block(Node *owner);

  Node *integer(int64_t value, Type type = Type::Int);
  Node *real(double value, Type type);
  Node *zero(Type type) {
    return is_real(type) ? real(0, type) : integer(0, type);
  }
  Node *unary(Op op, Node *a);
  Node *binary(Op op, Type type, Node *a, Node *b);
  Node *cast(Type type, Node *a);
  Node *call(const char *name, Type type, std::vector<Node *> in);
  Node *load(Type type, int parameter, Node *entry, Node *component, bool ordered = false);
  Node *indexed(Op op, Type type, int64_t which, Node *index); // Global, Table; Count without index
  Node *element(Node *array, Type type, Node *index);
  Node *array(Type type, std::vector<Node *> in);
  void effect(Op op, Type type, int64_t number, std::vector<Node *> in);
  // Behind what it needs, and so when its blocks are done: close.
  Node *branch(Node *condition);
  void close(Node *owner);
  Node *phi(Node *branch, Node *then, Node *other);
  // Both are computed.
  Node *choose(Node *condition, Node *then, Node *other);
  Node *loop();
  // `next` comes later.
  Node *carried(Node *loop, Node *init);
  Node *kept(Type type, int64_t tape, Node *round, Node *loop);
  Node *negated(Node *condition);

  int size() const {
    return static_cast<int>(nodes_.size());
  }
  std::deque<Node> &nodes() {
    return nodes_;
  }

  bool derives = false; // a derivative: 0 * x is 0, x + 0 is x

private:
  Node *make(Op op, Type type, std::vector<Node *> in, int64_t number = 0, const char *name = "");
  Node *add(Op op, Type type, std::vector<Node *> in);
  Node *apart(Op op, std::vector<Node *> in);
  Node *folded(Op op, Type type, Node *a, Node *b);
  Node *simpler(Op op, Type type, Node *a, Node *b);
  Block *highest(const std::vector<Node *> &in, Op op) const;

  std::deque<Node> nodes_;
  std::deque<Block> blocks_;
  std::set<std::string> names_;
  Block *root_, *now_;
};

// Nodes are made in that block as long as this is there.
class Inside {
public:
  Inside(Builder &builder, Block *block) : builder_(builder), before_(builder.enter(block)) {
  }
  ~Inside() {
    builder_.enter(before_);
  }
  Inside(const Inside &) = delete;
  Inside &operator=(const Inside &) = delete;

private:
  Builder &builder_;
  Block *const before_;
};

// The parameter of a kernel, which is added if it is not there.
int find_parameter(std::vector<Parameter> &all, derive_role role, int argument, int constant);
// The farthest number of the type: a MIN or MAX starts from there, as far as one element knows.
Node *farthest(Builder &builder, Type type, bool largest);
// Whether `inner` is the block, or within it.
bool is_within(const Block *inner, const Block *outer);

// Whether it holds of any node in the blocks of a branch or loop, and in those within.
template <class Holds> bool any_within(const Node *owner, const Holds &holds) {
  for (const Block *block : owner->blocks)
    if (block)
      for (const Node *node : block->items)
        if (holds(node) || any_within(node, holds))
          return true;
  return false;
}

// By what the value goes on in each round that another one follows; 0: it is no counter.
int64_t step_of(const Node *loop, const Node *carried);
// Rounds at most by the loop's condition, -1 if nothing proves it.
int64_t find_bound(const Node *loop);
// A counter and a limit that is the same in each round, which alone decide how many there are: carried `op` limit.
bool decides_rounds(const Node *loop, const Node *&carried, int64_t &step, Op &op, Node *&limit);

// ---- rules.cc: the functions of <math.h>, and how they change with what they are given ----

// Whether there is a rule for it.
bool is_function(std::string_view name);
// Does its value depend on operand `i` other than in steps?
bool follows(const Node *call, size_t i);
// The partial derivative by operand `i`, of operands and the value that are `in` and `value` in the derived text.
Node *partial(Builder &builder, const Node *call, size_t i, const std::vector<Node *> &in, Node *value);

// ---- a kernel, written down: its nodes, and what they name ----

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
  std::string type = {};         // Row: as the kernel's parameter spells it
  bool zeros = false;            // Row: the kernel leaves zeros in all of it
};

// An active MIN or MAX.
inline bool is_extreme(const derive_argument &one) {
  return one.active && one.present && (one.is.access == OP_MIN || one.is.access == OP_MAX);
}

struct Program {
  Builder builder;
  std::vector<Parameter> parameters; // those that nodes name by number
  std::vector<Object *> rows;        // by argument
  struct Table {
    std::string name;
    std::vector<Node *> values;
  };
  std::vector<Table> tables;
  struct Global {
    std::string name;
    bool single; // it is no array
    int active;  // number of the request's constant, or -1
  };
  std::vector<Global> globals;
};

} // namespace op2jit::derive
#endif
