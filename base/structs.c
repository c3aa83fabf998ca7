#include "base/structs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "include/op2jit.h"

static struct type_table own;
static struct type_table *table = &own;

struct type_table *types_of_program(void) {
  return table;
}

void types_look_into(struct type_table *other) {
  table = other ? other : &own;
}

const struct type_info *struct_info(enum type_code code) {
  const int number = (int)code - TYPE_COUNT - 1;
  return number < table->count ? &table->infos[number] : type_info(TYPE_NONE);
}

enum type_code struct_find(const char *name) {
  for (int i = 0; i < table->count; i++)
    if (strcmp(name, table->infos[i].name) == 0 || strcmp(name, table->infos[i].alias) == 0)
      return (enum type_code)(TYPE_COUNT + 1 + i);
  return TYPE_NONE;
}

/* ---- declaring -----------------------------------------------------------------------------------*/

static void free_members(struct type_member *members, int count) {
  for (int i = 0; members && i < count; i++)
    free(members[i].name);
  free(members);
}

static void free_info(struct type_info *info) {
  free((void *)(size_t)info->name);
  free((void *)(size_t)info->alias);
  free_members((struct type_member *)(size_t)info->members, info->nmembers);
  *info = (struct type_info){0};
}

void types_forget(void) {
  while (table->count)
    free_info(&table->infos[--table->count]);
}

static bool same_layout(const struct type_info *a, const struct type_info *b) {
  bool same = a->size == b->size && a->nmembers == b->nmembers;
  for (int i = 0; same && i < a->nmembers; i++) {
    const struct type_member *x = &a->members[i], *y = &b->members[i];
    same =
        strcmp(x->name, y->name) == 0 && x->type == y->type && x->offset == y->offset && x->size == y->size;
  }
  return same;
}

/* The name with one blank between words, and with none of them for where words are separated by blanks. */
static bool copy_names(struct type_info *info, const char *name) {
  struct text clean = {0}, joined = {0};
  for (const char *at = name; *at;) {
    const size_t length = strcspn(at, " \t\n");
    if (length && clean.length) {
      text_add_char(&clean, ' ');
      text_add_char(&joined, ':');
    }
    text_add_bytes(&clean, at, length);
    text_add_bytes(&joined, at, length);
    at += length + strspn(at + length, " \t\n");
  }
  info->name = text_take(&clean);
  info->alias = text_take(&joined);
  return info->name && info->alias;
}

static bool copy_members(struct type_info *info, int count, const op2jit_member from[]) {
  struct type_member *to = array_new((size_t)count, sizeof *to);
  info->members = to;
  for (int i = 0; to && i < count; i++) {
    const enum type_code type = type_parse(from[i].type, NULL);
    const size_t size = type_info(type)->size;
    to[i] = (struct type_member){.name = strdup(from[i].name),
                                 .type = size && from[i].size % size == 0 ? type : TYPE_NONE,
                                 .offset = from[i].offset,
                                 .size = from[i].size};
    info->nmembers = i + 1;
    if (!to[i].name)
      return false;
  }
  return to != NULL;
}

int type_declare(const char *name, size_t size, int nmembers, const op2jit_member members[],
                 struct error *err) {
  struct type_info info = {.size = size};
  if (!name || !*name || !size || nmembers < 1 || !members)
    return error_set(err, OP_ERR_ARGUMENT, "OP_TYPE: a name, a size and members are expected");
  for (int i = 0; i < nmembers; i++)
    if (members[i].type && strcmp(members[i].type, "*") == 0)
      return error_set(err, OP_ERR_TYPE,
                       "OP_TYPE: member %s of \"%s\" is a pointer, which cannot be stored, sent or used on "
                       "another device; use an array, or a number that says where the values are",
                       members[i].name, name);
  if (!copy_names(&info, name) || !copy_members(&info, nmembers, members)) {
    free_info(&info);
    return error_memory(err, "a struct's layout", size);
  }
  const enum type_code known = type_parse(info.name, NULL);
  const bool same = type_is_struct(known) && same_layout(type_info(known), &info);
  int code = OP_OK;
  if (known != TYPE_NONE && !same)
    code = error_set(err, OP_ERR_TYPE,
                     "OP_TYPE: \"%s\" is a type already, %s; choose another name for the struct", info.name,
                     type_is_struct(known) ? "with another layout or other members" : "of the library");
  else if (!same && table->count == TYPES_OF_PROGRAM)
    code = error_set(err, OP_ERR_SIZE, "OP_TYPE: \"%s\" is one struct too many; there may be %d", info.name,
                     TYPES_OF_PROGRAM);
  if (code || same)
    free_info(&info);
  else
    table->infos[table->count++] = info;
  return code;
}

/* ---- values --------------------------------------------------------------------------------------*/

bool type_same(enum type_code code, const void *a, const void *b) {
  const struct type_info *info = type_info(code);
  const unsigned char *x = a, *y = b;
  bool same = info->members || memcmp(x, y, info->size) == 0;
  for (int i = 0; same && i < info->nmembers; i++)
    same = memcmp(x + info->members[i].offset, y + info->members[i].offset, info->members[i].size) == 0;
  return same;
}

bool type_near(enum type_code code, const void *a, const void *b, double wide, double narrow) {
  const struct type_info *info = type_info(code);
  const unsigned char *x = a, *y = b;
  bool near = info->members || memcmp(a, b, info->size) == 0;
  if (!info->members && info->is_float) {
    const double p = type_number(code, a), q = type_number(code, b);
    const double most = (code == TYPE_FLOAT ? narrow : wide) * fmax(fabs(p), fabs(q));
    near |= fabs(p - q) <= most || (isnan(p) && isnan(q));
  }
  for (int i = 0; near && i < info->nmembers; i++) {
    const struct type_member *m = &info->members[i];
    const size_t size = m->type == TYPE_NONE ? m->size : type_info(m->type)->size;
    for (size_t at = m->offset; near && at < m->offset + m->size; at += size)
      near = m->type == TYPE_NONE ? memcmp(x + at, y + at, size) == 0
                                  : type_near(m->type, x + at, y + at, wide, narrow);
  }
  return near;
}

static void add_member(const struct type_member *m, const unsigned char *value, struct text *out) {
  const size_t size = type_info(m->type)->size;
  if (m->type == TYPE_NONE)
    text_add(out, "0x");
  for (size_t i = 0; m->type == TYPE_NONE && i < m->size; i++)
    text_addf(out, "%02x", value[i]);
  for (size_t i = 0; m->type != TYPE_NONE && i < m->size; i += size) {
    text_add(out, i ? " " : "");
    type_add(m->type, value + i, out);
  }
}

void type_add(enum type_code code, const void *value, struct text *out) {
  const struct type_info *info = type_info(code);
  char word[64];
  for (int i = 0; i < info->nmembers; i++) {
    text_add(out, i ? " " : "");
    add_member(&info->members[i], (const unsigned char *)value + info->members[i].offset, out);
  }
  if (!info->members) {
    type_print(code, value, word, sizeof word);
    text_add(out, word);
  }
}

int struct_print(enum type_code code, const void *value, char *out, size_t size) {
  struct text whole = {0};
  type_add(code, value, &whole);
  const int length = snprintf(out, size, "{%s}", text_str(&whole));
  text_free(&whole);
  return length;
}

void type_print_layout(enum type_code code, struct text *out) {
  const struct type_info *info = type_info(code);
  text_addf(out, "%s size %zu", info->alias ? info->alias : info->name, info->size);
  for (int i = 0; i < info->nmembers; i++) {
    const struct type_member *m = &info->members[i];
    const struct type_info *of = type_info(m->type);
    text_addf(out, " %s:%s:%zu:%zu", m->name,
              m->type == TYPE_NONE ? "bytes"
              : of->alias          ? of->alias
                                   : of->name,
              m->offset, m->size);
  }
}
