#include "jit/load/load_machine.h"

#include <string.h>

/* A test builds this file for a processor that is not in the table. */
#ifndef OP2JIT_PROCESSOR
#if defined(__x86_64__)
#define OP2JIT_PROCESSOR "x86-64"
#elif defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OP2JIT_PROCESSOR "aarch64"
#elif defined(__riscv)
#define OP2JIT_PROCESSOR "RISC-V"
#elif defined(__powerpc64__)
#define OP2JIT_PROCESSOR "POWER"
#else
#define OP2JIT_PROCESSOR "this kind of"
#endif
#endif

static const struct load_machine *const machines[] = {&load_x86_64, &load_aarch64};
enum { MACHINES = sizeof machines / sizeof *machines };

const struct load_machine *load_machine_here(void) {
  for (int i = 0; i < MACHINES; i++)
    if (strcmp(machines[i]->name, load_processor()) == 0)
      return machines[i];
  return NULL;
}

const char *load_processor(void) {
  return OP2JIT_PROCESSOR;
}
