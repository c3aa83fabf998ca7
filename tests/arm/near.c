/* The compiler of this machine at the service of a program for another processor: reads requests from far.c, makes code
 * for aarch64 by the plugin that has both, and writes it back. near */
#include <dlfcn.h>

#include "jit/compiler.h"
#include "wire.h"

enum { MOST_FILES = 8 };

static const struct compiler *open_compiler(void) {
  void *library = dlopen(PLUGIN, RTLD_NOW | RTLD_LOCAL);
  union {
    void *object;
    compiler_entry *function;
  } entry = {.object = library ? dlsym(library, "op2jit_compiler") : NULL};
  if (!entry.object)
    fprintf(stderr, "near: %s\n", dlerror());
  return entry.object ? entry.function() : NULL;
}

static void answer(const struct compile_result *result) {
  put_number(stdout, result->status);
  put_bytes(stdout, result->binary, result->size);
  put_number(stdout, result->nmessages);
  for (int i = 0; i < result->nmessages; i++) {
    const struct compile_message *m = &result->messages[i];
    put_number(stdout, m->severity);
    put_text(stdout, m->file);
    put_number(stdout, m->line);
    put_number(stdout, m->column);
    put_text(stdout, m->text);
  }
  fflush(stdout);
}

static bool serve(const struct compiler *compiler) {
  struct compile_file files[MOST_FILES];
  const int64_t count = get_number(stdin);
  if (count < 1 || count > MOST_FILES)
    return false;
  for (int i = 0; i < count; i++) {
    files[i].name = get_text(stdin);
    files[i].text = get_bytes(stdin, &files[i].length);
    if (!files[i].name || !files[i].text)
      return false;
  }
  char *cpu = get_text(stdin), *features = get_text(stdin), *fp = get_text(stdin);
  struct compile_request request = {.files = files,
                                    .nfiles = (int)count,
                                    .cpu = cpu,
                                    .features = features,
                                    .fp = fp,
                                    .processor = "aarch64"};
  request.debug = (int)get_number(stdin);
  request.warnings = (int)get_number(stdin);
  request.remarks = (int)get_number(stdin);
  request.trial = (enum compile_trial)get_number(stdin);
  struct compile_result result = {0};
  compiler->compile(&request, &result);
  answer(&result);
  compiler->release(&result);
  for (int i = 0; i < count; i++) {
    free((char *)(uintptr_t)files[i].name);
    free((char *)(uintptr_t)files[i].text);
  }
  free(cpu);
  free(features);
  free(fp);
  return true;
}

int main(void) {
  const struct compiler *compiler = open_compiler();
  if (!compiler || compiler->abi != COMPILER_ABI)
    return 1;
  while (serve(compiler)) {
  }
  return 0;
}
