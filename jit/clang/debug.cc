#include "flags.h"

#include <llvm/ADT/SmallString.h>
#include <llvm/DebugInfo/DWARF/DWARFCompileUnit.h>
#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/DebugInfo/DWARF/DWARFDebugLine.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Path.h>

namespace op2jit {
namespace dwarf = llvm::dwarf;
namespace path = llvm::sys::path;

std::string absolute(llvm::StringRef folder, llvm::StringRef name) {
  llvm::SmallString<256> whole(path::is_absolute(name) ? llvm::StringRef() : folder), real;
  path::append(whole, name);
  return std::string(llvm::sys::fs::real_path(whole, real) ? whole : real);
}

// The files, and the folders of those that it includes: the language's own are found without.
static void list_files(llvm::DWARFContext &context, llvm::DWARFUnit &unit, DebugUnit &out) {
  const llvm::DWARFDebugLine::LineTable *lines = context.getLineTableForUnit(&unit);
  std::set<std::string> seen;
  std::string file;
  for (size_t i = 0; lines && i <= lines->Prologue.FileNames.size(); i++)
    if (lines->getFileNameByIndex(i, out.folder,
                                  llvm::DILineInfoSpecifier::FileLineInfoKind::AbsoluteFilePath, file))
      out.files.insert(absolute(out.folder, file));
  for (size_t i = 0; lines && i < lines->Prologue.IncludeDirectories.size(); i++) {
    const std::string folder =
        absolute(out.folder, dwarf::toString(lines->Prologue.IncludeDirectories[i], ""));
    const llvm::StringRef name = folder;
    if (llvm::sys::fs::is_directory(name) && !name.starts_with("/usr/include") &&
        !name.starts_with("/usr/lib") && seen.insert(folder).second)
      out.folders.push_back(folder);
  }
}

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
  return out;
}

static void join(const DebugUnit &more, DebugUnit &out) {
  if (out.why.empty() && more.file != out.file)
    out.why = "the program has several sources of one name, " + out.file + " and " + more.file +
              "; compile them by different names";
  out.several |= more.words != out.words;
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
