/* Names of procedures by their addresses: from the table of symbols in the file of the program, since the one that is
 * loaded with it has no names of what is not exported. */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

#include "api/fortran/fortran.h"
#include "api/fortran/text.h"
#include "base/text.h"
#include "jit/key/elf_note.h"

/* A search of a table of symbols: for the one that begins at an address, or that has one of two names; with a stem the only one
 * that is the first name, of that length, with a number, as gfortran writes `alpha.5` for one of the main program, or the other
 * name, which is flang's. */
struct wanted {
  ElfW(Addr) value;
  const char *names[2];
  int type;
  size_t stem;
};

static bool is_wanted(const struct wanted *w, const ElfW(Sym) * s, const char *name) {
  if (ELF64_ST_TYPE(s->st_info) != w->type)
    return false;
  if (w->stem) {
    const bool begins = strncmp(name, w->names[0], w->stem) == 0 && name[w->stem] == '.';
    const size_t digits = begins ? strspn(name + w->stem + 1, "0123456789") : 0;
    return (digits && !name[w->stem + 1 + digits]) || strcmp(name, w->names[1]) == 0;
  }
  return w->names[0] ? strcmp(name, w->names[0]) == 0 || strcmp(name, w->names[1]) == 0
                     : s->st_value == w->value;
}

static const char *find_in(const struct mapped *file, const ElfW(Shdr) * table, const ElfW(Shdr) * strings,
                           struct wanted *w) {
  const ElfW(Sym) *symbols = mapped_at(file, table->sh_offset, table->sh_size);
  const char *names = mapped_at(file, strings->sh_offset, strings->sh_size);
  const size_t count = table->sh_size / sizeof *symbols;
  const char *found = NULL;
  for (size_t i = 0; symbols && names && i < count; i++) {
    const ElfW(Sym) *s = &symbols[i];
    if (s->st_name < strings->sh_size && memchr(names + s->st_name, '\0', strings->sh_size - s->st_name) &&
        is_wanted(w, s, names + s->st_name)) {
      if (found)
        return NULL;
      w->value = s->st_value;
      found = names + s->st_name;
      if (!w->stem)
        break;
    }
  }
  return found;
}

static const char *find_symbol(const struct mapped *file, struct wanted *w) {
  const ElfW(Ehdr) *header = mapped_at(file, 0, sizeof *header);
  if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_shentsize != sizeof(ElfW(Shdr)))
    return NULL;
  const ElfW(Shdr) *sections = mapped_at(file, header->e_shoff, header->e_shnum * sizeof *sections);
  const char *found = NULL;
  for (int i = 0; sections && i < header->e_shnum && !found; i++)
    if (sections[i].sh_type == SHT_SYMTAB && sections[i].sh_link < header->e_shnum)
      found = find_in(file, &sections[i], &sections[sections[i].sh_link], w);
  return found;
}

/* As the source has it: gfortran writes __module_MOD_name and name.0, flang _QMmodulePname and _QFname; an external
 * procedure is name_. Both write names small. */
static void add_name(const char *symbol, struct fortran_names *out) {
  const char *begin = symbol;
  const char *of_module = strstr(symbol, "_MOD_");
  if (strncmp(symbol, "_Q", 2) == 0) {
    for (const char *c = symbol + 2; *c; c++)
      if (*c == 'P' || *c == 'F')
        begin = c + 1;
    if (symbol[2] == 'M')
      text_add_bytes(&out->module, symbol + 3, strcspn(symbol + 3, "PFS"));
  } else if (of_module) {
    begin = of_module + strlen("_MOD_");
    text_add_bytes(&out->module, symbol + 2, of_module > symbol + 2 ? (size_t)(of_module - symbol) - 2 : 0);
  }
  size_t length = strcspn(begin, ".");
  out->internal = begin[length] || strchr(symbol, 'F'); /* of flang */
  if (begin == symbol && length > 1 && begin[length - 1] == '_')
    length--;
  text_add_bytes(&out->name, begin, length);
}

/* The file that an address is of, and where that begins in memory; false: nobody knows. */
static bool open_file(const void *address, struct mapped *file, ElfW(Addr) * base) {
  Dl_info info;
  union {
    void *object;
    struct link_map *map;
  } extra = {NULL};
  if (!dladdr1(address, &info, &extra.object, RTLD_DL_LINKMAP) || !extra.map)
    return false;
  if (!mapped_open(*extra.map->l_name ? extra.map->l_name : "/proc/self/exe", file))
    return false;
  const ElfW(Ehdr) *header = mapped_at(file, 0, sizeof *header);
  *base = header && header->e_type == ET_DYN ? extra.map->l_addr : 0;
  return true;
}

void fortran_names_free(struct fortran_names *names) {
  text_free(&names->name);
  text_free(&names->module);
}

bool fortran_names(const void *address, struct fortran_names *out) {
  struct mapped file;
  ElfW(Addr) base;
  if (!open_file(address, &file, &base))
    return false;
  struct wanted wanted = {.value = (ElfW(Addr))(uintptr_t)address - base, .type = STT_FUNC};
  const char *symbol = find_symbol(&file, &wanted);
  out->value = wanted.value;
  if (symbol)
    add_name(symbol, out);
  mapped_close(&file);
  return symbol && out->name.length > 0;
}

bool fortran_symbol(const void *address, struct text *name) {
  struct fortran_names names = {0};
  const bool found = fortran_names(address, &names);
  if (found)
    text_add(name, text_str(&names.name));
  fortran_names_free(&names);
  return found;
}

const void *fortran_variable_at(const void *near, const char *module, const char *name, bool sure) {
  struct text gnu = {0}, llvm = {0};
  struct mapped file;
  ElfW(Addr) base;
  const char *symbol = NULL;
  text_addf(&gnu, "__%s_MOD_%s", module, name);
  text_addf(&llvm, "_QM%sE%s", module, name);
  struct wanted wanted = {.names = {text_str(&gnu), text_str(&llvm)}, .type = STT_OBJECT};
  if (!*module) {
    text_clear(&llvm);
    text_addf(&llvm, "_QFE%s", name);
    wanted = (struct wanted){.names = {sure ? text_str(&llvm) : name, text_str(&llvm)},
                             .type = STT_OBJECT,
                             .stem = sure ? 0 : strlen(name)};
  }
  if (open_file(near, &file, &base)) {
    symbol = find_symbol(&file, &wanted);
    mapped_close(&file);
  }
  text_free(&gnu);
  text_free(&llvm);
  const uintptr_t at = symbol ? (uintptr_t)(wanted.value + base) : 0;
  const void *found = NULL;
  memcpy(&found, &at, sizeof found);
  return found;
}
