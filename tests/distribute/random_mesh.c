#include "random_mesh.h"

#include <stdlib.h>

#include "base/list.h"

static void *must(void *memory) {
  if (!memory)
    abort();
  return memory;
}

static void random_first(struct random_mesh *mesh, int s, uint64_t *state) {
  const int ranks = mesh->ranks, kind = random_below(state, 3);
  long long *first = mesh->first[s] = must(array_new((size_t)ranks + 1, sizeof *first));
  for (int e = 0; e < mesh->size[s]; e++)
    first[1 + (kind == 0 ? 0 : kind == 1 ? random_below(state, ranks) : e * ranks / mesh->size[s])]++;
  for (int r = 0; r < ranks; r++)
    first[r + 1] += first[r];
}

/* Neighbouring numbers are often owned together, as in real meshes; or by nobody near; or by few ranks only. */
static void random_owners(struct random_mesh *mesh, int s, uint64_t *state) {
  const int ranks = mesh->ranks, kind = random_below(state, 4), few = 1 + random_below(state, ranks);
  mesh->owner[s] = must(array_new((size_t)mesh->size[s], sizeof(int)));
  for (int e = 0; e < mesh->size[s]; e++)
    mesh->owner[s][e] = kind == 0   ? random_below(state, ranks)
                        : kind == 1 ? random_below(state, few)
                                    : (int)((long)e * ranks / mesh->size[s]);
}

enum { PLAIN_SETS = MOST_SETS - 2, PLAIN_MAPS = MOST_MAPS - 2 };

/* Declared and owned as their elements are. */
static void random_entries(struct random_mesh *mesh, uint64_t *state) {
  const int s = mesh->nsets++, of = mesh->of[s] = random_below(state, s);
  long long *begin = mesh->begin[s] = must(array_new((size_t)mesh->size[of] + 1, sizeof *begin));
  for (int e = 0; e < mesh->size[of]; e++)
    begin[e + 1] = begin[e] + (random_below(state, 30) == 0 ? 40 : random_below(state, 4));
  mesh->size[s] = (int)begin[mesh->size[of]];
  mesh->first[s] = must(array_new((size_t)mesh->ranks + 1, sizeof *mesh->first[s]));
  for (int r = 0; r <= mesh->ranks; r++)
    mesh->first[s][r] = begin[mesh->first[of][r]];
  mesh->owner[s] = must(array_new((size_t)mesh->size[s], sizeof(int)));
  for (int e = 0; e < mesh->size[of]; e++)
    for (long long i = begin[e]; i < begin[e + 1]; i++)
      mesh->owner[s][i] = mesh->owner[of][e];
}

static void new_mesh(struct random_mesh *mesh, int ranks, uint64_t seed, bool ragged) {
  uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  *mesh = (struct random_mesh){.ranks = ranks, .wide = seed % 3 == 0};
  mesh->nsets = 1 + random_below(&state, PLAIN_SETS);
  for (int s = 0; s < mesh->nsets; s++) {
    mesh->size[s] = random_below(&state, 8) == 0 ? 0 : 1 + random_below(&state, 300);
    random_first(mesh, s, &state);
    random_owners(mesh, s, &state);
  }
  const int plain = mesh->nsets, wanted = random_below(&state, PLAIN_MAPS + 1);
  for (int n = ragged ? 1 + random_below(&state, 2) : 0; n > 0; n--)
    random_entries(mesh, &state);
  for (int m = 0; m < wanted + mesh->nsets - plain; m++) {
    struct random_map map = {random_below(&state, mesh->nsets), random_below(&state, mesh->nsets),
                             1 + random_below(&state, 8), NULL};
    if (m >= wanted) {
      map.from = plain + m - wanted;
      map.arity = 1;
    }
    const int rows = mesh->size[map.from], targets = mesh->size[map.to];
    if (rows && !targets)
      continue;
    map.table = must(array_new((size_t)rows * (size_t)map.arity, sizeof(int)));
    const bool near = random_below(&state, 2), some = random_below(&state, 2);
    const int reached = some ? 1 + targets / 2 : targets;
    for (int i = 0; i < rows * map.arity; i++)
      map.table[i] = near ? (i / map.arity * reached / rows + random_below(&state, 4)) % reached
                          : random_below(&state, reached);
    mesh->maps[mesh->nmaps++] = map;
  }
}

void random_mesh_new(struct random_mesh *mesh, int ranks, uint64_t seed) {
  new_mesh(mesh, ranks, seed, false);
}

void random_mesh_new_ragged(struct random_mesh *mesh, int ranks, uint64_t seed) {
  new_mesh(mesh, ranks, seed, true);
}

void random_mesh_free(struct random_mesh *mesh) {
  for (int s = 0; s < mesh->nsets; s++) {
    free(mesh->first[s]);
    free(mesh->owner[s]);
    free(mesh->begin[s]);
  }
  for (int m = 0; m < mesh->nmaps; m++)
    free(mesh->maps[m].table);
}

static void share_begin_of(const struct random_mesh *mesh, int s, struct share *share) {
  const long long *begin = mesh->begin[s];
  struct share_set *set = &share->sets[s];
  const struct share_set *of = &share->sets[mesh->of[s]];
  if (!begin)
    return;
  set->of = mesh->of[s];
  set->begin = must(array_new((size_t)of->owned + 1, sizeof *set->begin));
  for (long e = 0; e < of->owned; e++)
    set->begin[e + 1] = set->begin[e] + begin[of->numbers[e] + 1] - begin[of->numbers[e]];
}

/* The rank that declared each owned element. */
static void share_homes(const struct random_mesh *mesh, int s, struct share_set *set) {
  set->homes.list = must(array_new((size_t)mesh->ranks, sizeof *set->homes.list));
  for (long i = 0, r = 0; i < set->owned; i++) {
    while (set->numbers[i] >= mesh->first[s][r + 1])
      r++;
    if (!set->homes.count || set->homes.list[set->homes.count - 1].rank != (int)r)
      set->homes.list[set->homes.count++] = (struct home){set->numbers[i], (int)r};
  }
}

void random_mesh_share(const struct random_mesh *mesh, int rank, bool declared, struct share *share) {
  *share = (struct share){.nsets = mesh->nsets,
                          .nmaps = mesh->nmaps,
                          .sets = must(array_new((size_t)mesh->nsets, sizeof *share->sets)),
                          .maps = must(array_new((size_t)mesh->nmaps, sizeof *share->maps))};
  for (int s = 0; s < mesh->nsets; s++) {
    struct share_set *set = &share->sets[s];
    const long long *first = mesh->first[s];
    set->total = mesh->size[s];
    set->first = first[rank];
    set->numbers = must(array_new((size_t)mesh->size[s], sizeof *set->numbers));
    for (int e = 0; e < mesh->size[s]; e++)
      if (declared ? e >= first[rank] && e < first[rank + 1] : mesh->owner[s][e] == rank)
        set->numbers[set->owned++] = e;
    if (!declared)
      share_homes(mesh, s, set);
    share_begin_of(mesh, s, share);
  }
  for (int m = 0; m < mesh->nmaps; m++) {
    const struct random_map *from = &mesh->maps[m];
    const struct share_set *set = &share->sets[from->from];
    struct share_map *map = &share->maps[m];
    *map = (struct share_map){.from = from->from, .to = from->to, .arity = from->arity};
    if (mesh->begin[from->from] && from->arity == 1)
      *map = (struct share_map){.from = mesh->of[from->from], .to = from->to, .entries = from->from};
    const int arity = from->arity;
    if (!rows_new(&map->rows, (size_t)set->owned * (size_t)arity, mesh->wide))
      abort();
    for (long e = 0; e < set->owned; e++)
      for (int k = 0; k < arity; k++)
        rows_set(&map->rows, (size_t)(e * arity + k), from->table[set->numbers[e] * arity + k]);
  }
}
