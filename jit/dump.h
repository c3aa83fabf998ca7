/* OP2_DUMP: what was generated and compiled, as files that people and debuggers read. */
#ifndef OP2JIT_JIT_DUMP_H
#define OP2JIT_JIT_DUMP_H

#include "base/error.h"
#include "jit/generate/generate.h"
#include "jit/key/signature.h"

/* Make "FOLDER/KERNEL-SHAPE-HASH/", with the sources and the key in it; its absolute path goes to `where`.
 * OP_ERR_FILE. */
int dump_sources(const char *folder, const struct signature *key, const char *shape,
                 const struct generated *files, struct text *where, struct error *err);
/* One more file there. */
int dump_file(const char *where, const char *name, const void *bytes, size_t length, struct error *err);

#endif
