// The flags that a unit of a program was compiled with, as far as they decide what its text means.
#ifndef OP2JIT_JIT_CLANG_FLAGS_H
#define OP2JIT_JIT_CLANG_FLAGS_H

#include <clang/Frontend/CompilerInstance.h>
#include <set>
#include <string>
#include <vector>

#include "doubts.h"
#include "jit/texts.h"

namespace op2jit {

// ---- debug.cc: how one unit of a program was compiled, as its debug information says it ----

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

// ---- the flags ----

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

// Are the sources those that the program was made from? The time of its compile says it, which is in the object. That of the
// program's file says nothing, since it may be a copy; and debug information has no sums of files that one could trust:
// g++ puts down none, and clang++ drops them all where one header is the system's. It names files, though.

struct Judgement {
  std::string why;   // they are not; "" else
  std::string doubt; // they may not be; "" else
};

Judgement judge_sources(const read_request &request, const Flags &flags, const Doubts &read);

// ---- a compiler is set up to parse a unit of the program ----

// Up to the context, in which nothing is parsed yet. `few`: without headers that kernels hardly need. False: the
// compiler's messages say why.
bool begin_unit(const read_request &request, const Flags &flags, bool few, clang::CompilerInstance &compiler);

} // namespace op2jit

#endif
