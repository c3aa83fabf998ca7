#include "named.h"

#include <clang/Basic/CharInfo.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>

#include <vector>

#include "front.h"

namespace op2jit {

static bool is_part(char c) {
  return clang::isAsciiIdentifierContinue(c);
}

bool Named::is_prelude(const compile_file &file) {
  return llvm::StringRef(file.name) == "op2jit_prelude.h";
}

Named::Named(const compile_request &request) {
  known_ = !is_cxx(request);
  for (int i = 0; known_ && i < request.nfiles; i++)
    if (!is_prelude(request.files[i])) {
      const llvm::StringRef text(request.files[i].text, request.files[i].length);
      known_ = !text.contains("##") && !text.contains("%:%:") && !text.contains("\?\?=\?\?=");
      for (size_t at = 0; known_ && (at = text.find("\\\n", at)) != llvm::StringRef::npos; at++)
        known_ = at == 0 || !is_part(text[at - 1]);
      add(text);
    }
}

void Named::add(llvm::StringRef text) {
  for (const char *at = text.begin(), *end = text.end(); at < end;) {
    const char *start = at;
    while (at < end && is_part(*at))
      at++;
    if (at > start)
      words_.insert(llvm::CachedHashStringRef(llvm::StringRef(start, static_cast<size_t>(at - start))));
    else
      at++;
  }
}

namespace {

// A line, or an #if with all up to its #endif. Without names it is always needed.
struct Unit {
  llvm::StringRef text;
  llvm::SmallVector<llvm::StringRef, 2> names;
  bool kept = false;

  void name_macro(llvm::StringRef line) {
    if (line.consume_front("#define "))
      names.push_back(line.take_while(is_part));
  }
  // Words that stand directly before that character; in a function's body only those that are our own.
  void name_before(llvm::StringRef line, char mark, bool own) {
    for (size_t at = line.find(mark); at != llvm::StringRef::npos; at = line.find(mark, at + 1)) {
      size_t start = at;
      while (start > 0 && is_part(line[start - 1]))
        start--;
      const llvm::StringRef word = line.slice(start, at);
      if (!word.empty() && (!own || word.starts_with("op2jit_")))
        names.push_back(word);
    }
  }
};

} // namespace

static Unit unit_at(llvm::StringRef text, size_t start) {
  Unit unit;
  const bool condition = text.substr(start).starts_with("#if");
  size_t end = text.find('\n', condition ? text.find("#endif", start) : start);
  end = end == llvm::StringRef::npos ? text.size() : end + 1;
  unit.text = text.slice(start, end);
  if (condition) {
    llvm::StringRef rest = unit.text;
    while (!rest.empty()) {
      const auto [line, more] = rest.split('\n');
      unit.name_macro(line);
      rest = more;
    }
    unit.name_before(unit.text, '(', true);
  } else if (unit.text.starts_with("#"))
    unit.name_macro(unit.text);
  else if (unit.text.starts_with("typedef"))
    unit.name_before(unit.text, ';', false);
  else
    unit.name_before(unit.text, '(', unit.text.contains('{'));
  return unit;
}

std::string Named::of(llvm::StringRef text) {
  std::vector<Unit> units;
  for (size_t at = 0; at < text.size(); at += units.back().text.size())
    units.push_back(unit_at(text, at));
  for (bool more = true; more;) {
    more = false;
    for (Unit &unit : units)
      if (!unit.kept &&
          (unit.names.empty() || llvm::any_of(unit.names, [&](llvm::StringRef one) { return has(one); }))) {
        unit.kept = more = true;
        add(unit.text);
      }
  }
  std::string out;
  for (const Unit &unit : units)
    if (unit.kept)
      out += unit.text;
    else
      out.append(unit.text.count('\n'), '\n');
  return out;
}

} // namespace op2jit
