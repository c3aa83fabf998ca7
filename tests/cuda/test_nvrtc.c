/* The generated sources of the samples through the real NVRTC or HIPRTC, for several GPUs: they compile, and the
 * registers, spills and shared memory of each are printed (by NVRTC). Each program given runs on the stand-in first and
 * leaves its sources behind (OP2_DUMP).
 *
 *   test_nvrtc [--hip] [--long|--brief|--rows|--each|--forms|--dependent] FOLDER PROGRAM [ARGUMENT...] [-- PROGRAM [ARGUMENT...]]...
 *
 * --forms: every form that the tuner may try, for one GPU (`./dev bench registers`). --dependent: PTX for sm_90, in which each
 * loop's kernel waits for the one before it ahead of all that touches memory. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef OP2JIT_HIP
#include "backend/gpu/hip/hip.h"
#endif
#include "jit/emit/gpu/gpu.h"
#include "jit/nvrtc.h"

extern char **environ;

static const char *const usual_variants[] = {"warps/128/vectors", "ordered/256/vectors", "staged/128/sorted",
                                             "apart/128/vectors", "atomics/128/vectors", "blocks/256",
                                             "colours/128",       "warps/256/joined",    "warps/64/soa",
                                             "atomics/64/soa",    "staged/64/soa",       "apart/64/soa",
                                             "blocks/64/soa",     "colours/64/soa",      "ordered/64/soa"};
enum { USUAL = sizeof usual_variants / sizeof *usual_variants };
/* The variants that the tuner may try (runtime/backend/gpu/variant.c), and what OP2_FP=strict takes. */
static const char *const forms[] = {
    "warps/128/vectors",   "warps/256/vectors",         "warps/256/vectors/joined", "warps/64/vectors/near",
    "atomics/128/vectors", "atomics/128/scalars",       "atomics/128/vectors/min8", "atomics/64/vectors/near",
    "staged/128/vectors",  "staged/256/vectors/sorted", "blocks/256/vectors",       "ordered/256/vectors",
    "apart/128/vectors",   "direct/128/scalars",        "direct/128/vectors/min8"};
enum { FORMS = sizeof forms / sizeof *forms };
static const char *const shared_variants[] = {"rows8", "apart/rows32"}; /* several threads for an element */

static const char *const dependent_variants[] = {"warps/128/dependent",     "staged/128/sorted/dependent",
                                                 "ordered/64/dependent",    "colours/64/dependent",
                                                 "blocks/64/soa/dependent", "atomics/64/near1/dependent"};
enum { DEPENDENT = sizeof dependent_variants / sizeof *dependent_variants };

static const char *const usual_gpus[] = {"sm_75", "sm_90", "sm_120", NULL};
static const char *const one_gpu[] = {"sm_90", NULL};
static const char *const text_gpu[] = {"sm_91", NULL}; /* there is none, so that PTX for sm_90 is made */
static const char *const hip_gpus[] = {"gfx90a", "gfx1030", NULL};
static const char *const all_gpus[] = {"sm_75", "sm_80", "sm_90", "sm_100", "sm_120", NULL};

static const struct mode {
  const char *word;
  const char *const *variants;
  size_t nvariants;
  const char *const *gpus;
} modes[] = {{"", usual_variants, 3, usual_gpus},
             {"--long", usual_variants, 9, all_gpus},
             {"--brief", usual_variants, 1, one_gpu},
             {"--each", usual_variants, USUAL, one_gpu},
             {"--rows", shared_variants, 2, usual_gpus},
             {"--forms", forms, FORMS, one_gpu},
             {"--dependent", dependent_variants, DEPENDENT, text_gpu}};

static const struct mode *mode_of(const char *word) {
  const struct mode *found = &modes[0];
  for (size_t i = 1; word && i < sizeof modes / sizeof *modes; i++)
    if (strcmp(word, modes[i].word) == 0)
      found = &modes[i];
  return found;
}

/* One of the two compilers. */
struct compiler_of {
  struct nvrtc *nvrtc;
#ifdef OP2JIT_HIP
  struct hiprtc hiprtc;
#endif
  bool hip;
};

static void compile_with(struct compiler_of *c, const struct compile_request *request,
                         struct compile_result *result) {
  static const char *const report[] = {"-Xptxas", "-v"};
#ifdef OP2JIT_HIP
  if (c->hip) {
    hiprtc_compile(&c->hiprtc, request, result);
    return;
  }
#endif
  nvrtc_compile(c->nvrtc, request, report, 2, result);
}

static int open_compiler(struct compiler_of *c, struct error *err) {
  const struct nvrtc_places places = {.cuda_home = getenv("CUDA_HOME"), .home = getenv("HOME")};
  int code = OP_OK;
#ifdef OP2JIT_HIP
  if (c->hip) {
    code = hiprtc_open(&c->hiprtc, "", err);
    if (!code)
      printf("HIPRTC %s, %s\n", c->hiprtc.version, c->hiprtc.path);
    return code;
  }
#endif
  code = nvrtc_open(&c->nvrtc, &places, err);
  if (!code)
    printf("NVRTC %s, %s\n", c->nvrtc->version, c->nvrtc->path);
  return code;
}

struct totals {
  int sources, compiles, failures;
};

static void die(const char *what, const char *name) {
  fprintf(stderr, "test_nvrtc: %s %s: %s\n", what, name, strerror(errno));
  exit(1);
}

static void run_program(char *const argv[], const char *variant) {
  pid_t child;
  int status = 0;
  setenv("OP2_VARIANT", variant, 1);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  if (posix_spawn(&child, argv[0], &actions, NULL, argv, environ) != 0 || waitpid(child, &status, 0) != child)
    die("running", argv[0]);
  posix_spawn_file_actions_destroy(&actions);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    fprintf(stderr, "test_nvrtc: %s failed on the stand-in\n", argv[0]);
    exit(1);
  }
}

static void read_whole(const char *folder, const char *name, struct text *out) {
  char path[4096], buffer[65536];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *f = fopen(path, "rb");
  if (!f)
    die("reading", path);
  for (size_t n; (n = fread(buffer, 1, sizeof buffer, f)) > 0;)
    text_add_bytes(out, buffer, n);
  fclose(f);
}

/* "ptxas info : Used 40 registers, ..., 8 bytes spill stores": the numbers in front of words. */
static int number_before(const char *text, const char *words) {
  const char *at = text ? strstr(text, words) : NULL;
  if (!at)
    return 0;
  while (at > text && at[-1] == ' ')
    at--;
  while (at > text && at[-1] >= '0' && at[-1] <= '9')
    at--;
  return atoi(at);
}

/* The loop and its variant, as the text's first line says them: "loop res_calc, warps/128/vectors, contract". */
static void print_name(const char *text, const char *otherwise) {
  const char *loop = strstr(text, ": loop "), *comma = loop ? strchr(loop, ',') : NULL,
             *end = comma ? strchr(comma + 1, ',') : NULL;
  if (!end) {
    printf("  %-48s", otherwise);
    return;
  }
  loop += strlen(": loop ");
  printf("  %-18.*s %-30.*s", (int)(comma - loop), loop, (int)(end - comma - 2), comma + 2);
}

static void show(const char *text, const char *name, const char *gpu, const struct compile_result *r) {
  int registers = 0, spilled = 0, shared = 0;
  for (int i = 0; i < r->nmessages; i++) {
    int n = number_before(r->messages[i].text, "registers");
    registers = n > registers ? n : registers;
    spilled += number_before(r->messages[i].text, "bytes spill stores");
    n = number_before(r->messages[i].text, "bytes smem");
    shared = n > shared ? n : shared;
  }
  print_name(text, name);
  printf(" %-7s %4d registers %5d bytes spilled %6d bytes shared %6.0f ms %7zu bytes\n", gpu, registers,
         spilled, shared, 1e3 * r->seconds_front, r->size);
}

/* Does the line of PTX touch memory of the device? */
static bool touches(const char *line) {
  static const char *const words[] = {"ld.", "st.", "atom.", "red.", "cp."};
  static const char *const others[] = {"ld.param", "ld.shared", "st.shared",
                                       "ld.local", "st.local",  "ld.const"};
  bool found = false, other = false;
  line += strspn(line, " \t");
  line += *line == '@' ? strcspn(line, " \t") : 0;
  line += strspn(line, " \t");
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    found |= strncmp(line, words[i], strlen(words[i])) == 0;
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    other |= strncmp(line, others[i], strlen(others[i])) == 0;
  return found && !other;
}

/* Looks in PTX at each loop's kernel that waits. False: one touches memory before, or does not wait. */
static bool waits_first(const char *ptx, const char *name) {
  int kernels = 0;
  for (const char *at = ptx; (at = strstr(at, ".entry op2_loop_")); at++) {
    const char *end = strstr(at, "\n}"), *line = at;
    bool waits = false, touched = false;
    for (; line && line < end && !waits; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : end) {
      waits = strncmp(line + strspn(line, " \t"), "griddepcontrol.wait;", 20) == 0;
      touched |= touches(line);
    }
    kernels++;
    if (!waits || touched) {
      printf("  %s: a kernel %s\n", name, waits ? "touches memory before it waits" : "does not wait");
      return false;
    }
  }
  return kernels > 0;
}

static void compile_folder(struct compiler_of *n, const char *folder, const char *name,
                           const char *const *gpus, struct totals *totals) {
  char kernel[256];
  snprintf(kernel, sizeof kernel, "%.*s", (int)strcspn(name, "-"), name);
  char main_name[300], kernel_name[300];
  snprintf(main_name, sizeof main_name, "%s.loop.%s", kernel, n->hip ? "hip" : "cu");
  snprintf(kernel_name, sizeof kernel_name, "%s.c", kernel);
  struct text main_text = {0}, kernel_text = {0}, prelude = {0};
  read_whole(folder, main_name, &main_text);
  read_whole(folder, kernel_name, &kernel_text);
  text_add(&prelude, cuda_prelude());
  const struct compile_file files[] = {
      {main_name, text_str(&main_text), main_text.length},
      {kernel_name, text_str(&kernel_text), kernel_text.length},
      {n->hip ? "op2jit_hip.h" : "op2jit_cuda.h", text_str(&prelude), prelude.length}};
  totals->sources++;
  for (int i = 0; gpus[i]; i++) {
    const struct compile_request request = {.files = files, .nfiles = 3, .cpu = gpus[i], .fp = "contract"};
    struct compile_result result;
    compile_with(n, &request, &result);
    totals->compiles++;
    if (!result.status && gpus == text_gpu)
      totals->failures += !waits_first(result.binary, name);
    if (result.status) {
      totals->failures++;
      for (int m = 0; m < result.nmessages; m++)
        printf("  %s %s: %s:%d: %s\n", name, gpus[i], result.messages[m].file, result.messages[m].line,
               result.messages[m].text);
    } else {
      show(text_str(&main_text), name, gpus[i], &result);
    }
    nvrtc_release(&result);
  }
  text_free(&main_text);
  text_free(&kernel_text);
  text_free(&prelude);
}

/* The folders that the programs left behind. */
static void for_each_folder(struct compiler_of *n, const char *root, const char *const *gpus,
                            struct totals *totals) {
  DIR *directory = opendir(root);
  if (!directory)
    die("opening", root);
  for (struct dirent *e; (e = readdir(directory));) {
    char path[2048];
    snprintf(path, sizeof path, "%s/%s", root, e->d_name);
    if (e->d_name[0] != '.')
      compile_folder(n, path, e->d_name, gpus, totals);
  }
  closedir(directory);
}

static void remove_folder(const char *path) {
  DIR *directory = opendir(path);
  for (struct dirent *e; directory && (e = readdir(directory));) {
    char inner[4096];
    snprintf(inner, sizeof inner, "%s/%s", path, e->d_name);
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
      continue;
    struct stat about;
    if (lstat(inner, &about) == 0 && S_ISDIR(about.st_mode))
      remove_folder(inner);
    else
      unlink(inner);
  }
  if (directory)
    closedir(directory);
  rmdir(path);
}

int main(int argc, char **argv) {
  struct compiler_of compiler = {.hip = argc > 1 && strcmp(argv[1], "--hip") == 0};
  int at = compiler.hip ? 2 : 1;
  const struct mode *mode = mode_of(argc > at ? argv[at] : NULL);
  at += mode != modes;
  struct error err = {0};
  struct totals totals = {0};
  if (argc < at + 2) {
    fprintf(stderr, "usage: test_nvrtc [--hip] [--long|--brief|--rows|--each|--forms|--dependent] FOLDER "
                    "PROGRAM [ARGUMENT...] [-- "
                    "PROGRAM...]...\n");
    return 2;
  }
  if (open_compiler(&compiler, &err)) {
    printf("skipped: %s\n", error_message(&err));
    error_free(&err);
    return 77;
  }
  const char *root = argv[at++];
  remove_folder(root);
  setenv("OP2_DUMP", root, 1);
  setenv("OP2_BACKEND", compiler.hip ? "hip" : "cuda", 1);
  setenv("OP2_CACHE", "off", 1);
  setenv("OP2_TUNE", "off", 1);
  setenv("STANDIN_DEPENDENT", "1", 1);
  while (at < argc) {
    int end = at;
    while (end < argc && strcmp(argv[end], "--") != 0)
      end++;
    argv[end < argc ? end : argc] = NULL;
    for (size_t v = 0; v < mode->nvariants; v++)
      run_program(&argv[at], mode->variants[v]);
    at = end + 1;
  }
  for_each_folder(&compiler, root, compiler.hip ? hip_gpus : mode->gpus, &totals);
  nvrtc_close(compiler.nvrtc);
  printf("%d sources, %d compiles, %d failures\n", totals.sources, totals.compiles, totals.failures);
  return totals.failures || !totals.sources;
}
