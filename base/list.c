#include "base/list.h"

#include <stdlib.h>
#include <string.h>

bool list_add(struct list *list, void *item) {
  void **items = array_more(list->items, (size_t)list->count, sizeof *items);
  if (!items)
    return false;
  list->items = items;
  items[list->count++] = item;
  return true;
}

bool list_has(const struct list *list, const void *item) {
  for (int i = 0; i < list->count; i++)
    if (list->items[i] == item)
      return true;
  return false;
}

void list_remove(struct list *list, const void *item) {
  for (int i = 0; i < list->count; i++)
    if (list->items[i] == item) {
      memmove(&list->items[i], &list->items[i + 1], (size_t)(list->count - i - 1) * sizeof(void *));
      list->count--;
      return;
    }
}

void list_free(struct list *list) {
  free(list->items);
  *list = (struct list){0};
}
