/* The index: XML of a fixed form, in which each step is between two marks, so that a later one, also of a later
 * process, finds the steps before it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/aside.h"
#include "context/context.h"
#include "files/vtk.h"
#include "jit/kernel/number.h"
#include "mesh/data.h"

static const char mark[] = "<?xml version=\"1.0\"?>\n<!-- op2jit index 1 -->\n";
static const char head[] = "<Xdmf Version=\"3.0\">\n<Domain>\n";
static const char series_head[] =
    "<Grid Name=\"steps\" GridType=\"Collection\" CollectionType=\"Temporal\">\n";
static const char series_end[] = "<!-- end -->\n</Grid>\n";
static const char end[] = "</Domain>\n</Xdmf>\n";
static const char step_mark[] = "<!-- step %d -->\n", step_begin[] = "<!-- step ";

/* ---- this step ---- */

static void add_escaped(struct text *out, const char *s) {
  for (; *s; s++)
    switch (*s) {
    case '&': text_add(out, "&amp;"); break;
    case '<': text_add(out, "&lt;"); break;
    case '>': text_add(out, "&gt;"); break;
    case '"': text_add(out, "&quot;"); break;
    default: text_add_char(out, (unsigned char)*s < 0x20 ? '_' : *s);
    }
}

/* XDMF's words for the types; there are none for the largest whole numbers without sign. */
static void add_type(struct text *out, enum type_code type) {
  static const struct {
    const char *name;
    int precision;
  } words[TYPE_COUNT] = {
      [TYPE_DOUBLE] = {"Float", 8}, [TYPE_FLOAT] = {"Float", 4},  [TYPE_INT] = {"Int", 4},
      [TYPE_UINT] = {"UInt", 4},    [TYPE_LONGLONG] = {"Int", 8}, [TYPE_ULONGLONG] = {"Int", 8},
      [TYPE_BOOL] = {"UChar", 1},   [TYPE_CHAR] = {"Char", 1},    [TYPE_SHORT] = {"Short", 2}};
  text_addf(out, "NumberType=\"%s\" Precision=\"%d\"", words[type].name, words[type].precision);
}

static void add_item(struct text *out, enum type_code type, long long rows, long long columns,
                     const char *file, const char *dataset) {
  text_add(out, "    <DataItem Format=\"HDF\" ");
  add_type(out, type);
  text_addf(out, columns > 1 ? " Dimensions=\"%lld %lld\">" : " Dimensions=\"%lld\">", rows, columns);
  add_escaped(out, file);
  text_addf(out, ":/%s</DataItem>\n", dataset);
}

static void add_topology(struct text *out, const struct vtk_step *s) {
  const struct vtk_kind *kind = s->cells[0].kind;
  const int arity = s->cells[0].map->arity;
  const long long values = vtk_is_mixed(s) ? vtk_cell_numbers(s) : 0;
  text_addf(out, "  <Topology TopologyType=\"%s\" NumberOfElements=\"%lld\"",
            vtk_is_mixed(s) ? "Mixed" : kind->name, s->total);
  if (!vtk_is_mixed(s) && kind->counted)
    text_addf(out, " NodesPerElement=\"%d\"", arity);
  text_add(out, ">\n");
  add_item(out, vtk_cell_type(s), vtk_is_mixed(s) ? values : s->total, vtk_is_mixed(s) ? 1 : arity,
           text_str(&s->mesh), "cells");
  text_add(out, "  </Topology>\n");
}

static void add_field(struct text *out, const struct vtk_step *s, const struct vtk_field *f) {
  static const struct {
    int columns;
    const char *name;
  } kinds[] = {{1, "Scalar"}, {3, "Vector"}, {6, "Tensor6"}, {9, "Tensor"}};
  const char *kind = "Matrix";
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (kinds[i].columns == f->columns)
      kind = kinds[i].name;
  text_add(out, "  <Attribute Name=\"");
  add_escaped(out, f->name);
  text_addf(out, "\" AttributeType=\"%s\" Center=\"%s\">\n", kind, f->points ? "Node" : "Cell");
  add_item(out, f->type, f->points ? s->npoints : s->total, f->columns, vtk_base_name(text_str(&s->data)),
           text_str(&f->dataset));
  text_add(out, "  </Attribute>\n");
}

/* With as many digits as it takes. XML has points whatever the host's locale writes. */
static void add_real(struct text *out, double value) {
  enum { FEWEST = 15, MOST = 17 };
  char number[40];
  for (int digits = FEWEST; digits <= MOST; digits++) {
    snprintf(number, sizeof number, "%.*g", digits, value);
    const double back = strtod(number, NULL);
    if (!(back < value || back > value))
      break;
  }
  number_add(out, number);
}

static void add_time(struct text *out, const struct vtk_step *s) {
  if (!s->time && s->step < 0)
    return;
  text_add(out, "  <Time Value=\"");
  if (s->time)
    add_real(out, *s->time);
  else
    text_addf(out, "%d", s->step);
  text_add(out, "\"/>\n");
}

static void add_step(struct text *out, const struct vtk_step *s) {
  if (s->step >= 0)
    text_addf(out, "<Grid Name=\"step %d\" GridType=\"Uniform\">\n", s->step);
  else
    text_add(out, "<Grid Name=\"mesh\" GridType=\"Uniform\">\n");
  add_time(out, s);
  add_topology(out, s);
  text_addf(out, "  <Geometry GeometryType=\"%s\">\n", s->geometry == 3 ? "XYZ" : "XY");
  add_item(out, s->coords->type, s->npoints, s->geometry, text_str(&s->points), "points");
  text_add(out, "  </Geometry>\n");
  for (int i = 0; i < s->nfields; i++)
    add_field(out, s, &s->fields[i]);
  text_add(out, "</Grid>\n");
}

/* ---- the steps before ---- */

/* A file that is not there is empty. */
static int read_text(const char *path, struct text *out, struct error *err) {
  return access(path, F_OK) != 0 && errno == ENOENT ? OP_OK : file_read(path, out, err);
}

/* The text behind `begin`, NULL: `text` does not begin so. */
static const char *behind(const char *text, const char *begin) {
  const size_t length = strlen(begin);
  return text && strncmp(text, begin, length) == 0 ? text + length : NULL;
}

int vtk_check_index(const struct vtk_step *s, struct error *err) {
  const char *path = text_str(&s->index);
  struct text old = {0};
  int code = read_text(path, &old, err);
  if (!code && old.length && !behind(text_str(&old), mark))
    code = error_set(err, OP_ERR_FILE,
                     "%s: op_write_vtk did not write this file and does not replace it; name another path",
                     path);
  text_free(&old);
  return code;
}

/* An index of one state has none. */
static int add_steps_before(struct text *out, const struct vtk_step *s, struct error *err) {
  const char *path = text_str(&s->index);
  struct text old = {0};
  int code = read_text(path, &old, err);
  const char *at = code ? NULL : behind(behind(behind(text_str(&old), mark), head), series_head);
  const char *stop = at ? strstr(at, series_end) : NULL;
  if (at && !stop)
    code = error_set(err, OP_ERR_FILE, "%s is damaged: its end is missing; remove it, or name another path",
                     path);
  for (const char *step = stop ? strstr(at, step_begin) : NULL, *next; step && step < stop; step = next) {
    next = strstr(step + 1, step_begin);
    next = next && next < stop ? next : stop;
    if (strtol(step + sizeof step_begin - 1, NULL, 10) < s->step)
      text_add_bytes(out, step, (size_t)(next - step));
  }
  text_free(&old);
  return code;
}

int vtk_write_index(const struct vtk_step *s, struct error *err) {
  struct text out = {0};
  int code = OP_OK;
  text_addf(&out, "%s%s", mark, head);
  if (s->step >= 0) {
    text_add(&out, series_head);
    code = add_steps_before(&out, s, err);
    text_addf(&out, step_mark, s->step);
  }
  add_step(&out, s);
  text_addf(&out, "%s%s", s->step >= 0 ? series_end : "", end);
  if (!code)
    code = text_ok(&out) ? aside_whole(text_str(&s->index), out.data, out.length, err)
                         : error_memory(err, "the index of steps", out.length);
  text_free(&out);
  return code;
}
