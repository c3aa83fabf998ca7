/* Names of procedures by their addresses: from the table of symbols in the file of the program, since the one that is
 * loaded with it has no names of what is not exported. */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/fortran/fortran.h"
#include "base/text.h"

struct file {
  const unsigned char *bytes;
  size_t size;
};

static bool map_file(const char *path, struct file *out) {
  struct stat state;
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  void *bytes = MAP_FAILED;
  if (fd >= 0 && fstat(fd, &state) == 0 && state.st_size > 0)
    bytes = mmap(NULL, (size_t)state.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (fd >= 0)
    close(fd);
  if (bytes == MAP_FAILED)
    return false;
  *out = (struct file){bytes, (size_t)state.st_size};
  return true;
}

/* `count` things of `size` bytes lie in the file at `offset`. */
static const void *part(const struct file *file, uint64_t offset, uint64_t count, size_t size) {
  if (offset > file->size || count > (file->size - offset) / size)
    return NULL;
  return file->bytes + offset;
}

/* The symbol that begins at `value` in a table of them; NULL: none. */
static const char *find_in(const struct file *file, const ElfW(Shdr) * table, const ElfW(Shdr) * strings,
                           ElfW(Addr) value) {
  const ElfW(Sym) *symbols = part(file, table->sh_offset, table->sh_size, 1);
  const char *names = part(file, strings->sh_offset, strings->sh_size, 1);
  const size_t count = table->sh_size / sizeof *symbols;
  for (size_t i = 0; symbols && names && i < count; i++) {
    const ElfW(Sym) *s = &symbols[i];
    if (s->st_value == value && ELF64_ST_TYPE(s->st_info) == STT_FUNC && s->st_name < strings->sh_size &&
        memchr(names + s->st_name, '\0', strings->sh_size - s->st_name))
      return names + s->st_name;
  }
  return NULL;
}

static const char *find_symbol(const struct file *file, ElfW(Addr) base, ElfW(Addr) address) {
  const ElfW(Ehdr) *header = part(file, 0, 1, sizeof *header);
  if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_shentsize != sizeof(ElfW(Shdr)))
    return NULL;
  const ElfW(Shdr) *sections = part(file, header->e_shoff, header->e_shnum, sizeof *sections);
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
  struct file file;
  union {
    void *object;
    struct link_map *map;
  } extra = {NULL};
  if (!dladdr1(address, &info, &extra.object, RTLD_DL_LINKMAP) || !extra.map)
    return false;
  if (!map_file(*extra.map->l_name ? extra.map->l_name : "/proc/self/exe", &file))
    return false;
  const char *symbol = find_symbol(&file, extra.map->l_addr, (ElfW(Addr))(uintptr_t)address);
  if (symbol)
    add_name(symbol, name);
  munmap((void *)(uintptr_t)file.bytes, file.size);
  return symbol && name->length > 0;
}
