/* Damage to a cache file. The input is a list of changes to a good one: each four bytes, a place and what to do
 * there. Whatever the file looks like then, a binary that the store gives is the one that was put, and a new one
 * can be put or not. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels-cache/store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

enum { BINARIES = 3, BYTES = 900, PATH = 400 };

static const struct log silent = {.level = LOG_ERROR, .rank = -1};
static char folder[PATH / 2], file[PATH];
static unsigned char *good; /* the file as it should be */
static size_t good_size;
static unsigned char binaries[BINARIES][BYTES];
static char hashes[BINARIES][65];

static struct store_column column(int i) {
  static const char *const texts[] = {"*b += 1;", "*b += 2;", "*b += 3;"};
  return (struct store_column){"kernel text", texts[i % 3], 8};
}

static struct store *open_store(void) {
  struct store *store = NULL;
  struct error err = {0};
  const struct store_options options = {.path = file, .log = &silent, .busy_ms = 1};
  store_open(&store, &options, &err);
  error_free(&err);
  return store;
}

static bool put(struct store *store, int i) {
  const struct store_column columns = column(i);
  const struct store_key key = {.hash = hashes[i], .loop = "loop", .columns = &columns, .ncolumns = 1};
  const struct store_new_binary binary = {binaries[i], BYTES, "source", 6, 0.01, "fuzz"};
  return store_put_binary(store, &key, &binary);
}

static void clean(void) {
  static const char *const tails[] = {"", "-wal", "-shm", "-journal"};
  char path[PATH + 32];
  for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
    snprintf(path, sizeof path, "%s%s", file, tails[i]);
    unlink(path);
  }
  for (int i = 0; i < 4; i++)
    for (size_t t = 0; t < sizeof tails / sizeof *tails; t++) {
      snprintf(path, sizeof path, "%s.damaged-%d%s", file, i, tails[t]);
      unlink(path);
    }
}

static void remove_folder(void) {
  clean();
  rmdir(folder);
}

static bool read_good(void) {
  FILE *f = fopen(file, "rb");
  good = malloc(1 << 20);
  if (!f || !good)
    return false;
  good_size = fread(good, 1, 1 << 20, f);
  fclose(f);
  return good_size > 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
  const char *base = getenv("TMPDIR");
  snprintf(folder, sizeof folder, "%.150s/op2jit-fuzz-XXXXXX", base ? base : "/tmp");
  if (!mkdtemp(folder))
    abort();
  atexit(remove_folder);
  snprintf(file, sizeof file, "%s/kernels.db", folder);
  for (int i = 0; i < BINARIES; i++) {
    snprintf(hashes[i], sizeof hashes[i], "%064d", i + 1);
    for (int b = 0; b < BYTES; b++)
      binaries[i][b] = (unsigned char)(b * (i + 3) ^ b >> 3);
  }
  struct store *store = open_store();
  const struct store_tuning tuning = {"signature", "loop", "cpu", 4, "mesh", "whole",
                                      1e-3,        3,      true,  0, 1e-3,   false};
  bool kept = store_put_tunings(store, &tuning, 1) && store_put_verdict(store, "key", "no violation");
  for (int i = 0; i < BINARIES; i++)
    kept = put(store, i) && kept;
  store_close(store);
  if (!kept || !read_good())
    abort();
  return 0;
}

/* A place in the whole file, or near its beginning, where all structure is. */
static void change(unsigned char *bytes, size_t *length, const uint8_t *data) {
  const size_t place = ((size_t)data[0] << 8 | data[1]) * (data[3] % 2 ? 1 : 3) % *length;
  switch (data[3] / 2 % 8) {
  case 0: *length = place + 1; break;
  case 1: memset(bytes + place, data[2], *length - place < 64 ? *length - place : 64); break;
  case 2: memmove(bytes, bytes + place, *length - place); break;
  default: bytes[place] ^= data[2]; break;
  }
}

static bool write_changed(const uint8_t *data, size_t size) {
  unsigned char *bytes = malloc(good_size);
  size_t length = good_size;
  if (!bytes)
    return false;
  memcpy(bytes, good, good_size);
  for (size_t i = 0; i + 4 <= size; i += 4)
    change(bytes, &length, data + i);
  FILE *f = fopen(file, "wb");
  bool written = f && fwrite(bytes, 1, length, f) == length;
  written = f && fclose(f) == 0 && written;
  free(bytes);
  return written;
}

static void look(void *user, const struct store_row *row) {
  *(size_t *)user += strlen(row->hash) + strlen(row->loop);
}

static void ask(struct store *store) {
  for (int i = 0; i < BINARIES; i++) {
    const struct store_column columns = column(i);
    const struct store_key key = {.hash = hashes[i], .loop = "loop", .columns = &columns, .ncolumns = 1};
    struct store_blob blob = {0};
    if (store_get_binary(store, &key, &blob) &&
        (blob.size != BYTES || memcmp(blob.data, binaries[i], BYTES) != 0))
      abort();
    store_blob_free(&blob);
    struct text why = {0};
    store_get_source(store, hashes[i], &why);
    store_why(store, &key, &why);
    text_free(&why);
  }
  size_t seen = 0;
  struct store_tuning *rows = NULL;
  struct store_stats stats;
  struct text verdict = {0};
  const struct store_tuning_filter all = {0};
  store_list(store, NULL, look, &seen);
  const int count = store_get_tunings(store, &all, &rows);
  store_tunings_free(rows, count);
  store_get_verdict(store, "key", &verdict);
  text_free(&verdict);
  store_stats(store, &stats);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  clean();
  if (!write_changed(data, size))
    return 0;
  struct store *store = open_store();
  ask(store);
  put(store, 1);
  ask(store);
  if (size % 2) {
    struct text report = {0};
    long long checked = 0;
    store_verify(store, &report, &checked);
    text_free(&report);
  }
  store_close(store);
  /* And once more, with what was made of it. */
  store = open_store();
  ask(store);
  store_close(store);
  return 0;
}
