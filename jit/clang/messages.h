// Where clang's and LLVM's own words end up: in the Output, never on stderr.
#ifndef OP2JIT_JIT_CLANG_MESSAGES_H
#define OP2JIT_JIT_CLANG_MESSAGES_H

#include <clang/Basic/Diagnostic.h>
#include <llvm/IR/DiagnosticHandler.h>

#include "plugin.h"

namespace op2jit {

// A place in a text as #line says it; without a place "" and 0. A file beside the one that includes it has no folder.
struct Spot {
  std::string file;
  unsigned line = 0, column = 0;
};
Spot spot_of(const clang::SourceManager &sources, clang::SourceLocation at);

enum class Warnings { None, All, Serious }; // as compile_request has them

// The front end's messages, with the positions that #line asks for. Warnings that are not wanted are dropped; with
// `own_files_only`, those about the main file, which is generated, too. What a pragma makes an error stays.
class FrontMessages : public clang::DiagnosticConsumer {
public:
  FrontMessages(Output &output, Warnings warnings, bool own_files_only)
      : output_(output), warnings_(warnings), own_files_only_(own_files_only) {
  }
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic &info) override;

private:
  Output &output_;
  Warnings warnings_;
  bool own_files_only_;
  bool dropped_ = false; // the last warning was dropped, and so are its notes
};

// The optimiser's and code generator's errors, and if asked for the vectorisers' remarks on loops, and what found no register.
class BackMessages : public llvm::DiagnosticHandler {
public:
  BackMessages(Output &output, bool remarks) : output_(output), remarks_(remarks) {
  }
  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override;
  bool isAnalysisRemarkEnabled(llvm::StringRef pass) const override;
  bool isMissedOptRemarkEnabled(llvm::StringRef pass) const override;
  bool isPassedOptRemarkEnabled(llvm::StringRef pass) const override;
  bool isAnyRemarkEnabled() const override {
    return remarks_;
  }

private:
  Output &output_;
  bool remarks_;
};

} // namespace op2jit
#endif
