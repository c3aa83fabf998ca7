/* op2jit info and op2jit warm. */
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/life.h"
#include "backend/backend.h"
#include "base/log.h"
#include "base/whereami.h"
#include "cli/cli.h"
#include "context/context.h"
#include "context/env.h"
#include "exec/caches.h"
#include "jit/plugin.h"
#include "jit/target.h"
#include "mesh/handles.h"
#include "ranks/comm.h"
#include "services/services.h"

/* ---- info --------------------------------------------------------------------------------------*/

static void info_compiler(struct cli *cli) {
  struct plugin plugin = {0};
  struct error err = {0};
  struct text label = {0}, *out = &cli->out;
  const bool there = plugin_find(&plugin, env_value(&cli->env, ENV_PLUGINS), &err) == OP_OK;
  if (there)
    plugin_label(&plugin, &label);
  if (cli->json && there)
    json_object(out, "compiler", "there:b name:t file:t", true, text_str(&label), text_str(&plugin.path));
  else if (cli->json)
    json_object(out, "compiler", "there:b reason:t", false, error_message(&err));
  else if (there)
    text_addf(out, "compiler    %s, %s\n", text_str(&label), text_str(&plugin.path));
  else
    text_addf(out, "compiler    none: %s\n", error_message(&err));
  text_free(&label);
  plugin_free(&plugin);
  error_free(&err);
}

static void info_cpu(struct cli *cli) {
  struct text cpu = {0}, features = {0}, *out = &cli->out;
  target_host(&cpu, &features);
  long cpus = sysconf(_SC_NPROCESSORS_ONLN);
  struct text caches = {0};
  caches_describe(&cli->env, &caches);
  if (cli->json)
    json_object(out, "cpu", "name:t features:t count:i cache_bytes:i caches:t", text_str(&cpu),
                text_str(&features), (long long)cpus, (long long)caches_bytes(&cli->env, INT_MAX),
                text_str(&caches));
  else
    text_addf(out, "processor   %s, %ld CPUs\ncaches      %s\n", text_str(&cpu), cpus, text_str(&caches));
  text_free(&caches);
  text_free(&cpu);
  text_free(&features);
}

/* Parts that are there, or not. */
static void say_part(struct cli *cli, const char *name, bool there) {
  if (cli->json)
    text_addf(&cli->out, "%s\"%s\":%s", cli->out.data[cli->out.length - 1] == '{' ? "" : ",", name,
              there ? "true" : "false");
  else
    text_addf(&cli->out, " %s%s", there ? "" : "no-", name);
}

static void begin_parts(struct cli *cli, const char *title) {
  if (cli->json)
    json_open(&cli->out, title, '{');
  else
    text_addf(&cli->out, "%-11s", title);
}

static void end_parts(struct cli *cli) {
  text_add_char(&cli->out, cli->json ? '}' : '\n');
}

static void info_parts(struct cli *cli) {
  static const struct {
    const char *name;
    bool there;
  } parts[] = {
      {"openmp", OP2JIT_HAS_OPENMP},
      {"cuda", OP2JIT_HAS_CUDA},
      {"mpi", OP2JIT_HAS_MPI},
      {"hdf5", OP2JIT_HAS_HDF5},
  };
  begin_parts(cli, "parts");
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    say_part(cli, parts[i].name, parts[i].there);
  end_parts(cli);
}

/* Plugins are opened when they are needed; here it counts whether they are there. */
static void info_plugins(struct cli *cli) {
  static const char *const names[] = {"mpi-openmpi", "mpi-mpich", "hdf5", "ptscotch", "petsc-real"};
  struct text file = {0}, path = {0};
  begin_parts(cli, "plugins");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    struct error ignored = {0};
    text_clear(&file);
    text_addf(&file, "op2jit-%s.so", names[i]);
    say_part(cli, names[i],
             plugin_path(text_str(&file), env_value(&cli->env, ENV_PLUGINS), &path, &ignored) == OP_OK);
    error_free(&ignored);
  }
  end_parts(cli);
  text_free(&file);
  text_free(&path);
}

static void info_cache(struct cli *cli) {
  struct text path = {0};
  const bool known = cli_cache_path(cli, &path);
  if (cli->json)
    json_fields(&cli->out, "cache:t", known ? text_str(&path) : "");
  else
    text_addf(&cli->out, "cache       %s\n",
              known ? text_str(&path) : "none: neither XDG_CACHE_HOME nor HOME is an absolute path");
  text_free(&path);
}

/* One for the host opens without the compiler too: another rank's may do, or code that the program's compiler made. */
static bool lacks_compiler(struct op_context *ctx, const struct backend *backend, struct error *err) {
  struct error why = {0};
  if (backend->on_device || !backend->compiles_behind || !context_compiler(ctx, &why))
    return false;
  error_free(&why);
  error_set(err, OP_ERR_NOT_BUILT, "compiles nothing, for there is no compiler: see above");
  return true;
}

/* Each backend is opened as op_init would open it, without MPI, and closed again. */
static void info_backend(struct cli *cli, const struct backend *backend) {
  char choice[64], program[] = "op2jit";
  snprintf(choice, sizeof choice, "OP2_BACKEND=%s", backend->name);
  char *argv[] = {program, choice, NULL};
  struct error err = {0};
  struct op_context *ctx = NULL;
  struct handles *handles = handles_new();
  struct text words = {0}, *out = &cli->out;
  struct context_start start = {.argc = 2, .argv = argv};
  const bool opens = handles && comm_open_alone(&start.comm, &err) == OP_OK &&
                     context_open(&ctx, handles, &start, &err) == OP_OK;
  const bool works = opens && !lacks_compiler(ctx, backend, &err);
  if (works && backend->describe)
    backend->describe(ctx, &words);
  while (words.length && words.data[words.length - 1] == '\n')
    words.data[--words.length] = '\0';
  if (cli->json) {
    json_object(out, NULL, works ? "name:t works:b description:t" : "name:t works:b reason:t", backend->name,
                works, works ? text_str(&words) : error_message(&err));
  } else
    text_addf(out, "backend     %-8s %s\n", backend->name,
              !works         ? error_message(&err)
              : words.length ? text_str(&words)
                             : backend->help);
  if (opens)
    context_close(ctx);
  comm_close(start.comm);
  if (handles)
    handles_free(handles);
  text_free(&words);
  error_free(&err);
}

static void info_variables(struct cli *cli) {
  static const char *const sources[] = {"default", "environment", "argument"};
  struct text *out = &cli->out;
  if (!cli->json) {
    text_add_char(out, '\n');
    env_describe(&cli->env, out);
    return;
  }
  json_open(out, "variables", '[');
  for (int i = 0; i < ENV_COUNT; i++) {
    const struct env_row *row = env_row((enum env_name)i);
    json_object(out, NULL, "name:t value:t source:t help:t", row->name,
                env_value(&cli->env, (enum env_name)i),
                row->missing ? "not built" : sources[cli->env.sources[i]], row->help);
  }
  json_close(out, ']');
}

static int run_info(struct cli *cli) {
  struct text *out = &cli->out;
  if (cli->json) {
    json_open(out, NULL, '{');
    json_fields(out, "version:t", OP2JIT_VERSION_WORDS);
  } else
    text_add(out, "op2jit      " OP2JIT_VERSION_WORDS "\n");
  info_cpu(cli);
  info_compiler(cli);
  info_parts(cli);
  info_plugins(cli);
  info_cache(cli);
  if (cli->json)
    json_open(out, "backends", '[');
  for (int i = 0; backend_list()[i]; i++)
    info_backend(cli, backend_list()[i]);
  if (cli->json)
    json_close(out, ']');
  info_variables(cli);
  if (cli->json)
    json_close(out, '}');
  return CLI_OK;
}

/* ---- warm --------------------------------------------------------------------------------------*/

/* The contents of the store of this environment. */
struct contents {
  long long binaries;
  struct store_tuning *tunings;
  int ntunings;
};

static void look(struct cli *cli, struct contents *found) {
  struct log silent = cli->log;
  struct store_stats s = {0};
  struct text path = {0};
  struct store *store = NULL;
  struct error err = {0};
  const struct store_tuning_filter all = {0};
  cli_cache_path(cli, &path);
  silent.level = LOG_ERROR;
  struct store_options options = {.path = text_str(&path), .log = &silent, .read_only = true};
  store_open(&store, &options, &err);
  store_stats(store, &s);
  found->binaries = s.binaries;
  found->ntunings = store_get_tunings(store, &all, &found->tunings);
  store_close(store);
  text_free(&path);
  error_free(&err);
}

static bool same_row(const struct store_tuning *old, const struct store_tuning *t) {
  return !(old->median < t->median || old->median > t->median || old->count != t->count ||
           old->made != t->made);
}

static void print_summary(const struct contents *before, const struct contents *after) {
  int fresh = 0, replaced = 0;
  for (int i = 0; i < after->ntunings; i++) {
    const struct store_tuning *t = &after->tunings[i], *old = NULL;
    for (int j = 0; j < before->ntunings && !old; j++)
      if (cli_same_place(&before->tunings[j], t) && strcmp(before->tunings[j].variant, t->variant) == 0)
        old = &before->tunings[j];
    fresh += !old;
    replaced += old && !same_row(old, t);
  }
  fprintf(stderr, "op2jit: warm: %lld new binaries, %d variants measured for the first time, %d again\n",
          after->binaries - before->binaries, fresh, replaced);
}

static int run_program(struct cli *cli, int *status) {
  pid_t pid;
  for (int i = 0; i < ENV_COUNT; i++) /* those in front of the program's name are not among its arguments */
    if (cli->env.sources[i] == ENV_FROM_ARGV &&
        setenv(env_row((enum env_name)i)->name, cli->env.values[i], 1) != 0)
      return cli_fail(CLI_FAILED, "%s cannot be set: %s", env_row((enum env_name)i)->name, strerror(errno));
  if (setenv("OP2_TUNE", "force", 1) != 0)
    return cli_fail(CLI_FAILED, "OP2_TUNE cannot be set: %s", strerror(errno));
  int code = posix_spawnp(&pid, cli->words[0], NULL, NULL, cli->words, environ);
  if (code)
    return cli_fail(CLI_FAILED, "%s cannot be started: %s", cli->words[0], strerror(code));
  while (waitpid(pid, status, 0) < 0)
    if (errno != EINTR)
      return cli_fail(CLI_FAILED, "%s: %s", cli->words[0], strerror(errno));
  return CLI_OK;
}

/* Refuses a run of which nothing can be kept. */
static int check_keeps(const struct cli *cli) {
  static const char native[] =
      "native kernels are the program's own C functions, nothing is compiled or kept; unset it";
  const struct {
    enum env_name name;
    const char *value, *why, *more;
  } never[] = {{ENV_CACHE, "off", "there is no cache to keep anything in; unset it or name a file", ""},
               {ENV_BACKEND, "native", native, " or name another backend"},
               {ENV_JIT, "off", native, ""}};
  struct text path = {0};
  const bool place = cli_cache_path(cli, &path);
  text_free(&path);
  for (size_t i = 0; i < sizeof never / sizeof *never; i++)
    if (strcmp(env_value(&cli->env, never[i].name), never[i].value) == 0)
      return cli_fail(CLI_FAILED, "warm: %s=%s: %s%s", env_row(never[i].name)->name, never[i].value,
                      never[i].why, never[i].more);
  return place ? CLI_OK : cli_fail(CLI_FAILED, "warm: there is no cache to keep anything in: " CLI_NO_PLACE);
}

static int run_warm(struct cli *cli) {
  struct contents before = {0}, after = {0};
  int status = 0;
  if (check_keeps(cli) != CLI_OK)
    return CLI_FAILED;
  look(cli, &before);
  int code = run_program(cli, &status);
  if (code == CLI_OK) {
    look(cli, &after);
    print_summary(&before, &after);
    code = WIFSIGNALED(status)
               ? cli_fail(CLI_FAILED, "%s was ended by signal %d", cli->words[0], WTERMSIG(status))
               : WEXITSTATUS(status);
  }
  store_tunings_free(before.tunings, before.ntunings);
  store_tunings_free(after.tunings, after.ntunings);
  return code;
}

const struct command cli_other[] = {
    {.name = "info", .help = "Say what this library can do on this machine", .run = run_info},
    {.name = "warm",
     .arguments = "PROGRAM [ARGUMENT...]",
     .help = "Run a program with tuning forced",
     .run = run_warm,
     .raw = true},
    {0}};
