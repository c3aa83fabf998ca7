#include "mesh/view.h"

#include <stdlib.h>

#include "context/context.h"
#include "mesh/data.h"
#include "mesh/mesh.h"
#include "ranks/comm.h"

/* Rows are loaded in vectors of 8, 4, 2 values and 1; the last of a row may have up to three that are not the row's
 * (jit/generate/lanes.c). Rows of the library's own have slack for them behind the last one. Behind an array they can
 * be read, though not known, as far as its page goes. */
static bool is_read_past(const struct dat *dat, const void *array) {
  enum { LONGEST = 8, PAGE = 4096 };
  const int rest = dat->dim % LONGEST;
  int vector = 1;
  while (vector < rest)
    vector *= 2;
  if (dat->value_size < 4 || type_is_struct(dat->type) || vector <= rest)
    return false;
  const uintptr_t behind = (uintptr_t)array + (size_t)dat->set->size * dat->row_bytes,
                  last = behind + (size_t)(vector - rest) * dat->value_size - 1;
  return (behind - 1) / PAGE != last / PAGE;
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
  if (is_read_past(dat, array))
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
