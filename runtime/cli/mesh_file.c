#include "mesh_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"

void mesh_file_free(struct mesh_file *m) {
  for (int i = 0; i < m->nsets; i++)
    free(m->sets[i].name);
  for (int i = 0; i < m->ntables; i++) {
    free(m->tables[i].name);
    free(m->tables[i].values);
  }
  for (int i = 0; i < m->nothers; i++)
    free(m->others[i].name);
  free(m->sets);
  free(m->tables);
  free(m->others);
  *m = (struct mesh_file){0};
}

int mesh_add_set(struct mesh_file *m, const char *name, long long size, struct error *err) {
  struct mesh_set *sets = array_resize(m->sets, (size_t)m->nsets + 1, sizeof *sets);
  if (sets)
    m->sets = sets;
  char *copy = sets ? strdup(name) : NULL;
  if (!copy) {
    error_memory(err, "a set", sizeof *sets);
    return -1;
  }
  m->sets[m->nsets] = (struct mesh_set){copy, size};
  return m->nsets++;
}

int mesh_add_other(struct mesh_file *m, const char *name, bool constant, long long dim, const char *words,
                   struct error *err) {
  struct mesh_other *others = array_resize(m->others, (size_t)m->nothers + 1, sizeof *others);
  if (others)
    m->others = others;
  char *copy = others ? strdup(name) : NULL;
  if (!copy)
    return error_memory(err, "a dataset's name", sizeof *others);
  struct mesh_other *other = &m->others[m->nothers++];
  *other = (struct mesh_other){.name = copy, .constant = constant, .dim = dim};
  snprintf(other->words, sizeof other->words, "%s", words);
  return OP_OK;
}

struct mesh_table *mesh_add_table(struct mesh_file *m, const char *name, int set, int to, int columns,
                                  enum type_code type, struct error *err) {
  size_t values = 0, rows = (size_t)m->sets[set].size;
  struct mesh_table *tables = array_resize(m->tables, (size_t)m->ntables + 1, sizeof *tables);
  if (tables)
    m->tables = tables;
  char *copy = tables ? strdup(name) : NULL;
  void *memory = size_mul(rows, (size_t)columns, &values) ? array_new(values, type_info(type)->size) : NULL;
  if (!copy || !memory) {
    free(copy);
    free(memory);
    error_memory(err, "a table of the mesh", rows * (size_t)columns * type_info(type)->size);
    return NULL;
  }
  m->tables[m->ntables] = (struct mesh_table){copy, set, to, columns, type, memory, false};
  return &m->tables[m->ntables++];
}

/* ---- what is known ---- */

static void look_at_row(const struct mesh_table *t, long long row, long long size, int *degree,
                        struct mesh_map_info *out) {
  const int *entries = (const int *)t->values + (size_t)row * (size_t)t->columns;
  int low = 0, high = 0, good = 0;
  bool twice = false;
  /* A triangle among quadrilaterals repeats its last node. */
  enum { FEWEST = 3 };
  int columns = t->columns;
  while (columns > FEWEST && entries[columns - 1] == entries[columns - 2])
    columns--;
  for (int i = 0; i < columns; i++) {
    const int entry = entries[i];
    if (entry < 0 || entry >= size) {
      if (!out->bad.count++)
        out->bad = (struct mesh_bad){1, row, entry, i};
      continue;
    }
    degree[entry]++;
    low = !good || entry < low ? entry : low;
    high = !good || entry > high ? entry : high;
    good++;
    for (int k = 0; k < i; k++)
      twice |= entries[k] == entry;
  }
  out->repeated += twice;
  out->bandwidth = (long long)high - low > out->bandwidth ? (long long)high - low : out->bandwidth;
}

int mesh_map_look(const struct mesh_file *m, const struct mesh_table *t, struct mesh_map_info *out,
                  struct error *err) {
  const long long rows = m->sets[t->set].size, size = m->sets[t->to].size;
  int *degree = array_new((size_t)size, sizeof *degree);
  *out = (struct mesh_map_info){0};
  if (!degree)
    return error_memory(err, "the degrees of a map", (size_t)size * sizeof *degree);
  for (long long r = 0; r < rows; r++)
    look_at_row(t, r, size, degree, out);
  for (long long e = 0; e < size; e++) {
    out->degree_min = e == 0 || degree[e] < out->degree_min ? degree[e] : out->degree_min;
    out->degree_max = degree[e] > out->degree_max ? degree[e] : out->degree_max;
    out->degree_mean += degree[e];
    out->unused += degree[e] == 0;
  }
  out->degree_mean = size ? out->degree_mean / (double)size : 0;
  free(degree);
  return OP_OK;
}

/* ---- components: a forest over all elements of all sets ---- */

static long long root_of(long long *parent, long long e) {
  while (parent[e] != e)
    e = parent[e] = parent[parent[e]];
  return e;
}

static void join_rows(const struct mesh_file *m, const struct mesh_table *t, const long long *first,
                      long long *parent) {
  const int *entries = t->values;
  for (long long r = 0; r < m->sets[t->set].size; r++)
    for (int i = 0; i < t->columns; i++) {
      const int entry = entries[(size_t)r * (size_t)t->columns + (size_t)i];
      if (entry < 0 || entry >= m->sets[t->to].size)
        continue;
      long long a = root_of(parent, first[t->set] + r), b = root_of(parent, first[t->to] + entry);
      if (a < b)
        parent[b] = a;
      else
        parent[a] = b;
    }
}

int mesh_components(const struct mesh_file *m, long long *out, struct error *err) {
  long long total = 0;
  long long *first = array_new((size_t)m->nsets, sizeof *first), *parent = NULL;
  for (int s = 0; first && s < m->nsets; s++) {
    first[s] = total;
    total += m->sets[s].size;
  }
  if (first)
    parent = array_new((size_t)total, sizeof *parent);
  if (!parent) {
    free(first);
    return error_memory(err, "the parts of the mesh", (size_t)total * sizeof *parent);
  }
  for (long long e = 0; e < total; e++)
    parent[e] = e;
  for (int t = 0; t < m->ntables; t++)
    if (m->tables[t].to >= 0)
      join_rows(m, &m->tables[t], first, parent);
  *out = 0;
  for (long long e = 0; e < total; e++)
    *out += parent[e] == e;
  free(first);
  free(parent);
  return OP_OK;
}

long long mesh_not_finite(const struct mesh_file *m, const struct mesh_table *t) {
  const size_t size = type_info(t->type)->size, values = (size_t)m->sets[t->set].size * (size_t)t->columns;
  long long count = 0;
  if (type_info(t->type)->is_float)
    for (size_t i = 0; i < values; i++)
      count += !isfinite(type_number(t->type, (const char *)t->values + i * size));
  return count;
}
