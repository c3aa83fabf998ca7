// Which lines of what a text may use it does use. clang knows the functions of <math.h>, and declaring one is dear: of the
// prelude's two hundred a kernel names a few, and of clang's own four hundred macros none.
#ifndef OP2JIT_JIT_CLANG_NAMED_H
#define OP2JIT_JIT_CLANG_NAMED_H

#include <llvm/ADT/CachedHashString.h>
#include <llvm/ADT/DenseSet.h>

#include "jit/compiler.h"

namespace op2jit {

class Named {
public:
  // Knows the words of all files of the request but the prelude. They must outlive this.
  explicit Named(const compile_request &request);
  // False: words come to be by ## or across lines, so that any may be named, or the prelude is C++.
  bool is_known() const {
    return known_;
  }
  // The text with empty lines in place of those that define or declare what nobody names. What is kept is asked for what it
  // names. An #if up to its #endif is one line here, and nothing depends on its condition. The text must outlive this.
  std::string of(llvm::StringRef text);

  static bool is_prelude(const compile_file &file);

private:
  void add(llvm::StringRef text);
  bool has(llvm::StringRef word) const {
    return words_.contains(llvm::CachedHashStringRef(word));
  }
  llvm::DenseSet<llvm::CachedHashStringRef> words_;
  bool known_ = true;
};

} // namespace op2jit
#endif
