#include "mesh/view.h"

#include <stdlib.h>

#include "context/context.h"
#include "jit/emit/strip_lanes.h"
#include "mesh/data.h"
#include "mesh/mesh.h"
#include "ranks/comm.h"

/* Values that strips may read behind the array: of one row, or of rows of an element that has several entries. */
static int values_behind(const struct dat *dat) {
  const int most = dat->set->entries_of ? LANES_LONGEST_ROW / dat->dim : 1;
  int behind = 0;
  for (int rows = 1; rows <= most; rows++)
    if (lanes_read_behind(dat->type, rows * dat->dim) > behind)
      behind = lanes_read_behind(dat->type, rows * dat->dim);
  return behind;
}

/* Behind an array values can be read, though not known, as far as its page goes. */
bool view_is_read_past(const struct dat *dat, const void *array, size_t rows) {
  enum { PAGE = 4096 };
  const size_t more = (size_t)values_behind(dat) * dat->value_size;
  const uintptr_t last = (uintptr_t)array + rows * dat->row_bytes - 1;
  return last / PAGE != (last + more) / PAGE;
}

/* NULL: it can. */
static const char *why_not_in_place(const struct op_context *ctx, const struct dat *dat, const void *array) {
  if (dat->set->spread || (ctx->comm && !comm_alone(ctx->comm)))
    return "its elements are spread over ranks";
  if (dat->set->size == 0)
    return "its set is empty";
  if (dat->set->from_user)
    return "its elements are renumbered";
  if (dat->soa)
    return "its components lie apart";
  if ((uintptr_t)array % dat->value_size != 0)
    return "its array is not aligned";
  if (view_is_read_past(dat, array, (size_t)dat->set->size))
    return "its rows are read in vectors, which reach behind the last one, and its page of memory ends there";
  return NULL;
}

bool view_make(struct op_context *ctx, struct dat *dat, void *array) {
  struct view *view = calloc(1, sizeof *view);
  if (!view)
    return false;
  *view = (struct view){.array = array, .why = why_not_in_place(ctx, dat, array), .version = dat->version};
  view->in_place = !view->why;
  dat->view = view;
  return true;
}

int view_check_overlap(const struct mesh *mesh, const char *name, const void *array, size_t bytes,
                       struct error *err) {
  const uintptr_t begin = (uintptr_t)array, end = begin + bytes;
  for (int i = 0; i < mesh->dats.count; i++) {
    const struct dat *other = mesh->dats.items[i];
    if (!other->view)
      continue;
    const uintptr_t first = (uintptr_t)other->view->array;
    const uintptr_t last = first + (size_t)other->set->size * other->row_bytes;
    if (begin < last && first < end)
      return error_set(
          err, OP_ERR_ALIAS,
          "dat \"%s\": its array has %zu bytes in common with the array of dat \"%s\", which is a "
          "view as well; give each view an array of its own",
          name, (size_t)((end < last ? end : last) - (begin > first ? begin : first)), other->name);
  }
  return OP_OK;
}

bool view_leave(struct dat *dat, const char *why) {
  struct view *view = dat->view;
  if (!view)
    return false;
  const bool was_in_place = view->in_place;
  if (was_in_place || view->version == dat->version)
    view->version = dat->version + 1; /* the same values, which dat_wrote is about to count as new */
  view->in_place = false;
  if (was_in_place)
    view->why = why;
  return was_in_place;
}
