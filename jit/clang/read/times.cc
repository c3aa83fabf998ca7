#include "times.h"

#include "debug.h"

#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>

#include <sys/stat.h>

namespace op2jit {

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

} // namespace op2jit
