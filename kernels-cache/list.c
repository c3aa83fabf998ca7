/* Read-only views: rows, and numbers about them. */
#include <stdlib.h>
#include <string.h>

#include "inner.h"

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
                    "FROM failure), (SELECT count(*) FROM tuning), (SELECT count(*) FROM verdict), (SELECT "
                    "count(*) FROM fact), (SELECT count(*) FROM history), (SELECT count(*) FROM damaged), "
                    "(SELECT count(*) FROM lease), (SELECT coalesce(sum(seconds), 0) FROM binary)");
  if (st && store_step(&store->main, st) == SQLITE_ROW) {
    long long *const fields[] = {&out->binaries, &out->loops,   &out->binary_bytes, &out->stored_bytes,
                                 &out->failures, &out->tunings, &out->verdicts,     &out->facts,
                                 &out->events,   &out->damaged, &out->leases};
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
