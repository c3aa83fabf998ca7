/* Kinds of processors whose objects can be placed, as rows of one table: how relocations write an address, and
 * how code reaches functions that are far away. Placing (load_place.c) is the same for all. A row does not
 * depend on the processor that this runs on, so that any can be tested anywhere. */
#ifndef OP2JIT_JIT_LOAD_MACHINE_H
#define OP2JIT_JIT_LOAD_MACHINE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The target of a relocation. */
enum load_target {
  LOAD_UNKNOWN, /* the loader does not have such a relocation */
  LOAD_ADDRESS, /* the symbol, wherever it is */
  LOAD_NEAR,    /* the symbol, or its stub if it is outside of the object */
  LOAD_SLOT     /* eight bytes in memory that hold the symbol's address */
};

/* A kind of relocation: its target, and how many bytes it writes. */
struct load_kind {
  enum load_target target;
  unsigned char width;
};

/* The place and the target of a relocation; addresses as the code will see them. */
struct load_fix {
  Elf64_Xword type;
  unsigned char *bytes;
  uint64_t place, target;
  int64_t addend;
};

struct load_machine {
  const char *name; /* "x86-64" */
  Elf64_Half elf;   /* e_machine of its objects */
  size_t stub_bytes;
  struct load_kind (*kind)(Elf64_Xword type);
  /* False if the value does not fit where it is to go. */
  bool (*fix)(const struct load_fix *fix);
  /* A stub jumps to where its slot says. Both are less than two gigabytes apart. */
  void (*put_stub)(unsigned char *bytes, uint64_t place, uint64_t slot);
};

extern const struct load_machine load_x86_64, load_aarch64;

/* The one whose objects run here; NULL: this processor has none. */
const struct load_machine *load_machine_here(void);
/* "riscv64": the processor that this library is built for. */
const char *load_processor(void);

#endif
