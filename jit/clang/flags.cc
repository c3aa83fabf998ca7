#include "flags.h"

#include <clang/Frontend/Utils.h>
#include <clang/Lex/Preprocessor.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/Support/Allocator.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/StringSaver.h>
#include <llvm/Support/VirtualFileSystem.h>
#include <memory>
#include <sys/stat.h>

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
  flags.files = unit.files;
  if (!recorded)
    flags.folders = guess_folders(unit);
  for (const std::string &folder : flags.folders)
    flags.words.insert(flags.words.end(), {"-I", folder});
  flags.from = "the debug information of " + program;
  flags.known = recorded;
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

// Without a time of the compile that of the program's file is better than none, but no proof.
static std::string doubt_of_times(const read_request &request) {
  if (!request.compiled)
    return "its program does not say when it was compiled, and its source may be another by now";
  if (request.made && request.made < request.compiled)
    return "the program's file is older than its compile";
  return "";
}

// Writing to a file sets both of its times. Setting the first one back, or putting another file in its place, sets the second.
static void judge_time(const read_request &request, const std::string &file, Judgement &out) {
  struct stat status;
  const long long limit = request.compiled ? request.compiled : request.made;
  if (!limit || stat(file.c_str(), &status) != 0)
    return;
  const std::string compiled =
      request.compiled ? std::string(", which was compiled ") + request.when : std::string();
  if (status.st_mtime > limit)
    out.why = file + " is newer than the program" + compiled;
  else if (status.st_ctime > limit && out.doubt.empty())
    out.doubt = file + " was moved, or had its time set, after the program was made" +
                (request.compiled ? std::string(" (") + request.when + ")" : std::string());
}

static bool differ(const std::string &one, const std::string &other) {
  const auto a = llvm::MemoryBuffer::getFile(one), b = llvm::MemoryBuffer::getFile(other);
  return !a || !b || (*a)->getBuffer() != (*b)->getBuffer();
}

// Where folders of -I are not known, a file may be one that the compiler did not take.
static std::string other_of(const Flags &flags, const Doubts::Included &one) {
  if (flags.files.count(one.file) || (!one.beside.empty() && absolute(one.beside, one.name) == one.file))
    return "";
  for (const std::string &folder : flags.folders) {
    const std::string other = absolute(folder, one.name);
    if (other != one.file && llvm::sys::fs::is_regular_file(other) && differ(one.file, other))
      return other;
  }
  return "";
}

Judgement judge_sources(const read_request &request, const Flags &flags, const Doubts &read) {
  Judgement out;
  if (!request.program || !*request.program)
    return out;
  for (const std::string &file : read.files()) {
    judge_time(request, file, out);
    if (!out.why.empty())
      return out;
  }
  for (const Doubts::Included &one : read.included()) {
    const std::string other = other_of(flags, one);
    if (!other.empty()) {
      out.why = one.file + " may be " + other + " for the program's compiler; say its -I in OP2_CXXFLAGS";
      return out;
    }
  }
  if (out.doubt.empty())
    out.doubt = doubt_of_times(request);
  if (out.doubt.empty())
    out.doubt = flags.doubt;
  return out;
}

namespace {

// At first without what OP2's headers include for programs and kernels hardly need, which is most of the work. A text
// may mean something else then only by names that are not there, which is an error, or if those of std are all open.
constexpr char few_folder[] = "/op2jit/few";

// Reading a pipe may wait for ever.
class PlainFiles : public llvm::vfs::ProxyFileSystem {
public:
  PlainFiles() : ProxyFileSystem(llvm::vfs::getRealFileSystem()) {
  }
  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> openFileForRead(const llvm::Twine &path) override {
    const auto status = getUnderlyingFS().status(path);
    if (status && !status->isRegularFile())
      return std::make_error_code(std::errc::no_such_file_or_directory);
    return ProxyFileSystem::openFileForRead(path);
  }
};

llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files_for(bool few) {
  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> plain(new PlainFiles);
  if (!few)
    return plain;
  llvm::IntrusiveRefCntPtr<llvm::vfs::InMemoryFileSystem> empty(new llvm::vfs::InMemoryFileSystem);
  empty->addFile(std::string(few_folder) + "/bits/specfun.h", 0, llvm::MemoryBuffer::getMemBuffer(""));
  llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem> both(new llvm::vfs::OverlayFileSystem(plain));
  both->pushOverlay(empty);
  return both;
}

std::vector<std::string> command_line(const read_request &request, const Flags &flags, bool few) {
  std::vector<std::string> words = {std::string(OP2JIT_LLVM_PREFIX) + "/bin/clang++",
                                    "-fsyntax-only",
                                    "-x",
                                    "c++",
                                    "-DOP2JIT_READING",
                                    "-w",
                                    "-isystem",
                                    request.headers,
                                    "-isystem",
                                    std::string(request.headers) + "/.."};
  const long standard = request.standard;
  words.push_back(standard >= 202002   ? "-std=gnu++20"
                  : standard >= 201703 ? "-std=gnu++17"
                  : standard >= 201402 ? "-std=gnu++14"
                                       : "-std=gnu++11");
  if (few)
    words.insert(words.end(), {"-DOP2JIT_READING_FEW", "-isystem", few_folder});
  words.insert(words.end(), flags.words.begin(), flags.words.end());
  // Folders that a compiler's wrapper adds: no kernel has anything from there, but units include it.
  static const char *const usual[] = {"/usr/lib/x86_64-linux-gnu/openmpi/include",
                                      "/usr/include/x86_64-linux-gnu/mpich", "/usr/include/openmpi-x86_64",
                                      "/usr/include/mpich-x86_64", "/usr/include/hdf5/serial"};
  for (const char *folder : usual)
    if (llvm::sys::fs::exists(folder)) {
      words.push_back("-idirafter");
      words.push_back(folder);
    }
  words.push_back(flags.unit);
  return words;
}

// Without clang's own folder of headers, gcc's stddef.h and its like serve as well.
void add_headers_of_gcc(clang::CompilerInvocation &invocation) {
  clang::HeaderSearchOptions &search = invocation.getHeaderSearchOpts();
  if (llvm::sys::fs::exists(search.ResourceDir + "/include"))
    return;
  for (const auto &entry : search.UserEntries) {
    const size_t at = entry.Path.find("/lib/gcc/"), up = entry.Path.find("/../");
    if (at != std::string::npos && up != std::string::npos) {
      search.AddPath(entry.Path.substr(0, up) + "/include", clang::frontend::After, false, true);
      return;
    }
  }
}

} // namespace

bool begin_unit(const read_request &request, const Flags &flags, bool few,
                clang::CompilerInstance &compiler) {
  const std::vector<std::string> words = command_line(request, flags, few);
  std::vector<const char *> pointers;
  for (const std::string &word : words)
    pointers.push_back(word.c_str());
  clang::CreateInvocationOptions options;
  options.Diags = &compiler.getDiagnostics();
  std::unique_ptr<clang::CompilerInvocation> invocation = clang::createInvocation(pointers, options);
  if (!invocation)
    return false;
  add_headers_of_gcc(*invocation);
  compiler.setInvocation(std::move(invocation));
  if (few) // the first error is enough
    compiler.getDiagnostics().setErrorLimit(1);
  compiler.createFileManager(files_for(few));
  compiler.createSourceManager(compiler.getFileManager());
  if (!compiler.createTarget() || compiler.getFrontendOpts().Inputs.empty() ||
      !compiler.InitializeSourceManager(compiler.getFrontendOpts().Inputs[0]))
    return false;
  compiler.createPreprocessor(clang::TU_Complete);
  compiler.createASTContext();
  clang::Preprocessor &preprocessor = compiler.getPreprocessor();
  preprocessor.getBuiltinInfo().initializeBuiltins(preprocessor.getIdentifierTable(), compiler.getLangOpts());
  return true;
}

} // namespace op2jit
