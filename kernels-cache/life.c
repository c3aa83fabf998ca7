/* The size of the cache: the least recently used binaries are evicted in coarse steps, with what has expired. */

#include "inner.h"

/* Eviction goes down to this share of the cap, so that it happens rarely. */
#define DOWN_TO 0.75
/* Keys without a binary that stay for "why": one for so many bytes of the cap. */
#define BYTES_PER_ORPHAN 65536

static long long ask_number(struct store *store, const char *sql) {
  return store_number(&store->main, store_ask(&store->main, sql, ""), 0);
}

static long long store_file_bytes(struct store *store, long long *free_bytes) {
  const long long size = ask_number(store, "PRAGMA page_size");
  *free_bytes = ask_number(store, "PRAGMA freelist_count") * size;
  return ask_number(store, "PRAGMA page_count") * size;
}

static long long used_bytes(struct store *store) {
  long long unused, bytes = store_file_bytes(store, &unused);
  return bytes - unused;
}

/* Inside a transaction: binaries, oldest use first, until no more than `target` bytes are used. The pages are
 * counted after every few. Returns how many went, -1 after a fault. */
static int evict(struct store *store, long long target) {
  struct connection *c = &store->main;
  int count = 0;
  bool good = true;
  sqlite3_stmt *st =
      store_prepare(c, "SELECT b.signature, s.hash, s.loop FROM binary b JOIN signature s ON s.id = "
                       "b.signature ORDER BY b.used, b.made, b.signature");
  if (!st)
    return -1;
  while (good && (count % 8 || used_bytes(store) > target) && store_step(c, st) == SQLITE_ROW) {
    good = event_put(store, store_text(st, 2), store_text(st, 1), "evicted",
                     "the cache was larger than its cap", 0.0) &&
           store_tell(store, "DELETE FROM binary WHERE signature = ?1", "i",
                      (long long)sqlite3_column_int64(st, 0));
    count += good;
  }
  sqlite3_reset(st);
  return good && !c->fault ? count : -1;
}

static bool drop_expired(struct store *store, long long cap) {
  return store_tell(store, "DELETE FROM lease WHERE expires <= ?1", "i", store_now(store)) &&
         trim_events(store, cap) &&
         store_tell(store,
                    "DELETE FROM signature WHERE id <= (SELECT max(id) FROM signature) - ?1 AND id NOT IN "
                    "(SELECT signature FROM binary)",
                    "i", cap / BYTES_PER_ORPHAN) &&
         store_tell(store, "DELETE FROM component WHERE signature NOT IN (SELECT id FROM signature)", "");
}

static int collect(struct store *store, long long cap) {
  if (!store_begin(store))
    return 0;
  bool good = drop_expired(store, cap);
  int gone = good && used_bytes(store) > cap ? evict(store, (long long)(DOWN_TO * (double)cap)) : 0;
  good = good && gone >= 0 && (gone == 0 || drop_expired(store, cap));
  if (!store_end(store, good))
    return 0;
  store_tell(store, "PRAGMA incremental_vacuum", "");
  if (gone)
    store_note(store, "%d binaries that were not used for the longest time are evicted; the cap is %lld MiB",
               gone, cap >> 20);
  return gone;
}

void gc_if_full(struct store *store) {
  if (used_bytes(store) > store->options.cap)
    collect(store, store->options.cap);
}

int store_gc(struct store *store, long long cap) {
  if (!store_enter(store))
    return 0;
  flush_touches(store);
  int gone = collect(store, cap > 0 ? cap : store->options.cap);
  store_leave(store);
  return gone;
}

int store_clear(struct store *store, const char *loop) {
  if (!store_enter(store))
    return 0;
  int gone = 0;
  if (store_begin(store)) {
    bool good = store_tell(
        store,
        "DELETE FROM binary WHERE ?1 IS NULL OR signature IN (SELECT id FROM signature WHERE loop = ?1)", "o",
        loop);
    gone = good ? sqlite3_changes(store->main.db) : 0;
    good = good && event_put(store, loop ? loop : "", "", "cleared", "by request", 0.0);
    if (!loop)
      good = good && store_tell(store, "DELETE FROM verdict", "") &&
             store_tell(store, "DELETE FROM damaged", "");
    if (!store_end(store, good))
      gone = 0;
    store_tell(store, "PRAGMA incremental_vacuum", "");
  }
  store->ntouches = 0;
  store_leave(store);
  return gone;
}

/* Read-only views: rows, and numbers about them. */

static void list_from(struct connection *c, const char *loop, store_visit_row *visit, void *user) {
  sqlite3_stmt *st = store_ask(c,
                               "SELECT s.hash, s.loop, b.size, length(b.data) + length(b.source), b.seconds, "
                               "b.made, b.used, coalesce((SELECT value FROM component WHERE signature = s.id "
                               "AND name = 'shape'), '') FROM binary b JOIN signature s ON s.id = "
                               "b.signature WHERE ?1 IS NULL OR s.loop = ?1 ORDER BY b.made DESC, s.id DESC",
                               "o", loop);
  while (st && store_step(c, st) == SQLITE_ROW) {
    struct store_row row = {.hash = store_text(st, 0),
                            .loop = store_text(st, 1),
                            .origin = store_where(c),
                            .size = sqlite3_column_int64(st, 2),
                            .stored = sqlite3_column_int64(st, 3),
                            .seconds = sqlite3_column_double(st, 4),
                            .made = sqlite3_column_int64(st, 5),
                            .used = sqlite3_column_int64(st, 6) * STORE_DAY,
                            .shape = store_text(st, 7)};
    visit(user, &row);
  }
  sqlite3_reset(st);
}

void store_list(struct store *store, const char *loop, store_visit_row *visit, void *user) {
  if (!store_enter(store))
    return;
  for (int i = -1; i < store->nlayers; i++)
    list_from(store_connection(store, i), loop, visit, user);
  store_leave(store);
}

void store_stats(struct store *store, struct store_stats *out) {
  *out = (struct store_stats){.journal = "none", .file_system = "none"};
  if (!store_enter(store))
    return;
  sqlite3_stmt *st = store_prepare(
      &store->main, "SELECT (SELECT count(*) FROM binary), (SELECT count(DISTINCT s.loop) FROM binary b JOIN "
                    "signature s ON s.id = b.signature), (SELECT coalesce(sum(size), 0) FROM binary), "
                    "(SELECT coalesce(sum(length(data) + length(source)), 0) FROM binary), (SELECT count(*) "
                    "FROM tuning), (SELECT count(*) FROM verdict), (SELECT "
                    "count(*) FROM fact), (SELECT count(*) FROM history), (SELECT count(*) FROM damaged), "
                    "(SELECT count(*) FROM lease), (SELECT coalesce(sum(seconds), 0) FROM binary)");
  if (st && store_step(&store->main, st) == SQLITE_ROW) {
    long long *const fields[] = {&out->binaries, &out->loops,    &out->binary_bytes, &out->stored_bytes,
                                 &out->tunings,  &out->verdicts, &out->facts,        &out->events,
                                 &out->damaged,  &out->leases};
    int n = (int)(sizeof fields / sizeof *fields);
    for (int i = 0; i < n; i++)
      *fields[i] = sqlite3_column_int64(st, i);
    out->seconds = sqlite3_column_double(st, n);
  }
  sqlite3_reset(st);
  out->file_bytes = store_file_bytes(store, &out->free_bytes);
  out->cap = store->options.cap;
  out->layers = store->nlayers;
  out->journal = store->journal;
  out->file_system = store->file_system;
  store_leave(store);
}
