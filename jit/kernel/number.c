#include "jit/kernel/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- floating point: printf and strtod follow the locale -----------------------------------------*/

enum { MANTISSA = 52, EXPONENT_ALL = 2047, QUARTET = 4 };
static const uint64_t mantissa_mask = ((uint64_t)1 << MANTISSA) - 1;
static const uint32_t narrow_mask = 0x7fffff;

/* A float as the double of the same value; a NaN keeps its payload in the upper bits. */
static uint64_t bits_of(enum type_code type, const void *value) {
  uint64_t bits;
  uint32_t raw;
  double d = type_number(type, value);
  memcpy(&raw, value, sizeof raw);
  memcpy(&bits, type == TYPE_DOUBLE ? value : (const void *)&d, sizeof bits);
  return type == TYPE_DOUBLE || d == d ? bits
                                       : (uint64_t)(raw >> 31) << 63 | (uint64_t)EXPONENT_ALL << MANTISSA |
                                             (uint64_t)(raw & narrow_mask) << 29;
}

static bool is_finite(uint64_t bits) {
  return (bits >> MANTISSA & EXPONENT_ALL) != EXPONENT_ALL;
}

void number_add(struct text *out, const char *printed) {
  bool pointed = false;
  for (const char *c = printed; *c; c++)
    if (strchr("0123456789abcdefinpx+-", *c))
      text_add_char(out, *c);
    else if (!pointed) {
      text_add_char(out, '.');
      pointed = true;
    }
}

static void print_float(enum type_code type, const void *value, struct text *out) {
  const uint64_t bits = bits_of(type, value);
  char digits[40];
  if (!is_finite(bits) && bits & mantissa_mask)
    text_addf(out, "nan:%016" PRIx64, bits);
  else {
    snprintf(digits, sizeof digits, "%a", type_number(type, value));
    number_add(out, digits);
  }
}

double number_read_hex(const char *word) {
  const bool negative = *word == '-';
  const char *point = strchr(word, '.'), *power = strchr(word, 'p');
  struct text digits = {0};
  word += negative;
  text_add_bytes(&digits, word, strcspn(word, ".p"));
  if (point && power > point)
    text_add_bytes(&digits, point + 1, (size_t)(power - point - 1));
  const double whole = (double)strtoull(text_str(&digits), NULL, 16);
  text_free(&digits);
  const int behind_point = point && power > point ? (int)(power - point - 1) : 0;
  return ldexp(negative ? -whole : whole,
               (int)(power ? strtol(power + 1, NULL, 10) : 0) - QUARTET * behind_point);
}

/* ---- both --------------------------------------------------------------------------------------*/

void number_print(enum type_code type, const void *value, struct text *out) {
  if (type_info(type)->is_float)
    print_float(type, value, out);
  else if (!type_info(type)->is_signed)
    text_addf(out, "%" PRIu64, (uint64_t)type_bits(type, value));
  else
    text_addf(out, "%" PRId64, (int64_t)type_bits(type, value));
}

static void print_special(enum type_code type, uint64_t bits, struct text *out) {
  const char *suffix = type == TYPE_FLOAT ? "f" : "", *sign = bits >> 63 ? "-" : "";
  uint64_t payload = bits & mantissa_mask & ~((uint64_t)1 << (MANTISSA - 1));
  if (type == TYPE_FLOAT)
    payload >>= 29;
  if (!(bits & mantissa_mask))
    text_addf(out, "(%s__builtin_inf%s())", sign, suffix);
  else
    text_addf(out, "(%s__builtin_nan%s(\"0x%" PRIx64 "\"))", sign, suffix, payload);
}

void number_print_c(enum type_code type, const void *value, struct text *out) {
  static const char *const suffixes[TYPE_COUNT] = {
      [TYPE_FLOAT] = "f", [TYPE_UINT] = "u", [TYPE_LONGLONG] = "ll", [TYPE_ULONGLONG] = "ull"};
  if (type_info(type)->is_float && !is_finite(bits_of(type, value))) {
    print_special(type, bits_of(type, value), out);
    return;
  }
  const char *suffix = suffixes[type] ? suffixes[type] : "";
  if (!type_info(type)->is_float && type_info(type)->is_signed && (int64_t)type_bits(type, value) < 0) {
    /* -2147483648 is not an int to C: one less, negated. */
    text_addf(out, "(%" PRId64 "%s - 1)", (int64_t)type_bits(type, value) + 1, suffix);
    return;
  }
  number_print(type, value, out);
  text_add(out, suffix);
}
