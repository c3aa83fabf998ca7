#include <algorithm>
#include <set>

#include "differentiate.h"

namespace op2jit::derive {

namespace {

bool is_inside(const Node *node, const Node *owner) {
  for (const Block *block = node->home; block; block = block->parent)
    if (block->owner == owner && owner)
      return true;
  return false;
}

void look(const Node *node, const Node *loop, std::set<const Node *> &seen,
          std::vector<const Node *> &found) {
  if (!node || !node->varied || !is_inside(node, loop) || !seen.insert(node).second)
    return;
  if (node->op == Op::Carried && node->owner == loop) {
    found.push_back(node);
    return;
  }
  for (const Node *operand : node->in)
    look(operand, loop, seen, found);
}

// Must its rounds be those of the kernel, the last one first?
bool looks_back(const Node *owner, const Node *round) {
  return any_within(owner, [&](const Node *node) {
    return node->ordered || (node->op == Op::Kept && node->in[0] == round);
  });
}

class Adjoint : public Differentiator {
public:
  Adjoint(Program &from, const derive_request &request, const std::vector<bool> &in_place, Derived &to)
      : Differentiator(from, request, to), in_place_(in_place) {
  }
  void run() {
    find_varied();
    Scope whole = {nullptr, nullptr, nullptr, {}, {}};
    scope_ = &whole;
    block(from_.builder.root());
    finish();
  }

private:
  struct Scope {
    Scope *outside;
    const Node *owner; // of the kernel: the branch or loop; NULL: the kernel's own
    Node *loop;        // the loop that goes back; NULL: none
    std::map<int, std::pair<const Node *, Node *>> bars; // by the node's number
    std::map<int, std::pair<const Node *, Node *>> sums; // of a loop: what goes on from round to round
  };

  // ---- bars ----

  // NULL: none so far. In a loop the bar of what is outside goes on from round to round.
  Node *bar(const Node *of) {
    for (Scope *scope = scope_; scope; scope = scope->outside) {
      const auto known = scope->bars.find(of->id);
      if (known != scope->bars.end())
        return known->second.second;
      if (!scope->loop || is_inside(of, scope->owner))
        continue;
      Scope *inner = scope_;
      scope_ = scope->outside;
      const Inside outside(b_, scope->loop->home);
      Node *start = bar(of);
      scope_ = inner;
      Node *sum = b_.carried(scope->loop, start ? start : b_.zero(of->type));
      scope->sums[of->id] = {of, sum};
      scope->bars[of->id] = {of, sum};
      return sum;
    }
    return nullptr;
  }

  void set(const Node *of, Node *bar) {
    scope_->bars[of->id] = {of, bar};
  }

  void add(const Node *of, Node *more) {
    if (!of->varied || more->is_number(0))
      return;
    Node *known = bar(of);
    set(of, known ? b_.binary(Op::Add, of->type, known, more) : more);
  }

  // It is not wanted again.
  Node *take(const Node *of) {
    const auto known = scope_->bars.find(of->id);
    if (known == scope_->bars.end())
      return nullptr;
    Node *result = known->second.second;
    scope_->bars.erase(known);
    return result;
  }

  // ---- backwards ----

  void block(const Block *block) {
    for (auto at = block->items.rbegin(); at != block->items.rend(); ++at) {
      const Node *one = *at;
      if (has_effect(one->op))
        effect(one);
      else if (one->op == Op::If)
        branch_back(one);
      else if (one->op == Op::Loop)
        loop_back(one);
      else if (one->op < Op::Phi && one->varied)
        if (Node *known = take(one))
          node(one, known);
    }
  }

  void node(const Node *node, Node *bar) {
    switch (node->op) {
    case Op::Load: {
      const op_access access = argument(node).is.access;
      if (access == OP_READ)
        this->access(Op::Inc, node, DERIVE_BAR, bar);
      else
        rows_[{of(node).argument, node->in[0]->number, node->in[1]->number}] = {node, bar};
      return;
    }
    case Op::Global: {
      const int to = parameter(DERIVE_BAR, -1, from_.globals[static_cast<size_t>(node->number)].active);
      return b_.effect(Op::Inc, node->type, to, {b_.integer(0), value(node->in[0]), bar});
    }
    case Op::Cast: return add(node->in[0], b_.cast(node->in[0]->type, bar));
    case Op::Index: {
      const std::vector<Node *> &all = node->in[0]->in;
      Node *which = value(node->in[1]);
      for (size_t i = 0; i < all.size(); i++)
        if (all[i]->varied) {
          Node *here = b_.binary(Op::Eq, Type::Int, which, b_.integer(static_cast<int64_t>(i), which->type));
          add(all[i], b_.choose(here, bar, b_.zero(bar->type)));
        }
      return;
    }
    case Op::Array: return;
    default:
      for (size_t i = 0; i < node->in.size(); i++)
        if (node->in[i]->varied && (node->op != Op::Call || follows(node, i)))
          add(node->in[i], times(bar, node, i));
    }
  }

  void effect(const Node *node) {
    if (!is_active(node))
      return;
    const Node *what = node->in[2];
    const std::vector<int64_t> key = {of(node).argument, node->in[0]->number, node->in[1]->number};
    if (node->op == Op::Inc) {
      if (what->varied)
        add(what, access(Op::Load, node, DERIVE_BAR, nullptr));
    } else if (node->op == Op::Extreme) {
      if (what->varied)
        add(what, b_.choose(wins(node), access(Op::Load, node, DERIVE_BAR, nullptr), b_.zero(node->type)));
    } else if (argument(node).is.access == OP_WRITE && in_place_[static_cast<size_t>(of(node).argument)]) {
      Node *bar = access(Op::Load, node, DERIVE_BAR, nullptr, true);
      access(Op::Store, node, DERIVE_BAR, b_.zero(node->type));
      add(what, bar);
    } else {
      written_[key] = node;
      if (what->varied)
        add(what, access(Op::Load, node, DERIVE_BAR, nullptr));
    }
  }

  // A component that the kernel changed gets the bar of the value before.
  void finish() {
    for (const auto &[key, node] : written_) {
      const auto before = rows_.find(key);
      access(Op::Store, node, DERIVE_BAR,
             before == rows_.end() ? b_.zero(node->type) : before->second.second);
    }
    for (const auto &[key, row] : rows_)
      if (!written_.count(key)) {
        Node *there = access(Op::Load, row.first, DERIVE_BAR, nullptr);
        access(Op::Store, row.first, DERIVE_BAR, b_.binary(Op::Add, row.first->type, there, row.second));
      }
  }

  void branch_back(const Node *of) {
    std::vector<std::pair<const Node *, Node *>> seeds;
    for (const Node *result : of->results)
      if (Node *known = result->varied ? take(result) : nullptr)
        seeds.emplace_back(result, known);
    if (seeds.empty() && !has_effects(of))
      return;
    Node *back = b_.branch(value(of->in[0]));
    Scope sides[2] = {{scope_, of, nullptr, {}, {}}, {scope_, of, nullptr, {}, {}}};
    for (size_t side = 0; side < 2; side++) {
      back->blocks[side]->of = of->blocks[side];
      const Inside there(b_, back->blocks[side]);
      scope_ = &sides[side];
      for (const auto &[result, known] : seeds)
        add(result->in[side], known);
      block(of->blocks[side]);
      scope_ = sides[side].outside;
    }
    b_.close(back);
    std::map<int, const Node *> touched;
    for (const Scope &side : sides)
      for (const auto &[id, one] : side.bars)
        if (!is_inside(one.first, of))
          touched[id] = one.first;
    for (const auto &[id, one] : touched) {
      Node *both[2];
      for (size_t side = 0; side < 2; side++) {
        const auto known = sides[side].bars.find(id);
        Node *start = known == sides[side].bars.end() ? bar(one) : known->second.second;
        both[side] = start ? start : b_.zero(one->type);
      }
      set(one, b_.phi(back, both[0], both[1]));
    }
  }

  // ---- loops ----

  // Carried values that may get a bar.
  std::vector<const Node *> find_useful(const Node *of) {
    std::vector<const Node *> useful;
    std::set<const Node *> seen;
    any_within(of, [&](const Node *node) {
      if (has_effect(node->op))
        look(node->in[2], of, seen, useful);
      return false;
    });
    for (const Node *one : of->results)
      if (one->varied && scope_->bars.count(one->left->id) && seen.insert(one).second)
        useful.push_back(one);
    for (size_t i = 0; i < useful.size(); i++) {
      const Node *next = useful[i]->in[1];
      look(next, of, seen, useful);
    }
    return useful;
  }

  // Their number is known by the counter alone, or counted by the loop forwards.
  void set_rounds(const Node *of, Node *back, bool any_order) {
    const Node *counter;
    Node *limit, *count, *round = back->blocks[0]->round;
    int64_t step;
    Op op;
    if (decides_rounds(of, counter, step, op, limit)) {
      Node *first = value(counter->in[0]), *last = value(limit);
      const Type type = counter->type;
      count = step > 0 ? b_.binary(Op::Sub, type, last, first) : b_.binary(Op::Sub, type, first, last);
      if (op == Op::Le || op == Op::Ge)
        count = b_.binary(Op::Add, type, count, b_.integer(1, type));
      count = b_.cast(Type::Int, count);
    } else
      count = rounds(of, loop(of))->left;
    Node *one = b_.integer(1);
    Block *outside = b_.enter(back->blocks[0]);
    round->in[1] = b_.binary(any_order ? Op::Add : Op::Sub, Type::Int, round, one);
    back->in[0] = any_order ? b_.binary(Op::Lt, Type::Int, round, count)
                            : b_.binary(Op::Ge, Type::Int, round, b_.integer(0));
    b_.enter(outside);
    if (!any_order)
      round->in[0] = b_.binary(Op::Sub, Type::Int, count, one);
  }

  void loop_back(const Node *of) {
    const std::vector<const Node *> useful = find_useful(of);
    if (useful.empty() && !has_effects(of))
      return;
    std::map<int, Node *> carried;
    Node *back = b_.loop();
    back->blocks[0]->of = of->blocks[0];
    for (const Node *one : useful) {
      Node *start = take(one->left);
      carried[one->id] = b_.carried(back, start ? start : b_.zero(one->type));
    }
    Node *round = b_.carried(back, b_.integer(0));
    back->blocks[0]->round = round;
    Scope inside = {scope_, of, back, {}, {}};
    scope_ = &inside;
    Block *outside = b_.enter(back->blocks[0]);
    for (const Node *one : useful)
      add(one->in[1], carried[one->id]);
    block(of->blocks[0]);
    bool any_order = true;
    for (const Node *one : useful) {
      Node *next = take(one), *known = carried[one->id];
      known->in[1] = next ? next : b_.zero(one->type);
      any_order &= known->in[1] == known;
    }
    for (const auto &[id, sum] : inside.sums)
      sum.second->in[1] = inside.bars.at(id).second;
    scope_ = inside.outside;
    b_.enter(outside);
    set_rounds(of, back, any_order && !looks_back(back, round));
    b_.close(back);
    for (const auto &[id, sum] : inside.sums)
      set(sum.first, sum.second->left);
    for (const Node *one : useful)
      add(one->in[0], carried[one->id]->left);
  }

  const std::vector<bool> &in_place_;
  Scope *scope_ = nullptr;
  std::map<std::vector<int64_t>, std::pair<const Node *, Node *>>
      rows_; // bars of rows that the kernel changes
  std::map<std::vector<int64_t>, const Node *> written_;
};

} // namespace

uint32_t make_adjoint(Program &from, const derive_request &request, const std::vector<bool> &in_place,
                      Derived &to) {
  Adjoint adjoint(from, request, in_place, to);
  adjoint.run();
  return adjoint.unbounded();
}

} // namespace op2jit::derive
