// How one unit of a program was compiled, as its debug information says it.
#ifndef OP2JIT_JIT_CLANG_DEBUG_H
#define OP2JIT_JIT_CLANG_DEBUG_H

#include <llvm/ADT/StringRef.h>

#include <set>
#include <string>
#include <vector>

namespace op2jit {

struct DebugUnit {
  std::string why;    // it says nothing of use; "" else
  std::string file;   // absolute
  std::string folder; // that the compiler ran in
  std::string words;  // that the compiler put down: g++ keeps -std, clang++ with -grecord-command-line all
  std::vector<std::string> folders; // of the files that it includes
  std::set<std::string> files;      // those with code, and with -g3 all
  bool several = false;             // another unit of the same source was compiled in another way
};

// Without links, where the file is there.
std::string absolute(llvm::StringRef folder, llvm::StringRef name);
// `unit` as the compiler was told: where that is, its debug information alone knows.
DebugUnit find_debug(const std::string &program, const std::string &unit);
// The source file, absolute, of the code at an address of the file `program`; "": its debug information does not say.
std::string find_place(const std::string &program, uint64_t address);

} // namespace op2jit
#endif
