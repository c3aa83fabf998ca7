/* Verdicts (a text under a text) and facts (a number and words of one machine). */
#include "inner.h"

bool store_put_verdict(struct store *store, const char *key, const char *verdict) {
  if (!store_enter(store))
    return false;
  sqlite3_stmt *st = store_can_write(store) ? store_prepare(store, &store->main, SQL_PUT_VERDICT) : NULL;
  bool kept = st && store_bind_text(st, 1, key) && store_bind_text(st, 2, verdict) &&
              sqlite3_bind_int64(st, 3, store_now(store)) == SQLITE_OK && store_run(store, &store->main, st);
  store_leave(store);
  return kept;
}

static bool verdict_from(struct store *store, struct connection *c, const char *key, struct text *out) {
  sqlite3_stmt *st = store_prepare(store, c, SQL_GET_VERDICT);
  bool found = st && store_bind_text(st, 1, key) && store_step(store, c, st) == SQLITE_ROW;
  found = found && store_add_text(st, 0, out);
  sqlite3_reset(st);
  return found;
}

bool store_get_verdict(struct store *store, const char *key, struct text *out) {
  if (!store_enter(store))
    return false;
  bool found = verdict_from(store, &store->main, key, out);
  for (int i = 0; i < store->nlayers && !found; i++)
    found = verdict_from(store, &store->layers[i], key, out);
  store_leave(store);
  return found;
}

bool store_put_fact(struct store *store, const char *machine, const char *name, double number,
                    const char *words) {
  if (!store_enter(store))
    return false;
  sqlite3_stmt *st = store_can_write(store) ? store_prepare(store, &store->main, SQL_PUT_FACT) : NULL;
  bool kept = st && store_bind_text(st, 1, machine) && store_bind_text(st, 2, name) &&
              sqlite3_bind_double(st, 3, number) == SQLITE_OK && store_bind_text(st, 4, words) &&
              sqlite3_bind_int64(st, 5, store_now(store)) == SQLITE_OK && store_run(store, &store->main, st);
  store_leave(store);
  return kept;
}

bool store_get_fact(struct store *store, const char *machine, const char *name, long long valid_seconds,
                    double *number, struct text *words) {
  if (!store_enter(store))
    return false;
  struct connection *c = &store->main; /* a layer's machine is another one */
  sqlite3_stmt *st = store_prepare(store, c, SQL_GET_FACT);
  bool found = st && store_bind_text(st, 1, machine) && store_bind_text(st, 2, name) &&
               store_step(store, c, st) == SQLITE_ROW;
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
