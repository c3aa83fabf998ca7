/* Values of the data types as text that is exact, the same in any locale, and valid C: hexadecimal floating
 * point. For keys, canonical texts and generated code. */
#ifndef OP2JIT_JIT_KERNEL_NUMBER_H
#define OP2JIT_JIT_KERNEL_NUMBER_H

#include <stdbool.h>

#include "base/text.h"
#include "base/types.h"

/* Adds a floating-point number that printf made, with a point in place of the locale's sign. */
void number_add(struct text *out, const char *printed);
/* "0x1.8p+0", "-0x0p+0", "inf", "nan:7ff8000000000001" (the bits), "-12". */
void number_print(enum type_code type, const void *value, struct text *out);
/* The value of a floating-point number that number_print wrote as "0x1.8p+0". */
double number_read_hex(const char *word);
/* The value as a C expression of that type. */
void number_print_c(enum type_code type, const void *value, struct text *out);

#endif
