#include "tokens.h"

#include <clang/Lex/Preprocessor.h>

#include <algorithm>

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
    // A bracket that closes here without an opening one may end a class.
    depth += is(text, "({[") ? 1 : is(text, ")}]") && depth > 0 ? -1 : 0;
  }
  return false;
}

static void begin_line(const clang::SourceManager &sources, clang::SourceLocation at, std::string &out,
                       std::vector<LineOrigin> &origins) {
  const clang::PresumedLoc place = sources.getPresumedLoc(sources.getExpansionLoc(at));
  if (place.isInvalid())
    return;
  const auto line = static_cast<unsigned>(std::count(out.begin(), out.end(), '\n')) + 1;
  const LineOrigin *last = origins.empty() ? nullptr : &origins.back();
  if (!last || last->file != place.getFilename() || place.getLine() - last->file_line != line - last->line)
    origins.push_back({line, place.getFilename(), place.getLine()});
  out.append(place.getColumn() - 1, ' ');
}

void Tokens::print(unsigned from, unsigned to, const clang::SourceManager &sources,
                   const std::set<clang::SourceLocation> &constant, std::string &out,
                   std::vector<LineOrigin> &origins) const {
  for (unsigned i = from; i < to; i++) {
    const bool macro = i > from && items_[i - 1].at.isMacroID(), begins = i == from || items_[i].first;
    if (begins) {
      out += i > from ? "\n" : "";
      begin_line(sources, items_[i].at, out, origins);
    } else
      out += items_[i].apart || macro ? " " : "";
    out += (constant.count(items_[i].at) ? "const " : "") + items_[i].text;
  }
  out += "\n";
}

} // namespace op2jit
