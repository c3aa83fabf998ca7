/* HIPRTC, AMD's run-time compiler: finding it, and compiling. */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/gpu/log.h"
#include "backend/hip/hip.h"
#include "base/clock.h"

enum { COMPILATION = 6 };

/* Old libraries of HIP have the compiler inside. */
static const char *const usual[] = {"libhiprtc.so.7",   "libhiprtc.so.6",   "libhiprtc.so.5",
                                    "libhiprtc.so",     "libamdhip64.so.7", "libamdhip64.so.6",
                                    "libamdhip64.so.5", "libamdhip64.so",   "/opt/rocm/lib/libhiprtc.so"};

static int find_entries(struct hiprtc *r, struct error *err) {
  static const char *const symbols[] = {
#define HIPRTC_SYMBOL(name, symbol, parameters) #symbol,
      HIPRTC_ENTRIES(HIPRTC_SYMBOL)
#undef HIPRTC_SYMBOL
  };
  void **const members[] = {
#define HIPRTC_PLACE(name, symbol, parameters) (void **)(void *)&r->name,
      HIPRTC_ENTRIES(HIPRTC_PLACE)
#undef HIPRTC_PLACE
  };
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
    if (!(*members[i] = dlsym(r->library, symbols[i])))
      return error_set(err, OP_ERR_BACKEND, "%s has no entry %s: it is no HIPRTC", r->path, symbols[i]);
  return OP_OK;
}

static int read_facts(struct hiprtc *r, const char *named, struct error *err) {
  struct link_map *map = NULL;
  int major = 0, minor = 0;
  r->path = strdup(dlinfo(r->library, RTLD_DI_LINKMAP, &map) == 0 && map->l_name ? map->l_name : named);
  if (!r->path)
    return error_memory(err, "HIPRTC's path", 0);
  const int code = find_entries(r, err);
  if (code)
    return code;
  if (r->get_version(&major, &minor))
    return error_set(err, OP_ERR_BACKEND, "%s does not say its version", r->path);
  snprintf(r->version, sizeof r->version, "%d.%d", major, minor);
  return OP_OK;
}

int hiprtc_open(struct hiprtc *r, const char *named, struct error *err) {
  *r = (struct hiprtc){0};
  if (*named)
    r->library = dlopen(named, RTLD_NOW | RTLD_LOCAL);
  for (size_t i = 0; !*named && i < sizeof usual / sizeof *usual && !r->library; i++) {
    r->library = dlopen(usual[i], RTLD_NOW | RTLD_LOCAL);
    if (r->library && !dlsym(r->library, "hiprtcCreateProgram")) {
      dlclose(r->library);
      r->library = NULL;
    }
  }
  int code = OP_OK;
  if (!r->library && *named)
    code = error_set(err, OP_ERR_BACKEND, "the HIPRTC that OP2_HIPRTC names cannot be opened: %s", dlerror());
  else if (!r->library)
    code = error_set(err, OP_ERR_BACKEND,
                     "HIPRTC, the compiler for AMD's GPUs, was not found: the dynamic linker knows no "
                     "libhiprtc.so and no libamdhip64.so with it; install ROCm (Debian: packages "
                     "libamdhip64-5 and libhiprtc-builtins5), or name the library in OP2_HIPRTC");
  else
    code = read_facts(r, named, err);
  if (code)
    hiprtc_close(r);
  return code;
}

void hiprtc_close(struct hiprtc *r) {
  free(r->path); /* the library keeps threads: it stays */
  *r = (struct hiprtc){0};
}

/* ---- compiling ---- */
struct options {
  const char *items[16];
  int count;
  char arch[96], lanes[32];
};

static void add(struct options *o, const char *option) {
  o->items[o->count++] = option;
}

static void choose_options(const struct compile_request *r, struct options *o) {
  snprintf(o->arch, sizeof o->arch, "--offload-arch=%s", r->cpu);
  snprintf(o->lanes, sizeof o->lanes, "-DOP2_LANES=%d", hip_width(r->cpu));
  add(o, o->arch);
  add(o, o->lanes);
  add(o, "-std=c++17");
  add(o, "-O3");
  if (r->fp && strcmp(r->fp, "fast") == 0)
    add(o, "-ffast-math");
  else
    add(o, r->fp && strcmp(r->fp, "contract") != 0 ? "-ffp-contract=off" : "-ffp-contract=fast");
  if (!r->warnings)
    add(o, "-w");
  if (r->debug)
    add(o, "-g");
}

static void take_log(const struct hiprtc *r, void *program, struct gpu_log *log) {
  size_t size = 0;
  if (r->log_size(program, &size) || size <= 1)
    return;
  char *words = calloc(size + 1, 1);
  if (words && !r->log(program, words))
    text_add(&log->words, words);
  free(words);
}

static int take_code(const struct hiprtc *r, void *program, struct compile_result *result) {
  size_t size = 0;
  if (r->code_size(program, &size) || !size)
    return 2;
  char *binary = malloc(size + 1);
  if (!binary)
    return 3;
  if (r->code(program, binary)) {
    free(binary);
    return 2;
  }
  binary[size] = 0;
  result->binary = binary;
  result->size = size;
  return 0;
}

static int build(const struct hiprtc *r, const struct compile_request *request, struct gpu_log *log,
                 struct compile_result *result) {
  enum { MOST = 16 };
  const char *texts[MOST] = {0}, *names[MOST] = {0};
  int n = 0;
  void *program = NULL;
  struct options options = {.count = 0};
  for (int i = 1; i < request->nfiles && n < MOST; i++, n++) {
    texts[n] = request->files[i].text;
    names[n] = request->files[i].name;
  }
  choose_options(request, &options);
  struct text source = {0}; /* else messages name a file of the compiler's */
  text_addf(&source, "#line 1 \"%s\"\n%s", request->files[0].name, request->files[0].text);
  const bool made =
      text_ok(&source) && !r->create(&program, text_str(&source), request->files[0].name, n, texts, names);
  text_free(&source);
  if (!made)
    return 2;
  const int code = r->compile(program, options.count, options.items);
  take_log(r, program, log);
  const int status = code ? (code == COMPILATION ? 1 : 2) : take_code(r, program, result);
  r->destroy(&program);
  return status;
}

void hiprtc_compile(struct hiprtc *r, const struct compile_request *request, struct compile_result *result) {
  struct gpu_log *log = gpu_log_new(result);
  if (!log)
    return;
  const double start = clock_seconds();
  result->status = build(r, request, log, result);
  result->seconds_front = clock_seconds() - start;
  gpu_log_finish(log, "HIPRTC made no binary", result);
}
