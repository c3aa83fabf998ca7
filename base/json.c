#include "json.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* The number of bytes of the valid UTF-8 character here; 0 if it is not valid. */
static size_t valid(const unsigned char *p, size_t left) {
  size_t n = *p < 0x80                 ? 1
             : *p >= 0xc2 && *p < 0xe0 ? 2
             : *p >= 0xe0 && *p < 0xf0 ? 3
             : *p >= 0xf0 && *p < 0xf5 ? 4
                                       : 0;
  if (n == 0 || n > left)
    return 0;
  for (size_t i = 1; i < n; i++)
    if ((p[i] & 0xc0) != 0x80)
      return 0;
  return n;
}

static void quote(struct text *out, const char *value, size_t length) {
  text_add_char(out, '"');
  for (size_t i = 0; i < length;) {
    unsigned char c = (unsigned char)value[i];
    size_t n = valid((const unsigned char *)value + i, length - i);
    if (c == '"' || c == '\\')
      text_addf(out, "\\%c", c);
    else if (c == '\n')
      text_add(out, "\\n");
    else if (c < 0x20 || n == 0)
      text_addf(out, "\\u%04x", c);
    else
      text_add_bytes(out, value + i, n);
    i += n ? n : 1;
  }
  text_add_char(out, '"');
}

/* The last character tells whether a comma is needed. */
static void begin(struct text *out, const char *key, size_t length) {
  char last = out->length ? out->data[out->length - 1] : '{';
  if (last == '\n' && out->length > 1)
    last = out->data[out->length - 2];
  if (last != '{' && last != '[' && last != ',')
    text_add_char(out, ',');
  if (key) {
    quote(out, key, length);
    text_add_char(out, ':');
  }
}

void json_open(struct text *out, const char *key, char bracket) {
  begin(out, key, key ? strlen(key) : 0);
  text_add_char(out, bracket);
}

void json_close(struct text *out, char bracket) {
  text_add_char(out, bracket);
}

void json_bytes(struct text *out, const char *key, const char *value, size_t length) {
  begin(out, key, key ? strlen(key) : 0);
  quote(out, value, length);
}

static void add_real(struct text *out, double value) {
  if (isfinite(value))
    text_addf(out, "%.9g", value);
  else
    text_add(out, "null");
}

void json_number(struct text *out, const char *key, double value) {
  begin(out, key, key ? strlen(key) : 0);
  add_real(out, value);
}

static void add_fields(struct text *out, const char *fields, va_list values) {
  for (const char *at = fields; *at; at += *at == ' ') {
    const size_t name = strcspn(at, ":");
    begin(out, at, name);
    at += name + 1;
    switch (*at++) {
    case 't': {
      const char *value = va_arg(values, const char *);
      if (value)
        quote(out, value, strlen(value));
      else
        text_add(out, "null");
      break;
    }
    case 'n': text_addf(out, "%d", va_arg(values, int)); break;
    case 'i': text_addf(out, "%lld", va_arg(values, long long)); break;
    case 'f': text_addf(out, "%.3f", va_arg(values, double)); break;
    case 'd': add_real(out, va_arg(values, double)); break;
    default: text_add(out, va_arg(values, int) ? "true" : "false"); break;
    }
  }
}

void json_fields(struct text *out, const char *fields, ...) {
  va_list values;
  va_start(values, fields);
  add_fields(out, fields, values);
  va_end(values);
}

void json_object(struct text *out, const char *key, const char *fields, ...) {
  va_list values;
  json_open(out, key, '{');
  va_start(values, fields);
  add_fields(out, fields, values);
  va_end(values);
  json_close(out, '}');
}
