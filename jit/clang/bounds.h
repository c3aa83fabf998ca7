// How much of a text is accepted; beyond it there is an error, not an endless compilation.
#ifndef OP2JIT_JIT_CLANG_BOUNDS_H
#define OP2JIT_JIT_CLANG_BOUNDS_H

namespace op2jit::bounds {

constexpr unsigned nesting = 4000; // brackets of any kind within each other
constexpr unsigned errors = 20;    // after so many the rest would not be read either

} // namespace op2jit::bounds
#endif
