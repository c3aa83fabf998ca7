/* Binaries: in, out, and out of the way when they turn out to be damaged. */
#include <stdlib.h>
#include <string.h>

#include "inner.h"

void store_blob_free(struct store_blob *blob) {
  free(blob->data);
  free(blob->file);
  *blob = (struct store_blob){0};
}

static void print_age(long long seconds, struct text *out) {
  static const struct {
    long long seconds;
    const char *name;
  } units[] = {{STORE_DAY, "day"}, {3600, "hour"}, {60, "minute"}, {1, "second"}};
  for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
    const long long count = seconds / units[i].seconds;
    if (count > 0) {
      text_addf(out, "%lld %s%s ago", count, units[i].name, count == 1 ? "" : "s");
      return;
    }
  }
  text_add(out, "just now");
}

void store_blob_print(const struct store_blob *blob, struct text *out) {
  text_addf(out, "row %lld of %s%s, compiled ", blob->row, blob->from_layer ? "the read-only " : "",
            blob->file ? blob->file : "the cache in memory");
  print_age(blob->age, out);
  text_addf(out, " in %.0f ms", 1e3 * blob->seconds);
}

static bool run_for_signature(struct store *store, enum sql id, long long signature) {
  sqlite3_stmt *st = store_prepare(store, &store->main, id);
  return st && sqlite3_bind_int64(st, 1, signature) == SQLITE_OK && store_run(store, &store->main, st);
}

/* The row goes to the table of damaged ones, in one transaction. */
void binary_set_aside(struct store *store, long long signature, const struct store_key *key,
                      const char *reason) {
  struct connection *c = &store->main;
  if (!store_begin(store))
    return;
  sqlite3_stmt *st = store_prepare(store, c, SQL_KEEP_DAMAGED);
  bool good = st && sqlite3_bind_int64(st, 1, signature) == SQLITE_OK &&
              sqlite3_bind_int64(st, 2, store_now(store)) == SQLITE_OK && store_bind_text(st, 3, reason) &&
              store_run(store, c, st) && run_for_signature(store, SQL_DROP_BINARY, signature) &&
              store_do(store, c, SQL_TRIM_DAMAGED) &&
              event_put(store, key->loop, key->hash, "damaged", reason, 0.0);
  if (!good || !store_commit(store))
    store_rollback(store);
}

/* A hit does not write: the day stamps that are old are noted, and written with the next put or at the end. */
static void note_use(struct store *store, long long signature, long long used) {
  if (used < store_now(store) / STORE_DAY && store->ntouches < STORE_TOUCHES)
    store->touches[store->ntouches++] = signature;
}

static bool write_touches(struct store *store) {
  for (int i = 0; i < store->ntouches; i++) {
    sqlite3_stmt *st = store_prepare(store, &store->main, SQL_TOUCH_BINARY);
    if (!st || sqlite3_bind_int64(st, 1, store->touches[i]) != SQLITE_OK ||
        sqlite3_bind_int64(st, 2, store_now(store) / STORE_DAY) != SQLITE_OK ||
        !store_run(store, &store->main, st))
      return false;
  }
  return true;
}

void flush_touches(struct store *store) {
  if (store->ntouches && store_begin(store) && !(write_touches(store) && store_commit(store)))
    store_rollback(store);
  store->ntouches = 0;
}

enum found { FOUND_NOTHING, FOUND_GOOD, FOUND_DAMAGED };

/* Row by row the checks: columns, length, packing, checksum. */
static enum found check_row(struct store *store, struct connection *c, sqlite3_stmt *st,
                            const struct store_key *key, struct store_blob *out, const char **why) {
  int same = key_matches(store, c, sqlite3_column_int64(st, 0), key);
  if (same < 0)
    return FOUND_NOTHING;
  if (same == 0) {
    *why = "its key has the same hash and other columns";
    return FOUND_DAMAGED;
  }
  long long size = sqlite3_column_int64(st, 1);
  enum encoding encoding = (enum encoding)sqlite3_column_int(st, 2);
  const void *stored = sqlite3_column_blob(st, 5);
  size_t length = (size_t)sqlite3_column_bytes(st, 5);
  if (c->db && sqlite3_errcode(c->db) == SQLITE_NOMEM)
    return FOUND_NOTHING;
#ifndef OP2JIT_ZSTD
  if (encoding == ENCODING_ZSTD) {
    store_note(store,
               "a binary of %s is packed with zstd, which this build does not have; it is compiled again",
               key->loop);
    return FOUND_NOTHING;
  }
#endif
  *why = "its length is not what was noted";
  if (size < 0 || (stored == NULL && length))
    return FOUND_DAMAGED;
  out->data = unpack(stored, length, encoding, (size_t)size, why);
  if (!out->data)
    return *why == no_memory ? FOUND_NOTHING : FOUND_DAMAGED;
  out->size = (size_t)size;
  unsigned char checksum[32];
  store_checksum(key->hash, out->data, out->size, checksum);
  const void *noted = sqlite3_column_blob(st, 3);
  if (noted && sqlite3_column_bytes(st, 3) == 32 && memcmp(noted, checksum, 32) == 0)
    return FOUND_GOOD;
  *why = "its checksum is wrong";
  free(out->data);
  out->data = NULL;
  out->size = 0;
  return FOUND_DAMAGED;
}

static bool get_from(struct store *store, struct connection *c, const struct store_key *key,
                     struct store_blob *out) {
  sqlite3_stmt *st = store_prepare(store, c, SQL_GET_BINARY);
  if (!st || !store_bind_text(st, 1, key->hash))
    return false;
  enum found found = FOUND_NOTHING;
  const char *why = "";
  long long signature = 0, used = 0;
  if (store_step(store, c, st) == SQLITE_ROW) {
    signature = sqlite3_column_int64(st, 0);
    used = sqlite3_column_int64(st, 4);
    out->row = signature;
    out->made = sqlite3_column_int64(st, 6);
    out->age = store_now(store) - out->made;
    out->seconds = sqlite3_column_double(st, 7);
    found = check_row(store, c, st, key, out, &why);
  }
  sqlite3_reset(st); /* not before: it keeps both reads in one snapshot */
  bool layer = c != &store->main;
  if (found == FOUND_GOOD && c->path)
    out->file = strdup(c->path); /* without memory for it, it is only said less well */
  if (found == FOUND_GOOD && !layer)
    note_use(store, signature, used);
  if (found == FOUND_DAMAGED) {
    store_warn(store, "the binary of %s in the kernel cache %s is damaged: %s; it is %s and compiled again",
               key->loop, c->path ? c->path : "in memory", why, layer ? "passed over" : "set aside");
    if (!layer)
      binary_set_aside(store, signature, key, why);
  }
  out->from_layer = layer;
  return found == FOUND_GOOD;
}

bool store_get_binary(struct store *store, const struct store_key *key, struct store_blob *out) {
  *out = (struct store_blob){0};
  if (!store_enter(store))
    return false;
  bool found = get_from(store, &store->main, key, out);
  for (int i = 0; i < store->nlayers && !found; i++)
    found = get_from(store, &store->layers[i], key, out);
  store_leave(store);
  return found;
}

static bool has_in(struct store *store, struct connection *c, const struct store_key *key) {
  sqlite3_stmt *st = store_prepare(store, c, SQL_HAS_BINARY);
  if (!st || !store_bind_text(st, 1, key->hash))
    return false;
  long long id = store_number(store, c, st, 0);
  return id > 0 && key_matches(store, c, id, key) > 0;
}

bool store_has_binary(struct store *store, const struct store_key *key) {
  if (!store_enter(store))
    return false;
  bool found = has_in(store, &store->main, key);
  for (int i = 0; i < store->nlayers && !found; i++)
    found = has_in(store, &store->layers[i], key);
  store_leave(store);
  return found;
}

bool binary_put_row(struct store *store, long long signature, const struct binary_row *row) {
  sqlite3_stmt *st = store_prepare(store, &store->main, SQL_PUT_BINARY);
  return st && sqlite3_bind_int64(st, 1, signature) == SQLITE_OK &&
         sqlite3_bind_int64(st, 2, (sqlite3_int64)row->size) == SQLITE_OK &&
         sqlite3_bind_int(st, 3, (int)row->encoding) == SQLITE_OK &&
         store_bind_bytes(st, 4, row->checksum, 32, false) &&
         sqlite3_bind_double(st, 5, row->seconds) == SQLITE_OK &&
         sqlite3_bind_int64(st, 6, row->made) == SQLITE_OK &&
         sqlite3_bind_int64(st, 7, row->used) == SQLITE_OK &&
         sqlite3_bind_int64(st, 8, (sqlite3_int64)row->source_size) == SQLITE_OK &&
         sqlite3_bind_int(st, 9, (int)row->source_encoding) == SQLITE_OK &&
         store_bind_bytes(st, 10, row->data, row->stored, false) &&
         store_bind_bytes(st, 11, row->source, row->source_stored, false) &&
         store_run(store, &store->main, st);
}

static bool put_in_transaction(struct store *store, const struct store_key *key, const struct binary_row *row,
                               const char *reason) {
  store_stage(store, "put: begun");
  long long signature = key_put(store, key);
  store_stage(store, "put: key written");
  if (!signature || !binary_put_row(store, signature, row))
    return false;
  store_stage(store, "put: binary written");
  return run_for_signature(store, SQL_DROP_FAILURES, signature) && lease_drop(store, key->hash) &&
         event_put(store, key->loop, key->hash, "compiled", reason, row->seconds) && write_touches(store);
}

bool store_put_binary(struct store *store, const struct store_key *key,
                      const struct store_new_binary *binary) {
  if (!store_enter(store))
    return false;
  struct text reason = {0};
  struct packed data, source;
  unsigned char checksum[32];
  if (!binary->reason)
    why_unlocked(store, key, &reason);
  pack(binary->data, binary->size, &data);
  pack(binary->source ? binary->source : "", binary->source_length, &source);
  store_checksum(key->hash, binary->data, binary->size, checksum);
  struct binary_row row = {.size = binary->size,
                           .encoding = data.encoding,
                           .checksum = checksum,
                           .seconds = binary->seconds,
                           .made = store_now(store),
                           .used = store_now(store) / STORE_DAY,
                           .source_size = binary->source_length,
                           .source_encoding = source.encoding,
                           .data = data.data ? data.data : binary->data,
                           .stored = data.size,
                           .source = source.data ? source.data : binary->source,
                           .source_stored = source.size};
  bool kept = false;
  if (store_begin(store)) {
    kept = put_in_transaction(store, key, &row, binary->reason ? binary->reason : text_str(&reason)) &&
           store_commit(store);
    if (kept)
      store->ntouches = 0;
    else
      store_rollback(store);
  }
  if (kept)
    gc_if_full(store);
  else if (store->main.db && store_can_write(store) && !store->main.fault)
    lease_drop(store, key->hash); /* nobody need wait for what will not come */
  free(data.data);
  free(source.data);
  text_free(&reason);
  store_leave(store);
  return kept;
}

void store_reject_binary(struct store *store, const struct store_key *key, const char *reason) {
  if (!store_enter(store))
    return;
  long long signature = key_find(store, &store->main, key->hash);
  store_warn(store,
             "the binary of %s in the kernel cache does not load: %s; it is set aside and compiled again",
             key->loop, reason);
  if (signature > 0)
    binary_set_aside(store, signature, key, reason);
  store_leave(store);
}

static bool source_from(struct store *store, struct connection *c, const char *hash, struct text *out) {
  sqlite3_stmt *st = store_prepare(store, c, SQL_GET_SOURCE);
  if (!st || !store_bind_text(st, 1, hash))
    return false;
  bool found = false;
  if (store_step(store, c, st) == SQLITE_ROW) {
    long long size = sqlite3_column_int64(st, 0);
    const void *stored = sqlite3_column_blob(st, 2);
    const char *why;
    char *bytes = size >= 0 ? unpack(stored ? stored : "", (size_t)sqlite3_column_bytes(st, 2),
                                     (enum encoding)sqlite3_column_int(st, 1), (size_t)size, &why)
                            : NULL;
    found = bytes != NULL;
    if (found)
      text_add_bytes(out, bytes, (size_t)size);
    free(bytes);
  }
  sqlite3_reset(st);
  return found;
}

bool store_get_source(struct store *store, const char *hash, struct text *out) {
  if (!store_enter(store))
    return false;
  bool found = source_from(store, &store->main, hash, out);
  for (int i = 0; i < store->nlayers && !found; i++)
    found = source_from(store, &store->layers[i], hash, out);
  store_leave(store);
  return found;
}
