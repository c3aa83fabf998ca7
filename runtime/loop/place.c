#include "loop/place.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/sha256.h"
#include "jit/kernel/kernel.h"
#include "jit/target.h"
#include "record/record.h"

void tuning_hash(const struct text *t, char out[TUNING_HASH]) {
  struct sha256 sum;
  unsigned char digest[32];
  sha256_begin(&sum);
  sha256_add(&sum, text_str(t), t->length);
  sha256_end(&sum, digest);
  sha256_hex(digest, out);
}

void tuning_sign(const struct desc *desc, struct text *signature) {
  struct text canonical = {0};
  char hash[TUNING_HASH];
  desc_print(desc, &canonical);
  tuning_hash(&canonical, hash);
  text_add(signature, hash);
  signature->failed |= !text_ok(&canonical);
  text_free(&canonical);
}

void tuning_host(struct text *target) {
  struct text features = {0};
  char hash[TUNING_HASH];
  target_host(target, &features);
  tuning_hash(&features, hash);
  text_addf(target, " %.12s", hash);
  text_free(&features);
}

/* ---- the mesh ---- */

static int log2_class(double n) {
  return n > 0 ? (int)lround(log2(n)) : 0;
}

void tuning_size_class(long elements, struct text *out) {
  text_addf(out, "elements=2^%d", log2_class((double)elements));
}

/* The distance in memory between targets of consecutive elements, as a power of two. Only this rank's elements count:
 * a set's size is as declared, and other ranks may have them now. */
static int reach_class(const struct map *map) {
  enum { SAMPLES = 4096 };
  const long size = map->from->extents[EXTENT_OWNED], step = size / SAMPLES + 1;
  double sum = 0;
  long count = 0;
  for (long e = 0; e + 1 < size; e += step, count++)
    if (map_end(map, e) > map_begin(map, e) && map_end(map, e + 1) > map_begin(map, e + 1))
      sum += fabs((double)map->table[map_begin(map, e + 1)] - (double)map->table[map_begin(map, e)]);
  return count ? (int)lround(log2(1 + sum / (double)count)) : 0;
}

/* Marks of a mesh: a choice on a mesh with one says nothing about meshes without, nor the other way round. */
static const struct {
  const char *word;
  size_t of; /* a bool of the loop */
} marks[] = {{" straight", offsetof(struct loop_ready, straight)},
             {" large", offsetof(struct loop_ready, large)},
             {" even", offsetof(struct loop_ready, even)},
             {" long", offsetof(struct loop_ready, long_rows)},
             {" heavy", offsetof(struct loop_ready, heavy)}};
enum { MARKS = sizeof marks / sizeof *marks };

void tuning_fingerprint(const struct loop *loop, struct text *out) {
  tuning_size_class(loop->set->extents[EXTENT_OWNED], out);
  const struct map *seen[OP_MAX_ARGS];
  int nseen = 0;
  for (int i = 0; i < loop->nargs; i++) {
    const struct map *map = loop->args[i].map;
    bool known = !map;
    for (int j = 0; j < nseen; j++)
      known |= seen[j] == map;
    if (known)
      continue;
    seen[nseen++] = map;
    const double from = (double)map->from->extents[EXTENT_OWNED], to = (double)map->to->extents[EXTENT_OWNED];
    const double entries = map->first ? (double)map_end(map, map->from->extents[EXTENT_OWNED] - 1) : 0;
    const double degree = to > 0 ? (map->first ? entries : from * map->arity) / to : 0;
    text_addf(out, " map=%d degree=%.0f reach=2^%d", map->arity, degree, reach_class(map));
  }
  for (int i = 0; i < MARKS; i++)
    if (*(const bool *)((const char *)&loop->ready + marks[i].of))
      text_add(out, marks[i].word);
}

bool tuning_place_ok(const struct tuning_place *place) {
  return text_ok(&place->signature) && text_ok(&place->target) && text_ok(&place->mesh);
}

void tuning_place_free(struct tuning_place *place) {
  text_free(&place->signature);
  text_free(&place->target);
  text_free(&place->mesh);
}

/* ---- how near ---- */

static bool is_comparable(const struct store_tuning *row, const struct tuning_place *place) {
  const char *target = text_str(&place->target), *mesh = text_str(&place->mesh);
  const size_t family = strcspn(target, " ");
  bool same = strcspn(row->target, " ") == family && strncmp(row->target, target, family) == 0;
  for (int i = 0; i < MARKS; i++)
    same &= !strstr(row->mesh, marks[i].word) == !strstr(mesh, marks[i].word);
  return same;
}

bool tuning_is_here(const struct store_tuning *row, const struct tuning_place *place) {
  return strcmp(row->target, text_str(&place->target)) == 0 && strcmp(row->mesh, text_str(&place->mesh)) == 0;
}

const char *tuning_where(bool here) {
  return here ? "this processor and class of mesh" : "another class of mesh or processor of this family";
}

/* Part of the default's time in the same run; without one it is no gain. */
static double part(const struct store_tuning *row) {
  return row->median > 0 && row->baseline > 0 ? row->median / row->baseline : 1;
}

/* By the larger gain over the default, then the newer one, then by name: the same rows give the same choice. */
static bool is_better(const struct store_tuning *row, const struct store_tuning *other) {
  if (part(row) < part(other) || part(row) > part(other))
    return part(row) < part(other);
  return row->made != other->made ? row->made > other->made : strcmp(row->variant, other->variant) < 0;
}

/* Look the variant up without its number of threads, which depends on the size of the mesh. */
static int find_without_threads(const char *variant, tuning_variant *find, const void *of) {
  struct text name = {0};
  static const char threads[] = "/threads";
  const char *word = strstr(variant, threads);
  const size_t before = word ? (size_t)(word - variant) : strlen(variant);
  text_add_bytes(&name, variant, before);
  if (word)
    text_add(&name, word + sizeof threads - 1 + strcspn(word + sizeof threads - 1, "/"));
  const int found = text_ok(&name) ? find(of, text_str(&name)) : -1;
  text_free(&name);
  return found;
}

struct tuning_found tuning_choose(const struct store_tuning *rows, int count,
                                  const struct tuning_place *place, tuning_variant *find, const void *of) {
  struct tuning_found best = {.variant = -1};
  for (int r = 0; r < count; r++) {
    const struct store_tuning *row = &rows[r];
    if (!row->chosen || !is_comparable(row, place))
      continue;
    const bool here = tuning_is_here(row, place);
    const int variant = here ? find(of, row->variant) : find_without_threads(row->variant, find, of);
    const bool better = !best.row || (here == best.here ? is_better(row, best.row) : here);
    if (variant >= 0 && better)
      best = (struct tuning_found){.row = row, .variant = variant, .here = here};
  }
  return best;
}

/* ---- rows ---- */

struct store_tuning tuning_row(const struct tuning_place *place, const char *loop, const char *variant) {
  return (struct store_tuning){.signature = text_str(&place->signature),
                               .loop = loop,
                               .target = text_str(&place->target),
                               .threads = place->threads,
                               .mesh = text_str(&place->mesh),
                               .variant = variant};
}

int tuning_rows(struct store *store, const struct tuning_place *place, struct store_tuning **rows) {
  const struct store_tuning_filter filter = {.signature = text_str(&place->signature),
                                             .threads = place->threads};
  return store_get_tunings(store, &filter, rows);
}
