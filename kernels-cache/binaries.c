/* Binaries: in, out, and out of the way when they turn out to be damaged. */
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "inner.h"

void store_blob_free(struct store_blob *blob) {
  free(blob->data);
  free(blob->file);
  *blob = (struct store_blob){0};
}

void store_blob_print(const struct store_blob *blob, struct text *out) {
  text_addf(out, "row %lld of %s%s, compiled in %.0f ms", blob->row, blob->from_layer ? "the read-only " : "",
            blob->file ? blob->file : "the cache in memory", 1e3 * blob->seconds);
}

/* The row goes to the table of damaged ones, in one transaction. */
void binary_set_aside(struct store *store, long long signature, const struct store_key *key,
                      const char *reason) {
  if (store_begin(store))
    store_end(
        store,
        store_tell(store,
                   "INSERT INTO damaged(time, hash, loop, reason, size, encoding, checksum, data) SELECT ?2, "
                   "s.hash, s.loop, ?3, b.size, b.encoding, b.checksum, b.data FROM binary b JOIN signature "
                   "s ON s.id = b.signature WHERE b.signature = ?1",
                   "iit", signature, store_now(store), reason) &&
            store_tell(store, "DELETE FROM binary WHERE signature = ?1", "i", signature) &&
            store_tell(store, "DELETE FROM damaged WHERE id <= (SELECT max(id) FROM damaged) - 20", "") &&
            event_put(store, key->loop, key->hash, "damaged", reason, 0.0));
}

/* A hit does not write: the day stamps that are old are noted, and written with the next put or at the end. */
static void note_use(struct store *store, long long signature, long long used) {
  if (used < store_now(store) / STORE_DAY && store->ntouches < STORE_TOUCHES)
    store->touches[store->ntouches++] = signature;
}

static bool write_touches(struct store *store) {
  bool good = true;
  for (int i = 0; good && i < store->ntouches; i++)
    good = store_tell(store, "UPDATE binary SET used = ?2 WHERE signature = ?1 AND used <> ?2", "ii",
                      store->touches[i], store_now(store) / STORE_DAY);
  return good;
}

void flush_touches(struct store *store) {
  if (store->ntouches && store_begin(store))
    store_end(store, write_touches(store));
  store->ntouches = 0;
}

enum found { FOUND_NOTHING, FOUND_GOOD, FOUND_DAMAGED };

static void store_checksum(const char *hash, const void *data, size_t size, unsigned char out[32]) {
  struct sha256 state;
  sha256_begin(&state);
  sha256_add(&state, hash, strlen(hash));
  sha256_add(&state, data, size);
  sha256_end(&state, out);
}

void *binary_bytes(const char *hash, const struct binary_row *row, const char **why) {
  unsigned char checksum[32];
  void *bytes = unpack(row->data, row->stored, row->encoding, row->size, why);
  if (!bytes)
    return NULL;
  store_checksum(hash, bytes, row->size, checksum);
  if (row->checksum && memcmp(row->checksum, checksum, sizeof checksum) == 0)
    return bytes;
  free(bytes);
  *why = "its checksum is wrong";
  return NULL;
}

/* Row by row the checks: columns, length, packing, checksum. */
static enum found check_row(const struct store *store, struct connection *c, sqlite3_stmt *st,
                            const struct store_key *key, struct store_blob *out, const char **why) {
  int same = key_matches(c, sqlite3_column_int64(st, 0), key);
  if (same < 0)
    return FOUND_NOTHING;
  if (same == 0) {
    *why = "its key has the same hash and other columns";
    return FOUND_DAMAGED;
  }
  const struct binary_row row = {.size = (size_t)sqlite3_column_int64(st, 1),
                                 .encoding = (enum encoding)sqlite3_column_int(st, 2),
                                 .checksum =
                                     sqlite3_column_bytes(st, 3) == 32 ? sqlite3_column_blob(st, 3) : NULL,
                                 .data = sqlite3_column_blob(st, 5),
                                 .stored = (size_t)sqlite3_column_bytes(st, 5)};
  if (c->db && sqlite3_errcode(c->db) == SQLITE_NOMEM)
    return FOUND_NOTHING;
#ifdef OP2JIT_ZSTD
  (void)store;
#else
  if (row.encoding == ENCODING_ZSTD) {
    store_note(store,
               "a binary of %s is packed with zstd, which this build does not have; it is compiled again",
               key->loop);
    return FOUND_NOTHING;
  }
#endif
  out->data = binary_bytes(key->hash, &row, why);
  out->size = out->data ? row.size : 0;
  return out->data ? FOUND_GOOD : *why ? FOUND_DAMAGED : FOUND_NOTHING;
}

static bool get_from(struct store *store, struct connection *c, const struct store_key *key,
                     struct store_blob *out) {
  sqlite3_stmt *st = store_ask(c,
                               "SELECT s.id, b.size, b.encoding, b.checksum, b.used, b.data, b.seconds FROM "
                               "signature s JOIN binary b ON b.signature = s.id WHERE s.hash = ?1",
                               "t", key->hash);
  if (!st)
    return false;
  enum found found = FOUND_NOTHING;
  const char *why = "";
  long long signature = 0, used = 0;
  if (store_step(c, st) == SQLITE_ROW) {
    signature = sqlite3_column_int64(st, 0);
    used = sqlite3_column_int64(st, 4);
    out->row = signature;
    out->seconds = sqlite3_column_double(st, 6);
    found = check_row(store, c, st, key, out, &why);
  }
  sqlite3_reset(st); /* not before: it keeps both reads in one snapshot */
  bool layer = c != &store->main;
  if (found == FOUND_GOOD && c->path)
    out->file = strdup(c->path); /* without memory for it, it is only said less well */
  if (found == FOUND_GOOD && !layer)
    note_use(store, signature, used);
  if (found == FOUND_DAMAGED) {
    if (!layer)
      binary_set_aside(store, signature, key, why);
    /* A file that is damaged as a whole gets its warning when it is set aside. */
    if (c->fault != FAULT_DAMAGED)
      store_warn(store, "the binary of %s in the kernel cache %s is damaged: %s; it is %s and compiled again",
                 key->loop, store_where(c), why, layer ? "passed over" : "set aside");
  }
  out->from_layer = layer;
  return found == FOUND_GOOD;
}

bool store_get_binary(struct store *store, const struct store_key *key, struct store_blob *out) {
  bool found = false;
  *out = (struct store_blob){0};
  if (!store_enter(store))
    return false;
  for (int i = -1; i < store->nlayers && !found; i++)
    found = get_from(store, store_connection(store, i), key, out);
  store_leave(store);
  return found;
}

static bool has_in(struct connection *c, const void *wanted, void *ignored) {
  const struct store_key *key = wanted;
  sqlite3_stmt *st =
      store_ask(c, "SELECT s.id FROM signature s JOIN binary b ON b.signature = s.id WHERE s.hash = ?1", "t",
                key->hash);
  const long long id = store_number(c, st, 0);
  (void)ignored;
  return id > 0 && key_matches(c, id, key) > 0;
}

bool store_has_binary(struct store *store, const struct store_key *key) {
  return store_any(store, has_in, key, NULL);
}

static void visit_other(const struct store_key *found, const struct store_key *key, const char *column,
                        store_visit_value *visit, void *user) {
  const int differences = key_difference_count(found, key);
  for (int i = 0; i < found->ncolumns; i++)
    if (strcmp(found->columns[i].name, column) == 0 &&
        differences == !key_has_column(key, &found->columns[i]))
      visit(user, found->columns[i].value, found->columns[i].length);
}

static void others_in(struct connection *c, const struct store_key *key, const char *column,
                      store_visit_value *visit, void *user) {
  sqlite3_stmt *st =
      store_ask(c, "SELECT s.id FROM signature s JOIN binary b ON b.signature = s.id WHERE s.loop = ?1", "t",
                key->loop);
  struct store_key found;
  while (st && store_step(c, st) == SQLITE_ROW && key_read(c, sqlite3_column_int64(st, 0), &found)) {
    visit_other(&found, key, column, visit, user);
    store_key_free(&found);
  }
  sqlite3_reset(st);
}

void store_others(struct store *store, const struct store_key *key, const char *column,
                  store_visit_value *visit, void *user) {
  if (!store_enter(store))
    return;
  for (int i = -1; i < store->nlayers; i++)
    others_in(store_connection(store, i), key, column, visit, user);
  store_leave(store);
}

bool binary_put_row(struct store *store, long long signature, const struct binary_row *row) {
  return store_tell(
      store,
      "INSERT OR REPLACE INTO binary(signature, size, encoding, checksum, seconds, made, used, source_size, "
      "source_encoding, data, source) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
      "iinbdiiinbb", signature, (long long)row->size, (int)row->encoding, row->checksum, (size_t)32,
      row->seconds, row->made, row->used, (long long)row->source_size, (int)row->source_encoding, row->data,
      row->stored, row->source, row->source_stored);
}

static bool put_in_transaction(struct store *store, const struct store_key *key, const struct binary_row *row,
                               const char *reason) {
  store_stage(store, "put: begun");
  long long signature = key_put(store, key);
  store_stage(store, "put: key written");
  if (!signature || !binary_put_row(store, signature, row))
    return false;
  store_stage(store, "put: binary written");
  return store_tell(store, "DELETE FROM failure WHERE signature = ?1", "i", signature) &&
         lease_drop(store, key->hash) &&
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
    const char *why = binary->reason ? binary->reason : text_str(&reason);
    kept = store_end(store, put_in_transaction(store, key, &row, why));
  }
  if (kept) {
    store->ntouches = 0;
    gc_if_full(store);
  } else if (store_can_write(store) && !store->main.fault)
    lease_drop(store, key->hash); /* nobody must wait for this binary */
  free(data.data);
  free(source.data);
  text_free(&reason);
  store_leave(store);
  return kept;
}

void store_reject_binary(struct store *store, const struct store_key *key, const char *reason) {
  if (!store_enter(store))
    return;
  long long signature = key_find(&store->main, key->hash);
  store_warn(store,
             "the binary of %s in the kernel cache does not load: %s; it is set aside and compiled again",
             key->loop, reason);
  if (signature > 0)
    binary_set_aside(store, signature, key, reason);
  store_leave(store);
}

static bool source_from(struct connection *c, const void *hash, void *out) {
  sqlite3_stmt *st = store_ask(c,
                               "SELECT b.source_size, b.source_encoding, b.source FROM signature s JOIN "
                               "binary b ON b.signature = s.id WHERE s.hash = ?1",
                               "t", hash);
  bool found = false;
  if (st && store_step(c, st) == SQLITE_ROW) {
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
  return store_any(store, source_from, hash, out);
}

/* Binaries and sources on their way into the file: checksummed, and smaller where zstd is built in. */

#ifdef OP2JIT_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif

/* Below this the frame costs more than it saves. */
#define PACK_FROM 256
#define PACK_LEVEL 3

void pack(const void *data, size_t size, struct packed *out) {
  *out = (struct packed){.size = size, .encoding = ENCODING_PLAIN};
#ifdef OP2JIT_ZSTD
  if (size < PACK_FROM)
    return;
  size_t room = ZSTD_compressBound(size);
  void *bytes = ZSTD_isError(room) ? NULL : malloc(room);
  size_t packed = bytes ? ZSTD_compress(bytes, room, data, size, PACK_LEVEL) : size;
  if (!bytes || ZSTD_isError(packed) || packed >= size - size / 8) {
    free(bytes);
    return;
  }
  *out = (struct packed){bytes, packed, ENCODING_ZSTD};
#else
  (void)data;
#endif
}

/* True: the packing itself says this size. Asked before so many bytes are allocated. */
static bool size_is_right(const void *data, size_t stored, enum encoding encoding, size_t size) {
  if (encoding == ENCODING_PLAIN)
    return stored == size;
#ifdef OP2JIT_ZSTD
  return encoding == ENCODING_ZSTD && ZSTD_getFrameContentSize(data, stored) == size;
#else
  (void)data;
  return false;
#endif
}

void *unpack(const void *data, size_t stored, enum encoding encoding, size_t size, const char **why) {
  *why = "its length is not what was noted";
  if (!size_is_right(data, stored, encoding, size))
    return NULL;
  void *bytes = malloc(size ? size : 1);
  if (!bytes) {
    *why = NULL;
    return NULL;
  }
  if (encoding == ENCODING_PLAIN) {
    if (size)
      memcpy(bytes, data, size);
    return bytes;
  }
#ifdef OP2JIT_ZSTD
  size_t got = ZSTD_decompress(bytes, size, data, stored);
  if (!ZSTD_isError(got) && got == size)
    return bytes;
  if (ZSTD_isError(got))
    *why = ZSTD_getErrorCode(got) == ZSTD_error_memory_allocation ? NULL : ZSTD_getErrorName(got);
#endif
  free(bytes);
  return NULL;
}
