// The flags that a unit of a program was compiled with, as far as they decide what its text means.
#ifndef OP2JIT_JIT_CLANG_FLAGS_H
#define OP2JIT_JIT_CLANG_FLAGS_H

#include <set>
#include <string>
#include <vector>

#include "jit/texts/reader.h"

namespace op2jit {

struct Flags {
  std::string unit; // the file; "": nothing names it
  std::string why;  // it cannot be read; "" else
  std::vector<std::string> words;
  std::string from;   // where they came from, for people
  bool known = false; // all of them, -D too
  std::string doubt;  // why they may be others; "" else
  // Folders that may be those of -I, if these are not known, and files that the compiler did open.
  std::vector<std::string> folders;
  std::set<std::string> files;
};

Flags find_flags(const read_request &request);

} // namespace op2jit
#endif
