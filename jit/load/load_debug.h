/* Loaded code made visible: to gdb by its JIT interface, to perf by its map of the process. */
#ifndef OP2JIT_JIT_LOAD_DEBUG_H
#define OP2JIT_JIT_LOAD_DEBUG_H

#include <stddef.h>

struct debug_entry;

/* `image` is an object whose sections have their true addresses; it must stay until debug_unregister.
 * NULL if there was no memory: the code runs all the same. */
struct debug_entry *debug_register(const void *image, size_t size);
void debug_unregister(struct debug_entry *entry);

/* Add a line to /tmp/perf-PID.map. What fails is left out: a profile is not worth an error. */
void perf_map_add(const void *start, size_t size, const char *label, const char *function);

#endif
