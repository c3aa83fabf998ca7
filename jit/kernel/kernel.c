#include "jit/kernel/kernel.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "jit/kernel/excerpt.h"
#include "jit/kernel/number.h"
#include "jit/kernel/parameters.h"
#include "jit/kernel/rows.h"

static struct source kernel_source(const struct kernel *k) {
  return (struct source){.text = k->text, .length = k->length, .origins = &k->origins};
}

int kernel_error(const struct kernel *k, int line, int column, struct error *err, const char *format, ...) {
  const struct source source = kernel_source(k);
  struct text who = {0};
  va_list args;
  text_addf(&who, k->name ? "kernel %s" : "the prelude", k->name);
  va_start(args, format);
  source_error(&source, line, column, err, OP_ERR_KERNEL, text_str(&who), format, args);
  va_end(args);
  text_free(&who);
  return OP_ERR_KERNEL;
}

size_t kernel_skip_brackets(const struct tokens *t, size_t open) {
  int depth = 0;
  for (size_t i = open; i < t->count; i++) {
    if (t->items[i].directive != t->items[open].directive || t->items[i].kind != TOKEN_PUNCTUATOR)
      continue;
    char c = t->text[t->items[i].begin];
    depth += c == '(' || c == '[' || c == '{';
    depth -= c == ')' || c == ']' || c == '}';
    if (depth <= 0)
      return i + 1;
  }
  return t->count;
}

void kernel_forget(struct kernel *k) {
  for (int i = 0; i < k->nfunctions; i++)
    free(k->functions[i].name);
  for (int i = 0; i < k->nparameters; i++) {
    free(k->parameters[i].name);
    free(k->parameters[i].spelling);
  }
  free(k->functions);
  free(k->parameters);
  tokens_free(&k->tokens);
  k->functions = NULL;
  k->parameters = NULL;
  k->nfunctions = k->nparameters = 0;
}

void kernel_free(struct kernel *k) {
  kernel_forget(k);
  origins_free(&k->origins);
  fortran_free(&k->fortran);
  free(k->name);
  free(k->text);
  *k = (struct kernel){0};
}

bool kernel_uses(const struct kernel *k, const char *identifier) {
  for (size_t i = 0; i < k->tokens.count; i++)
    if (k->tokens.items[i].kind == TOKEN_IDENTIFIER && token_is(&k->tokens, i, identifier))
      return true;
  return false;
}

static const char *const form_names[] = {"dat", "gbl", "idx", "info"};
enum { FORMS = 4, LARGEST = 1 << 30 };

struct source desc_source(const struct desc *d) {
  return (struct source){.text = d->text, .length = strlen(d->text), .origins = &d->origins};
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
  char **const strings[] = {&to->kernel_name, &to->text, &to->entry, &to->fp, &to->names};
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

/* A loop as its kernel sees it: one element, and addresses only. */

static void name_arg(struct text *names, const struct desc *from, int arg, int dat) {
  struct text name = {0};
  if (desc_find_name(from, "arg", arg, &name) || desc_find_name(from, "dat", from->args[arg].dat, &name)) {
    desc_name(names, "arg", arg, text_str(&name));
    if (dat >= 0)
      desc_name(names, "dat", dat, text_str(&name));
  }
  text_free(&name);
}

static void change_arg(struct desc *d, const struct desc *from, int i) {
  const bool vector = desc_is_vector(&from->args[i]);
  const int arity = vector ? from->maps[from->args[i].map].arity : 0;
  struct desc_arg *a = &d->args[i];
  *a = (struct desc_arg){.form = vector ? DESC_DAT : DESC_GBL,
                         .type = a->type,
                         .dim = desc_row(from, &from->args[i]),
                         .access = vector && a->access == OP_READ ? OP_READ : OP_RW,
                         .map = -1,
                         .idx = -1,
                         .dat = -1,
                         .ref = -1,
                         .info = -1,
                         .present = a->present,
                         .counted = a->counted};
  if (!vector)
    return;
  a->map = d->nmaps;
  a->dat = d->ndats;
  const bool ragged = desc_is_ragged(from, &from->args[i]);
  a->idx = ragged ? -1 : -arity;
  d->maps[d->nmaps++] = (struct desc_map){.arity = arity, .to = d->nsets, .ragged = ragged};
  d->dats[d->ndats++] = (struct desc_dat){.type = a->type, .dim = a->dim, .set = d->nsets++};
}

int desc_alone(struct desc *out, const struct desc *from, struct error *err) {
  struct text names = {0};
  const int code = desc_copy(out, from, err);
  if (code)
    return code;
  out->nmaps = out->ndats = 0;
  out->nsets = 1;
  memset(out->renumbered, 0, sizeof out->renumbered);
  for (int i = 0; i < out->nargs; i++) {
    change_arg(out, from, i);
    name_arg(&names, from, i, out->args[i].dat);
  }
  free(out->names);
  out->names = text_take(&names);
  return out->names ? OP_OK : error_memory(err, "the names in a loop", names.length);
}
