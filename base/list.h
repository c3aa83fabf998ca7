/* Pointers in the order in which they were added. */
#ifndef OP2JIT_BASE_LIST_H
#define OP2JIT_BASE_LIST_H

#include <stdbool.h>

struct list {
  void **items;
  int count;
};
bool list_add(struct list *list, void *item);
void list_remove(struct list *list, const void *item);
bool list_has(const struct list *list, const void *item);
void list_free(struct list *list);

#endif
