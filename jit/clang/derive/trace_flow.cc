// Branches and jumps. Jumps are conditions of their own: what comes behind one stands in a branch.
#include "trace.h"

namespace op2jit::derive {

Node *Trace::flag(int object) {
  return state_.at({object, 0}).node;
}

void Trace::set_flag(int object, Node *value) {
  state_[{object, 0}] = Value::of(value);
}

int Trace::new_jump(Jump::Kind kind) {
  const int made = object(Object::Local, "", {{Type::Int, false, ""}})->id;
  set_flag(made, builder_.integer(0));
  jumps_.push_back({kind, made});
  return made;
}

Node *Trace::stopped() {
  Node *any = builder_.integer(0);
  for (size_t i = frames_.back().jumps; i < jumps_.size(); i++)
    any = builder_.binary(Op::Either, Type::Int, any, flag(jumps_[i].object));
  return any;
}

void Trace::go_on(Node *stop, llvm::function_ref<void()> then, llvm::function_ref<void()> other) {
  Node *only = nullptr;
  int object = -1, several = 0;
  for (size_t i = frames_.back().jumps; i < jumps_.size(); i++)
    if (Node *one = flag(jumps_[i].object); !one->is_number(0)) {
      only = one;
      object = jumps_[i].object;
      several++;
    }
  branch(
      builder_.negated(stop),
      [&] {
        for (size_t i = frames_.back().jumps; i < jumps_.size(); i++)
          set_flag(jumps_[i].object, builder_.integer(0));
        then();
      },
      [&] {
        if (several == 1 && only)
          set_flag(object, builder_.integer(1));
        if (other)
          other();
      });
}

Node *Trace::branch(Node *condition, llvm::function_ref<void()> then, llvm::function_ref<void()> other) {
  if (condition->op == Op::Number) {
    if (condition->number)
      then();
    else
      other();
    return nullptr;
  }
  Node *made = builder_.branch(condition);
  const State before = state_;
  Block *outside = builder_.enter(made->blocks[0]);
  then();
  State after = std::move(state_);
  state_ = before;
  builder_.enter(made->blocks[1]);
  other();
  builder_.enter(outside);
  const State second = std::move(state_);
  merge(made, after, second);
  builder_.close(made);
  return made;
}

// Without a value on one side a variable may not be read behind, on the paths from there: any value is right.
Value Trace::merged(Node *branch, const Key &key, const Value *then, const Value *other) {
  const Value *some = then ? then : other;
  if (!then || !other) {
    for (const Object *row : program_.rows)
      if (row->id == key.first)
        keep_in_place(*row);
    if (some->kind == Value::Pointer)
      return Value::to({});
    Node *zero = builder_.zero(some->node->type);
    return Value::of(then ? builder_.phi(branch, then->node, zero) : builder_.phi(branch, zero, other->node));
  }
  if (then->kind != other->kind)
    return Value::to({});
  if (then->kind == Value::Scalar) {
    if (then->node->type != other->node->type) // of a refused text
      return *then;
    return Value::of(builder_.phi(branch, then->node, other->node));
  }
  const Place &p = then->place, &q = other->place;
  if (p.object != q.object || p.entry != q.entry)
    return Value::to({});
  if (!p.object)
    return *then;
  if (p.offset == q.offset)
    return *then;
  const Type wide = p.offset->type == q.offset->type ? p.offset->type : Type::Long;
  Place both = p;
  both.offset = builder_.phi(branch, builder_.cast(wide, p.offset), builder_.cast(wide, q.offset));
  return Value::to(both);
}

// An argument's row is there on both sides, whether or not it was looked at.
void Trace::merge(Node *branch, const State &then, const State &other) {
  State all = then;
  for (const auto &[key, value] : other)
    all.emplace(key, value);
  for (auto &[key, value] : all) {
    const auto a = then.find(key), b = other.find(key);
    if (a != then.end() && b != other.end() && a->second == b->second)
      continue;
    Value start;
    const Value *sides[2] = {a == then.end() ? nullptr : &a->second, b == other.end() ? nullptr : &b->second};
    for (const Value *&side : sides)
      if (!side && key.first >= 0 && key.first < static_cast<int>(program_.rows.size())) {
        const Object &row = *program_.rows[static_cast<size_t>(key.first)];
        if (begins_empty(row))
          continue;
        start = start_of_row(row, key.second, kernel_.getLocation());
        side = &start;
      }
    value = merged(branch, key, sides[0], sides[1]);
  }
  state_ = std::move(all);
}

} // namespace op2jit::derive
