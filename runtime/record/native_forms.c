#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "record/record.h"

/* By content: a text that was changed in place is another kernel. */
static struct native_form *find(const struct native_table *table, const char *text) {
  for (int i = 0; i < table->count; i++)
    if (strcmp(table->items[i].text, text) == 0)
      return &table->items[i];
  return NULL;
}

int native_add(struct native_table *table, const char *text, op_kernel_function function, struct error *err) {
  struct native_form *known = find(table, text);
  if (known) {
    known->function = function;
    return OP_OK;
  }
  struct native_form *items = array_more(table->items, (size_t)table->count, sizeof *items);
  if (!items)
    return error_memory(err, "the native forms", 2 * (size_t)table->count * sizeof *items);
  table->items = items;
  char *copy = strdup(text);
  if (!copy)
    return error_memory(err, "a kernel text", strlen(text) + 1);
  items[table->count++] = (struct native_form){copy, function};
  return OP_OK;
}

op_kernel_function native_find(const struct native_table *table, const char *text) {
  const struct native_form *form = find(table, text);
  return form ? form->function : NULL;
}

void native_free(struct native_table *table) {
  for (int i = 0; i < table->count; i++)
    free(table->items[i].text);
  free(table->items);
  *table = (struct native_table){0};
}
