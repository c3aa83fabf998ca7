/* NVRTC's entry points: the program is compiled as C++ for the host by the host's compiler, which is a separate
 * process; results are kept by content if STANDIN_CACHE names a directory. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"

#define EXPORT __attribute__((visibility("default")))

enum {
  OK,
  OUT_OF_MEMORY,
  PROGRAM_CREATION_FAILURE,
  INVALID_INPUT,
  INVALID_PROGRAM,
  INVALID_OPTION,
  COMPILATION
};

struct program {
  char *name;
  struct text source, log, image;
  int nheaders;
  char **headers, **header_names;
  int arch, lanes;
  bool ptx, hip;
};

static int version(void) { /* 130, 124, 118 */
  const char *s = getenv("STANDIN_NVRTC");
  int major = 13, minor = 0;
  if (s && sscanf(s, "%d.%d", &major, &minor) < 1)
    return 130;
  return 10 * major + minor;
}
static bool checked(void) {
  const char *mode = getenv("STANDIN_MODE");
  return mode && strcmp(mode, "checked") == 0;
}

/* A sed script: the mistake that a test plants in every program. */
static const char *edit(void) {
  const char *script = getenv("STANDIN_EDIT");
  return script ? script : "";
}

/* The version is part of every key in op2jit's cache: that of checked programs is the next one, so that neither
 * mode gets what the other made. */
EXPORT int nvrtcVersion(int *major, int *minor) {
  *major = version() / 10;
  *minor = version() % 10 + checked();
  return OK;
}
EXPORT const char *nvrtcGetErrorString(int code) {
  static const char *const names[] = {"NVRTC_SUCCESS",
                                      "NVRTC_ERROR_OUT_OF_MEMORY",
                                      "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
                                      "NVRTC_ERROR_INVALID_INPUT",
                                      "NVRTC_ERROR_INVALID_PROGRAM",
                                      "NVRTC_ERROR_INVALID_OPTION",
                                      "NVRTC_ERROR_COMPILATION"};
  return code >= 0 && code <= COMPILATION ? names[code] : "NVRTC_ERROR unknown";
}
static const int archs_13[] = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};
static const int archs_12[] = {50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90};
static const int archs_11[] = {35, 37, 50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90};
static const int *archs(int *count) {
  int v = version();
  *count = (int)(v >= 130   ? sizeof archs_13 / sizeof *archs_13
                 : v >= 120 ? sizeof archs_12 / sizeof *archs_12
                            : sizeof archs_11 / sizeof *archs_11);
  return v >= 130 ? archs_13 : v >= 120 ? archs_12 : archs_11;
}
EXPORT int nvrtcGetNumSupportedArchs(int *count) {
  archs(count);
  return OK;
}
EXPORT int nvrtcGetSupportedArchs(int *out) {
  int count;
  const int *all = archs(&count);
  memcpy(out, all, (size_t)count * sizeof *out);
  return OK;
}

EXPORT int nvrtcCreateProgram(struct program **out, const char *source, const char *name, int nheaders,
                              const char *const *headers, const char *const *names) {
  struct program *p = calloc(1, sizeof *p);
  if (!p)
    return OUT_OF_MEMORY;
  p->name = strdup(name && *name ? name : "default_program");
  text_add(&p->source, source);
  p->headers = calloc((size_t)nheaders + 1, sizeof *p->headers);
  p->header_names = calloc((size_t)nheaders + 1, sizeof *p->header_names);
  p->nheaders = nheaders;
  for (int i = 0; i < nheaders; i++) {
    p->headers[i] = strdup(headers[i]);
    p->header_names[i] = strdup(names[i]);
  }
  *out = p;
  return OK;
}
EXPORT int nvrtcDestroyProgram(struct program **pp) {
  struct program *p = *pp;
  if (!p)
    return INVALID_PROGRAM;
  for (int i = 0; i < p->nheaders; i++) {
    free(p->headers[i]);
    free(p->header_names[i]);
  }
  free(p->headers);
  free(p->header_names);
  free(p->name);
  text_free(&p->source);
  text_free(&p->log);
  text_free(&p->image);
  free(p);
  *pp = NULL;
  return OK;
}

/* ---- options: known names by version ---- */
static const struct {
  const char *name;
  int since;
} options[] = {
    {"-default-device", 0},
    {"--device-as-default-execution-space", 0},
    {"-w", 0},
    {"-lineinfo", 0},
    {"-G", 0},
    {"--use_fast_math", 0},
    {"--fmad=", 0},
    {"--restrict", 0},
    {"--std=c++11", 0},
    {"--std=c++14", 0},
    {"--std=c++17", 0},
    {"--std=c++20", 120},
    {"-D", 0},
    {"-maxrregcount", 0},
    {"-Xptxas", 0},
    {"-v", 0},
    {"-diag-suppress", 0},
    {"--modify-stack-limit=", 0},
    {"--minimal", 120},
    {"--split-compile", 120},
    {"--no-cache", 130},
    {"--ftz=", 0},
    {"--prec-div=", 0},
    {"--prec-sqrt=", 0},
    {"--gpu-architecture=", 0},
    {"--ptxas-options=", 0},
    {"--diag-suppress=", 0},
    {"--extra-device-vectorization", 0},
};

static bool known(const char *option) {
  for (size_t i = 0; i < sizeof options / sizeof *options; i++)
    if (strncmp(option, options[i].name, strlen(options[i].name)) == 0 && options[i].since <= version())
      return true;
  return false;
}

static int read_options(struct program *p, int n, const char *const *list) {
  for (int i = 0; i < n; i++) {
    if (!known(list[i])) {
      text_addf(&p->log, "nvrtc: error: unrecognized option %s found\n", list[i]);
      return INVALID_OPTION;
    }
    const char *arch = strstr(list[i], "--gpu-architecture=");
    if (!arch)
      continue;
    p->ptx = strstr(arch, "compute_") != NULL;
    const char *digits = strchr(arch, '_');
    p->arch = digits ? atoi(digits + 1) : 0;
    int count, have = 0;
    const int *all = archs(&count);
    for (int k = 0; k < count; k++)
      have |= all[k] == p->arch;
    if (!have) {
      text_addf(&p->log, "nvrtc: error: invalid value for --gpu-architecture (-arch)\n");
      return INVALID_OPTION;
    }
  }
  return OK;
}

/* ---- the source as the host's compiler gets it ---- */
static bool word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
static const char *word_start(const char *end, const char *limit) {
  while (end > limit && word_char(end[-1]))
    end--;
  return end;
}

/* `extern __shared__ ATTRIBUTES TYPE NAME[];` becomes a macro in front: the block's dynamic memory. */
static void take_dynamic_shared(const char *source, struct text *front, struct text *body) {
  static const char key[] = "extern __shared__";
  for (const char *at; (at = strstr(source, key)); source = strchr(at, ';') + 1) {
    const char *bracket = strchr(at, '['), *name_end = bracket;
    while (name_end > at && name_end[-1] == ' ')
      name_end--;
    const char *name = word_start(name_end, at), *type = at + strlen(key);
    while (*type == ' ')
      type++;
    if (strncmp(type, "__align__", 9) == 0)
      type = strchr(type, ')') + 1;
    text_add(front, "#define ");
    text_add_bytes(front, name, (size_t)(name_end - name));
    text_add(front, " ((");
    text_add_bytes(front, type, (size_t)(name - type));
    text_add(front, " *)standin->dynamic)\n");
    text_add_bytes(body, source, (size_t)(at - source));
  }
  text_add(body, source);
}

/* Append a table of the kernels: `__global__ void __launch_bounds__(n) name(`. */
static void add_kernel_table(const char *source, struct text *out) {
  int count = 0;
  text_add(out, "\n#line 1 \"standin\"\nstatic const standin_kernel standin_kernels[] = {\n");
  for (const char *at = strstr(source, "__global__"); at; at = strstr(at + 1, "__global__")) {
    const char *bounds = strstr(at, "__launch_bounds__("), *open = strchr(at, '(');
    int bound = 0;
    if (bounds && bounds < open) {
      bound = atoi(bounds + strlen("__launch_bounds__("));
      open = strchr(strchr(open, ')'), '(');
    }
    if (!open)
      break;
    const char *name = word_start(open, at);
    text_addf(out, "  STANDIN_KERNEL(%.*s, %d),\n", (int)(open - name), name, bound);
    count++;
  }
  text_addf(
      out,
      "  {\"\", 0, 0, 0, 0, 0}};\nextern \"C\" __attribute__((visibility(\"default\"))) const "
      "standin_program "
      "standin_program;\nconst struct standin_program standin_program = {%d, OP2_LANES, standin_kernels, %d, "
      "__start_standin_shared, __stop_standin_shared, &standin};\n",
      checked(), count);
}

static bool write_file(const char *path, const void *data, size_t size) {
  FILE *f = fopen(path, "wb");
  bool ok = f && fwrite(data, 1, size, f) == size;
  return (f ? fclose(f) == 0 : false) && ok;
}
static bool read_file(const char *path, struct text *out) {
  FILE *f = fopen(path, "rb");
  char buffer[65536];
  for (size_t n; f && (n = fread(buffer, 1, sizeof buffer, f)) > 0;)
    text_add_bytes(out, buffer, n);
  if (f)
    fclose(f);
  return f != NULL;
}

static int run(char *const argv[], const char *directory, const char *log) {
  pid_t child = fork();
  if (child == 0) {
    int fd = open(log, O_CREAT | O_WRONLY | O_APPEND, 0600);
    if (fd < 0 || chdir(directory) != 0)
      _exit(126);
    dup2(fd, 1);
    dup2(fd, 2);
    unsetenv("LD_PRELOAD");
    execvp(argv[0], argv);
    _exit(127);
  }
  int status = -1;
  if (child < 0 || waitpid(child, &status, 0) != child)
    return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The host compiler's messages in NVRTC's form: "file(line): error: ...". */
static void add_log(struct text *log, const char *messages) {
  while (*messages) {
    size_t length = strcspn(messages, "\n");
    char file[256], kind[32];
    int line, column, used = 0;
    if (sscanf(messages, "%255[^:\n]:%d:%d: %31[a-z]: %n", file, &line, &column, kind, &used) == 4 && used)
      text_addf(log, "%s(%d): %s: %.*s\n\n", file, line, kind, (int)(length - (size_t)used), messages + used);
    messages += length + (messages[length] == '\n');
  }
}

static bool write_sources(const struct program *p, const char *directory, const char *source, size_t length,
                          char path[512]) {
  char include[512];
  snprintf(path, 512, "%s/source.cc", directory);
  bool ok = write_file(path, source, length);
  for (int i = 0; i < p->nheaders; i++) {
    snprintf(include, sizeof include, "%s/%s", directory, p->header_names[i]);
    ok = ok && write_file(include, p->headers[i], strlen(p->headers[i]));
  }
  return ok;
}

static int compile_in(struct program *p, const char *directory, const char *source, size_t length) {
  char path[512], object[512], library[512], log[512];
  snprintf(object, sizeof object, "%s/source.o", directory);
  snprintf(library, sizeof library, "%s/source.so", directory);
  snprintf(log, sizeof log, "%s/log", directory);
  if (!write_sources(p, directory, source, length, path))
    return OUT_OF_MEMORY;
  char *change[] = {(char *)"sed", (char *)"-E", (char *)"-i", (char *)edit(), path, NULL};
  if (*edit() && run(change, directory, log) != 0)
    return INVALID_INPUT;
  const char *cxx = getenv("STANDIN_CXX");
  /* No C++ library: looking through it would take most of the link. */
  char *compile[40], *link[] = {(char *)"", (char *)"-shared", (char *)"-nostdlib", (char *)"-o",    library,
                                object,     (char *)"-lm",     (char *)"-lc",       (char *)"-lgcc", NULL};
  int n = 0;
  compile[n++] = (char *)(cxx && *cxx ? cxx : "g++");
  link[0] = compile[0];
  static const char *const usual[] = {"-c",
                                      "-std=gnu++17",
                                      "-O1",
                                      "-g1",
                                      "-fPIC",
                                      "-w",
                                      "-nostdinc",
                                      "-fno-exceptions",
                                      "-fno-rtti",
                                      "-fno-threadsafe-statics",
                                      "-ffp-contract=off",
                                      "-fno-math-errno",
                                      "-fno-strict-aliasing",
                                      "-fvisibility=hidden",
                                      "-fno-diagnostics-show-caret",
                                      "-I" STANDIN_SHIM_DIR,
                                      "-I.",
                                      "-include",
                                      STANDIN_SHIM_DIR "/shim.h"};
  for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
    compile[n++] = (char *)usual[i];
  if (checked()) {
    compile[n++] = (char *)"-fsanitize=thread,alignment";
    compile[n++] = (char *)"-DSTANDIN_CHECKED";
  }
  char lanes[32];
  snprintf(lanes, sizeof lanes, "-DOP2_LANES=%d", p->lanes ? p->lanes : 32);
  compile[n++] = lanes;
  char arch[32], major[40], minor[40];
  snprintf(arch, sizeof arch, "-D__CUDA_ARCH__=%d", 10 * p->arch);
  snprintf(major, sizeof major, "-D__CUDACC_VER_MAJOR__=%d", version() / 10);
  snprintf(minor, sizeof minor, "-D__CUDACC_VER_MINOR__=%d", version() % 10);
  for (int i = 0; !p->hip && i < 3; i++)
    compile[n++] = (char *[]){arch, major, minor}[i];
  compile[n++] = (char *)"-o";
  compile[n++] = object;
  compile[n++] = path;
  compile[n] = NULL;
  int status = run(compile, directory, log);
  if (status == 0)
    status = run(link, directory, log);
  struct text messages = {0};
  read_file(log, &messages);
  if (!p->hip)
    add_log(&p->log, text_str(&messages));
  if (status != 0 && !p->log.length)
    text_add(&p->log, text_str(&messages));
  text_free(&messages);
  struct text elf = {0};
  if (status != 0 || !read_file(library, &elf))
    return COMPILATION;
  text_add_bytes(&p->image, elf.data, elf.length);
  text_free(&elf);
  return OK;
}

static void remove_all(struct program *p, const char *directory) {
  static const char *const names[] = {"source.cc", "source.o", "source.so", "log"};
  char path[512];
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    snprintf(path, sizeof path, "%s/%s", directory, names[i]);
    unlink(path);
  }
  for (int i = 0; i < p->nheaders; i++) {
    snprintf(path, sizeof path, "%s/%s", directory, p->header_names[i]);
    unlink(path);
  }
  rmdir(directory);
}

/* ---- kept results ---- */
static unsigned long long hash(unsigned long long h, const char *s, size_t n) {
  for (size_t i = 0; i < n; i++)
    h = (h ^ (unsigned char)s[i]) * 1099511628211ULL;
  return h;
}
static bool cache_path(const struct program *p, const struct text *source, char *out, size_t size) {
  const char *directory = getenv("STANDIN_CACHE");
  if (!directory || !*directory)
    return false;
  static const char *const shim[] = {STANDIN_SHIM_DIR "/shim.h", STANDIN_SHIM_DIR "/machine.h"};
  unsigned long long a = hash(14695981039346656037ULL, source->data, source->length), b = a ^ 77;
  for (size_t i = 0; i < sizeof shim / sizeof *shim; i++) {
    struct text text = {0};
    read_file(shim[i], &text);
    b = hash(b, text_str(&text), text.length);
    text_free(&text);
  }
  for (int i = 0; i < p->nheaders; i++)
    a = hash(a, p->headers[i], strlen(p->headers[i]));
  b = hash(b, source->data, source->length);
  b = hash(b, edit(), strlen(edit()));
  mkdir(directory, 0700);
  snprintf(out, size, "%s/%016llx%016llx%d%s-%d-%d.so", directory, a, b, checked(), p->lanes == 64 ? "w" : "",
           p->hip ? 0 : p->arch, version());
  return true;
}

static int compile(struct program *p) {
  struct text front = {0}, body = {0}, whole = {0};
  take_dynamic_shared(text_str(&p->source), &front, &body);
  text_addf(&whole, "%s#line 1 \"%s\"\n%s", text_str(&front), p->name, text_str(&body));
  add_kernel_table(text_str(&body), &whole);
  char kept[600], temporary[640], directory[] = "/tmp/standin-XXXXXX";
  bool keep = cache_path(p, &whole, kept, sizeof kept);
  int code = OK;
  if (!keep || !read_file(kept, &p->image)) {
    if (!mkdtemp(directory)) {
      code = OUT_OF_MEMORY;
    } else {
      code = compile_in(p, directory, text_str(&whole), whole.length);
      remove_all(p, directory);
      snprintf(temporary, sizeof temporary, "%s.%d", kept, (int)getpid());
      if (code == OK && keep && write_file(temporary, p->image.data, p->image.length))
        rename(temporary, kept);
    }
  }
  text_free(&front);
  text_free(&body);
  text_free(&whole);
  return code;
}

/* STANDIN_REAL names the real NVRTC: its front end has to accept the program too. */
static int real_front_end(struct program *p, int n, const char *const *list) {
  const char *name = getenv("STANDIN_REAL");
  void *library = name && *name ? dlopen(name, RTLD_NOW | RTLD_LOCAL) : NULL;
  if (!library)
    return OK;
  int (*create)(void **, const char *, const char *, int, const char *const *, const char *const *);
  int (*build)(void *, int, const char *const *), (*log_size)(void *, size_t *), (*log)(void *, char *);
  int (*destroy)(void **);
  *(void **)&create = dlsym(library, "nvrtcCreateProgram");
  *(void **)&build = dlsym(library, "nvrtcCompileProgram");
  *(void **)&log_size = dlsym(library, "nvrtcGetProgramLogSize");
  *(void **)&log = dlsym(library, "nvrtcGetProgramLog");
  *(void **)&destroy = dlsym(library, "nvrtcDestroyProgram");
  void *program = NULL;
  if (!create || !build || !log_size || !log || !destroy ||
      create(&program, text_str(&p->source), p->name, p->nheaders, (const char *const *)p->headers,
             (const char *const *)p->header_names) != OK)
    return OK;
  int code = build(program, n, list);
  size_t size = 0;
  if (code != OK && log_size(program, &size) == OK && size) {
    char *words = calloc(size + 1, 1);
    if (words && log(program, words) == OK)
      text_add(&p->log, words);
    free(words);
  }
  destroy(&program);
  return code;
}

EXPORT int nvrtcCompileProgram(struct program *p, int n, const char *const *list) {
  text_clear(&p->log);
  text_clear(&p->image);
  int code = read_options(p, n, list);
  if (!code)
    code = real_front_end(p, n, list);
  return code ? code : compile(p);
}

/* ---- HIPRTC: the same under other names, and with other options ---- */
EXPORT int hiprtcVersion(int *major, int *minor) {
  *major = 5;
  *minor = 2 + checked();
  return OK;
}
EXPORT int hiprtcCreateProgram(struct program **out, const char *source, const char *name, int nheaders,
                               const char **headers, const char **names) {
  return nvrtcCreateProgram(out, source, name, nheaders, (const char *const *)headers,
                            (const char *const *)names);
}
EXPORT int hiprtcDestroyProgram(struct program **p) {
  return nvrtcDestroyProgram(p);
}
EXPORT int hiprtcCompileProgram(struct program *p, int n, const char **list) {
  static const char *const known_to_hip[] = {"-std=c++17",     "-O3", "-ffast-math",
                                             "-ffp-contract=", "-w",  "-g"};
  text_clear(&p->log);
  text_clear(&p->image);
  p->hip = true;
  for (int i = 0; i < n; i++) {
    unsigned arch = 0;
    bool good = sscanf(list[i], "--offload-arch=gfx%x", &arch) == 1 ||
                sscanf(list[i], "-DOP2_LANES=%d", &p->lanes) == 1;
    if (arch)
      p->arch = (int)arch;
    for (size_t k = 0; k < sizeof known_to_hip / sizeof *known_to_hip; k++)
      good |= strncmp(list[i], known_to_hip[k], strlen(known_to_hip[k])) == 0;
    if (!good) {
      text_addf(&p->log, "error: unknown argument: '%s'\n", list[i]);
      return INVALID_OPTION;
    }
  }
  return compile(p);
}

/* ---- results ---- */
static size_t head(const struct program *p, char *out, size_t size) {
  return (size_t)snprintf(out, size, "STANDIN %s %d %zu\n",
                          p->hip   ? "HSACO"
                          : p->ptx ? "PTX"
                                   : "CUBIN",
                          p->arch, p->image.length);
}
static int get_size(const struct program *p, bool ptx, size_t *size) {
  char line[64];
  *size = p->ptx == ptx && p->image.length ? head(p, line, sizeof line) + p->image.length : 0;
  return OK;
}
static int get(const struct program *p, bool ptx, char *out) {
  char line[64];
  if (p->ptx != ptx || !p->image.length)
    return INVALID_PROGRAM;
  size_t n = head(p, line, sizeof line);
  memcpy(out, line, n);
  memcpy(out + n, p->image.data, p->image.length);
  return OK;
}
EXPORT int nvrtcGetCUBINSize(struct program *p, size_t *size) {
  return get_size(p, false, size);
}
EXPORT int nvrtcGetCUBIN(struct program *p, char *out) {
  return get(p, false, out);
}
EXPORT int nvrtcGetPTXSize(struct program *p, size_t *size) {
  return get_size(p, true, size);
}
EXPORT int nvrtcGetPTX(struct program *p, char *out) {
  return get(p, true, out);
}
EXPORT int nvrtcGetProgramLogSize(struct program *p, size_t *size) {
  *size = p->log.length + 1;
  return OK;
}
EXPORT int nvrtcGetProgramLog(struct program *p, char *out) {
  memcpy(out, text_str(&p->log), p->log.length + 1);
  return OK;
}
EXPORT int hiprtcGetCodeSize(struct program *p, size_t *size) {
  return get_size(p, false, size);
}
EXPORT int hiprtcGetCode(struct program *p, char *out) {
  return get(p, false, out);
}
EXPORT int hiprtcGetProgramLogSize(struct program *p, size_t *size) {
  return nvrtcGetProgramLogSize(p, size);
}
EXPORT int hiprtcGetProgramLog(struct program *p, char *out) {
  return nvrtcGetProgramLog(p, out);
}
