#include "jit/dump.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { HASH_SHOWN = 8 };

static int make_folder(const char *path, struct error *err) {
  if (mkdir(path, 0777) == 0 || errno == EEXIST)
    return OP_OK;
  return error_set(err, OP_ERR_FILE, "OP2_DUMP: the folder %s cannot be made: %s", path, strerror(errno));
}

/* The folder and those above it. */
static int make_folders(const char *path, struct error *err) {
  struct text part = {0};
  int code = OP_OK;
  for (const char *p = path; code == OP_OK && *p; p++) {
    if (*p == '/' && part.length)
      code = make_folder(text_str(&part), err);
    text_add_char(&part, *p);
  }
  if (code == OP_OK)
    code = make_folder(path, err);
  text_free(&part);
  return code;
}

int dump_file(const char *where, const char *name, const void *bytes, size_t length, struct error *err) {
  struct text path = {0};
  text_addf(&path, "%s/%s", where, name);
  FILE *file = fopen(text_str(&path), "wb");
  bool good = file && fwrite(bytes, 1, length, file) == length;
  if (file && fclose(file) != 0)
    good = false;
  if (!good)
    error_set(err, OP_ERR_FILE, "OP2_DUMP: %s cannot be written: %s", text_str(&path), strerror(errno));
  text_free(&path);
  return good ? OP_OK : err->code;
}

static int dump_key(const char *where, const struct signature *key, struct error *err) {
  struct text list = {0};
  text_addf(&list, "hash %s\n", key->hash);
  for (int i = 0; i < key->key.ncolumns; i++) {
    const struct store_column *c = &key->columns[i];
    bool long_one = memchr(c->value, '\n', c->length) != NULL;
    text_addf(&list, "%s%s", c->name, long_one ? ":\n" : ": ");
    text_add_bytes(&list, c->value, c->length);
    text_add(&list, long_one && c->value[c->length - 1] == '\n' ? "" : "\n");
  }
  int code = dump_file(where, "key.txt", text_str(&list), list.length, err);
  text_free(&list);
  return code;
}

int dump_sources(const char *folder, const struct signature *key, const char *shape,
                 const struct generated *files, struct text *where, struct error *err) {
  struct text path = {0};
  text_addf(&path, "%s/%s-", folder, key->loop);
  for (; *shape; shape++)
    text_add_char(&path, *shape == '/' ? '-' : *shape);
  text_addf(&path, "-%.*s", HASH_SHOWN, key->hash);
  char *absolute = NULL;
  int code = make_folders(text_str(&path), err);
  if (code == OP_OK && !(absolute = realpath(text_str(&path), NULL)))
    code = error_set(err, OP_ERR_FILE, "OP2_DUMP: %s: %s", text_str(&path), strerror(errno));
  if (code == OP_OK) {
    text_add(where, absolute);
    code = dump_file(absolute, files->main_file, text_str(&files->main), files->main.length, err);
  }
  if (code == OP_OK)
    code = dump_file(absolute, files->kernel_file, text_str(&files->kernel), files->kernel.length, err);
  if (code == OP_OK)
    code = dump_file(absolute, files->prelude_file, files->prelude, strlen(files->prelude), err);
  if (code == OP_OK)
    code = dump_key(absolute, key, err);
  free(absolute);
  text_free(&path);
  return code;
}
