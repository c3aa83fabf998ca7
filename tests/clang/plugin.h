/* The compiler plugin as tests use it: a text in, a result or loaded code out. */
#ifndef OP2JIT_TESTS_CLANG_PLUGIN_H
#define OP2JIT_TESTS_CLANG_PLUGIN_H

#include "jit/compiler.h"
#include "jit/load/load.h"

/* Opened once per test program; the program ends if it cannot be. */
extern const struct compiler *plugin;
void plugin_open(const char *path);

/* This machine's processor, "contract", the prelude before `text`, which counts as file "kernel.c" from
 * line 1. Change what the test is about. */
struct trial {
  const char *text;
  size_t length; /* 0: as long as the string */
  const char *fp;
  const char *cpu, *features; /* NULL: this machine's */
  int debug, warnings, remarks;
};
struct compile_result trial_compile(const struct trial *trial);

/* The same, loaded; a text that does not compile or load fails the test. The caller frees. */
struct code *trial_load(const struct trial *trial);

/* Finds a message of that kind whose text has `part`; NULL if there is none. */
const struct compile_message *find_message(const struct compile_result *result,
                                           enum compile_severity severity, const char *part);

/* Does the object refer to this symbol, or have one whose name starts so? */
int refers_to(const struct compile_result *result, const char *symbol);

/* How often the 4 bytes of an instruction's head occur in the object's code. */
int count_bytes(const struct compile_result *result, const unsigned char *bytes, size_t n);

/* code_symbol as a range function; fails the test if it is not there. */
typedef void range(void *const *frame, const int *list, long begin, long end);
range *range_of(const struct code *code, const char *name);

#endif
