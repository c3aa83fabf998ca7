#include "context/env.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/text.h"

extern char **environ;

#ifdef OP2JIT_CUDA
#define NEEDS_CUDA NULL
#else
#define NEEDS_CUDA "the CUDA backend (meson option -Dcuda=enabled)"
#endif
#ifdef OP2JIT_HIP
#define NEEDS_HIP NULL
#else
#define NEEDS_HIP "the HIP backend (meson options -Dhip=enabled and -Dcuda=enabled)"
#endif
#ifdef OP2JIT_OPENCL
#define NEEDS_OPENCL NULL
#else
#define NEEDS_OPENCL "the OpenCL backend (meson option -Dopencl=enabled)"
#endif
#ifdef OP2JIT_HDF5
#define NEEDS_HDF5 NULL
#else
#define NEEDS_HDF5 "HDF5 files (package libhdf5-dev, meson option -Dhdf5=enabled)"
#endif
#ifdef OP2JIT_MPI
#define NEEDS_MPI NULL
#else
#define NEEDS_MPI "MPI (packages libopenmpi-dev or libmpich-dev, meson option -Dmpi=enabled)"
#endif

static const struct env_row rows[ENV_COUNT] = {
#define ROW(name, unset, words, help, missing) [ENV_##name] = {"OP2_" #name, unset, words, help, missing},
#include "context/env_rows.h"
#undef ROW
};

static const char *const source_names[] = {"default", "environment", "argument"};

const struct env_row *env_row(enum env_name name) {
  return &rows[name];
}

/* A whole number, perhaps with K, M or G. */
static long to_number(const char *text, char **end) {
  static const char units[] = "KMG";
  const long n = strtol(text, end, 10);
  const char *unit = *end != text && **end ? strchr(units, **end) : NULL;
  if (!unit)
    return n;
  ++*end;
  const int shift = 10 * (int)(unit - units + 1);
  return n < 0 || n > LONG_MAX >> shift ? LONG_MAX : n << shift;
}

static bool number_in(const char *words, const char *value) {
  char *dash, *end;
  const long low = to_number(words + 1, &dash), high = to_number(dash + 1, &end);
  const long n = to_number(value, &end);
  return end != value && !*end && n >= low && n <= high;
}

bool env_lists(const char *list, char separator, const char *word) {
  const char separators[] = {separator, '\0'};
  const size_t length = strlen(word);
  for (const char *p = list; *p; p += *p == separator) {
    const size_t n = strcspn(p, separators);
    if (n == length && memcmp(p, word, n) == 0)
      return true;
    p += n;
  }
  return false;
}

static int unknown_word(const struct env_row *row, const char *value, const char *from, struct error *err) {
  struct text words = {0};
  for (const char *p = row->words; *p; p++)
    if (*p == '|')
      text_add(&words, ", ");
    else
      text_add_char(&words, *p);
  error_set(err, OP_ERR_ENV, "%s=%s (%s): expected one of %s; correct or unset it", row->name, value, from,
            text_str(&words));
  text_free(&words);
  return OP_ERR_ENV;
}

/* OP2_CHECK takes names of loops and OP2_CACHE a file's, so that a word for on or off would be one. */
static const char *meant_switch(const char *value) {
  static const struct {
    const char *word, *meant;
  } words[] = {{"yes", "on"},   {"true", "on"},   {"1", "on"},  {"on", "on"},  {"no", "off"},
               {"none", "off"}, {"false", "off"}, {"0", "off"}, {"off", "off"}};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strcasecmp(value, words[i].word) == 0 && strcmp(value, words[i].meant) != 0)
      return words[i].meant;
  return NULL;
}

/* There is no word for a cache that is on: unset is on, and a file of that name has a folder in front. */
static int check_cache(const struct env_row *row, const char *value, const char *from, struct error *err) {
  const char *meant = meant_switch(value);
  if (!meant && strcmp(value, "on") != 0)
    return OP_OK;
  if (meant && strcmp(meant, "off") == 0)
    return error_set(
        err, OP_ERR_ENV,
        "%s=%s (%s): expected a file or off; did you mean off? For a file of that name write ./%s", row->name,
        value, from, value);
  return error_set(
      err, OP_ERR_ENV,
      "%s=%s (%s): expected a file or off; the cache is on where it is unset. For a file of that "
      "name write ./%s",
      row->name, value, from, value);
}

static int check(const struct env_row *row, const char *value, const char *from, struct error *err) {
  if (row->missing && strcmp(value, "off") != 0 && strcmp(value, row->unset) != 0)
    return error_set(err, OP_ERR_NOT_BUILT,
                     "%s=%s (%s): this build of op2jit lacks %s; unset it, or build with it", row->name,
                     value, from, row->missing);
  if (row->words[0] == '#' && !number_in(row->words, value))
    return error_set(err, OP_ERR_ENV, "%s=%s (%s): expected a whole number in %s; correct or unset it",
                     row->name, value, from, row->words + 1);
  if (row->words[0] && row->words[0] != '#' && !env_lists(row->words, '|', value))
    return unknown_word(row, value, from, err);
  const char *meant = row == &rows[ENV_CHECK] ? meant_switch(value) : NULL;
  if (meant)
    return error_set(
        err, OP_ERR_ENV,
        "%s=%s (%s): expected off, on, list, or names of loops, separated by ','; did you mean %s?",
        row->name, value, from, meant);
  return row == &rows[ENV_CACHE] ? check_cache(row, value, from, err) : OP_OK;
}

static int find_row(const char *name, size_t length) {
  for (int i = 0; i < ENV_COUNT; i++)
    if (strlen(rows[i].name) == length && memcmp(rows[i].name, name, length) == 0)
      return i;
  return -1;
}

/* Compare names without their common beginning. */
static void warn_unknown(const char *name, size_t length, const char *from, struct text *warnings) {
  enum { prefix = sizeof "OP2_" - 1 };
  char word[64];
  snprintf(word, sizeof word, "%.*s", (int)(length < 63 ? length : 63), name);
  const char *names[ENV_COUNT];
  for (int i = 0; i < ENV_COUNT; i++)
    names[i] = rows[i].name + prefix;
  int near = nearest_name(word + prefix, names, ENV_COUNT);
  text_addf(warnings, "%s (%s) is not a variable of op2jit and is ignored", word, from);
  if (near >= 0)
    text_addf(warnings, "; did you mean %s?\n", rows[near].name);
  else
    text_add(warnings, "; `op2jit info` lists them\n");
}

static bool is_folder(const char *path) {
  struct stat st;
  return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* One NAME=VALUE, from argv or the environment. An empty value means unset. */
static int take(struct env *env, const char *assignment, enum env_source source, struct text *warnings,
                struct error *err) {
  if (strncmp(assignment, "OP2_", 4) != 0)
    return OP_OK;
  const char *equals = strchr(assignment, '=');
  if (!equals) { /* other words of a program may begin so: only the names themselves */
    if (find_row(assignment, strlen(assignment)) >= 0)
      text_addf(warnings, "%s (%s) has no value and is ignored; write %s=VALUE\n", assignment,
                source_names[source], assignment);
    return OP_OK;
  }
  size_t length = (size_t)(equals - assignment);
  int row = find_row(assignment, length);
  if (row < 0) {
    warn_unknown(assignment, length, source_names[source], warnings);
    return OP_OK;
  }
  if (env->sources[row] > source || !equals[1])
    return OP_OK;
  int code = check(&rows[row], equals + 1, source_names[source], err);
  if (code)
    return code;
  char *value = strdup(equals + 1);
  if (!value)
    return error_memory(err, "an environment variable", strlen(equals));
  if (row == ENV_PLUGINS && !is_folder(value))
    text_addf(
        warnings,
        "OP2_PLUGINS=%s (%s): there is no such folder, so plugins are looked for in the usual places only\n",
        value, source_names[source]);
  free(env->values[row]);
  env->values[row] = value;
  env->sources[row] = source;
  return OP_OK;
}

/* Variables of others that the library heeds. */
static int take_foreign(struct env *env, struct error *err) {
  const char *home = getenv("HOME"), *xdg = getenv("XDG_CACHE_HOME");
  struct text cache = {0};
  if (xdg && xdg[0] == '/')
    text_add(&cache, xdg);
  else if (home && home[0] == '/') {
    text_addf(&cache, "%s/.cache", home);
    env->cache_in_home = true;
  }
  if (cache.length || cache.failed) {
    env->cache_home = text_take(&cache);
    if (!env->cache_home)
      return error_memory(err, "the name of the cache folder", 0);
  }
  env->launcher = getenv("OMPI_COMM_WORLD_SIZE") ? "openmpi"
                  : getenv("PMI_SIZE")           ? "mpich"
                  : getenv("PMIX_RANK")          ? "openmpi"
                                                 : NULL;
  const char *size = getenv("OMPI_COMM_WORLD_SIZE") ? getenv("OMPI_COMM_WORLD_SIZE") : getenv("PMI_SIZE");
  const long launched = size ? strtol(size, NULL, 10) : 0;
  env->launched = launched > 0 && launched <= INT_MAX ? (int)launched : 0;
  env->no_colour = getenv("NO_COLOR") != NULL;
  const char *term = getenv("TERM");
  env->dumb_terminal = !term || !*term || strcmp(term, "dumb") == 0;
  const char *bind = getenv("OMP_PROC_BIND");
  env->omp_bound = bind ? strcasecmp(bind, "false") != 0 : getenv("OMP_PLACES") != NULL;
  return OP_OK;
}

/* The number of threads, and the folders in which NVRTC may be. */
static int take_copies(struct env *env, struct error *err) {
  const char *cuda = getenv("CUDA_HOME");
  const struct {
    const char *value;
    char **copy;
  } taken[] = {{getenv("OMP_NUM_THREADS"), &env->omp_threads},
               {getenv("HOME"), &env->home},
               {cuda && *cuda ? cuda : getenv("CUDA_PATH"), &env->cuda_home},
               {getenv("VIRTUAL_ENV"), &env->virtual_env}};
  for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
    if (taken[i].value && *taken[i].value && !(*taken[i].copy = strdup(taken[i].value)))
      return error_memory(err, "an environment variable", strlen(taken[i].value) + 1);
  return OP_OK;
}

/* The first error is kept, and the rest is read all the same: how this process reaches other ranks, which have to
 * hear of it. */
static int take_also(struct env *env, const char *assignment, enum env_source source, struct text *warnings,
                     int code, struct error *err) {
  struct error later = {0};
  const int own = take(env, assignment, source, warnings, code ? &later : err);
  error_free(&later);
  return code ? code : own;
}

int env_read(struct env *env, int argc, char **argv, struct text *warnings, struct error *err) {
  *env = (struct env){0};
  int code = take_foreign(env, err);
  if (!code)
    code = take_copies(env, err);
  for (int i = 1; argv && i < argc; i++)
    if (argv[i])
      code = take_also(env, argv[i], ENV_FROM_ARGV, warnings, code, err);
  for (char **e = environ; e && *e; e++)
    code = take_also(env, *e, ENV_FROM_ENVIRONMENT, warnings, code, err);
  return code;
}

void env_free(struct env *env) {
  for (int i = 0; i < ENV_COUNT; i++)
    free(env->values[i]);
  free(env->cache_home);
  free(env->omp_threads);
  free(env->home);
  free(env->cuda_home);
  free(env->virtual_env);
  *env = (struct env){0};
}

void env_forget(void) {
  for (int i = 0; i < ENV_COUNT; i++)
    unsetenv(rows[i].name);
}

const char *env_value(const struct env *env, enum env_name name) {
  return env->values[name] ? env->values[name] : rows[name].unset;
}

bool env_given(const struct env *env, enum env_name name) {
  return env->values[name] != NULL;
}

long env_number(const struct env *env, enum env_name name, long otherwise) {
  const char *value = env_value(env, name);
  char *end;
  return *value ? to_number(value, &end) : otherwise;
}

void env_describe(const struct env *env, struct text *out) {
  for (int i = 0; i < ENV_COUNT; i++) {
    const char *value = env_value(env, (enum env_name)i);
    text_addf(out, "%-16s %-12s %-12s %s", rows[i].name, *value ? value : "-",
              rows[i].missing ? "not built" : source_names[env->sources[i]], rows[i].help);
    if (rows[i].words[0] && rows[i].words[0] != '#')
      text_addf(out, " (%s)", rows[i].words);
    text_add_char(out, '\n');
  }
}
