#include "record/record.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "context/context.h"
#include "mesh/data.h"
#include "mesh/matrix.h"

bool loop_fills_matrix(const struct loop *loop) {
  bool fills = false;
  for (int i = 0; i < loop->nargs; i++)
    fills |= loop->args[i].dat && loop->args[i].dat->segment && loop->args[i].dat->segment->pair.rows;
  return fills;
}

bool loop_adds_to_rows(const struct loop *loop) {
  bool adds = false;
  for (int i = 0; i < loop->nargs; i++)
    adds |= loop->args[i].dat && loop->args[i].dat->segment && !loop->args[i].dat->segment->set;
  return adds;
}

bool loop_writes_through_map(const struct loop *loop) {
  if (loop_fills_matrix(loop))
    return true;
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (arg->form == DESC_DAT && arg->present && !arg_is_own(arg) && arg->access != OP_READ)
      return true;
  }
  return false;
}

static bool has_map(const struct loop *loop) {
  for (int i = 0; i < loop->nargs; i++)
    if (!arg_is_own(&loop->args[i]) && loop->args[i].present)
      return true;
  return false;
}

static void add_part(struct loop *loop, long begin, long end) {
  loop->ready.parts[loop->ready.nparts++] = (struct loop_part){.begin = begin, .end = end};
}

/* The parts are the same whether or not a call needs messages: so are the bits of its results, and one set of
 * plans serves both. */
void loop_make_parts(struct loop *loop) {
  const long *extents = loop->set->extents;
  loop->ready.nparts = 0;
  if (!loop->set->spread || !has_map(loop))
    add_part(loop, 0, extents[EXTENT_OWNED]);
  else {
    add_part(loop, 0, extents[EXTENT_CORE]);
    add_part(loop, extents[EXTENT_CORE], extents[EXTENT_OWNED]);
  }
  loop->ready.nresults = loop->ready.nparts;
  if (loop->set->spread && loop_writes_through_map(loop))
    add_part(loop, extents[EXTENT_OWNED], extents[EXTENT_EXEC]);
  loop->stats.redundant =
      extents[EXTENT_OWNED] ? (double)(loop_end(loop) - extents[EXTENT_OWNED]) / (double)extents[EXTENT_OWNED]
                            : 0;
}

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
