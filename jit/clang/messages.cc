#include "messages.h"

#include <clang/Basic/DiagnosticSema.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/LexDiagnostic.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/Support/raw_ostream.h>

namespace op2jit {

static compile_severity severity_of(clang::DiagnosticsEngine::Level level) {
  return level >= clang::DiagnosticsEngine::Error     ? COMPILE_ERROR
         : level == clang::DiagnosticsEngine::Warning ? COMPILE_WARNING
         : level == clang::DiagnosticsEngine::Remark  ? COMPILE_REMARK
                                                      : COMPILE_NOTE;
}

Spot spot_of(const clang::SourceManager &sources, clang::SourceLocation at) {
  const clang::PresumedLoc place =
      at.isValid() ? sources.getPresumedLoc(sources.getExpansionLoc(at)) : clang::PresumedLoc();
  if (place.isInvalid())
    return {};
  llvm::StringRef file = place.getFilename();
  file.consume_front("./");
  return {file.str(), place.getLine(), place.getColumn()};
}

// Groups of warnings about what gives other numbers than were meant, or ends the program; not what is only unusual.
static const char *const serious[] = {"array-bounds",
                                      "division-by-zero",
                                      "fortify-source",
                                      "for-loop-analysis",
                                      "incompatible-pointer-types",
                                      "integer-overflow",
                                      "literal-conversion",
                                      "null-dereference",
                                      "parentheses",
                                      "return-stack-address",
                                      "return-type",
                                      "shift-count-negative",
                                      "shift-count-overflow",
                                      "sizeof-array-div",
                                      "sizeof-pointer-memaccess",
                                      "sometimes-uninitialized",
                                      "uninitialized",
                                      "unsequenced",
                                      "unused-comparison"};

static bool is_serious(const clang::Diagnostic &info) {
  // `abs` of a double is; of its group `fabsf` of a double and `fabs` of an int are not.
  enum { FUNCTION, OF_TYPE }; // its arguments
  const bool is_abs = info.getID() == clang::diag::warn_wrong_absolute_value_type &&
                      info.getArgKind(OF_TYPE) == clang::DiagnosticsEngine::ak_sint &&
                      !info.getArgSInt(OF_TYPE);
  return is_abs || llvm::is_contained(serious, clang::DiagnosticIDs::getWarningOptionForDiag(info.getID()));
}

void FrontMessages::HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic &info) {
  clang::DiagnosticConsumer::HandleDiagnostic(level, info);
  llvm::SmallString<256> text;
  info.FormatDiagnostic(text);
  if (output_.of_kernel && info.getID() == clang::diag::err_pp_file_not_found)
    text += "; kernels are freestanding, only math.h, stdint.h, limits.h, float.h, stdbool.h and stddef.h "
            "can be included";
  if (!info.getLocation().isValid() || !info.hasSourceManager()) {
    output_.add(severity_of(level), "", 0, 0, text);
    return;
  }
  const clang::SourceManager &sources = info.getSourceManager();
  const clang::SourceLocation place = sources.getExpansionLoc(info.getLocation());
  if (level == clang::DiagnosticsEngine::Warning)
    dropped_ = warnings_ == Warnings::None || (own_files_only_ && sources.isWrittenInMainFile(place)) ||
               (warnings_ == Warnings::Serious && !is_serious(info));
  else if (level != clang::DiagnosticsEngine::Note)
    dropped_ = false;
  if (dropped_)
    return;
  const Spot spot = spot_of(sources, place);
  output_.add(severity_of(level), spot.file, spot.line, spot.column, text);
}

bool BackMessages::isAnalysisRemarkEnabled(llvm::StringRef pass) const {
  return remarks_ && pass == "loop-vectorize";
}
bool BackMessages::isMissedOptRemarkEnabled(llvm::StringRef pass) const {
  return remarks_ && (pass == "loop-vectorize" || pass == "regalloc"); // which values found no register
}
bool BackMessages::isPassedOptRemarkEnabled(llvm::StringRef pass) const {
  return remarks_ && pass == "loop-vectorize";
}

bool BackMessages::handleDiagnostics(const llvm::DiagnosticInfo &info) {
  if (const auto *remark = llvm::dyn_cast<llvm::DiagnosticInfoOptimizationBase>(&info)) {
    // A pragma that could not be honoured comes as a warning; to the user it is one more remark.
    if (remark->isEnabled() && remarks_) {
      llvm::StringRef file;
      unsigned line = 0, column = 0;
      if (remark->isLocationAvailable()) {
        file = remark->getLocation().getRelativePath();
        file.consume_front("./");
        line = remark->getLocation().getLine();
        column = remark->getLocation().getColumn();
      }
      output_.add(COMPILE_REMARK, file, line, column, remark->getMsg());
    }
    return true;
  }
  if (info.getSeverity() == llvm::DS_Remark || info.getSeverity() == llvm::DS_Note)
    return true;
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::DiagnosticPrinterRawOStream printer(stream);
  info.print(printer);
  output_.add(info.getSeverity() == llvm::DS_Error ? COMPILE_ERROR : COMPILE_WARNING, "", 0, 0, stream.str());
  return true;
}

} // namespace op2jit
