/* The store: one SQLite file that remembers binaries, tunings, verdicts, facts and a history between
 * runs. It knows columns and types, not meanings. A key is a list of named byte strings and one hash over them,
 * and every hit compares all of them.
 *
 * A store never fails its caller. Every function takes NULL for "nothing is remembered"; what cannot be read is
 * a miss, and what cannot be written is dropped. Trouble with the file gives one warning with the reason, and
 * the run goes on in memory. A damaged file is renamed, never deleted. In a forked child the parent's store
 * answers every question with "miss" and keeps nothing.
 *
 * Threads: every function may be called from any thread at any time between store_open and store_close.
 * Ownership: strings and bytes passed in are copied, or only read during the call; what comes out belongs to
 * the caller. */
#ifndef OP2JIT_KERNELS_CACHE_STORE_H
#define OP2JIT_KERNELS_CACHE_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/log.h"

struct store;

/* ---- keys --------------------------------------------------------------------------------------*/

struct store_column {
  const char *name;  /* "constant gam", "compiler", ...: unique in its key; shown by `op2jit cache show` */
  const char *value; /* any bytes; NULL if length is 0 */
  size_t length;
};
struct store_key {
  const char *hash; /* the full hash in hexadecimal */
  const char *loop; /* name for people; not compared */
  const char *
      names; /* names that people know the things in its columns by, for the sentence; not compared; may be NULL */
  const struct store_column *columns;
  int ncolumns;
};

/* A sentence that says how `to` differs from `from`: "constant gam 1.4 -> 1.41". Appends to `out`. */
typedef void store_sentence(const struct store_key *from, const struct store_key *to, struct text *out);

/* The kind of a key, in words; "" for most keys. A key is compared only with keys of its kind. */
typedef const char *store_kind(const struct store_key *key);

/* ---- life --------------------------------------------------------------------------------------*/

#define STORE_DEFAULT_CAP (512LL << 20)

struct store_options {
  const char
      *path; /* NULL or "off": memory only. "": there is no place (HOME unset): memory only, with a warning */
  const char
      *layers; /* read-only files, separated by ':', asked in this order after the main file; or NULL */
  const struct log *log; /* category "cache"; NULL: silent. Must outlive the store */
  long long cap;         /* bytes; 0: STORE_DEFAULT_CAP */
  bool read_only;        /* look only: nothing is created or written */
  bool own;              /* the library chose the name: a file there that is no cache may be set aside */
  const char
      *home; /* a folder of the path that is not made where it is missing; or NULL. Must outlive the store */
  store_sentence *sentence; /* NULL: the names of the columns that differ */
  store_kind *kind;         /* NULL: all keys are of one kind */
  int busy_ms;              /* how long to wait for another process's write; 0: 1000 */
  int lease_seconds;        /* after which a compile of another host counts as dead; 0: 30 */
  bool exports; /* the file is made for others: nothing of it is run here, and the caller reports errors */
  /* For tests only. */
  const char *vfs;                             /* SQLite VFS to use; must outlive the store, as file_system */
  const char *file_system;                     /* "nfs", "ext4", ...: instead of asking the system */
  long long (*clock)(void *user);              /* seconds since 1970 */
  void (*stage)(void *user, const char *name); /* called at each named stage of a write */
  void *user;
};

/* The default file: $XDG_CACHE_HOME/op2jit/kernels.db, else $HOME/.cache/op2jit/kernels.db. False if neither is an
 * absolute path: pass "" on to store_open then. */
bool store_default_path(struct text *out, const char *xdg_cache_home, const char *home);

/* Trouble with the file is no error. OP_ERR_MEMORY if there is no memory for the store itself: *out is NULL, which
 * is a store that remembers nothing. */
int store_open(struct store **out, const struct store_options *options, struct error *err);
void store_close(struct store *store);

/* The file in use, NULL in memory-only operation. */
const char *store_path(const struct store *store);
/* The last trouble: why there is no file, why writing stopped, what was set aside; "" if there was none. For
 * one thread at a time, until its next call. */
const char *store_trouble(const struct store *store);

/* ---- binaries ----------------------------------------------------------------------------------*/

struct store_blob {
  void *data; /* malloc'd */
  size_t size;
  bool from_layer;
  /* Where it was found. */
  char *file;     /* malloc'd; NULL: in memory */
  long long row;  /* its number */
  double seconds; /* that the compile took */
};
void store_blob_free(struct store_blob *blob);
/* "row 4 of FILE, compiled in 55 ms". Appends. */
void store_blob_print(const struct store_blob *blob, struct text *out);

/* True: all columns are equal, length and checksum are right. A row that fails a check is set aside with a warning, and
 * is a miss. */
bool store_get_binary(struct store *store, const struct store_key *key, struct store_blob *out);
/* True: a hit is to be expected. The binary is not read. */
bool store_has_binary(struct store *store, const struct store_key *key);

/* Visits the values of column `column` in binaries whose keys are equal to this one in all other columns. */
typedef void store_visit_value(void *user, const char *value, size_t length);
void store_others(struct store *store, const struct store_key *key, const char *column,
                  store_visit_value *visit, void *user);

struct store_new_binary {
  const void *data;
  size_t size;
  const char *source; /* generated text, NULL: none */
  size_t source_length;
  double seconds;     /* that the compile took */
  const char *reason; /* for the history; NULL: store_why is asked */
};
/* Keeps the binary, notes it in the history, ends its lease: one transaction. False: not kept. */
bool store_put_binary(struct store *store, const struct store_key *key,
                      const struct store_new_binary *binary);
/* The binary is intact but of no use (it does not load): set it aside for inspection; the next get is a miss. */
void store_reject_binary(struct store *store, const struct store_key *key, const char *reason);
/* The generated text beside a binary. */
bool store_get_source(struct store *store, const char *hash, struct text *out);

/* The reason why this key is a miss, as one sentence: the change since the nearest earlier key of the same loop
 * name and kind, or that there is none, or the fate of its binary. Appends to `out`. */
void store_why(struct store *store, const struct store_key *key, struct text *out);

/* Notes in the history that a compile of the key failed: `summary`, the compiler's words in one line, and why the
 * kernel was compiled. Ends the lease. */
void store_note_failure(struct store *store, const struct store_key *key, const char *summary);

/* ---- leases: who compiles what, over all processes ---------------------------------------------- After a miss:
 *   switch (store_lease(store, key)) { case STORE_LEASE_MINE:  compile, then store_put_binary or store_note_failure
 *   (both end it), else store_lease_end case STORE_LEASE_READY: ask store_get_binary again;
 *   at a second miss compile without case STORE_LEASE_ALONE: compile without; store_put_binary as usual }
 * The call waits while another process compiles the same key: on this host as long as it works at it, and a second
 * after it stopped working; never longer than the lease's time. A dead or stopped owner on this host is noticed at
 * once. */
enum store_lease { STORE_LEASE_MINE, STORE_LEASE_READY, STORE_LEASE_ALONE };
enum store_lease store_lease(struct store *store, const struct store_key *key);
void store_lease_end(struct store *store, const struct store_key *key);

/* ---- tunings -----------------------------------------------------------------------------------*/

struct store_tuning {
  const char *signature; /* the thing that was tuned; any text */
  const char *loop;      /* name for people */
  const char *target;    /* machine or device */
  int threads;
  const char *mesh; /* fingerprint */
  const char *variant;
  double median; /* seconds; <= 0: it failed */
  int count;     /* measurements behind it */
  bool chosen;
  long long made;   /* seconds since 1970; set by the store */
  double baseline;  /* time of the default in the same run, to compare medians of several runs; 0: unknown */
  bool provisional; /* chosen before all were tried; a finished choice is not replaced by one */
};
/* One transaction; a row with the same signature, target, threads, mesh and variant is replaced. */
bool store_put_tunings(struct store *store, const struct store_tuning *rows, int count);
/* NULL and 0 in the filter match everything; layers count, the main file wins. One allocation, `store_tunings_free`. */
struct store_tuning_filter {
  const char *signature, *loop, *target, *mesh;
  int threads;
  bool chosen_only;
};
int store_get_tunings(struct store *store, const struct store_tuning_filter *filter,
                      struct store_tuning **rows);
void store_tunings_free(struct store_tuning *rows, int count);
int store_clear_tunings(struct store *store, const struct store_tuning_filter *filter);

/* ---- verdicts and facts ------------------------------------------------------------------------*/

/* A text under a text: the prover's verdict on a kernel. */
bool store_put_verdict(struct store *store, const char *key, const char *verdict);
bool store_get_verdict(struct store *store, const char *key, struct text *out);
/* A number and a text of one machine: the triad's GB/s. Facts older than `valid_seconds` (0: any) are not there. */
bool store_put_fact(struct store *store, const char *machine, const char *name, double number,
                    const char *words);
bool store_get_fact(struct store *store, const char *machine, const char *name, long long valid_seconds,
                    double *number, struct text *words);

/* ---- looking ------------------------------------------------------------------------------------*/

struct store_row {
  const char *hash, *loop, *origin; /* origin: path of the file or layer */
  long long size, stored;           /* bytes of the binary, and of its row in the file */
  double seconds;
  long long made, used; /* seconds since 1970; `used` to the day */
  const char *shape;    /* the key's column of that name, "" if it has none */
};
typedef void store_visit_row(void *user, const struct store_row *row);
/* Binaries, newest first, those of the file and then those of each layer; loop NULL: all. */
void store_list(struct store *store, const char *loop, store_visit_row *visit, void *user);
/* Finds the key whose hash begins with `prefix`, with its columns; 0 if none, -1 if several, 1 if found. Free
 * with store_key_free. */
int store_find_key(struct store *store, const char *prefix, struct store_key *out);
void store_key_free(struct store_key *key);

struct store_event {
  long long number, time;
  const char *loop, *hash, *event; /* "compiled", "failed", "evicted", "damaged", "imported" */
  const char *reason;              /* the sentence of that time */
  double seconds;
  const char *host;
  int pid;
};
typedef void store_visit_event(void *user, const struct store_event *event);
/* Newest first; loop NULL: all; limit 0: all. */
void store_history(struct store *store, const char *loop, int limit, store_visit_event *visit, void *user);

/* The speed of a loop in a run. */
struct store_speed {
  const char *loop, *signature, *machine, *mesh, *version, *variant; /* signature to mesh as of tunings */
  int threads;
  long long elements, calls;
  double seconds; /* of the fastest call */
  long long time; /* seconds since 1970; set by the store */
};
/* The last so many of each loop's name are kept. */
enum { STORE_SPEEDS = 50 };
/* One transaction. */
bool store_put_speeds(struct store *store, const struct store_speed *rows, int count);
typedef void store_visit_speed(void *user, const struct store_speed *speed);
/* Visits the main file: by loop, newest first; loop NULL: all. */
void store_speeds(struct store *store, const char *loop, store_visit_speed *visit, void *user);

struct store_stats {
  long long binaries, loops, binary_bytes, stored_bytes, file_bytes, free_bytes, cap;
  long long tunings, verdicts, facts, events, damaged, leases;
  double seconds; /* compile time that the binaries stand for */
  int layers;
  const char *journal; /* "wal" or "truncate"; "memory" */
  const char *file_system;
};
void store_stats(struct store *store, struct store_stats *out);

/* ---- care --------------------------------------------------------------------------------------*/

/* Read everything: SQLite's integrity check, every length, checksum and key. Damaged rows are set aside. `report`
 * gets a line per finding. Returns how many findings. */
int store_verify(struct store *store, struct text *report, long long *checked);
/* Evict least recently used binaries until the file is at most `cap` bytes (0: the store's own); dead leases and old
 * history go too. Returns the binaries evicted. */
int store_gc(struct store *store, long long cap);
/* Forget the binaries of one loop, or (NULL) everything but tunings and facts. */
int store_clear(struct store *store, const char *loop);

/* Write binaries (of the named loops; count 0: all), their tunings and all verdicts into a new file in rollback
 * mode, fit to be a layer. OP_ERR_FILE if it exists or cannot be written: then nothing is left behind. *rows:
 * binaries written. */
int store_export(struct store *store, const char *path, const char *const loops[], int count, long long *rows,
                 struct error *err);
/* Takes over the binaries and other rows of a file: all or nothing, after every checksum was verified. */
int store_import(struct store *store, const char *path, const char *const loops[], int count, long long *rows,
                 struct error *err);

#endif
