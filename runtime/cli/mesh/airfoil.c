/* OP2's text format for airfoil: a line of four sizes, then a row for each node (x y), cell (4 nodes), edge (2
 * nodes, 2 cells) and boundary edge (2 nodes, a cell, a flag). The names are those of OP2's HDF5 form of it. */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/aside.h"
#include "mesh_file.h"

enum { NODES, CELLS, EDGES, BEDGES, SETS };
static const char *const set_names[SETS] = {"nodes", "cells", "edges", "bedges"};

/* What a row of each set is made of, in the order of the file. */
static const struct column {
  int set;
  const char *name;
  int to, columns; /* to -1: data */
  enum type_code type;
  const char *what;
} columns[] = {{NODES, "p_x", -1, 2, TYPE_DOUBLE, "a coordinate of a node"},
               {CELLS, "pcell", NODES, 4, TYPE_INT, "a node of a cell"},
               {EDGES, "pedge", NODES, 2, TYPE_INT, "a node of an edge"},
               {EDGES, "pecell", CELLS, 2, TYPE_INT, "a cell of an edge"},
               {BEDGES, "pbedge", NODES, 2, TYPE_INT, "a node of a boundary edge"},
               {BEDGES, "pbecell", CELLS, 1, TYPE_INT, "the cell of a boundary edge"},
               {BEDGES, "p_bound", -1, 1, TYPE_INT, "the flag of a boundary edge"}};
enum { COLUMNS = sizeof columns / sizeof *columns };

/* ---- reading: numbers with blanks between them ---- */

struct scan {
  const char *path, *at, *end; /* *end is a NUL */
  long line;
};

/* "PATH, line N: ..." of the place where the scan is. */
static int scan_failed(const struct scan *s, struct error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int scan_failed(const struct scan *s, struct error *err, const char *format, ...) {
  struct text words = {0};
  va_list args;
  va_start(args, format);
  text_vaddf(&words, format, args);
  va_end(args);
  error_set(err, OP_ERR_FILE, "%s, line %ld: %s", s->path, s->line, text_str(&words));
  text_free(&words);
  return OP_ERR_FILE;
}

static bool is_blank(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

/* Blanks are passed over. */
static bool scan_at_end(struct scan *s) {
  for (; s->at < s->end && is_blank(*s->at); s->at++)
    s->line += *s->at == '\n';
  return s->at >= s->end;
}

/* What strtoll or strtod took up to `stop` has to be a whole word. */
static int check_word(const struct scan *s, const char *stop, const char *kind, const char *what,
                      struct error *err) {
  const char *end = s->at;
  while (end < s->end && !is_blank(*end))
    end++;
  if (stop == end)
    return OP_OK;
  const int length = end - s->at < 40 ? (int)(end - s->at) : 40;
  return scan_failed(s, err, "\"%.*s\" is not a %s; expected %s", length, s->at, kind, what);
}

static int scan_whole(struct scan *s, long long low, const char *what, long long *out, struct error *err) {
  char *stop;
  if (scan_at_end(s))
    return scan_failed(s, err, "the file ends; expected %s", what);
  errno = 0;
  *out = strtoll(s->at, &stop, 10);
  if (check_word(s, stop, "whole number", what, err))
    return OP_ERR_FILE;
  if (errno || *out < low || *out > INT_MAX)
    return scan_failed(s, err, "%lld is not in %lld .. %d; expected %s", *out, low, INT_MAX, what);
  s->at = stop;
  return OP_OK;
}

static int scan_real(struct scan *s, const char *what, double *out, struct error *err) {
  char *stop;
  if (scan_at_end(s))
    return scan_failed(s, err, "the file ends; expected %s", what);
  *out = strtod(s->at, &stop);
  if (check_word(s, stop, "number", what, err))
    return OP_ERR_FILE;
  s->at = stop;
  return OP_OK;
}

/* A size that the file cannot hold is refused before memory is taken for it: each number has a digit and a blank. */
static int scan_has(const struct scan *s, long long count, int numbers, const char *what, struct error *err) {
  if (count > (s->end - s->at) / (2 * (long long)numbers) + 1)
    return scan_failed(s, err, "the file is too short for %lld %s", count, what);
  return OP_OK;
}

static int read_value(struct scan *s, struct mesh_table *t, size_t at, const char *what, struct error *err) {
  if (t->type == TYPE_DOUBLE)
    return scan_real(s, what, (double *)t->values + at, err);
  long long value = 0;
  int code = scan_whole(s, INT_MIN, what, &value, err);
  ((int *)t->values)[at] = (int)value;
  return code;
}

static int read_set(struct scan *s, struct mesh_file *m, int set, struct error *err) {
  int code = OP_OK;
  for (long long row = 0; row < m->sets[set].size && !code; row++)
    for (int c = 0; c < COLUMNS && !code; c++)
      for (int k = 0; k < columns[c].columns && columns[c].set == set && !code; k++)
        code = read_value(s, &m->tables[c], (size_t)row * (size_t)columns[c].columns + (size_t)k,
                          columns[c].what, err);
  return code;
}

int mesh_parse_airfoil(struct mesh_file *m, const char *path, const char *text, size_t length,
                       struct error *err) {
  static const int numbers[SETS] = {2, 4, 4, 4};
  struct scan s = {.path = path, .at = text, .end = text + length, .line = 1};
  m->format = "OP2's airfoil text";
  for (int i = 0; i < SETS; i++) {
    long long size = 0;
    char what[64];
    snprintf(what, sizeof what, "the number of %s", set_names[i]);
    if (scan_whole(&s, 0, what, &size, err) || mesh_add_set(m, set_names[i], size, err) < 0)
      return err->code;
  }
  for (int i = 0; i < SETS; i++)
    if (scan_has(&s, m->sets[i].size, numbers[i], set_names[i], err))
      return err->code;
  for (int c = 0; c < COLUMNS; c++)
    if (!mesh_add_table(m, columns[c].name, columns[c].set, columns[c].to, columns[c].columns,
                        columns[c].type, err))
      return err->code;
  for (int i = 0; i < SETS; i++)
    if (read_set(&s, m, i, err))
      return err->code;
  if (!scan_at_end(&s))
    return scan_failed(&s, err, "something follows the last boundary edge");
  return OP_OK;
}

/* ---- the coordinates: a dat of 2 reals on the set that a map of cells leads to ---- */

enum { CELL_NODES_LEAST = 3, NO_POINTS = -1, MANY_POINTS = -2 };

/* A map of a set to itself tells neighbours, not nodes. */
static bool may_be_points(const struct mesh_file *m, const struct mesh_table *t) {
  if (t->to >= 0 || t->columns != 2 || !type_info(t->type)->is_float)
    return false;
  for (int i = 0; i < m->ntables; i++) {
    const struct mesh_table *map = &m->tables[i];
    if (map->to == t->set && map->to != map->set && map->columns >= CELL_NODES_LEAST)
      return true;
  }
  return false;
}

static int find_points(const struct mesh_file *m) {
  int found = NO_POINTS;
  for (int i = 0; i < m->ntables; i++)
    if (may_be_points(m, &m->tables[i]) &&
        (!m->coordinates || strcmp(m->tables[i].name, m->coordinates) == 0))
      found = found == NO_POINTS ? i : MANY_POINTS;
  return found;
}

static int points_error(const struct mesh_file *m, const char *path, struct error *err) {
  struct text fitting = {0};
  for (int i = 0; i < m->ntables; i++) {
    const struct mesh_table *t = &m->tables[i];
    if (may_be_points(m, t))
      text_addf(&fitting, "%s%s (on %s)", fitting.length ? ", " : "", t->name, m->sets[t->set].name);
  }
  if (m->coordinates)
    error_set(
        err, OP_ERR_FILE,
        "%s: --coordinates %s: that is no dat of 2 reals on a set that maps of cells lead to; expected %s",
        path, m->coordinates, fitting.length ? text_str(&fitting) : "one, and the mesh has none");
  else if (fitting.length)
    error_set(err, OP_ERR_FILE,
              "%s: the coordinates of the nodes may be %s; say with --coordinates DAT which of them", path,
              text_str(&fitting));
  else
    error_set(err, OP_ERR_FILE,
              "%s: there are no coordinates: expected a dat of 2 reals on the set that the maps of the "
              "cells, of %d entries or more, lead to",
              path, CELL_NODES_LEAST);
  text_free(&fitting);
  return OP_ERR_FILE;
}

/* ---- writing: any mesh of that structure, whatever its names ---- */

static int find_map(const struct mesh_file *m, int set, int to, int arity) {
  for (int i = 0; i < m->ntables; i++)
    if (m->tables[i].to == to && to >= 0 && m->tables[i].columns == arity &&
        (set < 0 || m->tables[i].set == set))
      return i;
  return -1;
}

static int find_flag(const struct mesh_file *m, int set) {
  for (int i = 0; i < m->ntables; i++)
    if (m->tables[i].to < 0 && m->tables[i].set == set && m->tables[i].columns == 1 &&
        m->tables[i].type == TYPE_INT)
      return i;
  return -1;
}

/* The set with a map of two nodes and one of `cells` cells. */
static int find_edges(const struct mesh_file *m, int nodes, int cells_set, int cells) {
  for (int i = 0; i < m->nsets; i++)
    if (find_map(m, i, nodes, 2) >= 0 && find_map(m, i, cells_set, cells) >= 0)
      return i;
  return -1;
}

/* The tables of `columns`, by structure; -1 where there is none. */
static void find_structure(const struct mesh_file *m, int tables[COLUMNS]) {
  for (int i = 0; i < COLUMNS; i++)
    tables[i] = -1;
  const int points = find_points(m), nodes = points >= 0 ? m->tables[points].set : -1;
  const int quads = nodes >= 0 ? find_map(m, -1, nodes, 4) : -1,
            cells = quads >= 0 ? m->tables[quads].set : -1;
  tables[0] = points;
  if (cells < 0)
    return;
  const int edges = find_edges(m, nodes, cells, 2), boundary = find_edges(m, nodes, cells, 1);
  tables[1] = quads;
  if (edges >= 0) {
    tables[2] = find_map(m, edges, nodes, 2);
    tables[3] = find_map(m, edges, cells, 2);
  }
  if (boundary >= 0) {
    tables[4] = find_map(m, boundary, nodes, 2);
    tables[5] = find_map(m, boundary, cells, 1);
    tables[6] = find_flag(m, boundary);
  }
}

bool mesh_airfoil_holds(const struct mesh_file *m, int table) {
  int tables[COLUMNS];
  bool holds = false;
  find_structure(m, tables);
  for (int c = 0; c < COLUMNS; c++)
    holds |= tables[c] == table;
  return holds;
}

static bool write_value(FILE *file, const struct mesh_table *t, size_t at, bool last) {
  const char end = last ? '\n' : ' ';
  return t->type == TYPE_DOUBLE  ? fprintf(file, "%.17g%c", ((const double *)t->values)[at], end) > 0
         : t->type == TYPE_FLOAT ? fprintf(file, "%.9g%c", (double)((const float *)t->values)[at], end) > 0
                                 : fprintf(file, "%d%c", ((const int *)t->values)[at], end) > 0;
}

struct airfoil {
  const struct mesh_file *m;
  int tables[COLUMNS];
};

static bool write_rows(FILE *file, const struct airfoil *a, int set) {
  int first = 0, last = COLUMNS - 1;
  while (columns[first].set != set)
    first++;
  while (columns[last].set != set)
    last--;
  const long long rows = a->m->sets[a->m->tables[a->tables[first]].set].size;
  for (long long row = 0; row < rows; row++)
    for (int c = first; c <= last; c++)
      for (int k = 0; k < columns[c].columns; k++)
        if (!write_value(file, &a->m->tables[a->tables[c]],
                         (size_t)row * (size_t)columns[c].columns + (size_t)k,
                         c == last && k == columns[c].columns - 1))
          return false;
  return true;
}

static bool write_all(FILE *file, const struct airfoil *a) {
  static const int first[SETS] = {0, 1, 2, 4};
  bool good = true;
  for (int i = 0; i < SETS; i++)
    good = good && fprintf(file, "%lld%c", a->m->sets[a->m->tables[a->tables[first[i]]].set].size,
                           i == SETS - 1 ? '\n' : ' ') > 0;
  for (int i = 0; i < SETS; i++)
    good = good && write_rows(file, a, i);
  return good;
}

int mesh_write_airfoil(const struct mesh_file *m, const char *path, struct error *err) {
  struct airfoil a = {.m = m};
  struct aside file;
  if (find_points(m) < 0)
    return points_error(m, path, err);
  find_structure(m, a.tables);
  for (int c = 0; c < COLUMNS; c++)
    if (a.tables[c] < 0)
      return error_set(
          err, OP_ERR_FILE,
          "%s: OP2's airfoil text needs nodes in the plane, cells of 4 nodes, edges of 2 nodes and 2 cells, "
          "and boundary edges of 2 nodes, a cell and a flag: there is no table for %s",
          path, columns[c].what);
  int code = aside_open(&file, path, err);
  if (!code && !write_all(file.file, &a))
    code = aside_refused(path, err);
  return aside_close(&file, code, err);
}
