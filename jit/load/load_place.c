#include "jit/load/load_object.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/list.h"

enum part { PART_CODE, PART_CONST, PART_DATA, PART_COUNT };

static const size_t largest_region = (size_t)1 << 30; /* half of what 32 bits reach */
static const size_t slot_bytes = 8;
static const size_t nowhere = SIZE_MAX;

/* How code reaches a symbol that is far away; offsets in the region, or `nowhere`. */
struct way {
  bool needs_slot, needs_stub; /* its address must be in memory; it is called, and outside the object */
  size_t slot, stub;
};

/* State that is needed only while placing. */
struct work {
  const struct object *object;
  struct placed *placed;
  struct way *ways;       /* by symbol */
  size_t end[PART_COUNT]; /* of each part in the region */
  bool fits;
};

static enum part part_of(const Elf64_Shdr *section) {
  return section->sh_flags & SHF_EXECINSTR ? PART_CODE
         : section->sh_flags & SHF_WRITE   ? PART_DATA
                                           : PART_CONST;
}

static bool is_outside(const struct object *object, size_t symbol) {
  return object->symbols[symbol].st_shndx == SHN_UNDEF;
}

/* Room for `size` bytes behind what has its place; `nowhere` if the region grows too large. */
static size_t reserve(struct work *work, size_t size, size_t alignment) {
  const size_t align = alignment ? alignment : 1;
  const size_t at = (work->placed->bytes + align - 1) / align * align;
  work->fits = work->fits && at <= largest_region && size <= largest_region - at;
  if (!work->fits)
    return nowhere;
  work->placed->bytes = at + size;
  return at;
}

static void note_needs(struct work *work, size_t section) {
  const struct object *object = work->object;
  for (size_t n = 0; n < object_relocations(object, section); n++) {
    const Elf64_Rela relocation = object_relocation(object, section, n);
    const size_t symbol = ELF64_R_SYM(relocation.r_info);
    if (ELF64_R_TYPE(relocation.r_info) == R_X86_64_NONE) /* its symbol was not checked */
      continue;
    const enum load_target target = object->machine->kind(ELF64_R_TYPE(relocation.r_info)).target;
    const bool far = target == LOAD_NEAR && is_outside(object, symbol);
    work->ways[symbol].needs_stub |= far;
    work->ways[symbol].needs_slot |= far || target == LOAD_SLOT;
  }
}

static bool is_live_relocation(const struct object *object, size_t section) {
  return object->sections[section].sh_type == SHT_RELA &&
         object_loads(object, object->sections[section].sh_info);
}

/* Sections of the part, then stubs behind code, slots behind constants and common symbols behind data. */
static void lay_out_part(struct work *work, enum part part) {
  const struct object *object = work->object;
  struct placed *placed = work->placed;
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), stub_bytes = object->machine->stub_bytes;
  for (size_t i = 1; i < object->nsections; i++) {
    const Elf64_Shdr *section = &object->sections[i];
    if (object_loads(object, i) && part_of(section) == part)
      placed->section_offset[i] = reserve(work, section->sh_size, section->sh_addralign);
  }
  for (size_t s = 0; s < object->nsymbols; s++) {
    const Elf64_Sym *symbol = &object->symbols[s];
    struct way *way = &work->ways[s];
    if (part == PART_CODE && way->needs_stub)
      way->stub = reserve(work, stub_bytes, stub_bytes);
    if (part == PART_CONST && way->needs_slot)
      way->slot = reserve(work, slot_bytes, slot_bytes);
    if (part == PART_DATA && symbol->st_shndx == SHN_COMMON)
      placed->symbol_offset[s] = reserve(work, symbol->st_size, symbol->st_value);
  }
  placed->bytes = (placed->bytes + page - 1) / page * page;
  work->end[part] = placed->bytes;
}

static int lay_out(struct work *work, struct error *err) {
  const struct object *object = work->object;
  struct placed *placed = work->placed;
  for (size_t i = 1; i < object->nsections; i++)
    if (is_live_relocation(object, i))
      note_needs(work, i);
  for (size_t s = 0; s < object->nsymbols; s++)
    work->ways[s].slot = work->ways[s].stub = placed->symbol_offset[s] = nowhere;
  for (int p = 0; p < PART_COUNT; p++)
    lay_out_part(work, (enum part)p);
  for (size_t s = 0; s < object->nsymbols; s++) {
    const Elf64_Sym *symbol = &object->symbols[s];
    if (symbol->st_shndx != SHN_UNDEF && symbol->st_shndx < object->nsections &&
        object_loads(object, symbol->st_shndx))
      placed->symbol_offset[s] = placed->section_offset[symbol->st_shndx] + symbol->st_value;
  }
  if (!work->fits || placed->bytes == 0 || placed->bytes > largest_region)
    return error_set(err, OP_ERR_FILE, "the object's code and data have %zu bytes; 1 to %zu can be loaded",
                     placed->bytes, largest_region);
  return 0;
}

static void copy_sections(const struct work *work) {
  const struct object *object = work->object;
  for (size_t i = 1; i < object->nsections; i++)
    if (object_loads(object, i) && object->sections[i].sh_type != SHT_NOBITS)
      memcpy(work->placed->region + work->placed->section_offset[i],
             object->bytes + object->sections[i].sh_offset, object->sections[i].sh_size);
}

/* The address of a symbol, of the object or outside it. */
static int address_of(const struct work *work, struct externs *externs, size_t symbol, uint64_t *address,
                      struct error *err) {
  const size_t offset = work->placed->symbol_offset[symbol];
  if (offset != nowhere) {
    *address = (uint64_t)(uintptr_t)(work->placed->region + offset);
    return 0;
  }
  const char *name = work->object->symbol_names[symbol];
  *address = is_outside(work->object, symbol) ? (uint64_t)(uintptr_t)extern_find(externs, name) : 0;
  if (*address == 0)
    return error_set(err, OP_ERR_FILE,
                     "the compiled code calls \"%s\", which it may not have; kernels can call the functions "
                     "of <math.h> and their own helpers",
                     name);
  return 0;
}

static uint64_t address_in(const struct work *work, size_t offset) {
  return (uint64_t)(uintptr_t)(work->placed->region + offset);
}

static int fill_slots(const struct work *work, struct externs *externs, struct error *err) {
  for (size_t s = 0; s < work->object->nsymbols; s++) {
    const struct way *way = &work->ways[s];
    if (!way->needs_slot)
      continue;
    uint64_t address;
    int code = address_of(work, externs, s, &address, err);
    if (code)
      return code;
    memcpy(work->placed->region + way->slot, &address, sizeof address);
    if (way->needs_stub)
      work->object->machine->put_stub(work->placed->region + way->stub, address_in(work, way->stub),
                                      address_in(work, way->slot));
  }
  return 0;
}

/* The address that a relocation points at. */
static int find_target(const struct work *work, struct externs *externs, Elf64_Xword type, size_t symbol,
                       uint64_t *target, struct error *err) {
  const enum load_target kind = work->object->machine->kind(type).target;
  const struct way *way = &work->ways[symbol];
  if (kind == LOAD_SLOT || (kind == LOAD_NEAR && way->needs_stub)) {
    *target = address_in(work, kind == LOAD_SLOT ? way->slot : way->stub);
    return 0;
  }
  return address_of(work, externs, symbol, target, err);
}

static int relocate(const struct work *work, struct externs *externs, size_t section, struct error *err) {
  const struct object *object = work->object;
  const size_t target = work->placed->section_offset[object->sections[section].sh_info];
  for (size_t n = 0; n < object_relocations(object, section); n++) {
    const Elf64_Rela relocation = object_relocation(object, section, n);
    struct load_fix fix = {.type = ELF64_R_TYPE(relocation.r_info),
                           .bytes = work->placed->region + target + relocation.r_offset,
                           .place = address_in(work, target + relocation.r_offset),
                           .addend = relocation.r_addend};
    if (fix.type == R_X86_64_NONE) /* the number is the same on each */
      continue;
    const int code = find_target(work, externs, fix.type, ELF64_R_SYM(relocation.r_info), &fix.target, err);
    if (code)
      return code;
    if (!object->machine->fix(&fix))
      return error_set(
          err, OP_ERR_FILE,
          "the object has a relocation of type %llu whose value does not fit; compile the loop again",
          (unsigned long long)fix.type);
  }
  return 0;
}

/* Memory is either written or run, never both. The caches of instructions are told first. */
static int protect(const struct work *work, struct error *err) {
  unsigned char *region = work->placed->region;
  const size_t constant = work->end[PART_CODE], data = work->end[PART_CONST];
  __builtin___clear_cache((char *)region, (char *)region + constant);
  if ((constant && mprotect(region, constant, PROT_READ | PROT_EXEC) != 0) ||
      (data > constant && mprotect(region + constant, data - constant, PROT_READ) != 0))
    return error_set(err, OP_ERR_MEMORY,
                     "the system does not allow compiled code to be made executable; allow it, or run with "
                     "OP2_BACKEND=native");
  return 0;
}

static int place(struct work *work, struct externs *externs, struct error *err) {
  const struct object *object = work->object;
  struct placed *placed = work->placed;
  int code = lay_out(work, err);
  if (code)
    return code;
  void *region = mmap(NULL, placed->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (region == MAP_FAILED)
    return error_memory(err, "compiled code", placed->bytes);
  placed->region = region;
  copy_sections(work);
  code = fill_slots(work, externs, err);
  for (size_t i = 1; !code && i < object->nsections; i++)
    if (is_live_relocation(object, i))
      code = relocate(work, externs, i, err);
  return code ? code : protect(work, err);
}

int place_object(struct placed *placed, const struct object *object, struct externs *externs,
                 struct error *err) {
  struct work work = {.object = object, .placed = placed, .fits = true};
  *placed = (struct placed){
      .section_offset = array_new(object->nsections, sizeof *placed->section_offset),
      .symbol_offset = array_new(object->nsymbols, sizeof *placed->symbol_offset),
  };
  work.ways = array_new(object->nsymbols, sizeof *work.ways);
  const int code = placed->section_offset && placed->symbol_offset && work.ways
                       ? place(&work, externs, err)
                       : error_memory(err, "the tables of the loader", object->nsymbols * sizeof *work.ways);
  free(work.ways);
  if (code)
    placed_free(placed);
  return code;
}

void placed_free(struct placed *placed) {
  if (placed->region)
    munmap(placed->region, placed->bytes);
  free(placed->section_offset);
  free(placed->symbol_offset);
  *placed = (struct placed){0};
}
