/* Objects for x86-64. */
#include <string.h>

#include "jit/load/load_machine.h"

static const struct kind {
  unsigned char width;
  enum load_target target;
  bool relative;
} kinds[] = {
    [R_X86_64_64] = {8, LOAD_ADDRESS, false},        [R_X86_64_PC32] = {4, LOAD_NEAR, true},
    [R_X86_64_GOTPCREL] = {4, LOAD_SLOT, true},      [R_X86_64_PLT32] = {4, LOAD_NEAR, true},
    [R_X86_64_32] = {4, LOAD_ADDRESS, false},        [R_X86_64_32S] = {4, LOAD_ADDRESS, false},
    [R_X86_64_PC64] = {8, LOAD_ADDRESS, true},       [R_X86_64_GOTPCRELX] = {4, LOAD_SLOT, true},
    [R_X86_64_REX_GOTPCRELX] = {4, LOAD_SLOT, true},
};

static const struct kind *find(Elf64_Xword type) {
  static const struct kind none;
  return type < sizeof kinds / sizeof *kinds ? &kinds[type] : &none;
}

static enum load_target target(Elf64_Xword type) {
  return find(type)->target;
}

static size_t width(Elf64_Xword type) {
  return find(type)->width;
}

static bool fix(const struct load_fix *f) {
  const struct kind *kind = find(f->type);
  const uint64_t value = f->target + (uint64_t)f->addend - (kind->relative ? f->place : 0);
  if (kind->width == 4 &&
      (f->type == R_X86_64_32 ? value > UINT32_MAX : (uint64_t)(int64_t)(int32_t)value != value))
    return false;
  memcpy(f->bytes, &value, kind->width);
  return true;
}

/* jmp *slot(%rip) */
static void put_stub(unsigned char *bytes, uint64_t place, uint64_t slot) {
  const int32_t distance = (int32_t)(slot - (place + 6));
  bytes[0] = 0xff;
  bytes[1] = 0x25;
  memcpy(bytes + 2, &distance, sizeof distance);
  bytes[6] = bytes[7] = 0xcc;
}

const struct load_machine load_x86_64 = {.name = "x86-64",
                                         .elf = EM_X86_64,
                                         .stub_bytes = 8,
                                         .target = target,
                                         .width = width,
                                         .fix = fix,
                                         .put_stub = put_stub};
