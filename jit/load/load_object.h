/* A relocatable object, checked before anything is believed: after object_read every offset, size,
 * index and name inside it may be used without another look. */
#ifndef OP2JIT_JIT_LOAD_OBJECT_H
#define OP2JIT_JIT_LOAD_OBJECT_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "jit/load/load_extern.h"
#include "jit/load/load_machine.h"

struct object {
  const struct load_machine *machine;
  const unsigned char *bytes; /* the caller's, at any alignment */
  size_t size;
  Elf64_Shdr *sections; /* copies, aligned */
  const char **section_names;
  size_t nsections;
  Elf64_Sym *symbols;
  const char **symbol_names;
  size_t nsymbols;
};

/* OP_ERR_FILE if the bytes are not an object of that machine's that can be loaded. `bytes` must outlive the object. */
int object_read(struct object *object, const struct load_machine *machine, const void *bytes, size_t size,
                struct error *err);
void object_free(struct object *object);

/* True: the section is part of the running code. */
bool object_loads(const struct object *object, size_t section);

/* Relocations of a SHT_RELA section: how many, and one of them. Symbol and place have been checked. */
size_t object_relocations(const struct object *object, size_t section);
Elf64_Rela object_relocation(const struct object *object, size_t section, size_t number);

/* load_place.c gives an object's sections addresses, copies and links them: one region with code first, then constants, then
 * data, so that every distance fits 32 bits. */

struct placed {
  unsigned char *region; /* mmap */
  size_t bytes;
  size_t *section_offset; /* by section; meaningful for those that object_loads */
  size_t *symbol_offset;  /* by symbol: where a defined one is in the region; SIZE_MAX if it is not there */
};

/* OP_ERR_FILE: a function that is unknown, a distance that does not fit; OP_ERR_MEMORY. The region is
 * executable and no longer writable where there is code. */
int place_object(struct placed *placed, const struct object *object, struct externs *externs,
                 struct error *err);
void placed_free(struct placed *placed);

#endif
