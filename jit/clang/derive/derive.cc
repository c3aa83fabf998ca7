// The deriver's face: the table of deriver.h.
#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/Basic/SourceManager.h>

#include "jit/clang/front.h"
#include "jit/clang/messages.h"
#include "jit/clang/safely.h"
#include "trace.h"
#include "write.h"

namespace op2jit {
namespace {

struct Answer {
  Output messages;
  std::string file, name, derived, text;
  std::vector<derive_parameter> parameters;
  derive_refusal refusal = DERIVE_FINE;
  int line = 0, column = 0;
  int numbers[2] = {0, 0};
};

const clang::FunctionDecl *find_kernel(const clang::ASTContext &context, llvm::StringRef name) {
  for (const clang::Decl *declaration : context.getTranslationUnitDecl()->decls()) {
    const auto *function = llvm::dyn_cast<clang::FunctionDecl>(declaration);
    if (function && function->getIdentifier() && function->getName() == name &&
        function->isThisDeclarationADefinition())
      return function;
  }
  return nullptr;
}

void refuse(const clang::ASTContext &context, const derive::Refusal &refusal, Answer &answer) {
  const clang::SourceManager &sources = context.getSourceManager();
  const clang::PresumedLoc place = sources.getPresumedLoc(sources.getExpansionLoc(refusal.where));
  answer.refusal = refusal.what;
  answer.name = refusal.name;
  answer.numbers[0] = refusal.numbers[0];
  answer.numbers[1] = refusal.numbers[1];
  if (refusal.where.isInvalid() || place.isInvalid())
    return;
  llvm::StringRef file = place.getFilename();
  file.consume_front("./");
  answer.file = file.str();
  answer.line = static_cast<int>(place.getLine());
  answer.column = static_cast<int>(place.getColumn());
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
  if (request.mode == DERIVE_ADJOINT) {
    derive::Adjoint adjoint(trace.program(), request, in_place, derived);
    adjoint.run();
    unbounded = adjoint.unbounded();
  } else {
    derive::Tangent tangent(trace.program(), request, derived);
    if (request.mode == DERIVE_TANGENT)
      tangent.run();
    else
      tangent.run_candidates();
  }
  if (unbounded) {
    derive::Refusal refusal;
    refusal.what = DERIVE_NO_BOUND;
    refusal.where = clang::SourceLocation::getFromRawEncoding(unbounded);
    return refuse(context, refusal, answer);
  }
  derive::Writer writer(trace.program(), request, derived);
  answer.derived = std::string("op2_") + request.kernel + endings[request.mode];
  writer.run(answer.derived);
  answer.text = std::move(writer.text);
  answer.parameters = std::move(writer.parameters);
  for (derive_parameter &one : answer.parameters)
    one.zeros = one.role == DERIVE_BAR && one.argument >= 0 &&
                trace.program().zeros[static_cast<size_t>(one.argument)];
  if (static_cast<int>(answer.parameters.size()) > request.most) {
    answer.refusal = DERIVE_TOO_MANY;
    answer.numbers[0] = static_cast<int>(answer.parameters.size());
  }
}

void answer_request(const derive_request &request, const clang::ASTContext &context, Answer &answer) {
  const clang::FunctionDecl *kernel = find_kernel(context, request.kernel);
  if (!kernel || kernel->getNumParams() != parameters_of(request)) {
    answer.refusal = DERIVE_NO_KERNEL;
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
  std::string reason;
  bool parsed = false;
  if (is_cxx(text))
    answer->refusal = DERIVE_CXX;
  const auto consume = [](clang::CompilerInstance &) { return std::make_unique<clang::ASTConsumer>(); };
  const auto done = [&](clang::ASTContext &context) { answer_request(*request, context, *answer); };
  outcome came = outcome::done;
  if (answer->refusal == DERIVE_FINE)
    came = run_safely([&] { parsed = parse(text, answer->messages, consume, done); }, reason);
  else
    parsed = true;
  const bool in_text = answer->messages.has_errors();
  if (came != outcome::done && !in_text)
    answer->messages.add(COMPILE_ERROR, "", 0, 0, "the deriver failed: " + reason);
  *result = {};
  compile_result messages;
  answer->messages.fill(&messages, 0);
  result->status = came == outcome::done && parsed ? 0 : in_text ? 1 : 2;
  result->refusal = answer->refusal;
  result->file = answer->file.c_str();
  result->line = answer->line;
  result->column = answer->column;
  result->name = answer->name.c_str();
  result->numbers[0] = answer->numbers[0];
  result->numbers[1] = answer->numbers[1];
  result->derived = answer->derived.c_str();
  result->text = answer->text.c_str();
  result->parameters = answer->parameters.data();
  result->nparameters = static_cast<int>(answer->parameters.size());
  result->messages = messages.messages;
  result->nmessages = messages.nmessages;
  result->owner = answer;
}

void release(derive_result *result) {
  delete static_cast<Answer *>(result->owner);
  *result = {};
}

constexpr deriver table = {DERIVER_ABI, derive_kernel, release};

} // namespace
} // namespace op2jit

extern "C" __attribute__((visibility("default"))) const deriver *op2jit_deriver() {
  return &op2jit::table;
}
