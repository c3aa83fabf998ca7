#include "ir.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace op2jit::derive {

const TypeInfo &type_info(Type type) {
  static const TypeInfo types[] = {{"_Bool", "", 1, false},       {"char", "", 8, true},
                                   {"signed char", "", 8, true},  {"unsigned char", "", 8, false},
                                   {"short", "", 16, true},       {"unsigned short", "", 16, false},
                                   {"int", "", 32, true},         {"unsigned int", "U", 32, false},
                                   {"long", "L", 64, true},       {"unsigned long", "UL", 64, false},
                                   {"long long", "LL", 64, true}, {"unsigned long long", "ULL", 64, false},
                                   {"float", "f", 32, true},      {"double", "", 64, true}};
  return types[static_cast<int>(type)];
}

const Operator operators[] = {
    {Op::Mul, "*", 13},  {Op::Div, "/", 13},  {Op::Rem, "%", 13},    {Op::Add, "+", 12}, {Op::Sub, "-", 12},
    {Op::Shl, "<<", 11}, {Op::Shr, ">>", 11}, {Op::Lt, "<", 10},     {Op::Gt, ">", 10},  {Op::Le, "<=", 10},
    {Op::Ge, ">=", 10},  {Op::Eq, "==", 9},   {Op::Ne, "!=", 9},     {Op::And, "&", 8},  {Op::Xor, "^", 7},
    {Op::Or, "|", 6},    {Op::Both, "&&", 5}, {Op::Either, "||", 4},
};

bool is_within(const Block *inner, const Block *outer) {
  while (inner && inner != outer)
    inner = inner->parent;
  return inner == outer;
}

Block *Builder::block(Node *owner) {
  blocks_.emplace_back();
  Block &made = blocks_.back();
  made.owner = owner;
  made.parent = owner ? owner->home : nullptr;
  return &made;
}

static bool traps(Op op) {
  return op == Op::Load || op == Op::Index || op == Op::Table || op == Op::Global || op == Op::Div ||
         op == Op::Rem || op == Op::Call;
}

// A value that is the same in all rounds is made in front of the loop, but not out of a branch.
Block *Builder::highest(const std::vector<Node *> &in, Op op) const {
  Block *block = now_;
  while (block->owner && block->owner->op == Op::Loop && !traps(op) && op < Op::Array) {
    for (const Node *operand : in)
      if (is_within(operand->home, block))
        return block;
    block = block->parent;
  }
  return block;
}

Node *Builder::add(Op op, Type type, std::vector<Node *> in) {
  nodes_.push_back({op, type, static_cast<int>(nodes_.size()), now_, std::move(in)});
  now_->items.push_back(&nodes_.back());
  return &nodes_.back();
}

Node *Builder::make(Op op, Type type, std::vector<Node *> in, int64_t number, const char *name) {
  std::vector<uint64_t> key = {static_cast<uint64_t>(op), static_cast<uint64_t>(type),
                               static_cast<uint64_t>(number), reinterpret_cast<uintptr_t>(name)};
  for (const Node *operand : in)
    key.push_back(reinterpret_cast<uintptr_t>(operand));
  for (Block *block = now_; block; block = block->parent) {
    const auto found = block->known.find(key);
    if (found != block->known.end())
      return found->second;
  }
  const Inside there(*this, op == Op::Number || op == Op::Count ? root_ : highest(in, op));
  Node *made = add(op, type, std::move(in));
  made->number = number;
  made->name = name;
  return now_->known[std::move(key)] = made;
}

static int64_t wrapped(int64_t value, Type type) {
  const TypeInfo &info = type_info(type);
  const int above = 64 - info.bits;
  const auto high = static_cast<uint64_t>(value) << above;
  if (type == Type::Bool)
    return value != 0;
  return info.is_signed ? static_cast<int64_t>(high) >> above : static_cast<int64_t>(high >> above);
}

Node *Builder::integer(int64_t value, Type type) {
  return make(Op::Number, type, {}, wrapped(value, type));
}

// Its bits tell it from others.
Node *Builder::real(double value, Type type) {
  if (type == Type::Float)
    value = static_cast<float>(value);
  int64_t bits;
  memcpy(&bits, &value, sizeof bits);
  Node *made = make(Op::Number, type, {}, bits);
  made->real = value;
  return made;
}

Node *Builder::unary(Op op, Node *a) {
  if (a->op == Op::Number && op == Op::Neg)
    return is_real(a->type) ? real(-a->real, a->type) : integer(-static_cast<uint64_t>(a->number), a->type);
  if (a->op == Op::Number && op == Op::Not)
    return integer(is_real(a->type) ? a->real == 0 : a->number == 0);
  if (a->op == Op::Number && op == Op::BitNot)
    return integer(~a->number, a->type);
  if (a->op == op && op == Op::Neg)
    return a->in[0];
  return make(op, op == Op::Not ? Type::Int : a->type, {a});
}

// Whether it is 0 or 1.
static bool is_truth(const Node *node) {
  if (node->type != Type::Int)
    return false;
  if (node->op == Op::Phi)
    return is_truth(node->in[0]) && is_truth(node->in[1]);
  return node->is_number(0) || node->is_number(1) || node->op == Op::Not ||
         (node->op >= Op::Lt && node->op <= Op::Either);
}

Node *Builder::negated(Node *condition) {
  return condition->op == Op::Not && is_truth(condition->in[0]) ? condition->in[0]
                                                                : unary(Op::Not, condition);
}

static bool fold_real(Op op, double a, double b, double &result) {
  switch (op) {
  case Op::Add: result = a + b; return true;
  case Op::Sub: result = a - b; return true;
  case Op::Mul: result = a * b; return true;
  case Op::Div: result = a / b; return b != 0;
  default: return false;
  }
}

static bool fold_compare(Op op, bool less, bool equal, int64_t &result) {
  switch (op) {
  case Op::Lt: result = less; return true;
  case Op::Le: result = less || equal; return true;
  case Op::Gt: result = !less && !equal; return true;
  case Op::Ge: result = !less; return true;
  case Op::Eq: result = equal; return true;
  case Op::Ne: result = !equal; return true;
  default: return false;
  }
}

static bool fold_integer(Op op, bool is_unsigned, int64_t a, int64_t b, int64_t &result) {
  const auto u = static_cast<uint64_t>(a), v = static_cast<uint64_t>(b);
  switch (op) {
  case Op::Add: result = static_cast<int64_t>(u + v); return true;
  case Op::Sub: result = static_cast<int64_t>(u - v); return true;
  case Op::Mul: result = static_cast<int64_t>(u * v); return true;
  case Op::Div:
    result = b == 0 || b == -1 ? -a : is_unsigned ? static_cast<int64_t>(u / v) : a / b;
    return b != 0;
  case Op::Rem:
    result = b == 0 || b == -1 ? 0 : is_unsigned ? static_cast<int64_t>(u % v) : a % b;
    return b != 0;
  case Op::Shl: result = static_cast<int64_t>(u << (b & 63)); return b >= 0 && b < 64;
  case Op::Shr:
    result = is_unsigned ? static_cast<int64_t>(u >> (b & 63)) : a >> (b & 63);
    return b >= 0 && b < 64;
  case Op::And: result = a & b; return true;
  case Op::Or: result = a | b; return true;
  case Op::Xor: result = a ^ b; return true;
  case Op::Both: result = a && b; return true;
  case Op::Either: result = a || b; return true;
  default: return fold_compare(op, is_unsigned ? u < v : a < b, a == b, result);
  }
}

Node *Builder::folded(Op op, Type type, Node *a, Node *b) {
  if (a->op != Op::Number || b->op != Op::Number)
    return nullptr;
  int64_t whole;
  double value;
  if (is_real(a->type) && is_real(type) && fold_real(op, a->real, b->real, value))
    return std::isfinite(value) && (type == Type::Double || op != Op::Div) ? real(value, type) : nullptr;
  if (is_real(a->type) && is_real(b->type) && !is_real(type) && a->real == a->real && b->real == b->real &&
      fold_compare(op, a->real < b->real, a->real == b->real, whole))
    return integer(whole, type);
  if (!is_real(a->type) && !is_real(b->type) && !is_real(type) &&
      fold_integer(op, !type_info(a->type).is_signed, a->number, b->number, whole))
    return integer(whole, type);
  return nullptr;
}

Node *Builder::simpler(Op op, Type type, Node *a, Node *b) {
  const bool real_type = is_real(type);
  if (op == Op::Mul && b->is_number(1))
    return a;
  if (op == Op::Mul && a->is_number(1))
    return b;
  if (!derives && real_type)
    return nullptr;
  if (op == Op::Mul && (a->is_number(0) || b->is_number(0)))
    return zero(type);
  if (op == Op::Mul && real_type && (a->is_number(-1) || b->is_number(-1)))
    return unary(Op::Neg, a->is_number(-1) ? b : a);
  if ((op == Op::Add || op == Op::Sub) && b->is_number(0))
    return a;
  if (op == Op::Add && a->is_number(0))
    return b;
  if (op == Op::Sub && a->is_number(0))
    return unary(Op::Neg, b);
  if (op == Op::Div && a->is_number(0) && real_type)
    return zero(type);
  if (!derives || !real_type)
    return nullptr;
  // a + -b is a - b; -a * b is -(a * b), so that signs meet
  if (op == Op::Add && b->op == Op::Neg)
    return binary(Op::Sub, type, a, b->in[0]);
  if (op == Op::Add && a->op == Op::Neg)
    return binary(Op::Sub, type, b, a->in[0]);
  if (op == Op::Sub && b->op == Op::Neg)
    return binary(Op::Add, type, a, b->in[0]);
  if ((op == Op::Mul || op == Op::Div) && a->op == Op::Neg)
    return unary(Op::Neg, binary(op, type, a->in[0], b));
  if (op == Op::Mul && b->op == Op::Neg)
    return unary(Op::Neg, binary(op, type, a, b->in[0]));
  return nullptr;
}

Node *Builder::binary(Op op, Type type, Node *a, Node *b) {
  if (Node *known = folded(op, type, a, b))
    return known;
  if (Node *known = simpler(op, type, a, b))
    return known;
  if (op == Op::Ne && b->is_number(0) && is_truth(a))
    return a;
  if ((op == Op::Both || op == Op::Either) && (a->op == Op::Number || b->op == Op::Number)) {
    Node *rest = a->op == Op::Number ? b : a, *fixed = a->op == Op::Number ? a : b;
    const bool decides = (fixed->number != 0) == (op == Op::Either);
    return decides ? integer(op == Op::Either) : binary(Op::Ne, type, rest, zero(rest->type));
  }
  return make(op, type, {a, b});
}

Node *Builder::cast(Type type, Node *a) {
  if (a->type == type)
    return a;
  if (a->op == Op::Number && is_real(a->type) && is_real(type))
    return real(a->real, type);
  if (a->op == Op::Number && !is_real(a->type) && is_real(type))
    return real(!type_info(a->type).is_signed ? static_cast<double>(static_cast<uint64_t>(a->number))
                                              : static_cast<double>(a->number),
                type);
  if (a->op == Op::Number && !is_real(a->type))
    return integer(a->number, type);
  if (a->op == Op::Number && type == Type::Bool)
    return integer(a->real != 0, type);
  if (a->op == Op::Number && std::fabs(a->real) < 1e9 && type != Type::Bool)
    return integer(static_cast<int64_t>(a->real), type);
  return make(Op::Cast, type, {a});
}

Node *Builder::call(const char *name, Type type, std::vector<Node *> in) {
  return make(Op::Call, type, std::move(in), 0, names_.emplace(name).first->c_str());
}

// Rows are there wherever the element is, so that what is known by number is loaded at the top.
Node *Builder::load(Type type, int parameter, Node *entry, Node *component, bool ordered) {
  if (ordered) {
    Node *made = add(Op::Load, type, {entry, component});
    made->number = parameter;
    made->ordered = true;
    return made;
  }
  const Inside there(*this, entry->op == Op::Number && component->op == Op::Number ? root_ : now_);
  return make(Op::Load, type, {entry, component}, parameter);
}

Node *Builder::indexed(Op op, Type type, int64_t which, Node *index) {
  if (!index)
    return make(op, type, {}, which);
  const Inside there(*this, index->op == Op::Number ? root_ : now_);
  return make(op, type, {index}, which);
}

Node *Builder::array(Type type, std::vector<Node *> in) {
  return make(Op::Array, type, std::move(in));
}

Node *Builder::element(Node *array, Type type, Node *index) {
  if (index->op == Op::Number && index->number >= 0 && index->number < static_cast<int64_t>(array->in.size()))
    return array->in[static_cast<size_t>(index->number)];
  bool same = true;
  for (const Node *one : array->in)
    same &= one == array->in[0];
  return same ? array->in[0] : make(Op::Index, type, {array, index});
}

void Builder::effect(Op op, Type type, int64_t number, std::vector<Node *> in) {
  add(op, type, std::move(in))->number = number;
}

Node *Builder::apart(Op op, std::vector<Node *> in) {
  nodes_.push_back({op, Type::Int, static_cast<int>(nodes_.size()), now_, std::move(in)});
  return &nodes_.back();
}

Node *Builder::branch(Node *condition) {
  Node *made = apart(Op::If, {condition});
  made->blocks[0] = block(made);
  made->blocks[1] = block(made);
  return made;
}

void Builder::close(Node *owner) {
  owner->home->items.push_back(owner);
  for (Node *result : owner->results)
    owner->home->items.push_back(owner->op == Op::Loop ? result->left : result);
  owner->closed = true;
}

Node *Builder::phi(Node *branch, Node *then, Node *other) {
  if (then == other)
    return then;
  const Inside home(*this, branch->home);
  Node *condition = branch->in[0];
  if (then->type == Type::Int && is_truth(condition) && then->is_number(1) && other->is_number(0))
    return condition;
  if (then->type == Type::Int && is_truth(condition) && then->is_number(0) && other->is_number(1))
    return negated(condition);
  for (Node *known : branch->results)
    if (known->in[0] == then && known->in[1] == other)
      return known;
  Node *made = apart(Op::Phi, {then, other});
  made->type = then->type;
  made->owner = branch;
  branch->results.push_back(made);
  if (branch->closed)
    branch->home->items.push_back(made);
  return made;
}

Node *Builder::choose(Node *condition, Node *then, Node *other) {
  if (then == other)
    return then;
  if (condition->op == Op::Number)
    return (is_real(condition->type) ? condition->real != 0 : condition->number != 0) ? then : other;
  // Each has a branch of its own: what one is made of may be made of the other.
  const std::vector<uint64_t> key = {static_cast<uint64_t>(Op::If), reinterpret_cast<uintptr_t>(condition),
                                     reinterpret_cast<uintptr_t>(then), reinterpret_cast<uintptr_t>(other)};
  Node *&known = now_->known[key];
  if (!known) {
    Node *made = branch(condition);
    close(made);
    known = phi(made, then, other);
  }
  return known;
}

Node *Builder::loop() {
  Node *made = apart(Op::Loop, {nullptr});
  made->blocks[0] = block(made);
  return made;
}

int find_parameter(std::vector<Parameter> &all, derive_role role, int argument, int constant) {
  for (size_t i = 0; i < all.size(); i++)
    if (all[i].role == role && all[i].argument == argument && all[i].constant == constant)
      return static_cast<int>(i);
  all.push_back({role, argument, constant});
  return static_cast<int>(all.size()) - 1;
}

Node *Builder::carried(Node *loop, Node *init) {
  const Inside body(*this, loop->blocks[0]);
  Node *made = add(Op::Carried, init->type, {init, nullptr});
  made->owner = loop;
  enter(loop->home);
  made->left = apart(Op::Left, {made});
  made->left->type = init->type;
  made->left->owner = loop;
  if (loop->closed)
    loop->home->items.push_back(made->left);
  loop->results.push_back(made);
  return made;
}

Node *Builder::kept(Type type, int64_t tape, Node *round, Node *loop) {
  Node *made = make(Op::Kept, type, {round}, tape);
  made->owner = loop;
  return made;
}

// ---- how often a loop runs ----

static bool is_plus(const Node *value, const Node *carried, int64_t &step) {
  if (value->op != Op::Add && value->op != Op::Sub)
    return false;
  const Node *by = value->in[0] == carried ? value->in[1] : value->in[0];
  if ((value->in[0] != carried && (value->in[1] != carried || value->op == Op::Sub)) || by->op != Op::Number)
    return false;
  step = value->op == Op::Add ? by->number : -by->number;
  return true;
}

static void conjuncts(const Node *condition, std::vector<const Node *> &out) {
  if (condition->op == Op::Both) {
    conjuncts(condition->in[0], out);
    conjuncts(condition->in[1], out);
  } else if (condition->op == Op::Phi && condition->in[1]->is_number(0)) {
    conjuncts(condition->owner->in[0], out);
    conjuncts(condition->in[0], out);
  } else
    out.push_back(condition);
}

// Does the round after one where `stops` holds not run?
static bool ends_by(const Node *loop, const Node *stops) {
  std::vector<const Node *> all;
  conjuncts(loop->in[0], all);
  for (const Node *one : all)
    if (one->op == Op::Not && one->in[0]->op == Op::Carried && one->in[0]->owner == loop &&
        one->in[0]->in[1] == stops)
      return true;
  return false;
}

// A step may be left out in the round that is the last.
int64_t step_of(const Node *loop, const Node *carried) {
  int64_t step = 0;
  const Node *next = carried->in[1];
  if (is_real(carried->type) || !next)
    return 0;
  if (is_plus(next, carried, step))
    return step;
  if (next->op != Op::Phi)
    return 0;
  const Node *condition = next->owner->in[0];
  if (next->in[1] == carried && is_plus(next->in[0], carried, step) && condition->op == Op::Not &&
      ends_by(loop, condition->in[0]))
    return step;
  if (next->in[0] == carried && is_plus(next->in[1], carried, step) && ends_by(loop, condition))
    return step;
  return 0;
}

static Op mirrored(Op op) {
  return op == Op::Lt ? Op::Gt : op == Op::Gt ? Op::Lt : op == Op::Le ? Op::Ge : op == Op::Ge ? Op::Le : op;
}

// `one` as carried `op` limit.
static bool is_limit(const Node *loop, const Node *one, const Node *&carried, Op &op, Node *&limit) {
  if (one->op < Op::Lt || one->op > Op::Ne)
    return false;
  for (int side = 0; side < 2; side++) {
    const Node *c = one->in[static_cast<size_t>(side)];
    if (c->op != Op::Carried || c->owner != loop || !step_of(loop, c))
      continue;
    carried = c;
    limit = one->in[static_cast<size_t>(1 - side)];
    op = side ? mirrored(one->op) : one->op;
    const int64_t step = step_of(loop, c);
    return !is_within(limit->home, loop->blocks[0]) &&
           (((op == Op::Lt || op == Op::Le) && step > 0) || ((op == Op::Gt || op == Op::Ge) && step < 0));
  }
  return false;
}

int64_t find_bound(const Node *loop) {
  std::vector<const Node *> all;
  conjuncts(loop->in[0], all);
  int64_t bound = -1;
  for (const Node *one : all) {
    const Node *carried;
    Node *limit;
    Op op;
    if (!is_limit(loop, one, carried, op, limit) || limit->op != Op::Number ||
        carried->in[0]->op != Op::Number)
      continue;
    const int64_t step = step_of(loop, carried), wide = op == Op::Le || op == Op::Ge;
    const int64_t far =
        step > 0 ? limit->number - carried->in[0]->number : carried->in[0]->number - limit->number;
    const int64_t by = step > 0 ? step : -step, rounds = far + wide <= 0 ? 0 : (far + wide + by - 1) / by;
    if (bound < 0 || rounds < bound)
      bound = rounds;
  }
  return bound;
}

bool decides_rounds(const Node *loop, const Node *&carried, int64_t &step, Op &op, Node *&limit) {
  if (!is_limit(loop, loop->in[0], carried, op, limit))
    return false;
  step = step_of(loop, carried);
  return (step == 1 || step == -1) && (carried->type == Type::Int || carried->type == Type::Long);
}

} // namespace op2jit::derive
