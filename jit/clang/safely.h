// Run a compilation where it can do no harm: on a thread with a big stack of its own, for the front end
// recurses over expressions, and with a way back if LLVM crashes or gives up.
#ifndef OP2JIT_JIT_CLANG_SAFELY_H
#define OP2JIT_JIT_CLANG_SAFELY_H

#include <llvm/ADT/STLFunctionalExtras.h>

#include <string>

#include "plugin.h"

namespace op2jit {

enum class outcome { done, failed, no_memory };

// failed: `work` crashed or LLVM gave up, or no thread could be started; `reason` says which.
outcome run_safely(llvm::function_ref<void()> work, std::string &reason);

// The same for a text whose errors are in `output`; a failure of `who` becomes one more. The status of a compile_result.
int run_safely(const char *who, Output &output, llvm::function_ref<bool()> work);

} // namespace op2jit
#endif
