/* The compiler of this machine, and its prover, at the service of a program for another processor: reads requests from far.c,
 * makes code for aarch64 by the plugin that has both, and writes it back. near */
#include <dlfcn.h>

#include "jit/prover.h"
#include "wire.h"

enum { MOST_FILES = 8 };

static const struct compiler *compiler;
static const struct prover *prover;

static bool open_plugin(void) {
  void *library = dlopen(PLUGIN, RTLD_NOW | RTLD_LOCAL);
  union {
    void *object;
    compiler_entry *compiler;
  } made = {.object = library ? dlsym(library, "op2jit_compiler") : NULL};
  if (!made.object) {
    fprintf(stderr, "near: %s\n", dlerror());
    return false;
  }
  compiler = made.compiler();
  prover = compiler->prover;
  return compiler->abi == COMPILER_ABI && prover->abi == PROVER_ABI;
}

/* ---- compiling ---- */

static void compile(const struct compile_file *files, int count) {
  char *cpu = get_text(stdin), *features = get_text(stdin), *fp = get_text(stdin);
  struct compile_request request = {
      .files = files, .nfiles = count, .cpu = cpu, .features = features, .fp = fp, .processor = "aarch64"};
  request.debug = (int)get_number(stdin);
  request.warnings = (int)get_number(stdin);
  request.remarks = (int)get_number(stdin);
  request.trial = (enum compile_trial)get_number(stdin);
  struct compile_result result = {0};
  compiler->compile(&request, &result);
  put_number(stdout, result.status);
  put_bytes(stdout, result.binary, result.size);
  put_messages(stdout, result.messages, result.nmessages);
  compiler->release(&result);
  free(cpu);
  free(features);
  free(fp);
}

/* ---- proving ---- */

static void answer(const struct prove_result *result, int narguments) {
  put_number(stdout, result->status);
  put_number(stdout, result->nfindings);
  for (int i = 0; i < result->nfindings; i++) {
    put_bytes(stdout, &result->findings[i], sizeof result->findings[i]);
    put_text(stdout, result->findings[i].file);
    put_text(stdout, result->findings[i].parameter);
    put_text(stdout, result->findings[i].name);
  }
  put_bytes(stdout, result->facts, (size_t)narguments * sizeof *result->facts);
  put_bytes(stdout, result->rows, sizeof *result->rows);
  put_number(stdout, result->says);
  put_messages(stdout, result->messages, result->nmessages);
}

/* Nothing that was parsed is kept for the compiler. */
static bool prove(const struct compile_file *files, int count) {
  char *kernel = get_text(stdin);
  const int64_t narguments = get_number(stdin);
  if (narguments < 0 || narguments > OP_MAX_ARGS)
    return false;
  struct prove_argument arguments[OP_MAX_ARGS];
  char *types[OP_MAX_ARGS];
  for (int i = 0; i < narguments; i++) {
    if (!get_into(stdin, &arguments[i], sizeof arguments[i]))
      return false;
    arguments[i].type = types[i] = get_text(stdin);
  }
  const struct prove_request request = {.files = files,
                                        .nfiles = count,
                                        .kernel = kernel,
                                        .arguments = arguments,
                                        .narguments = (int)narguments,
                                        .any_order = get_number(stdin) == 1};
  struct prove_result result = {0};
  prover->prove(&request, &result);
  answer(&result, (int)narguments);
  prover->release(&result);
  for (int i = 0; i < narguments; i++)
    free(types[i]);
  free(kernel);
  return true;
}

static bool serve(void) {
  struct compile_file files[MOST_FILES];
  const int64_t what = get_number(stdin), count = get_number(stdin);
  if (count < 1 || count > MOST_FILES)
    return false;
  for (int i = 0; i < count; i++) {
    files[i].name = get_text(stdin);
    files[i].text = get_bytes(stdin, &files[i].length);
    if (!files[i].name || !files[i].text)
      return false;
  }
  bool good = true;
  if (what == WIRE_PROVE)
    good = prove(files, (int)count);
  else
    compile(files, (int)count);
  fflush(stdout);
  for (int i = 0; i < count; i++) {
    free((char *)(uintptr_t)files[i].name);
    free((char *)(uintptr_t)files[i].text);
  }
  return good;
}

int main(void) {
  if (!open_plugin())
    return 1;
  while (serve()) {
  }
  return 0;
}
