#include <llvm-c/Target.h>
#include <llvm/TargetParser/X86TargetParser.h>

#include "jit/clang/back.h"

namespace op2jit {
namespace {

void initialise() {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
}

bool knows(llvm::StringRef cpu) {
  return llvm::X86::parseTuneCPU(cpu, true) != llvm::X86::CK_None;
}

// 512 where the processor has them and does not slow down for them, which of those that clang names only Skylake's server
// forms do.
unsigned width(const compile_request &request) {
  const llvm::StringRef cpu(request.cpu ? request.cpu : "");
  if (has_feature(request, "avx512f") && cpu != "skylake-avx512" && cpu != "cascadelake" &&
      cpu != "cooperlake")
    return 512;
  return has_feature(request, "avx") ? 256 : 128;
}

void add_words(const compile_request &request, std::vector<std::string> &words) {
  words.push_back(width(request) == 512 ? "-mprefer-vector-width=512" : "-mprefer-vector-width=256");
}

// Generated code loads rows and turns them in registers; where LLVM sees a chance it would use gather instructions
// in their place, which take longer (docs/decisions/18-lanes.md).
#if LLVM_VERSION_MAJOR >= 18
constexpr const char *wished[] = {"+prefer-no-gather", "+prefer-no-scatter"};
#else
constexpr llvm::ArrayRef<const char *> wished;
#endif

constexpr VectorForm forms[] = {{'b', 128, "sse2", false},
                                {'c', 256, "avx", false},
                                {'d', 256, "avx2", false},
                                {'e', 512, "avx512f", false}};

} // namespace

const Machine machine_x86_64 = {
    "x86-64", "x86_64-unknown-linux-gnu", "x86-64", initialise, knows, width, add_words, wished, forms, true};

} // namespace op2jit
