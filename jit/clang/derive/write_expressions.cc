// Expressions and the head of a derived kernel.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "write.h"

namespace op2jit::derive {

static const Operator &operator_of(Op op) {
  return *std::find_if(std::begin(operators), std::end(operators) - 1,
                       [&](const Operator &one) { return one.op == op; });
}
enum { CHOICE = 3, UNARY = 14, POSTFIX = 15 };

static std::string in_parentheses(const std::string &words, bool wanted) {
  return wanted ? "(" + words + ")" : words;
}

std::string Writer::number(const Node *node, int &strength) const {
  char words[64];
  strength = POSTFIX;
  if (is_real(node->type)) {
    if (std::isnan(node->real))
      return "NAN";
    const bool is_float = node->type == Type::Float;
    if (std::signbit(node->real))
      strength = UNARY;
    if (std::isinf(node->real))
      return node->real < 0 ? "-INFINITY" : "INFINITY";
    for (int digits = is_float ? 6 : 15; digits <= 17; digits++) {
      snprintf(words, sizeof words, "%.*g", digits, node->real);
      const double back = strtod(words, nullptr);
      if (is_float ? static_cast<float>(back) == static_cast<float>(node->real) : back == node->real)
        break;
    }
    std::string all = words;
    if (all.find_first_of(".en") == std::string::npos)
      all += ".0";
    return all + type_info(node->type).suffix;
  }
  const TypeInfo &info = type_info(node->type);
  const bool is_wide = info.bits == 64;
  if (!info.is_signed && info.bits >= 32)
    return std::to_string(static_cast<uint64_t>(node->number)) + info.suffix;
  if (node->number == (is_wide ? INT64_MIN : INT32_MIN))
    return "(" + std::to_string(node->number + 1) + info.suffix + " - 1)";
  if (node->number < 0)
    strength = UNARY;
  return std::to_string(node->number) + info.suffix;
}

std::string Writer::expression(const Node *node, int around) {
  node = plain(node);
  const Use &use = use_of(node);
  if (!use.name.empty())
    return use.name;
  int strength = POSTFIX;
  const std::string words = inner(node, strength);
  return in_parentheses(words, strength < around);
}

std::string Writer::inner(const Node *node, int &strength) {
  strength = POSTFIX;
  switch (node->op) {
  case Op::Number: return number(node, strength);
  case Op::Load: return access(node);
  case Op::Count: return "op2n" + std::to_string(node->number);
  case Op::Global: {
    const Program::Global &global = program_.globals[static_cast<size_t>(node->number)];
    return global.name + (global.single ? "" : "[" + expression(node->in[0], 0) + "]");
  }
  case Op::Table: return "op2t" + std::to_string(node->number) + "[" + expression(node->in[0], 0) + "]";
  case Op::Neg:
  case Op::Not:
  case Op::BitNot: {
    strength = UNARY;
    const std::string inside = expression(node->in[0], UNARY);
    const char *sign = node->op == Op::Neg ? "-" : node->op == Op::Not ? "!" : "~";
    return sign + in_parentheses(inside, inside[0] == '-');
  }
  case Op::Cast:
    strength = UNARY;
    return "(" + std::string(type_info(node->type).name) + ")" + expression(node->in[0], UNARY);
  case Op::Call: {
    std::string all;
    for (const Node *one : node->in)
      all += (all.empty() ? "" : ", ") + expression(one, 1);
    return std::string(node->name) + "(" + all + ")";
  }
  case Op::Index: return expression(node->in[0], POSTFIX) + "[" + expression(node->in[1], 0) + "]";
  case Op::Kept: return "op2kept" + std::to_string(node->number) + "[" + expression(node->in[0], 0) + "]";
  case Op::Phi:
    strength = CHOICE;
    return expression(node->owner->in[0], CHOICE + 1) + " ? " + expression(node->in[0], CHOICE + 1) + " : " +
           expression(node->in[1], CHOICE);
  default: break;
  }
  const Operator &sign = operator_of(node->op);
  strength = sign.strength;
  // Such a mixture of operators is asked to have parentheses by compilers.
  const int around = node->op >= Op::Lt && node->op <= Op::Ne ? 11 : sign.strength < 12 ? 12 : sign.strength;
  const bool logic = node->op == Op::Both || node->op == Op::Either;
  const Node *left = plain(node->in[0]), *right = plain(node->in[1]);
  const std::string a = expression(left, logic ? (left->op == node->op ? sign.strength : 6) : around);
  const std::string b =
      expression(right, logic ? (right->op == node->op ? sign.strength : 6) : around + (sign.strength >= 12));
  return a + " " + std::string(sign.sign) + " " + b;
}

// ---- parameters ----

std::string Writer::name_of(int number) const {
  static const char *const after[] = {"", "_dot", "_bar", "_winner", "", "_candidate"};
  const Parameter &is = derived_.parameters[static_cast<size_t>(number)];
  const Object *row = is.argument < 0 ? nullptr : program_.rows[static_cast<size_t>(is.argument)];
  std::string name = is.constant >= 0    ? request_.constants[is.constant].name
                     : !row              ? "element"
                     : row->name.empty() ? std::to_string(is.argument)
                                         : row->name;
  name += after[is.role];
  for (bool again = is.role != DERIVE_VALUE; again;) { // an argument may be called x_bar
    again = false;
    for (const Object *other : program_.rows)
      again |= other->name == name;
    name += again ? "_" : "";
  }
  return "op2_" + name;
}

std::string Writer::access(const Node *node) {
  const Parameter &is = derived_.parameters[static_cast<size_t>(node->number)];
  const std::string name = name_of(static_cast<int>(node->number));
  const Node *entry = plain(node->in[0]), *component = plain(node->in[1]);
  if (is.argument < 0 || is.role == DERIVE_CANDIDATE)
    return name + "[" + expression(component, 0) + "]";
  const Object &row = *program_.rows[static_cast<size_t>(is.argument)];
  const prove_argument &of = request_.arguments[is.argument].is;
  const std::string part = component->op == Op::Number && is.role != DERIVE_WINNER
                               ? row.leaves[static_cast<size_t>(component->number)].path
                               : "[" + expression(component, 0) + "]";
  if (of.ragged)
    return "OP_ROW(" + name + ", " + expression(entry, 1) + ")" + part;
  return name + (of.form == PROVE_VECTOR ? "[" + expression(entry, 0) + "]" : "") + part;
}

op_access Writer::access_of(const Parameter &is) const {
  const bool forwards = request_.mode == DERIVE_TANGENT;
  if (is.role == DERIVE_WINNER || is.role == DERIVE_ELEMENT)
    return OP_READ;
  if (is.role == DERIVE_CANDIDATE)
    return OP_WRITE;
  if (is.argument < 0)
    return is.role == DERIVE_BAR ? OP_INC : OP_READ;
  const derive_argument &of = request_.arguments[is.argument];
  const op_access access = of.is.form == PROVE_NUMBERS ? OP_READ : of.is.access;
  const bool extreme = access == OP_MIN || access == OP_MAX;
  if (is.role == DERIVE_VALUE)
    return forwards ? access : OP_READ;
  const auto has_no_dot = [](const Leaf &leaf) { return !is_real(leaf.type); };
  const std::vector<Leaf> &leaves = program_.rows[static_cast<size_t>(is.argument)]->leaves;
  if (is.role == DERIVE_DOT && access == OP_WRITE) // integers of a struct are not touched
    return std::any_of(leaves.begin(), leaves.end(), has_no_dot) ? OP_RW : access;
  if (is.role == DERIVE_DOT)
    return extreme ? OP_INC : access;
  return access == OP_READ ? OP_INC : access == OP_INC || extreme ? OP_READ : OP_RW;
}

std::string Writer::declaration(int number) const {
  const Parameter &is = derived_.parameters[static_cast<size_t>(number)];
  const bool reads = access_of(is) == OP_READ;
  std::string type = is.role == DERIVE_WINNER ? "long" : "int";
  if (is.role != DERIVE_ELEMENT && is.role != DERIVE_WINNER)
    type = is.constant >= 0 ? request_.constants[is.constant].type
                            : program_.rows[static_cast<size_t>(is.argument)]->type;
  std::string words = (reads ? "const " : "") + type + " *";
  const prove_argument *of =
      is.argument >= 0 && is.role != DERIVE_CANDIDATE ? &request_.arguments[is.argument].is : nullptr;
  if (of && of->ragged)
    return words + "*" + name_of(number);
  words += name_of(number);
  return of && of->form == PROVE_VECTOR ? words + "[" + std::to_string(of->arity) + "]" : words;
}

void Writer::tables() {
  for (const int64_t number : used_tables_) {
    const std::vector<Node *> &values = program_.tables[static_cast<size_t>(number)].values;
    Type type = Type::Int;
    for (const Node &node : derived_.builder.nodes())
      if (node.op == Op::Table && node.number == number)
        type = node.type;
    std::string all;
    for (const Node *value : values) {
      int strength;
      all += (all.empty() ? "" : ", ") + (value ? this->number(value, strength) : std::string("0"));
    }
    line(std::string("static const ") + type_info(type).name + " op2t" + std::to_string(number) + "[" +
         std::to_string(values.size()) + "] = {" + all + "};");
  }
}

void Writer::head(const std::string &name) {
  std::set<int> counted;
  std::string all;
  std::vector<int> order(used_parameters_.begin(), used_parameters_.end());
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    const Parameter &p = derived_.parameters[static_cast<size_t>(a)],
                    &q = derived_.parameters[static_cast<size_t>(b)];
    const auto key = [](const Parameter &is) {
      return std::vector<int>{is.argument < 0, is.argument, static_cast<int>(is.role), is.constant};
    };
    return key(p) < key(q);
  });
  for (const int number : order) {
    const Parameter &is = derived_.parameters[static_cast<size_t>(number)];
    const bool mapped = is.argument >= 0 && is.role != DERIVE_CANDIDATE;
    const derive_argument *of = mapped ? &request_.arguments[is.argument] : nullptr;
    if (of && of->map >= 0 && (of->is.ragged || ragged_.count(of->map)) && counted.insert(of->map).second)
      all += (all.empty() ? "" : ", ") + std::string("int op2n") + std::to_string(of->map);
    all += (all.empty() ? "" : ", ") + declaration(number);
    parameters.push_back({is.role, is.argument, is.constant, access_of(is), false});
  }
  text += "void " + name + "(" + all + ") {\n";
}

void Writer::run(const std::string &name) {
  for (int i = 0; i < request_.narguments; i++)
    if (request_.arguments[i].is.ragged || request_.arguments[i].is.counted)
      ragged_.insert(request_.arguments[i].map);
  find_live();
  count_uses();
  find_inlined();
  head(name);
  indent_ = "  ";
  tables();
  for (const Node *node : members_[derived_.builder.root()]) // before anything is stored there
    if (node->op == Op::Load && stored_.count(node->number) && !node->ordered)
      require(node);
  block(derived_.builder.root());
  text += "}\n";
}

} // namespace op2jit::derive
