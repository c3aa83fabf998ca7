/* Finding and opening NVRTC. */
#include "jit/nvrtc/library.h"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"

static const char *const sonames[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"};

/* Below the folder of a toolkit, and below one that Python's wheels are installed in. */
static const char *const of_toolkit[] = {"/lib64/libnvrtc.so.[0-9]*", "/targets/*/lib/libnvrtc.so.[0-9]*",
                                         "/lib/libnvrtc.so.[0-9]*", NULL};
static const char *const of_wheel[] = {"/lib/python3*/*-packages/nvidia/*/lib/libnvrtc.so.[0-9]*", NULL};

struct search {
  const struct nvrtc_places *places;
  struct text tried; /* ", "-separated, for the message */
  void *library;
};

static void note(struct search *s, const char *place) {
  text_addf(&s->tried, "%s%s", s->tried.length ? ", " : "", place);
}

static void open_glob(struct search *s, const char *root, const char *middle, const char *tail) {
  struct text pattern = {0};
  glob_t found = {0};
  text_addf(&pattern, "%s%s%s", root, middle, tail);
  note(s, text_str(&pattern));
  if (text_ok(&pattern) && glob(text_str(&pattern), 0, NULL, &found) == 0)
    for (size_t i = found.gl_pathc; i-- > 0 && !s->library;) /* the highest version first */
      s->library = dlopen(found.gl_pathv[i], RTLD_NOW | RTLD_LOCAL);
  globfree(&found);
  text_free(&pattern);
}

static void open_any(struct search *s) {
  const struct nvrtc_places *p = s->places;
  const struct {
    const char *root, *middle, *const *patterns;
  } folders[] = {{p->cuda_home, "", of_toolkit},
                 {"/usr/local/cuda", "", of_toolkit},
                 {"/opt/cuda", "", of_toolkit},
                 {"/usr/local/cuda-1*", "", of_toolkit},
                 {"/usr/lib/cuda", "", of_toolkit},
                 {p->virtual_env, "", of_wheel},
                 {p->home, "/.local", of_wheel},
                 {"/usr/local", "", of_wheel},
                 {"/usr", "", of_wheel}};
  for (size_t i = 0; i < sizeof sonames / sizeof *sonames && !s->library; i++) {
    note(s, sonames[i]);
    s->library = dlopen(sonames[i], RTLD_NOW | RTLD_LOCAL);
  }
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
    for (const char *const *tail = folders[i].patterns; folders[i].root && *folders[i].root && *tail; tail++)
      if (!s->library)
        open_glob(s, folders[i].root, folders[i].middle, *tail);
}

static int open_library(struct nvrtc *n, const struct nvrtc_places *places, struct error *err) {
  struct search s = {.places = places};
  int code = OP_OK;
  if (places->named && *places->named) {
    n->library = dlopen(places->named, RTLD_NOW | RTLD_LOCAL);
    if (!n->library)
      code = error_set(err, OP_ERR_BACKEND, "the NVRTC that OP2_NVRTC names cannot be opened: %s", dlerror());
  } else {
    open_any(&s);
    n->library = s.library;
    if (!n->library)
      code = error_set(err, OP_ERR_BACKEND,
                       "NVRTC, the compiler for GPUs, was not found; looked for %s; install it (pip install "
                       "nvidia-cuda-nvrtc, or the CUDA toolkit), or name the library in OP2_NVRTC",
                       text_str(&s.tried));
  }
  text_free(&s.tried);
  return code;
}

static int find_entries(struct nvrtc *n, struct error *err) {
  const struct {
    const char *symbol;
    void *place;
  } entries[] = {{"nvrtcVersion", &n->get_version},
                 {"nvrtcGetNumSupportedArchs", &n->num_archs},
                 {"nvrtcGetSupportedArchs", &n->supported_archs},
                 {"nvrtcCreateProgram", &n->create},
                 {"nvrtcDestroyProgram", &n->destroy},
                 {"nvrtcCompileProgram", &n->compile},
                 {"nvrtcGetProgramLogSize", &n->log_size},
                 {"nvrtcGetProgramLog", &n->log},
                 {"nvrtcGetCUBINSize", &n->cubin_size},
                 {"nvrtcGetCUBIN", &n->cubin},
                 {"nvrtcGetPTXSize", &n->ptx_size},
                 {"nvrtcGetPTX", &n->ptx},
                 {"nvrtcGetErrorString", &n->error_string}};
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
    void *entry = dlsym(n->library, entries[i].symbol);
    if (!entry)
      return error_set(err, OP_ERR_BACKEND, "%s has no entry %s: it is no NVRTC of CUDA 11.2 or newer",
                       n->path, entries[i].symbol);
    memcpy(entries[i].place, &entry, sizeof entry);
  }
  return OP_OK;
}

/* NVRTC opens its builtins by their bare name, which works only where the linker knows their folder: a copy that is
 * there already is taken. */
static void open_builtins(struct nvrtc *n) {
  const char *slash = strrchr(n->path, '/');
  if (!slash)
    return;
  struct text path = {0};
  text_addf(&path, "%.*s/libnvrtc-builtins.so.%s", (int)(slash - n->path), n->path, n->version);
  if (text_ok(&path))
    n->builtins = dlopen(text_str(&path), RTLD_NOW | RTLD_LOCAL);
  text_free(&path);
}

static int read_facts(struct nvrtc *n, struct error *err) {
  struct link_map *map = NULL;
  n->path = strdup(dlinfo(n->library, RTLD_DI_LINKMAP, &map) == 0 && map->l_name ? map->l_name : "NVRTC");
  if (!n->path)
    return error_memory(err, "NVRTC's path", 0);
  int code = find_entries(n, err), major = 0, minor = 0;
  if (code)
    return code;
  if (n->get_version(&major, &minor) || n->num_archs(&n->narchs) || n->narchs <= 0)
    return error_set(err, OP_ERR_BACKEND, "%s does not say its version", n->path);
  snprintf(n->version, sizeof n->version, "%d.%d", major, minor);
  n->number = 10 * major + minor;
  n->archs = array_new((size_t)n->narchs, sizeof *n->archs);
  if (!n->archs)
    return error_memory(err, "NVRTC's architectures", 0);
  if (n->supported_archs(n->archs))
    return error_set(err, OP_ERR_BACKEND, "%s does not say which GPUs it knows", n->path);
  open_builtins(n);
  return OP_OK;
}

int nvrtc_open(struct nvrtc **out, const struct nvrtc_places *places, struct error *err) {
  struct nvrtc *n = calloc(1, sizeof *n);
  if (!n)
    return error_memory(err, "NVRTC", sizeof *n);
  int code = open_library(n, places, err);
  if (!code)
    code = read_facts(n, err);
  if (code) {
    nvrtc_close(n);
    return code;
  }
  *out = n;
  return OP_OK;
}

void nvrtc_close(struct nvrtc *n) {
  if (!n)
    return;
  if (n->builtins)
    dlclose(n->builtins);
  if (n->library)
    dlclose(n->library);
  free(n->path);
  free(n->archs);
  free(n);
}

const char *nvrtc_path(const struct nvrtc *n) {
  return n->path;
}
const char *nvrtc_version(const struct nvrtc *n) {
  return n->version;
}

void nvrtc_describe(const struct nvrtc_places *places, struct text *out) {
  struct nvrtc *n = NULL;
  struct error err = {0};
  if (nvrtc_open(&n, places, &err)) {
    text_addf(out, "no NVRTC: %s", error_message(&err));
  } else {
    text_addf(out, "NVRTC %s (%s) for sm_%d to sm_%d", n->version, n->path, n->archs[0],
              n->archs[n->narchs - 1]);
    nvrtc_close(n);
  }
  error_free(&err);
}
