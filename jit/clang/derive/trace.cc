#include "trace.h"

namespace op2jit::derive {

// Beyond it a text is of no use to anybody.
static constexpr int most_nodes = 60000;

Trace::Trace(const clang::ASTContext &context, const derive_request &request,
             const clang::FunctionDecl &kernel, std::vector<bool> &in_place)
    : context_(context), request_(request), kernel_(kernel), in_place_(in_place),
      unread_(static_cast<size_t>(request.narguments)), builder_(program_.builder) {
}

// Each argument's rows, and the variable that leads to them.
void Trace::parameters() {
  unsigned number = 0;
  for (int i = 0; i < request_.narguments && !refused(); i++) {
    const prove_argument &is = request_.arguments[i].is;
    if (is.counted) {
      const clang::ParmVarDecl *count = kernel_.getParamDecl(number++);
      Object *made = object(Object::Local, count->getName().str(), {{Type::Int, false, ""}});
      frames_.back().variables[count] = made;
      state_[{made->id, 0}] =
          Value::of(builder_.indexed(Op::Count, Type::Int, request_.arguments[i].map, nullptr));
    }
    const clang::ParmVarDecl *variable = kernel_.getParamDecl(number++);
    clang::QualType type = variable->getType();
    bool vector = false;
    if (type->isPointerType() && type->getPointeeType()->isPointerType()) {
      type = type->getPointeeType();
      vector = true;
    }
    if (!type->isPointerType())
      return refuse(DERIVE_NO_KERNEL, variable->getLocation());
    Object *row = program_.rows[static_cast<size_t>(i)];
    row->name = variable->getName().str();
    row->type = type->getPointeeType().getUnqualifiedType().getAsString(context_.getPrintingPolicy());
    const std::vector<Leaf> &one = leaves_of(type->getPointeeType(), variable->getLocation());
    const int dim = is.dim > 0 ? is.dim : 1;
    for (int c = 0; c < dim; c++)
      for (const Leaf &leaf : one)
        row->leaves.push_back({leaf.type, leaf.is_pointer, "[" + std::to_string(c) + "]" + leaf.path});
    Object *handles = vector ? object(Object::Handles, row->name, {}) : nullptr;
    if (vector)
      handles->argument = i;
    Object *made = object(Object::Local, row->name, {{Type::Long, true, ""}});
    frames_.back().variables[variable] = made;
    Node *zero = builder_.integer(0);
    state_[{made->id, 0}] = Value::to({vector ? handles : row, zero, zero});
  }
}

void Trace::run() {
  for (int i = 0; i < request_.narguments; i++) { // their numbers are those of arguments
    program_.rows.push_back(object(Object::Row, "", {}));
    program_.rows.back()->argument = i;
  }
  frames_.push_back({&kernel_, object(Object::Local, "", {{Type::Int, false, ""}}), 0, {}});
  parameters();
  set_flag(frames_.back().result->id, builder_.integer(0));
  jumps_.push_back({Jump::Return, frames_.back().result->id});
  if (!refused())
    run(kernel_.getBody());
  if (!refused())
    finish();
  if (builder_.size() > most_nodes) {
    refuse(DERIVE_TOO_LONG, kernel_.getLocation());
    refusal_.number = most_nodes;
  }
}

// ---- what the rows hold in the end ----

void Trace::finish() {
  for (const Object *row : program_.rows)
    if (argument(*row).present && !refused())
      finish_row(row->argument);
}

void Trace::finish_row(int number) {
  Object &row = *program_.rows[static_cast<size_t>(number)];
  const derive_argument &is = argument(row);
  const int64_t length = static_cast<int64_t>(row.leaves.size());
  if (is.is.form == PROVE_NUMBERS || is.is.access == OP_READ || is.is.access == OP_WORK)
    return;
  int64_t zeros = 0;
  for (auto at = state_.lower_bound({row.id, 0}); at != state_.end() && at->first.first == row.id; ++at) {
    Node *value = at->second.node;
    const int64_t entry = at->first.second / length, leaf = at->first.second % length;
    if (!value)
      return refuse(DERIVE_STATEMENT, kernel_.getLocation(), "a pointer that is stored");
    const int64_t to = value_of(number);
    Node *e = builder_.integer(entry), *c = builder_.integer(leaf);
    if (is.is.access == OP_MIN || is.is.access == OP_MAX)
      finish_extreme(row, at->first.second, value);
    else if (is.is.access == OP_INC) {
      if (!value->is_number(0))
        builder_.effect(Op::Inc, value->type, to, {e, c, value});
    } else if (!in_place_[static_cast<size_t>(number)] &&
               (value->op != Op::Load || value->number != to || value->in[0] != e || value->in[1] != c))
      builder_.effect(Op::Store, value->type, to, {e, c, value});
    zeros += value->op == Op::Number && value->number == 0;
  }
  row.zeros = is.is.form == PROVE_DATA && (is.is.access == OP_RW || is.is.access == OP_WRITE) &&
              zeros == length && !in_place_[static_cast<size_t>(number)];
}

void Trace::finish_extreme(const Object &row, int64_t at, Node *value) {
  const int64_t length = static_cast<int64_t>(row.leaves.size());
  if (argument(row).is.ragged && is_extreme(argument(row)))
    return refuse(DERIVE_RAGGED_EXTREMUM, kernel_.getLocation(), row.name);
  Node *e = builder_.integer(at / length), *c = builder_.integer(at % length);
  const Value first = start_of_row(row, at, kernel_.getLocation());
  if (first.node != value)
    builder_.effect(Op::Extreme, value->type, value_of(row.argument), {e, c, value});
}

// ---- branches and jumps: jumps are conditions of their own, and what comes behind one stands in a branch ----

Node *Trace::flag(int object) {
  return state_.at({object, 0}).node;
}

void Trace::set_flag(int object, Node *value) {
  state_[{object, 0}] = Value::of(value);
}

int Trace::new_jump(Jump::Kind kind) {
  jumps_.push_back({kind, object(Object::Local, "", {{Type::Int, false, ""}})->id});
  set_flag(jumps_.back().object, builder_.integer(0));
  return jumps_.back().object;
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
