#include "jit/key/signature.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"

/* ---- where each column comes from ----------------------------------------------------------------*/

static void print_kernel(const struct desc *d, struct text *out) {
  text_add(out, d->kernel_name);
  if (d->entry)
    text_addf(out, " in C++ %s", d->entry);
  if (d->unproved)
    text_add(out, " not proved");
}

static void print_text(const struct desc *d, struct text *out) {
  text_add(out, d->text);
}

static void print_fp(const struct desc *d, struct text *out) {
  text_add(out, d->fp);
}

static void print_arguments(const struct desc *d, struct text *out) {
  desc_print_args(d, out);
  desc_print_members(d, out);
}

static const struct column {
  const char *name;
  void (*print)(const struct desc *d, struct text *out); /* of the description; NULL: a word of the inputs */
  size_t word;                                           /* where it is in struct signature_inputs */
  bool of_some;                                          /* of some targets only: not there if it is empty */
} columns[] = {
    {"kernel", print_kernel, 0, false},
    {"kernel text", print_text, 0, false},
    {"arguments", print_arguments, 0, false},
    {"sets and maps", desc_print_mesh, 0, false},
    {"dats", desc_print_dats, 0, false},
    {"constants", desc_print_consts, 0, false},
    {"shape", NULL, offsetof(struct signature_inputs, shape), false},
    {"generator", NULL, offsetof(struct signature_inputs, generator), false},
    {"library", NULL, offsetof(struct signature_inputs, library), false},
    {"compiler", NULL, offsetof(struct signature_inputs, compiler), false},
    {"cpu", NULL, offsetof(struct signature_inputs, cpu), false},
    {"features", NULL, offsetof(struct signature_inputs, features), false},
    {"platform", NULL, offsetof(struct signature_inputs, platform), true},
    {"device", NULL, offsetof(struct signature_inputs, device), true},
    {"driver", NULL, offsetof(struct signature_inputs, driver), true},
    {"flags", NULL, offsetof(struct signature_inputs, flags), false},
    {"fp", print_fp, 0, false},
};
_Static_assert(sizeof columns / sizeof *columns == SIGNATURE_COLUMNS, "one store_column each");

static void print_column(const struct column *c, const struct signature_inputs *in, struct text *out) {
  const char *word = NULL;
  if (c->print)
    c->print(in->desc, out);
  else
    memcpy(&word, (const char *)in + c->word, sizeof word);
  text_add(out, word ? word : "");
}

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
    print_column(&columns[i], in, &value);
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
