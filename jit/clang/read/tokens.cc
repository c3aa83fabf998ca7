#include "tokens.h"

#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Preprocessor.h>

namespace op2jit {

void Tokens::watch(clang::Preprocessor &preprocessor) {
  preprocessor.setTokenWatcher([this, &preprocessor](const clang::Token &token) {
    if (!token.isAnnotation() && !token.is(clang::tok::eof) &&
        !preprocessor.getSourceManager().isInSystemHeader(token.getLocation()))
      take(preprocessor, token);
  });
}

void Tokens::take(clang::Preprocessor &preprocessor, const clang::Token &token) {
  places_[token.getLocation()] = static_cast<unsigned>(items_.size());
  items_.push_back({token.getLocation(), preprocessor.getSpelling(token), token.isAtStartOfLine(),
                    token.hasLeadingSpace() || token.getLocation().isMacroID()});
}

bool Tokens::find(clang::SourceLocation at, unsigned &index) const {
  const auto found = places_.find(at);
  if (at.isInvalid() || found == places_.end())
    return false;
  index = found->second;
  return true;
}

static bool is(const std::string &text, const char *words) {
  return text.size() == 1 && strchr(words, text[0]);
}

bool Tokens::statement(clang::SourceLocation begin, clang::SourceLocation end, bool body, unsigned &from,
                       unsigned &to) const {
  if (!find(begin, from) || !find(end, to) || to < from)
    return false;
  while (from > 0 && !is(items_[from - 1].text, ";{}"))
    from--;
  int depth = 0;
  for (; to < items_.size(); to++) {
    const std::string &text = items_[to].text;
    if (body || (depth == 0 && text == ";"))
      return ++to, true;
    // What ends here may be the end of a class.
    depth += is(text, "({[") ? 1 : is(text, ")}]") && depth > 0 ? -1 : 0;
  }
  return false;
}

void Tokens::print(unsigned from, unsigned to, std::string &out) const {
  for (unsigned i = from; i < to; i++) {
    const bool macro = i > from && items_[i - 1].at.isMacroID();
    if (i > from)
      out += items_[i].first ? "\n" : items_[i].apart || macro ? " " : "";
    out += items_[i].text;
  }
  out += "\n";
}

} // namespace op2jit
