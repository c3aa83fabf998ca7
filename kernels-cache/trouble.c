/* Trouble with SQLite, the disk or the file. Each public function is between enter and leave, and leaving acts
 * on what was noted, once nothing is in flight. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "inner.h"

/* ---- setting a file aside ----------------------------------------------------------------------*/

#define KEPT_ASIDE 5
#define PAUSE_SECONDS 15

/* Only one process at a time may rename, or a second one would rename the fresh file. */
static int lock_renaming(const char *path) {
  struct text name = {0};
  text_addf(&name, "%s.lock", path);
  int fd = text_ok(&name) ? open(text_str(&name), O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
  text_free(&name);
  for (int tries = 0; fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0; tries++) {
    if (tries == 100) {
      close(fd);
      return -1;
    }
    store_sleep_us(5000);
  }
  return fd;
}

static bool rename_beside(const char *from, const char *to, const char *suffix) {
  struct text a = {0}, b = {0};
  text_addf(&a, "%s%s", from, suffix);
  text_addf(&b, "%s%s", to, suffix);
  bool good = text_ok(&a) && text_ok(&b) && rename(text_str(&a), text_str(&b)) == 0;
  text_free(&a);
  text_free(&b);
  return good;
}

static void free_name(const char *path, struct text *to) {
  for (int i = 1; i <= KEPT_ASIDE; i++) {
    text_clear(to);
    text_addf(to, "%s.damaged-%d", path, i);
    if (access(text_str(to), F_OK) != 0)
      return;
  }
}

bool store_set_aside(const struct store *store, const struct connection *c, struct text *to) {
  int lock = lock_renaming(c->path);
  if (lock < 0)
    return false;
  bool good = false;
  struct stat now;
  if (stat(c->path, &now) != 0 || now.st_dev != c->device || now.st_ino != c->inode) {
    text_add(to, "(already renamed by another process)");
    good = true;
  } else {
    free_name(c->path, to);
    if (text_ok(to)) {
      store_stage(store, "before rename");
      /* The journals go first: a process that opens the file in between meets the same damaged file, never a fresh
       * one with an old journal. */
      rename_beside(c->path, text_str(to), "-wal");
      rename_beside(c->path, text_str(to), "-journal");
      good = rename_beside(c->path, text_str(to), "");
      store_stage(store, "after rename");
    }
  }
  close(lock);
  return good;
}

/* ---- acting ------------------------------------------------------------------------------------*/

static void go_on_in_memory(struct store *store) {
  store_close_connection(&store->main);
  store_open_memory(store);
}

static void begin_again(struct store *store) {
  store_close_connection(&store->main);
  if (store->reopened++ || !store_open_main(store))
    go_on_in_memory(store);
}

/* A file that the user named by mistake is the user's. */
static bool may_set_aside(const struct store *store, const struct connection *c) {
  return store->options.own || c->known || place_looks_like_cache(c->path);
}

static void act_on_damage(struct store *store, const char *words) {
  struct connection *c = &store->main;
  if (!c->path) {
    go_on_in_memory(store);
    return;
  }
  /* The connection is closed before the rename, so that SQLite is done with the journals; the name of the file
   * is kept. */
  struct connection old = {.path = c->path, .device = c->device, .inode = c->inode, .known = c->known};
  c->path = NULL;
  store_close_connection(c);
  struct text to = {0};
  const bool ours = may_set_aside(store, &old);
  if (!ours)
    store_warn(store, "%s is no kernel cache (%s) and is left alone; %s. Name another file with OP2_CACHE",
               old.path, words,
               store->options.read_only ? "nothing of it is used" : "this run remembers in memory only");
  else if (store->options.read_only)
    store_warn(store, "the kernel cache %s is damaged (%s); nothing of it is used", old.path, words);
  else if (store_set_aside(store, &old, &to))
    store_warn_always(store,
                      "the kernel cache %s is damaged (%s); it is set aside as %s and a new one is begun",
                      old.path, words, text_str(&to));
  else {
    store_warn(store,
               "the kernel cache %s is damaged (%s) and cannot be renamed; this run remembers in memory only",
               old.path, words);
    store->reopened++;
  }
  if (!ours || store->options.read_only)
    store->reopened++;
  text_free(&to);
  free(old.path);
  begin_again(store);
}

static void act_on_busy(struct store *store, const char *words) {
  store->pause_until = clock_ms() + 1000LL * PAUSE_SECONDS;
  store_warn(
      store,
      "another process holds the lock of the kernel cache %s (%s); new binaries are not kept for %d s. If no "
      "other program is running, look for a stopped one: fuser %s",
      store_where(&store->main), words, PAUSE_SECONDS, store->main.path ? store->main.path : "");
}

/* True: another process has set the file aside, which explains any error. */
static bool was_replaced(const struct connection *c) {
  struct stat now;
  return c->path && c->device &&
         (stat(c->path, &now) != 0 || now.st_dev != c->device || now.st_ino != c->inode);
}

/* True: the file contradicts itself. No statement here breaks a rule of the tables of a whole file, unless an
 * imported row does. */
static bool contradicts_itself(struct store *store, int code) {
  int findings = 0;
  struct text report = {0};
  if (code == SQLITE_CONSTRAINT && store->main.db)
    store_check_file(&store->main, &report, &findings);
  text_free(&report);
  return findings > 0;
}

static void act(struct store *store, enum fault fault, int code, const char *words) {
  if (fault == FAULT_BROKEN && was_replaced(&store->main))
    fault = FAULT_MOVED;
  else if (fault == FAULT_BROKEN && contradicts_itself(store, code))
    fault = FAULT_DAMAGED;
  const char *path = store_where(&store->main);
  switch (fault) {
  case FAULT_NONE: break;
  case FAULT_MEMORY:
    store_warn(store, "no memory for the kernel cache (%s); this time it is not used", words);
    break;
  case FAULT_BUSY: act_on_busy(store, words); break;
  case FAULT_FULL:
    store->no_writes = true;
    store_warn(store,
               "the disk or quota of the kernel cache %s is full (%s); new binaries are not kept. Free some "
               "space, or "
               "name another file with OP2_CACHE",
               path, words);
    break;
  case FAULT_READONLY:
    store->no_writes = true;
    store_warn(store, "the kernel cache %s cannot be written (%s); new binaries are not kept", path, words);
    break;
  case FAULT_MOVED:
    store_warn(store, "the kernel cache %s was renamed or removed while in use; a new one is begun", path);
    begin_again(store);
    break;
  case FAULT_BROKEN:
    store_warn(store, "the kernel cache %s cannot be used (%s); this run remembers in memory only", path,
               words);
    go_on_in_memory(store);
    break;
  case FAULT_DAMAGED: act_on_damage(store, words); break;
  }
}

static void act_on_layer(struct store *store, struct connection *layer) {
  if (layer->fault <= FAULT_BUSY) {
    layer->fault = FAULT_NONE;
    return;
  }
  store_warn_always(store, "the read-only kernel cache %s is not used: %s", layer->path,
                    text_str(&layer->fault_words));
  store_close_connection(layer);
}

void store_act(struct store *store) {
  for (int i = 0; i < store->nlayers; i++)
    act_on_layer(store, &store->layers[i]);
  /* Opening again may fail again; each round leaves a milder state, so few rounds suffice. */
  for (int round = 0; store->main.fault && round < 4; round++) {
    enum fault fault = store->main.fault;
    struct text words = store->main.fault_words;
    store->main.fault = FAULT_NONE;
    store->main.fault_words = (struct text){0};
    act(store, fault, store->main.fault_code, text_str(&words));
    text_free(&words);
  }
}

bool store_enter(struct store *store) {
  if (!store)
    return false;
  if (getpid() != store->pid) {
    if (!atomic_exchange(&store->fork_told, true) && store->options.log)
      log_line(store->options.log, LOG_WARN, "cache",
               "this process was forked after the kernel cache was opened; it compiles for itself and keeps "
               "nothing. Call "
               "op_init after fork to use the cache");
    return false;
  }
  pthread_mutex_lock(&store->mutex);
  return true;
}

void store_leave(struct store *store) {
  store_act(store);
  pthread_mutex_unlock(&store->mutex);
}
