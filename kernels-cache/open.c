/* A store from its options, and back. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "inner.h"

static char *absolute(const char *path) {
  if (path[0] == '/')
    return strdup(path);
  char *here = getcwd(NULL, 0);
  struct text t = {0};
  if (here)
    text_addf(&t, "%s/%s", here, path);
  free(here);
  return t.data ? text_take(&t) : NULL;
}

static bool copy_options(struct store *store, const struct store_options *from) {
  const bool memory = !from->path || strcmp(from->path, "off") == 0;
  struct store_options *o = &store->options;
  *o = *from;
  o->path = memory ? NULL : from->path[0] ? absolute(from->path) : strdup("");
  o->layers = NULL;
  o->cap = from->cap > 0 ? from->cap : STORE_DEFAULT_CAP;
  o->busy_ms = from->busy_ms > 0 ? from->busy_ms : 1000;
  o->lease_seconds = from->lease_seconds > 0 ? from->lease_seconds : 30;
  return memory || o->path;
}

static void open_all(struct store *store, const char *layers) {
  const char *path = store->options.path;
  if (path && !path[0])
    store_warn(store, "no place for the kernel cache: neither XDG_CACHE_HOME nor HOME is an absolute path; "
                      "this run remembers in memory "
                      "only. Name a file with OP2_CACHE");
  bool readable_only =
      path && path[0] && !store->options.read_only && access(path, R_OK) == 0 && access(path, W_OK) != 0;
  if (!path || !path[0] || readable_only || !store_open_main(store))
    store_open_memory(store);
  store_act(store);
  if (readable_only)
    layers_from_main(store, path);
  if (layers && *layers)
    layers_open(store, layers);
}

int store_open(struct store **out, const struct store_options *options, struct error *err) {
  *out = NULL;
  struct store *store = calloc(1, sizeof *store);
  if (!store)
    return error_memory(err, "the kernel cache", sizeof *store);
  if (!copy_options(store, options)) {
    free(store);
    return error_memory(err, "the kernel cache's options", sizeof *store);
  }
  pthread_mutex_init(&store->mutex, NULL);
  store->pid = getpid();
  char host[128] = "unknown";
  gethostname(host, sizeof host - 1);
  text_add(&store->host_name, host);
  open_all(store, options->layers);
  *out = store;
  return OP_OK;
}

static void release(struct store *store) {
  for (int i = 0; i < store->nlayers; i++)
    store_close_connection(&store->layers[i]);
  free(store->layers);
  store_close_connection(&store->main);
  text_free(&store->trouble);
  text_free(&store->host);
  text_free(&store->host_name);
  pthread_mutex_destroy(&store->mutex);
  free((char *)(size_t)store->options.path);
  free(store);
}

void store_close(struct store *store) {
  /* A forked child leaves the parent's connections as they are: closing them would disturb the parent's
   * journal. */
  if (!store || getpid() != store->pid)
    return;
  flush_touches(store);
  release(store);
}

const char *store_path(const struct store *store) {
  return store ? store->main.path : NULL;
}

const char *store_trouble(const struct store *store) {
  return store ? text_str(&store->trouble) : "";
}
