/* Basic functions: the clock, the kind of trouble of a failing call, and warnings. */
#include <string.h>
#include <time.h>

#include "inner.h"

void store_sleep_us(long microseconds) {
  struct timespec t = {microseconds / 1000000, microseconds % 1000000 * 1000};
  nanosleep(&t, NULL);
}

static const struct {
  int code; /* extended codes are looked for first */
  enum fault fault;
} kinds[] = {
    {SQLITE_READONLY_DBMOVED, FAULT_MOVED},
    {SQLITE_IOERR_NOMEM, FAULT_MEMORY},
    {SQLITE_NOMEM, FAULT_MEMORY},
    {SQLITE_BUSY, FAULT_BUSY},
    {SQLITE_LOCKED, FAULT_BUSY},
    {SQLITE_PROTOCOL, FAULT_BUSY},
    {SQLITE_FULL, FAULT_FULL},
    {SQLITE_READONLY, FAULT_READONLY},
    {SQLITE_PERM, FAULT_READONLY},
    {SQLITE_AUTH, FAULT_READONLY},
    {SQLITE_CORRUPT, FAULT_DAMAGED},
    {SQLITE_NOTADB, FAULT_DAMAGED},
};

static enum fault classify(int code, int extended) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (kinds[i].code == extended || kinds[i].code == code)
      return kinds[i].fault;
  return FAULT_BROKEN;
}

void store_fault(struct connection *c, int code, const char *doing) {
  int extended = c->db ? sqlite3_extended_errcode(c->db) : code;
  enum fault fault = classify(code & 0xff, (extended & 0xff) == (code & 0xff) ? extended : code);
  if (fault <= c->fault)
    return;
  c->fault = fault;
  c->fault_code = code & 0xff;
  text_clear(&c->fault_words);
  text_addf(&c->fault_words, "%s: %s", doing, sqlite3_errstr(code));
  if (c->db && sqlite3_system_errno(c->db) && fault != FAULT_DAMAGED)
    text_addf(&c->fault_words, " (%s)", strerror(sqlite3_system_errno(c->db)));
}

static void warn(struct store *store, enum log_level level, const char *format, va_list args) {
  struct text line = {0};
  text_vaddf(&line, format, args);
  if (store->options.log)
    log_line(store->options.log, level, "cache", "%s", text_str(&line));
  store->warned = true;
  text_free(&store->trouble);
  store->trouble = line;
}

void store_warn(struct store *store, const char *format, ...) {
  va_list args;
  va_start(args, format);
  warn(store, store->warned ? LOG_INFO : LOG_WARN, format, args);
  va_end(args);
}

void store_warn_always(struct store *store, const char *format, ...) {
  va_list args;
  va_start(args, format);
  warn(store, LOG_WARN, format, args);
  va_end(args);
}

void store_note(const struct store *store, const char *format, ...) {
  if (!store->options.log || !log_wants(store->options.log, LOG_INFO, "cache"))
    return;
  struct text line = {0};
  va_list args;
  va_start(args, format);
  text_vaddf(&line, format, args);
  va_end(args);
  log_line(store->options.log, LOG_INFO, "cache", "%s", text_str(&line));
  text_free(&line);
}

const char *store_where(const struct connection *c) {
  return c->path ? c->path : "in memory";
}
