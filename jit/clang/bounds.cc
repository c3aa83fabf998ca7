#include "bounds.h"

#include <clang/Basic/SourceManager.h>
#include <llvm/Support/CrashRecoveryContext.h>

namespace op2jit::bounds {

[[noreturn]] static void give_up(const clang::Preprocessor &preprocessor, const clang::Token &token,
                                 Output &output, const std::string &what) {
  const clang::PresumedLoc place = preprocessor.getSourceManager().getPresumedLoc(
      preprocessor.getSourceManager().getExpansionLoc(token.getLocation()));
  if (place.isValid())
    output.add(COMPILE_ERROR, place.getFilename(), place.getLine(), place.getColumn(), what);
  else
    output.add(COMPILE_ERROR, "", 0, 0, what);
  // The parser cannot be told to stop, so it is left behind with all it has.
  llvm::CrashRecoveryContext::GetCurrent()->HandleExit(1);
}

void watch(clang::Preprocessor &preprocessor, Output &output) {
  unsigned in_statement = 0, in_text = 0;
  preprocessor.setTokenWatcher([&, in_statement, in_text](const clang::Token &token) mutable {
    in_text++;
    in_statement++;
    if (token.isOneOf(clang::tok::semi, clang::tok::l_brace, clang::tok::r_brace))
      in_statement = 0;
    if (in_statement > statement)
      give_up(preprocessor, token, output,
              "a statement has more than " + std::to_string(statement) + " words; split it");
    if (in_text > text)
      give_up(preprocessor, token, output,
              "after macros the text has more than " + std::to_string(text) + " words; split the kernel");
  });
}

} // namespace op2jit::bounds
