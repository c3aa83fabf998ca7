// LLVM's intermediate form to an object.
#ifndef OP2JIT_JIT_CLANG_BACK_H
#define OP2JIT_JIT_CLANG_BACK_H

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/IR/Module.h>
#include <string>
#include <vector>

#include "jit/compiler.h"
#include "plugin.h"

namespace op2jit {

// Optimises the module and writes output.object; false if LLVM cannot, then the messages say why.
bool back_end(const compile_request &request, llvm::Module &module, Output &output);

// Kinds of processors that code is made for, as rows of one table, and what a request says about its processor.

// A form of vector functions: the letter that the processor's vector ABI has for a width, and the feature that it needs.
struct VectorForm {
  char letter;
  unsigned bits;
  const char *feature;
  bool masked; // of vectors of any length and a mask, as SVE has them; `bits` at most
};

struct Machine {
  const char *processor, *triple,
      *baseline;        // "x86-64", for clang, and the processor that has no feature beyond
  void (*initialise)(); // LLVM's parts for it
  bool (*knows)(llvm::StringRef cpu);
  // Bits of the vectors that code should use.
  unsigned (*vector_width)(const compile_request &request);
  // Words of clang's command line.
  void (*add_words)(const compile_request &request, std::vector<std::string> &words);
  // Features that code is better with, as far as LLVM has them.
  llvm::ArrayRef<const char *> wished;
  llvm::ArrayRef<VectorForm> forms; // narrow ones first
  // Was it measured how far vector functions are off (else only OP2_FP=fast has them), and how long divisions take?
  bool measured;
};
extern const Machine machine_x86_64, machine_aarch64;

// That of a request, ready to be used; of the plugin's own processor if it names none; null if this plugin has none of that
// name.
const Machine *find_machine(const compile_request &request);
const Machine &machine_of(const compile_request &request); // where it was found before

// Whether there is a vector function of that name where the code will run.
using HasFunction = bool (*)(const std::string &name);
HasFunction find_functions(const compile_request &request);

// Whether this feature is on in the request's list.
bool has_feature(const compile_request &request, llvm::StringRef name);

// The processor to tune for, of those that this clang knows.
const char *known_processor(const compile_request &request);

// Must what the code computes be the operations that the text has, whatever takes less time?
bool keeps_operations(const compile_request &request);

} // namespace op2jit

#endif
