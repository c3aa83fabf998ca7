#include "text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(struct text *t, size_t more) {
  if (t->failed)
    return false;
  if (more > SIZE_MAX / 4 || t->length > SIZE_MAX / 4) {
    t->failed = true;
    return false;
  }
  size_t need = t->length + more + 1;
  if (t->data && need <= t->capacity)
    return true;
  size_t capacity = t->capacity ? t->capacity : 64;
  while (capacity < need)
    capacity *= 2;
  char *data = realloc(t->data, capacity);
  if (!data) {
    t->failed = true;
    return false;
  }
  t->data = data;
  t->capacity = capacity;
  return true;
}

void text_add_bytes(struct text *t, const void *bytes, size_t length) {
  if (!reserve(t, length))
    return;
  if (length)
    memcpy(t->data + t->length, bytes, length);
  t->length += length;
  t->data[t->length] = '\0';
}

void text_add(struct text *t, const char *s) {
  text_add_bytes(t, s, strlen(s));
}

void text_add_char(struct text *t, char c) {
  text_add_bytes(t, &c, 1);
}

void text_vaddf(struct text *t, const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  if (length < 0)
    t->failed = true;
  else if (reserve(t, (size_t)length)) {
    vsnprintf(t->data + t->length, (size_t)length + 1, format, again);
    t->length += (size_t)length;
  }
  va_end(again);
}

void text_addf(struct text *t, const char *format, ...) {
  va_list args;
  va_start(args, format);
  text_vaddf(t, format, args);
  va_end(args);
}

void text_clear(struct text *t) {
  t->length = 0;
  t->failed = false;
  if (t->data)
    t->data[0] = '\0';
}

void text_free(struct text *t) {
  free(t->data);
  *t = (struct text){0};
}

char *text_take(struct text *t) {
  if (!t->failed && !t->data)
    text_add_bytes(t, "", 0);
  if (t->failed) {
    text_free(t);
    return NULL;
  }
  char *data = t->data;
  *t = (struct text){0};
  return data;
}
