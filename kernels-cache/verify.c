/* Read everything and compare it with what was noted when it was written. */
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "inner.h"

const char *binary_check(const char *hash, const struct binary_row *row) {
#ifndef OP2JIT_ZSTD
  if (row->encoding == ENCODING_ZSTD)
    return NULL; /* cannot be looked into by this build, which does not run it either */
#endif
  const char *why = NULL;
  if ((row->stored && !row->data) || (row->source_stored && !row->source))
    return no_memory; /* SQLite had none for the bytes */
  void *bytes = binary_bytes(hash, row, &why);
  free(bytes);
  if (!bytes)
    return why;
  void *source = unpack(row->source, row->source_stored, row->source_encoding, row->source_size, &why);
  free(source);
  return source ? NULL : why;
}

void binary_from_scan(sqlite3_stmt *st, struct binary_row *row) {
  *row =
      (struct binary_row){.size = (size_t)sqlite3_column_int64(st, 3),
                          .encoding = (enum encoding)sqlite3_column_int(st, 4),
                          .checksum = sqlite3_column_bytes(st, 5) == 32 ? sqlite3_column_blob(st, 5) : NULL,
                          .data = sqlite3_column_blob(st, 6),
                          .stored = (size_t)sqlite3_column_bytes(st, 6),
                          .source_size = (size_t)sqlite3_column_int64(st, 7),
                          .source_encoding = (enum encoding)sqlite3_column_int(st, 8),
                          .source = sqlite3_column_blob(st, 9),
                          .source_stored = (size_t)sqlite3_column_bytes(st, 9),
                          .seconds = sqlite3_column_double(st, 10),
                          .made = sqlite3_column_int64(st, 11),
                          .used = sqlite3_column_int64(st, 12)};
}

struct finding {
  long long signature;
  char *hash, *loop;
  const char *why; /* static text */
};

static bool note_finding(struct finding **list, int *count, sqlite3_stmt *st, const char *why) {
  struct finding *more = array_resize(*list, (size_t)*count + 1, sizeof *more);
  if (!more)
    return false;
  *list = more;
  more[(*count)++] =
      (struct finding){sqlite3_column_int64(st, 0), store_copy_text(st, 1), store_copy_text(st, 2), why};
  return true;
}

/* The damaged rows of one file. */
static int scan(struct store *store, struct connection *c, struct finding **list, long long *checked) {
  int count = 0;
  sqlite3_stmt *st = store_prepare(store, c, SQL_SCAN_BINARIES);
  bool good = st != NULL;
  while (good && store_step(store, c, st) == SQLITE_ROW) {
    struct binary_row row;
    binary_from_scan(st, &row);
    const char *why = binary_check(store_text(st, 1), &row);
    ++*checked;
    if (why == no_memory || !sqlite3_column_text(st, 1))
      store_fault(store, c, SQLITE_NOMEM, "checking");
    else if (why)
      good = note_finding(list, &count, st, why);
  }
  sqlite3_reset(st);
  return count;
}

static int verify_file(struct store *store, struct connection *c, struct text *report, long long *checked) {
  int findings = 0;
  store_check_file(store, c, report, &findings);
  struct finding *list = NULL;
  int rows = c->fault ? 0 : scan(store, c, &list, checked);
  for (int i = 0; i < rows; i++) {
    struct store_key key = {.hash = list[i].hash ? list[i].hash : "",
                            .loop = list[i].loop ? list[i].loop : ""};
    bool layer = c != &store->main;
    text_addf(report, "%s: binary %.12s of %s: %s; %s\n", store_where(c), key.hash, key.loop, list[i].why,
              layer ? "it will be passed over" : "it is set aside");
    if (!layer)
      binary_set_aside(store, list[i].signature, &key, list[i].why);
    free(list[i].hash);
    free(list[i].loop);
  }
  free(list);
  if (c->fault) {
    text_addf(report, "%s: %s\n", store_where(c), text_str(&c->fault_words));
    findings += findings == 0;
  }
  return findings + rows;
}

int store_verify(struct store *store, struct text *report, long long *checked) {
  long long count = 0;
  int findings = 0;
  if (store_enter(store)) {
    for (int i = -1; i < store->nlayers; i++) {
      struct connection *c = i < 0 ? &store->main : &store->layers[i];
      if (c->db)
        findings += verify_file(store, c, report, &count);
    }
    store_leave(store);
  }
  if (checked)
    *checked = count;
  return findings;
}
