#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "record/record.h"

static bool is_named(const struct native_form *form, const char *name) {
  return form->name && name ? strcmp(form->name, name) == 0 : form->name == name;
}

/* By content: a text that was changed in place is another kernel. */
static struct native_form *find(const struct native_table *table, const char *text, const char *name) {
  for (int i = 0; i < table->count; i++)
    if (is_named(&table->items[i], name) && strcmp(table->items[i].text, text) == 0)
      return &table->items[i];
  return NULL;
}

int native_add(struct native_table *table, const char *text, const char *name, op_kernel_function function,
               struct error *err) {
  struct native_form *known = find(table, text, name);
  if (known) {
    known->function = function;
    return OP_OK;
  }
  struct native_form *items = array_more(table->items, (size_t)table->count, sizeof *items);
  if (!items)
    return error_memory(err, "the native forms", 2 * (size_t)table->count * sizeof *items);
  table->items = items;
  struct native_form form = {strdup(text), name ? strdup(name) : NULL, function};
  if (!form.text || (name && !form.name)) {
    free(form.text);
    free(form.name);
    return error_memory(err, "a kernel text", strlen(text) + 1);
  }
  items[table->count++] = form;
  return OP_OK;
}

op_kernel_function native_find(const struct native_table *table, const char *text, const char *name) {
  const struct native_form *form = find(table, text, name);
  if (!form)
    form = find(table, text, NULL);
  return form ? form->function : NULL;
}

void native_free(struct native_table *table) {
  for (int i = 0; i < table->count; i++) {
    free(table->items[i].text);
    free(table->items[i].name);
  }
  free(table->items);
  *table = (struct native_table){0};
}
