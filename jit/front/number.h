/* Values of the data types as text that is exact, the same in any locale, and valid C: hexadecimal floating
 * point. For keys, canonical texts and generated code. */
#ifndef OP2JIT_JIT_NUMBER_H
#define OP2JIT_JIT_NUMBER_H

#include <stdbool.h>

#include "base/text.h"
#include "base/types.h"

/* What printf made of a floating-point number: with a point, whatever the locale has there. */
void number_add(struct text *out, const char *printed);
/* "0x1.8p+0", "-0x0p+0", "inf", "nan:7ff8000000000001" (the bits), "-12". */
void number_print(enum type_code type, const void *value, struct text *out);
/* What number_print wrote, and nothing else; false if it is not such a text or does not fit the type. */
bool number_parse(enum type_code type, const char *word, void *value);
/* As a C expression of that type. */
void number_print_c(enum type_code type, const void *value, struct text *out);

#endif
