#include "differentiate.h"

namespace op2jit::derive {

namespace {

class Tangent : public Differentiator {
public:
  using Differentiator::Differentiator;
  void run() {
    find_varied();
    block(from_.builder.root());
  }

  // Only MIN and MAX of this element alone.
  void run_candidates() {
    find_varied();
    for (int i = 0; i < request_.narguments; i++) {
      const derive_argument &one = request_.arguments[i];
      if (!is_extreme(one))
        continue;
      const int64_t length = static_cast<int64_t>(from_.rows[static_cast<size_t>(i)]->leaves.size());
      for (int64_t c = 0; c < one.is.arity * length; c++) {
        const Type type = from_.rows[static_cast<size_t>(i)]->leaves[static_cast<size_t>(c % length)].type;
        Node *best = farthest(b_, type, one.is.access == OP_MIN);
        for (const Node *node : from_.builder.root()->items)
          if (node->op == Op::Extreme && of(node).argument == i &&
              node->in[0]->number * length + node->in[1]->number == c)
            best = value(node->in[2]);
        b_.effect(Op::Store, type, parameter(DERIVE_CANDIDATE, i), {b_.integer(0), b_.integer(c), best});
      }
    }
  }

private:
  void block(const Block *block) {
    for (const Node *node : block->items) {
      if (has_effect(node->op))
        effect(node);
      else if ((node->op == Op::If || node->op == Op::Loop) && has_effects(node)) {
        Node *made = node->op == Op::If ? branch(node) : loop(node);
        for (int side = 0; side < 2; side++)
          if (node->blocks[side]) {
            const Inside there(b_, made->blocks[side]);
            this->block(node->blocks[side]);
          }
      }
    }
  }

  void effect(const Node *node) {
    if (argument(node).is.form == PROVE_PAYLOAD) // with its MIN or MAX
      return;
    if (node->op == Op::Extreme)
      return extreme(node);
    access(node->op, node, DERIVE_VALUE, value(node->in[2]));
    if (!is_active(node))
      return;
    Node *follows = dot_or_zero(node->in[2]);
    if (node->op == Op::Store || !follows->is_number(0))
      access(node->op, node, DERIVE_DOT, follows);
  }

  // Where it is better than what is there, it is stored, with what goes along.
  void extreme(const Node *node) {
    Node *candidate = value(node->in[2]);
    const Op better = argument(node).is.access == OP_MIN ? Op::Lt : Op::Gt;
    Node *there = access(Op::Load, node, DERIVE_VALUE, nullptr, true);
    Node *stores = b_.branch(b_.binary(better, Type::Int, candidate, there));
    Block *before = b_.enter(stores->blocks[0]);
    access(Op::Store, node, DERIVE_VALUE, candidate);
    for (const Node *other : from_.builder.root()->items)
      if (other->op == Op::Store && argument(other).is.form == PROVE_PAYLOAD &&
          argument(other).ref == of(node).argument)
        access(Op::Store, other, DERIVE_VALUE, value(other->in[2]));
    b_.enter(before);
    b_.close(stores);
    Node *follows = is_active(node) ? dot(node->in[2]) : nullptr;
    if (follows)
      access(Op::Inc, node, DERIVE_DOT, b_.choose(wins(node), follows, b_.zero(node->type)));
  }

  Node *dot_or_zero(const Node *of) {
    Node *follows = dot(of);
    return follows ? follows : b_.zero(of->type);
  }

  // NULL: it does not follow.
  Node *dot(const Node *of) {
    if (!of->varied)
      return nullptr;
    Block *home = stands_for(of->home);
    const auto known = home->dots.find(of);
    if (known != home->dots.end())
      return known->second;
    const Inside there(b_, home);
    return home->dots[of] = dot_made(of);
  }

  Node *dot_made(const Node *of) {
    switch (of->op) {
    case Op::Load: return access(Op::Load, of, DERIVE_DOT, nullptr);
    case Op::Global: {
      const int to = parameter(DERIVE_DOT, -1, from_.globals[static_cast<size_t>(of->number)].active);
      return b_.load(of->type, to, b_.integer(0), value(of->in[0]));
    }
    case Op::Cast: return b_.cast(of->type, dot_or_zero(of->in[0]));
    case Op::Index: return b_.element(dot(of->in[0]), of->type, value(of->in[1]));
    case Op::Array:
    case Op::Phi:
    case Op::Carried:
    case Op::Left:
      return joined(of, &Block::dots, [this](const Node *operand) { return dot_or_zero(operand); });
    default: {
      Node *sum = b_.zero(of->type);
      for (size_t i = 0; i < of->in.size(); i++)
        if (of->in[i]->varied && (of->op != Op::Call || follows(of, i)))
          sum = b_.binary(Op::Add, of->type, sum, times(dot(of->in[i]), of, i));
      return sum;
    }
    }
  }
};

} // namespace

void make_tangent(Program &from, const derive_request &request, Derived &to) {
  Tangent tangent(from, request, to);
  if (request.mode == DERIVE_TANGENT)
    tangent.run();
  else
    tangent.run_candidates();
}

} // namespace op2jit::derive
