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
                   "INSERT INTO damaged(time, hash, loop, reason, size, checksum, data) SELECT ?2, s.hash, "
                   "s.loop, ?3, b.size, b.checksum, b.data FROM binary b JOIN signature s ON s.id = "
                   "b.signature WHERE b.signature = ?1",
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

static void store_checksum(const char *hash, const void *data, size_t size, unsigned char out[32]) {
  struct sha256 state;
  sha256_begin(&state);
  sha256_add(&state, hash, strlen(hash));
  sha256_add(&state, size ? data : "", size); /* SQLite has NULL for no bytes */
  sha256_end(&state, out);
}

bool binary_check(const char *hash, const struct binary_row *row, const char **why) {
  unsigned char checksum[32];
  *why = row->stored == row->size ? NULL : "its length is not what was noted";
  if (*why || (row->stored && !row->data))
    return false;
  store_checksum(hash, row->data, row->size, checksum);
  if (!row->checksum || memcmp(row->checksum, checksum, sizeof checksum) != 0)
    *why = "its checksum is wrong";
  return !*why;
}

#define COLUMNS "b.signature, s.hash, s.loop, b.size, b.checksum, b.data, b.seconds, b.made, b.used, b.source"

void binary_from_row(sqlite3_stmt *st, struct binary_row *row) {
  *row =
      (struct binary_row){.signature = sqlite3_column_int64(st, 0),
                          .size = (size_t)sqlite3_column_int64(st, 3),
                          .checksum = sqlite3_column_bytes(st, 4) == 32 ? sqlite3_column_blob(st, 4) : NULL,
                          .data = sqlite3_column_blob(st, 5),
                          .stored = (size_t)sqlite3_column_bytes(st, 5),
                          .seconds = sqlite3_column_double(st, 6),
                          .made = sqlite3_column_int64(st, 7),
                          .used = sqlite3_column_int64(st, 8)};
}

void binary_add_source(sqlite3_stmt *st, struct binary_row *row) {
  row->source = sqlite3_column_blob(st, 9);
  row->source_stored = (size_t)sqlite3_column_bytes(st, 9);
}

sqlite3_stmt *binary_scan(struct connection *c, long long after) {
  return store_ask(c,
                   "SELECT " COLUMNS " FROM binary b LEFT JOIN signature s ON s.id = b.signature WHERE "
                   "b.signature > ?1 ORDER BY b.signature",
                   "i", after);
}

/* A copy of the bytes. NULL: *why says what is not as it was written; *why is NULL: there is no memory, or a fault. */
static void *good_bytes(struct connection *c, const struct store_key *key, const struct binary_row *row,
                        const char **why) {
  const int same = key_matches(c, row->signature, key);
  *why = same == 0 ? "its key has the same hash and other columns" : NULL;
  if (same <= 0 || !binary_check(key->hash, row, why))
    return NULL;
  void *bytes = malloc(row->size ? row->size : 1);
  if (bytes && row->size)
    memcpy(bytes, row->data, row->size);
  return bytes;
}

static bool get_from(struct store *store, struct connection *c, const struct store_key *key,
                     struct store_blob *out) {
  sqlite3_stmt *st = store_ask(
      c, "SELECT " COLUMNS " FROM signature s JOIN binary b ON b.signature = s.id WHERE s.hash = ?1", "t",
      key->hash);
  struct binary_row row = {0};
  const char *why = NULL;
  const bool layer = c != &store->main;
  if (st && store_step(c, st) == SQLITE_ROW) {
    binary_from_row(st, &row);
    const bool read = sqlite3_errcode(c->db) != SQLITE_NOMEM;
    *out = (struct store_blob){.data = read ? good_bytes(c, key, &row, &why) : NULL,
                               .from_layer = layer,
                               .row = row.signature,
                               .seconds = row.seconds};
  }
  sqlite3_reset(st); /* not before: it keeps both reads in one snapshot */
  if (out->data) {
    out->size = row.size;
    out->file = c->path ? strdup(c->path) : NULL; /* without memory for it, it is only said less well */
    if (!layer)
      note_use(store, row.signature, row.used);
  }
  if (why && !layer)
    binary_set_aside(store, row.signature, key, why);
  /* A file that is damaged as a whole gets its warning when it is set aside. */
  if (why && c->fault != FAULT_DAMAGED)
    store_warn(store, "the binary of %s in the kernel cache %s is damaged: %s; it is %s and compiled again",
               key->loop, store_where(c), why, layer ? "passed over" : "set aside");
  return out->data;
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
      "INSERT OR REPLACE INTO binary(signature, size, checksum, seconds, made, used, data, source) "
      "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
      "iibdiibb", signature, (long long)row->size, row->checksum, (size_t)32, row->seconds, row->made,
      row->used, row->data, row->stored, row->source, row->source_stored);
}

static bool put_in_transaction(struct store *store, const struct store_key *key, const struct binary_row *row,
                               const char *reason) {
  store_stage(store, "put: begun");
  long long signature = key_put(store, key);
  store_stage(store, "put: key written");
  if (!signature || !binary_put_row(store, signature, row))
    return false;
  store_stage(store, "put: binary written");
  return lease_drop(store, key->hash) &&
         event_put(store, key->loop, key->hash, "compiled", reason, row->seconds) && write_touches(store);
}

bool store_put_binary(struct store *store, const struct store_key *key,
                      const struct store_new_binary *binary) {
  if (!store_enter(store))
    return false;
  struct text reason = {0};
  unsigned char checksum[32];
  if (!binary->reason)
    why_unlocked(store, key, &reason);
  store_checksum(key->hash, binary->data, binary->size, checksum);
  struct binary_row row = {.size = binary->size,
                           .checksum = checksum,
                           .seconds = binary->seconds,
                           .made = store_now(store),
                           .used = store_now(store) / STORE_DAY,
                           .data = binary->data,
                           .stored = binary->size,
                           .source = binary->source,
                           .source_stored = binary->source_length};
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
  sqlite3_stmt *st = store_ask(
      c, "SELECT b.source FROM signature s JOIN binary b ON b.signature = s.id WHERE s.hash = ?1", "t", hash);
  const bool found = st && store_step(c, st) == SQLITE_ROW;
  const void *bytes = found ? sqlite3_column_blob(st, 0) : NULL;
  if (bytes)
    text_add_bytes(out, bytes, (size_t)sqlite3_column_bytes(st, 0));
  sqlite3_reset(st);
  return found;
}

bool store_get_source(struct store *store, const char *hash, struct text *out) {
  return store_any(store, source_from, hash, out);
}
