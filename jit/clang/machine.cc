#include "machine.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/TargetParser/X86TargetParser.h>

namespace op2jit {

bool has_feature(const compile_request &request, llvm::StringRef name) {
  llvm::SmallVector<llvm::StringRef, 64> features;
  llvm::StringRef(request.features ? request.features : "").split(features, ',', -1, false);
  for (llvm::StringRef feature : features)
    if (feature.front() == '+' && feature.drop_front() == name)
      return true;
  return false;
}

static bool is_known(llvm::StringRef cpu) {
  return llvm::X86::parseTuneCPU(cpu, true) != llvm::X86::CK_None;
}

const char *known_processor(const compile_request &request) {
  if (is_known(request.cpu))
    return request.cpu;
  return llvm::StringRef(request.cpu) == "znver5" ? "znver4" : "generic"; // znver5: from clang 19 on
}

bool keeps_operations(const compile_request &request) {
  const llvm::StringRef fp(request.fp ? request.fp : "");
  return fp == "strict" || (!fp.empty() && fp.front() == 'r'); // reproducible
}

unsigned vector_width(const compile_request &request) {
  const llvm::StringRef cpu(request.cpu ? request.cpu : "");
  if (has_feature(request, "avx512f") && cpu != "skylake-avx512" && cpu != "cascadelake" &&
      cpu != "cooperlake")
    return 512;
  return has_feature(request, "avx") ? 256 : 128;
}

} // namespace op2jit
