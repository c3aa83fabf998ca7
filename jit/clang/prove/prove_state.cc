#include "prove_state.h"

namespace op2jit {

Value Value::joined(const Value &other) const {
  if (*this == other)
    return *this;
  if (kind != Bound || other.kind != Bound || !(target == other.target) || minus != other.minus)
    return Value();
  Value result = bound(target, above && other.above, below && other.below);
  result.minus = minus;
  return result;
}

void State::join(const State &other) {
  if (!other.reachable)
    return;
  if (!reachable) {
    *this = other;
    return;
  }
  for (auto at = values.begin(); at != values.end();) {
    const auto twin = other.values.find(at->first);
    const Value both = twin == other.values.end() ? Value() : at->second.joined(twin->second);
    if (both.kind == Value::Unknown)
      at = values.erase(at);
    else
      (at++)->second = both;
  }
  for (size_t i = 0; i < written.size(); i++)
    written[i] &= other.written[i];
  for (size_t i = 0; i < perhaps.size(); i++)
    perhaps[i] |= other.perhaps[i];
}

void State::forget(const clang::VarDecl *variable) {
  values.erase(values.lower_bound({variable, INT64_MIN}), values.upper_bound({variable, INT64_MAX}));
}

} // namespace op2jit
