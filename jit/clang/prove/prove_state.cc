#include "prove_state.h"

namespace op2jit {

void State::join(const State &other) {
  if (!other.reachable)
    return;
  if (!reachable) {
    *this = other;
    return;
  }
  for (auto at = values.begin(); at != values.end();) {
    const auto twin = other.values.find(at->first);
    if (twin == other.values.end() || !(twin->second == at->second))
      at = values.erase(at);
    else
      ++at;
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
