/* Objects for aarch64, little-endian. An address is too long for one instruction: adrp has the page, and add or
 * the load itself the place in the page. A stub leads to functions beyond the reach of a branch. */
#include <string.h>

#include "jit/load/load_machine.h"

/* The part of an address that goes into the field. */
enum of { OF_ADDRESS, OF_DISTANCE, OF_PAGES };
/* The place of the field: 2, 4 or 8 bytes of data, or an instruction with the field in one piece, or in two, as
 * adr has it. */
enum form { DATA, FIELD, TWO_FIELDS };
/* The condition on the value: none, or that it has so many bits with a sign, without one, or either way. */
enum range { ANY, SIGNED, UNSIGNED, EITHER };

static const struct kind {
  Elf64_Xword type;
  struct load_kind is;
  enum of of;
  enum form form;
  /* The field has so many bits of the value, from bit `low` on, and begins in the instruction at bit `at`. */
  unsigned char low, bits, at;
  bool whole; /* the bits below `low` must be zero, for the instruction counts in such units */
  enum range range;
  unsigned char reach;
} kinds[] = {
    {R_AARCH64_ABS64, {LOAD_ADDRESS, 8}, OF_ADDRESS, DATA, 0, 0, 0, false, ANY, 0},
    {R_AARCH64_ABS32, {LOAD_ADDRESS, 4}, OF_ADDRESS, DATA, 0, 0, 0, false, EITHER, 32},
    {R_AARCH64_ABS16, {LOAD_ADDRESS, 2}, OF_ADDRESS, DATA, 0, 0, 0, false, EITHER, 16},
    {R_AARCH64_PREL64, {LOAD_ADDRESS, 8}, OF_DISTANCE, DATA, 0, 0, 0, false, ANY, 0},
    {R_AARCH64_PREL32, {LOAD_NEAR, 4}, OF_DISTANCE, DATA, 0, 0, 0, false, SIGNED, 32},
    {R_AARCH64_PREL16, {LOAD_NEAR, 2}, OF_DISTANCE, DATA, 0, 0, 0, false, SIGNED, 16},
    /* movz and movk, 16 bits each */
    {R_AARCH64_MOVW_UABS_G0, {LOAD_ADDRESS, 4}, OF_ADDRESS, FIELD, 0, 16, 5, false, UNSIGNED, 16},
    {R_AARCH64_MOVW_UABS_G0_NC, {LOAD_ADDRESS, 4}, OF_ADDRESS, FIELD, 0, 16, 5, false, ANY, 0},
    {R_AARCH64_MOVW_UABS_G1, {LOAD_ADDRESS, 4}, OF_ADDRESS, FIELD, 16, 16, 5, false, UNSIGNED, 32},
    {R_AARCH64_MOVW_UABS_G1_NC, {LOAD_ADDRESS, 4}, OF_ADDRESS, FIELD, 16, 16, 5, false, ANY, 0},
    {R_AARCH64_MOVW_UABS_G2, {LOAD_ADDRESS, 4}, OF_ADDRESS, FIELD, 32, 16, 5, false, UNSIGNED, 48},
    {R_AARCH64_MOVW_UABS_G2_NC, {LOAD_ADDRESS, 4}, OF_ADDRESS, FIELD, 32, 16, 5, false, ANY, 0},
    {R_AARCH64_MOVW_UABS_G3, {LOAD_ADDRESS, 4}, OF_ADDRESS, FIELD, 48, 16, 5, false, ANY, 0},
    /* constants near the code, and addresses */
    {R_AARCH64_LD_PREL_LO19, {LOAD_NEAR, 4}, OF_DISTANCE, FIELD, 2, 19, 5, true, SIGNED, 21},
    {R_AARCH64_ADR_PREL_LO21, {LOAD_NEAR, 4}, OF_DISTANCE, TWO_FIELDS, 0, 21, 0, false, SIGNED, 21},
    {R_AARCH64_ADR_PREL_PG_HI21, {LOAD_NEAR, 4}, OF_PAGES, TWO_FIELDS, 12, 21, 0, false, SIGNED, 33},
    {R_AARCH64_ADR_PREL_PG_HI21_NC, {LOAD_NEAR, 4}, OF_PAGES, TWO_FIELDS, 12, 21, 0, false, ANY, 0},
    {R_AARCH64_ADD_ABS_LO12_NC, {LOAD_NEAR, 4}, OF_ADDRESS, FIELD, 0, 12, 10, false, ANY, 0},
    {R_AARCH64_LDST8_ABS_LO12_NC, {LOAD_NEAR, 4}, OF_ADDRESS, FIELD, 0, 12, 10, false, ANY, 0},
    {R_AARCH64_LDST16_ABS_LO12_NC, {LOAD_NEAR, 4}, OF_ADDRESS, FIELD, 1, 11, 10, true, ANY, 0},
    {R_AARCH64_LDST32_ABS_LO12_NC, {LOAD_NEAR, 4}, OF_ADDRESS, FIELD, 2, 10, 10, true, ANY, 0},
    {R_AARCH64_LDST64_ABS_LO12_NC, {LOAD_NEAR, 4}, OF_ADDRESS, FIELD, 3, 9, 10, true, ANY, 0},
    {R_AARCH64_LDST128_ABS_LO12_NC, {LOAD_NEAR, 4}, OF_ADDRESS, FIELD, 4, 8, 10, true, ANY, 0},
    /* branches and calls */
    {R_AARCH64_TSTBR14, {LOAD_NEAR, 4}, OF_DISTANCE, FIELD, 2, 14, 5, true, SIGNED, 16},
    {R_AARCH64_CONDBR19, {LOAD_NEAR, 4}, OF_DISTANCE, FIELD, 2, 19, 5, true, SIGNED, 21},
    {R_AARCH64_JUMP26, {LOAD_NEAR, 4}, OF_DISTANCE, FIELD, 2, 26, 0, true, SIGNED, 28},
    {R_AARCH64_CALL26, {LOAD_NEAR, 4}, OF_DISTANCE, FIELD, 2, 26, 0, true, SIGNED, 28},
    /* addresses in memory */
    {R_AARCH64_GOT_LD_PREL19, {LOAD_SLOT, 4}, OF_DISTANCE, FIELD, 2, 19, 5, true, SIGNED, 21},
    {R_AARCH64_ADR_GOT_PAGE, {LOAD_SLOT, 4}, OF_PAGES, TWO_FIELDS, 12, 21, 0, false, SIGNED, 33},
    {R_AARCH64_LD64_GOT_LO12_NC, {LOAD_SLOT, 4}, OF_ADDRESS, FIELD, 3, 9, 10, true, ANY, 0},
};

static const struct kind *row_of(Elf64_Xword type) {
  static const struct kind none;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (kinds[i].type == type)
      return &kinds[i];
  return &none;
}

static struct load_kind kind_of(Elf64_Xword type) {
  return row_of(type)->is;
}

static bool is_in_range(uint64_t value, enum range range, unsigned bits) {
  if (range == ANY)
    return true;
  const uint64_t half = (uint64_t)1 << (bits - 1);
  const bool is_signed = value + half < 2 * half, is_unsigned = value < 2 * half;
  return range == SIGNED ? is_signed : range == UNSIGNED ? is_unsigned : is_signed || is_unsigned;
}

static uint32_t low_bits(uint64_t value, unsigned count) {
  return (uint32_t)(value & (((uint64_t)1 << count) - 1));
}

static uint32_t with_field(uint32_t instruction, uint32_t value, unsigned bits, unsigned at) {
  const uint32_t mask = low_bits(UINT64_MAX, bits) << at;
  return (instruction & ~mask) | (low_bits(value, bits) << at);
}

static uint64_t page_of(uint64_t address) {
  return address & ~(uint64_t)0xfff;
}

static bool fix(const struct load_fix *f) {
  const struct kind *kind = row_of(f->type);
  /* A slot holds the address of the symbol itself. */
  if (kind->is.target == LOAD_SLOT && f->addend != 0)
    return false;
  const uint64_t address = f->target + (uint64_t)f->addend;
  const uint64_t value = kind->of == OF_DISTANCE ? address - f->place
                         : kind->of == OF_PAGES  ? page_of(address) - page_of(f->place)
                                                 : address;
  if (!is_in_range(value, kind->range, kind->reach) || (kind->whole && low_bits(value, kind->low) != 0))
    return false;
  if (kind->form == DATA) {
    memcpy(f->bytes, &value, kind->is.width);
    return true;
  }
  if (f->place % 4 != 0)
    return false;
  const uint32_t field = low_bits(value >> kind->low, kind->bits);
  uint32_t instruction;
  memcpy(&instruction, f->bytes, sizeof instruction);
  if (kind->form == FIELD)
    instruction = with_field(instruction, field, kind->bits, kind->at);
  else /* the lowest two bits at 29, the others at 5 */
    instruction = with_field(with_field(instruction, field, 2, 29), field >> 2, 19, 5);
  memcpy(f->bytes, &instruction, sizeof instruction);
  return true;
}

/* x16 and x17 are those that calls may lose on their way: adrp x16, slot; ldr x17, [x16, slot]; br x17 */
static void put_stub(unsigned char *bytes, uint64_t place, uint64_t slot) {
  const uint32_t words[] = {0x90000010, 0xf9400211, 0xd61f0220, 0xd4200000 /* brk */};
  memcpy(bytes, words, sizeof words);
  const struct load_fix page = {R_AARCH64_ADR_GOT_PAGE, bytes, place, slot, 0};
  const struct load_fix rest = {R_AARCH64_LD64_GOT_LO12_NC, bytes + 4, place + 4, slot, 0};
  fix(&page);
  fix(&rest);
}

const struct load_machine load_aarch64 = {.name = "aarch64",
                                          .elf = EM_AARCH64,
                                          .stub_bytes = 16,
                                          .kind = kind_of,
                                          .fix = fix,
                                          .put_stub = put_stub};
