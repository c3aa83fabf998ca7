// Loops. Rounds whose number the text says are written out, up to a limit; else a loop stays one, with what it carries from
// round to round. Where that cannot be, rounds that may not run are written out as branches within one another.
#include "trace.h"

namespace op2jit::derive {

static constexpr int rounds_written = 32, nodes_written = 3000, rounds_most = 4096, nodes_most = 30000,
                     rounds_guarded = 64;

Trace::Mark Trace::mark() const {
  return {builder_.now(), builder_.now()->items.size(), state_, refusal_};
}

// Effects, branches and loops since then are forgotten. Other nodes may stay: who looks for the same finds them.
void Trace::restore(const Mark &mark) {
  std::vector<Node *> &items = mark.block->items;
  size_t kept = mark.items;
  for (size_t i = mark.items; i < items.size(); i++)
    if (!has_effect(items[i]->op) && items[i]->op < Op::Phi)
      items[kept++] = items[i];
  items.resize(kept);
  state_ = mark.state;
  refusal_ = mark.refusal;
  builder_.enter(mark.block);
}

void Trace::loop(Rounds rounds) {
  const int breaks = new_jump(Jump::Break);
  rounds.continues = new_jump(Jump::Continue);
  const Mark before = mark();
  if (!unroll(rounds, Way::Straight, 0, rounds_written, builder_.size() + nodes_written)) {
    restore(before);
    if (!again_)
      roll(rounds);
    const Refusal rolled = refusal_;
    if (rolled.what != DERIVE_FINE && !again_) {
      restore(before);
      if (!unroll(rounds, Way::Straight, 0, rounds_most, builder_.size() + nodes_most)) {
        restore(before);
        if (!unroll(rounds, Way::Guarded, 0, rounds_guarded, builder_.size() + nodes_most) && !again_)
          refusal_ = rolled;
      }
    }
  }
  jumps_.resize(jumps_.size() - 2);
  state_.erase({breaks, 0});
  state_.erase({rounds.continues, 0});
}

void Trace::body_once(const Rounds &rounds) {
  rounds.body();
  set_flag(rounds.continues, builder_.integer(0));
}

// False: it cannot be done that way.
bool Trace::unroll(const Rounds &rounds, Way way, int round, int most, int nodes) {
  Rounds later = rounds;
  later.body_first = false;
  for (;; round++) {
    if (refused() || round > most || builder_.size() > nodes)
      return false;
    bool good = true;
    const auto one = [&] {
      body_once(rounds);
      Node *stop = stopped();
      if (stop->op == Op::Number) {
        if (!stop->number)
          rounds.step();
        return;
      }
      good = way == Way::Guarded;
      if (good)
        go_on(stop, [&] {
          rounds.step();
          good = unroll(later, way, round + 1, most, nodes);
        });
    };
    Node *goes = round == 0 && rounds.body_first ? builder_.integer(1) : rounds.condition();
    if (goes->op != Op::Number) {
      if (way != Way::Guarded)
        return false;
      branch(
          goes,
          [&] {
            one();
            Node *stop = stopped();
            if (good && stop->op == Op::Number && !stop->number)
              good = unroll(later, way, round + 1, most, nodes);
          },
          [] {});
      return good && !refused();
    }
    if (!goes->number)
      return !refused();
    one();
    if (!good)
      return false;
    Node *stop = stopped();
    if (stop->op != Op::Number || stop->number)
      return !refused();
  }
}

// ---- loops that stay ----

// Whether the value differs from that at the head of the round. A row may have been looked at for the first time.
bool Trace::is_changed(const State &head, const Key &key, const Value &value) {
  const auto before = head.find(key);
  if (before != head.end())
    return !(before->second == value);
  if (key.first < 0 || key.first >= static_cast<int>(program_.rows.size()))
    return true;
  const Object &row = *program_.rows[static_cast<size_t>(key.first)];
  return begins_empty(row) || start_of_row(row, key.second, kernel_.getLocation()).node != value.node;
}

// The value of a variable in front of the loop that gives it one.
Value Trace::initial(const Key &key, const Value &like) {
  if (key.first < static_cast<int>(program_.rows.size())) {
    const Object &row = *program_.rows[static_cast<size_t>(key.first)];
    if (!begins_empty(row))
      return start_of_row(row, key.second, kernel_.getLocation());
    keep_in_place(row);
  }
  if (like.kind == Value::Pointer)
    return Value::to({});
  return Value::of(builder_.zero(like.node->type));
}

// The variable has a name of its own in each round. False: it is a pointer that may lead elsewhere.
bool Trace::carry(Node *loop, const Key &key, const State &start, std::map<Key, Node *> &nodes) {
  const Value &before = start.at(key);
  if (before.kind == Value::Scalar) {
    nodes[key] = builder_.carried(loop, before.node);
    state_[key] = Value::of(nodes[key]);
    return true;
  }
  if (!before.place.object)
    return false;
  nodes[key] = builder_.carried(loop, builder_.cast(Type::Long, before.place.offset));
  Place moved = before.place;
  moved.offset = nodes[key];
  state_[key] = Value::to(moved);
  return true;
}

// From the head of a round to its end: the condition, and in `state_` what the round leaves. False: the condition changes
// something.
bool Trace::round_once(const Rounds &rounds, const Key *go, const State &head, int objects,
                       Node *&condition) {
  bool pure = true;
  condition = builder_.integer(1);
  for (size_t i = frames_.back().jumps; i < jumps_.size(); i++)
    condition = builder_.binary(Op::Both, Type::Int, condition, builder_.negated(flag(jumps_[i].object)));
  Node *goes = go ? state_.at(*go).node : rounds.condition();
  condition = builder_.binary(Op::Both, Type::Int, condition, goes);
  for (const auto &[key, value] : state_)
    pure &= key.first >= objects || !is_changed(head, key, value);
  for (size_t i = frames_.back().jumps; i < jumps_.size(); i++)
    set_flag(jumps_[i].object, builder_.integer(0));
  body_once(rounds);
  go_on(
      stopped(),
      [&] {
        rounds.step();
        if (go)
          state_[*go] = Value::of(as_truth(rounds.condition()));
      },
      [&] {
        if (go)
          state_[*go] = Value::of(builder_.integer(0));
      });
  return pure;
}

// Sets each carried value for the next round. False: it is a pointer that may lead elsewhere.
bool Trace::close_rounds(Node *loop, const State &start, const State &after,
                         const std::map<Key, Node *> &nodes) {
  for (const auto &[key, node] : nodes) {
    const Value &value = after.at(key), &before = start.at(key);
    Node *next = value.kind == Value::Scalar ? value.node : nullptr;
    if (value.kind == Value::Pointer && value.place.object == before.place.object &&
        value.place.entry == before.place.entry) {
      Block *now = builder_.enter(loop->blocks[0]);
      next = builder_.cast(Type::Long, value.place.offset);
      builder_.enter(now);
    }
    if (!next || next->type != node->type)
      return false;
    node->in[1] = next;
  }
  loop->bound = find_bound(loop);
  builder_.close(loop);
  for (const auto &[key, node] : nodes) {
    Value &value = state_[key];
    if (value.kind == Value::Scalar)
      value.node = node->left;
    else
      value.place.offset = node->left;
  }
  return true;
}

Trace::Rolled Trace::try_roll(const Rounds &rounds, const Key *go, const State &start,
                              std::set<Key> &carried) {
  const int objects = static_cast<int>(objects_.size());
  const clang::SourceLocation where = rounds.where;
  std::map<Key, Node *> nodes;
  state_ = start;
  Node *loop = builder_.loop(), *condition = nullptr;
  loop->where = where.getRawEncoding();
  Block *outside = builder_.enter(loop->blocks[0]);
  bool good = true, whole = true;
  for (const Key &key : carried)
    good &= carry(loop, key, start, nodes);
  if (!good)
    refuse(DERIVE_POINTER, where);
  const State head = state_;
  const bool pure = good && round_once(rounds, go, head, objects, condition);
  const State after = std::move(state_);
  builder_.enter(outside);
  state_ = start;
  if (refused())
    return Rolled::Refused;
  if (!pure)
    return Rolled::Impure;
  for (const auto &[key, value] : after)
    if (key.first < objects && !carried.count(key) && is_changed(head, key, value)) {
      carried.insert(key);
      whole = false;
    }
  for (const Key &key : carried)
    if (!whole && !start.count(key))
      state_[key] = initial(key, after.at(key));
  if (!whole)
    return Rolled::More;
  loop->in[0] = condition;
  if (!close_rounds(loop, start, after, nodes)) {
    refuse(DERIVE_POINTER, where);
    return Rolled::Refused;
  }
  if (go)
    state_.erase(*go);
  return Rolled::Done;
}

// A condition with effect, as in `i-- > 0`, and that of do, are computed at the end of a round for the next one.
void Trace::roll(const Rounds &rounds) {
  const Mark before = mark();
  for (int form = rounds.body_first; form < 2; form++) {
    const bool goes = form == 1;
    std::set<Key> carried;
    const Key go = {goes ? object(Object::Local, "", {{Type::Int, false, ""}})->id : -1, 0};
    if (goes) {
      Node *first = rounds.body_first ? builder_.integer(1) : rounds.condition();
      state_[go] = Value::of(as_truth(first));
      carried.insert(go);
    }
    State start = state_;
    Rolled rolled;
    while ((rolled = try_roll(rounds, goes ? &go : nullptr, start, carried)) == Rolled::More && !again_) {
      start = state_;
      restore({before.block, before.items, start, before.refusal});
    }
    if (rolled != Rolled::Impure)
      return;
    restore(before);
    if (goes)
      refuse(DERIVE_STATEMENT, rounds.at_condition, "a condition that changes what it depends on");
  }
}

} // namespace op2jit::derive
