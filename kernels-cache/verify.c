/* Reads everything and compares it with what was noted when it was written. */
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "inner.h"

bool binary_check(const char *hash, const struct binary_row *row, const char **why) {
  *why = NULL;
#ifndef OP2JIT_ZSTD
  if (row->encoding == ENCODING_ZSTD)
    return true; /* cannot be looked into by this build, which does not run it either */
#endif
  if ((row->stored && !row->data) || (row->source_stored && !row->source))
    return false; /* SQLite had no memory for the bytes */
  void *bytes = binary_bytes(hash, row, why);
  void *source =
      bytes ? unpack(row->source, row->source_stored, row->source_encoding, row->source_size, why) : NULL;
  const bool whole = source != NULL;
  if (whole)
    *why = NULL;
  free(bytes);
  free(source);
  return whole;
}

sqlite3_stmt *binary_scan(struct connection *c, long long after) {
  return store_ask(c,
                   "SELECT b.signature, s.hash, s.loop, b.size, b.encoding, b.checksum, b.data, "
                   "b.source_size, b.source_encoding, b.source, b.seconds, b.made, b.used FROM binary b LEFT "
                   "JOIN signature s ON s.id = b.signature WHERE b.signature > ?1 ORDER BY b.signature",
                   "i", after);
}

void binary_from_scan(sqlite3_stmt *st, struct binary_row *row) {
  *row =
      (struct binary_row){.size = (size_t)sqlite3_column_int64(st, 3),
                          .encoding = (enum encoding)sqlite3_column_int(st, 4),
                          .checksum = sqlite3_column_bytes(st, 5) == 32 ? sqlite3_column_blob(st, 5) : NULL,
                          .data = sqlite3_column_blob(st, 6),
                          .stored = (size_t)sqlite3_column_bytes(st, 6),
                          .source_size = (size_t)sqlite3_column_int64(st, 7),
                          .source_encoding = (enum encoding)sqlite3_column_int(st, 8),
                          .source = sqlite3_column_blob(st, 9),
                          .source_stored = (size_t)sqlite3_column_bytes(st, 9),
                          .seconds = sqlite3_column_double(st, 10),
                          .made = sqlite3_column_int64(st, 11),
                          .used = sqlite3_column_int64(st, 12)};
}

/* The reason of the next damaged row behind row *at, which is set to it; NULL: there is none. `key` is to be
 * freed. */
static const char *next_damaged(struct connection *c, long long *at, struct store_key *key,
                                long long *checked) {
  sqlite3_stmt *st = binary_scan(c, *at);
  const char *why = NULL;
  while (st && !why && store_step(c, st) == SQLITE_ROW) {
    struct binary_row row;
    binary_from_scan(st, &row);
    const bool whole = binary_check(store_text(st, 1), &row, &why);
    *at = sqlite3_column_int64(st, 0);
    ++*checked;
    if ((!whole && !why) || !sqlite3_column_text(st, 1)) {
      store_fault(c, SQLITE_NOMEM, "checking");
      why = NULL;
    }
    if (why)
      *key = (struct store_key){.hash = strdup(store_text(st, 1)), .loop = strdup(store_text(st, 2))};
  }
  sqlite3_reset(st);
  return key->hash && key->loop ? why : NULL;
}

static int verify_file(struct store *store, struct connection *c, struct text *report, long long *checked) {
  int findings = 0;
  long long at = 0;
  struct store_key key = {0};
  const bool layer = c != &store->main;
  store_check_file(c, report, &findings);
  for (const char *why; !c->fault && (why = next_damaged(c, &at, &key, checked)); findings++) {
    text_addf(report, "%s: binary %.12s of %s: %s; %s\n", store_where(c), key.hash, key.loop, why,
              layer ? "it will be passed over" : "it is set aside");
    if (!layer)
      binary_set_aside(store, at, &key, why);
    store_key_free(&key);
  }
  store_key_free(&key);
  if (c->fault) {
    text_addf(report, "%s: %s\n", store_where(c), text_str(&c->fault_words));
    findings += findings == 0;
  }
  return findings;
}

int store_verify(struct store *store, struct text *report, long long *checked) {
  long long count = 0;
  int findings = 0;
  if (store_enter(store)) {
    for (int i = -1; i < store->nlayers; i++) {
      struct connection *c = store_connection(store, i);
      if (c->db)
        findings += verify_file(store, c, report, &count);
    }
    store_leave(store);
  }
  if (checked)
    *checked = count;
  return findings;
}
