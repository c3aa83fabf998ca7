// Conditions of the preprocessor that the program's compiler may have decided otherwise: where its flags are not known, those
// that test a name which nothing here defines.
#ifndef OP2JIT_JIT_CLANG_DOUBTS_H
#define OP2JIT_JIT_CLANG_DOUBTS_H

#include <clang/Basic/SourceLocation.h>

#include <set>
#include <string>
#include <vector>

#include "needs.h"
#include "tokens.h"

namespace clang {
class Preprocessor;
} // namespace clang

namespace op2jit {

class Doubts {
public:
  // Collects from now on. With `known` flags there are none but of what compilers themselves define.
  void watch(clang::Preprocessor &preprocessor, bool known, bool is_gcc);
  // Files of the project that were opened.
  const std::set<std::string> &files() const {
    return files_;
  }
  // The same, as #include names them.
  struct Included {
    std::string file, name;
    std::string beside; // the folder of the file that includes it, if that comes first
  };
  const std::vector<Included> &included() const {
    return included_;
  }
  // The first condition that these statements depend on, in words; "" if there is none.
  std::string about(const Scope &scope, const std::set<unsigned> &statements) const;

private:
  friend class DoubtsCallbacks;
  struct Condition {
    clang::FileID file;
    unsigned begin, end;
    std::string name, place;
    bool doubtful;
    std::set<std::string> hidden; // macros that its skipped lines define
  };
  std::vector<Condition> conditions_;
  std::set<std::string> files_;
  std::vector<Included> included_;
};

} // namespace op2jit
#endif
