#include "machine.h"

#include <llvm/ADT/SmallVector.h>

#include <mutex>
#include <set>

namespace op2jit {

bool has_feature(const compile_request &request, llvm::StringRef name) {
  llvm::SmallVector<llvm::StringRef, 64> features;
  llvm::StringRef(request.features ? request.features : "").split(features, ',', -1, false);
  for (llvm::StringRef feature : features)
    if (feature.front() == '+' && feature.drop_front() == name)
      return true;
  return false;
}

const Machine &machine_of(const compile_request &request) {
  return *find_machine(request);
}

void initialise(const Machine &machine) {
  static std::mutex one_by_one;
  static std::set<const Machine *> done;
  const std::lock_guard<std::mutex> lock(one_by_one);
  if (done.insert(&machine).second)
    machine.initialise();
}

const char *known_processor(const compile_request &request) {
  if (machine_of(request).knows(request.cpu))
    return request.cpu;
  return llvm::StringRef(request.cpu) == "znver5" ? "znver4" : "generic"; // znver5: from clang 19 on
}

bool keeps_operations(const compile_request &request) {
  const llvm::StringRef fp(request.fp ? request.fp : "");
  return fp == "strict" || (!fp.empty() && fp.front() == 'r'); // reproducible
}

unsigned vector_width(const compile_request &request) {
  return machine_of(request).vector_width(request);
}

} // namespace op2jit
