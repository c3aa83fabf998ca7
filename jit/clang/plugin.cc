// The plugin's face: the table of compiler.h.
#include "plugin.h"

#include <clang/Basic/Version.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/InstrTypes.h>

#include "back.h"
#include "front.h"
#include "messages.h"

namespace op2jit {
namespace {

const char *version() {
  static const std::string full = clang::getClangFullVersion();
  return full.c_str();
}

constexpr unsigned widest_vector = 64; // elements: 512 bits of bytes

bool too_wide(const llvm::Type *type) {
  const auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector && vector->getNumElements() > widest_vector;
}

const char *objection(const llvm::Instruction &instruction) {
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

// C has a few constructs that are not in the kernel language and that LLVM would abort on, or think about for hours. False
// with an error in the messages: assembler text, thread-local variables, constructors, and vectors beyond any machine's.
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

bool translate(const compile_request &request, Output &output) {
  if (!find_machine(request)) {
    output.add(COMPILE_ERROR, "", 0, 0, std::string("this plugin makes no code for ") + request.processor);
    return false;
  }
  const double start = processor_seconds();
  Lowered own;
  Lowered &text = request.lowered ? *reinterpret_cast<Lowered *>(request.lowered) : own;
  text.is_whole = false;
  text.context.setDiagnosticHandler(std::make_unique<BackMessages>(output, request.remarks != 0));
  if (!request.lowered)
    text.module = front_end(request, text.context, output);
  output.seconds_front = processor_seconds() - start;
  const bool made =
      text.module && acceptable(*text.module, output) && back_end(request, *text.module, output);
  text.context.setDiagnosticHandler(nullptr);
  text.is_whole = true;
  return made;
}

void compile(const compile_request *request, compile_result *result) {
  auto *output = new Output;
  *result = {};
  output->fill(result, run_safely("compiler", *output, [&] { return translate(*request, *output); }));
}

void release(compile_result *result) {
  delete static_cast<Output *>(result->owner);
  *result = {};
}

constexpr compiler compiler_table = {COMPILER_ABI, "clang",       version,        compile,
                                     release,      &prover_table, &deriver_table, &reader_table};

} // namespace
} // namespace op2jit

extern "C" __attribute__((visibility("default"))) const compiler *op2jit_compiler() {
  return &op2jit::compiler_table;
}

namespace op2jit {

const char *Output::keep(llvm::StringRef text) {
  strings_.emplace_back(text.str());
  return strings_.back().c_str();
}

void Output::add(compile_severity severity, llvm::StringRef file, unsigned line, unsigned column,
                 llvm::StringRef text) {
  if (severity == COMPILE_ERROR)
    errors_++;
  messages_.push_back({severity, keep(file), static_cast<int>(line), static_cast<int>(column), keep(text)});
}

void Output::forget(size_t kept) {
  for (; messages_.size() > kept; messages_.pop_back())
    errors_ -= messages_.back().severity == COMPILE_ERROR;
}

void Output::fill(compile_result *result, int status) {
  result->status = status;
  if (status == 0) {
    result->binary = object.data();
    result->size = object.size();
  }
  give(result);
  result->seconds_front = seconds_front;
  result->seconds_middle = seconds_middle;
  result->seconds_back = seconds_back;
  result->owner = this;
}

} // namespace op2jit
