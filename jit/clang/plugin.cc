// The plugin's face: the table of compiler.h.
#include <clang/Basic/Version.h>

#include "accept.h"
#include "back.h"
#include "front.h"
#include "machine.h"
#include "messages.h"
#include "safely.h"

namespace op2jit {
namespace {

const char *version() {
  static const std::string full = clang::getClangFullVersion();
  return full.c_str();
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
  std::string reason;
  bool translated = false;
  const outcome came = run_safely([&] { translated = translate(*request, *output); }, reason);
  const bool in_text = output->has_errors(); // else the fault is not the text's
  if (came != outcome::done && !in_text)
    output->add(COMPILE_ERROR, "", 0, 0, "the compiler failed: " + reason);
  *result = {};
  output->fill(result, translated ? 0 : in_text ? 1 : came == outcome::no_memory ? 3 : 2);
}

void release(compile_result *result) {
  delete static_cast<Output *>(result->owner);
  *result = {};
}

constexpr compiler compiler_table = {COMPILER_ABI, "clang", version, compile, release};

} // namespace
} // namespace op2jit

extern "C" __attribute__((visibility("default"))) const compiler *op2jit_compiler() {
  return &op2jit::compiler_table;
}
