/* Structs of the program, for types.c. */
#ifndef OP2JIT_BASE_STRUCTS_H
#define OP2JIT_BASE_STRUCTS_H

#include "base/types.h"

enum type_code struct_find(const char *name);
int struct_print(enum type_code code, const void *value, char *out, size_t size);

#endif
