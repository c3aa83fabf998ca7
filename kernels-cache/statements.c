/* Every SQL text of the store, in two tables, and the few functions that run them. */
#include <stdlib.h>
#include <string.h>

#include "inner.h"

const char *const store_schema[] = {
    /* A key: its hash, and its components in order. Kept as long as a binary, failure or event needs it. */
    "CREATE TABLE signature(id INTEGER PRIMARY KEY AUTOINCREMENT, hash TEXT NOT NULL UNIQUE, loop TEXT NOT "
    "NULL, names TEXT NOT NULL, made INTEGER NOT NULL)",
    "CREATE INDEX signature_loop ON signature(loop, id)",
    "CREATE TABLE component(signature INTEGER NOT NULL, place INTEGER NOT NULL, name TEXT NOT NULL, "
    "value TEXT NOT NULL, PRIMARY KEY(signature, place)) WITHOUT ROWID",
    /* checksum: over the hash and the unpacked bytes. used: day of the last hit, in days since 1970. */
    "CREATE TABLE binary(signature INTEGER PRIMARY KEY, size INTEGER NOT NULL, encoding INTEGER NOT NULL, "
    "checksum BLOB NOT NULL, seconds REAL NOT NULL, made INTEGER NOT NULL, used INTEGER NOT NULL, "
    "source_size INTEGER NOT NULL, source_encoding INTEGER NOT NULL, data BLOB NOT NULL, source BLOB NOT "
    "NULL)",
    "CREATE TABLE failure(signature INTEGER NOT NULL, compiler TEXT NOT NULL, message TEXT NOT NULL, "
    "made INTEGER NOT NULL, expires INTEGER NOT NULL, PRIMARY KEY(signature, compiler)) WITHOUT ROWID",
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
    /* What failed a check, for inspection. */
    "CREATE TABLE damaged(id INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL, hash TEXT NOT NULL, "
    "loop TEXT NOT NULL, reason TEXT NOT NULL, size INTEGER, encoding INTEGER, checksum BLOB, data BLOB)",
    NULL,
};

const char store_speed_table[] =
    "CREATE TABLE IF NOT EXISTS speed(id INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL, loop TEXT "
    "NOT NULL, signature TEXT NOT NULL, machine TEXT NOT NULL, threads INTEGER NOT NULL, mesh TEXT NOT NULL, "
    "elements INTEGER NOT NULL, version TEXT NOT NULL, variant TEXT NOT NULL, seconds REAL NOT NULL, calls "
    "INTEGER NOT NULL);"
    "CREATE INDEX IF NOT EXISTS speed_loop ON speed(loop, id)";

static const char *const texts[SQL_COUNT] = {
    [SQL_BEGIN_WRITE] = "BEGIN IMMEDIATE",
    [SQL_COMMIT] = "COMMIT",
    [SQL_ROLLBACK] = "ROLLBACK",
    [SQL_PAGE_COUNT] = "PRAGMA page_count",
    [SQL_FREE_COUNT] = "PRAGMA freelist_count",
    [SQL_PAGE_SIZE] = "PRAGMA page_size",

    [SQL_GET_BINARY] =
        "SELECT s.id, b.size, b.encoding, b.checksum, b.used, b.data, b.made, b.seconds FROM signature s "
        "JOIN binary b ON b.signature = s.id WHERE s.hash = ?1",
    [SQL_HAS_BINARY] = "SELECT s.id FROM signature s JOIN binary b ON b.signature = s.id WHERE s.hash = ?1",
    [SQL_GET_COMPONENTS] = "SELECT name, value FROM component WHERE signature = ?1 ORDER BY place",
    [SQL_GET_NAMES] = "SELECT names FROM signature WHERE id = ?1",
    [SQL_PUT_SIGNATURE] = "INSERT INTO signature(hash, loop, made, names) VALUES(?1, ?2, ?3, ?4)",
    [SQL_FIND_SIGNATURE] = "SELECT id, loop FROM signature WHERE hash = ?1",
    [SQL_FIND_PREFIX] =
        "SELECT id, hash, loop FROM signature WHERE hash >= ?1 AND hash < ?1 || 'g' ORDER BY hash LIMIT 2",
    [SQL_PUT_COMPONENT] = "INSERT INTO component(signature, place, name, value) VALUES(?1, ?2, ?3, ?4)",
    [SQL_CLEAR_COMPONENTS] = "DELETE FROM component WHERE signature = ?1",
    [SQL_PUT_BINARY] =
        "INSERT OR REPLACE INTO binary(signature, size, encoding, checksum, seconds, made, used, "
        "source_size, source_encoding, data, source) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    [SQL_DROP_BINARY] = "DELETE FROM binary WHERE signature = ?1",
    [SQL_TOUCH_BINARY] = "UPDATE binary SET used = ?2 WHERE signature = ?1 AND used <> ?2",
    [SQL_KEEP_DAMAGED] =
        "INSERT INTO damaged(time, hash, loop, reason, size, encoding, checksum, data) "
        "SELECT ?2, s.hash, s.loop, ?3, b.size, b.encoding, b.checksum, b.data FROM binary b "
        "JOIN signature s ON s.id = b.signature WHERE b.signature = ?1",
    [SQL_TRIM_DAMAGED] = "DELETE FROM damaged WHERE id <= (SELECT max(id) FROM damaged) - 20",
    [SQL_GET_SOURCE] = "SELECT b.source_size, b.source_encoding, b.source FROM signature s "
                       "JOIN binary b ON b.signature = s.id WHERE s.hash = ?1",
    [SQL_LIST_BINARIES] =
        "SELECT s.hash, s.loop, b.size, length(b.data) + length(b.source), b.seconds, b.made, b.used, "
        "coalesce((SELECT value FROM component WHERE signature = s.id AND name = 'shape'), '') "
        "FROM binary b JOIN signature s ON s.id = b.signature WHERE ?1 IS NULL OR s.loop = ?1 "
        "ORDER BY b.made DESC, s.id DESC",
    [SQL_BINARIES_OF] = "SELECT s.id FROM signature s JOIN binary b ON b.signature = s.id WHERE s.loop = ?1",
    [SQL_NEAR_SIGNATURES] = "SELECT id FROM signature WHERE loop = ?1 ORDER BY id DESC LIMIT 64",

    [SQL_PUT_FAILURE] = "INSERT OR REPLACE INTO failure(signature, compiler, message, made, expires) "
                        "VALUES(?1, ?2, ?3, ?4, ?5)",
    [SQL_GET_FAILURE] = "SELECT s.id, f.message FROM signature s JOIN failure f ON f.signature = s.id "
                        "WHERE s.hash = ?1 AND f.compiler = ?2 AND f.made <= ?3 + 3600 AND f.expires > ?3",
    [SQL_DROP_FAILURES] = "DELETE FROM failure WHERE signature = ?1",
    [SQL_EXPIRE_FAILURES] = "DELETE FROM failure WHERE expires <= ?1",

    [SQL_GET_LEASE] = "SELECT host, pid, start, made, expires FROM lease WHERE hash = ?1",
    [SQL_HAS_RESULT] = "SELECT EXISTS(SELECT 1 FROM binary WHERE signature = s.id) OR "
                       "EXISTS(SELECT 1 FROM failure WHERE signature = s.id AND expires > ?2) "
                       "FROM signature s WHERE s.hash = ?1",
    [SQL_PUT_LEASE] = "INSERT OR REPLACE INTO lease(hash, host, pid, start, made, expires) "
                      "VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
    [SQL_DROP_LEASE] = "DELETE FROM lease WHERE hash = ?1",
    [SQL_DROP_OWN_LEASE] = "DELETE FROM lease WHERE hash = ?1 AND host = ?2 AND pid = ?3",
    [SQL_EXPIRE_LEASES] = "DELETE FROM lease WHERE expires <= ?1",

    [SQL_PUT_TUNING] =
        "INSERT OR REPLACE INTO tuning(signature, target, threads, mesh, variant, loop, median, count, "
        "chosen, made, baseline) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    [SQL_UNCHOOSE_TUNING] =
        "UPDATE tuning SET chosen = 0 WHERE signature = ?1 AND target = ?2 AND threads = ?3 "
        "AND mesh = ?4 AND variant <> ?5 AND chosen <> 0",
    [SQL_GET_TUNINGS] =
        "SELECT signature, loop, target, threads, mesh, variant, median, count, chosen, made, baseline FROM "
        "tuning WHERE (?1 IS NULL OR signature = ?1) AND (?2 IS NULL OR loop = ?2) "
        "AND (?3 IS NULL OR target = ?3) AND (?4 IS NULL OR mesh = ?4) AND (?5 = 0 OR threads = ?5) "
        "AND (?6 = 0 OR chosen <> 0) ORDER BY loop, signature, target, threads, mesh, median",
    [SQL_CLEAR_TUNINGS] =
        "DELETE FROM tuning WHERE (?1 IS NULL OR signature = ?1) AND (?2 IS NULL OR loop = ?2) "
        "AND (?3 IS NULL OR target = ?3) AND (?4 IS NULL OR mesh = ?4) "
        "AND (?5 = 0 OR threads = ?5) AND (?6 = 0 OR chosen <> 0)",

    [SQL_PUT_VERDICT] = "INSERT OR REPLACE INTO verdict(key, verdict, made) VALUES(?1, ?2, ?3)",
    [SQL_GET_VERDICT] = "SELECT verdict FROM verdict WHERE key = ?1",
    [SQL_PUT_FACT] =
        "INSERT OR REPLACE INTO fact(machine, name, number, words, made) VALUES(?1, ?2, ?3, ?4, ?5)",
    [SQL_GET_FACT] = "SELECT number, words, made FROM fact WHERE machine = ?1 AND name = ?2",

    [SQL_PUT_EVENT] = "INSERT INTO history(time, loop, hash, event, reason, seconds, host, pid) "
                      "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    [SQL_GET_EVENTS] = "SELECT id, time, loop, hash, event, reason, seconds, host, pid FROM history "
                       "WHERE ?1 IS NULL OR loop = ?1 ORDER BY id DESC LIMIT ?2",
    [SQL_LAST_EVENT] = "SELECT event, reason, time FROM history WHERE hash = ?1 ORDER BY id DESC LIMIT 1",
    [SQL_TRIM_EVENTS] = "DELETE FROM history WHERE id <= (SELECT max(id) FROM history) - ?1",

    [SQL_HAS_SPEEDS] = "SELECT count(*) FROM sqlite_schema WHERE name = 'speed'",
    [SQL_PUT_SPEED] = "INSERT INTO speed(time, loop, signature, machine, threads, mesh, elements, version, "
                      "variant, seconds, calls) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    [SQL_TRIM_SPEEDS] = "DELETE FROM speed WHERE loop = ?1 AND id <= (SELECT id FROM speed WHERE loop = ?1 "
                        "ORDER BY id DESC LIMIT 1 OFFSET ?2)",
    [SQL_GET_SPEEDS] =
        "SELECT time, loop, signature, machine, threads, mesh, elements, version, variant, seconds, "
        "calls FROM speed WHERE ?1 IS NULL OR loop = ?1 ORDER BY loop, id DESC",

    [SQL_OLDEST_BINARIES] =
        "SELECT b.signature, s.hash, s.loop, length(b.data) + length(b.source) FROM binary b "
        "JOIN signature s ON s.id = b.signature ORDER BY b.used, b.made, b.signature",
    /* Keys that nothing refers to any more; the newest ?1 stay, so that "why" has something to compare with. */
    [SQL_DROP_ORPHANS] =
        "DELETE FROM signature WHERE id <= (SELECT max(id) FROM signature) - ?1 "
        "AND id NOT IN (SELECT signature FROM binary) AND id NOT IN (SELECT signature FROM failure)",
    [SQL_DROP_ORPHAN_COMPONENTS] = "DELETE FROM component WHERE signature NOT IN (SELECT id FROM signature)",
    [SQL_INCREMENTAL_VACUUM] = "PRAGMA incremental_vacuum",
    [SQL_SCAN_BINARIES] =
        "SELECT b.signature, s.hash, s.loop, b.size, b.encoding, b.checksum, b.data, b.source_size, "
        "b.source_encoding, b.source, b.seconds, b.made, b.used FROM binary b "
        "LEFT JOIN signature s ON s.id = b.signature WHERE b.signature > ?1 ORDER BY b.signature",
    [SQL_SCAN_TUNINGS] = "SELECT signature, target, threads, mesh, variant, loop, median, count, chosen, "
                         "made, baseline FROM tuning",
    /* The newer measurement of the same thing stays. */
    [SQL_MERGE_TUNING] =
        "INSERT INTO tuning(signature, target, threads, mesh, variant, loop, median, count, chosen, made, "
        "baseline) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT DO UPDATE SET loop = ?6, "
        "median = ?7, count = ?8, chosen = ?9, made = ?10, baseline = ?11 WHERE excluded.made > tuning.made",
    [SQL_CHOOSE_NEWEST] =
        "UPDATE tuning SET chosen = 0 WHERE chosen <> 0 AND EXISTS (SELECT 1 FROM tuning t WHERE "
        "t.signature = tuning.signature AND t.target = tuning.target AND t.threads = tuning.threads "
        "AND t.mesh = tuning.mesh AND t.chosen <> 0 AND (t.made > tuning.made OR "
        "(t.made = tuning.made AND t.variant < tuning.variant)))",
    [SQL_SCAN_VERDICTS] = "SELECT key, verdict, made FROM verdict",
    [SQL_STATS] =
        "SELECT (SELECT count(*) FROM binary), (SELECT count(DISTINCT s.loop) FROM binary b JOIN signature s "
        "ON s.id = b.signature), (SELECT coalesce(sum(size), 0) FROM binary), "
        "(SELECT coalesce(sum(length(data) + length(source)), 0) FROM binary), "
        "(SELECT count(*) FROM failure), (SELECT count(*) FROM tuning), (SELECT count(*) FROM verdict), "
        "(SELECT count(*) FROM fact), (SELECT count(*) FROM history), (SELECT count(*) FROM damaged), "
        "(SELECT count(*) FROM lease), (SELECT coalesce(sum(seconds), 0) FROM binary)",
    [SQL_CLEAR_BINARIES] =
        "DELETE FROM binary WHERE ?1 IS NULL OR signature IN (SELECT id FROM signature WHERE loop = ?1)",
    [SQL_CLEAR_FAILURES] = "DELETE FROM failure WHERE ?1 IS NULL OR signature IN "
                           "(SELECT id FROM signature WHERE loop = ?1)",
    [SQL_CLEAR_VERDICTS] = "DELETE FROM verdict",
    [SQL_CLEAR_DAMAGED] = "DELETE FROM damaged",
};

sqlite3_stmt *store_prepare(struct store *store, struct connection *c, enum sql id) {
  if (!c->db)
    return NULL;
  sqlite3_stmt *st = c->statements[id];
  if (st) {
    sqlite3_reset(st);
    return st;
  }
  int code = sqlite3_prepare_v3(c->db, texts[id], -1, SQLITE_PREPARE_PERSISTENT, &st, NULL);
  if (code != SQLITE_OK) {
    /* A statement that does not compile means tables that are not ours. */
    store_fault(store, c, code == SQLITE_ERROR ? SQLITE_CORRUPT : code, "preparing a statement");
    return NULL;
  }
  c->statements[id] = st;
  return st;
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

sqlite3_stmt *store_ask(struct store *store, struct connection *c, enum sql id, const char *forms, ...) {
  sqlite3_stmt *st = store_prepare(store, c, id);
  va_list values;
  va_start(values, forms);
  const bool good = st && bind(st, forms, values);
  va_end(values);
  return good ? st : NULL;
}

bool store_tell(struct store *store, enum sql id, const char *forms, ...) {
  sqlite3_stmt *st = store_prepare(store, &store->main, id);
  va_list values;
  va_start(values, forms);
  const bool good = st && bind(st, forms, values) && store_run(store, &store->main, st);
  va_end(values);
  return good;
}

int store_step(struct store *store, struct connection *c, sqlite3_stmt *st) {
  int code = sqlite3_step(st);
  if (code != SQLITE_ROW && code != SQLITE_DONE)
    store_fault(store, c, code, "reading or writing");
  return code;
}

bool store_run(struct store *store, struct connection *c, sqlite3_stmt *st) {
  int code;
  do
    code = store_step(store, c, st);
  while (code == SQLITE_ROW);
  sqlite3_reset(st);
  return code == SQLITE_DONE;
}

bool store_execute(struct store *store, struct connection *c, const char *sql, const char *doing) {
  int code = sqlite3_exec(c->db, sql, NULL, NULL, NULL);
  if (code != SQLITE_OK)
    store_fault(store, c, code, doing);
  return code == SQLITE_OK;
}

long long store_number(struct store *store, struct connection *c, sqlite3_stmt *st, long long otherwise) {
  long long value = otherwise;
  if (st && store_step(store, c, st) == SQLITE_ROW)
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
  for (int i = 0; i < SQL_COUNT; i++) {
    sqlite3_finalize(c->statements[i]);
    c->statements[i] = NULL;
  }
}

bool store_begin(struct store *store) {
  return store_can_write(store) && store_tell(store, SQL_BEGIN_WRITE, "");
}

void store_check_file(struct store *store, struct connection *c, struct text *report, int *findings) {
  sqlite3_stmt *st = NULL;
  int code = sqlite3_prepare_v2(c->db, "PRAGMA integrity_check(20)", -1, &st, NULL);
  if (code != SQLITE_OK)
    store_fault(store, c, code, "checking");
  while (code == SQLITE_OK && store_step(store, c, st) == SQLITE_ROW)
    if (strcmp(store_text(st, 0), "ok") != 0) {
      text_addf(report, "%s: %s\n", store_where(c), store_text(st, 0));
      ++*findings;
      store_fault(store, c, SQLITE_CORRUPT, "checking");
    }
  sqlite3_finalize(st);
}

static void rollback(struct store *store) {
  struct connection *c = &store->main;
  /* SQLite ends a transaction by itself after some errors; a second end would be one more fault. */
  if (c->db && !sqlite3_get_autocommit(c->db)) {
    enum fault before = c->fault;
    store_tell(store, SQL_ROLLBACK, "");
    if (!sqlite3_get_autocommit(c->db) && before < FAULT_BROKEN)
      c->fault = FAULT_BROKEN;
  }
}

bool store_end(struct store *store, bool good) {
  if (good) {
    store_stage(store, "before commit");
    if (store_tell(store, SQL_COMMIT, "")) {
      store_stage(store, "after commit");
      return true;
    }
  }
  rollback(store);
  return false;
}
