/* JSON, written piece by piece: commas and quotes are taken care of. */
#ifndef OP2JIT_BASE_JSON_H
#define OP2JIT_BASE_JSON_H

#include "text.h"

/* `key` NULL inside a list. */
void json_open(struct text *out, const char *key, char bracket);
void json_close(struct text *out, char bracket);
void json_number(struct text *out, const char *key, double value);
void json_bytes(struct text *out, const char *key, const char *value, size_t length);
/* Names with the form of the value that follows: "loop:t bytes:i count:n seconds:d start:f chosen:b": a text or
 * NULL, a long long, an int, a double, one with three digits behind the point, a truth. */
void json_fields(struct text *out, const char *fields, ...);
/* The same in braces. */
void json_object(struct text *out, const char *key, const char *fields, ...);

#endif
