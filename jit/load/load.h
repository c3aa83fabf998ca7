/* A relocatable object in memory for x86-64 or aarch64, as clang writes it and the cache keeps it, made runnable: own
 * loader, no temporary file. No TLS, no constructors; externals come from one table (mathematics, libmvec,
 * memcpy and memset). Pages are written, then made executable. Seen by gdb (JIT interface) and by perf (map). */
#ifndef OP2JIT_JIT_LOAD_LOAD_H
#define OP2JIT_JIT_LOAD_LOAD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "jit/emit/generate.h"

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
/* GENERATED_FUNCTION. */
range_function code_function(const struct code *code);
void code_free(struct code *code);

#endif
