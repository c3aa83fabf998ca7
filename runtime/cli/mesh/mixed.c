#include "mixed.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

static int too_short(const struct scan *s, const char *what, struct error *err) {
  return scan_failed(s, err, "the file ends; expected %s", what);
}

static int take(struct scan *s, enum mixed_bytes bytes, const char *what, void *out, struct error *err) {
  if (s->end - s->at < (ptrdiff_t)bytes)
    return too_short(s, what, err);
  memcpy(out, s->at, bytes);
  s->at += bytes;
  return OP_OK;
}

static int take_int(struct scan *s, const char *what, long long *out, struct error *err) {
  uint32_t raw = 0;
  int code = take(s, MIXED_INT, what, &raw, err);
  if (!code)
    *out = (int32_t)(s->swapped ? __builtin_bswap32(raw) : raw);
  return code;
}

static int take_size(struct scan *s, const char *what, uint64_t *out, struct error *err) {
  uint64_t raw = 0;
  int code = take(s, MIXED_SIZE, what, &raw, err);
  if (!code)
    *out = s->swapped ? __builtin_bswap64(raw) : raw;
  return code;
}

int mixed_whole(struct scan *s, enum mixed_bytes bytes, long long low, long long high, const char *what,
                long long *out, struct error *err) {
  if (!s->binary)
    return scan_whole(s, low, high, what, out, err);
  uint64_t size = 0;
  long long value = 0;
  int code = bytes == MIXED_INT ? take_int(s, what, &value, err) : take_size(s, what, &size, err);
  if (code)
    return code;
  if (size <= LLONG_MAX)
    value += (long long)size;
  if (size <= LLONG_MAX && value >= low && value <= high) {
    *out = value;
    return OP_OK;
  }
  s->at -= bytes; /* the message names the first byte of the number */
  return size > LLONG_MAX
             ? scan_failed(s, err, "%llu is too large; expected %s", (unsigned long long)size, what)
             : scan_failed(s, err, "%lld is not in %lld .. %lld; expected %s", value, low, high, what);
}

int mixed_real(struct scan *s, const char *what, double *out, struct error *err) {
  if (!s->binary)
    return scan_real(s, what, out, err);
  uint64_t raw = 0;
  int code = take_size(s, what, &raw, err);
  if (!code)
    memcpy(out, &raw, sizeof raw);
  return code;
}

int mixed_has(const struct scan *s, long long count, int numbers, long long bytes, const char *what,
              struct error *err) {
  if (!s->binary)
    return scan_has(s, count, numbers, what, err);
  if (count > (s->end - s->at) / bytes)
    return scan_failed(s, err, "the file is too short for %lld %s of %lld bytes: it has %lld more bytes",
                       count, what, bytes, (long long)(s->end - s->at));
  return OP_OK;
}

int mixed_line(struct scan *s, struct error *err) {
  if (!s->binary)
    return OP_OK;
  while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\r'))
    s->at++;
  if (s->at == s->end || *s->at != '\n')
    return scan_failed(s, err, "expected the end of the line, and numbers in binary behind it");
  s->at++;
  return OP_OK;
}

int mixed_order(struct scan *s, struct error *err) {
  long long one = 0;
  s->binary = true;
  int code = mixed_line(s, err);
  if (!code)
    code = take_int(s, "the number 1, which tells the order of bytes", &one, err);
  s->swapped = one == 0x01000000;
  if (code || one == 1 || s->swapped)
    return code;
  s->at -= MIXED_INT;
  return scan_failed(s, err, "%lld does not tell the order of bytes; expected the number 1 in binary", one);
}

static bool is_letter(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

int mixed_skip_section(struct scan *s, struct error *err) {
  const char *name = s->at + 1, *stop = name;
  while (stop < s->end && is_letter(*stop))
    stop++;
  if (*s->at != '$' || stop == name)
    return scan_failed(s, err, "expected a section, which begins with $ and its name");
  struct text end = {0};
  text_addf(&end, "\n$End%.*s", (int)(stop - name < 100 ? stop - name : 100), name);
  if (!text_ok(&end)) {
    text_free(&end);
    return error_memory(err, "the name of a section", (size_t)(stop - name));
  }
  const size_t length = strlen(text_str(&end));
  const char *found = memmem(stop, (size_t)(s->end - stop), text_str(&end), length);
  int code = OP_OK;
  if (found)
    s->at = found + length;
  else
    code = scan_failed(s, err, "the section is not whole; expected %s behind it", text_str(&end) + 1);
  text_free(&end);
  return code;
}
