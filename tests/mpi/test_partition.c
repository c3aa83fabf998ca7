/* Random meshes, declared by the ranks in several ways, are distributed and parted again and again: data must come
 * back in the user's order, and local tables must say what the user's say.
 *
 *   test-mpi-partition FOLDER scotch|none [OP2_...=...] */
#include "check.h"

#include "api/api.h"
#include "base/list.h"
#include "mesh/data.h"
#include "mesh/halo.h"
#include "mesh/handles.h"
#include "mesh/mesh.h"
#include "partition.h"
#include "random_mesh.h"
#include "ranks/comm.h"
#include "spread/spread.h"

static int rank, size;
static const char *files; /* what the names of the files begin with: the tests run side by side */
static bool scotch;       /* the plugin was built */

struct program {
  struct random_mesh mesh;
  op_set sets[MOST_SETS];
  op_map maps[MOST_MAPS];
  op_dat numbers[MOST_SETS], reals[MOST_SETS], shorts[MOST_SETS], coords[MOST_SETS], parts[MOST_SETS];
  int nmaps, round; /* values change with the rounds */
};

static long long first_of(const struct program *p, int s) {
  return p->mesh.first[s][rank];
}
static long declared(const struct program *p, int s) {
  return (long)(p->mesh.first[s][rank + 1] - first_of(p, s));
}

/* ---- what dats hold ---- */

static double real_at(const struct program *p, long long g, int c) {
  return (double)g * 3.25 + c * 0.5 + p->round;
}
static short short_at(const struct program *p, long long g, int c) {
  return (short)((g * 7 + c * 13 + p->round) % 30000);
}

struct values {
  long long *numbers;
  double *reals;
  short *shorts;
};

static struct values values_new(const struct program *p, int s, bool filled) {
  const size_t n = (size_t)declared(p, s);
  struct values v = {array_new(n, sizeof *v.numbers), array_new(3 * n, sizeof *v.reals),
                     array_new(2 * n, sizeof *v.shorts)};
  for (size_t e = 0; filled && e < n; e++) {
    const long long g = first_of(p, s) + (long long)e;
    v.numbers[e] = g;
    for (int c = 0; c < 3; c++)
      v.reals[3 * e + (size_t)c] = real_at(p, g, c);
    for (int c = 0; c < 2; c++)
      v.shorts[2 * e + (size_t)c] = short_at(p, g, c);
  }
  return v;
}

static void values_free(struct values *v) {
  free(v->numbers);
  free(v->reals);
  free(v->shorts);
}

static void declare_dats(struct program *p, int s) {
  struct values v = values_new(p, s, true);
  const long n = declared(p, s);
  double *coords = array_new(2 * (size_t)n, sizeof *coords);
  for (long e = 0; e < n; e++) {
    coords[2 * e] = (double)((first_of(p, s) + e) % 17);
    coords[2 * e + 1] = (double)((first_of(p, s) + e) / 17);
  }
  check(p->numbers[s] = op_decl_dat(p->sets[s], 1, "ll", n ? v.numbers : NULL, "numbers"));
  check(p->reals[s] = op_decl_dat(p->sets[s], 3, "double", n ? v.reals : NULL, "reals"));
  check(p->shorts[s] = op_decl_dat_temp(p->sets[s], 2, "short:soa", n ? v.shorts : NULL, "shorts"));
  check(p->coords[s] = op_decl_dat(p->sets[s], 2, "double", n ? coords : NULL, "coords"));
  check(p->parts[s] = op_decl_dat(p->sets[s], 1, "int", NULL, "parts"));
  free(coords);
  values_free(&v);
}

static void declare_map(struct program *p, int m) {
  const struct random_map *map = &p->mesh.maps[m];
  const size_t entries = (size_t)declared(p, map->from) * (size_t)map->arity;
  const int *rows = map->table ? map->table + first_of(p, map->from) * map->arity : NULL;
  long long *wide = array_new(entries, sizeof *wide);
  for (size_t i = 0; i < entries; i++)
    wide[i] = rows[i];
  p->maps[m] =
      m % 2 ? op_decl_map(p->sets[map->from], p->sets[map->to], map->arity, entries ? rows : NULL, "int")
            : op_decl_map_long(p->sets[map->from], p->sets[map->to], map->arity, wide, "long");
  check(p->maps[m]);
  free(wide);
}

/* ---- what must hold ---- */

static void check_fetches(struct program *p, int s) {
  const long n = declared(p, s);
  struct values wanted = values_new(p, s, true), got = values_new(p, s, false);
  check(op_get_size(p->sets[s]) == n && op_get_global_size(p->sets[s]) == p->mesh.size[s]);
  check(!op_fetch_data(p->numbers[s], got.numbers));
  check(!op_fetch_data(p->reals[s], got.reals));
  check(!op_fetch_data(p->shorts[s], got.shorts));
  check(!memcmp(got.numbers, wanted.numbers, (size_t)n * sizeof *got.numbers));
  check(!memcmp(got.reals, wanted.reals, 3 * (size_t)n * sizeof *got.reals));
  check(!memcmp(got.shorts, wanted.shorts, 2 * (size_t)n * sizeof *got.shorts));
  /* Another range on each rank. */
  const int low = n ? (int)((rank + p->round) % n) : 0, high = n ? low + (int)((n - 1 - low) / 2) : -1;
  memset(got.reals, 0, 3 * (size_t)n * sizeof *got.reals);
  if (n || size > 1)
    check(!op_fetch_data_idx(p->reals[s], got.reals, low, high));
  check(!memcmp(got.reals, wanted.reals + 3 * low, 3 * (size_t)(high - low + 1) * sizeof *got.reals));
  values_free(&wanted);
  values_free(&got);
}

static void put_all(struct program *p) {
  p->round++;
  for (int s = 0; s < p->mesh.nsets; s++) {
    struct values v = values_new(p, s, true);
    check(!op_put_data(p->numbers[s], declared(p, s) ? v.numbers : NULL));
    check(!op_put_data(p->reals[s], declared(p, s) ? v.reals : NULL));
    check(!op_put_data(p->shorts[s], declared(p, s) ? v.shorts : NULL));
    values_free(&v);
  }
}

/* Inside: owned rows and local tables in global numbers. */
static void check_inside(const struct program *p) {
  const struct op_context *ctx = api_context();
  for (int s = 0; s < p->mesh.nsets; s++) {
    const struct set *set = ctx->mesh->sets.items[s];
    if (size == 1) {
      check(!set->spread);
      continue;
    }
    check(set->spread && !set->from_user && set->to_user);
    const struct dat *numbers = handle_object(ctx->handles, p->numbers[s], HANDLE_DAT);
    for (long e = 0; e < set->extents[EXTENT_OWNED]; e++)
      check(*(long long *)dat_value(numbers, e, 0) == set->spread->numbers[e]);
    for (long e = 0; e < set->extents[EXTENT_NONEXEC]; e++)
      check(set->to_user[e] == set->spread->numbers[e]);
  }
  for (int m = 0; size > 1 && m < p->nmaps; m++) {
    const struct map *map = ctx->mesh->maps.items[m];
    const struct random_map *wanted = &p->mesh.maps[m];
    check(!map->global.entries && map->halo);
    for (long i = 0; i < map->from->extents[EXTENT_EXEC] * map->arity; i++) {
      const long long source = map->from->spread->numbers[i / map->arity];
      check(map->to->spread->numbers[map->table[i]] ==
            wanted->table[source * wanted->arity + i % wanted->arity]);
    }
  }
}

/* ---- loops: elements of other ranks are read and incremented ---- */

OP_KERNEL_DEF(
    add_up, void add_up(const long long *number, long long *first, long long *last, long long *sum) {
      *first += *number + 1;
      *last += 3 * *number;
      *sum += *number;
    })

OP_KERNEL_DEF(
    look_up, void look_up(const long long *first, const long long *last, const int *index, long long *out) {
      *out = *first * 1000 + *last + 7 * *index;
    })

static void check_rows(const struct program *p, int s, op_dat dat, const long long *wanted) {
  const long n = declared(p, s);
  long long *got = array_new((size_t)n, sizeof *got);
  check(!op_fetch_data(dat, n ? got : NULL));
  check(!memcmp(got, wanted + first_of(p, s), (size_t)n * sizeof *got));
  free(got);
}

static void run_loops(const struct program *p, int m) {
  const struct random_map *map = &p->mesh.maps[m];
  const int rows = p->mesh.size[map->from], last = map->arity - 1;
  long long *sums = array_new((size_t)p->mesh.size[map->to], sizeof *sums), total = 0, wanted = 0;
  long long *seen = array_new((size_t)rows, sizeof *seen);
  for (int e = 0; e < rows; e++) {
    const int *row = map->table + e * map->arity;
    sums[row[0]] += e + 1;
    sums[row[last]] += 3LL * e;
    seen[e] = row[0] * 1000LL + row[last] + 7LL * row[0];
    wanted += e;
  }
  op_dat to = op_decl_dat_temp(p->sets[map->to], 1, "ll", NULL, "sums");
  op_dat from = op_decl_dat_temp(p->sets[map->from], 1, "ll", NULL, "seen");
  check(to && from);
  check(!op_par_loop(OP_KERNEL_OF(add_up), "add_up", p->sets[map->from],
                     op_arg_dat(p->numbers[map->from], -1, OP_ID, 1, "ll", OP_READ),
                     op_arg_dat(to, 0, p->maps[m], 1, "ll", OP_INC),
                     op_arg_dat(to, last, p->maps[m], 1, "ll", OP_INC), op_arg_gbl(&total, 1, "ll", OP_INC)));
  check(total == wanted);
  struct values v = values_new(p, map->to, true);
  check(!op_put_data(p->numbers[map->to], declared(p, map->to) ? v.numbers : NULL));
  values_free(&v);
  const op_counters_t before = *op_counters();
  check(!op_par_loop(OP_KERNEL_OF(look_up), "look_up", p->sets[map->from],
                     op_arg_dat(p->numbers[map->to], 0, p->maps[m], 1, "ll", OP_READ),
                     op_arg_dat(p->numbers[map->to], last, p->maps[m], 1, "ll", OP_READ),
                     op_arg_idx(0, p->maps[m]), op_arg_dat(from, -1, OP_ID, 1, "ll", OP_WRITE)));
  if (size > 1) { /* the numbers are new: what this map reaches travels, once, and nothing else */
    const struct map *inside = handle_object(api_context()->handles, p->maps[m], HANDLE_MAP);
    const struct halo_side *sent = &inside->halo->send;
    check(op_counters()->messages - before.messages == sent->count);
    long long bytes = 0; /* in pieces of 16 */
    for (int i = 0; i < sent->count; i++)
      bytes += (sent->first[i + 1] - sent->first[i] + 1) / 2 * 16;
    check(op_counters()->bytes_sent - before.bytes_sent == bytes);
  }
  check_rows(p, map->to, to, sums);
  check_rows(p, map->from, from, seen);
  check(!op_free_dat_temp(to) && !op_free_dat_temp(from));
  free(sums);
  free(seen);
}

static void check_all(struct program *p) {
  check_inside(p);
  for (int s = 0; s < p->mesh.nsets; s++)
    check_fetches(p, s);
  put_all(p);
  for (int m = 0; m < p->nmaps; m++)
    run_loops(p, m);
  for (int s = 0; s < p->mesh.nsets; s++)
    check_fetches(p, s);
}

static void check_printed(struct program *p, int s) {
  char path[600], line[200], wanted[200];
  snprintf(path, sizeof path, "%s.reals.%d.txt", files, s);
  check(!op_print_dat_to_txtfile(p->reals[s], path));
  if (rank == 0) {
    FILE *file = fopen(path, "r");
    check(file);
    snprintf(wanted, sizeof wanted, "%d 3\n", p->mesh.size[s]);
    check(fgets(line, sizeof line, file) && !strcmp(line, wanted));
    for (int g = 0; g < p->mesh.size[s]; g++) {
      snprintf(wanted, sizeof wanted, "%.17g %.17g %.17g\n", real_at(p, g, 0), real_at(p, g, 1),
               real_at(p, g, 2));
      check(fgets(line, sizeof line, file) && !strcmp(line, wanted));
    }
    check(!fgets(line, sizeof line, file));
    fclose(file);
    remove(path);
  }
  op_barrier();
  snprintf(path, sizeof path, "%s.shorts.%d.bin", files, s);
  check(!op_print_dat_to_binfile(p->shorts[s], path));
  if (rank == 0) {
    int head[2];
    short row[2];
    FILE *file = fopen(path, "rb");
    check(file && fread(head, sizeof head, 1, file) == 1 && head[0] == p->mesh.size[s] && head[1] == 2);
    for (int g = 0; g < head[0]; g++)
      check(fread(row, sizeof row, 1, file) == 1 && row[0] == short_at(p, g, 0) &&
            row[1] == short_at(p, g, 1));
    check(fgetc(file) == EOF);
    fclose(file);
    remove(path);
  }
  op_barrier();
}

/* ---- partitioners ---- */

static void part_externally(struct program *p, int s) {
  const long n = declared(p, s);
  int *parts = array_new((size_t)n, sizeof *parts);
  for (long e = 0; e < n; e++)
    parts[e] = (int)((first_of(p, s) + e) * 5 % 7 % size);
  check(!op_put_data(p->parts[s], n ? parts : NULL));
  check(!op_partition("EXTERNAL", NULL, p->sets[s], NULL, p->parts[s]));
  const struct op_context *ctx = api_context();
  const struct set *set = ctx->mesh->sets.items[s];
  for (long e = 0; size > 1 && e < set->extents[EXTENT_OWNED]; e++)
    check(set->spread->numbers[e] * 5 % 7 % size == rank);
  free(parts);
}

static void part_by_coords(struct program *p, const char *lib, int s) {
  check(!op_partition(lib, "", p->sets[s], NULL, p->coords[s]));
  const struct op_context *ctx = api_context();
  const struct set *set = ctx->mesh->sets.items[s];
  const long even = p->mesh.size[s] / size;
  check(labs(set->extents[EXTENT_OWNED] - even) <= 3);
}

/* The middle of each element's targets, as the program knows them. */
static op_dat declare_middles(const struct program *p, const struct random_map *map) {
  const long n = declared(p, map->from);
  double *middle = array_new(2 * (size_t)n, sizeof *middle);
  for (long e = 0; e < n; e++)
    for (int k = 0; k < map->arity; k++) {
      const int target = map->table[(first_of(p, map->from) + e) * map->arity + k];
      middle[2 * e] += (double)(target % 17) / map->arity;
      middle[2 * e + 1] += (double)(target / 17) / map->arity;
    }
  op_dat dat = op_decl_dat(p->sets[map->from], 2, "double", n ? middle : NULL, "middles");
  check(dat);
  free(middle);
  return dat;
}

static void part_through_a_map(struct program *p) {
  const struct op_context *ctx = api_context();
  for (int m = 0; m < p->nmaps; m++) {
    const struct random_map *map = &p->mesh.maps[m];
    const struct set *set = ctx->mesh->sets.items[map->from];
    if (map->from == map->to)
      continue;
    check(!op_partition("GEOM", "GEOM", p->sets[map->from], p->maps[m], p->coords[map->to]));
    const long owned = set->extents[EXTENT_OWNED];
    long long *numbers = array_new((size_t)owned, sizeof *numbers);
    for (long e = 0; set->spread && e < owned; e++)
      numbers[e] = set->spread->numbers[e];
    check(!op_partition("rcb", "", p->sets[map->from], NULL, declare_middles(p, map)));
    check(set->extents[EXTENT_OWNED] == owned);
    check(!set->spread || !memcmp(numbers, set->spread->numbers, (size_t)owned * sizeof *numbers));
    free(numbers);
    return;
  }
}

static void part_by_graph(struct program *p) {
  const char *mpi = api_context()->comm->table->name;
  for (int m = 0; m < p->nmaps && m < 2; m++) {
    const struct random_map *map = &p->mesh.maps[m];
    const int prime = m % 2 ? map->from : map->to;
    const int code = op_partition("PTSCOTCH", "KWAY", p->sets[prime], p->maps[m], NULL);
    if (size == 1 || (scotch && strcmp(mpi, "openmpi") == 0))
      check(!code);
    else
      check(code == OP_ERR_NOT_BUILT && strstr(op_last_error()->message, "PT-Scotch"));
    if (code)
      return;
    check_all(p);
  }
}

/* From wherever elements are. */
static void part_by_flow(struct program *p, uint64_t seed) {
  if (!p->nmaps)
    return;
  const int m = (int)(seed / 2 % (uint64_t)p->nmaps);
  const int prime = seed % 2 ? p->mesh.maps[m].from : p->mesh.maps[m].to;
  check(!op_partition("diffusive", "", p->sets[prime], p->maps[m], NULL));
}

/* Neighbours come together, and nobody changes owner. */
static void renumber(struct program *p, uint64_t seed) {
  const struct op_context *ctx = api_context();
  long before[MOST_SETS];
  for (int s = 0; s < p->mesh.nsets; s++)
    before[s] = ((struct set *)ctx->mesh->sets.items[s])->extents[EXTENT_OWNED];
  if (!p->nmaps)
    return;
  const int m = (int)seed % p->nmaps, to = p->mesh.maps[m].to;
  check(!(seed % 2 ? op_renumber(p->maps[m]) : op_renumber_by("hilbert", p->maps[m], p->coords[to])));
  for (int s = 0; s < p->mesh.nsets; s++)
    check(((struct set *)ctx->mesh->sets.items[s])->extents[EXTENT_OWNED] == before[s]);
}

static void run_program(uint64_t seed) {
  struct program p = {0};
  random_mesh_new(&p.mesh, size, seed);
  const int later = p.mesh.nmaps / 2, prime = (int)seed % p.mesh.nsets;
  for (int s = 0; s < p.mesh.nsets; s++) {
    check(p.sets[s] = op_decl_set((int)declared(&p, s), "set"));
    declare_dats(&p, s);
  }
  for (; p.nmaps < later; p.nmaps++)
    declare_map(&p, p.nmaps);
  for (int s = 0; s < p.mesh.nsets; s++)
    check_fetches(&p, s);
  if (seed % 3) {
    struct error err = {0};
    check(!mesh_distribute(api_context(), &err));
    check_all(&p);
  }
  check(!op_partition(seed % 2 ? "block" : "RANDOM", "ANY", p.sets[prime], NULL, NULL));
  check_all(&p);
  for (; p.nmaps < p.mesh.nmaps; p.nmaps++)
    declare_map(&p, p.nmaps);
  part_by_coords(&p, "rcb", prime);
  check_all(&p);
  part_externally(&p, prime);
  check_all(&p);
  check(!op_free_dat_temp(p.shorts[prime]));
  struct values v = values_new(&p, prime, true);
  check(p.shorts[prime] = op_decl_dat_temp(p.sets[prime], 2, "short:soa",
                                           declared(&p, prime) ? v.shorts : NULL, "shorts again"));
  values_free(&v);
  part_by_coords(&p, "INERTIAL", prime);
  check_all(&p);
  part_through_a_map(&p);
  check_all(&p);
  renumber(&p, seed);
  check_all(&p);
  part_externally(&p, prime);
  part_by_flow(&p, seed);
  check_all(&p);
  part_by_graph(&p);
  check_printed(&p, prime);
  random_mesh_free(&p.mesh);
}

/* ---- the report ---- */

static void test_report(void) {
  /* A ring of 12 cells for each rank: each rank misses the first cell of the next. */
  const int n = 12, all = n * size;
  op_set cells = op_decl_set(n, "ring_cells"), faces = op_decl_set(n, "ring_faces");
  int table[24];
  for (int i = 0; i < n; i++) {
    table[2 * i] = rank * n + i;
    table[2 * i + 1] = (rank * n + i + 1) % all;
  }
  check(op_decl_map(faces, cells, 2, table, "ring"));
  struct error err = {0};
  struct text out = {0};
  check(!mesh_distribute(api_context(), &err));
  if (size > 1) {
    check(!spread_describe(api_context(), &out, &err));
    char words[200];
    /* owned, core, executed too, only read, neighbours */
    snprintf(words, sizeof words, "%-20s %8s %12d %12d %12d %12d %12d\n", "ring_faces", "rank 1", n, n - 1, 1,
             0, 1);
    check(strstr(text_str(&out), words));
    snprintf(words, sizeof words, "%-20s %8s %12d %12d %12d %12d %12d %9.3f\n", "ring_cells", "most", n, n, 0,
             2, size > 2 ? 2 : 1, 1.0);
    check(strstr(text_str(&out), words));
    snprintf(words, sizeof words, "%-20s %12d %12d %11.2f%%\n", "ring", all, size, 100.0 * size / all);
    check(strstr(text_str(&out), words));
  }
  text_free(&out);
}

int main(int argc, char **argv) {
  files = argv[1];
  scotch = strcmp(argv[2], "scotch") == 0;
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  /* Ranks that share a processor wait for each other long. */
  for (uint64_t seed = 1; seed <= (size > 4 ? 3 : 10); seed++) {
    check(!op_init(argc, argv, 0));
    rank = op_rank();
    size = api_context()->comm->size;
    run_program(seed);
    check(!op_exit());
  }
  check(!op_init(argc, argv, 0));
  test_report();
  test_weights(scotch);
  test_errors();
  check(!op_exit());
  test_equal_weights(argc, argv);
  if (rank == 0)
    puts("partition: good");
  return 0;
}
