/* A relocatable object in memory for x86-64 or aarch64, as clang writes it and the cache keeps it, made runnable: own
 * loader, no temporary file. No TLS, no constructors; externals come from one table (mathematics, libmvec,
 * memcpy and memset). Pages are written, then made executable. Seen by gdb (JIT interface) and by perf (map). */
#ifndef OP2JIT_JIT_LOAD_LOAD_H
#define OP2JIT_JIT_LOAD_LOAD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct code;

/* OP_ERR_NOT_BUILT if no object can be loaded on this kind of processor. */
int load_missing(struct error *err);

/* `label` names the code for perf and messages ("res_calc"). `perf_map`: also write /tmp/perf-PID.map.
 * OP_ERR_FILE if the object is damaged or needs what the loader does not have: never a crash,
 * whatever the bytes. The object's bytes are copied. */
int code_load(struct code **out, const void *object, size_t size, const char *label, bool perf_map,
              struct error *err);
/* NULL if there is no such function. */
void *code_symbol(const struct code *code, const char *name);
size_t code_bytes(const struct code *code);
void code_free(struct code *code);

/* Loaded code made visible: to gdb by its JIT interface, to perf by its map of the process. */

struct debug_entry;

/* `image` is an object whose sections have their true addresses; it must stay until debug_unregister.
 * NULL if there was no memory: the code runs all the same. */
struct debug_entry *debug_register(const void *image, size_t size);
void debug_unregister(struct debug_entry *entry);

/* Add a line to /tmp/perf-PID.map. What fails is left out: a profile is not worth an error. */
void perf_map_add(const void *start, size_t size, const char *label, const char *function);

#endif
