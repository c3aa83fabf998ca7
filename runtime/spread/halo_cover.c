#include "spread/halo_cover.h"

#include <stdlib.h>

#include "base/size.h"
#include "context/context.h"
#include "mesh/halo.h"
#include "mesh/mesh.h"
#include "ranks/agree.h"
#include "ranks/comm.h"

static const struct halo_side *reached(const struct map *map) {
  return &map->halo->receive;
}

/* True if each element that `map` reaches bears the mark. */
static bool all_marked(const struct map *map, const bool *marks) {
  const struct halo_side *side = reached(map);
  for (long i = 0; i < side->first[side->count]; i++)
    if (!marks[side->elements[i]])
      return false;
  return true;
}

/* For each map of the mesh whether `map` covers it on this rank. */
static int find_covered(struct op_context *ctx, const struct map *map, long long *covered,
                        struct error *err) {
  const struct list *maps = &ctx->mesh->maps;
  const size_t elements = (size_t)map->to->extents[EXTENT_NONEXEC];
  const struct halo_side *side = reached(map);
  bool *marks = array_new(elements, sizeof *marks);
  if (!marks)
    return error_memory(err, "what halos have in common", elements);
  for (long i = 0; i < side->first[side->count]; i++)
    marks[side->elements[i]] = true;
  for (int m = 0; m < maps->count; m++) {
    const struct map *other = maps->items[m];
    covered[m] = other != map && other->to == map->to && other->halo && all_marked(other, marks);
  }
  free(marks);
  return OP_OK;
}

static void cover_free(struct halo_cover *cover) {
  free(cover->others);
  free(cover);
}

static int make_cover(struct op_context *ctx, const struct map *map, struct halo_cover **out,
                      struct error *err) {
  const struct list *maps = &ctx->mesh->maps;
  long long *covered = array_new((size_t)maps->count, sizeof *covered);
  struct halo_cover *cover = array_new(1, sizeof *cover);
  int code = OP_OK;
  if (cover)
    cover->others = array_new((size_t)maps->count, sizeof *cover->others);
  if (!covered || !cover || !cover->others)
    code = error_memory(err, "what halos have in common", (size_t)maps->count * sizeof *covered);
  if (!code)
    code = find_covered(ctx, map, covered, err);
  code = agree_on_success(ctx->comm, code, err);
  if (!code)
    code = ctx->comm->table->reduce_all(ctx->comm, covered, maps->count, COMM_LLONG, COMM_MIN, err);
  for (int m = 0; !code && m < maps->count; m++)
    if (covered[m])
      cover->others[cover->count++] = maps->items[m];
  free(covered);
  if (code) {
    if (cover)
      cover_free(cover);
    return code;
  }
  cover->map = map;
  *out = cover;
  return OP_OK;
}

int halo_cover_get(struct op_context *ctx, struct halo_cover **covers, const struct map *map,
                   const struct halo_cover **out, struct error *err) {
  struct halo_cover *cover = *covers;
  while (cover && cover->map != map)
    cover = cover->next;
  if (!cover) {
    const int code = make_cover(ctx, map, &cover, err);
    if (code)
      return code;
    cover->next = *covers;
    *covers = cover;
  }
  *out = cover;
  return OP_OK;
}

void halo_covers_free(struct halo_cover *covers) {
  for (struct halo_cover *next; covers; covers = next) {
    next = covers->next;
    cover_free(covers);
  }
}
