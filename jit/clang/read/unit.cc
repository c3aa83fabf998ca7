#include "unit.h"

#include <clang/Frontend/Utils.h>
#include <clang/Lex/Preprocessor.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/VirtualFileSystem.h>

#include <memory>

namespace op2jit {
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
