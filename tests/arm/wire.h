/* The messages between far.c and near.c: numbers, and texts and structs with their lengths before them, all as they are in
 * memory, which is the same for both processors. What a pointer in a struct points to comes behind it. */
#ifndef OP2JIT_TESTS_ARM_WIRE_H
#define OP2JIT_TESTS_ARM_WIRE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jit/compiler.h"

enum { WIRE_COMPILE, WIRE_PROVE };

static inline void put_number(FILE *to, int64_t number) {
  fwrite(&number, sizeof number, 1, to);
}

static inline int64_t get_number(FILE *from) {
  int64_t number = -1;
  return fread(&number, sizeof number, 1, from) == 1 ? number : -1;
}

/* NULL stays NULL. */
static inline void put_bytes(FILE *to, const void *bytes, size_t size) {
  put_number(to, bytes ? (int64_t)size : -1);
  if (bytes)
    fwrite(bytes, 1, size, to);
}

static inline void put_text(FILE *to, const char *text) {
  put_bytes(to, text, text ? strlen(text) : 0);
}

/* A copy on the heap, with a zero behind it. */
static inline char *get_bytes(FILE *from, size_t *size) {
  const int64_t said = get_number(from);
  char *bytes = said < 0 ? NULL : calloc(1, (size_t)said + 1);
  if (bytes && fread(bytes, 1, (size_t)said, from) != (size_t)said) {
    free(bytes);
    bytes = NULL;
  }
  if (size)
    *size = bytes ? (size_t)said : 0;
  return bytes;
}

static inline char *get_text(FILE *from) {
  return get_bytes(from, NULL);
}

static inline void put_files(FILE *to, const struct compile_file *files, int count) {
  put_number(to, count);
  for (int i = 0; i < count; i++) {
    put_text(to, files[i].name);
    put_bytes(to, files[i].text, files[i].length);
  }
}

static inline void put_messages(FILE *to, const struct compile_message *messages, int count) {
  put_number(to, count);
  for (int i = 0; i < count; i++) {
    const struct compile_message *m = &messages[i];
    put_bytes(to, m, sizeof *m);
    put_text(to, m->file);
    put_text(to, m->text);
  }
}

/* Into bytes that are there, which stay as they are if others came. */
static inline bool get_into(FILE *from, void *into, size_t size) {
  size_t got;
  char *bytes = get_bytes(from, &got);
  const bool right = bytes && got == size;
  if (right)
    memcpy(into, bytes, size);
  free(bytes);
  return right;
}

#endif
