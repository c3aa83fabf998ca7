#include "plugin.h"

#include "../unit.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "jit/kernel/prelude.h"
#include "jit/load/load_object.h"
#include "jit/target.h"

const struct compiler *plugin;

void plugin_open(const char *path) {
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void *entry = handle ? dlsym(handle, "op2jit_compiler") : NULL;
  if (!entry) {
    fprintf(stderr, "%s\n", dlerror());
    exit(2);
  }
  compiler_entry *get;
  memcpy(&get, &entry, sizeof get);
  plugin = get();
  if (plugin->abi != COMPILER_ABI)
    exit(2);
}

struct compile_result trial_compile(const struct trial *trial) {
  struct text source = {0}, cpu = {0}, features = {0};
  target_host(&cpu, &features);
  text_add(&source, jit_prelude());
  text_add(&source, "#line 1 \"kernel.c\"\n");
  text_add_bytes(&source, trial->text, trial->length ? trial->length : strlen(trial->text));
  const struct compile_file file = {"loop.c", text_str(&source), source.length};
  const struct compile_request request = {
      .files = &file,
      .nfiles = 1,
      .cpu = trial->cpu ? trial->cpu : text_str(&cpu),
      .features = trial->features ? trial->features : text_str(&features),
      .fp = trial->fp ? trial->fp : "contract",
      .debug = trial->debug,
      .warnings = trial->warnings,
      .remarks = trial->remarks,
  };
  struct compile_result result;
  plugin->compile(&request, &result);
  text_free(&source);
  text_free(&cpu);
  text_free(&features);
  return result;
}

struct code *trial_load(const struct trial *trial) {
  struct compile_result result = trial_compile(trial);
  if (result.status != 0)
    fail_msg("status %d: %s", result.status, result.nmessages ? result.messages[0].text : "no message");
  struct error err = {0};
  struct code *code;
  if (code_load(&code, result.binary, result.size, "trial", false, &err))
    fail_msg("%s", error_message(&err));
  plugin->release(&result);
  error_free(&err);
  return code;
}

const struct compile_message *find_message(const struct compile_result *result,
                                           enum compile_severity severity, const char *part) {
  for (int i = 0; i < result->nmessages; i++)
    if (result->messages[i].severity == severity && strstr(result->messages[i].text, part))
      return &result->messages[i];
  return NULL;
}

int refers_to(const struct compile_result *result, const char *symbol) {
  struct error err = {0};
  struct object object;
  int found = 0;
  if (object_read(&object, load_machine_here(), result->binary, result->size, &err))
    fail_msg("%s", error_message(&err));
  for (size_t s = 1; s < object.nsymbols; s++)
    found |= strncmp(object.symbol_names[s], symbol, strlen(symbol)) == 0;
  object_free(&object);
  return found;
}

int count_bytes(const struct compile_result *result, const unsigned char *bytes, size_t n) {
  int count = 0;
  const unsigned char *at = result->binary, *end = at + result->size;
  while ((at = memmem(at, (size_t)(end - at), bytes, n))) {
    count++;
    at++;
  }
  return count;
}

range *range_of(const struct code *code, const char *name) {
  void *at = code_symbol(code, name);
  assert_non_null(at);
  range *function;
  memcpy(&function, &at, sizeof function);
  return function;
}
