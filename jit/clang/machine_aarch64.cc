#include <llvm-c/Target.h>
#include <llvm/TargetParser/AArch64TargetParser.h>

#include "jit/clang/back.h"

namespace op2jit {
namespace {

constexpr unsigned granule = 128; // bits that SVE's vectors are multiples of
constexpr unsigned most = 512;    // of lanes, whatever SVE has

void initialise() {
  LLVMInitializeAArch64TargetInfo();
  LLVMInitializeAArch64Target();
  LLVMInitializeAArch64TargetMC();
  LLVMInitializeAArch64AsmPrinter();
}

bool knows(llvm::StringRef cpu) {
  return bool(llvm::AArch64::parseCpu(cpu));
}

// 0: without SVE.
unsigned sve_bits(const compile_request &request) {
  unsigned bits = 0;
  llvm::StringRef list(request.features ? request.features : "");
  const size_t at = list.find(COMPILE_SVE_BITS);
  if (at != llvm::StringRef::npos)
    list.drop_front(at + llvm::StringRef(COMPILE_SVE_BITS).size()).consumeInteger(10, bits);
  return bits;
}

unsigned width(const compile_request &request) {
  return std::max(granule, std::min(most, sve_bits(request)));
}

// A char has no sign, as for all compilers there. With SVE's length known, vectors of the text have one register.
void add_words(const compile_request &request, std::vector<std::string> &words) {
  words.push_back("-fno-signed-char");
  if (const unsigned granules = sve_bits(request) / granule) {
    words.push_back("-mvscale-min=" + std::to_string(granules));
    words.push_back("-mvscale-max=" + std::to_string(granules));
  }
}

constexpr VectorForm forms[] = {{'n', granule, "neon", false}, {'s', most, "sve", true}};

} // namespace

const Machine machine_aarch64 = {
    "aarch64", "aarch64-unknown-linux-gnu", "generic", initialise, knows, width, add_words, {}, forms, false};

} // namespace op2jit
