#include "accept.h"

#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/InstrTypes.h>

namespace op2jit {

constexpr unsigned widest_vector = 64; // elements: 512 bits of bytes

static bool too_wide(const llvm::Type *type) {
  const auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector && vector->getNumElements() > widest_vector;
}

static const char *objection(const llvm::Instruction &instruction) {
  if (const auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction))
    if (call->isInlineAsm())
      return "assembler text is not in the kernel language";
  if (too_wide(instruction.getType()))
    return "a vector has more than 64 elements";
  for (const llvm::Use &operand : instruction.operands())
    if (too_wide(operand->getType()))
      return "a vector has more than 64 elements";
  return nullptr;
}

bool acceptable(const llvm::Module &module, Output &output) {
  const char *why = nullptr;
  if (!module.getModuleInlineAsm().empty())
    why = "assembler text is not in the kernel language";
  for (const llvm::GlobalVariable &variable : module.globals()) {
    if (variable.isThreadLocal())
      why = "thread-local variables are not in the kernel language";
    if (variable.getName() == "llvm.global_ctors" || variable.getName() == "llvm.global_dtors")
      why = "functions that run by themselves are not in the kernel language";
  }
  for (const llvm::Function &function : module)
    for (const llvm::Instruction &instruction : llvm::instructions(function))
      if (!why)
        why = objection(instruction);
  if (why)
    output.add(COMPILE_ERROR, "", 0, 0, why);
  return !why;
}

} // namespace op2jit
