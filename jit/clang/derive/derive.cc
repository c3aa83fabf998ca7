// The deriver's face: the table of deriver.h.
#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/Basic/SourceManager.h>

#include "jit/clang/front.h"
#include "jit/clang/messages.h"
#include "trace.h"
#include "write.h"

namespace op2jit {
namespace {

struct Answer {
  Output messages;
  std::string file, name, derived, text;
  std::vector<derive_parameter> parameters;
  derive_result result = {};
};

void refuse(const clang::ASTContext &context, const derive::Refusal &refusal, Answer &answer) {
  const Spot spot = spot_of(context.getSourceManager(), refusal.where);
  answer.file = spot.file;
  answer.name = refusal.name;
  answer.result.refusal = refusal.what;
  answer.result.line = static_cast<int>(spot.line);
  answer.result.column = static_cast<int>(spot.column);
  answer.result.numbers[0] = refusal.number;
}

unsigned parameters_of(const derive_request &request) {
  unsigned count = 0;
  for (int i = 0; i < request.narguments; i++)
    count += 1 + request.arguments[i].is.counted;
  return count;
}

void derive_from(derive::Trace &trace, const derive_request &request, const clang::ASTContext &context,
                 const std::vector<bool> &in_place, Answer &answer) {
  static const char *const endings[] = {"_dot", "_bar", "_candidates"};
  derive::Derived derived;
  uint32_t unbounded = 0;
  if (request.mode == DERIVE_ADJOINT)
    unbounded = make_adjoint(trace.program(), request, in_place, derived);
  else
    make_tangent(trace.program(), request, derived);
  if (unbounded) {
    const auto where = clang::SourceLocation::getFromRawEncoding(unbounded);
    return refuse(context, {DERIVE_NO_BOUND, where}, answer);
  }
  derive::Writer writer(trace.program(), request, derived);
  answer.derived = std::string("op2_") + request.kernel + endings[request.mode];
  writer.run(answer.derived);
  answer.text = std::move(writer.text);
  answer.parameters = std::move(writer.parameters);
  for (derive_parameter &one : answer.parameters)
    one.zeros = one.role == DERIVE_BAR && one.argument >= 0 &&
                trace.program().rows[static_cast<size_t>(one.argument)]->zeros;
  if (static_cast<int>(answer.parameters.size()) > request.most) {
    answer.result.refusal = DERIVE_TOO_MANY;
    answer.result.numbers[0] = static_cast<int>(answer.parameters.size());
  }
}

void answer_request(const derive_request &request, const clang::ASTContext &context, Answer &answer) {
  const clang::FunctionDecl *kernel = find_kernel(context, request.kernel);
  if (!kernel || kernel->getNumParams() != parameters_of(request)) {
    answer.result.refusal = DERIVE_NO_KERNEL;
    return;
  }
  std::vector<bool> in_place(static_cast<size_t>(request.narguments));
  for (int again = 0; again <= request.narguments; again++) {
    derive::Trace trace(context, request, *kernel, in_place);
    trace.run();
    if (trace.again())
      continue;
    if (trace.refusal().what != DERIVE_FINE)
      return refuse(context, trace.refusal(), answer);
    return derive_from(trace, request, context, in_place, answer);
  }
}

void derive_kernel(const derive_request *request, derive_result *result) {
  auto *answer = new Answer;
  compile_request text = {};
  text.files = request->files;
  text.nfiles = request->nfiles;
  const auto consume = [](clang::CompilerInstance &) { return std::make_unique<clang::ASTConsumer>(); };
  const auto done = [&](clang::ASTContext &context) { answer_request(*request, context, *answer); };
  if (is_cxx(text))
    answer->result.refusal = DERIVE_CXX;
  else
    answer->result.status =
        run_safely("deriver", answer->messages, [&] { return parse(text, answer->messages, consume, done); });
  *result = answer->result;
  result->file = answer->file.c_str();
  result->name = answer->name.c_str();
  result->derived = answer->derived.c_str();
  result->text = answer->text.c_str();
  result->parameters = answer->parameters.data();
  result->nparameters = static_cast<int>(answer->parameters.size());
  answer->messages.give(result);
  result->owner = answer;
}

void release(derive_result *result) {
  delete static_cast<Answer *>(result->owner);
  *result = {};
}

} // namespace

const deriver deriver_table = {DERIVER_ABI, derive_kernel, release};

} // namespace op2jit
