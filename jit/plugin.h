/* The compiler plugin: found and identified without being opened; opened at the first compile. */
#ifndef OP2JIT_JIT_PLUGIN_H
#define OP2JIT_JIT_PLUGIN_H

#include "base/error.h"
#include "jit/compiler.h"

struct plugin {
  struct text path;
  struct text identity; /* "clang 19.1.7", and a line for each file that it consists of */
  void *library;        /* of dlopen; never closed: LLVM does not survive it */
  const struct compiler *compiler;
};

/* Looks in the folder `first` (may be NULL), beside the library, in the build tree. OP_ERR_NOT_BUILT names the
 * places, the package and the option. Tried once: later calls give the same answer. */
int plugin_find(struct plugin *p, const char *first, struct error *err);
/* After plugin_find. OP_ERR_BACKEND if it does not open or is of another version of this library. */
int plugin_open(struct plugin *p, struct error *err);
void plugin_free(struct plugin *p);
/* "clang 19.1.7": the first line of the identity. */
void plugin_label(const struct plugin *p, struct text *out);

#endif
