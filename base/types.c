#include "types.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/structs.h"
#include "op2jit.h"
#include "text.h"

const struct type_info types_of_c[TYPE_COUNT] = {
    [TYPE_NONE] = {"unknown", NULL, 0, false, false, NULL, 0},
    [TYPE_DOUBLE] = {"double", NULL, sizeof(double), true, true, NULL, 0},
    [TYPE_FLOAT] = {"float", NULL, sizeof(float), true, true, NULL, 0},
    [TYPE_INT] = {"int", NULL, sizeof(int), false, true, NULL, 0},
    [TYPE_UINT] = {"unsigned int", "uint", sizeof(unsigned), false, false, NULL, 0},
    [TYPE_LONGLONG] = {"long long", "ll", sizeof(long long), false, true, NULL, 0},
    [TYPE_ULONGLONG] = {"unsigned long long", "ull", sizeof(unsigned long long), false, false, NULL, 0},
    [TYPE_BOOL] = {"bool", NULL, sizeof(bool), false, false, NULL, 0},
    [TYPE_CHAR] = {"char", NULL, sizeof(char), false, (char)-1 < 0, NULL, 0},
    [TYPE_SHORT] = {"short", NULL, sizeof(short), false, true, NULL, 0},
};

const char *type_names(void) {
  return "double, float, int, unsigned int (uint), long long (ll), unsigned long long (ull), bool, char, "
         "short";
}

const char *type_names_in_fortran(void) {
  return "\"real(8)\", \"real(4)\", \"integer(4)\", \"integer(8)\", \"logical\", \"logical(1)\"; names that "
         "the "
         "program has for kinds are not known here";
}

const char *type_said(enum type_code code, bool fortran) {
  static const char *const names[TYPE_COUNT] = {[TYPE_DOUBLE] = "real(8)",
                                                [TYPE_FLOAT] = "real(4)",
                                                [TYPE_INT] = "integer(4)",
                                                [TYPE_LONGLONG] = "integer(8)",
                                                [TYPE_BOOL] = "logical(1)"};
  const char *name = fortran && (unsigned)code < TYPE_COUNT ? names[code] : NULL;
  return name ? name : type_info(code)->name;
}

/* Names of these types in other languages. The nearest name in C would be another type. */
static const struct {
  const char *other;
  enum type_code code;
} elsewhere[] = {{"float64", TYPE_DOUBLE},    {"f64", TYPE_DOUBLE},       {"real(8)", TYPE_DOUBLE},
                 {"real*8", TYPE_DOUBLE},     {"real8", TYPE_DOUBLE},     {"r8", TYPE_DOUBLE},
                 {"float32", TYPE_FLOAT},     {"f32", TYPE_FLOAT},        {"real(4)", TYPE_FLOAT},
                 {"int64", TYPE_LONGLONG},    {"int64_t", TYPE_LONGLONG}, {"uint64", TYPE_ULONGLONG},
                 {"uint64_t", TYPE_ULONGLONG}};

void type_tell_unknown(const char *said, struct text *out) {
  const char *names[TYPE_COUNT];
  for (size_t i = 0; said && i < sizeof elsewhere / sizeof *elsewhere; i++)
    if (strcmp(said, elsewhere[i].other) == 0) {
      text_addf(out, "the type \"%s\" is unknown (did you mean \"%s\"?); expected one of %s", said,
                type_info(elsewhere[i].code)->name, type_names());
      return;
    }
  for (int i = 0; i < TYPE_COUNT; i++)
    names[i] = i ? types_of_c[i].name : NULL;
  nearest_tell("type", said, names, TYPE_COUNT, out);
  text_addf(out, "; expected one of %s", type_names());
  if (said && *said)
    text_add(out, ", or a struct of the program, declared by OP_TYPE");
}

/* One space between words, none at the ends or round a colon. False if it does not fit. */
static bool normalise(const char *name, char *out, size_t size) {
  size_t n = 0;
  bool gap = false;
  for (; *name; name++) {
    if (*name == ' ' || *name == '\t') {
      gap = true;
      continue;
    }
    if (gap && n && *name != ':' && out[n - 1] != ':') {
      if (n + 1 >= size)
        return false;
      out[n++] = ' ';
    }
    gap = false;
    if (n + 1 >= size)
      return false;
    out[n++] = *name;
  }
  out[n] = '\0';
  return true;
}

static enum type_code find_type(const char *name) {
  for (int i = TYPE_DOUBLE; i < TYPE_COUNT; i++)
    if (strcmp(name, types_of_c[i].name) == 0 ||
        (types_of_c[i].alias && strcmp(name, types_of_c[i].alias) == 0))
      return (enum type_code)i;
  return TYPE_NONE;
}

enum type_code type_parse(const char *name, bool *soa) {
  if (soa)
    *soa = false;
  if (!name)
    return TYPE_NONE;
  enum type_code quick = find_type(name); /* the usual spelling, without copying: this is on the warm path */
  if (quick == TYPE_NONE)
    quick = struct_find(name);
  if (quick != TYPE_NONE)
    return quick;
  char clean[100];
  if (!normalise(name, clean, sizeof clean))
    return TYPE_NONE;
  char *colon = strchr(clean, ':');
  if (colon) {
    if (!soa || strcmp(colon, ":soa") != 0)
      return TYPE_NONE;
    *soa = true;
    *colon = '\0';
  }
  quick = find_type(clean);
  return quick != TYPE_NONE ? quick : struct_find(clean);
}

bool type_fits(enum type_code declared, const char *is) {
  const struct type_info *found = type_info(type_parse(is, NULL)), *wanted = type_info(declared);
  if (type_is_struct(declared))
    return !found->size;
  return !found->size || (found->size == wanted->size && found->is_float == wanted->is_float);
}

void type_tell_misfit(enum type_code declared, const char *is, const char *verb, const char *remedy,
                      const char *memory, struct text *out) {
  const enum type_code code = type_parse(is, NULL);
  if (!memory) {
    text_addf(out, "the type is \"%s\", and the variable is of type %s; make the two the same",
              type_said(declared, true), type_said(code, true));
    return;
  }
  const char *wanted = type_info(declared)->name, *found = type_info(code)->name;
  text_addf(
      out,
      "the type is \"%s\", and %s of type %s. %s \"%s\", or give the variable the type %s; if the memory "
      "does hold values of type %s, cast its address to (%s)",
      wanted, verb, found, remedy, found, wanted, wanted, memory);
}

int type_check_pointed(enum type_code declared, const char *is, const char *verb, const char *memory,
                       struct error *err) {
  struct text wrong = {0};
  if (declared == TYPE_NONE || type_fits(declared, is))
    return OP_OK;
  type_tell_misfit(declared, is, verb, "Declare it as", memory, &wrong);
  error_set(err, OP_ERR_TYPE, "%s", text_str(&wrong));
  text_free(&wrong);
  return OP_ERR_TYPE;
}

/* clang-format off */
const struct access_row access_rows[ACCESSES] = {
    [OP_READ] = {"OP_READ", "read", .reads = true, .of_dats = true},
    [OP_WRITE] = {"OP_WRITE", "write", .changes = true, .assigns = true, .of_dats = true},
    [OP_RW] = {"OP_RW", "rw", .reads = true, .changes = true, .assigns = true, .of_dats = true},
    [OP_INC] = {"OP_INC", "inc", .changes = true, .reduces = true, .of_dats = true},
    [OP_MIN] = {"OP_MIN", "min", .changes = true, .reduces = true, .is_extremum = true, .of_dats = true},
    [OP_MAX] = {"OP_MAX", "max", .changes = true, .reduces = true, .is_extremum = true, .of_dats = true},
    [OP_WORK] = {"OP_WORK", "work", .of_dats = false}};
/* clang-format on */

#define COMBINE(T, combined)                                                                                 \
  do {                                                                                                       \
    T a, b;                                                                                                  \
    memcpy(&a, target, sizeof a);                                                                            \
    for (size_t i = 0; i < count; i++) {                                                                     \
      memcpy(&b, values + i * distance, sizeof b);                                                           \
      a = (combined);                                                                                        \
    }                                                                                                        \
    memcpy(target, &a, sizeof a);                                                                            \
  } while (0)

#define COMBINE_INT(T, sum)                                                                                  \
  COMBINE(T, access == OP_INC ? (T)(sum) : (access == OP_MIN ? b < a : b > a) ? b : a)

/* A kernel that made a number of a NaN that it started from would do so again. */
#define COMBINE_FLOAT(T)                                                                                     \
  do {                                                                                                       \
    T start;                                                                                                 \
    memcpy(&start, target, sizeof start);                                                                    \
    if (access != OP_INC && from_start && start != start)                                                    \
      COMBINE(T, b == b && (a != a || (access == OP_MIN ? b < a : b > a)) ? b : a);                          \
    else                                                                                                     \
      COMBINE(T, access == OP_INC ? a + b : (b != b || (access == OP_MIN ? b < a : b > a)) ? b : a);         \
  } while (0)

static void combine(enum type_code code, int access, void *target, const unsigned char *values,
                    size_t distance, size_t count, bool from_start) {
  /* Signed sums go through unsigned arithmetic: they wrap, as the generated code's do. */
  switch (code) {
  case TYPE_DOUBLE: COMBINE_FLOAT(double); break;
  case TYPE_FLOAT: COMBINE_FLOAT(float); break;
  case TYPE_INT: COMBINE_INT(int, (unsigned)a + (unsigned)b); break;
  case TYPE_UINT: COMBINE_INT(unsigned, a + b); break;
  case TYPE_LONGLONG: COMBINE_INT(long long, (unsigned long long)a + (unsigned long long)b); break;
  case TYPE_ULONGLONG: COMBINE_INT(unsigned long long, a + b); break;
  /* Bytes of poisoned copies may be no valid bool. */
  case TYPE_BOOL: COMBINE_INT(unsigned char, a || b); break;
  case TYPE_CHAR: COMBINE_INT(char, a + b); break;
  case TYPE_SHORT: COMBINE_INT(short, a + b); break;
  case TYPE_NONE:
  case TYPE_COUNT: break;
  }
}

void type_combine_many(enum type_code code, int access, void *target, const unsigned char *values,
                       size_t distance, size_t count) {
  combine(code, access, target, values, distance, count, true);
}

void type_combine(enum type_code code, int access, void *target, const void *value) {
  combine(code, access, target, value, 0, 1, false);
}

#define IMPROVE(T)                                                                                           \
  do {                                                                                                       \
    T to, from, v;                                                                                           \
    memcpy(&to, target, sizeof to);                                                                          \
    memcpy(&from, start, sizeof from);                                                                       \
    memcpy(&v, value, sizeof v);                                                                             \
    const bool beats = access == OP_MIN ? v < to : v > to;                                                   \
    if (from != from ? v == v && (to != to || beats) : v != v || beats)                                      \
      memcpy(target, &v, sizeof v);                                                                          \
  } while (0)

void type_improve(enum type_code code, int access, void *target, const void *start, const void *value) {
  switch (code) {
  case TYPE_DOUBLE: IMPROVE(double); break;
  case TYPE_FLOAT: IMPROVE(float); break;
  default: type_combine(code, access, target, value);
  }
}

void type_start_sum(enum type_code code, void *target, size_t count) {
  enum { PIECE = 4096 }; /* stays in the cache */
  static const double nothing = -0.0;
  static const float nothing_narrow = -0.0f;
  const size_t size = type_info(code)->size, bytes = count * size;
  unsigned char *to = target;
  if (!type_info(code)->is_float) {
    memset(to, 0, bytes);
    return;
  }
  if (count)
    memcpy(to, code == TYPE_DOUBLE ? (const void *)&nothing : &nothing_narrow, size);
  for (size_t done = size, next; done < bytes; done += next) {
    next = done < PIECE ? done : PIECE;
    next = next < bytes - done ? next : bytes - done;
    memcpy(to + done, to, next);
  }
}

unsigned long long type_bits(enum type_code code, const void *value) {
  const struct type_info *info = type_info(code);
  const size_t width = 8 * info->size;
  unsigned long long bits = 0;
  memcpy(&bits, value, info->size); /* little-endian machines only, as is the loader */
  if (info->is_signed && info->size < sizeof bits && bits >> (width - 1))
    bits |= ~0ull << width;
  return bits;
}

double type_number(enum type_code code, const void *value) {
  double wide;
  float narrow;
  if (code == TYPE_DOUBLE) {
    memcpy(&wide, value, sizeof wide);
    return wide;
  }
  if (code == TYPE_FLOAT) {
    memcpy(&narrow, value, sizeof narrow);
    return (double)narrow;
  }
  const unsigned long long bits = type_is_struct(code) ? 0 : type_bits(code, value);
  return type_info(code)->is_signed ? (double)(long long)bits : (double)bits;
}

int type_print(enum type_code code, const void *value, char *out, size_t size) {
  if (type_is_struct(code))
    return struct_print(code, value, out, size);
  if (!type_info(code)->size)
    return snprintf(out, size, "?");
  if (type_info(code)->is_float)
    return snprintf(out, size, "%.17g", type_number(code, value));
  return snprintf(out, size, type_info(code)->is_signed ? "%lld" : "%llu", type_bits(code, value));
}

void type_add_shortest(enum type_code code, const void *value, struct text *out) {
  char shown[40];
  type_print(code, value, shown, sizeof shown);
  for (int digits = 1; type_info(code)->is_float && digits < 17; digits++) {
    char shorter[40];
    snprintf(shorter, sizeof shorter, "%.*g", digits, type_number(code, value));
    const double back = strtod(shorter, NULL);
    const float single = (float)back;
    if (memcmp(code == TYPE_DOUBLE ? (const void *)&back : &single, value, type_info(code)->size) == 0) {
      memcpy(shown, shorter, sizeof shown);
      break;
    }
  }
  text_add(out, shown);
}
