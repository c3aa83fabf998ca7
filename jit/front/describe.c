#include "jit/front/describe.h"

#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "jit/front/number.h"

static const char *const form_names[] = {"dat", "gbl", "idx", "info"};
static const char *const access_names[] = {"read", "write", "rw", "inc", "min", "max", "work"};
enum { FORMS = 4, ACCESSES = 7, LARGEST = 1 << 30 };

/* ---- life --------------------------------------------------------------------------------------*/

void desc_free(struct desc *d) {
  for (int i = 0; i < d->nconsts; i++) {
    free(d->consts[i].name);
    free(d->consts[i].value);
  }
  free(d->consts);
  free(d->kernel_name);
  free(d->text);
  free(d->origin_file);
  free(d->fp);
  free(d->names);
  *d = (struct desc){0};
}

static bool copy_string(char **to, const char *from) {
  *to = from ? strdup(from) : NULL;
  return !from || *to;
}

static size_t value_bytes(const struct desc_const *c) {
  return (size_t)c->dim * type_info(c->type)->size;
}

static bool copy_const(struct desc_const *to, const struct desc_const *from) {
  *to = *from;
  to->value = NULL;
  if (!copy_string(&to->name, from->name))
    return false;
  if (!from->value)
    return true;
  to->value = array_new((size_t)from->dim, type_info(from->type)->size);
  if (to->value)
    memcpy(to->value, from->value, value_bytes(from));
  return to->value != NULL;
}

int desc_copy(struct desc *to, const struct desc *from, struct error *err) {
  *to = *from;
  to->kernel_name = to->text = to->origin_file = to->fp = to->names = NULL;
  to->nconsts = 0;
  to->consts = array_new((size_t)from->nconsts, sizeof *to->consts);
  bool good = to->consts && copy_string(&to->kernel_name, from->kernel_name) &&
              copy_string(&to->text, from->text) && copy_string(&to->origin_file, from->origin_file) &&
              copy_string(&to->fp, from->fp) && copy_string(&to->names, from->names);
  for (int i = 0; good && i < from->nconsts; i++) {
    good = copy_const(&to->consts[i], &from->consts[i]);
    to->nconsts = i + 1;
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
    text_addf(out, "arg %d form %s type %s dim %d access %s map %d idx %d dat %d ref %d info %d present %d\n",
              i + 1, form_names[a->form], short_name(a->type), a->dim, access_names[a->access], a->map + 1,
              a->idx, a->dat + 1, a->ref + 1, a->info + 1, a->present);
  }
}

void desc_print_mesh(const struct desc *d, struct text *out) {
  for (int i = 0; i < d->nsets; i++)
    text_addf(out, "set %d renumbered %d\n", i + 1, d->renumbered[i]);
  for (int i = 0; i < d->nmaps; i++)
    text_addf(out, "map %d arity %d to %d\n", i + 1, d->maps[i].arity, d->maps[i].to + 1);
}

void desc_print_dats(const struct desc *d, struct text *out) {
  for (int i = 0; i < d->ndats; i++)
    text_addf(out, "dat %d type %s dim %d set %d soa %d wide %d\n", i + 1, short_name(d->dats[i].type),
              d->dats[i].dim, d->dats[i].set + 1, d->dats[i].soa, d->dats[i].wide);
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
  desc_print_mesh(d, out);
  desc_print_dats(d, out);
  desc_print_args(d, out);
  desc_print_consts(d, out);
  print_string(out, "text", d->text);
}

/* ---- and back ----------------------------------------------------------------------------------*/

struct reader {
  const char *at;
  bool bad, no_memory;
};

static void skip_blank(struct reader *r) {
  while (*r->at == ' ' || *r->at == '\n')
    r->at++;
}

/* The next word must be this one. */
static void expect(struct reader *r, const char *word) {
  skip_blank(r);
  size_t length = strlen(word);
  if (r->bad || strncmp(r->at, word, length) != 0)
    r->bad = true;
  else
    r->at += length;
}

/* The next word, into a buffer. */
static void read_word(struct reader *r, char *out, size_t size) {
  skip_blank(r);
  size_t length = strcspn(r->at, " \n");
  out[0] = '\0';
  if (r->bad || length == 0 || length >= size) {
    r->bad = true;
    return;
  }
  memcpy(out, r->at, length);
  out[length] = '\0';
  r->at += length;
}

static int read_int(struct reader *r, int least, int most) {
  char word[16];
  read_word(r, word, sizeof word);
  char *end = word;
  long value = strtol(word, &end, 10);
  if (r->bad || *end || value < least || value > most) {
    r->bad = true;
    return least;
  }
  return (int)value;
}

/* "key N": an int under its key. */
static int read_key(struct reader *r, const char *key, int least, int most) {
  expect(r, key);
  return read_int(r, least, most);
}

static bool read_flag(struct reader *r, const char *key) {
  return read_key(r, key, 0, 1) != 0;
}

static int read_choice(struct reader *r, const char *key, const char *const names[], int count) {
  char word[16];
  expect(r, key);
  read_word(r, word, sizeof word);
  for (int i = 0; i < count; i++)
    if (strcmp(word, names[i]) == 0)
      return i;
  r->bad = true;
  return 0;
}

static enum type_code read_type(struct reader *r) {
  char word[16];
  expect(r, "type");
  read_word(r, word, sizeof word);
  enum type_code type = type_parse(word, NULL);
  r->bad |= type == TYPE_NONE;
  return type;
}

static char *read_string(struct reader *r, const char *key) {
  expect(r, key);
  skip_blank(r);
  size_t length = 0;
  for (; !r->bad && *r->at >= '0' && *r->at <= '9' && length < LARGEST; r->at++)
    length = length * 10 + (size_t)(*r->at - '0');
  if (r->bad || *r->at != ':' || strnlen(r->at + 1, length) != length || r->at[1 + length] != '\n') {
    r->bad = true;
    return NULL;
  }
  char *copy = strndup(r->at + 1, length);
  r->no_memory |= !copy;
  r->at += length + 2;
  return copy;
}

/* The text counts from 1, as people do, and 0 is none: -1 here. */
static int read_number(struct reader *r, const char *key, int least, int count) {
  return read_key(r, key, least + 1, count) - 1;
}

static void read_numbered(struct reader *r, const char *key, int number) {
  if (read_number(r, key, 0, OP_MAX_ARGS + 1) != number)
    r->bad = true;
}

static void read_dat(struct reader *r, const struct desc *d, struct desc_dat *dat) {
  dat->type = read_type(r);
  dat->dim = read_key(r, "dim", 1, LARGEST);
  dat->set = read_number(r, "set", 0, d->nsets);
  dat->soa = read_flag(r, "soa");
  dat->wide = read_flag(r, "wide");
}

static void read_arg(struct reader *r, const struct desc *d, struct desc_arg *a) {
  a->form = (enum desc_form)read_choice(r, "form", form_names, FORMS);
  a->type = read_type(r);
  a->dim = read_key(r, "dim", 1, LARGEST);
  a->access = read_choice(r, "access", access_names, ACCESSES);
  a->map = read_number(r, "map", -1, d->nmaps);
  a->idx = read_key(r, "idx", -LARGEST, LARGEST);
  a->dat = read_number(r, "dat", -1, d->ndats);
  a->ref = read_number(r, "ref", -1, d->nargs);
  a->info = read_number(r, "info", -1, d->nargs);
  a->present = read_flag(r, "present");
  bool direct = a->map < 0;
  if (!r->bad &&
      (direct ? a->idx != -1
              : a->idx >= d->maps[a->map].arity || (a->idx < 0 && a->idx != -d->maps[a->map].arity)))
    r->bad = true;
  if (!r->bad && (a->form == DESC_DAT && a->present) != (a->dat >= 0))
    r->bad = true;
  if ((a->form == DESC_INFO) != (a->ref >= 0) || (a->form != DESC_GBL && a->info >= 0))
    r->bad = true;
}

static void read_const(struct reader *r, struct desc_const *c) {
  char name[256], word[64];
  expect(r, "const");
  read_word(r, name, sizeof name);
  c->type = read_type(r);
  c->dim = read_key(r, "dim", 1, LARGEST);
  c->folded = read_flag(r, "folded");
  if (r->bad)
    return;
  c->name = strdup(name);
  r->no_memory |= !c->name;
  if (!c->folded || !c->name)
    return;
  expect(r, "value");
  /* A value takes two characters at least, so a hostile dim allocates no more than a few times the text. */
  if (strlen(r->at) / 2 < (size_t)c->dim) {
    r->bad = true;
    return;
  }
  c->value = array_new((size_t)c->dim, type_info(c->type)->size);
  r->no_memory |= !c->value;
  for (int i = 0; c->value && !r->bad && i < c->dim; i++) {
    read_word(r, word, sizeof word);
    if (!r->bad && !number_parse(c->type, word, c->value + (size_t)i * type_info(c->type)->size))
      r->bad = true;
  }
}

static void read_consts(struct reader *r, struct desc *d, int count) {
  d->consts = r->bad ? NULL : array_new((size_t)count, sizeof *d->consts);
  r->no_memory |= !r->bad && !d->consts;
  for (int i = 0; i < count && !r->bad && !r->no_memory; i++) {
    read_const(r, &d->consts[i]);
    d->nconsts = i + 1;
  }
}

/* What one argument says of another must be true of both, or code made from it would not be. */
static bool consistent(const struct desc *d) {
  for (int i = 0; i < d->nargs; i++) {
    const struct desc_arg *a = &d->args[i];
    bool extremum = a->form == DESC_GBL && (a->access == OP_MIN || a->access == OP_MAX);
    if (a->info >= 0 && (!extremum || d->args[a->info].form != DESC_INFO || d->args[a->info].ref != i))
      return false;
    if (a->ref >= 0 && (d->args[a->ref].form != DESC_GBL || d->args[a->ref].access != a->access))
      return false;
    if (a->dat >= 0 && (d->dats[a->dat].type != a->type || d->dats[a->dat].dim != a->dim))
      return false;
    int set = a->map >= 0 ? d->maps[a->map].to : 0;
    if (a->dat >= 0 && d->dats[a->dat].set != set)
      return false;
  }
  return true;
}

static void read_desc(struct reader *r, struct desc *d) {
  expect(r, "loops 1");
  d->nsets = read_key(r, "sets", 1, OP_MAX_ARGS + 1);
  d->nmaps = read_key(r, "maps", 0, OP_MAX_ARGS);
  d->ndats = read_key(r, "dats", 0, OP_MAX_ARGS);
  d->nargs = read_key(r, "args", 1, OP_MAX_ARGS);
  int nconsts = read_key(r, "consts", 0, LARGEST);
  r->bad |= !r->bad && (size_t)nconsts > strlen(r->at) / 8;
  d->kernel_name = read_string(r, "name");
  d->fp = read_string(r, "fp");
  for (int i = 0; i < d->nsets && !r->bad; i++) {
    read_numbered(r, "set", i);
    d->renumbered[i] = read_flag(r, "renumbered");
  }
  for (int i = 0; i < d->nmaps && !r->bad; i++) {
    read_numbered(r, "map", i);
    d->maps[i].arity = read_key(r, "arity", 1, LARGEST);
    d->maps[i].to = read_number(r, "to", 0, d->nsets);
  }
  for (int i = 0; i < d->ndats && !r->bad; i++) {
    read_numbered(r, "dat", i);
    read_dat(r, d, &d->dats[i]);
  }
  for (int i = 0; i < d->nargs && !r->bad; i++) {
    read_numbered(r, "arg", i);
    read_arg(r, d, &d->args[i]);
  }
  read_consts(r, d, nconsts);
  d->text = read_string(r, "text");
  r->bad |= !r->bad && !consistent(d);
}

int desc_parse(struct desc *d, const char *canonical, struct error *err) {
  struct reader r = {.at = canonical};
  *d = (struct desc){0};
  read_desc(&r, d);
  if (!r.bad && !r.no_memory)
    return OP_OK;
  size_t where = (size_t)(r.at - canonical);
  desc_free(d);
  if (r.no_memory)
    return error_memory(err, "a loop's description", strlen(canonical));
  return error_set(err, OP_ERR_ARGUMENT,
                   "the text at byte %zu is not that of a loop's description as this version writes it",
                   where);
}

/* ---- questions -----------------------------------------------------------------------------------*/

bool desc_uses_column(const struct desc *d, int map, int column) {
  for (int i = 0; i < d->nargs; i++) {
    const struct desc_arg *a = &d->args[i];
    const bool through = a->present && a->map == map && (a->form == DESC_DAT || a->form == DESC_IDX);
    if (through && (a->idx < 0 || a->idx == column))
      return true;
  }
  return false;
}

/* ---- the frame ---------------------------------------------------------------------------------*/

int desc_slot_dat(const struct desc *d, int dat) {
  (void)d;
  return dat;
}

int desc_slot_map(const struct desc *d, int map) {
  return d->ndats + map;
}

int desc_slot_arg(const struct desc *d, int arg) {
  return d->ndats + d->nmaps + arg;
}

int desc_slot_stride(const struct desc *d, int dat) {
  return d->ndats + d->nmaps + d->nargs + dat;
}

int desc_slot_numbers(const struct desc *d, int set) {
  return 2 * d->ndats + d->nmaps + d->nargs + set;
}

int desc_slot_const(const struct desc *d, int constant) {
  return 2 * d->ndats + d->nmaps + d->nargs + d->nsets + constant;
}

int desc_slot_start(const struct desc *d, int arg) {
  return 2 * d->ndats + d->nmaps + d->nargs + d->nsets + d->nconsts + arg;
}

int desc_slot_straight(const struct desc *d) {
  return 2 * d->ndats + d->nmaps + 2 * d->nargs + d->nsets + d->nconsts;
}

int desc_slots(const struct desc *d) {
  return desc_slot_straight(d) + 1;
}
