/* Verdicts, a text under a text, and facts, a number and words of one machine. */
#include "inner.h"

bool store_put_verdict(struct store *store, const char *key, const char *verdict) {
  if (!store_enter(store))
    return false;
  const bool kept = store_can_write(store) &&
                    store_tell(store, "INSERT OR REPLACE INTO verdict(key, verdict, made) VALUES(?1, ?2, ?3)",
                               "tti", key, verdict, store_now(store));
  store_leave(store);
  return kept;
}

static bool verdict_from(struct connection *c, const void *key, void *out) {
  sqlite3_stmt *st = store_ask(c, "SELECT verdict FROM verdict WHERE key = ?1", "t", key);
  const bool found = st && store_step(c, st) == SQLITE_ROW && store_add_text(st, 0, out);
  sqlite3_reset(st);
  return found;
}

bool store_get_verdict(struct store *store, const char *key, struct text *out) {
  return store_any(store, verdict_from, key, out);
}

bool store_put_fact(struct store *store, const char *machine, const char *name, double number,
                    const char *words) {
  if (!store_enter(store))
    return false;
  const bool kept =
      store_can_write(store) &&
      store_tell(store,
                 "INSERT OR REPLACE INTO fact(machine, name, number, words, made) VALUES(?1, ?2, ?3, ?4, ?5)",
                 "ttdti", machine, name, number, words, store_now(store));
  store_leave(store);
  return kept;
}

bool store_get_fact(struct store *store, const char *machine, const char *name, long long valid_seconds,
                    double *number, struct text *words) {
  if (!store_enter(store))
    return false;
  struct connection *c = &store->main; /* a layer's machine is another one */
  sqlite3_stmt *st = store_ask(c, "SELECT number, words, made FROM fact WHERE machine = ?1 AND name = ?2",
                               "tt", machine, name);
  bool found = st && store_step(c, st) == SQLITE_ROW;
  if (found) {
    long long age = store_now(store) - sqlite3_column_int64(st, 2);
    found = valid_seconds <= 0 ||
            (age < valid_seconds && age > -3600); /* later than now: the clock was set back */
  }
  if (found && number)
    *number = sqlite3_column_double(st, 0);
  if (found && words)
    found = store_add_text(st, 1, words);
  sqlite3_reset(st);
  store_leave(store);
  return found;
}
