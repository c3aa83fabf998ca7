/* Size: least recently used binaries go, in coarse steps, and what has expired goes with them. */
#include "inner.h"

/* Eviction goes down to this share of the cap, so that it happens rarely. */
#define DOWN_TO 0.75
/* Keys without a binary that stay for "why": one for so many bytes of the cap. */
#define BYTES_PER_ORPHAN 65536

static long long page_size(struct store *store) {
  sqlite3_stmt *st = store_prepare(store, &store->main, SQL_PAGE_SIZE);
  return st ? store_number(store, &store->main, st, 4096) : 4096;
}

long long store_file_bytes(struct store *store, long long *free_bytes) {
  struct connection *c = &store->main;
  sqlite3_stmt *pages = store_prepare(store, c, SQL_PAGE_COUNT);
  long long count = pages ? store_number(store, c, pages, 0) : 0;
  sqlite3_stmt *unused = store_prepare(store, c, SQL_FREE_COUNT);
  long long free_count = unused ? store_number(store, c, unused, 0) : 0;
  long long size = page_size(store);
  *free_bytes = free_count * size;
  return count * size;
}

static bool drop_binary(struct store *store, long long signature) {
  sqlite3_stmt *st = store_prepare(store, &store->main, SQL_DROP_BINARY);
  return st && sqlite3_bind_int64(st, 1, signature) == SQLITE_OK && store_run(store, &store->main, st);
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
  sqlite3_stmt *st = store_prepare(store, c, SQL_OLDEST_BINARIES);
  if (!st)
    return -1;
  while (good && (count % 8 || used_bytes(store) > target) && store_step(store, c, st) == SQLITE_ROW) {
    good = event_put(store, store_text(st, 2), store_text(st, 1), "evicted",
                     "the cache was larger than its cap", 0.0) &&
           drop_binary(store, sqlite3_column_int64(st, 0));
    count += good;
  }
  sqlite3_reset(st);
  return good && !c->fault ? count : -1;
}

static bool run_at(struct store *store, enum sql id, long long when) {
  sqlite3_stmt *st = store_prepare(store, &store->main, id);
  return st && sqlite3_bind_int64(st, 1, when) == SQLITE_OK && store_run(store, &store->main, st);
}

static bool drop_expired(struct store *store, long long cap) {
  long long now = store_now(store);
  return run_at(store, SQL_EXPIRE_FAILURES, now) && run_at(store, SQL_EXPIRE_LEASES, now) &&
         trim_events(store, cap) && run_at(store, SQL_DROP_ORPHANS, cap / BYTES_PER_ORPHAN) &&
         store_do(store, &store->main, SQL_DROP_ORPHAN_COMPONENTS);
}

static int collect(struct store *store, long long cap) {
  if (!store_begin(store))
    return 0;
  bool good = drop_expired(store, cap);
  int gone = good && used_bytes(store) > cap ? evict(store, (long long)(DOWN_TO * (double)cap)) : 0;
  good = good && gone >= 0 && (gone == 0 || drop_expired(store, cap));
  if (!good || !store_commit(store)) {
    store_rollback(store);
    return 0;
  }
  store_do(store, &store->main, SQL_INCREMENTAL_VACUUM);
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

static bool clear_for(struct store *store, enum sql id, const char *loop) {
  sqlite3_stmt *st = store_prepare(store, &store->main, id);
  return st && (loop ? store_bind_text(st, 1, loop) : sqlite3_bind_null(st, 1) == SQLITE_OK) &&
         store_run(store, &store->main, st);
}

int store_clear(struct store *store, const char *loop) {
  if (!store_enter(store))
    return 0;
  int gone = 0;
  if (store_begin(store)) {
    bool good = clear_for(store, SQL_CLEAR_BINARIES, loop);
    gone = good ? sqlite3_changes(store->main.db) : 0;
    good = good && clear_for(store, SQL_CLEAR_FAILURES, loop);
    good = good && event_put(store, loop ? loop : "", "", "cleared", "by request", 0.0);
    if (!loop)
      good = good && store_do(store, &store->main, SQL_CLEAR_VERDICTS) &&
             store_do(store, &store->main, SQL_CLEAR_DAMAGED);
    if (!good || !store_commit(store)) {
      store_rollback(store);
      gone = 0;
    }
    store_do(store, &store->main, SQL_INCREMENTAL_VACUUM);
  }
  store->ntouches = 0;
  store_leave(store);
  return gone;
}
