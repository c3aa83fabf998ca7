/* JSON, written piece by piece. Whether a comma is due is seen from what was written last. */
#include <math.h>
#include <string.h>

#include "cli/cli.h"

static void begin(struct text *out, const char *key) {
  char last = out->length ? out->data[out->length - 1] : '{';
  if (last != '{' && last != '[' && last != ':')
    text_add_char(out, ',');
  if (key) {
    json_bytes(out, NULL, key, strlen(key));
    text_add_char(out, ':');
  }
}

void json_open(struct text *out, const char *key, char bracket) {
  begin(out, key);
  text_add_char(out, bracket);
}

void json_close(struct text *out, char bracket) {
  text_add_char(out, bracket);
}

/* How many bytes of valid UTF-8 begin here; 0 if they are not valid. */
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

void json_bytes(struct text *out, const char *key, const char *value, size_t length) {
  /* A name is begun by its caller: it has no key and no comma of its own. */
  if (key)
    begin(out, key);
  else if (out->length && out->data[out->length - 1] != '{' && out->data[out->length - 1] != '[' &&
           out->data[out->length - 1] != ',' && out->data[out->length - 1] != ':')
    text_add_char(out, ',');
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

void json_text(struct text *out, const char *key, const char *value) {
  json_bytes(out, key, value, strlen(value));
}

void json_number(struct text *out, const char *key, long long value) {
  begin(out, key);
  text_addf(out, "%lld", value);
}

void json_real(struct text *out, const char *key, double value) {
  begin(out, key);
  if (isfinite(value))
    text_addf(out, "%.9g", value);
  else
    text_add(out, "null");
}

void json_bool(struct text *out, const char *key, bool value) {
  begin(out, key);
  text_add(out, value ? "true" : "false");
}
