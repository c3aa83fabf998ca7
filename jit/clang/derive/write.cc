#include "write.h"

#include <algorithm>
#include <cmath>

namespace op2jit::derive {

static constexpr int most_height = 24;

// A value that goes on unchanged from round to round is the one before the loop.
const Node *Writer::plain(const Node *node) const {
  for (;;) {
    const Node *inside = node->op == Op::Left ? node->in[0] : node;
    if (inside->op != Op::Carried || inside->in[1] != inside)
      return node;
    node = inside->in[0];
  }
}

// ---- what is needed ----

void Writer::need_owner(const Block *block) {
  if (block->owner)
    need(block->owner);
}

void Writer::need(const Node *node) {
  node = plain(node);
  Use &use = use_of(node);
  if (use.live)
    return;
  use.live = true;
  need_owner(node->home);
  for (const Node *operand : node->in)
    if (operand)
      need(operand);
  if (node->owner)
    need(node->owner);
  if (node->op == Op::Load || node->op == Op::Store || node->op == Op::Inc)
    used_parameters_.insert(static_cast<int>(node->number));
  if (node->op == Op::Table)
    used_tables_.insert(node->number);
  if (node->op == Op::Kept) {
    kept_[static_cast<size_t>(node->number)] = true;
    for (const Node &other : derived_.builder.nodes())
      if (other.op == Op::Keep && other.number == node->number)
        need(&other);
  }
}

const std::vector<const Node *> &Writer::members(const Block *block) const {
  static const std::vector<const Node *> none;
  const auto found = members_.find(block);
  return found == members_.end() ? none : found->second;
}

void Writer::find_live() {
  uses_.assign(static_cast<size_t>(derived_.builder.size()), {});
  kept_.assign(derived_.tapes.size(), false);
  for (const Node &node : derived_.builder.nodes())
    if (node.op == Op::Store || node.op == Op::Inc) {
      need(&node);
      if (node.op == Op::Store)
        stored_.insert(node.number);
    }
  for (const Node &node : derived_.builder.nodes())
    if (use_of(&node).live)
      members_[node.home].push_back(&node);
}

void Writer::use(const Node *node, const Node *by, const Block *place) {
  Use &use = use_of(plain(node));
  use.count++;
  use.by = by;
  use.place = place;
}

void Writer::count_uses() {
  for (const Node &node : derived_.builder.nodes()) {
    if (!use_of(&node).live)
      continue;
    if (node.op == Op::Phi) {
      use(node.in[0], &node, node.owner->blocks[0]);
      use(node.in[1], &node, node.owner->blocks[1]);
    } else if (node.op == Op::Carried) {
      use(node.in[0], &node, node.owner->home);
      use(node.in[1], &node, node.home);
    } else if (node.op == Op::Loop)
      use(node.in[0], &node, node.blocks[0]);
    else
      for (const Node *operand : node.in)
        use(operand, &node, node.home);
  }
}

bool Writer::can_be_inlined(const Node *node) const {
  const Use &use = use_of(node);
  if (node->op == Op::Number || node->op == Op::Count)
    return true;
  if (use.count != 1 || has_effect(node->op) || node->op == Op::Array || node->op == Op::Carried ||
      node->op == Op::Left || node->op == Op::If || node->op == Op::Loop || node->ordered ||
      (node->op == Op::Load && stored_.count(node->number)))
    return false;
  if (node->op == Op::Phi && !use_of(node->owner).flat)
    return false;
  if (use.height > most_height)
    return false;
  for (const Block *block = use.place; block != node->home; block = block->parent)
    if (!block || !block->owner || block->owner->op == Op::Loop)
      return false;
  return true;
}

int Writer::height(const Node *node) {
  int most = 0;
  for (const Node *operand : node->in)
    if (operand && node->op != Op::Carried) {
      const Use &use = use_of(plain(operand));
      most = std::max(most, use.inlined ? use.height + 1 : 0);
    }
  return most;
}

// Can it be written as c ? a : b?
bool Writer::is_flat(const Node *branch) const {
  for (const Block *block : branch->blocks)
    for (const Node *node : members(block))
      if (node->op == Op::If ? !use_of(node).flat : !use_of(node).inlined)
        return false;
  return true;
}

// Branches within others first: they were made later.
void Writer::find_inlined() {
  std::vector<const Node *> branches;
  for (const Node &node : derived_.builder.nodes()) {
    Use &use = use_of(&node);
    if (!use.live)
      continue;
    if (node.op == Op::If)
      branches.push_back(&node);
    use.height = height(&node);
    use.inlined = node.op != Op::Phi && can_be_inlined(&node);
  }
  std::reverse(branches.begin(), branches.end());
  for (const Node *branch : branches) {
    if (!is_flat(branch))
      continue;
    int results = 0;
    for (const Node *result : branch->results)
      results += use_of(result).live;
    const Node *condition = plain(branch->in[0]);
    Use &use = use_of(condition);
    use.count += results - 1;
    use.inlined = can_be_inlined(condition) && (condition->op != Op::Phi || use.inlined);
    use_of(branch).flat = true;
    for (const Node *result : branch->results) {
      Use &of = use_of(result);
      of.height = height(result);
      of.inlined = of.live && can_be_inlined(result);
    }
  }
}

// ---- statements ----

void Writer::line(const std::string &words) {
  text += indent_ + words + "\n";
}

void Writer::declare(const Node *node, const std::string &value) {
  Use &use = use_of(node);
  use.name = "op2v" + std::to_string(names_++);
  line(std::string("const ") + type_info(node->type).name + " " + use.name + " = " + value + ";");
}

// Writes what it is made of, and it, unless that is done.
void Writer::require(const Node *node) {
  node = plain(node);
  Use &use = use_of(node);
  if (use.written || node->op == Op::Number || node->op == Op::Count || node->op == Op::Carried)
    return;
  use.written = true;
  if (node->op == Op::Phi) {
    if (!use_of(node->owner).flat)
      return require(node->owner);
    require(node->owner->in[0]);
    require_outside(node->owner, node->owner);
    require(node->in[0]);
    require(node->in[1]);
  } else if (node->op == Op::Left)
    return require(node->owner);
  else if (node->op != Op::Loop)
    for (const Node *operand : node->in)
      require(operand);
  if (node->op == Op::Kept)
    require(node->owner);
  if (!use.inlined)
    write(node);
}

// Writes what a branch or a loop takes from outside; `owner` is it, or within it.
void Writer::require_outside(const Node *owner, const Node *whole) {
  const auto need_it = [&](const Node *node) {
    node = plain(node);
    if (!is_within(node->home, whole->blocks[0]) &&
        !(whole->blocks[1] && is_within(node->home, whole->blocks[1])))
      require(node);
  };
  for (const Block *block : owner->blocks)
    for (const Node *node : members(block)) {
      for (const Node *operand : node->in)
        if (operand)
          need_it(operand);
      if (node->op == Op::Kept)
        need_it(node->owner);
      if (node->op == Op::If || node->op == Op::Loop)
        require_outside(node, whole);
    }
  for (const Node *result : owner->results)
    if (use_of(result).live)
      for (const Node *operand : result->in)
        need_it(operand);
}

void Writer::write(const Node *node) {
  if (has_effect(node->op))
    return effect(node);
  if (node->op == Op::If) {
    if (!use_of(node).flat)
      write_branch(node);
    return;
  }
  if (node->op == Op::Loop)
    return write_loop(node);
  if (node->op == Op::Array) {
    Use &use = use_of(node);
    use.name = "op2v" + std::to_string(names_++);
    std::string all;
    for (const Node *one : node->in)
      all += (all.empty() ? "" : ", ") + expression(one, 1);
    return line(std::string("const ") + type_info(node->type).name + " " + use.name + "[" +
                std::to_string(node->in.size()) + "] = {" + all + "};");
  }
  int strength = 0;
  const std::string value = inner(node, strength);
  declare(node, value);
}

void Writer::effect(const Node *node) {
  if (node->op == Op::Keep)
    return line("op2kept" + std::to_string(node->number) + "[" + expression(node->in[0], 0) +
                "] = " + expression(node->in[1], 0) + ";");
  const Node *value = plain(node->in[2]);
  const char *does = node->op == Op::Store ? " = " : " += ";
  if (node->op == Op::Inc && value->op == Op::Neg && use_of(value).inlined) {
    does = " -= ";
    value = plain(value->in[0]);
  }
  line(access(node) + does + expression(value, 0) + ";");
}

void Writer::block(const Block *block) {
  for (const Node *node : members(block))
    if (node->op != Op::Number && node->op != Op::Count && !use_of(node).inlined)
      require(node);
}

void Writer::side(const Node *branch, size_t side) {
  const std::string before = indent_;
  indent_ += "  ";
  block(branch->blocks[side]);
  for (const Node *result : branch->results)
    if (use_of(result).live) {
      require(result->in[side]);
      line(use_of(result).name + " = " + expression(result->in[side], 0) + ";");
    }
  indent_ = before;
}

void Writer::write_branch(const Node *node) {
  require_outside(node, node);
  for (const Node *result : node->results) {
    Use &use = use_of(result);
    if (!use.live)
      continue;
    use.name = "op2v" + std::to_string(names_++);
    use.written = true;
    line(std::string(type_info(result->type).name) + " " + use.name + ";");
  }
  const std::string condition = expression(node->in[0], 0);
  std::string before = std::move(text), sides[2];
  for (size_t i = 0; i < 2; i++) {
    text.clear();
    side(node, i);
    sides[i] = std::move(text);
  }
  text = std::move(before);
  if (sides[0].empty() && sides[1].empty())
    return;
  if (sides[0].empty()) {
    line("if (!(" + condition + ")) {");
    text += sides[1];
    return line("}");
  }
  line("if (" + condition + ") {");
  text += sides[0];
  if (!sides[1].empty()) {
    line("} else {");
    text += sides[1];
  }
  line("}");
}

// Does its text read one of those that have their next value already? What has a name is computed by then.
bool Writer::reads_any(const Node *node, const std::set<const Node *> &carried) const {
  node = plain(node);
  if (node->op == Op::Carried)
    return carried.count(node) > 0;
  if (!use_of(node).inlined)
    return false;
  if (node->op == Op::Phi && reads_any(node->owner->in[0], carried))
    return true;
  for (const Node *operand : node->in)
    if (operand && reads_any(operand, carried))
      return true;
  return false;
}

// Arrays for the values that the loop keeps of each round.
void Writer::declare_tapes(const Node *loop) {
  for (const Node &one : derived_.builder.nodes())
    if (one.op == Op::Keep && one.home == loop->blocks[0] && kept_[static_cast<size_t>(one.number)])
      line(std::string(type_info(one.type).name) + " op2kept" + std::to_string(one.number) + "[" +
           std::to_string(derived_.tapes[static_cast<size_t>(one.number)]) + "];");
}

void Writer::write_loop(const Node *node) {
  std::vector<const Node *> all;
  const Node *counter = nullptr;
  declare_tapes(node);
  require_outside(node, node);
  for (const Node *one : node->results) {
    Use &use = use_of(one);
    if (!use.live || plain(one) != one)
      continue;
    all.push_back(one);
    use.name = "op2v" + std::to_string(names_++);
    const Node *next = one->in[1];
    const bool counts = !is_real(one->type) && (next->op == Op::Add || next->op == Op::Sub) &&
                        next->in[0] == one && next->in[1]->is_number(1);
    if (!counter && counts && !use_of(one->left).live && use_of(next).inlined)
      counter = one;
    else
      line(std::string(type_info(one->type).name) + " " + use.name + " = " + expression(one->in[0], 0) + ";");
    Use &left = use_of(one->left);
    left.name = use.name;
    left.written = true;
  }
  const std::string before = indent_, outside = std::move(text);
  indent_ += "  ";
  text.clear();
  const Node *condition = plain(node->in[0]);
  require(condition);
  const bool simple = text.empty();
  const std::string decides = expression(condition, simple ? 0 : 15);
  if (!simple)
    line("if (!" + decides + ")\n" + indent_ + "  break;");
  block(node->blocks[0]);
  std::vector<std::string> steps;
  std::set<const Node *> assigned;
  for (const Node *one : all)
    if (one != counter) {
      const Node *next = plain(one->in[1]);
      require(next);
      std::string value = expression(next, 0);
      if (value == use_of(one).name)
        continue;
      if (reads_any(next, assigned)) {
        const std::string name = "op2v" + std::to_string(names_++);
        line(std::string("const ") + type_info(one->type).name + " " + name + " = " + value + ";");
        value = name;
      }
      assigned.insert(one);
      steps.push_back(use_of(one).name + " = " + value + ";");
    }
  for (const std::string &step : steps)
    line(step);
  const std::string body = std::move(text);
  text = outside;
  indent_ = before;
  if (counter) {
    const std::string &name = use_of(counter).name;
    line("for (" + std::string(type_info(counter->type).name) + " " + name + " = " +
         expression(counter->in[0], 0) + "; " + (simple ? decides : "") + "; " + name +
         (counter->in[1]->op == Op::Add ? "++" : "--") + ") {");
  } else
    line(simple ? "while (" + decides + ") {" : "for (;;) {");
  text += body;
  line("}");
}

} // namespace op2jit::derive
