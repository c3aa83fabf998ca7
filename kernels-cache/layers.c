/* Read-only files that are asked after the main one: opened in place, without locks, and never written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/list.h"
#include "inner.h"

static bool in_wal_mode(const char *path) {
  unsigned char header[20] = {0};
  FILE *f = fopen(path, "rbe");
  if (!f)
    return false;
  size_t got = fread(header, 1, sizeof header, f);
  fclose(f);
  return got == sizeof header && (header[18] == 2 || header[19] == 2);
}

static bool layer_is_fit(struct store *store, const char *path, struct text *reason) {
  struct stat st;
  if (!place_trusted(path, PLACE_NOT_RUN, reason))
    return false;
  if (stat(path, &st) == 0 && store->main.path && st.st_dev == store->main.device &&
      st.st_ino == store->main.inode) {
    text_add(reason, "it is the cache itself");
    return false;
  }
  if (in_wal_mode(path)) {
    text_addf(reason,
              "it is in WAL mode, and reading it in place may show old rows. Run: OP2_CACHE='%s' op2jit "
              "cache export "
              "'%s.layer', and name that file",
              path, path);
    return false;
  }
  return true;
}

static bool connect(struct store *store, struct connection *c, const char *path, struct text *reason) {
  struct text uri = {0};
  int version = 0;
  place_uri(path, "?immutable=1", &uri);
  c->path = strdup(path);
  enum schema_state state = SCHEMA_FAULT;
  if (c->path && text_ok(&uri) &&
      connection_open(store, c, text_str(&uri), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI) &&
      connection_configure(c))
    state = schema_check(c, &version);
  text_free(&uri);
  if (state == SCHEMA_OTHER_VERSION)
    text_addf(reason, "its tables have version %d, this library reads version %d", version, STORE_VERSION);
  else if (state == SCHEMA_FAULT)
    text_add(reason, text_str(&c->fault_words));
  else if (state != SCHEMA_GOOD)
    text_add(reason, "it is not a kernel cache");
  return state == SCHEMA_GOOD;
}

bool layer_connect(struct store *store, struct connection *c, const char *path, struct text *reason) {
  return layer_is_fit(store, path, reason) && connect(store, c, path, reason);
}

static bool open_layer(struct store *store, struct connection *c, const char *path) {
  struct text reason = {0};
  bool good = layer_connect(store, c, path, &reason);
  if (!good) {
    store_warn_always(store, "the read-only kernel cache %s is not used: %s", path, text_str(&reason));
    store_close_connection(c);
  }
  text_free(&reason);
  return good;
}

/* A file that may be read but not written serves as a layer. */
void layers_from_main(struct store *store, const char *path) {
  store->layers = array_new(1, sizeof *store->layers);
  if (store->layers && open_layer(store, store->layers, path)) {
    store->nlayers = 1;
    store_warn(
        store,
        "the kernel cache %s cannot be written by you: it is used read-only, and this run remembers in "
        "memory",
        path);
  }
}

void layers_open(struct store *store, const char *list) {
  size_t most = 1 + (size_t)store->nlayers;
  for (const char *p = list; *p; p++)
    most += *p == ':';
  struct connection *more = array_resize(store->layers, most, sizeof *more);
  if (!more)
    return;
  memset(more + store->nlayers, 0, (most - (size_t)store->nlayers) * sizeof *more);
  store->layers = more;
  for (const char *p = list; *p;) {
    size_t length = strcspn(p, ":");
    char *path = length ? strndup(p, length) : NULL;
    if (path && open_layer(store, &store->layers[store->nlayers], path))
      store->nlayers++;
    free(path);
    p += length + (p[length] == ':');
  }
}

bool store_any(struct store *store, connection_look *look, const void *wanted, void *out) {
  bool found = false;
  if (!store_enter(store))
    return false;
  for (int i = -1; i < store->nlayers && !found; i++)
    found = look(store_connection(store, i), wanted, out);
  store_leave(store);
  return found;
}
