/* Events and why they happened, speeds of loops, and the sentence for a miss, which comes from the rows alone. */
#include <string.h>
#include <time.h>

#include "inner.h"

/* The part of the cap that the history may have. */
#define BYTES_PER_EVENT 16384
#define MOST_EVENTS 20000
#define LEAST_EVENTS 100

bool trim_events(struct store *store, long long cap) {
  long long most = cap / BYTES_PER_EVENT;
  most = most < LEAST_EVENTS ? LEAST_EVENTS : most < MOST_EVENTS ? most : MOST_EVENTS;
  return store_tell(store, "DELETE FROM history WHERE id <= (SELECT max(id) FROM history) - ?1", "i", most);
}

bool event_put(struct store *store, const char *loop, const char *hash, const char *event, const char *reason,
               double seconds) {
  if (!store_tell(store,
                  "INSERT INTO history(time, loop, hash, event, reason, seconds, host, pid) VALUES(?1, ?2, "
                  "?3, ?4, ?5, ?6, ?7, ?8)",
                  "ittttdtn", store_now(store), loop, hash, event, reason, seconds,
                  text_str(&store->host_name), (int)store->pid))
    return false;
  /* Old history goes now and then, not at each event. */
  return sqlite3_last_insert_rowid(store->main.db) % 1024 != 0 || trim_events(store, store->options.cap);
}

void store_history(struct store *store, const char *loop, int limit, store_visit_event *visit, void *user) {
  if (!store_enter(store))
    return;
  sqlite3_stmt *st = store_ask(&store->main,
                               "SELECT id, time, loop, hash, event, reason, seconds, host, pid FROM history "
                               "WHERE ?1 IS NULL OR loop = ?1 ORDER BY id DESC LIMIT ?2",
                               "on", loop, limit > 0 ? limit : -1);
  while (st && store_step(&store->main, st) == SQLITE_ROW) {
    struct store_event event = {sqlite3_column_int64(st, 0),
                                sqlite3_column_int64(st, 1),
                                store_text(st, 2),
                                store_text(st, 3),
                                store_text(st, 4),
                                store_text(st, 5),
                                sqlite3_column_double(st, 6),
                                store_text(st, 7),
                                sqlite3_column_int(st, 8)};
    visit(user, &event);
  }
  sqlite3_reset(st);
  store_leave(store);
}

/* ---- how fast loops were ----------------------------------------------------------------------*/

static bool put_speed(struct store *store, const struct store_speed *s) {
  return store_tell(store,
                    "INSERT INTO speed(time, loop, signature, machine, threads, mesh, elements, version, "
                    "variant, seconds, calls) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
                    "itttntittdi", store_now(store), s->loop, s->signature, s->machine, s->threads, s->mesh,
                    s->elements, s->version, s->variant, s->seconds, s->calls) &&
         store_tell(store,
                    "DELETE FROM speed WHERE loop = ?1 AND id <= (SELECT id FROM speed WHERE loop = ?1 ORDER "
                    "BY id DESC LIMIT 1 OFFSET ?2)",
                    "tn", s->loop, (int)STORE_SPEEDS);
}

bool store_put_speeds(struct store *store, const struct store_speed *rows, int count) {
  if (!store_enter(store))
    return false;
  bool kept = count > 0 && store_begin(store);
  if (kept) {
    for (int i = 0; i < count && kept; i++)
      kept = put_speed(store, &rows[i]);
    kept = store_end(store, kept);
  }
  store_leave(store);
  return kept;
}

void store_speeds(struct store *store, const char *loop, store_visit_speed *visit, void *user) {
  if (!store_enter(store))
    return;
  struct connection *c = &store->main;
  sqlite3_stmt *st = store_ask(c,
                               "SELECT time, loop, signature, machine, threads, mesh, elements, version, "
                               "variant, seconds, calls FROM speed WHERE ?1 IS NULL OR loop = ?1 ORDER BY "
                               "loop, id DESC",
                               "o", loop);
  while (st && store_step(c, st) == SQLITE_ROW) {
    const struct store_speed speed = {.time = sqlite3_column_int64(st, 0),
                                      .loop = store_text(st, 1),
                                      .signature = store_text(st, 2),
                                      .machine = store_text(st, 3),
                                      .threads = sqlite3_column_int(st, 4),
                                      .mesh = store_text(st, 5),
                                      .elements = sqlite3_column_int64(st, 6),
                                      .version = store_text(st, 7),
                                      .variant = store_text(st, 8),
                                      .seconds = sqlite3_column_double(st, 9),
                                      .calls = sqlite3_column_int64(st, 10)};
    visit(user, &speed);
  }
  sqlite3_reset(st);
  store_leave(store);
}

/* ---- why ---------------------------------------------------------------------------------------*/

/* The fate of the binary of a key that was here before. */
static void why_gone(struct store *store, const struct store_key *key, struct text *out) {
  sqlite3_stmt *st = store_ask(
      &store->main, "SELECT event, reason, time FROM history WHERE hash = ?1 ORDER BY id DESC LIMIT 1", "t",
      key->hash);
  if (st && store_step(&store->main, st) == SQLITE_ROW) {
    time_t when = (time_t)sqlite3_column_int64(st, 2);
    struct tm tm;
    char day[32] = "";
    if (gmtime_r(&when, &tm))
      strftime(day, sizeof day, "%Y-%m-%d", &tm);
    text_addf(out, "nothing changed, but the binary is no longer here: %s %s%s%s%s", store_text(st, 0), day,
              store_text(st, 1)[0] ? " (" : "", store_text(st, 1), store_text(st, 1)[0] ? ")" : "");
  } else
    text_add(out, "nothing changed, but the binary is no longer here");
  sqlite3_reset(st);
}

/* The names of the columns that differ, for a store without a sentence of its own. */
static void changed_columns(const struct store_key *from, const struct store_key *to, struct text *out) {
  const char *gap = "";
  for (int i = 0; i < to->ncolumns; i++)
    if (!key_has_column(from, &to->columns[i])) {
      text_addf(out, "%s%s", gap, to->columns[i].name);
      gap = ", ";
    }
}

static const char *kind_of(const struct store *store, const struct store_key *key) {
  return store->options.kind ? store->options.kind(key) : "";
}

/* The key with the fewest differences, the newest of several, among the newest keys of this name and kind. */
static bool find_nearest(struct store *store, struct connection *c, const struct store_key *key,
                         struct store_key *nearest) {
  long long ids[64];
  int count = 0, best = -1;
  sqlite3_stmt *st =
      store_ask(c, "SELECT id FROM signature WHERE loop = ?1 ORDER BY id DESC LIMIT 64", "t", key->loop);
  if (!st)
    return false;
  while (count < 64 && store_step(c, st) == SQLITE_ROW)
    ids[count++] = sqlite3_column_int64(st, 0);
  sqlite3_reset(st);
  for (int i = 0; i < count; i++) {
    struct store_key candidate;
    if (!key_read(c, ids[i], &candidate))
      break;
    const bool same_kind = strcmp(kind_of(store, &candidate), kind_of(store, key)) == 0;
    int differences = key_difference_count(&candidate, key);
    if (same_kind && (best < 0 || differences < best)) {
      store_key_free(nearest);
      *nearest = candidate;
      best = differences;
    } else
      store_key_free(&candidate);
    if (best == 0)
      break;
  }
  return best >= 0;
}

void why_unlocked(struct store *store, const struct store_key *key, struct text *out) {
  struct store_key nearest = {0};
  bool found = false;
  for (int i = -1; i < store->nlayers && !found; i++)
    found = find_nearest(store, store_connection(store, i), key, &nearest);
  const char *kind = kind_of(store, key);
  if (!found && *kind)
    text_add(out, kind);
  else if (!found)
    text_addf(out, "first time that a loop named %s is compiled for this cache", key->loop);
  else {
    text_addf(out, "%s%s", kind, *kind ? ": " : "");
    if (key_same(&nearest, key))
      why_gone(store, key, out);
    else
      (store->options.sentence ? store->options.sentence : changed_columns)(&nearest, key, out);
  }
  store_key_free(&nearest);
}

void store_why(struct store *store, const struct store_key *key, struct text *out) {
  if (!store_enter(store))
    return;
  why_unlocked(store, key, out);
  store_leave(store);
}

void store_note_failure(struct store *store, const struct store_key *key, const char *summary) {
  if (!store_enter(store))
    return;
  struct text reason = {0};
  for (const char *c = summary; *c; c++)
    text_add_char(&reason, *c == '\n' ? ' ' : *c);
  text_add(&reason, "; ");
  why_unlocked(store, key, &reason);
  if (store_begin(store))
    store_end(store, key_put(store, key) && lease_drop(store, key->hash) &&
                         event_put(store, key->loop, key->hash, "failed", text_str(&reason), 0.0));
  text_free(&reason);
  store_leave(store);
}
