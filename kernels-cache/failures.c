/* Compiles that failed: not tried again by the same compiler until the row expires. */
#include <string.h>

#include "inner.h"

#define A_WEEK (7 * STORE_DAY)

static bool put_in_transaction(struct store *store, const struct store_key *key, const char *compiler,
                               const char *message, const char *reason, long long valid_seconds) {
  const long long signature = key_put(store, key), now = store_now(store);
  return signature &&
         store_tell(store,
                    "INSERT OR REPLACE INTO failure(signature, compiler, message, made, expires) VALUES(?1, "
                    "?2, ?3, ?4, ?5)",
                    "ittii", signature, compiler, message, now,
                    now + (valid_seconds > 0 ? valid_seconds : A_WEEK)) &&
         lease_drop(store, key->hash) && event_put(store, key->loop, key->hash, "failed", reason, 0.0);
}

bool store_put_failure(struct store *store, const struct store_key *key, const char *compiler,
                       const char *message, const char *summary, long long valid_seconds) {
  if (!store_enter(store))
    return false;
  struct text reason = {0};
  for (const char *c = summary; *c; c++)
    text_add_char(&reason, *c == '\n' ? ' ' : *c);
  text_add(&reason, "; ");
  why_unlocked(store, key, &reason);
  const bool kept =
      store_begin(store) &&
      store_end(store, put_in_transaction(store, key, compiler, message, text_str(&reason), valid_seconds));
  text_free(&reason);
  store_leave(store);
  return kept;
}

static bool failure_from(struct store *store, struct connection *c, const struct store_key *key,
                         const char *compiler, struct text *message) {
  sqlite3_stmt *st =
      store_ask(c,
                "SELECT s.id, f.message FROM signature s JOIN failure f ON f.signature = s.id WHERE s.hash = "
                "?1 AND f.compiler = ?2 AND f.made <= ?3 + 3600 AND f.expires > ?3",
                "tti", key->hash, compiler, store_now(store));
  if (!st)
    return false;
  const bool found = store_step(c, st) == SQLITE_ROW &&
                     key_matches(c, sqlite3_column_int64(st, 0), key) > 0 && store_add_text(st, 1, message);
  sqlite3_reset(st);
  return found;
}

bool store_get_failure(struct store *store, const struct store_key *key, const char *compiler,
                       struct text *message) {
  if (!store_enter(store))
    return false;
  bool found = false;
  for (int i = -1; i < store->nlayers && !found; i++)
    found = failure_from(store, store_connection(store, i), key, compiler, message);
  store_leave(store);
  return found;
}
