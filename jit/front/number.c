#include "jit/front/number.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- floating point, by its bits: printf and strtod follow the locale ----------------------------*/

enum { MANTISSA = 52, EXPONENT_BIAS = 1023, EXPONENT_ALL = 2047 };
static const uint64_t mantissa_mask = ((uint64_t)1 << MANTISSA) - 1;

/* A float as the double of the same value; a NaN keeps its payload in the upper bits. */
static uint64_t bits_of(enum type_code type, const void *value) {
  uint64_t bits;
  if (type == TYPE_DOUBLE) {
    memcpy(&bits, value, sizeof bits);
    return bits;
  }
  float f;
  uint32_t raw;
  memcpy(&f, value, sizeof f);
  memcpy(&raw, value, sizeof raw);
  if (f != f)
    return (uint64_t)(raw >> 31) << 63 | (uint64_t)EXPONENT_ALL << MANTISSA |
           (uint64_t)(raw & 0x7fffff) << 29;
  double d = (double)f;
  memcpy(&bits, &d, sizeof bits);
  return bits;
}

static bool bits_to(enum type_code type, uint64_t bits, void *value) {
  if (type == TYPE_DOUBLE) {
    memcpy(value, &bits, sizeof bits);
    return true;
  }
  double d;
  memcpy(&d, &bits, sizeof d);
  if (d != d) {
    uint32_t raw = (uint32_t)(bits >> 63) << 31 | 0x7f800000u | (uint32_t)(bits >> 29 & 0x7fffff);
    memcpy(value, &raw, sizeof raw);
    return (raw & 0x7fffff) != 0;
  }
  float f = (float)d;
  memcpy(value, &f, sizeof f);
  return (double)f == d;
}

static bool is_finite(uint64_t bits) {
  return (bits >> MANTISSA & EXPONENT_ALL) != EXPONENT_ALL;
}

/* "0x1.8p+0": hexadecimal digits without trailing zeros. */
static void print_hex(uint64_t bits, struct text *out) {
  uint64_t mantissa = bits & mantissa_mask;
  int exponent = (int)(bits >> MANTISSA & EXPONENT_ALL);
  text_addf(out, "%s0x%d", bits >> 63 ? "-" : "", exponent != 0);
  if (mantissa) {
    char digits[16];
    snprintf(digits, sizeof digits, "%013" PRIx64, mantissa);
    for (size_t n = 13; n > 0 && digits[n - 1] == '0'; n--)
      digits[n - 1] = '\0';
    text_addf(out, ".%s", digits);
  }
  int power = exponent ? exponent - EXPONENT_BIAS : mantissa ? 1 - EXPONENT_BIAS : 0;
  text_addf(out, "p%+d", power);
}

static void print_float(enum type_code type, const void *value, struct text *out) {
  uint64_t bits = bits_of(type, value);
  if (is_finite(bits))
    print_hex(bits, out);
  else if (bits & mantissa_mask)
    text_addf(out, "nan:%016" PRIx64, bits);
  else
    text_add(out, bits >> 63 ? "-inf" : "inf");
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool parse_bits(const char *word, uint64_t *bits) {
  *bits = 0;
  int n = 0;
  for (; n < 16 && hex_digit(word[n]) >= 0; n++)
    *bits = *bits << 4 | (uint64_t)hex_digit(word[n]);
  return n == 16 && !word[n];
}

static bool parse_hex(const char *word, uint64_t *bits) {
  uint64_t sign = *word == '-';
  word += sign;
  if (word[0] != '0' || word[1] != 'x' || (word[2] != '0' && word[2] != '1'))
    return false;
  bool normal = word[2] == '1';
  word += 3;
  uint64_t mantissa = 0;
  if (*word == '.') {
    int n = 0;
    for (word++; hex_digit(*word) >= 0 && n < 13; word++, n++)
      mantissa |= (uint64_t)hex_digit(*word) << (48 - 4 * n);
  }
  if (*word++ != 'p' || (*word != '+' && *word != '-'))
    return false;
  char *end;
  long power = strtol(word, &end, 10);
  if (*end || power < -1022 || power > 1023 || (!normal && power != (mantissa ? -1022 : 0)))
    return false;
  uint64_t exponent = normal ? (uint64_t)(power + EXPONENT_BIAS) : 0;
  *bits = sign << 63 | exponent << MANTISSA | mantissa;
  return true;
}

static bool parse_float(enum type_code type, const char *word, void *value) {
  uint64_t bits, infinity = (uint64_t)EXPONENT_ALL << MANTISSA;
  if (strcmp(word, "inf") == 0)
    return bits_to(type, infinity, value);
  if (strcmp(word, "-inf") == 0)
    return bits_to(type, infinity | (uint64_t)1 << 63, value);
  if (strncmp(word, "nan:", 4) == 0)
    return parse_bits(word + 4, &bits) && !is_finite(bits) && (bits & mantissa_mask) &&
           bits_to(type, bits, value);
  return parse_hex(word, &bits) && bits_to(type, bits, value);
}

/* ---- integers ----------------------------------------------------------------------------------*/

static bool is_unsigned(enum type_code type) {
  return !type_info(type)->is_signed;
}

static uint64_t load(enum type_code type, const void *value) {
  uint64_t bits = 0;
  size_t size = type_info(type)->size;
  memcpy(&bits, value, size); /* little-endian machines only, as is the loader */
  if (!is_unsigned(type) && size < 8 && bits >> (8 * size - 1))
    bits |= ~(uint64_t)0 << (8 * size);
  return bits;
}

static bool parse_integer(enum type_code type, const char *word, void *value) {
  char *end;
  bool negative = *word == '-';
  const char *digits = word + negative;
  if (*digits < '0' || *digits > '9' || (negative && is_unsigned(type)))
    return false;
  errno = 0;
  uint64_t bits = negative ? (uint64_t)strtoll(word, &end, 10) : strtoull(word, &end, 10);
  if (errno || *end || (!negative && !is_unsigned(type) && bits >> 63))
    return false;
  memcpy(value, &bits, type_info(type)->size);
  return load(type, value) == bits && (type != TYPE_BOOL || bits <= 1);
}

/* ---- both --------------------------------------------------------------------------------------*/

void number_print(enum type_code type, const void *value, struct text *out) {
  if (type_info(type)->is_float)
    print_float(type, value, out);
  else if (is_unsigned(type))
    text_addf(out, "%" PRIu64, load(type, value));
  else
    text_addf(out, "%" PRId64, (int64_t)load(type, value));
}

bool number_parse(enum type_code type, const char *word, void *value) {
  return type_info(type)->is_float ? parse_float(type, word, value) : parse_integer(type, word, value);
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
  if (!type_info(type)->is_float && !is_unsigned(type) && (int64_t)load(type, value) < 0) {
    /* -2147483648 is not an int to C: one less, negated. */
    text_addf(out, "(%" PRId64 "%s - 1)", (int64_t)load(type, value) + 1, suffix);
    return;
  }
  number_print(type, value, out);
  text_add(out, suffix);
}
