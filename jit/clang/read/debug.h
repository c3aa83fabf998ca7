// What the debug information of a program says of how one of its units was compiled.
#ifndef OP2JIT_JIT_CLANG_DEBUG_H
#define OP2JIT_JIT_CLANG_DEBUG_H

#include <string>
#include <vector>

namespace op2jit {

struct DebugUnit {
  std::string file;   // absolute, or "" if it is not there
  std::string folder; // that the compiler ran in
  std::string words;  // that the compiler put down: g++ keeps -std, clang++ with -grecord-command-line all
  std::vector<std::string> folders; // of the files that it includes
  std::vector<std::string> macros;  // of -D, as "NAME=VALUE", with -g3
  bool has_macros = false;
  bool several = false; // another unit of the same source was compiled in another way
};

// `unit` as the compiler was told, or absolute. False: nothing is known of it.
bool find_debug(const std::string &program, const std::string &unit, DebugUnit &out);

} // namespace op2jit
#endif
