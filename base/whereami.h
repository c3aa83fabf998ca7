/* Finds this library's own file, and its plugins from there: beside it in an installed tree, which may be moved
 * as a whole, or at their places in a build tree. The op2jit command, which has the library inside, looks
 * beside the installed library. Nothing is opened here. */
#ifndef OP2JIT_BASE_WHEREAMI_H
#define OP2JIT_BASE_WHEREAMI_H

#include <stdbool.h>

#include "error.h"
#include "text.h"

/* Replaces `path` by the absolute path, symbolic links resolved, of the file that this code was loaded
 * from: libop2jit.so, or a program that has the library in it. OP_ERR_FILE if the system does not say. */
int whereami(struct text *path, struct error *err);

/* True: the address belongs to a file of the program, as its variables at file scope do. */
bool whereami_static(const void *address);

/* Replaces `path` by that of the plugin file `name` ("op2jit-clang.so"), which exists: in the folder `first`
 * (OP2_PLUGINS; NULL or "" if there is none), else <folder of the library>/op2jit, else where the build
 * tree has it. OP_ERR_NOT_BUILT, with the places looked at, if there is none. */
int plugin_path(const char *name, const char *first, struct text *path, struct error *err);

#endif
