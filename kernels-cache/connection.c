/* Opening: the place of a file, its tables, its journal. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "inner.h"

/* Opening is waited for longer: to go without the cache costs more than that. */
#define OPENING 4

/* Shorter sleeps than SQLite's own handler: writes here take well under a millisecond. */
static int wait_for_lock(void *user, int calls) {
  struct store *store = user;
  if (calls == 0)
    store->busy_deadline = clock_ms() + (store->opening ? OPENING : 1) * (long long)store->options.busy_ms;
  else if (clock_ms() >= store->busy_deadline)
    return 0;
  long step = 100L << (calls < 6 ? calls : 6);
  store_sleep_us(step + (long)((unsigned)store->pid * 2654435761u % 97u)); /* not all at the same moment */
  return 1;
}

void store_close_connection(struct connection *c) {
  store_finalize(c);
  if (c->db)
    sqlite3_close_v2(c->db);
  free(c->path);
  text_free(&c->fault_words);
  *c = (struct connection){0};
}

bool connection_open(struct store *store, struct connection *c, const char *name, int flags) {
  int code = sqlite3_open_v2(name, &c->db, flags | SQLITE_OPEN_NOMUTEX, store->options.vfs);
  if (code != SQLITE_OK) {
    store_fault(c, code, "opening");
    return false;
  }
  sqlite3_busy_handler(c->db, wait_for_lock, store);
  sqlite3_db_config(c->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
  sqlite3_db_config(c->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
  return true;
}

static bool execute(struct connection *c, const char *sql) {
  return store_execute(c, sql, "configuring");
}

/* Asks for a journal mode and returns the one that is set; NULL: busy or failed. */
static const char *ask_journal(struct connection *c, const char *sql) {
  static const char *const known[] = {"wal", "truncate", "delete", "memory", "persist", "off"};
  sqlite3_stmt *st = NULL;
  const char *mode = NULL;
  int code = SQLITE_BUSY;
  for (int tries = 0; tries < 200 && code == SQLITE_BUSY; tries++) {
    if (tries)
      store_sleep_us(2000);
    code = sqlite3_prepare_v2(c->db, sql, -1, &st, NULL);
    if (code == SQLITE_OK)
      code = sqlite3_step(st);
    for (size_t i = 0; code == SQLITE_ROW && i < sizeof known / sizeof *known; i++)
      if (strcmp(store_text(st, 0), known[i]) == 0)
        mode = known[i];
    sqlite3_finalize(st);
  }
  if (code != SQLITE_ROW && code != SQLITE_BUSY)
    store_fault(c, code, "choosing the journal");
  return mode;
}

/* WAL keeps readers and writers apart, but its shared memory works on one host only. Elsewhere the rollback journal; a
 * file that comes in WAL mode is taken exclusively for the change, which needs no shared memory. The cache can be
 * made again, so nothing waits for the disk more than the order of writes needs. */
static bool choose_journal(struct store *store, struct connection *c) {
  const char *mode;
  if (place_is_local(store->file_system)) {
    mode = ask_journal(c, "PRAGMA journal_mode = WAL");
    if (!c->fault)
      execute(c, "PRAGMA journal_size_limit = 4194304");
  } else {
    execute(c, "PRAGMA locking_mode = EXCLUSIVE");
    mode = ask_journal(c, "PRAGMA journal_mode = TRUNCATE");
    if (!c->fault)
      execute(c, "PRAGMA locking_mode = NORMAL");
  }
  store->journal = mode ? mode : "unknown";
  return !c->fault;
}

static bool choose_syncing(struct store *store, struct connection *c) {
  return execute(c, place_is_local(store->file_system) ? "PRAGMA synchronous = NORMAL"
                                                       : "PRAGMA synchronous = OFF");
}

bool connection_configure(struct connection *c) {
  return execute(c, "PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY");
}

/* Tells whether a file is ours and of our version, and makes the tables of an empty one, in one transaction. */
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

static bool schema_create(struct store *store, struct connection *c) {
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

void store_open_memory(struct store *store) {
  struct connection *c = &store->main;
  store->journal = "memory";
  store->file_system = "memory";
  store->no_writes = false;
  store->pause_until = 0;
  store->ntouches = 0;
  if (!connection_open(store, c, ":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) ||
      !schema_create(store, c))
    store_close_connection(c); /* then nothing is remembered, which needs no memory */
}

enum opened { OPENED, OPENED_WITH_FAULT, OPENED_NOT, OPENED_OTHER_VERSION };

static enum opened open_file(struct store *store, const char *path, int *version) {
  struct connection *c = &store->main;
  struct stat st;
  if (!(c->path = strdup(path)) || stat(path, &st) != 0) {
    store_warn(store, "the kernel cache %s cannot be opened: %s; this run remembers in memory only", path,
               strerror(errno));
    return OPENED_NOT;
  }
  c->device = st.st_dev;
  c->inode = st.st_ino;
  store->file_system = store->options.file_system ? store->options.file_system : place_file_system(path);
  bool local = place_is_local(store->file_system);
  if (!connection_open(store, c, path, SQLITE_OPEN_READWRITE))
    return OPENED_WITH_FAULT;
  if (!local) /* before the first read, which would want shared memory if the file is in WAL mode */
    execute(c, "PRAGMA locking_mode = EXCLUSIVE");
  if (c->fault || !connection_configure(c))
    return OPENED_WITH_FAULT;
  switch (schema_check(c, version)) {
  case SCHEMA_GOOD:
    c->known = true;
    return store->options.read_only || (choose_journal(store, c) && choose_syncing(store, c))
               ? OPENED
               : OPENED_WITH_FAULT;
  case SCHEMA_EMPTY:
    if (store->options.read_only)
      return OPENED_NOT;
    /* While the file is made nothing is synced to the disk: others that start at the same moment wait for this
     * process. */
    return execute(c, "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA synchronous = OFF") &&
                   choose_journal(store, c) && schema_create(store, c) && choose_syncing(store, c)
               ? OPENED
               : OPENED_WITH_FAULT;
  case SCHEMA_OTHER_VERSION: return OPENED_OTHER_VERSION;
  case SCHEMA_FOREIGN:
    store_warn(store,
               "%s is a database of another program and is left alone; this run remembers in memory only. "
               "Name another "
               "file with OP2_CACHE",
               path);
    return OPENED_NOT;
  case SCHEMA_FAULT: break;
  }
  return OPENED_WITH_FAULT;
}

/* Made if need be, and fit to run code from? */
static bool prepare_place(struct store *store, const char *path) {
  struct text reason = {0};
  bool there = access(path, F_OK) == 0, made = false;
  if (store->options.read_only && !there)
    return false;
  const char *home = store->options.home;
  bool good = !home || access(home, F_OK) == 0;
  if (!good)
    text_addf(&reason, "there is no home folder %s", home);
  const char *why = store->options.exports ? PLACE_NOT_WRITTEN : PLACE_NOT_RUN;
  good = good && (store->options.read_only || place_create(path, &made, &reason)) &&
         place_trusted(path, why, &reason);
  if (!good && made)
    unlink(path);
  if (!good && store->options.exports)
    store_warn(store, "%s", text_str(&reason));
  else if (!good)
    store_warn(store, "no kernel cache in %s: %s; this run remembers in memory only", path,
               text_str(&reason));
  else if (!there)
    store_stage(store, "file made");
  text_free(&reason);
  return good;
}

bool store_open_main(struct store *store) {
  struct connection *c = &store->main;
  struct text other = {0};
  const char *path = store->options.path;
  enum opened opened = OPENED_OTHER_VERSION;
  store->opening = true;
  for (int round = 0; round < 2 && opened == OPENED_OTHER_VERSION; round++) {
    int version = 0;
    bool there = access(path, F_OK) == 0;
    opened = prepare_place(store, path) ? open_file(store, path, &version) : OPENED_NOT;
    if (round == 1 && opened == OPENED && !there)
      store_warn(store,
                 "%s was written by another version of the library and is left to it; this one uses %s",
                 store->options.path, path);
    if (opened == OPENED_OTHER_VERSION) {
      store_close_connection(c);
      text_clear(&other);
      if (!place_other_name(store->options.path, STORE_VERSION, &other))
        opened = OPENED_NOT;
      path = text_str(&other);
    }
  }
  store->opening = false;
  text_free(&other);
  /* While opening, only damage leads to a new file; a lock that is held or a full disk means going without. */
  if (opened == OPENED_WITH_FAULT && c->fault != FAULT_DAMAGED && c->fault != FAULT_MOVED)
    c->fault = FAULT_BROKEN;
  if (opened == OPENED || opened == OPENED_WITH_FAULT)
    return true;
  store_close_connection(c);
  return false;
}
