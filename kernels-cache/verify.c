/* Reads everything and compares it with what was noted when it was written. */
#include <string.h>

#include "inner.h"

/* The reason of the next damaged row behind row *at, which is set to it; NULL: there is none. `key` is to be
 * freed. */
static const char *next_damaged(struct connection *c, long long *at, struct store_key *key,
                                long long *checked) {
  sqlite3_stmt *st = binary_scan(c, *at);
  const char *why = NULL;
  while (st && !why && store_step(c, st) == SQLITE_ROW) {
    struct binary_row row;
    binary_from_row(st, &row);
    const bool whole = binary_check(store_text(st, 1), &row, &why);
    *at = row.signature;
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
