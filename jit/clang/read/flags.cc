#include "flags.h"

#include "debug.h"

#include <llvm/ADT/SmallString.h>
#include <llvm/Support/Allocator.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/JSON.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/StringSaver.h>

namespace op2jit {
namespace path = llvm::sys::path;

static constexpr size_t most_words = 400;

static std::string absolute(llvm::StringRef folder, llvm::StringRef name) {
  llvm::SmallString<256> whole(path::is_absolute(name) ? llvm::StringRef() : folder), real;
  path::append(whole, name);
  return llvm::sys::fs::real_path(whole, real) ? std::string(whole) : std::string(real);
}

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

static std::vector<std::string> folders_of(const read_request &request) {
  std::vector<std::string> out;
  llvm::SmallVector<llvm::StringRef, 8> parts;
  llvm::StringRef(request.folders ? request.folders : "").split(parts, ':', -1, false);
  for (llvm::StringRef part : parts)
    out.push_back(part.str());
  return out;
}

// A plain file: who reads a pipe may wait for ever.
static bool is_there(const std::string &file, Flags &flags) {
  if (llvm::sys::fs::is_regular_file(file))
    return true;
  flags.absent.push_back(file);
  return false;
}

static std::string find_unit(const read_request &request, Flags &flags) {
  const llvm::StringRef name = request.unit;
  if (path::is_absolute(name))
    return is_there(name.str(), flags) ? absolute("", name) : "";
  for (const std::string &folder : folders_of(request)) {
    const std::string whole = absolute(folder, name);
    if (is_there(whole, flags))
      return whole;
  }
  return "";
}

// One way to compile the unit, and whether it made what is running: the time of the compile is in both.
struct Command {
  std::vector<std::string> words;
  bool made_it;
};

static Command command_of(const llvm::json::Object &entry, llvm::StringRef folder,
                          const read_request &request) {
  std::vector<std::string> words;
  if (const llvm::json::Array *list = entry.getArray("arguments")) {
    for (const llvm::json::Value &word : *list)
      words.push_back(word.getAsString().value_or("").str());
  } else
    words = split(entry.getString("command").value_or(""));
  std::string made = entry.getString("output").value_or("").str();
  for (size_t i = 0; i < words.size(); i++) {
    const llvm::StringRef word = words[i];
    if (word == "-o" && i + 1 < words.size())
      made = words[i + 1];
    else if (word.starts_with("-o") && word.size() > 2 && !word.starts_with("-openmp"))
      made = word.drop_front(2).str();
  }
  if (made.empty())
    made = path::stem(entry.getString("file").value_or("")).str() + ".o";
  made = absolute(folder, made);
  const llvm::StringRef when = request.when ? request.when : "";
  bool made_it = false;
  if (!when.empty() && llvm::sys::fs::is_regular_file(made))
    if (auto object = llvm::MemoryBuffer::getFile(made, false, false))
      made_it = (*object)->getBuffer().contains(when);
  return {only_meaning(words, folder), made_it};
}

// Of several entries that counts whose object has the time of this compile. Without one the file may be of another
// build.
static void choose(const std::vector<Command> &found, bool has_program, const std::string &file,
                   Flags &flags) {
  const Command *chosen = &found[0];
  for (const Command &one : found)
    if (one.made_it && !chosen->made_it)
      chosen = &one;
  flags.words = chosen->words;
  if (has_program && !chosen->made_it)
    flags.doubt = file + " may be of another build: no object that it names was made when the program was";
  for (const Command &one : found)
    if (one.made_it == chosen->made_it && one.words != chosen->words)
      flags.doubt = file + " has several ways to compile it";
}

// The entries of that unit in one compile_commands.json.
static bool from_commands(const read_request &request, const std::string &file, Flags &flags) {
  if (!is_there(file, flags))
    return false;
  auto buffer = llvm::MemoryBuffer::getFile(file);
  if (!buffer)
    return false;
  llvm::Expected<llvm::json::Value> all = llvm::json::parse((*buffer)->getBuffer());
  if (!all) {
    llvm::consumeError(all.takeError());
    return false;
  }
  const llvm::json::Array *entries = all->getAsArray();
  std::vector<Command> found;
  for (const llvm::json::Value &value : entries ? *entries : llvm::json::Array()) {
    const llvm::json::Object *entry = value.getAsObject();
    const auto folder = entry ? entry->getString("directory") : std::nullopt;
    const auto name = entry ? entry->getString("file") : std::nullopt;
    if (!folder || !name || absolute(*folder, *name) != flags.unit)
      continue;
    found.push_back(command_of(*entry, *folder, request));
  }
  if (found.empty())
    return false;
  choose(found, request.program && *request.program, file, flags);
  flags.from = file;
  flags.known = true;
  flags.files.push_back(file);
  return true;
}

static bool knows_all(const DebugUnit &unit) {
  return unit.has_macros || llvm::StringRef(unit.words).contains("-grecord-command-line");
}

// The folders of what it includes stand for those of -I, and those around them, since an include may name a folder.
static void from_debug(const DebugUnit &unit, const std::string &program, Flags &flags) {
  flags.words = only_meaning(split(unit.words), unit.folder);
  for (const std::string &macro : unit.macros)
    flags.words.push_back("-D" + macro);
  for (const std::string &folder : unit.folders)
    flags.words.insert(flags.words.end(), {"-I", folder});
  for (const std::string &folder : unit.folders)
    for (llvm::StringRef around = path::parent_path(folder); path::has_relative_path(around);
         around = path::parent_path(around)) {
      flags.words.insert(flags.words.end(), {"-I", around.str()});
      if (flags.words.size() > most_words)
        return;
    }
  flags.from = "the debug information of " + program;
  flags.known = knows_all(unit);
  if (unit.several)
    flags.doubt = "the program has several units of this source, compiled in different ways";
}

Flags find_flags(const read_request &request) {
  Flags flags;
  DebugUnit debug;
  const std::string program = request.program ? request.program : "";
  flags.unit = find_unit(request, flags);
  const bool has_debug =
      !program.empty() && find_debug(program, flags.unit.empty() ? request.unit : flags.unit, debug);
  if (flags.unit.empty() && has_debug)
    flags.unit = debug.file;
  flags.from =
      "nowhere: set OP2_CXXFLAGS, or leave a compile_commands.json beside the program, or compile with -g3";
  if (flags.unit.empty())
    return flags;
  if (request.flags && *request.flags) {
    llvm::SmallString<256> here;
    llvm::sys::fs::current_path(here);
    flags.words = only_meaning(split(request.flags), here);
    flags.from = "OP2_CXXFLAGS";
    flags.known = true;
    return flags;
  }
  // What the program itself says is nearer to it than a file that another build may have written.
  if (has_debug && knows_all(debug)) {
    from_debug(debug, program, flags);
    return flags;
  }
  std::vector<std::string> folders = folders_of(request);
  folders.push_back(path::parent_path(flags.unit).str());
  for (const std::string &folder : folders) {
    const std::string beside = folder + "/compile_commands.json",
                      built = folder + "/build/compile_commands.json";
    if (from_commands(request, beside, flags) || from_commands(request, built, flags))
      return flags;
  }
  if (has_debug)
    from_debug(debug, program, flags);
  return flags;
}

} // namespace op2jit
