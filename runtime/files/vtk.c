/* One step: the numbers into a file of HDF5, then the index that names them. The mesh is written with the first
 * step of a series, and again when it changed; the other steps refer to it. */
#include "files/vtk.h"

#include <stdlib.h>
#include <string.h>

#include "context/context.h"
#include "files/io.h"
#include "files/writing.h"
#include "mesh/data.h"

const char *vtk_base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* "flow", "flow.xdmf" and "flow.xmf" are one series: flow.xdmf and flow.000012.h5. */
static int name_files(struct vtk_step *s, const char *path, struct error *err) {
  static const char *const suffixes[] = {".xdmf", ".xmf"};
  size_t length = strlen(path);
  const char *suffix = suffixes[0];
  for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
    const size_t n = strlen(suffixes[i]);
    if (length > n && strcmp(path + length - n, suffixes[i]) == 0) {
      suffix = suffixes[i];
      length -= n;
      break;
    }
  }
  text_add_bytes(&s->index, path, length);
  text_add(&s->index, suffix);
  text_add_bytes(&s->data, path, length);
  /* Not PATH.h5, which may well be what the program calls its results. */
  if (s->step >= 0)
    text_addf(&s->data, ".%06d.h5", s->step);
  else
    text_add(&s->data, ".data.h5");
  return text_ok(&s->index) && text_ok(&s->data) ? OP_OK : error_memory(err, "a file's name", length);
}

/* ---- the series ---- */

static struct vtk_series *find_series(struct vtk_step *s, struct error *err) {
  struct io *io = io_state(s->ctx);
  for (int i = 0; io && i < io->series.count; i++) {
    struct vtk_series *series = io->series.items[i];
    if (strcmp(text_str(&series->path), text_str(&s->index)) == 0)
      return series;
  }
  struct vtk_series *series = io ? calloc(1, sizeof *series) : NULL;
  if (series) {
    text_add(&series->path, text_str(&s->index));
    series->mesh_step = series->points_step = -1;
    if (text_ok(&series->path) && list_add(&io->series, series))
      return series;
    text_free(&series->path);
    free(series);
  }
  error_memory(err, "a series of steps", sizeof *series);
  return NULL;
}

/* Which maps are the cells, as one number. */
static uint64_t fingerprint(const struct vtk_step *s) {
  uint64_t value = 1469598103934665603u;
  for (int i = 0; i < s->ncells; i++)
    value = (value ^ (uint64_t)(s->cells[i].map->id + 1) ^
             (uint64_t)(s->cells[i].faces ? s->cells[i].faces->id + 1 : 0) << 32) *
            1099511628211u;
  return value;
}

/* Where cells and points are: in a file of this series before, or in this step's. */
static int refer(struct vtk_step *s, const struct vtk_series *series, bool *cells, bool *points,
                 struct error *err) {
  const bool known = series && s->step >= 0;
  *cells =
      !(known && series->mesh_step >= 0 && series->mesh_step < s->step && series->cells == fingerprint(s));
  *points = !(known && series->points_step >= 0 && series->points_step < s->step &&
              series->points == s->coords->id && series->version == s->coords->version);
  const char *own = vtk_base_name(text_str(&s->data));
  text_add(&s->mesh, *cells ? own : text_str(&series->mesh_file));
  text_add(&s->points, *points ? own : text_str(&series->points_file));
  return text_ok(&s->mesh) && text_ok(&s->points) ? OP_OK : error_memory(err, "a file's name", strlen(own));
}

static void remember(struct vtk_series *series, const struct vtk_step *s, bool cells, bool points) {
  if (cells) {
    text_clear(&series->mesh_file);
    text_add(&series->mesh_file, text_str(&s->mesh));
    series->cells = fingerprint(s);
    series->mesh_step = text_ok(&series->mesh_file) ? s->step : -1;
  }
  if (points) {
    text_clear(&series->points_file);
    text_add(&series->points_file, text_str(&s->points));
    series->points = s->coords->id;
    series->version = s->coords->version;
    series->points_step = text_ok(&series->points_file) ? s->step : -1;
  }
}

/* ---- one step ---- */

static int write_data(struct vtk_step *s, bool cells, bool points, struct error *err) {
  struct writing w;
  const struct file_table *table;
  struct comm *comm = s->ctx->comm;
  const char *path = text_str(&s->data);
  int code = io_table(s->ctx, &table, err);
  if (!code)
    code = writing_begin(&w, table, comm, path, NULL, err);
  if (code)
    return code;
  struct layout l = writing_layout(&w, path);
  l.ctx = s->ctx;
  if (cells)
    code = vtk_write_cells(s, &l, err);
  if (!code && points)
    code = vtk_write_points(s, &l, err);
  for (int i = 0; i < s->nfields && !code; i++)
    code = vtk_write_field(s, &l, &s->fields[i], err);
  return writing_end(&w, code, err);
}

static int write_step(struct vtk_step *s, const char *path, int count, struct dat *const dats[],
                      struct error *err) {
  struct comm *comm = s->ctx->comm;
  struct vtk_series *series = NULL;
  bool cells = true, points = true;
  int code = together_agree(comm, vtk_choose(s, count, dats, err), err);
  if (!code)
    code = name_files(s, path, err);
  if (!code && s->step >= 0 && !(series = find_series(s, err)))
    code = err->code;
  if (!code)
    code = refer(s, series, &cells, &points, err);
  if (!code && together_is_root(comm))
    code = vtk_check_index(s, err);
  code = together_agree(comm, code, err);
  if (!code)
    code = write_data(s, cells, points, err);
  if (!code && together_is_root(comm))
    code = vtk_write_index(s, err);
  code = together_agree(comm, code, err);
  if (!code && series)
    remember(series, s, cells, points);
  return code;
}

int vtk_write(struct op_context *ctx, const char *path, int step, const double *time, int count,
              struct dat *const dats[], struct error *err) {
  struct vtk_step s = {.ctx = ctx, .step = step, .time = time};
  int code = write_step(&s, path, count, dats, err);
  vtk_step_free(&s);
  return code;
}
