#include "differentiate.h"

namespace op2jit::derive {

// Longer tapes are no use: each element, on a GPU each of very many, has its own.
static constexpr int64_t most_kept = 4096;

// ---- what depends on active values ----

static bool operand_counts(const Node *node, size_t i) {
  switch (node->op) {
  case Op::Neg:
  case Op::Add:
  case Op::Sub:
  case Op::Mul:
  case Op::Div:
  case Op::Array:
  case Op::Phi:
  case Op::Carried:
  case Op::Left: return true;
  case Op::Cast: return is_real(node->in[0]->type);
  case Op::Index: return i == 0;
  case Op::Call: return follows(node, i);
  default: return false;
  }
}

void Differentiator::find_varied() {
  for (bool more = true; more;) {
    more = false;
    for (Node &node : from_.builder.nodes()) {
      if (node.varied || !is_real(node.type))
        continue;
      bool varied = node.op == Op::Load && is_active(&node);
      if (node.op == Op::Global)
        varied = from_.globals[static_cast<size_t>(node.number)].active >= 0;
      for (size_t i = 0; i < node.in.size() && !varied; i++)
        varied = node.in[i] && operand_counts(&node, i) && node.in[i]->varied;
      node.varied = varied;
      more |= varied;
    }
  }
}

bool has_effects(const Node *owner) {
  return any_within(owner, [](const Node *node) { return has_effect(node->op); });
}

// ---- the kernel's values, once more ----

Block *Differentiator::stands_for(const Block *block) {
  Block *now = b_.now();
  while (now->of != block)
    now = now->parent;
  return now;
}

Node *Differentiator::value(const Node *of) {
  if (of->op == Op::Number)
    return is_real(of->type) ? b_.real(of->real, of->type) : b_.integer(of->number, of->type);
  if (of->op == Op::Count)
    return b_.indexed(Op::Count, of->type, of->number, nullptr);
  Block *home = stands_for(of->home);
  const auto known = home->values.find(of);
  if (known != home->values.end())
    return known->second;
  const Inside there(b_, home);
  return home->values[of] = made(of);
}

Node *Differentiator::made(const Node *of) {
  std::vector<Node *> in;
  if (of->op == Op::Carried && b_.now()->round)
    return at_round(of, b_.now());
  if (of->op == Op::Array || of->op >= Op::Phi)
    return joined(of, &Block::values, [this](const Node *operand) { return value(operand); });
  for (const Node *operand : of->in)
    in.push_back(value(operand));
  switch (of->op) {
  case Op::Load: return access(Op::Load, of, DERIVE_VALUE, nullptr);
  case Op::Global:
  case Op::Table: return b_.indexed(of->op, of->type, of->number, in[0]);
  case Op::Neg:
  case Op::Not:
  case Op::BitNot: return b_.unary(of->op, in[0]);
  case Op::Cast: return b_.cast(of->type, in[0]);
  case Op::Call: return b_.call(of->name, of->type, std::move(in));
  case Op::Index: return b_.element(in[0], of->type, in[1]);
  default: return b_.binary(of->op, of->type, in[0], in[1]);
  }
}

Node *Differentiator::branch(const Node *of) {
  Node *&known = b_.now()->values[of];
  if (known)
    return known;
  Block *home = b_.now();
  Node *condition = value(of->in[0]), *made = b_.branch(condition);
  for (int side = 0; side < 2; side++)
    made->blocks[side]->of = of->blocks[side];
  b_.close(made);
  return home->values[of] = made;
}

Node *Differentiator::loop(const Node *of) {
  const auto known = b_.now()->values.find(of);
  if (known != b_.now()->values.end())
    return known->second;
  Node *made = b_.loop();
  made->blocks[0]->of = of->blocks[0];
  b_.now()->values[of] = made;
  b_.close(made);
  const Inside body(b_, made->blocks[0]);
  made->in[0] = value(of->in[0]);
  return made;
}

// How many there are, and in `loop`, which goes forwards, the number of the round.
Node *Differentiator::rounds(const Node *of, Node *loop) {
  Node *&known = loop->blocks[0]->dots[of]; // of no use else
  if (!known) {
    known = b_.carried(loop, b_.integer(0));
    const Inside body(b_, loop->blocks[0]);
    known->in[1] = b_.binary(Op::Add, Type::Int, known, b_.integer(1));
  }
  return known;
}

// A value that was carried to a round in the past: computed from the round's number, or kept by the loop forwards.
Node *Differentiator::at_round(const Node *of, Block *body) {
  if (const int64_t step = step_of(of->owner, of)) {
    b_.enter(body->parent);
    Node *init = value(of->in[0]);
    b_.enter(body);
    Node *by = b_.binary(Op::Mul, of->type, b_.cast(of->type, body->round), b_.integer(step, of->type));
    return b_.binary(Op::Add, of->type, init, by);
  }
  if (of->owner->bound < 0 || of->owner->bound > most_kept) {
    unbounded_ = unbounded_ ? unbounded_ : of->owner->where;
    return b_.zero(of->type);
  }
  b_.enter(body->parent);
  Node *forwards = loop(of->owner), *round = rounds(of->owner, forwards);
  b_.enter(forwards->blocks[0]);
  Node *there = value(of);
  b_.effect(Op::Keep, of->type, static_cast<int64_t>(to_.tapes.size()), {round, there});
  b_.enter(body);
  to_.tapes.push_back(of->owner->bound > 0 ? of->owner->bound : 1);
  return b_.kept(of->type, static_cast<int64_t>(to_.tapes.size()) - 1, body->round, forwards);
}

// The same component of another parameter of the argument.
Node *Differentiator::access(Op op, const Node *of, derive_role role, Node *what, bool ordered) {
  const int to = parameter(role, this->of(of).argument);
  Node *entry = value(of->in[0]), *component = value(of->in[1]);
  const Type type = role == DERIVE_WINNER ? Type::Long : of->type;
  if (op == Op::Load)
    return b_.load(type, to, entry, component, ordered);
  b_.effect(op, type, to, {entry, component, what});
  return nullptr;
}

// Was it this entry of this element that a MIN or MAX comes from?
Node *Differentiator::wins(const Node *extreme) {
  int64_t all = 0, which = 0;
  for (int i = 0; i < request_.narguments; i++) {
    if (i == of(extreme).argument)
      which = all + extreme->in[0]->number;
    if (is_extreme(request_.arguments[i]))
      all += request_.arguments[i].is.arity;
  }
  Node *winner = access(Op::Load, extreme, DERIVE_WINNER, nullptr), *zero = b_.integer(0);
  Node *element = b_.cast(Type::Long, b_.load(Type::Int, parameter(DERIVE_ELEMENT, -1), zero, zero));
  Node *first = b_.binary(Op::Mul, Type::Long, element, b_.integer(all, Type::Long));
  return b_.binary(Op::Eq, Type::Int, winner,
                   b_.binary(Op::Add, Type::Long, first, b_.integer(which, Type::Long)));
}

Node *Differentiator::times(Node *factor, const Node *node, size_t i) {
  const Type type = node->type;
  switch (node->op) {
  case Op::Add: return factor;
  case Op::Sub: return i ? b_.unary(Op::Neg, factor) : factor;
  case Op::Neg: return b_.unary(Op::Neg, factor);
  case Op::Mul: return b_.binary(Op::Mul, type, value(node->in[1 - i]), factor);
  case Op::Div: {
    if (i && node->in[0]->is_number(1)) { // a product costs less than another quotient
      Node *there = value(node);
      return b_.unary(Op::Neg, b_.binary(Op::Mul, type, b_.binary(Op::Mul, type, there, there), factor));
    }
    Node *share = b_.binary(Op::Div, type, factor, value(node->in[1]));
    return i ? b_.unary(Op::Neg, b_.binary(Op::Mul, type, value(node), share)) : share;
  }
  default: {
    std::vector<Node *> in;
    for (const Node *operand : node->in)
      in.push_back(value(operand));
    return b_.binary(Op::Mul, type, partial(b_, node, i, in, value(node)), factor);
  }
  }
}

} // namespace op2jit::derive
