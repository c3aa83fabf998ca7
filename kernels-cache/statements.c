/* The tables of the store, and the functions that run SQL. Each other statement stands where it is run. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "inner.h"

const char *const store_schema[] = {
    /* A key: its hash, and its components in order. Kept as long as a binary or event needs it. */
    "CREATE TABLE signature(id INTEGER PRIMARY KEY AUTOINCREMENT, hash TEXT NOT NULL UNIQUE, loop TEXT NOT "
    "NULL, names TEXT NOT NULL, made INTEGER NOT NULL)",
    "CREATE INDEX signature_loop ON signature(loop, id)",
    "CREATE TABLE component(signature INTEGER NOT NULL, place INTEGER NOT NULL, name TEXT NOT NULL, "
    "value TEXT NOT NULL, PRIMARY KEY(signature, place)) WITHOUT ROWID",
    /* checksum: over the hash and the bytes. used: day of the last hit, in days since 1970. */
    "CREATE TABLE binary(signature INTEGER PRIMARY KEY, size INTEGER NOT NULL, checksum BLOB NOT NULL, "
    "seconds REAL NOT NULL, made INTEGER NOT NULL, used INTEGER NOT NULL, data BLOB NOT NULL, source BLOB "
    "NOT NULL)",
    /* made and expires: seconds since 1970 */
    "CREATE TABLE lease(hash TEXT PRIMARY KEY, host TEXT NOT NULL, pid INTEGER NOT NULL, start INTEGER NOT "
    "NULL, "
    "made INTEGER NOT NULL, expires INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE tuning(signature TEXT NOT NULL, target TEXT NOT NULL, threads INTEGER NOT NULL, mesh TEXT "
    "NOT NULL, "
    "variant TEXT NOT NULL, loop TEXT NOT NULL, median REAL NOT NULL, baseline REAL NOT NULL, count INTEGER "
    "NOT NULL, chosen INTEGER NOT NULL, made INTEGER NOT NULL, "
    "PRIMARY KEY(signature, target, threads, mesh, variant)) WITHOUT ROWID",
    "CREATE TABLE verdict(key TEXT PRIMARY KEY, verdict TEXT NOT NULL, made INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE fact(machine TEXT NOT NULL, name TEXT NOT NULL, number REAL NOT NULL, words TEXT NOT NULL, "
    "made INTEGER NOT NULL, PRIMARY KEY(machine, name)) WITHOUT ROWID",
    "CREATE TABLE history(id INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL, loop TEXT NOT NULL, "
    "hash TEXT NOT NULL, event TEXT NOT NULL, reason TEXT NOT NULL, seconds REAL NOT NULL, host TEXT NOT "
    "NULL, "
    "pid INTEGER NOT NULL)",
    "CREATE INDEX history_loop ON history(loop, id)",
    "CREATE INDEX history_hash ON history(hash, id)",
    /* Binaries that failed a check, for inspection. */
    "CREATE TABLE damaged(id INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL, hash TEXT NOT NULL, "
    "loop TEXT NOT NULL, reason TEXT NOT NULL, size INTEGER, checksum BLOB, data BLOB)",
    "CREATE TABLE speed(id INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL, loop TEXT NOT NULL, "
    "signature TEXT NOT NULL, machine TEXT NOT NULL, threads INTEGER NOT NULL, mesh TEXT NOT NULL, elements "
    "INTEGER NOT NULL, version TEXT NOT NULL, variant TEXT NOT NULL, seconds REAL NOT NULL, calls INTEGER "
    "NOT NULL)",
    "CREATE INDEX speed_loop ON speed(loop, id)",
    NULL,
};

static struct statement *find_statement(struct connection *c, const char *sql) {
  for (int i = 0; i < c->nstatements; i++)
    if (c->statements[i].sql == sql)
      return &c->statements[i];
  return NULL;
}

static sqlite3_stmt *add_statement(struct connection *c, const char *sql) {
  struct statement *more = array_more(c->statements, (size_t)c->nstatements, sizeof *more);
  struct statement new = {.sql = sql};
  int code = SQLITE_NOMEM;
  if (more) {
    c->statements = more;
    code = sqlite3_prepare_v3(c->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &new.prepared, NULL);
  }
  if (code != SQLITE_OK) {
    /* A statement that does not compile means tables that are not ours. */
    store_fault(c, code == SQLITE_ERROR ? SQLITE_CORRUPT : code, "preparing a statement");
    return NULL;
  }
  more[c->nstatements++] = new;
  return new.prepared;
}

sqlite3_stmt *store_prepare(struct connection *c, const char *sql) {
  const struct statement *known = find_statement(c, sql);
  if (known)
    sqlite3_reset(known->prepared);
  return known ? known->prepared : c->db ? add_statement(c, sql) : NULL;
}

static int bind_text(sqlite3_stmt *st, int place, const char *text) {
  return sqlite3_bind_text(st, place, text, -1, SQLITE_TRANSIENT);
}

static int bind_bytes(sqlite3_stmt *st, int place, char form, const void *bytes, size_t length) {
  if (!bytes)
    bytes = "";
  return form == 'b' ? sqlite3_bind_blob64(st, place, bytes, length, SQLITE_STATIC)
                     : sqlite3_bind_text64(st, place, bytes, length, SQLITE_STATIC, SQLITE_UTF8);
}

static bool bind(sqlite3_stmt *st, const char *forms, va_list values) {
  int code = SQLITE_OK;
  for (int place = 1; forms[place - 1] && code == SQLITE_OK; place++) {
    const char form = forms[place - 1];
    const char *text = strchr("tobx", form) ? va_arg(values, const char *) : NULL;
    switch (form) {
    case 't': code = bind_text(st, place, text ? text : ""); break;
    case 'o': code = text ? bind_text(st, place, text) : sqlite3_bind_null(st, place); break;
    case 'n': code = sqlite3_bind_int(st, place, va_arg(values, int)); break;
    case 'i': code = sqlite3_bind_int64(st, place, va_arg(values, long long)); break;
    case 'd': code = sqlite3_bind_double(st, place, va_arg(values, double)); break;
    default: code = bind_bytes(st, place, form, text, va_arg(values, size_t)); break;
    }
  }
  return code == SQLITE_OK;
}

sqlite3_stmt *store_ask(struct connection *c, const char *sql, const char *forms, ...) {
  sqlite3_stmt *st = store_prepare(c, sql);
  va_list values;
  va_start(values, forms);
  const bool good = st && bind(st, forms, values);
  va_end(values);
  return good ? st : NULL;
}

bool store_tell(struct store *store, const char *sql, const char *forms, ...) {
  sqlite3_stmt *st = store_prepare(&store->main, sql);
  va_list values;
  va_start(values, forms);
  const bool good = st && bind(st, forms, values) && store_run(&store->main, st);
  va_end(values);
  return good;
}

int store_step(struct connection *c, sqlite3_stmt *st) {
  int code = sqlite3_step(st);
  if (code != SQLITE_ROW && code != SQLITE_DONE)
    store_fault(c, code, "reading or writing");
  return code;
}

bool store_run(struct connection *c, sqlite3_stmt *st) {
  int code;
  do
    code = store_step(c, st);
  while (code == SQLITE_ROW);
  sqlite3_reset(st);
  return code == SQLITE_DONE;
}

bool store_execute(struct connection *c, const char *sql, const char *doing) {
  int code = sqlite3_exec(c->db, sql, NULL, NULL, NULL);
  if (code != SQLITE_OK)
    store_fault(c, code, doing);
  return code == SQLITE_OK;
}

long long store_number(struct connection *c, sqlite3_stmt *st, long long otherwise) {
  long long value = otherwise;
  if (st && store_step(c, st) == SQLITE_ROW)
    value = sqlite3_column_int64(st, 0);
  sqlite3_reset(st);
  return value;
}

const char *store_text(sqlite3_stmt *st, int column) {
  const char *text = (const char *)sqlite3_column_text(st, column);
  return text ? text : "";
}

char *store_copy_text(sqlite3_stmt *st, int column) {
  const char *text = (const char *)sqlite3_column_text(st, column);
  return text ? strdup(text) : NULL;
}

bool store_add_text(sqlite3_stmt *st, int column, struct text *out) {
  const char *text = (const char *)sqlite3_column_text(st, column);
  if (text)
    text_add(out, text);
  return text && text_ok(out);
}

void store_finalize(struct connection *c) {
  for (int i = 0; i < c->nstatements; i++)
    sqlite3_finalize(c->statements[i].prepared);
  free(c->statements);
  c->statements = NULL;
  c->nstatements = 0;
}

bool store_begin(struct store *store) {
  return store_can_write(store) && store_tell(store, "BEGIN IMMEDIATE", "");
}

void store_check_file(struct connection *c, struct text *report, int *findings) {
  sqlite3_stmt *st = NULL;
  int code = sqlite3_prepare_v2(c->db, "PRAGMA integrity_check(20)", -1, &st, NULL);
  if (code != SQLITE_OK)
    store_fault(c, code, "checking");
  while (code == SQLITE_OK && store_step(c, st) == SQLITE_ROW)
    if (strcmp(store_text(st, 0), "ok") != 0) {
      text_addf(report, "%s: %s\n", store_where(c), store_text(st, 0));
      ++*findings;
      store_fault(c, SQLITE_CORRUPT, "checking");
    }
  sqlite3_finalize(st);
}

static void rollback(struct store *store) {
  struct connection *c = &store->main;
  /* SQLite ends a transaction itself after some errors; another ROLLBACK would be one more fault. */
  if (c->db && !sqlite3_get_autocommit(c->db)) {
    enum fault before = c->fault;
    store_tell(store, "ROLLBACK", "");
    if (!sqlite3_get_autocommit(c->db) && before < FAULT_BROKEN)
      c->fault = FAULT_BROKEN;
  }
}

bool store_end(struct store *store, bool good) {
  if (good) {
    store_stage(store, "before commit");
    if (store_tell(store, "COMMIT", "")) {
      store_stage(store, "after commit");
      return true;
    }
  }
  rollback(store);
  return false;
}
