#include "doubts.h"

#include <clang/Basic/SourceManager.h>
#include <clang/Lex/HeaderSearch.h>
#include <clang/Lex/Lexer.h>
#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/Preprocessor.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/Path.h>

#include <map>

namespace op2jit {

// Macros to which each compile gives another value.
static bool is_of_the_compile(llvm::StringRef name) {
  return name == "__FILE__" || name == "__BASE_FILE__" || name == "__DATE__" || name == "__TIME__" ||
         name == "__TIMESTAMP__" || name == "__COUNTER__" || name == "__INCLUDE_LEVEL__";
}

class DoubtsCallbacks : public clang::PPCallbacks {
public:
  DoubtsCallbacks(Doubts &doubts, clang::Preprocessor &preprocessor, bool known, bool is_gcc)
      : doubts_(doubts), preprocessor_(preprocessor), sources_(preprocessor.getSourceManager()),
        known_(known), is_gcc_(is_gcc) {
  }
  void FileChanged(clang::SourceLocation at, FileChangeReason reason, clang::SrcMgr::CharacteristicKind kind,
                   clang::FileID) override {
    if (reason != EnterFile || kind != clang::SrcMgr::C_User)
      return;
    const auto entry = sources_.getFileEntryRefForID(sources_.getFileID(at));
    if (!entry)
      return;
    const std::string file = entry->getFileEntry().tryGetRealPathName().str();
    doubts_.files_.insert(file);
    const clang::SourceLocation name = sources_.getIncludeLoc(sources_.getFileID(at));
    if (name.isValid() && name.isFileID())
      include(file, name);
  }
  void MacroExpands(const clang::Token &name, const clang::MacroDefinition &, clang::SourceRange range,
                    const clang::MacroArgs *) override {
    const clang::SourceLocation at = sources_.getExpansionLoc(range.getBegin());
    if (!is_of_the_compile(word(name)) || sources_.isInSystemHeader(at))
      return;
    doubts_.conditions_.push_back(condition_at(at));
    Doubts::Condition &made = doubts_.conditions_.back();
    made.end = made.begin;
    made.name = word(name);
    made.doubtful = true;
  }
  void Ifdef(clang::SourceLocation at, const clang::Token &name, const clang::MacroDefinition &) override {
    begin(at, {word(name)}, false);
  }
  void Ifndef(clang::SourceLocation at, const clang::Token &name, const clang::MacroDefinition &) override {
    begin(at, {word(name)}, true);
  }
  void If(clang::SourceLocation at, clang::SourceRange condition, ConditionValueKind) override {
    begin(at, words(condition), false);
  }
  void Elif(clang::SourceLocation, clang::SourceRange condition, ConditionValueKind,
            clang::SourceLocation opened) override {
    const auto found = open_.find(opened);
    if (condition.isValid() && found != open_.end())
      test(doubts_.conditions_[found->second], words(condition));
  }
  void Endif(clang::SourceLocation at, clang::SourceLocation opened) override {
    const auto found = open_.find(opened);
    if (found != open_.end())
      doubts_.conditions_[found->second].end = sources_.getFileOffset(at);
  }
  void SourceRangeSkipped(clang::SourceRange range, clang::SourceLocation) override {
    const clang::SourceLocation from = range.getBegin();
    if (sources_.isInSystemHeader(from) || doubts_.conditions_.empty())
      return;
    llvm::StringRef text = clang::Lexer::getSourceText(clang::CharSourceRange::getCharRange(range), sources_,
                                                       preprocessor_.getLangOpts());
    std::set<std::string> hidden;
    while (!text.empty()) {
      llvm::StringRef line = text.split('\n').first.trim();
      text = text.split('\n').second;
      if (!line.consume_front("#"))
        continue;
      line = line.ltrim();
      if (line.consume_front("define") || line.consume_front("undef"))
        hidden.insert(line.ltrim().take_while([](char c) { return llvm::isAlnum(c) || c == '_'; }).str());
    }
    const clang::FileID file = sources_.getFileID(from);
    const unsigned offset = sources_.getFileOffset(from);
    for (Doubts::Condition &condition : doubts_.conditions_)
      if (condition.file == file && condition.begin <= offset && condition.end >= offset)
        condition.hidden.insert(hidden.begin(), hidden.end());
  }

private:
  Doubts::Condition condition_at(clang::SourceLocation at) const {
    const clang::PresumedLoc place = sources_.getPresumedLoc(at);
    const std::string words = std::string(place.getFilename()) + ":" + std::to_string(place.getLine());
    return {sources_.getFileID(at), sources_.getFileOffset(at), ~0u, "", words, false, {}};
  }
  void include(const std::string &file, clang::SourceLocation at) {
    const auto from = sources_.getFileEntryRefForID(sources_.getFileID(at));
    llvm::StringRef name = sources_.getCharacterData(at);
    const bool quoted = name.consume_front("\"");
    if (from && (quoted || name.consume_front("<")))
      doubts_.included_.push_back(
          {file, name.take_until([&](char c) { return c == (quoted ? '"' : '>') || c == '\n'; }).str(),
           quoted ? llvm::sys::path::parent_path(from->getFileEntry().tryGetRealPathName()).str() : ""});
  }
  static std::string word(const clang::Token &name) {
    return name.getIdentifierInfo() ? name.getIdentifierInfo()->getName().str() : "";
  }
  std::vector<std::string> words(clang::SourceRange range) const {
    llvm::StringRef text = clang::Lexer::getSourceText(clang::CharSourceRange::getTokenRange(range), sources_,
                                                       preprocessor_.getLangOpts());
    std::vector<std::string> found;
    while (!text.empty()) {
      const llvm::StringRef name = text.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
      if (!name.empty() && !llvm::isDigit(name[0]) && name != "defined" && name != "true" &&
          name != "false" && name != "and" && name != "or" && name != "not")
        found.push_back(name.str());
      text = text.drop_front(std::max<size_t>(name.size(), 1));
    }
    return found;
  }
  // Names that may depend on a compiler's own version, language or options.
  bool is_doubtful(const std::string &name) const {
    const clang::IdentifierInfo *identifier = preprocessor_.getIdentifierInfo(name);
    const bool defined = preprocessor_.getMacroInfo(identifier) != nullptr;
    const bool reserved = llvm::StringRef(name).starts_with("_");
    if (name == "__clang__" || name == "__clang_major__")
      return is_gcc_;
    static const char *const certain[] = {
        "__cplusplus",          "__GNUC__", "__CUDACC__", "__HIPCC__", "__NVCC__",  "__HIPSYCL__",
        "__SYCL_DEVICE_ONLY__", "_MSC_VER", "_WIN32",     "WIN32",     "__APPLE__", "__INTEL_COMPILER"};
    if (llvm::is_contained(certain, name))
      return false;
    return !defined && (!known_ || reserved);
  }
  void test(Doubts::Condition &condition, const std::vector<std::string> &names) const {
    for (const std::string &name : names)
      if (!condition.doubtful && is_doubtful(name)) {
        condition.doubtful = true;
        condition.name = name;
      }
  }
  void begin(clang::SourceLocation at, const std::vector<std::string> &names, bool may_guard) {
    if (sources_.isInSystemHeader(at) || !at.isFileID())
      return;
    Doubts::Condition condition = condition_at(at);
    if (!may_guard || !is_first(condition))
      test(condition, names);
    open_[at] = doubts_.conditions_.size();
    doubts_.conditions_.push_back(condition);
  }
  // A header that guards itself begins with it.
  bool is_first(const Doubts::Condition &condition) const {
    if (condition.file == sources_.getMainFileID())
      return false;
    llvm::StringRef before = sources_.getBufferData(condition.file).take_front(condition.begin);
    for (;;) {
      before = before.ltrim();
      if (before.consume_front("//"))
        before = before.split('\n').second;
      else if (before.consume_front("/*"))
        before = before.split("*/").second;
      else
        return before.empty() || before == "#";
    }
  }

  Doubts &doubts_;
  clang::Preprocessor &preprocessor_;
  clang::SourceManager &sources_;
  bool known_, is_gcc_;
  std::map<clang::SourceLocation, size_t> open_;
};

void Doubts::watch(clang::Preprocessor &preprocessor, bool known, bool is_gcc) {
  preprocessor.addPPCallbacks(std::make_unique<DoubtsCallbacks>(*this, preprocessor, known, is_gcc));
}

namespace {

// Which parts of which files a text comes from.
struct Extent {
  unsigned first = ~0u, last = 0;
};
struct Sources {
  std::map<clang::FileID, Extent> files;
  std::set<std::pair<clang::FileID, unsigned>>
      points; // of macros, and of the #includes that brought the files
  std::set<std::string> words;
};

void add_point(const clang::SourceManager &sources, clang::SourceLocation at, Sources &out) {
  const auto place = sources.getDecomposedLoc(at);
  out.points.insert({place.first, place.second});
}

void add_statement(const Scope &scope, unsigned from, Sources &out) {
  const clang::SourceManager &sources = scope.context().getSourceManager();
  std::map<clang::FileID, Extent> files; // a statement's own: what is between two of them is neither's
  for (unsigned i = from; i < scope.at(from).to; i++) {
    const clang::SourceLocation at = scope.tokens().at(i);
    const auto place = sources.getDecomposedExpansionLoc(at);
    Extent &extent = files[place.first];
    extent.first = std::min(extent.first, place.second);
    extent.last = std::max(extent.last, place.second);
    if (at.isMacroID())
      add_point(sources, sources.getSpellingLoc(at), out);
    out.words.insert(scope.tokens().text(i));
    for (clang::SourceLocation from_there = sources.getIncludeLoc(place.first); from_there.isValid();
         from_there = sources.getIncludeLoc(sources.getFileID(from_there)))
      add_point(sources, from_there, out);
  }
  for (const auto &file : files) {
    out.points.insert({file.first, file.second.first});
    Extent &all = out.files[file.first];
    all.first = std::min(all.first, file.second.first);
    all.last = std::max(all.last, file.second.last);
  }
}

} // namespace

std::string Doubts::about(const Scope &scope, const std::set<unsigned> &statements) const {
  for (unsigned from : statements) {
    Sources sources;
    add_statement(scope, from, sources);
    for (const Condition &condition : conditions_) {
      if (!condition.doubtful)
        continue;
      bool meets = false;
      const auto file = sources.files.find(condition.file);
      if (file != sources.files.end())
        meets = condition.begin <= file->second.last && condition.end >= file->second.first;
      for (const auto &point : sources.points)
        meets |=
            point.first == condition.file && condition.begin <= point.second && point.second <= condition.end;
      for (const std::string &name : condition.hidden)
        meets |= sources.words.count(name) > 0;
      if (meets && is_of_the_compile(condition.name))
        return "its text has '" + condition.name + "' (" + condition.place +
               "), which each compile may make another of";
      if (meets)
        return "its text depends on whether '" + condition.name + "' is defined (" + condition.place +
               "), and which -D the program was compiled with is not known; say it in OP2_CXXFLAGS";
    }
  }
  return "";
}

} // namespace op2jit
