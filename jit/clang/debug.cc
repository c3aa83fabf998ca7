#include "debug.h"

#include <llvm/ADT/SmallString.h>
#include <llvm/DebugInfo/DWARF/DWARFCompileUnit.h>
#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/DebugInfo/DWARF/DWARFDebugLine.h>
#include <llvm/DebugInfo/DWARF/DWARFDebugMacro.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/raw_ostream.h>

namespace op2jit {
namespace dwarf = llvm::dwarf;
namespace path = llvm::sys::path;

std::string absolute(llvm::StringRef folder, llvm::StringRef name) {
  llvm::SmallString<256> whole(path::is_absolute(name) ? llvm::StringRef() : folder), real;
  path::append(whole, name);
  return std::string(llvm::sys::fs::real_path(whole, real) ? whole : real);
}

static void list_files(llvm::DWARFContext &context, llvm::DWARFUnit &unit, DebugUnit &out) {
  const llvm::DWARFDebugLine::LineTable *lines = context.getLineTableForUnit(&unit);
  std::string name;
  for (size_t i = 0; lines && i <= lines->Prologue.FileNames.size(); i++)
    if (lines->getFileNameByIndex(i, out.folder,
                                  llvm::DILineInfoSpecifier::FileLineInfoKind::AbsoluteFilePath, name))
      out.files.insert(absolute(out.folder, name));
}

// Those of the language's own headers are found without.
static void list_folders(llvm::DWARFContext &context, llvm::DWARFUnit &unit, DebugUnit &out) {
  const llvm::DWARFDebugLine::LineTable *lines = context.getLineTableForUnit(&unit);
  std::set<std::string> seen;
  for (size_t i = 0; lines && i < lines->Prologue.IncludeDirectories.size(); i++) {
    const std::string folder =
        absolute(out.folder, dwarf::toString(lines->Prologue.IncludeDirectories[i], ""));
    const llvm::StringRef name = folder;
    if (llvm::sys::fs::is_directory(name) && !name.starts_with("/usr/include") &&
        !name.starts_with("/usr/lib") && seen.insert(folder).second)
      out.folders.push_back(folder);
  }
}

// LLVM prints macros, and has no other access to them. Those of line 0 are the compiler's and the command line's, and so are
// the files that line 0 of the unit itself includes.
class Macros {
public:
  Macros(llvm::DWARFContext &context, llvm::DWARFUnit &unit, DebugUnit &out)
      : lines_(context.getLineTableForUnit(&unit)), out_(out) {
    const auto list =
        dwarf::toSectionOffset(unit.getUnitDIE().find({dwarf::DW_AT_macros, dwarf::DW_AT_GNU_macros}));
    const llvm::DWARFDebugMacro *all = list ? context.getDebugMacro() : nullptr;
    if (!all)
      return;
    llvm::raw_string_ostream stream(printed_);
    all->dump(stream);
    stream.flush();
    read(*list);
    out.has_macros = true;
  }

private:
  void read(uint64_t list) {
    static const char import[] = "DW_MACRO_import - import offset: 0x";
    llvm::SmallString<16> head;
    llvm::raw_svector_ostream(head) << "\n"
                                    << llvm::format("0x%08llx:", static_cast<unsigned long long>(list));
    const size_t at = printed_.find(std::string(head));
    if (at == std::string::npos || !seen_.insert(list).second)
      return;
    llvm::StringRef rest = llvm::StringRef(printed_).drop_front(at + head.size()).ltrim('\n');
    int depth = 0;
    while (!rest.empty() && !rest.starts_with("0x")) {
      llvm::StringRef line = rest.split('\n').first.trim();
      rest = rest.split('\n').second;
      uint64_t other = 0;
      depth -= line.contains("_end_file");
      if (line.consume_front(import) && !line.getAsInteger(16, other))
        read(other);
      else if (line.contains("_start_file") && depth++ == 1)
        include(line);
      else if (line.contains("_define"))
        define(line);
    }
  }
  void define(llvm::StringRef line) {
    static const char macro[] = " - lineno: 0 macro: ";
    const size_t defined = line.find(macro);
    if (defined == llvm::StringRef::npos)
      return;
    line = line.drop_front(defined + strlen(macro));
    const auto parts = line.split(' ');
    if (!line.starts_with("_") && parts.first != "linux" && parts.first != "unix")
      out_.macros.push_back(parts.first.str() + "=" + parts.second.str());
  }
  void include(llvm::StringRef line) {
    static const char number[] = " - lineno: 0 filenum: ";
    const size_t included = line.find(number);
    uint64_t index = 0;
    std::string name;
    if (included != llvm::StringRef::npos && lines_ &&
        !line.drop_front(included + strlen(number)).getAsInteger(10, index) &&
        lines_->getFileNameByIndex(index, out_.folder,
                                   llvm::DILineInfoSpecifier::FileLineInfoKind::AbsoluteFilePath, name) &&
        path::filename(name) != "stdc-predef.h") // is always there
      out_.forced.push_back(absolute(out_.folder, name));
  }

  const llvm::DWARFDebugLine::LineTable *lines_;
  DebugUnit &out_;
  std::string printed_ = "\n";
  std::set<uint64_t> seen_;
};

// The compiler may have been told to write other folders.
static DebugUnit describe(llvm::DWARFContext &context, llvm::DWARFUnit &unit, const std::string &name) {
  const llvm::DWARFDie die = unit.getUnitDIE();
  DebugUnit out;
  out.folder = dwarf::toString(die.find(dwarf::DW_AT_comp_dir), "");
  if (!path::is_absolute(out.folder)) {
    out.why = "its debug information does not say in which folder '" + name + "' is";
    return out;
  }
  out.file = absolute(out.folder, name);
  out.words = dwarf::toString(die.find(dwarf::DW_AT_producer), "");
  list_files(context, unit, out);
  list_folders(context, unit, out);
  Macros(context, unit, out);
  return out;
}

static void join(const DebugUnit &more, DebugUnit &out) {
  if (out.why.empty() && more.file != out.file)
    out.why = "the program has several sources of one name, " + out.file + " and " + more.file +
              "; compile them by different names";
  out.several |= more.words != out.words || more.macros != out.macros;
}

static void ignore(llvm::Error error) {
  llvm::consumeError(std::move(error));
}

static std::unique_ptr<llvm::DWARFContext> open_debug(const llvm::object::ObjectFile &file) {
  return llvm::DWARFContext::create(file, llvm::DWARFContext::ProcessDebugRelocations::Process, nullptr, "",
                                    ignore, ignore);
}

std::string find_place(const std::string &program, uint64_t address) {
  using Kind = llvm::DILineInfoSpecifier::FileLineInfoKind;
  auto file = llvm::object::ObjectFile::createObjectFile(program);
  if (!file) {
    llvm::consumeError(file.takeError());
    return "";
  }
  const auto context = open_debug(*file->getBinary());
  const llvm::DILineInfo line =
      context->getLineInfoForAddress({address}, llvm::DILineInfoSpecifier(Kind::AbsoluteFilePath));
  return path::is_absolute(line.FileName) ? absolute("", line.FileName) : "";
}

DebugUnit find_debug(const std::string &program, const std::string &unit) {
  DebugUnit out;
  auto file = llvm::object::ObjectFile::createObjectFile(program);
  std::unique_ptr<llvm::DWARFContext> context;
  if (file)
    context = open_debug(*file->getBinary());
  else
    llvm::consumeError(file.takeError());
  bool found = false;
  for (size_t i = 0; context && i < context->getNumCompileUnits(); i++) {
    llvm::DWARFUnit &one = *context->getUnitAtIndex(static_cast<unsigned>(i));
    if (dwarf::toString(one.getUnitDIE().find(dwarf::DW_AT_name), "") != unit)
      continue;
    const DebugUnit each = describe(*context, one, unit);
    if (found)
      join(each, out);
    else
      out = each;
    found = true;
  }
  if (!found)
    out.why = "the program has no debug information of '" + unit +
              "', which says where it is; compile with -g1, or with op2jit-c++";
  return out;
}

} // namespace op2jit
