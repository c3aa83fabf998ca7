/* Objects for x86-64. */
#include <string.h>

#include "jit/load/load_machine.h"

static const struct kind {
  struct load_kind is;
  bool relative;
} kinds[] = {
    [R_X86_64_64] = {{LOAD_ADDRESS, 8}, false},        [R_X86_64_PC32] = {{LOAD_NEAR, 4}, true},
    [R_X86_64_GOTPCREL] = {{LOAD_SLOT, 4}, true},      [R_X86_64_PLT32] = {{LOAD_NEAR, 4}, true},
    [R_X86_64_32] = {{LOAD_ADDRESS, 4}, false},        [R_X86_64_32S] = {{LOAD_ADDRESS, 4}, false},
    [R_X86_64_PC64] = {{LOAD_ADDRESS, 8}, true},       [R_X86_64_GOTPCRELX] = {{LOAD_SLOT, 4}, true},
    [R_X86_64_REX_GOTPCRELX] = {{LOAD_SLOT, 4}, true},
};

static const struct kind *row_of(Elf64_Xword type) {
  static const struct kind none;
  return type < sizeof kinds / sizeof *kinds ? &kinds[type] : &none;
}

static struct load_kind kind_of(Elf64_Xword type) {
  return row_of(type)->is;
}

static bool fix(const struct load_fix *f) {
  const struct kind *kind = row_of(f->type);
  const uint64_t value = f->target + (uint64_t)f->addend - (kind->relative ? f->place : 0);
  if (kind->is.width == 4 &&
      (f->type == R_X86_64_32 ? value > UINT32_MAX : (uint64_t)(int64_t)(int32_t)value != value))
    return false;
  memcpy(f->bytes, &value, kind->is.width);
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

const struct load_machine load_x86_64 = {
    .name = "x86-64", .elf = EM_X86_64, .stub_bytes = 8, .kind = kind_of, .fix = fix, .put_stub = put_stub};
