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
/* Of a declaration that failed: NULL is likely to be what it returned, and is diagnosed with this message until the end
 * (handles_release_all). */
void handle_failed(struct handles *table, enum handle_kind kind, const char *message);
/* What a pointer that is not good is: "NULL", with what failed, "freed, or of an earlier op_init", with the name in front if the
 * release told it, "a handle of another kind", "not a handle of this library". */
const char *handle_diagnosis(const struct handles *table, const void *handle, enum handle_kind kind);
/* `name` for later diagnoses, or NULL; its beginning is copied. */
void handle_release(struct handles *table, void *handle, const char *name);
/* All live handles: at op_exit. */
void handles_release_all(struct handles *table);

#endif
