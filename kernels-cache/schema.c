/* Tells whether a file is ours and of our version, and makes the tables of an empty one, in one transaction. */
#include <stdio.h>
#include <string.h>

#include "inner.h"

static long long ask(struct connection *c, const char *sql) {
  sqlite3_stmt *st = NULL;
  int code = sqlite3_prepare_v2(c->db, sql, -1, &st, NULL);
  if (code == SQLITE_OK) {
    long long value = store_number(c, st, -1);
    sqlite3_finalize(st);
    return value;
  }
  store_fault(c, code, "reading the header");
  return -1;
}

static enum schema_state look(struct connection *c, int *version) {
  long long application = ask(c, "PRAGMA application_id");
  *version = (int)ask(c, "PRAGMA user_version");
  if (c->fault)
    return SCHEMA_FAULT;
  if (application == STORE_APPLICATION)
    return *version == STORE_VERSION ? SCHEMA_GOOD : SCHEMA_OTHER_VERSION;
  long long tables = ask(c, "SELECT count(*) FROM sqlite_schema");
  long long ours = ask(c, "SELECT count(*) FROM sqlite_schema WHERE name IN ('signature', 'component')");
  if (c->fault)
    return SCHEMA_FAULT;
  if (tables == 0 && application == 0)
    return SCHEMA_EMPTY;
  if (ours == 2) { /* our tables under a header that is not ours: bytes flipped */
    store_fault(c, SQLITE_CORRUPT, "reading the header");
    return SCHEMA_FAULT;
  }
  return SCHEMA_FOREIGN;
}

/* In one transaction, for another process may be making the tables. */
enum schema_state schema_check(struct connection *c, int *version) {
  *version = 0;
  bool inside = !sqlite3_get_autocommit(c->db);
  if (!inside && !store_execute(c, "BEGIN", "reading the header"))
    return SCHEMA_FAULT;
  enum schema_state state = look(c, version);
  if (!inside && !sqlite3_get_autocommit(c->db) && !store_execute(c, "COMMIT", "reading the header"))
    state = SCHEMA_FAULT;
  return state;
}

static const char making[] = "making the tables";

static bool create_tables(struct store *store, struct connection *c) {
  char header[96];
  snprintf(header, sizeof header, "PRAGMA application_id = %d; PRAGMA user_version = %d", STORE_APPLICATION,
           STORE_VERSION);
  for (int i = 0; store_schema[i]; i++)
    if (!store_execute(c, store_schema[i], making))
      return false;
  store_stage(store, "tables made");
  return store_execute(c, header, making);
}

bool schema_create(struct store *store, struct connection *c) {
  store_stage(store, "before tables");
  if (!store_execute(c, "BEGIN IMMEDIATE", making))
    return false;
  /* Another process may have been first. */
  int version;
  bool good = schema_check(c, &version) == SCHEMA_GOOD;
  if (!good && !c->fault)
    good = create_tables(store, c);
  good = good && store_execute(c, "COMMIT", making);
  if (!good && !sqlite3_get_autocommit(c->db))
    sqlite3_exec(c->db, "ROLLBACK", NULL, NULL, NULL);
  if (good)
    store_stage(store, "after tables");
  return good;
}
