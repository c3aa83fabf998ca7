#include "ir.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace op2jit::derive {
namespace {

// An expression of the derived text, or a number, so that rules read as they are written on paper.
struct E {
  Builder *builder = nullptr; // NULL: a number
  Node *node = nullptr;
  double value = 0;
  E(Builder *builder, Node *node) : builder(builder), node(node) {
  }
  E(double value) : value(value) {
  }
  // As a node; a number is of the type of `like`.
  Node *as(E like) const {
    return builder ? node : like.builder->real(value, like.node->type);
  }
};
E with(Op op, E a, E b) {
  const E like = a.builder ? a : b;
  return {like.builder, like.builder->binary(op, like.node->type, a.as(like), b.as(like))};
}
E operator+(E a, E b) {
  return with(Op::Add, a, b);
}
E operator-(E a, E b) {
  return with(Op::Sub, a, b);
}
E operator*(E a, E b) {
  return with(Op::Mul, a, b);
}
E operator/(E a, E b) {
  return with(Op::Div, a, b);
}
E operator-(E a) {
  return {a.builder, a.builder->unary(Op::Neg, a.node)};
}
E when(Op op, E a, E b, E then, E other) {
  Node *condition = a.builder->binary(op, Type::Int, a.node, b.as(a));
  return {a.builder, a.builder->choose(condition, then.as(a), other.as(a))};
}
// 0 where a value is 0: what is told by nobody must not become 0 * infinity.
E unless_zero(E what, E then) {
  return when(Op::Ne, what, 0, then, 0);
}
E of(const char *name, std::vector<E> in) {
  const E like = in.back(); // is no number
  const std::string full = std::string(name) + (like.node->type == Type::Float ? "f" : "");
  std::vector<Node *> nodes;
  for (const E &one : in)
    nodes.push_back(one.as(like));
  return {like.builder, like.builder->call(full.c_str(), like.node->type, std::move(nodes))};
}

using In = const std::vector<E> &;
using Rule = E (*)(In x, E v);

E pow_by_base(In x, E) {
  const E y = x[1];
  if (y.node->is_number(0))
    return 0;
  if (y.node->is_number(1))
    return 1;
  if (y.node->is_number(2))
    return 2 * x[0];
  const E slope = y * of("pow", {x[0], y - 1});
  if (y.node->op == Op::Number && y.node->real > 1)
    return slope;
  return unless_zero(y, when(Op::Ge, y, 1, slope, unless_zero(x[0], slope)));
}
E pow_by_exponent(In x, E v) {
  return when(Op::Gt, x[0], 0, v * of("log", {x[0]}), 0);
}
E root_of_rest(E x) {
  const E rest = 1 - x * x;
  return when(Op::Gt, rest, 0, 1 / of("sqrt", {rest}), 0);
}
E signs(E a, E b) {
  return of("copysign", {1, a}) * of("copysign", {1, b});
}

// fmax and fmin drop a NaN.
E first_wins(Op op, In x, E then, E other) {
  return when(op, x[0], x[1], then, when(Op::Ne, x[1], x[1], then, other));
}

constexpr double two_over_root_pi = 1.12837916709551257390, ln_2 = 0.69314718055994530942,
                 ln_10 = 2.30258509299404568402;

// ldexp and its like: the factor is the function of 1, which `partial` makes.
E of_one(In x, E) {
  return {x[0].builder, nullptr};
}

struct Row {
  const char *name;
  Rule by[3]; // NULL: that operand is an integer, or its value does not count
};
const Row rows[] = {
    {"sqrt", {[](In, E v) { return when(Op::Gt, v, 0, 0.5 / v, 0); }}},
    {"cbrt", {[](In, E v) { return unless_zero(v, 1 / (3 * (v * v))); }}},
    {"exp", {[](In, E v) { return v; }}},
    {"exp2", {[](In, E v) { return ln_2 * v; }}},
    {"expm1", {[](In x, E) { return of("exp", {x[0]}); }}},
    {"log", {[](In x, E) { return 1 / x[0]; }}},
    {"log2", {[](In x, E) { return 1 / (ln_2 * x[0]); }}},
    {"log10", {[](In x, E) { return 1 / (ln_10 * x[0]); }}},
    {"log1p", {[](In x, E) { return 1 / (1 + x[0]); }}},
    {"sin", {[](In x, E) { return of("cos", {x[0]}); }}},
    {"cos", {[](In x, E) { return -of("sin", {x[0]}); }}},
    {"tan", {[](In, E v) { return 1 + v * v; }}},
    {"asin", {[](In x, E) { return root_of_rest(x[0]); }}},
    {"acos", {[](In x, E) { return -root_of_rest(x[0]); }}},
    {"atan", {[](In x, E) { return 1 / (1 + x[0] * x[0]); }}},
    {"sinh", {[](In x, E) { return of("cosh", {x[0]}); }}},
    {"cosh", {[](In x, E) { return of("sinh", {x[0]}); }}},
    {"tanh", {[](In, E v) { return 1 - v * v; }}},
    {"asinh", {[](In x, E) { return 1 / of("sqrt", {1 + x[0] * x[0]}); }}},
    {"acosh", {[](In x, E) {
       const E rest = x[0] * x[0] - 1;
       return when(Op::Gt, rest, 0, 1 / of("sqrt", {rest}), 0);
     }}},
    {"atanh", {[](In x, E) { return 1 / (1 - x[0] * x[0]); }}},
    {"erf", {[](In x, E) { return two_over_root_pi * of("exp", {-(x[0] * x[0])}); }}},
    {"erfc", {[](In x, E) { return -two_over_root_pi * of("exp", {-(x[0] * x[0])}); }}},
    {"fabs", {[](In x, E) {
       return of("copysign", {1, x[0]});
     }}},
    {"atan2",
     {[](In x, E) { return unless_zero(x[0] * x[0] + x[1] * x[1], x[1] / (x[0] * x[0] + x[1] * x[1])); },
      [](In x, E) { return unless_zero(x[0] * x[0] + x[1] * x[1], -x[0] / (x[0] * x[0] + x[1] * x[1])); }}},
    {"hypot",
     {[](In x, E v) { return unless_zero(v, x[0] / v); },
      [](In x, E v) { return unless_zero(v, x[1] / v); }}},
    {"pow", {pow_by_base, pow_by_exponent}},
    {"fmax",
     {[](In x, E) { return first_wins(Op::Ge, x, 1, 0); },
      [](In x, E) { return first_wins(Op::Ge, x, 0, 1); }}},
    {"fmin",
     {[](In x, E) { return first_wins(Op::Le, x, 1, 0); },
      [](In x, E) { return first_wins(Op::Le, x, 0, 1); }}},
    {"fdim",
     {[](In x, E) { return when(Op::Gt, x[0], x[1], 1, 0); },
      [](In x, E) { return when(Op::Gt, x[0], x[1], -1, 0); }}},
    {"fma", {[](In x, E) { return x[1]; }, [](In x, E) { return x[0]; }, [](In, E) { return E(1); }}},
    {"copysign", {[](In x, E) { return signs(x[0], x[1]); }}},
    {"fmod", {[](In, E) { return E(1); }, [](In x, E) { return -of("trunc", {x[0] / x[1]}); }}},
    {"remainder", {[](In, E) { return E(1); }, [](In x, E v) { return -of("rint", {(x[0] - v) / x[1]}); }}},
    {"nextafter", {[](In, E) { return E(1); }}},
    {"ldexp", {of_one}},
    {"scalbn", {of_one}},
    {"scalbln", {of_one}},
};

const char *const in_steps[] = {
    "ceil",           "floor",  "nearbyint",   "rint",          "round",      "trunc",   "logb",
    "ilogb",          "lrint",  "llrint",      "lround",        "llround",    "abs",     "labs",
    "llabs",          "isnan",  "isinf",       "isfinite",      "isnormal",   "signbit", "isgreater",
    "isgreaterequal", "isless", "islessequal", "islessgreater", "isunordered"};

// "sqrtf" is as "sqrt".
bool is_of(std::string_view name, std::string_view of) {
  return name == of ||
         (name.size() == of.size() + 1 && name.substr(0, of.size()) == of && name.back() == 'f');
}

const Row *find(std::string_view name) {
  const auto found =
      std::find_if(std::begin(rows), std::end(rows), [&](const Row &row) { return is_of(name, row.name); });
  return found == std::end(rows) ? nullptr : found;
}

} // namespace

bool is_function(std::string_view name) {
  return find(name) || std::any_of(std::begin(in_steps), std::end(in_steps),
                                   [&](const char *one) { return is_of(name, one); });
}

bool follows(const Node *call, size_t i) {
  const Row *row = find(call->name);
  return row && i < 3 && row->by[i] && is_real(call->type) && is_real(call->in[i]->type);
}

Node *partial(Builder &builder, const Node *call, size_t i, const std::vector<Node *> &in, Node *value) {
  const Row *row = find(call->name);
  std::vector<E> x;
  for (Node *one : in)
    x.emplace_back(&builder, one);
  const E v(&builder, value), result = row->by[i](x, v);
  return !result.builder || result.node
             ? result.as(v)
             : builder.call(call->name, call->type, {builder.real(1, call->type), in[1]});
}

} // namespace op2jit::derive
