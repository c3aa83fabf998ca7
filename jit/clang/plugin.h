// The result of one compilation: the object, the messages, and the strings that they point to. The C
// side holds it through compile_result::owner until release().
#ifndef OP2JIT_JIT_CLANG_PLUGIN_H
#define OP2JIT_JIT_CLANG_PLUGIN_H

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>

#include <ctime>
#include <deque>
#include <string>
#include <vector>

#include "jit/compiler.h"

namespace op2jit {

extern const prover prover_table;
extern const deriver deriver_table;
extern const reader reader_table;

// Processor time of the thread that compiles: a thread of lowest priority may have to wait for a processor for long.
inline double processor_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

class Output {
public:
  void add(compile_severity severity, llvm::StringRef file, unsigned line, unsigned column,
           llvm::StringRef text);
  // All messages but the first `kept` ones.
  void forget(size_t kept);
  bool has_errors() const {
    return errors_ > 0;
  }

  const std::vector<compile_message> &messages() const {
    return messages_;
  }
  // As results of the plugin's have them, which point into this object.
  template <class Result> void give(Result *result) {
    result->messages = messages_.data();
    result->nmessages = static_cast<int>(messages_.size());
  }

  bool of_kernel = true; // of a text that was written as a kernel, not of a program's source
  llvm::SmallVector<char, 0> object;
  double seconds_front = 0, seconds_middle = 0, seconds_back = 0;

  // `status` as in compile_result; the result points into this object.
  void fill(compile_result *result, int status);

private:
  const char *keep(llvm::StringRef text);
  std::deque<std::string> strings_;
  std::vector<compile_message> messages_;
  unsigned errors_ = 0;
};

// ---- safely.cc: runs a compilation where it can do no harm: on a thread with a big stack of its own, for the front end
// recurses over expressions, and with a way back if LLVM crashes or gives up.

enum class outcome { done, failed, no_memory };

// failed: `work` crashed or LLVM gave up, or no thread could be started; `reason` says which.
outcome run_safely(llvm::function_ref<void()> work, std::string &reason);

// The same for a text whose errors are in `output`; a failure of `who` becomes one more. The status of a compile_result.
int run_safely(const char *who, Output &output, llvm::function_ref<bool()> work);

} // namespace op2jit
#endif
