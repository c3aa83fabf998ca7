#include "mesh/handles.h"
#include "op2/op2jit_visible.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 256, QUARANTINE = 100 };

struct slot {
  /* The part that a program of OP2 sees: the handle points to it. */
  union {
    struct op2jit_set set;
    struct op2jit_map map;
    struct op2jit_dat dat;
  } visible;
  enum handle_kind kind; /* HANDLE_NONE: free */
  void *object;
  struct slot *next_free;
  char gone[96]; /* what a freed object's name makes of the diagnosis; "": nothing is known of it */
};

struct chunk {
  struct chunk *next;
  int used;
  struct slot slots[CHUNK];
};

struct keepsake {
  struct keepsake *next;
  const void *handle, *key;
  void *data;
  void (*release)(void *data);
};

/* Freed slots wait in a queue before they are given out again, so that a stale handle stays stale. */
struct handles {
  struct chunk *chunks;
  struct slot *free_first, *free_last;
  int nfree;
  struct keepsake *keepsakes;     /* the last one first */
  char failed[HANDLE_KINDS][240]; /* a diagnosis of NULL */
};

struct handles *handles_new(void) {
  return calloc(1, sizeof(struct handles));
}

void handles_free(struct handles *table) {
  if (!table)
    return;
  while (table->chunks) {
    struct chunk *next = table->chunks->next;
    free(table->chunks);
    table->chunks = next;
  }
  free(table);
}

static struct slot *take_slot(struct handles *table) {
  if (table->nfree > QUARANTINE) {
    struct slot *slot = table->free_first;
    table->free_first = slot->next_free;
    table->nfree--;
    return slot;
  }
  if (!table->chunks || table->chunks->used == CHUNK) {
    struct chunk *chunk = calloc(1, sizeof *chunk);
    if (!chunk)
      return NULL;
    chunk->next = table->chunks;
    table->chunks = chunk;
  }
  return &table->chunks->slots[table->chunks->used++];
}

void *handle_new(struct handles *table, enum handle_kind kind, void *object) {
  struct slot *slot = take_slot(table);
  if (!slot)
    return NULL;
  memset(&slot->visible, 0, sizeof slot->visible);
  slot->kind = kind;
  slot->object = object;
  slot->next_free = NULL;
  slot->gone[0] = '\0';
  return slot;
}

/* The slot that the pointer is, NULL if it is none. Compares addresses, never follows the pointer. */
static struct slot *find(const struct handles *table, const void *handle) {
  uintptr_t address = (uintptr_t)handle;
  for (struct chunk *chunk = table->chunks; chunk; chunk = chunk->next) {
    uintptr_t base = (uintptr_t)chunk->slots;
    if (address >= base && address < base + (uintptr_t)chunk->used * sizeof(struct slot) &&
        (address - base) % sizeof(struct slot) == 0)
      return &chunk->slots[(address - base) / sizeof(struct slot)];
  }
  return NULL;
}

void *handle_object(const struct handles *table, const void *handle, enum handle_kind kind) {
  const struct slot *slot = find(table, handle);
  return slot && slot->kind == kind ? slot->object : NULL;
}

const char *handle_diagnosis(const struct handles *table, const void *handle, enum handle_kind kind) {
  static const char *const others[] = {
      [HANDLE_SET] = "a set",      [HANDLE_MAP] = "a map",     [HANDLE_DAT] = "a dat",
      [HANDLE_GBL] = "a global",   [HANDLE_GRAPH] = "a graph", [HANDLE_TAPE] = "a tape",
      [HANDLE_MATRIX] = "a matrix"};
  if (!handle)
    return table->failed[kind][0] ? table->failed[kind] : "NULL";
  const struct slot *slot = find(table, handle);
  if (!slot)
    return "not a handle of this library";
  if (slot->kind == HANDLE_NONE)
    return slot->gone[0] ? slot->gone : "freed, or of an earlier op_init";
  return slot->kind == kind ? "good" : others[slot->kind];
}

void handle_failed(struct handles *table, enum handle_kind kind, const char *message) {
  enum { SHOWN = 160 };
  snprintf(table->failed[kind], sizeof table->failed[kind],
           "NULL, as a declaration that failed leaves it (\"%.*s%s\")", SHOWN, message,
           strlen(message) > SHOWN ? "..." : "");
}

static void release(struct handles *table, struct slot *slot) {
  slot->kind = HANDLE_NONE;
  slot->object = NULL;
  slot->next_free = NULL;
  if (table->nfree)
    table->free_last->next_free = slot;
  else
    table->free_first = slot;
  table->free_last = slot;
  table->nfree++;
}

/* ---- what bridges keep ---- */

bool handle_lives(const struct handles *table, const void *handle) {
  const struct slot *slot = find(table, handle);
  return slot && slot->kind != HANDLE_NONE;
}

static struct keepsake **find_keepsake(struct handles *table, const void *handle, const void *key) {
  struct keepsake **link = &table->keepsakes;
  while (*link && ((*link)->handle != handle || (*link)->key != key))
    link = &(*link)->next;
  return link;
}

static void let_go(struct keepsake **link) {
  struct keepsake *k = *link;
  *link = k->next;
  if (k->release)
    k->release(k->data);
  free(k);
}

bool handle_keep(struct handles *table, const void *handle, const void *key, void *data,
                 void (*release)(void *data)) {
  struct keepsake *k = data ? calloc(1, sizeof *k) : NULL, **old = find_keepsake(table, handle, key);
  if (data && !k)
    return false;
  if (*old)
    let_go(old);
  if (!k)
    return true;
  *k = (struct keepsake){
      .next = table->keepsakes, .handle = handle, .key = key, .data = data, .release = release};
  table->keepsakes = k;
  return true;
}

void *handle_kept(const struct handles *table, const void *handle, const void *key) {
  for (const struct keepsake *k = table->keepsakes; k; k = k->next)
    if (k->handle == handle && k->key == key)
      return k->data;
  return NULL;
}

/* Lets go the keepsakes beside the handle, or those beside all others. */
static void let_go_all(struct handles *table, const void *handle, bool others) {
  for (struct keepsake **link = &table->keepsakes; *link;)
    if (((*link)->handle == handle) != others)
      let_go(link);
    else
      link = &(*link)->next;
}

void handle_let_go(struct handles *table, const void *handle) {
  let_go_all(table, handle, false);
}

void handles_let_go_all(struct handles *table) {
  let_go_all(table, NULL, true);
  let_go_all(table, NULL, false);
}

void handle_release(struct handles *table, void *handle, const char *name) {
  enum { SHOWN = 40 };
  struct slot *slot = find(table, handle);
  if (!slot || slot->kind == HANDLE_NONE)
    return;
  handle_let_go(table, handle);
  release(table, slot);
  if (name)
    snprintf(slot->gone, sizeof slot->gone, "\"%.*s%s\", which was freed, or is of an earlier op_init", SHOWN,
             name, strlen(name) > SHOWN ? "..." : "");
}

void handles_release_all(struct handles *table) {
  memset(table->failed, 0, sizeof table->failed);
  for (struct chunk *chunk = table->chunks; chunk; chunk = chunk->next)
    for (int i = 0; i < chunk->used; i++)
      if (chunk->slots[i].kind != HANDLE_NONE)
        release(table, &chunk->slots[i]);
}
