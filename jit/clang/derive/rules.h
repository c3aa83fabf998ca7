// The functions of <math.h>, and how they change with what they are given.
#ifndef OP2JIT_JIT_CLANG_DERIVE_RULES_H
#define OP2JIT_JIT_CLANG_DERIVE_RULES_H

#include <string_view>

#include "ir.h"

namespace op2jit::derive {

// Whether there is a rule for it.
bool is_function(std::string_view name);
// Does its value depend on operand `i` other than in steps?
bool follows(const Node *call, size_t i);
// The partial derivative by operand `i`, of operands and the value that are `in` and `value` in the derived text.
Node *partial(Builder &builder, const Node *call, size_t i, const std::vector<Node *> &in, Node *value);

} // namespace op2jit::derive
#endif
