#include "jit/key/signature.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"

/* ---- where each column comes from ----------------------------------------------------------------*/

typedef void column_writer(const struct signature_inputs *in, struct text *out);

#define FROM_INPUT(member)                                                                                   \
  static void write_##member(const struct signature_inputs *in, struct text *out) {                          \
    text_add(out, in->member ? in->member : "");                                                             \
  }
FROM_INPUT(shape)
FROM_INPUT(generator)
FROM_INPUT(library)
FROM_INPUT(compiler)
FROM_INPUT(cpu)
FROM_INPUT(features)
FROM_INPUT(platform)
FROM_INPUT(device)
FROM_INPUT(driver)
FROM_INPUT(flags)

static void write_kernel(const struct signature_inputs *in, struct text *out) {
  text_add(out, in->desc->kernel_name);
  if (in->desc->entry)
    text_addf(out, " in C++ %s", in->desc->entry);
  if (in->desc->unproved)
    text_add(out, " not proved");
}

static void write_text(const struct signature_inputs *in, struct text *out) {
  text_add(out, in->desc->text);
}

static void write_fp(const struct signature_inputs *in, struct text *out) {
  text_add(out, in->desc->fp);
}

static void write_arguments(const struct signature_inputs *in, struct text *out) {
  desc_print_args(in->desc, out);
  desc_print_members(in->desc, out);
}

static void write_mesh(const struct signature_inputs *in, struct text *out) {
  desc_print_mesh(in->desc, out);
}

static void write_dats(const struct signature_inputs *in, struct text *out) {
  desc_print_dats(in->desc, out);
}

static void write_constants(const struct signature_inputs *in, struct text *out) {
  desc_print_consts(in->desc, out);
}

static const struct column {
  const char *name;
  column_writer *write;
  bool of_some; /* of some targets only: not there if it is empty */
} columns[] = {
    {"kernel", write_kernel, false},
    {"kernel text", write_text, false},
    {"arguments", write_arguments, false},
    {"sets and maps", write_mesh, false},
    {"dats", write_dats, false},
    {"constants", write_constants, false},
    {"shape", write_shape, false},
    {"generator", write_generator, false},
    {"library", write_library, false},
    {"compiler", write_compiler, false},
    {"cpu", write_cpu, false},
    {"features", write_features, false},
    {"platform", write_platform, true},
    {"device", write_device, true},
    {"driver", write_driver, true},
    {"flags", write_flags, false},
    {"fp", write_fp, false},
};
_Static_assert(sizeof columns / sizeof *columns == SIGNATURE_COLUMNS, "one store_column each");

/* ---- the key -----------------------------------------------------------------------------------*/

/* Names and lengths go in too: no two different keys are the same bytes. Without memory, which may lack. */
static void hash_column(struct sha256 *h, const struct store_column *c) {
  char length[32];
  sha256_add(h, c->name, strlen(c->name));
  sha256_add(h, length, (size_t)snprintf(length, sizeof length, " %zu:", c->length));
  sha256_add(h, c->value, c->length);
}

int signature_make(struct signature *s, const struct signature_inputs *in, struct error *err) {
  struct sha256 h;
  unsigned char digest[32];
  *s = (struct signature){0};
  for (int i = 0; i < SIGNATURE_COLUMNS; i++) {
    struct text value = {0};
    columns[i].write(in, &value);
    size_t length = value.length;
    if (columns[i].of_some && !length && text_ok(&value)) {
      text_free(&value);
      continue;
    }
    char *taken = text_take(&value);
    if (!taken) {
      signature_free(s);
      return error_memory(err, "a loop's key", length);
    }
    s->columns[s->key.ncolumns++] =
        (struct store_column){.name = columns[i].name, .value = taken, .length = length};
  }
  sha256_begin(&h);
  for (int i = 0; i < s->key.ncolumns; i++)
    hash_column(&h, &s->columns[i]);
  sha256_end(&h, digest);
  sha256_hex(digest, s->hash);
  s->loop = strdup(in->desc->kernel_name);
  s->names = strdup(in->desc->names ? in->desc->names : "");
  if (!s->loop || !s->names) {
    signature_free(s);
    return error_memory(err, "a loop's key", strlen(in->desc->kernel_name));
  }
  s->key = (struct store_key){.hash = s->hash,
                              .loop = s->loop,
                              .names = s->names,
                              .columns = s->columns,
                              .ncolumns = s->key.ncolumns};
  return OP_OK;
}

void signature_move(struct signature *to, struct signature *from) {
  *to = *from;
  to->key.hash = to->hash;
  to->key.columns = to->columns;
  *from = (struct signature){0};
}

void signature_free(struct signature *s) {
  for (int i = 0; i < s->key.ncolumns; i++)
    free((void *)(size_t)s->columns[i].value);
  free(s->loop);
  free(s->names);
  *s = (struct signature){0};
}

bool signature_equal(const struct signature *a, const struct signature *b) {
  if (strcmp(a->hash, b->hash) != 0 || a->key.ncolumns != b->key.ncolumns)
    return false;
  for (int i = 0; i < a->key.ncolumns; i++)
    if (a->columns[i].length != b->columns[i].length ||
        memcmp(a->columns[i].value, b->columns[i].value, a->columns[i].length) != 0)
      return false;
  return true;
}
