#include "jit/front/describe.h"

#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "jit/front/excerpt.h"
#include "jit/front/number.h"
#include "jit/front/rows/rows.h"

static const char *const form_names[] = {"dat", "gbl", "idx", "info"};
enum { FORMS = 4, LARGEST = 1 << 30 };

struct source desc_source(const struct desc *d) {
  return (struct source){.text = d->text,
                         .length = strlen(d->text),
                         .file = d->origin_file,
                         .line = d->origin_line,
                         .one_line = d->one_line,
                         .origins = &d->origins};
}

/* ---- life --------------------------------------------------------------------------------------*/

static void free_members(struct desc *d) {
  for (int m = 0; m < d->nmembers; m++) {
    free(d->members[m].name);
    free(d->members[m].function);
  }
  free(d->members);
}

void desc_free(struct desc *d) {
  free_members(d);
  for (int i = 0; i < d->nconsts; i++) {
    free(d->consts[i].name);
    free(d->consts[i].value);
  }
  free(d->consts);
  free(d->kernel_name);
  free(d->text);
  free(d->entry);
  free(d->origin_file);
  origins_free(&d->origins);
  free(d->fp);
  free(d->names);
  free(d->rows);
  *d = (struct desc){0};
}

/* *string is another description's: it becomes a copy. */
static bool own_string(char **string) {
  const char *from = *string;
  *string = from ? strdup(from) : NULL;
  return !from || *string;
}

bool desc_copy_const(struct desc_const *to, const struct desc_const *from) {
  const size_t size = type_info(from->type)->size;
  *to = *from;
  to->value = from->value ? array_new((size_t)from->dim, size) : NULL;
  if (to->value)
    memcpy(to->value, from->value, (size_t)from->dim * size);
  return own_string(&to->name) && !to->value == !from->value;
}

static bool copy_members(struct desc *to, const struct desc *from) {
  bool good = !from->nmembers || (to->members = array_new((size_t)from->nmembers, sizeof *to->members));
  for (int m = 0; good && m < from->nmembers; m++) {
    to->members[m] = from->members[m];
    to->nmembers = m + 1;
    good = own_string(&to->members[m].name);
    good = own_string(&to->members[m].function) && good;
  }
  return good;
}

int desc_copy(struct desc *to, const struct desc *from, struct error *err) {
  *to = *from;
  char **const strings[] = {&to->kernel_name, &to->text, &to->entry, &to->origin_file, &to->fp, &to->names};
  bool good = true;
  for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
    good = own_string(strings[i]) && good;
  to->nconsts = to->nmembers = 0;
  to->members = NULL;
  to->rows = from->rows ? array_new(1, sizeof *to->rows) : NULL;
  if (to->rows)
    *to->rows = *from->rows;
  to->consts = array_new((size_t)from->nconsts, sizeof *to->consts);
  good = origins_copy(&to->origins, &from->origins) && good && to->consts && !to->rows == !from->rows &&
         copy_members(to, from);
  while (good && to->nconsts < from->nconsts) {
    good = desc_copy_const(&to->consts[to->nconsts], &from->consts[to->nconsts]);
    to->nconsts++;
  }
  if (good)
    return OP_OK;
  desc_free(to);
  return error_memory(err, "a loop's description", sizeof *to);
}

void desc_name(struct text *names, const char *kind, int number, const char *name) {
  text_addf(names, "%s %d ", kind, number + 1);
  for (; *name; name++)
    text_add_char(names, *name == '\n' ? ' ' : *name);
  text_add_char(names, '\n');
}

bool desc_find_name(const struct desc *d, const char *kind, int number, struct text *out) {
  struct text head = {0};
  bool found = false;
  text_addf(&head, "%s %d ", kind, number + 1);
  for (const char *line = d->names; line && *line && text_ok(&head) && !found;
       line += strcspn(line, "\n") + 1) {
    found = strncmp(line, text_str(&head), head.length) == 0;
    if (found)
      text_add_bytes(out, line + head.length, strcspn(line + head.length, "\n"));
  }
  text_free(&head);
  return found;
}

/* ---- as text -----------------------------------------------------------------------------------*/

static const char *short_name(enum type_code type) {
  const struct type_info *info = type_info(type);
  return info->alias ? info->alias : info->name;
}

static void print_string(struct text *out, const char *key, const char *value) {
  text_addf(out, "%s %zu:%s\n", key, value ? strlen(value) : 0, value ? value : "");
}

static void print_const(struct text *out, const struct desc_const *c) {
  text_addf(out, "const %s type %s dim %d folded %d", c->name, short_name(c->type), c->dim, c->folded);
  if (c->folded) {
    text_add(out, " value");
    for (int i = 0; i < c->dim; i++) {
      text_add_char(out, ' ');
      number_print(c->type, c->value + (size_t)i * type_info(c->type)->size, out);
    }
  }
  text_add_char(out, '\n');
}

void desc_print_args(const struct desc *d, struct text *out) {
  for (int i = 0; i < d->nargs; i++) {
    const struct desc_arg *a = &d->args[i];
    text_addf(out,
              "arg %d form %s type %s dim %d access %s map %d idx %d dat %d ref %d info %d present "
              "%d%s%s%s%s%s%s%s%s\n",
              i + 1, form_names[a->form], short_name(a->type), a->dim, access_rows[a->access].word,
              a->map + 1, a->idx, a->dat + 1, a->ref + 1, a->info + 1, a->present, a->fresh ? " fresh 1" : "",
              a->summed ? " summed 1" : "", a->dropped ? " dropped 1" : "", a->entry ? " entry 1" : "",
              a->scattered ? " scattered 1" : "", a->kept ? " kept 1" : "", a->matrix ? " matrix 1" : "",
              a->stays ? " stays 1" : "");
  }
}

void desc_print_members(const struct desc *d, struct text *out) {
  for (int m = 0; m < d->nmembers; m++) {
    const struct desc_member *member = &d->members[m];
    text_addf(out, "member %d kernel %s function %s args", m + 1, member->name, member->function);
    for (int i = 0; i < member->nargs; i++)
      text_addf(out, "%c%d:%s", i ? ',' : ' ', member->args[i] + 1, access_rows[member->accesses[i]].word);
    text_add_char(out, '\n');
  }
}

void desc_print_mesh(const struct desc *d, struct text *out) {
  for (int i = 0; i < d->nsets; i++)
    text_addf(out, "set %d renumbered %d\n", i + 1, d->renumbered[i]);
  for (int i = 0; i < d->nmaps; i++) {
    text_addf(out, "map %d arity %d to %d", i + 1, d->maps[i].arity, d->maps[i].to + 1);
    if (d->maps[i].ragged)
      text_addf(out, " ragged 1 equal %d most %d none %d", d->maps[i].equal, d->maps[i].most,
                d->maps[i].none);
    text_add_char(out, '\n');
  }
}

int desc_structs(const struct desc *d, enum type_code out[OP_MAX_ARGS]) {
  int count = 0;
  for (int i = 0; i < d->nargs; i++) {
    bool known = !type_is_struct(d->args[i].type);
    for (int j = 0; j < count; j++)
      known |= out[j] == d->args[i].type;
    if (!known)
      out[count++] = d->args[i].type;
  }
  return count;
}

static void print_layout(enum type_code type, struct text *out) {
  text_add(out, "struct ");
  type_print_layout(type, out);
  text_add_char(out, '\n');
}

/* The layouts of the structs of arguments and constants. */
static void print_layouts(const struct desc *d, struct text *out) {
  enum type_code types[OP_MAX_ARGS];
  const int count = desc_structs(d, types);
  for (int i = 0; i < count; i++)
    print_layout(types[i], out);
  for (int i = 0; i < d->nconsts; i++)
    if (type_is_struct(d->consts[i].type))
      print_layout(d->consts[i].type, out);
}

void desc_print_dats(const struct desc *d, struct text *out) {
  for (int i = 0; i < d->ndats; i++)
    text_addf(out, "dat %d type %s dim %d set %d soa %d wide %d\n", i + 1, short_name(d->dats[i].type),
              d->dats[i].dim, d->dats[i].set + 1, d->dats[i].soa, d->dats[i].wide);
  print_layouts(d, out);
}

void desc_print_consts(const struct desc *d, struct text *out) {
  for (int i = 0; i < d->nconsts; i++)
    print_const(out, &d->consts[i]);
}

void desc_print(const struct desc *d, struct text *out) {
  text_addf(out, "loops 1\nsets %d maps %d dats %d args %d consts %d\n", d->nsets, d->nmaps, d->ndats,
            d->nargs, d->nconsts);
  print_string(out, "name", d->kernel_name);
  print_string(out, "fp", d->fp);
  if (d->entry)
    print_string(out, "entry", d->entry);
  if (d->unproved)
    text_add(out, "unproved 1\n");
  desc_print_mesh(d, out);
  desc_print_dats(d, out);
  desc_print_args(d, out);
  desc_print_members(d, out);
  desc_print_consts(d, out);
  print_string(out, "text", d->text);
}
