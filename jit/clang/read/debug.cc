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

#include <set>

namespace op2jit {
namespace dwarf = llvm::dwarf;
namespace path = llvm::sys::path;

static std::string whole_path(llvm::StringRef folder, llvm::StringRef name) {
  llvm::SmallString<256> whole(path::is_absolute(name) ? llvm::StringRef() : folder), real;
  path::append(whole, name);
  return llvm::sys::fs::real_path(whole, real) ? "" : std::string(real);
}

// Those of the language's own headers are found without.
static void list_folders(llvm::DWARFContext &context, llvm::DWARFUnit &unit, DebugUnit &out) {
  const llvm::DWARFDebugLine::LineTable *lines = context.getLineTableForUnit(&unit);
  std::set<std::string> seen;
  for (size_t i = 0; lines && i < lines->Prologue.IncludeDirectories.size(); i++) {
    const std::string folder =
        whole_path(out.folder, dwarf::toString(lines->Prologue.IncludeDirectories[i], ""));
    const llvm::StringRef name = folder;
    if (!name.empty() && !name.starts_with("/usr/include") && !name.starts_with("/usr/lib") &&
        seen.insert(folder).second)
      out.folders.push_back(folder);
  }
}

// LLVM prints macros, and has no other access to them. Those of line 0 are the compiler's and the command line's.
static void list_macros(llvm::StringRef printed, uint64_t list, std::set<uint64_t> &seen, DebugUnit &out) {
  static const char import[] = "DW_MACRO_import - import offset: 0x", macro[] = " - lineno: 0 macro: ";
  llvm::SmallString<16> head;
  llvm::raw_svector_ostream(head) << "\n" << llvm::format("0x%08llx:", static_cast<unsigned long long>(list));
  const size_t at = printed.find(head);
  if (at == llvm::StringRef::npos || !seen.insert(list).second)
    return;
  llvm::StringRef rest = printed.drop_front(at + head.size()).ltrim('\n');
  while (!rest.empty() && !rest.starts_with("0x")) {
    llvm::StringRef line = rest.split('\n').first.trim();
    rest = rest.split('\n').second;
    uint64_t other = 0;
    if (line.consume_front(import) && !line.getAsInteger(16, other))
      list_macros(printed, other, seen, out);
    const size_t defined = line.find(macro);
    if (!line.starts_with("DW_MAC") || !line.contains("_define") || defined == llvm::StringRef::npos)
      continue;
    line = line.drop_front(defined + strlen(macro));
    const auto parts = line.split(' ');
    if (!line.starts_with("_") && parts.first != "linux" && parts.first != "unix")
      out.macros.push_back(parts.first.str() + "=" + parts.second.str());
  }
}

static void find_macros(llvm::DWARFContext &context, const llvm::DWARFDie &die, DebugUnit &out) {
  const auto list = dwarf::toSectionOffset(die.find({dwarf::DW_AT_macros, dwarf::DW_AT_GNU_macros}));
  const llvm::DWARFDebugMacro *all = list ? context.getDebugMacro() : nullptr;
  if (!all)
    return;
  std::string printed = "\n";
  llvm::raw_string_ostream stream(printed);
  all->dump(stream);
  stream.flush();
  std::set<uint64_t> seen;
  list_macros(printed, *list, seen, out);
  out.has_macros = true;
}

static void describe(llvm::DWARFContext &context, llvm::DWARFUnit &unit, DebugUnit &out) {
  const llvm::DWARFDie die = unit.getUnitDIE();
  out.words = dwarf::toString(die.find(dwarf::DW_AT_producer), "");
  list_folders(context, unit, out);
  find_macros(context, die, out);
}

bool find_debug(const std::string &program, const std::string &unit, DebugUnit &out) {
  auto file = llvm::object::ObjectFile::createObjectFile(program);
  if (!file) {
    llvm::consumeError(file.takeError());
    return false;
  }
  const auto silent = [](llvm::Error error) { llvm::consumeError(std::move(error)); };
  const auto context = llvm::DWARFContext::create(
      *file->getBinary(), llvm::DWARFContext::ProcessDebugRelocations::Process, nullptr, "", silent, silent);
  bool found = false;
  for (const auto &one : context->compile_units()) {
    const llvm::DWARFDie die = one->getUnitDIE();
    const std::string name = dwarf::toString(die.find(dwarf::DW_AT_name), "");
    DebugUnit each;
    each.folder = dwarf::toString(die.find(dwarf::DW_AT_comp_dir), "");
    each.file = whole_path(each.folder, name);
    if (name != unit && (each.file.empty() || each.file != unit))
      continue;
    describe(*context, *one, each);
    if (!found)
      out = each;
    else
      out.several |= each.words != out.words || each.macros != out.macros;
    found = true;
  }
  return found;
}

} // namespace op2jit
