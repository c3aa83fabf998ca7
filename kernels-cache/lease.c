/* Leases: one row for each compile under way, so that many processes with a cold cache compile each key about
 * once. A lease never blocks for good. A dead or stopped owner on this host is noticed at once; any other owner
 * has the lease's time. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "inner.h"

/* The time that an owner on this host may be idle. */
#define IDLE_MS 1000

/* ---- who we are, who they are ------------------------------------------------------------------*/

static bool read_small(const char *path, char *out, size_t size) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  ssize_t got = read(fd, out, size - 1);
  close(fd);
  out[got > 0 ? got : 0] = '\0';
  return got > 0;
}

struct process {
  char state;
  long long start, spent; /* clock ticks: since boot; of all its threads, in the processor */
};

/* False if there is none. */
static bool process_look(long pid, struct process *out) {
  char path[48], line[1024];
  snprintf(path, sizeof path, "/proc/%ld/stat", pid);
  if (!read_small(path, line, sizeof line))
    return false;
  char *p = strrchr(line, ')'); /* the name may hold anything */
  long long user, system;
  if (!p ||
      sscanf(p + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lld %lld %*d %*d %*d %*d %*d %*d %lld",
             &out->state, &user, &system, &out->start) != 4)
    return false;
  out->spent = user + system;
  return true;
}

/* Processes can see each other if kernel, boot and pid namespace are the same; host names alone do not say so. */
static void find_identity(struct store *store) {
  if (store->host.length)
    return;
  char boot[64] = "", space[64] = "";
  struct process self = {0};
  read_small("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
  boot[strcspn(boot, "\n")] = '\0';
  ssize_t got = readlink("/proc/self/ns/pid", space, sizeof space - 1);
  space[got > 0 ? got : 0] = '\0';
  text_addf(&store->host, "%s %s %s", text_str(&store->host_name), boot, space);
  if (process_look(store->pid, &self))
    store->start_time = self.start;
}

struct lease_row {
  bool there, ours, here; /* ours: this process's; here: an owner that we can look at */
  long pid;
  long long start, made, expires;
};

static bool get_row(struct store *store, const char *hash, struct lease_row *row) {
  *row = (struct lease_row){0};
  sqlite3_stmt *st =
      store_ask(&store->main, "SELECT host, pid, start, made, expires FROM lease WHERE hash = ?1", "t", hash);
  if (!st)
    return false;
  int code = store_step(&store->main, st);
  if (code == SQLITE_ROW) {
    row->there = true;
    row->here = strcmp(store_text(st, 0), text_str(&store->host)) == 0;
    row->pid = (long)sqlite3_column_int64(st, 1);
    row->start = sqlite3_column_int64(st, 2);
    row->made = sqlite3_column_int64(st, 3);
    row->expires = sqlite3_column_int64(st, 4);
    row->ours = row->here && row->pid == store->pid && row->start == store->start_time;
  }
  sqlite3_reset(st);
  return code == SQLITE_ROW || code == SQLITE_DONE;
}

static bool owner_is_alive(const struct store *store, const struct lease_row *row) {
  long long now = store_now(store);
  /* Made in the future: the clock was set back, and nothing in the row can be believed. */
  if (now >= row->expires || row->made > now + 2)
    return false;
  if (!row->here)
    return true;
  struct process owner;
  if (!process_look(row->pid, &owner) || owner.start != row->start)
    return false;
  return !strchr("TtZXx", owner.state); /* stopped, traced, dead */
}

/* ---- taking and giving back --------------------------------------------------------------------*/

static bool write_row(struct store *store, const char *hash) {
  const long long now = store_now(store);
  return store_tell(
      store,
      "INSERT OR REPLACE INTO lease(hash, host, pid, start, made, expires) VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
      "ttniii", hash, text_str(&store->host), (int)store->pid, store->start_time, now,
      now + store->options.lease_seconds);
}

bool lease_drop(struct store *store, const char *hash) {
  return store_tell(store, "DELETE FROM lease WHERE hash = ?1", "t", hash);
}

static bool has_result(struct store *store, const char *hash) {
  struct connection *c = &store->main;
  return store_number(c,
                      store_ask(c,
                                "SELECT EXISTS(SELECT 1 FROM signature s JOIN binary b ON b.signature = s.id "
                                "WHERE s.hash = ?1)",
                                "t", hash),
                      0) != 0;
}

enum attempt { ATTEMPT_MINE, ATTEMPT_READY, ATTEMPT_TAKEN, ATTEMPT_FAILED };

/* MINE: the lease is free. */
static enum attempt look(struct store *store, const char *hash, struct lease_row *row) {
  if (has_result(store, hash))
    return ATTEMPT_READY;
  if (!get_row(store, hash, row))
    return ATTEMPT_FAILED;
  return row->there && (row->ours || owner_is_alive(store, row)) ? ATTEMPT_TAKEN : ATTEMPT_MINE;
}

/* Looks without a lock first; a write lock is taken only to take the lease. */
static enum attempt try_once(struct store *store, const char *hash, struct lease_row *row) {
  enum attempt seen = look(store, hash, row);
  if (seen != ATTEMPT_MINE)
    return seen;
  if (!store_begin(store))
    return ATTEMPT_FAILED;
  seen = look(store, hash, row);
  if (seen == ATTEMPT_MINE && (store->main.fault || !write_row(store, hash)))
    seen = ATTEMPT_FAILED;
  return store_end(store, seen == ATTEMPT_MINE) || seen != ATTEMPT_MINE ? seen : ATTEMPT_FAILED;
}

/* An owner that compiles is in the processor; one that waits for something all the time is given a second. */
struct idleness {
  long long spent, since;
};

static bool is_idle(struct idleness *idle, const struct lease_row *row) {
  struct process owner;
  const long long now = clock_ms();
  if (!row->here || row->ours || !process_look(row->pid, &owner))
    return false;
  if (owner.spent != idle->spent)
    *idle = (struct idleness){owner.spent, now};
  return now - idle->since >= IDLE_MS;
}

enum store_lease store_lease(struct store *store, const struct store_key *key) {
  long long begin = clock_ms();
  struct idleness idle = {-1, begin};
  long pause = 500;
  for (;;) {
    if (!store_enter(store))
      return STORE_LEASE_ALONE;
    find_identity(store);
    struct lease_row row = {0};
    enum attempt attempt = store->main.path ? try_once(store, key->hash, &row) : ATTEMPT_MINE;
    store_stage(store, attempt == ATTEMPT_MINE ? "lease: taken" : "lease: looked");
    store_leave(store);
    switch (attempt) {
    case ATTEMPT_MINE: return STORE_LEASE_MINE;
    case ATTEMPT_READY: return STORE_LEASE_READY;
    case ATTEMPT_FAILED: return STORE_LEASE_ALONE;
    case ATTEMPT_TAKEN: break;
    }
    if (clock_ms() - begin >= 1000LL * store->options.lease_seconds || is_idle(&idle, &row))
      return STORE_LEASE_ALONE;
    store_sleep_us(pause);
    pause = pause < 16000 ? 2 * pause : pause;
  }
}

void store_lease_end(struct store *store, const struct store_key *key) {
  if (!store_enter(store))
    return;
  if (store_can_write(store))
    store_tell(store, "DELETE FROM lease WHERE hash = ?1 AND host = ?2 AND pid = ?3", "ttn", key->hash,
               text_str(&store->host), (int)store->pid);
  store_leave(store);
}
