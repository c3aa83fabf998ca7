#include "jit/load/load_object.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"

/* No kernel comes near these; a damaged size does. */
static const size_t largest_section = (size_t)1 << 29;
static const size_t largest_alignment = 4096;

static int damaged(struct error *err, const char *what) {
  return error_set(err, OP_ERR_FILE,
                   "the object is damaged: %s; remove the cache entry, so that the loop is compiled again",
                   what);
}
static int unsupported(struct error *err, const char *what, const char *name) {
  return error_set(err, OP_ERR_FILE, "the object needs %s (%s), which kernels cannot have", what, name);
}

static bool inside(const struct object *object, Elf64_Off offset, Elf64_Xword size) {
  return offset <= object->size && size <= object->size - offset;
}

/* The string at `offset` of string section `strings`, or NULL. */
static const char *string_at(const struct object *object, size_t strings, size_t offset) {
  const Elf64_Shdr *section = &object->sections[strings];
  if (section->sh_type != SHT_STRTAB || offset >= section->sh_size)
    return NULL;
  const char *text = (const char *)object->bytes + section->sh_offset + offset;
  return memchr(text, 0, section->sh_size - offset) ? text : NULL;
}

static int read_header(const struct object *object, Elf64_Ehdr *header, struct error *err) {
  if (object->size < sizeof *header)
    return damaged(err, "it is shorter than a header");
  memcpy(header, object->bytes, sizeof *header);
  if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_ident[EI_DATA] != ELFDATA2LSB || header->e_type != ET_REL ||
      header->e_machine != object->machine->elf) {
    struct text what = {0};
    text_addf(&what, "it is not a relocatable %s ELF object", object->machine->name);
    const int code = damaged(err, text_str(&what));
    text_free(&what);
    return code;
  }
  if (header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shnum == 0 ||
      !inside(object, header->e_shoff, (Elf64_Xword)header->e_shnum * sizeof(Elf64_Shdr)) ||
      header->e_shstrndx >= header->e_shnum)
    return damaged(err, "its section table is not inside it");
  return 0;
}

static int check_section(const struct object *object, size_t i, struct error *err) {
  const Elf64_Shdr *section = &object->sections[i];
  const char *name = object->section_names[i];
  if (section->sh_type == SHT_NOBITS ? section->sh_size > largest_section
                                     : !inside(object, section->sh_offset, section->sh_size))
    return damaged(err, "a section is not inside it");
  if (section->sh_addralign > largest_alignment || (section->sh_addralign & (section->sh_addralign - 1)) != 0)
    return damaged(err, "a section's alignment is not a power of two");
  if (section->sh_flags & SHF_TLS)
    return unsupported(err, "thread-local variables", name);
  if (section->sh_type == SHT_INIT_ARRAY || section->sh_type == SHT_FINI_ARRAY ||
      section->sh_type == SHT_PREINIT_ARRAY || strncmp(name, ".ctors", 6) == 0 ||
      strncmp(name, ".dtors", 6) == 0)
    return unsupported(err, "constructors", name);
  if ((section->sh_flags & SHF_ALLOC) && (section->sh_flags & SHF_COMPRESSED))
    return unsupported(err, "compressed code", name);
  if ((section->sh_flags & SHF_WRITE) && (section->sh_flags & SHF_EXECINSTR))
    return unsupported(err, "code that can be written", name);
  return 0;
}

static int read_sections(struct object *object, const Elf64_Ehdr *header, struct error *err) {
  object->nsections = header->e_shnum;
  object->sections = array_new(object->nsections, sizeof *object->sections);
  object->section_names = array_new(object->nsections, sizeof *object->section_names);
  if (!object->sections || !object->section_names)
    return error_memory(err, "the sections of an object", object->nsections * sizeof *object->sections);
  memcpy(object->sections, object->bytes + header->e_shoff, object->nsections * sizeof *object->sections);
  /* The names' own section must be sound before a name is read. */
  const Elf64_Shdr *names = &object->sections[header->e_shstrndx];
  if (names->sh_type != SHT_STRTAB || !inside(object, names->sh_offset, names->sh_size))
    return damaged(err, "the section names are not inside it");
  for (size_t i = 0; i < object->nsections; i++) {
    object->section_names[i] = string_at(object, header->e_shstrndx, object->sections[i].sh_name);
    if (!object->section_names[i])
      return damaged(err, "a section has no name");
    int code = check_section(object, i, err);
    if (code)
      return code;
  }
  return 0;
}

static int check_symbol(const struct object *object, size_t i, struct error *err) {
  const Elf64_Sym *symbol = &object->symbols[i];
  const unsigned type = ELF64_ST_TYPE(symbol->st_info);
  if (type == STT_TLS)
    return unsupported(err, "a thread-local variable", object->symbol_names[i]);
  if (type == STT_GNU_IFUNC)
    return unsupported(err, "an indirect function", object->symbol_names[i]);
  if (symbol->st_shndx == SHN_COMMON)
    return symbol->st_size > largest_section || symbol->st_value > largest_alignment ||
                   (symbol->st_value & (symbol->st_value - 1)) != 0
               ? damaged(err, "a common symbol's size or alignment is impossible")
               : 0;
  if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS)
    return 0;
  if (symbol->st_shndx >= object->nsections)
    return damaged(err, "a symbol is in no section");
  const Elf64_Shdr *section = &object->sections[symbol->st_shndx];
  if (symbol->st_value > section->sh_size || symbol->st_size > section->sh_size - symbol->st_value)
    return damaged(err, "a symbol is not inside its section");
  return 0;
}

static int read_symbols(struct object *object, struct error *err) {
  size_t table = 0;
  for (size_t i = 1; i < object->nsections; i++)
    if (object->sections[i].sh_type == SHT_SYMTAB) {
      if (table)
        return damaged(err, "it has two symbol tables");
      table = i;
    }
  if (!table)
    return damaged(err, "it has no symbols");
  const Elf64_Shdr *section = &object->sections[table];
  if (section->sh_entsize != sizeof(Elf64_Sym) || section->sh_size % sizeof(Elf64_Sym) != 0 ||
      section->sh_link >= object->nsections)
    return damaged(err, "its symbol table has an impossible shape");
  object->nsymbols = section->sh_size / sizeof(Elf64_Sym);
  object->symbols = array_new(object->nsymbols, sizeof *object->symbols);
  object->symbol_names = array_new(object->nsymbols, sizeof *object->symbol_names);
  if (!object->symbols || !object->symbol_names)
    return error_memory(err, "the symbols of an object", object->nsymbols * sizeof *object->symbols);
  memcpy(object->symbols, object->bytes + section->sh_offset, object->nsymbols * sizeof *object->symbols);
  for (size_t i = 0; i < object->nsymbols; i++) {
    object->symbol_names[i] = string_at(object, section->sh_link, object->symbols[i].st_name);
    if (!object->symbol_names[i])
      return damaged(err, "a symbol has no name");
    int code = check_symbol(object, i, err);
    if (code)
      return code;
  }
  return 0;
}

bool object_loads(const struct object *object, size_t i) {
  const Elf64_Shdr *section = &object->sections[i];
  /* Unwind tables are for exceptions and for debuggers without debug information; nothing here throws. */
  return (section->sh_flags & SHF_ALLOC) && section->sh_size > 0 && section->sh_type != SHT_NOTE &&
         section->sh_type != SHT_X86_64_UNWIND && strcmp(object->section_names[i], ".eh_frame") != 0;
}

size_t object_relocations(const struct object *object, size_t section) {
  return object->sections[section].sh_size / sizeof(Elf64_Rela);
}

Elf64_Rela object_relocation(const struct object *object, size_t section, size_t number) {
  Elf64_Rela relocation;
  memcpy(&relocation, object->bytes + object->sections[section].sh_offset + number * sizeof relocation,
         sizeof relocation);
  return relocation;
}

static int check_relocations(const struct object *object, size_t i, struct error *err) {
  const Elf64_Shdr *section = &object->sections[i];
  if (section->sh_info >= object->nsections)
    return damaged(err, "relocations belong to no section");
  if (!object_loads(object, section->sh_info))
    return 0;
  const Elf64_Shdr *target = &object->sections[section->sh_info];
  if (section->sh_type == SHT_REL || target->sh_type == SHT_NOBITS)
    return damaged(err, "it has relocations of a kind that compilers do not write");
  if (section->sh_entsize != sizeof(Elf64_Rela) || section->sh_size % sizeof(Elf64_Rela) != 0)
    return damaged(err, "its relocations have an impossible shape");
  for (size_t n = 0; n < object_relocations(object, i); n++) {
    const Elf64_Rela relocation = object_relocation(object, i, n);
    const Elf64_Xword type = ELF64_R_TYPE(relocation.r_info);
    const struct load_kind kind = object->machine->kind(type);
    if (type == R_X86_64_NONE) /* the number is the same on each */
      continue;
    if (kind.target == LOAD_UNKNOWN)
      return error_set(err, OP_ERR_FILE,
                       "the object has a relocation of type %llu, which the loader does "
                       "not have; compile the loop again",
                       (unsigned long long)type);
    if (relocation.r_offset > target->sh_size || kind.width > target->sh_size - relocation.r_offset)
      return damaged(err, "a relocation is outside its section");
    if (ELF64_R_SYM(relocation.r_info) >= object->nsymbols)
      return damaged(err, "a relocation names no symbol");
  }
  return 0;
}

int object_read(struct object *object, const struct load_machine *machine, const void *bytes, size_t size,
                struct error *err) {
  *object = (struct object){.machine = machine, .bytes = bytes, .size = size};
  Elf64_Ehdr header;
  int code = read_header(object, &header, err);
  if (!code)
    code = read_sections(object, &header, err);
  if (!code)
    code = read_symbols(object, err);
  for (size_t i = 1; !code && i < object->nsections; i++)
    if (object->sections[i].sh_type == SHT_RELA || object->sections[i].sh_type == SHT_REL)
      code = check_relocations(object, i, err);
  if (code)
    object_free(object);
  return code;
}

void object_free(struct object *object) {
  free(object->sections);
  free(object->section_names);
  free(object->symbols);
  free(object->symbol_names);
  *object = (struct object){0};
}
