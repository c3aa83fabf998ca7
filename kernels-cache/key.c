/* Keys as rows: a signature and its components. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "inner.h"

static bool same_bytes(const void *a, size_t a_length, const void *b, size_t b_length) {
  return a_length == b_length && (a_length == 0 || memcmp(a, b, a_length) == 0);
}

static bool same_column(const struct store_column *a, const struct store_column *b) {
  return strcmp(a->name, b->name) == 0 && same_bytes(a->value, a->length, b->value, b->length);
}

bool key_same(const struct store_key *a, const struct store_key *b) {
  if (a->ncolumns != b->ncolumns)
    return false;
  for (int i = 0; i < a->ncolumns; i++)
    if (!same_column(&a->columns[i], &b->columns[i]))
      return false;
  return true;
}

static const struct store_column *key_column(const struct store_key *key, const char *name) {
  for (int i = 0; i < key->ncolumns; i++)
    if (strcmp(key->columns[i].name, name) == 0)
      return &key->columns[i];
  return NULL;
}

bool key_has_column(const struct store_key *key, const struct store_column *column) {
  const struct store_column *other = key_column(key, column->name);
  return other && same_column(column, other);
}

int key_difference_count(const struct store_key *a, const struct store_key *b) {
  int count = 0;
  for (int i = 0; i < a->ncolumns; i++)
    count += !key_has_column(b, &a->columns[i]);
  for (int i = 0; i < b->ncolumns; i++)
    count += !key_column(a, b->columns[i].name);
  return count;
}

static const char components_of[] = "SELECT name, value FROM component WHERE signature = ?1 ORDER BY place";

int key_matches(struct connection *c, long long signature, const struct store_key *key) {
  sqlite3_stmt *st = store_ask(c, components_of, "i", signature);
  if (!st)
    return -1;
  int count = 0, code;
  bool same = true;
  while ((code = store_step(c, st)) == SQLITE_ROW) {
    /* The value is asked for first: store_text may move it. */
    size_t name_length = (size_t)sqlite3_column_bytes(st, 0), length = (size_t)sqlite3_column_bytes(st, 1);
    const struct store_column *column = count < key->ncolumns ? &key->columns[count] : NULL;
    if ((name_length && !sqlite3_column_blob(st, 0)) || (length && !sqlite3_column_blob(st, 1))) {
      code = SQLITE_NOMEM;
      break;
    }
    same = same && column &&
           same_bytes(sqlite3_column_blob(st, 0), name_length, column->name, strlen(column->name)) &&
           same_bytes(sqlite3_column_blob(st, 1), length, column->value, column->length);
    count++;
  }
  sqlite3_reset(st);
  if (code != SQLITE_DONE)
    return -1;
  return same && count == key->ncolumns;
}

long long key_find(struct connection *c, const char *hash) {
  sqlite3_stmt *st = store_ask(c, "SELECT id, loop FROM signature WHERE hash = ?1", "t", hash);
  const long long id = store_number(c, st, 0);
  return !st || c->fault ? -1 : id;
}

static bool put_components(struct store *store, long long signature, const struct store_key *key) {
  bool good = true;
  for (int i = 0; good && i < key->ncolumns; i++) {
    const struct store_column *column = &key->columns[i];
    good = store_tell(store, "INSERT INTO component(signature, place, name, value) VALUES(?1, ?2, ?3, ?4)",
                      "intx", signature, i, column->name, column->value, column->length);
  }
  return good;
}

long long key_put(struct store *store, const struct store_key *key) {
  struct connection *c = &store->main;
  long long id = key_find(c, key->hash);
  if (id < 0)
    return 0;
  if (id > 0) {
    int same = key_matches(c, id, key);
    if (same > 0)
      return id;
    /* The hash is there with other columns: bytes were flipped. What is known to be right replaces them. */
    return same == 0 && store_tell(store, "DELETE FROM component WHERE signature = ?1", "i", id) &&
                   put_components(store, id, key)
               ? id
               : 0;
  }
  if (!store_tell(store, "INSERT INTO signature(hash, loop, made, names) VALUES(?1, ?2, ?3, ?4)", "ttit",
                  key->hash, key->loop, store_now(store), key->names))
    return 0;
  id = sqlite3_last_insert_rowid(c->db);
  return put_components(store, id, key) ? id : 0;
}

/* ---- keys that are read back --------------------------------------------------------------------*/

void store_key_free(struct store_key *key) {
  for (int i = 0; i < key->ncolumns; i++) {
    free((char *)(size_t)key->columns[i].name);
    free((char *)(size_t)key->columns[i].value);
  }
  free((struct store_column *)(size_t)key->columns);
  free((char *)(size_t)key->hash);
  free((char *)(size_t)key->loop);
  free((char *)(size_t)key->names);
  *key = (struct store_key){0};
}

static char *copy_cell(sqlite3_stmt *st, int column, size_t *length) {
  const void *bytes = sqlite3_column_blob(st, column);
  *length = (size_t)sqlite3_column_bytes(st, column);
  char *copy = malloc(*length + 1);
  if (!copy || (*length && !bytes)) {
    free(copy);
    return NULL;
  }
  if (*length)
    memcpy(copy, bytes, *length);
  copy[*length] = '\0';
  return copy;
}

static bool read_head(struct connection *c, long long signature, struct store_key *out) {
  sqlite3_stmt *st = store_ask(c, "SELECT hash, loop, names FROM signature WHERE id = ?1", "i", signature);
  if (!st)
    return false;
  bool good = true;
  if (store_step(c, st) == SQLITE_ROW) {
    out->hash = store_copy_text(st, 0);
    out->loop = store_copy_text(st, 1);
    out->names = store_copy_text(st, 2);
    good = out->hash && out->loop && out->names;
  }
  sqlite3_reset(st);
  return good;
}

bool key_read(struct connection *c, long long signature, struct store_key *out) {
  *out = (struct store_key){0};
  sqlite3_stmt *st = store_ask(c, components_of, "i", signature);
  if (!st)
    return false;
  bool good = true;
  struct store_column *columns = NULL;
  while (good && store_step(c, st) == SQLITE_ROW) {
    struct store_column *more = array_more(columns, (size_t)out->ncolumns, sizeof *more);
    if (!(good = more != NULL))
      break;
    out->columns = columns = more;
    size_t name_length, length;
    char *name = copy_cell(st, 0, &name_length), *value = copy_cell(st, 1, &length);
    columns[out->ncolumns++] = (struct store_column){name, value, length};
    good = name && value;
  }
  sqlite3_reset(st);
  if (!good || !read_head(c, signature, out) || c->fault) {
    store_key_free(out);
    return false;
  }
  return true;
}

int store_find_key(struct store *store, const char *prefix, struct store_key *out) {
  *out = (struct store_key){0};
  if (!store_enter(store))
    return 0;
  int found = 0;
  for (int i = -1; i < store->nlayers && found == 0; i++) {
    struct connection *c = store_connection(store, i);
    sqlite3_stmt *st =
        store_ask(c, "SELECT id FROM signature WHERE hash >= ?1 AND hash < ?1 || 'g' ORDER BY hash LIMIT 2",
                  "t", prefix);
    long long id = 0;
    for (; st && store_step(c, st) == SQLITE_ROW; found++)
      id = found ? id : sqlite3_column_int64(st, 0);
    sqlite3_reset(st);
    if (found == 1)
      key_read(c, id, out);
  }
  store_leave(store);
  return found > 1 ? -1 : found && !out->hash ? 0 : found;
}
