/* Compiling with NVRTC: the options that each version understands, and its log as messages. */
#include "jit/nvrtc.h"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/list.h"

enum { MAX_OPTIONS = 48 };

int nvrtc_target(const struct nvrtc *n, const char *device, int *ptx) {
  int wanted = 0, best = 0;
  if (sscanf(device, "sm_%d", &wanted) != 1)
    return 0;
  *ptx = 1;
  for (int i = 0; i < n->narchs; i++) {
    if (n->archs[i] == wanted)
      *ptx = 0;
    if (n->archs[i] <= wanted && n->archs[i] > best)
      best = n->archs[i];
  }
  return best;
}

/* ---- messages ---- */
struct owner {
  struct text log;
  struct compile_message *messages;
  int count;
};

static struct compile_message *add_message(struct owner *o, enum compile_severity severity) {
  struct compile_message *m = array_more(o->messages, (size_t)o->count, sizeof *m);
  if (!m)
    return NULL;
  o->messages = m;
  m[o->count] = (struct compile_message){.severity = severity, .file = "", .text = ""};
  return &m[o->count++];
}

static void say(struct owner *o, enum compile_severity severity, const char *text) {
  struct compile_message *m = add_message(o, severity);
  if (m)
    m->text = text;
}

static const struct {
  const char *mark;
  enum compile_severity severity;
} severities[] = {{"catastrophic error", COMPILE_ERROR},
                  {"error", COMPILE_ERROR},
                  {"warning", COMPILE_WARNING},
                  {"remark", COMPILE_REMARK},
                  {"note", COMPILE_NOTE}};

/* "file(line): error #123-D: words" becomes a message; the line is cut in place. */
static bool read_position(struct owner *o, char *line) {
  char *close = strstr(line, "): "), *open = close;
  while (open && open > line && *open != '(')
    open--;
  if (!close || open == line)
    return false;
  char *end;
  long number = strtol(open + 1, &end, 10);
  char *words = close + 3;
  for (size_t i = 0; end == close && i < sizeof severities / sizeof *severities; i++) {
    size_t length = strlen(severities[i].mark);
    char *colon = strchr(words, ':');
    if (strncmp(words, severities[i].mark, length) != 0 || !colon || !strchr(" :#", words[length]))
      continue;
    struct compile_message *m = add_message(o, severities[i].severity);
    if (!m)
      return true;
    *open = 0;
    m->file = line;
    m->line = (int)number;
    m->text = colon + 1 + strspn(colon + 1, " ");
    return true;
  }
  return false;
}

/* The log's lines as messages; a line with a caret gives the last message its column. */
static void read_log(struct owner *o) {
  char *line = o->log.data, *before = NULL;
  while (line && *line) {
    char *end = strchr(line, '\n');
    if (end)
      *end = 0;
    size_t blanks = strspn(line, " ");
    if (line[blanks] == '^' && o->count && before && !o->messages[o->count - 1].column)
      o->messages[o->count - 1].column = blanks >= 4 ? (int)blanks - 3 : 1;
    else if (!read_position(o, line) && strncmp(line, "ptxas", 5) == 0)
      say(o, strstr(line, "error") || strstr(line, "fatal") ? COMPILE_ERROR : COMPILE_REMARK, line);
    else if (strncmp(line, "nvrtc: error", 12) == 0) /* not a message: the words of NVRTC */
      say(o, COMPILE_ERROR, line);
    before = line;
    line = end ? end + 1 : NULL;
  }
}

/* ---- options ---- */
struct options {
  const char *items[MAX_OPTIONS];
  int count;
  char arch[48];
};

static void option(struct options *o, const char *text) {
  if (o->count < MAX_OPTIONS)
    o->items[o->count++] = text;
}

static const struct {
  const char *text;
  int since;      /* NVRTC's version; 0: all */
  int before;     /* 0: all later ones too */
  const char *fp; /* only for this kind of floating point */
} rules[] = {
    {"-default-device", 0, 0, NULL},
    {"--std=c++17", 0, 120, NULL},
    {"--std=c++20", 120, 0, NULL},              /* designated initialisers */
    {"--modify-stack-limit=false", 0, 0, NULL}, /* else it changes the limit of the whole process */
    {"--no-cache", 130, 0, NULL},               /* else it opens the driver for a cache of its own */
    {"-lineinfo", 0, 0, NULL},
    {"--fmad=false", 0, 0, "strict"},
    {"--fmad=false", 0, 0, "reproducible"}, /* it joins as it likes, and not as the text has them */
    {"--fmad=false", 0, 0, "reproducible strict"},
    {"--fmad=true", 0, 0, "contract"},
    {"--use_fast_math", 0, 0, "fast"},
};

static void choose_options(const struct nvrtc *n, const struct compile_request *r, int target, int ptx,
                           struct options *o) {
  snprintf(o->arch, sizeof o->arch, "--gpu-architecture=%s%d", ptx ? "compute_" : "sm_", target);
  option(o, o->arch);
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
    if (rules[i].since <= n->number && (!rules[i].before || n->number < rules[i].before) &&
        (!rules[i].fp || (r->fp && strcmp(rules[i].fp, r->fp) == 0)))
      option(o, rules[i].text);
  if (!r->warnings)
    option(o, "-w");
  if (r->debug)
    option(o, "-G");
}

/* ---- results ---- */
static void take_log(struct nvrtc *n, void *program, struct owner *o) {
  size_t size = 0;
  if (n->log_size(program, &size) || size <= 1)
    return;
  char *log = malloc(size + 1);
  if (log && !n->log(program, log)) {
    log[size] = 0;
    text_add(&o->log, log);
  }
  free(log);
}

static int take_binary(struct nvrtc *n, void *program, int ptx, struct compile_result *result) {
  size_t size = 0;
  if ((ptx ? n->ptx_size : n->cubin_size)(program, &size) || !size)
    return 2;
  char *binary = malloc(size + 1);
  if (!binary || (ptx ? n->ptx : n->cubin)(program, binary)) {
    free(binary);
    return 2;
  }
  binary[size] = 0;
  result->binary = binary;
  result->size = size;
  return 0;
}

static int build(struct nvrtc *n, const struct compile_request *r, const struct options *options, int ptx,
                 struct owner *o, struct compile_result *result) {
  enum { MAX_HEADERS = 16 };
  const char *texts[MAX_HEADERS] = {0}, *names[MAX_HEADERS] = {0};
  int nheaders = 0;
  for (int i = 1; i < r->nfiles && nheaders < MAX_HEADERS; i++, nheaders++) {
    texts[nheaders] = r->files[i].text;
    names[nheaders] = r->files[i].name;
  }
  void *program = NULL;
  int code = n->create(&program, r->files[0].text, r->files[0].name, nheaders, texts, names);
  if (code) {
    say(o, COMPILE_ERROR, n->error_string(code));
    return 2;
  }
  code = n->compile(program, options->count, options->items);
  take_log(n, program, o);
  read_log(o);
  int status = code ? (code == NVRTC_COMPILATION ? 1 : 2) : take_binary(n, program, ptx, result);
  bool told = false;
  for (int i = 0; i < o->count; i++)
    told |= o->messages[i].severity == COMPILE_ERROR;
  if (status && !told)
    say(o, COMPILE_ERROR, code ? n->error_string(code) : "NVRTC made no binary");
  n->destroy(&program);
  return status;
}

void nvrtc_compile(struct nvrtc *n, const struct compile_request *request, const char *const *extra,
                   int nextra, struct compile_result *result) {
  *result = (struct compile_result){.status = 2};
  struct owner *o = calloc(1, sizeof *o);
  if (!o)
    return;
  result->owner = o;
  int ptx = 0, target = nvrtc_target(n, request->cpu, &ptx);
  double start = clock_seconds();
  if (!target) {
    say(o, COMPILE_ERROR,
        "this NVRTC cannot compile for a GPU as old as this one; install an older toolkit's NVRTC");
  } else {
    struct options options = {.count = 0};
    choose_options(n, request, target, ptx, &options);
    for (int i = 0; i < nextra; i++)
      option(&options, extra[i]);
    result->status = build(n, request, &options, ptx, o, result);
    if (!result->status && ptx)
      say(o, COMPILE_NOTE,
          "this NVRTC is older than the GPU: PTX of its newest architecture, translated by the driver");
  }
  result->seconds_front = clock_seconds() - start;
  result->messages = o->messages;
  result->nmessages = o->count;
}

void nvrtc_release(struct compile_result *result) {
  struct owner *o = result->owner;
  if (o) {
    text_free(&o->log);
    free(o->messages);
    free(o);
  }
  free(result->binary);
  *result = (struct compile_result){0};
}

/* ---- finding and opening NVRTC ---- */
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
