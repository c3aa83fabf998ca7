#include "flags.h"

#include "debug.h"

#include <llvm/ADT/SmallString.h>
#include <llvm/Support/Allocator.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/StringSaver.h>

namespace op2jit {
namespace path = llvm::sys::path;

static constexpr size_t most_folders = 200;

static std::vector<std::string> split(llvm::StringRef line) {
  llvm::BumpPtrAllocator memory;
  llvm::StringSaver saver(memory);
  llvm::SmallVector<const char *, 64> words;
  llvm::cl::TokenizeGNUCommandLine(line, saver, words);
  return std::vector<std::string>(words.begin(), words.end());
}

// Those that say what a text means, with folders made absolute.
static std::vector<std::string> only_meaning(const std::vector<std::string> &words, llvm::StringRef folder) {
  static const char *const paths[] = {"-I",       "-isystem",  "-iquote",   "-idirafter",
                                      "-include", "-isysroot", "--sysroot="};
  static const char *const plain[] = {"-D", "-U"};
  static const char *const whole[] = {
      "-std=",    "-nostdinc",       "-nostdinc++",   "-stdlib=", "--gcc-toolchain=",
      "-fopenmp", "-funsigned-char", "-fsigned-char", "-DNDEBUG", "-m32"};
  std::vector<std::string> out;
  for (size_t i = 0; i < words.size(); i++) {
    llvm::StringRef word = words[i];
    const auto take = [&](const char *option, bool is_path) {
      if (!word.starts_with(option))
        return false;
      const std::string value = word.size() > strlen(option) ? word.drop_front(strlen(option)).str()
                                : i + 1 < words.size()       ? words[++i]
                                                             : "";
      const bool joined = llvm::StringRef(option).ends_with("=");
      out.push_back(joined ? option + value : option);
      if (!joined)
        out.push_back(is_path && !(option == paths[4] && !path::is_absolute(value) &&
                                   !llvm::sys::fs::exists(absolute(folder, value)))
                          ? absolute(folder, value)
                          : value);
      return true;
    };
    bool taken = false;
    for (const char *option : paths)
      taken = taken || take(option, true);
    for (const char *option : plain)
      taken = taken || take(option, false);
    for (const char *option : whole)
      if (!taken && word.starts_with(option)) {
        out.push_back(word.str());
        taken = true;
      }
  }
  return out;
}

// The folders of what it includes stand for those of -I, and those around them, since an include may name a folder.
static std::vector<std::string> guess_folders(const DebugUnit &unit) {
  std::vector<std::string> out = unit.folders;
  for (const std::string &folder : unit.folders)
    for (llvm::StringRef around = path::parent_path(folder);
         path::has_relative_path(around) && out.size() < most_folders; around = path::parent_path(around))
      out.push_back(around.str());
  return out;
}

static void from_debug(const DebugUnit &unit, const std::string &program, Flags &flags) {
  const bool recorded = llvm::StringRef(unit.words).contains("-grecord-command-line");
  flags.words = only_meaning(split(unit.words), unit.folder);
  for (const std::string &macro : unit.macros)
    flags.words.push_back("-D" + macro);
  for (const std::string &file : unit.forced)
    flags.words.insert(flags.words.end(), {"-include", file});
  flags.files = unit.files;
  if (!recorded)
    flags.folders = guess_folders(unit);
  for (const std::string &folder : flags.folders)
    flags.words.insert(flags.words.end(), {"-I", folder});
  flags.from = "the debug information of " + program;
  flags.known = recorded || unit.has_macros;
  if (unit.several)
    flags.doubt = "the program has several units of this source, compiled in different ways";
}

// A source without a program is the one that was asked for, here.
static DebugUnit find_source(const read_request &request) {
  if (*request.program)
    return find_debug(request.program, request.unit);
  DebugUnit unit;
  llvm::SmallString<256> here;
  llvm::sys::fs::current_path(here);
  unit.folder = std::string(here);
  unit.file = absolute(unit.folder, request.unit);
  return unit;
}

Flags find_flags(const read_request &request) {
  const DebugUnit unit = find_source(request);
  Flags flags;
  flags.unit = unit.file;
  flags.why = unit.why;
  // A plain file: who reads a pipe may wait for ever.
  if (flags.why.empty() && !llvm::sys::fs::is_regular_file(flags.unit))
    flags.why = "the source " + flags.unit +
                " is not there as a file; op2jit-c++ puts the texts of kernels into the program";
  if (!flags.why.empty())
    return flags;
  if (*request.flags) {
    flags.words = only_meaning(split(request.flags), unit.folder);
    flags.from = "OP2_CXXFLAGS";
    flags.known = true;
  } else if (*request.program)
    from_debug(unit, request.program, flags);
  else
    flags.from = "nowhere: name them behind --";
  return flags;
}

} // namespace op2jit
