/* Reads OP2's layout. A file of this library says which sets a table belongs to; in other files it is guessed from
 * sizes. */
#include <limits.h>
#include <string.h>

#include "files/layout.h"
#include "mesh_file.h"

enum { NAME_MOST = 256, COLUMNS_MOST = 10000 };

/* The names of all datasets, with a NUL behind each. */
static bool note(void *user, const char *name) {
  struct text *names = user;
  text_add_bytes(names, name, strlen(name) + 1);
  return text_ok(names);
}

static int find_set(const struct mesh_file *m, const char *name) {
  for (int i = 0; i < m->nsets; i++)
    if (strcmp(m->sets[i].name, name) == 0)
      return i;
  return -1;
}

static int set_of_size(const struct mesh_file *m, long long size) {
  for (int i = 0; i < m->nsets; i++)
    if (m->sets[i].size == size)
      return i;
  return -1;
}

static bool is_whole(enum type_code type) {
  return type != TYPE_NONE && !type_info(type)->is_float;
}

static int read_set(struct layout *l, struct mesh_file *m, const char *name, struct error *err) {
  long long size;
  int code = layout_read_size(l, name, &size, err);
  if (!code && size > INT_MAX)
    code = error_set(err, OP_ERR_SIZE, "%s: set \"%s\" has %lld elements; op2jit mesh takes at most %d",
                     l->path, name, size, INT_MAX);
  return code ? code : mesh_add_set(m, name, size, err) < 0 ? err->code : OP_OK;
}

/* Entries 0 .. size - 1 of a set, all of it: a map, as far as sizes tell. */
static int guess_target(const struct mesh_file *m, const struct mesh_table *t) {
  const size_t values = (size_t)m->sets[t->set].size * (size_t)t->columns;
  const int *entries = t->values;
  int low = INT_MAX, high = -1;
  for (size_t i = 0; i < values; i++) {
    low = entries[i] < low ? entries[i] : low;
    high = entries[i] > high ? entries[i] : high;
  }
  return values && low == 0 ? set_of_size(m, (long long)high + 1) : -1;
}

/* Which sets the file says; -1 where it does not. */
static void said_sets(struct layout *l, const struct mesh_file *m, const char *name, int *set, int *to) {
  char word[NAME_MOST];
  *set = *to = -1;
  if (l->table->get_text(l->file, name, "from", word, sizeof word))
    *set = find_set(m, word);
  if (l->table->get_text(l->file, name, "to", word, sizeof word))
    *to = find_set(m, word);
  if (l->table->get_text(l->file, name, "set", word, sizeof word))
    *set = find_set(m, word);
}

/* Small whole numbers are read as int, as a map's. The library has no unsigned char: bytes beyond 0 and 1 stay int. */
static void narrow(struct mesh_table *t, size_t values, enum type_code type) {
  const int *entries = t->values;
  bool fits = type == TYPE_CHAR || type == TYPE_SHORT || type == TYPE_BOOL;
  for (size_t i = 0; i < values && fits && type == TYPE_BOOL; i++)
    fits = entries[i] == 0 || entries[i] == 1;
  t->type = fits ? type : t->type;
}

/* Not taken: what is of no set. */
static int read_table(struct layout *l, struct mesh_file *m, const char *name, const struct file_dataset *d,
                      bool *taken, struct error *err) {
  int set, to;
  said_sets(l, m, name, &set, &to);
  const long long columns = d->rank == 1 ? 1 : d->extents[1];
  const bool said = set >= 0 && m->sets[set].size == d->extents[0], map = said && to >= 0;
  if (!said)
    set = set_of_size(m, d->extents[0]);
  *taken = set >= 0 && columns >= 1 && columns <= COLUMNS_MOST;
  if (!*taken)
    return OP_OK;
  const bool wide = d->type == TYPE_LONGLONG || d->type == TYPE_ULONGLONG || d->type == TYPE_UINT;
  const enum type_code type = map || (!said && is_whole(d->type) && !wide) ? TYPE_INT : d->type;
  struct mesh_table *t = mesh_add_table(m, name, set, map ? to : -1, (int)columns, type, err);
  if (!t)
    return err->code;
  int code = layout_read(l, name, type, (int)columns, 0, d->extents[0], t->values, err);
  t->guessed = !said;
  if (!code && !said && type == TYPE_INT)
    t->to = guess_target(m, t);
  if (!code && t->to < 0 && type == TYPE_INT)
    narrow(t, (size_t)d->extents[0] * (size_t)columns, d->type);
  return code;
}

/* A constant says its dim, but no size as tables do. */
static bool is_constant(struct layout *l, const char *name, const struct file_dataset *d) {
  long long dim, size;
  return d->rank == 1 && d->type != TYPE_NONE && l->table->get_number(l->file, name, "dim", &dim) &&
         dim == d->extents[0] && !l->table->get_number(l->file, name, "size", &size);
}

static int read_data(struct layout *l, struct mesh_file *m, const char *name, const struct file_dataset *d,
                     struct error *err) {
  const bool numbers = d->type != TYPE_NONE;
  bool taken = false;
  int code = OP_OK;
  if (numbers && (d->rank == 1 || d->rank == 2) && !is_constant(l, name, d))
    code = read_table(l, m, name, d, &taken, err);
  if (code || taken)
    return code;
  return mesh_add_other(m, name, numbers && d->rank <= 1, d->rank ? d->extents[0] : 1,
                        numbers ? type_info(d->type)->name : d->words, err);
}

static int read_all(struct layout *l, struct mesh_file *m, const struct text *names, struct error *err) {
  int code = OP_OK;
  struct file_dataset d;
  for (int sets = 1; sets >= 0; sets--)
    for (const char *name = text_str(names), *end = name + names->length; !code && name < end;
         name += strlen(name) + 1)
      if (!(code = l->table->look(l->file, name, &d, err)) && layout_is_set(l, name, &d) == sets)
        code = sets ? read_set(l, m, name, err) : read_data(l, m, name, &d, err);
  if (!code && m->nsets == 0)
    code =
        error_set(err, OP_ERR_FILE,
                  "%s: there is no dataset of one whole number, the size of a set: this is no mesh", l->path);
  return code;
}

int mesh_read_hdf5(struct mesh_file *m, const struct file_table *table, const char *path, struct error *err) {
  struct layout l;
  struct text names = {0};
  int code = layout_open(&l, table, NULL, path, err);
  if (code)
    return code;
  code = table->each(l.file, note, &names, err);
  if (!code && !text_ok(&names))
    code = error_memory(err, "the names in a file", names.length);
  if (!code)
    code = read_all(&l, m, &names, err);
  text_free(&names);
  return layout_close(&l, code, err);
}
