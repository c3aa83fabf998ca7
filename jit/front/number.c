#include "jit/front/number.h"

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

static void put_bits(enum type_code type, uint64_t bits, void *value) {
  double d;
  memcpy(&d, &bits, sizeof d);
  const float f = (float)d;
  uint32_t raw = (uint32_t)(bits >> 63) << 31 | 0x7f800000u | (uint32_t)(bits >> 29 & narrow_mask);
  if (d == d)
    memcpy(&raw, &f, sizeof raw);
  memcpy(value, type == TYPE_DOUBLE ? (const void *)&bits : &raw, type_info(type)->size);
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

/* "0x1.8p+0": its digits as a whole number, and how many of them are behind the point. */
static double parse_hex(const char *word) {
  const char *point = strchr(word, '.'), *power = strchr(word, 'p');
  struct text digits = {0};
  text_add_bytes(&digits, word, strcspn(word, ".p"));
  if (point && power > point)
    text_add_bytes(&digits, point + 1, (size_t)(power - point - 1));
  const double whole = (double)strtoull(text_str(&digits), NULL, 16);
  text_free(&digits);
  return ldexp(whole, (int)(power ? strtol(power + 1, NULL, 10) : 0) -
                          (point && power > point ? QUARTET * (int)(power - point - 1) : 0));
}

static void parse_float(enum type_code type, const char *word, void *value) {
  const bool negative = *word == '-';
  const double d = strcmp(word + negative, "inf") == 0 ? INFINITY : parse_hex(word + negative);
  const double with_sign = negative ? -d : d;
  uint64_t bits;
  memcpy(&bits, &with_sign, sizeof bits);
  put_bits(type, strncmp(word, "nan:", 4) == 0 ? strtoull(word + 4, NULL, 16) : bits, value);
}

/* ---- integers ----------------------------------------------------------------------------------*/

static bool is_unsigned(enum type_code type) {
  return !type_info(type)->is_signed;
}

static void parse_integer(enum type_code type, const char *word, void *value) {
  const uint64_t bits = *word == '-' ? (uint64_t)strtoll(word, NULL, 10) : strtoull(word, NULL, 10);
  const uint64_t truth = bits != 0;
  memcpy(value, type == TYPE_BOOL ? &truth : &bits, type_info(type)->size);
}

/* ---- both --------------------------------------------------------------------------------------*/

void number_print(enum type_code type, const void *value, struct text *out) {
  if (type_info(type)->is_float)
    print_float(type, value, out);
  else if (is_unsigned(type))
    text_addf(out, "%" PRIu64, (uint64_t)type_bits(type, value));
  else
    text_addf(out, "%" PRId64, (int64_t)type_bits(type, value));
}

/* A value is right if it prints as the word that was parsed. */
bool number_parse(enum type_code type, const char *word, void *value) {
  struct text again = {0};
  (type_info(type)->is_float ? parse_float : parse_integer)(type, word, value);
  number_print(type, value, &again);
  const bool same = strcmp(text_str(&again), word) == 0;
  text_free(&again);
  return same;
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
  if (!type_info(type)->is_float && !is_unsigned(type) && (int64_t)type_bits(type, value) < 0) {
    /* -2147483648 is not an int to C: one less, negated. */
    text_addf(out, "(%" PRId64 "%s - 1)", (int64_t)type_bits(type, value) + 1, suffix);
    return;
  }
  number_print(type, value, out);
  text_add(out, suffix);
}
