/* Measurements of variants, and which one was chosen. Each measured candidate is a row. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "inner.h"

/* The column `chosen`. */
enum { NOT_CHOSEN, CHOSEN, CHOSEN_SO_FAR };

static int choice_of(const struct store_tuning *t) {
  return !t->chosen ? NOT_CHOSEN : t->provisional ? CHOSEN_SO_FAR : CHOSEN;
}

static bool put_one(struct store *store, const struct store_tuning *t) {
  if (t->chosen && !store_tell(store,
                               "UPDATE tuning SET chosen = 0 WHERE signature = ?1 AND target = ?2 AND "
                               "threads = ?3 AND mesh = ?4 AND variant <> ?5 AND chosen <> 0",
                               "ttntt", t->signature, t->target, t->threads, t->mesh, t->variant))
    return false;
  return store_tell(store,
                    "INSERT OR REPLACE INTO tuning(signature, target, threads, mesh, variant, loop, median, "
                    "count, chosen, made, baseline) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
                    "ttntttdnnid", t->signature, t->target, t->threads, t->mesh, t->variant, t->loop,
                    t->median, t->count, choice_of(t), store_now(store), t->baseline);
}

bool store_put_tunings(struct store *store, const struct store_tuning *rows, int count) {
  if (!store_enter(store))
    return false;
  bool kept = count > 0 && store_begin(store);
  if (kept) {
    for (int i = 0; i < count && kept; i++)
      kept = put_one(store, &rows[i]);
    kept = store_end(store, kept);
  }
  store_leave(store);
  return kept;
}

/* ---- reading ------------------------------------------------------------------------------------*/

static void free_row(struct store_tuning *t) {
  free((char *)(size_t)t->signature);
  free((char *)(size_t)t->loop);
  free((char *)(size_t)t->target);
  free((char *)(size_t)t->mesh);
  free((char *)(size_t)t->variant);
}

void store_tunings_free(struct store_tuning *rows, int count) {
  for (int i = 0; i < count; i++)
    free_row(&rows[i]);
  free(rows);
}

static sqlite3_stmt *ask_filter(struct connection *c, const char *sql, const struct store_tuning_filter *f) {
  return store_ask(c, sql, "oooonn", f->signature, f->loop, f->target, f->mesh, f->threads,
                   (int)f->chosen_only);
}

static bool same_place(const struct store_tuning *a, const struct store_tuning *b) {
  return a->threads == b->threads && strcmp(a->signature, b->signature) == 0 &&
         strcmp(a->target, b->target) == 0 && strcmp(a->mesh, b->mesh) == 0 &&
         strcmp(a->variant, b->variant) == 0;
}

struct tuning_list {
  struct store_tuning *rows;
  int count;
};

static bool take_row(struct tuning_list *list, sqlite3_stmt *st, int main_rows) {
  struct store_tuning *more = array_more(list->rows, (size_t)list->count, sizeof *more);
  if (!more)
    return false;
  list->rows = more;
  struct store_tuning t = {.signature = store_copy_text(st, 0),
                           .loop = store_copy_text(st, 1),
                           .target = store_copy_text(st, 2),
                           .threads = sqlite3_column_int(st, 3),
                           .mesh = store_copy_text(st, 4),
                           .variant = store_copy_text(st, 5),
                           .median = sqlite3_column_double(st, 6),
                           .count = sqlite3_column_int(st, 7),
                           .chosen = sqlite3_column_int(st, 8) != NOT_CHOSEN,
                           .provisional = sqlite3_column_int(st, 8) == CHOSEN_SO_FAR,
                           .made = sqlite3_column_int64(st, 9),
                           .baseline = sqlite3_column_double(st, 10)};
  bool good = t.signature && t.loop && t.target && t.mesh && t.variant;
  bool shadowed = false;
  for (int i = 0; good && i < main_rows && !shadowed; i++)
    shadowed = same_place(&list->rows[i], &t);
  if (!good || shadowed)
    free_row(&t);
  else
    list->rows[list->count++] = t;
  return good;
}

int store_get_tunings(struct store *store, const struct store_tuning_filter *filter,
                      struct store_tuning **rows) {
  *rows = NULL;
  if (!store_enter(store))
    return 0;
  struct tuning_list list = {0};
  bool good = true;
  for (int i = -1; i < store->nlayers && good; i++) {
    struct connection *c = store_connection(store, i);
    sqlite3_stmt *st =
        ask_filter(c,
                   "SELECT signature, loop, target, threads, mesh, variant, median, count, chosen, made, "
                   "baseline FROM tuning WHERE (?1 IS NULL OR signature = ?1) AND (?2 IS NULL OR loop = ?2) "
                   "AND (?3 IS NULL OR target = ?3) AND (?4 IS NULL OR mesh = ?4) AND (?5 = 0 OR threads = "
                   "?5) AND (?6 = 0 OR chosen <> 0) ORDER BY loop, signature, target, threads, mesh, median",
                   filter);
    int before = list.count;
    while (good && st && store_step(c, st) == SQLITE_ROW)
      good = take_row(&list, st, before);
    sqlite3_reset(st);
  }
  store_leave(store);
  if (!good) {
    store_tunings_free(list.rows, list.count);
    return 0;
  }
  *rows = list.rows;
  return list.count;
}

int store_clear_tunings(struct store *store, const struct store_tuning_filter *filter) {
  if (!store_enter(store))
    return 0;
  struct connection *c = &store->main;
  sqlite3_stmt *st = store_can_write(store)
                         ? ask_filter(c,
                                      "DELETE FROM tuning WHERE (?1 IS NULL OR signature = ?1) AND (?2 IS "
                                      "NULL OR loop = ?2) AND (?3 IS NULL OR target = ?3) AND (?4 IS NULL OR "
                                      "mesh = ?4) AND (?5 = 0 OR threads = ?5) AND (?6 = 0 OR chosen <> 0)",
                                      filter)
                         : NULL;
  const int gone = st && store_run(c, st) ? sqlite3_changes(c->db) : 0;
  store_leave(store);
  return gone;
}
