/* Declarations for the files of the store; no file outside this folder includes them.
 *
 * One idea holds it together: a failing SQLite call does not act at once. store_fault notes the kind of trouble
 * in the connection. The operation ends and resets its statements. Then store_leave acts on the note, with
 * nothing on the stack: pause, stop writing, set the file aside, go on in memory. */
#ifndef OP2JIT_KERNELS_CACHE_INNER_H
#define OP2JIT_KERNELS_CACHE_INNER_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/types.h>
#include <time.h>

#include "base/clock.h"
#include "store.h"

#define STORE_VERSION 3              /* user_version of the schema */
#define STORE_APPLICATION 0x6f70326a /* application_id: "op2j" */
#define STORE_DAY 86400LL

/* The schema: statements to run on an empty file, NULL-terminated. */
extern const char *const store_schema[];

enum fault {
  FAULT_NONE,
  FAULT_MEMORY,   /* no memory for this operation; nothing else happened */
  FAULT_BUSY,     /* another process holds the lock for too long */
  FAULT_FULL,     /* disk or quota: no more writing */
  FAULT_READONLY, /* may not be written: no more writing */
  FAULT_MOVED,    /* the file was renamed or removed under us: open again */
  FAULT_BROKEN,   /* input/output: leave the file alone */
  FAULT_DAMAGED   /* the file is not a whole cache: set aside */
};

/* A statement once prepared; its text, a constant of the code, is found again by its address. */
struct statement {
  const char *sql;
  sqlite3_stmt *prepared;
};

struct connection {
  sqlite3 *db;
  struct statement *statements;
  int nstatements;
  char *path; /* NULL: in memory */
  dev_t device;
  ino_t inode;
  bool known;       /* it has been a cache in this run */
  enum fault fault; /* the worst since the last one was acted on */
  int fault_code;   /* SQLite's */
  struct text fault_words;
};

#define STORE_TOUCHES 64

struct store {
  struct store_options options; /* strings inside are owned */
  struct connection main;
  struct connection *layers;
  int nlayers;
  pthread_mutex_t mutex;
  pid_t pid;
  atomic_bool
      fork_told; /* one thread says it; any order will do. The mutex may be held by a thread that is not here */
  bool no_writes;          /* for good */
  bool opening;            /* store_open_main is at work */
  bool warned;             /* the one warning was given */
  int reopened;            /* times that a fresh file was begun in this run */
  long long pause_until;   /* monotonic milliseconds: no writes before */
  long long busy_deadline; /* monotonic milliseconds, for the busy handler */
  struct text trouble;     /* reason of the present state */
  const char *journal;     /* "wal", "truncate", "memory" */
  const char *file_system;
  struct text host;                 /* this process's host in leases: host, boot, pid namespace */
  struct text host_name;            /* for the history */
  long long start_time;             /* of this process, in clock ticks since boot */
  long long touches[STORE_TOUCHES]; /* signatures with a hit and an old day stamp */
  int ntouches;
};

/* The main file is number -1, its read-only layers are 0, 1, ... */
static inline struct connection *store_connection(struct store *store, int number) {
  return number < 0 ? &store->main : &store->layers[number];
}

/* ---- enter, leave: every public function is between them (trouble.c) */
bool store_enter(struct store *store);
void store_leave(struct store *store);
/* Acts on the fault that was noted; store_leave does it. */
void store_act(struct store *store);

/* ---- running statements (statements.c). `sql` is a constant of the code. All return false after noting a fault. */
sqlite3_stmt *store_prepare(struct connection *c, const char *sql);
/* Prepares, and binds a value for each letter of `forms`: t a text (NULL: ""), o a text or NULL, n an int, i a
 * long long, d a double, b bytes and x the bytes of a text (a pointer and a size_t, not copied). NULL after noting
 * a fault, or without memory. */
sqlite3_stmt *store_ask(struct connection *c, const char *sql, const char *forms, ...);
/* The same on the main file, for a statement that gives no rows; and runs it. */
bool store_tell(struct store *store, const char *sql, const char *forms, ...);
bool store_execute(struct connection *c, const char *sql, const char *doing);
/* SQLITE_ROW, SQLITE_DONE, or another code after noting the fault. */
int store_step(struct connection *c, sqlite3_stmt *st);
/* Step a statement that gives no rows, and reset it. */
bool store_run(struct connection *c, sqlite3_stmt *st);
/* The one number that a statement gives; `otherwise` if it gives none, or is NULL. Resets it. */
long long store_number(struct connection *c, sqlite3_stmt *st, long long otherwise);
/* A column as a string, never NULL, valid until the next step. */
const char *store_text(sqlite3_stmt *st, int column);
/* A copy; NULL without memory, SQLite's or ours. Every text column is NOT NULL. */
char *store_copy_text(sqlite3_stmt *st, int column);
/* Appends; false without memory. */
bool store_add_text(sqlite3_stmt *st, int column, struct text *out);
void store_finalize(struct connection *c);

bool store_begin(struct store *store); /* a write transaction on the main file; false: no writing now */
/* Commits it, or (not good) takes it back. True: it is committed. */
bool store_end(struct store *store, bool good);
/* SQLite's own check of the whole file. Findings are appended to `report`, counted, and noted as damage. */
void store_check_file(struct connection *c, struct text *report, int *findings);

/* ---- trouble (fault.c) */
void store_fault(struct connection *c, int code, const char *doing);
/* The first is a warning, later ones are information. Also remembered as store_trouble's answer. */
void store_warn(struct store *store, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A warning also behind another warning, for what cannot happen often. */
void store_warn_always(struct store *store, const char *format, ...) __attribute__((format(printf, 2, 3)));
void store_note(const struct store *store, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline bool store_can_write(struct store *store) {
  if (store->no_writes || store->options.read_only || !store->main.db)
    return false;
  return !store->pause_until || clock_ms() >= store->pause_until;
}
/* Its path, for messages. */
const char *store_where(const struct connection *c);
static inline void store_stage(const struct store *store, const char *name) {
  if (store->options.stage)
    store->options.stage(store->options.user, name);
}

/* ---- opening (connection.c, place.c) */
bool store_open_main(struct store *store);
void store_open_memory(struct store *store);
void store_close_connection(struct connection *c);
/* False after noting a fault. */
bool connection_open(struct store *store, struct connection *c, const char *name, int flags);
bool connection_configure(struct connection *c);
/* A read-only file, checked; false with the reason. The connection is to be closed either way (layers.c). */
bool layer_connect(struct store *store, struct connection *c, const char *path, struct text *reason);

/* Paths separated by ':'. What is not fit gets a warning. */
void layers_open(struct store *store, const char *list);
/* The main file, which may be read but not written, serves as a layer. */
void layers_from_main(struct store *store, const char *path);
/* Looks for `wanted` in the main file and then in each layer, until one has it. */
typedef bool connection_look(struct connection *c, const void *wanted, void *out);
bool store_any(struct store *store, connection_look *look, const void *wanted, void *out);

/* Directories of the path, 0700; then the file, 0600, unless it is there. False with the reason. */
bool place_create(const char *path, bool *made, struct text *reason);
/* True: the file is the user's alone. It and its directory belong to the user or root, and nobody else can
 * write there. `why`: the reason why that matters. */
#define PLACE_NOT_RUN "code from it is not run"
#define PLACE_NOT_WRITTEN "others could change the file while it is written"
bool place_trusted(const char *path, const char *why, struct text *reason);
/* True: the file looks like a cache, however damaged. Must not be called while SQLite has it open, for closing
 * it drops SQLite's locks. */
bool place_looks_like_cache(const char *path);
/* "ext4", "nfs", ...; "unknown" */
const char *place_file_system(const char *path);
bool place_is_local(const char *file_system);
void place_uri(const char *path, const char *query, struct text *out);
/* kernels.db -> kernels.v3.db */
bool place_other_name(const char *path, int version, struct text *out);

enum schema_state { SCHEMA_GOOD, SCHEMA_EMPTY, SCHEMA_OTHER_VERSION, SCHEMA_FOREIGN, SCHEMA_FAULT };
enum schema_state schema_check(struct connection *c, int *version);

/* ---- pieces shared by the rest */
/* Seconds since 1970. */
static inline long long store_now(const struct store *store) {
  return store->options.clock ? store->options.clock(store->options.user) : (long long)time(NULL);
}
void store_sleep_us(long microseconds);

/* 1: equal, 0: different, -1: fault */
int key_matches(struct connection *c, long long signature, const struct store_key *key);
/* The number of the key's row, made if it is not there; 0 after a fault. Inside a transaction. */
long long key_put(struct store *store, const struct store_key *key);
/* The key's number in one connection; 0: none, -1: fault. */
long long key_find(struct connection *c, const char *hash);
/* A row with its columns, allocated; false without memory or after a fault. */
bool key_read(struct connection *c, long long signature, struct store_key *out);
/* True: the key has a column of that name and value. */
bool key_has_column(const struct store_key *key, const struct store_column *column);
int key_difference_count(const struct store_key *a, const struct store_key *b);
bool key_same(const struct store_key *a, const struct store_key *b);

struct binary_row {
  long long signature;
  size_t size; /* as it was noted */
  const void *checksum;
  double seconds;
  long long made, used;
  const void *data, *source;
  size_t stored, source_stored;
};
bool binary_put_row(struct store *store, long long signature, const struct binary_row *row);
/* False: the bytes are not those that were written, and *why says how; *why is NULL: SQLite had no memory for them. */
bool binary_check(const char *hash, const struct binary_row *row, const char **why);
/* All binaries behind row `after`: row, hash and loop, then what the two functions below read. */
sqlite3_stmt *binary_scan(struct connection *c, long long after);
/* All but the source; the source. They point into the statement. */
void binary_from_row(sqlite3_stmt *st, struct binary_row *row);
void binary_add_source(sqlite3_stmt *st, struct binary_row *row);
void binary_set_aside(struct store *store, long long signature, const struct store_key *key,
                      const char *reason);

/* Inside a transaction. */
bool event_put(struct store *store, const char *loop, const char *hash, const char *event, const char *reason,
               double seconds);
bool trim_events(struct store *store, long long cap);
void why_unlocked(struct store *store, const struct store_key *key, struct text *out);
void gc_if_full(struct store *store);
bool lease_drop(struct store *store, const char *hash);
void flush_touches(struct store *store);

#endif
