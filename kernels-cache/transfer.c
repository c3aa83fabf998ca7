/* Export into a new file that is fit to be a layer, and import from one: each all or nothing. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "inner.h"

struct wanted {
  const char *const *loops;
  int count;
};

static bool is_wanted(const struct wanted *w, const char *loop) {
  for (int i = 0; i < w->count; i++)
    if (strcmp(w->loops[i], loop) == 0)
      return true;
  return w->count == 0;
}

static int file_error(struct error *err, const char *doing, const struct connection *c) {
  return error_set(err, OP_ERR_FILE, "%s %s: %s; nothing was changed", doing, store_where(c),
                   c->fault_words.length ? text_str(&c->fault_words) : "it is not possible now");
}

/* ---- one row from a connection into the main file of a store, inside a transaction ---------------*/

static int copy_binary(struct store *to, struct connection *from, sqlite3_stmt *st, const char *event,
                       struct error *err) {
  struct store_key key;
  struct binary_row row;
  long long signature = sqlite3_column_int64(st, 0);
  if (!key_read(from, signature, &key))
    return file_error(err, "reading", from);
  binary_from_row(st, &row);
  binary_add_source(st, &row);
  const char *why = NULL;
  const bool whole =
      key.hash && key.loop && (row.source || !row.source_stored) && binary_check(key.hash, &row, &why);
  int code = OP_OK;
  if (!whole && !why)
    code = error_memory(err, "a binary", row.size);
  else if (!whole)
    code = error_set(err, OP_ERR_FILE,
                     "the binary of %s in %s is damaged: %s; nothing was taken over. Run: op2jit cache "
                     "verify",
                     store_text(st, 2), store_where(from), why);
  else {
    long long id = key_put(to, &key);
    if (!id || !binary_put_row(to, id, &row) ||
        !event_put(to, key.loop, key.hash, event, from->path, row.seconds))
      code = file_error(err, "writing", &to->main);
  }
  store_key_free(&key);
  return code;
}

static int copy_binaries(struct store *to, struct connection *from, const struct wanted *wanted,
                         const char *event, long long *rows, struct error *err) {
  sqlite3_stmt *st = binary_scan(from, 0);
  int code = OP_OK;
  while (st && code == OP_OK && store_step(from, st) == SQLITE_ROW)
    if (!sqlite3_column_text(st, 2))
      code = error_memory(err, "a loop's name", 0);
    else if (is_wanted(wanted, store_text(st, 2))) {
      code = copy_binary(to, from, st, event, err);
      *rows += code == OP_OK;
    }
  sqlite3_reset(st);
  if (code == OP_OK && from->fault)
    code = file_error(err, "reading", from);
  return code;
}

/* Tables whose rows are copied as they are: `read` gives the columns that `write` takes. */
static const struct {
  const char *read, *write;
  int columns, loop; /* column that names the loop, -1: none */
} plain[] = {
    {"SELECT signature, target, threads, mesh, variant, loop, median, count, chosen, made, baseline FROM "
     "tuning",
     "INSERT INTO tuning(signature, target, threads, mesh, variant, loop, median, count, chosen, made, "
     "baseline) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT DO UPDATE SET loop = ?6, "
     "median = ?7, count = ?8, chosen = ?9, made = ?10, baseline = ?11 WHERE excluded.made > tuning.made",
     11, 5},
    {"SELECT key, verdict, made FROM verdict",
     "INSERT OR REPLACE INTO verdict(key, verdict, made) VALUES(?1, ?2, ?3)", 3, -1},
};

static int copy_plain(struct store *to, struct connection *from, const struct wanted *wanted,
                      struct error *err) {
  for (size_t t = 0; t < sizeof plain / sizeof *plain; t++) {
    sqlite3_stmt *st = store_prepare(from, plain[t].read);
    bool good = st != NULL;
    while (good && store_step(from, st) == SQLITE_ROW) {
      if (plain[t].loop >= 0 ? !is_wanted(wanted, store_text(st, plain[t].loop)) : wanted->count > 0)
        continue;
      sqlite3_stmt *out = store_prepare(&to->main, plain[t].write);
      good = out != NULL;
      for (int i = 0; good && i < plain[t].columns; i++)
        good = sqlite3_bind_value(out, i + 1, sqlite3_column_value(st, i)) == SQLITE_OK;
      good = good && store_run(&to->main, out);
    }
    sqlite3_reset(st);
    if (!good || from->fault)
      return file_error(err, "copying", from->fault ? from : &to->main);
  }
  if (!store_tell(to,
                  "UPDATE tuning SET chosen = 0 WHERE chosen <> 0 AND EXISTS (SELECT 1 FROM tuning t WHERE "
                  "t.signature = tuning.signature AND t.target = tuning.target AND t.threads = "
                  "tuning.threads AND t.mesh = tuning.mesh AND t.chosen <> 0 AND (t.made > tuning.made OR "
                  "(t.made = tuning.made AND t.variant < tuning.variant)))",
                  "")) /* both files may have chosen */
    return file_error(err, "writing", &to->main);
  return OP_OK;
}

static int copy_all(struct store *to, struct connection *from, const struct wanted *wanted, const char *event,
                    long long *rows, struct error *err) {
  *rows = 0;
  if (!store_begin(to))
    return file_error(err, "writing", &to->main);
  store_stage(to, "transfer: begun");
  int code = copy_binaries(to, from, wanted, event, rows, err);
  if (code == OP_OK)
    code = copy_plain(to, from, wanted, err);
  store_stage(to, "transfer: copied");
  if (!store_end(to, code == OP_OK) && code == OP_OK)
    code = file_error(err, "writing", &to->main);
  if (code != OP_OK)
    *rows = 0;
  return code;
}

/* A name that was asked for and is nowhere is a mistake, not an empty result. */
static int check_names(struct connection *from, const struct wanted *wanted, struct error *err) {
  for (int i = 0; i < wanted->count; i++) {
    sqlite3_stmt *st =
        store_ask(from, "SELECT 1 FROM signature s JOIN binary b ON b.signature = s.id WHERE s.loop = ?1",
                  "t", wanted->loops[i]);
    const bool there = st && store_step(from, st) == SQLITE_ROW;
    sqlite3_reset(st);
    if (!there)
      return error_set(err, OP_ERR_FILE,
                       "%s has no binary of a loop named %s; `op2jit cache ls` prints the names",
                       store_where(from), wanted->loops[i]);
  }
  return OP_OK;
}

/* ---- export ------------------------------------------------------------------------------------*/

int store_export(struct store *store, const char *path, const char *const loops[], int count, long long *rows,
                 struct error *err) {
  struct wanted wanted = {loops, count};
  *rows = 0;
  if (access(path, F_OK) == 0)
    return error_set(err, OP_ERR_FILE, "%s is already there and is not overwritten; name a new file", path);
  if (!store_enter(store))
    return error_set(err, OP_ERR_FILE, "there is no cache to export");
  int code = store->main.db ? check_names(&store->main, &wanted, err)
                            : error_set(err, OP_ERR_FILE, "there is no cache to export");
  struct store *to = NULL;
  struct text part = {0};
  text_addf(&part, "%s.part-%ld", path, (long)getpid());
  if (code == OP_OK) {
    /* A file system called "export" is not a local one: the file is in rollback mode from the beginning. */
    struct store_options options = {.path = text_str(&part),
                                    .file_system = "export",
                                    .exports = true,
                                    .vfs = store->options.vfs,
                                    .stage = store->options.stage,
                                    .user = store->options.user};
    code = store_open(&to, &options, err);
    if (code == OP_OK && !to->main.path)
      code = error_set(err, OP_ERR_FILE, "%s cannot be written: %s", path, store_trouble(to));
  }
  if (code == OP_OK)
    code = copy_all(to, &store->main, &wanted, "exported", rows, err);
  store_close(to);
  if (code == OP_OK && rename(text_str(&part), path) != 0)
    code = error_set(err, OP_ERR_FILE, "%s cannot be made: %s", path, strerror(errno));
  if (code != OP_OK) {
    unlink(text_str(&part));
    *rows = 0;
  }
  text_add(&part, "-journal");
  unlink(text_str(&part));
  text_free(&part);
  store_leave(store);
  return code;
}

/* ---- import ------------------------------------------------------------------------------------*/

int store_import(struct store *store, const char *path, const char *const loops[], int count, long long *rows,
                 struct error *err) {
  struct wanted wanted = {loops, count};
  *rows = 0;
  if (!store_enter(store))
    return error_set(err, OP_ERR_FILE, "there is no cache to import into");
  struct connection from = {0};
  struct text reason = {0};
  int code = OP_OK;
  if (!store->main.path)
    code = error_set(err, OP_ERR_FILE, "there is no cache file to import into: %s", store_trouble(store));
  else if (!layer_connect(store, &from, path, &reason))
    code = error_set(err, OP_ERR_FILE, "%s cannot be imported: %s", path, text_str(&reason));
  if (code == OP_OK)
    code = check_names(&from, &wanted, err);
  if (code == OP_OK)
    code = copy_all(store, &from, &wanted, "imported", rows, err);
  if (code == OP_OK)
    gc_if_full(store);
  store_close_connection(&from);
  text_free(&reason);
  store_leave(store);
  return code;
}
