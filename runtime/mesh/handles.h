/* Handles point to slots. Slots outlive the objects in them, and op_exit too, so that a handle that is
 * freed, of an earlier op_init or of somebody else is recognised and never followed. */
#ifndef OP2JIT_HANDLES_H
#define OP2JIT_HANDLES_H

#include <stdbool.h>

enum handle_kind {
  HANDLE_NONE,
  HANDLE_SET,
  HANDLE_MAP,
  HANDLE_DAT,
  HANDLE_GBL,
  HANDLE_GRAPH,
  HANDLE_TAPE,
  HANDLE_MATRIX,
  HANDLE_KERNEL, /* a text, which is in no slot: only what failed is known */
  HANDLE_KINDS
};

struct handles; /* the table */

struct handles *handles_new(void); /* NULL: no memory */
void handles_free(struct handles *table);

/* A new handle for the object; NULL: no memory. */
void *handle_new(struct handles *table, enum handle_kind kind, void *object);
/* The object, NULL if the pointer is not a live handle of that kind. Any pointer may be asked for. */
void *handle_object(const struct handles *table, const void *handle, enum handle_kind kind);
/* Note a declaration that failed: NULL is likely to be what it returned, and is diagnosed with this message until the end
 * (handles_release_all). */
void handle_failed(struct handles *table, enum handle_kind kind, const char *message);
/* The diagnosis of a pointer that is not good: "NULL", with what failed, "freed, or of an earlier op_init", with the name in front if the
 * release told it, "a handle of another kind", "not a handle of this library". */
const char *handle_diagnosis(const struct handles *table, const void *handle, enum handle_kind kind);
/* `name` for later diagnoses, or NULL; its beginning is copied. */
void handle_release(struct handles *table, void *handle, const char *name);
/* Data that a bridge keeps beside a handle (NULL: the library itself), under an address of its own: until `release`, which may be
 * NULL, is called with it, when another takes its place or the handle is let go; with `data` NULL nothing takes it. A handle
 * that is released is let go before. False: no memory. */
bool handle_keep(struct handles *table, const void *handle, const void *key, void *data,
                 void (*release)(void *data));
void *handle_kept(const struct handles *table, const void *handle, const void *key);
void handle_let_go(struct handles *table, const void *handle);
/* Let go what is kept beside all handles, the last one first, then beside the library. */
void handles_let_go_all(struct handles *table);
/* True for a live handle of any kind. */
bool handle_lives(const struct handles *table, const void *handle);
/* All live handles: at op_exit. */
void handles_release_all(struct handles *table);

#endif
