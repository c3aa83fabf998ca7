/* Names of procedures by their addresses: from the table of symbols in the file of the program, since the one that is
 * loaded with it has no names of what is not exported. */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

#include "api/fortran/fortran.h"
#include "base/text.h"
#include "jit/key/elf_note.h"

/* The symbol that begins at `value` in a table of them; NULL: none. */
static const char *find_in(const struct mapped *file, const ElfW(Shdr) * table, const ElfW(Shdr) * strings,
                           ElfW(Addr) value) {
  const ElfW(Sym) *symbols = mapped_at(file, table->sh_offset, table->sh_size);
  const char *names = mapped_at(file, strings->sh_offset, strings->sh_size);
  const size_t count = table->sh_size / sizeof *symbols;
  for (size_t i = 0; symbols && names && i < count; i++) {
    const ElfW(Sym) *s = &symbols[i];
    if (s->st_value == value && ELF64_ST_TYPE(s->st_info) == STT_FUNC && s->st_name < strings->sh_size &&
        memchr(names + s->st_name, '\0', strings->sh_size - s->st_name))
      return names + s->st_name;
  }
  return NULL;
}

static const char *find_symbol(const struct mapped *file, ElfW(Addr) base, ElfW(Addr) address) {
  const ElfW(Ehdr) *header = mapped_at(file, 0, sizeof *header);
  if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_shentsize != sizeof(ElfW(Shdr)))
    return NULL;
  const ElfW(Shdr) *sections = mapped_at(file, header->e_shoff, header->e_shnum * sizeof *sections);
  const ElfW(Addr) value = header->e_type == ET_DYN ? address - base : address;
  const char *found = NULL;
  for (int i = 0; sections && i < header->e_shnum && !found; i++)
    if (sections[i].sh_type == SHT_SYMTAB && sections[i].sh_link < header->e_shnum)
      found = find_in(file, &sections[i], &sections[sections[i].sh_link], value);
  return found;
}

/* As the source has it: gfortran writes __module_MOD_name and name.0, flang _QMmodulePname and _QFname; an external
 * procedure is name_. Both write names small. */
static void add_name(const char *symbol, struct text *out) {
  const char *begin = symbol;
  const char *of_module = strstr(symbol, "_MOD_");
  if (strncmp(symbol, "_Q", 2) == 0) {
    for (const char *c = symbol + 2; *c; c++)
      if (*c == 'P' || *c == 'F')
        begin = c + 1;
  } else if (of_module)
    begin = of_module + strlen("_MOD_");
  size_t length = strcspn(begin, ".");
  if (begin == symbol && length > 1 && begin[length - 1] == '_')
    length--;
  text_add_bytes(out, begin, length);
}

bool fortran_symbol(const void *address, struct text *name) {
  Dl_info info;
  struct mapped file;
  union {
    void *object;
    struct link_map *map;
  } extra = {NULL};
  if (!dladdr1(address, &info, &extra.object, RTLD_DL_LINKMAP) || !extra.map)
    return false;
  if (!mapped_open(*extra.map->l_name ? extra.map->l_name : "/proc/self/exe", &file))
    return false;
  const char *symbol = find_symbol(&file, extra.map->l_addr, (ElfW(Addr))(uintptr_t)address);
  if (symbol)
    add_name(symbol, name);
  mapped_close(&file);
  return symbol && name->length > 0;
}
