/* Dats that one loop increments several times, through maps and directly at once: invented loops in all variants
 * and both layouts, with the stand-in looking for races, against sums made here. */
#include "../property/random.h"
#include "backend.h"

enum { EDGES = 200, CELLS = 70, DATS = 3, MOST_ARGS = 3 * DATS, MOST_DIM = 4, ARITY = 2 };

static int cases;

static const char *const types[] = {"double", "float", "int", "short", "char", "long long"};

enum reach { DIRECT, COLUMN, VECTOR, REACHES };

struct target {
  const char *type;
  bool soa, on_edges;
  int dim;
  double sums[EDGES * MOST_DIM];
};

struct increment {
  enum reach reach;
  int target, column, factor;
};

struct invented {
  int w[EDGES], to_cells[EDGES * ARITY], to_edges[EDGES * ARITY];
  struct target targets[DATS];
  struct increment increments[MOST_ARGS];
  int count;
};

/* ---- loops ---- */
static enum reach any_reach(struct random *r, const struct target *t) {
  return (enum reach)(t->on_edges ? random_below(r, REACHES) : random_between(r, COLUMN, VECTOR));
}

static void invent(struct invented *v, uint64_t seed) {
  struct random r = random_stream(seed, 0);
  memset(v, 0, sizeof *v);
  for (int e = 0; e < EDGES; e++) {
    v->w[e] = random_between(&r, -3, 3);
    for (int c = 0; c < ARITY; c++) {
      v->to_cells[ARITY * e + c] = random_below(&r, CELLS);
      v->to_edges[ARITY * e + c] = random_below(&r, EDGES);
    }
  }
  for (int d = 0; d < DATS; d++) {
    struct target *t = &v->targets[d];
    *t = (struct target){.type = types[random_below(&r, (int)(sizeof types / sizeof *types))],
                         .soa = random_chance(&r, 50),
                         .on_edges = d > 0,
                         .dim = random_between(&r, 1, MOST_DIM)};
    /* The last one always directly and through a map. */
    const bool last = d == DATS - 1;
    for (int n = random_between(&r, 2, 3); n > 0; n--)
      v->increments[v->count++] =
          (struct increment){.reach = last && n < 3 ? (enum reach)(n - 1) : any_reach(&r, t),
                             .target = d,
                             .column = random_below(&r, ARITY),
                             .factor = random_between(&r, 1, 3)};
  }
}

static void print_kernel(const struct invented *v, struct text *out) {
  text_add(out, "void add(const int *w");
  for (int i = 0; i < v->count; i++)
    text_addf(out, ", %s *a%d%s", v->targets[v->increments[i].target].type, i,
              v->increments[i].reach == VECTOR ? "[2]" : "");
  text_add(out, ") {\n");
  for (int i = 0; i < v->count; i++) {
    const struct increment *n = &v->increments[i];
    const struct target *t = &v->targets[n->target];
    for (int k = 0; k < (n->reach == VECTOR ? ARITY : 1); k++)
      for (int c = 0; c < t->dim; c++)
        text_addf(out, "  a%d%s[%d] += (%s)(%d * *w + %d);\n", i,
                  n->reach != VECTOR ? ""
                  : k                ? "[1]"
                                     : "[0]",
                  c, t->type, n->factor, c + k);
  }
  text_add(out, "}\n");
}

static void expect(struct invented *v) {
  for (int i = 0; i < v->count; i++) {
    const struct increment *n = &v->increments[i];
    struct target *t = &v->targets[n->target];
    const int *map = t->on_edges ? v->to_edges : v->to_cells;
    for (int e = 0; e < EDGES; e++)
      for (int k = 0; k < (n->reach == VECTOR ? ARITY : 1); k++) {
        const int column = n->reach == VECTOR ? k : n->column;
        const int to = n->reach == DIRECT ? e : map[ARITY * e + column];
        for (int c = 0; c < t->dim; c++)
          t->sums[to * t->dim + c] += n->factor * v->w[e] + c + k;
      }
  }
}

/* ---- runs ---- */
/* Value `at` of an array, as the C type wraps it. */
static double value_of(const char *type, const void *values, int at) {
  if (strcmp(type, "double") == 0)
    return ((const double *)values)[at];
  if (strcmp(type, "float") == 0)
    return (double)((const float *)values)[at];
  if (strcmp(type, "int") == 0)
    return ((const int *)values)[at];
  if (strcmp(type, "short") == 0)
    return ((const short *)values)[at];
  return strcmp(type, "char") == 0 ? ((const char *)values)[at] : (double)((const long long *)values)[at];
}

static double wrapped(const char *type, double sum) {
  return strcmp(type, "char") == 0 ? (char)(int)sum : sum;
}

static op_arg argument(const struct invented *v, const struct increment *n, op_dat dat, op_map map) {
  const struct target *t = &v->targets[n->target];
  if (n->reach == DIRECT)
    return op_arg_dat(dat, -1, OP_ID, t->dim, t->type, OP_INC);
  return op_arg_dat(dat, n->reach == VECTOR ? -ARITY : n->column, map, t->dim, t->type, OP_INC);
}

static void look(const struct invented *v, op_dat *dats, const char *how, const char *kernel) {
  for (int d = 0; d < DATS; d++) {
    const struct target *t = &v->targets[d];
    long long got[EDGES * MOST_DIM] = {0};
    works(op_fetch_data(dats[d], (void *)got));
    for (int i = 0; i < (t->on_edges ? EDGES : CELLS) * t->dim; i++)
      if (value_of(t->type, got, i) != wrapped(t->type, t->sums[i]))
        fail_msg("%s: dat %d (%s, %s): value %d is %g, expected %g\n%s", how, d, t->type,
                 t->soa ? "soa" : "aos", i, value_of(t->type, got, i), wrapped(t->type, t->sums[i]), kernel);
  }
}

static void run_one(struct invented *v, const char *kernel, const char *backend, const char *variant) {
  char named[40], forced[80], how[120];
  snprintf(named, sizeof named, "OP2_BACKEND=%s", backend);
  snprintf(forced, sizeof forced, "OP2_VARIANT=%s", variant);
  snprintf(how, sizeof how, "%s %s", backend, variant);
  char *argv[] = {"test", named, forced, "OP2_CACHE=off", "OP2_TUNE=off"};
  works(op_init(5, argv, 0));
  op_set edges = op_decl_set(EDGES, "edges"), cells = op_decl_set(CELLS, "cells");
  op_map to_cells = op_decl_map(edges, cells, ARITY, v->to_cells, "to_cells"),
         to_edges = op_decl_map(edges, edges, ARITY, v->to_edges, "to_edges");
  op_dat w = op_decl_dat(edges, 1, "int", v->w, "w"), dats[DATS];
  for (int d = 0; d < DATS; d++) {
    char type[40], name[8];
    const struct target *t = &v->targets[d];
    snprintf(type, sizeof type, "%s%s", t->type, t->soa ? ":soa" : "");
    snprintf(name, sizeof name, "d%d", d);
    dats[d] = op_decl_dat(t->on_edges ? edges : cells, t->dim, type, NULL, name);
  }
  op_arg args[1 + MOST_ARGS] = {op_arg_dat(w, -1, OP_ID, 1, "int", OP_READ)};
  for (int i = 0; i < v->count; i++) {
    const int d = v->increments[i].target;
    args[1 + i] = argument(v, &v->increments[i], dats[d], v->targets[d].on_edges ? to_edges : to_cells);
  }
  if (op_par_loop_array(kernel, "add", edges, 1 + v->count, args, __FILE__, __LINE__))
    fail_msg("%s: %s\n%s", how, op_last_error()->message, kernel);
  look(v, dats, how, kernel);
  works(op_exit());
}

TEST(all_variants_agree) {
  static const char *const variants[] = {"",
                                         "atomics/64/soa",
                                         "atomics/32/vectors/aos",
                                         "atomics/64/scalars/each3",
                                         "staged/64/aos",
                                         "staged/32/sorted/vectors/soa",
                                         "blocks/64/soa",
                                         "blocks/32/sorted/aos",
                                         "colours/32/vectors",
                                         "colours/64/soa",
                                         "apart/64/vectors/aos",
                                         "apart/32/soa",
                                         "warps/64/aos",
                                         "warps/32/vectors/soa",
                                         "warps/128/joined/aos",
                                         "warps/64/scalars/joined/soa",
                                         "ordered/64/aos",
                                         "ordered/32/scalars/soa"};
  for (uint64_t seed = 0; seed < (uint64_t)cases; seed++) {
    static struct invented v;
    struct text kernel = {0};
    invent(&v, seed);
    expect(&v);
    print_kernel(&v, &kernel);
    run_one(&v, text_str(&kernel), "seq", "");
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
      run_one(&v, text_str(&kernel), "cuda", variants[i]);
    text_free(&kernel);
  }
}

/* ---- bits ---- */
enum { SIDE = 40, PLACES = SIDE * SIDE, LINKS = 2 * PLACES, MOST_ROW = 5 };

/* A grid that goes round, whose links are shuffled or in the order of the places; what each adds to both of its ends, and one
 * of them to itself, has no exact sum. */
static void add_links(const char *backend, const char *variant, const char *type, int dim, bool shuffled,
                      void *out) {
  static int ends[2 * LINKS];
  char kernel[300], named[40], forced[60], fp[] = "OP2_FP=strict";
  struct random r = random_stream(7, 0);
  for (int e = 0; e < LINKS; e++) {
    const int at = shuffled ? random_below(&r, PLACES) : e / 2;
    ends[2 * e] = at;
    ends[2 * e + 1] = e % 2 ? (at + SIDE) % PLACES : (at + 1) % PLACES;
  }
  snprintf(
      kernel, sizeof kernel,
      "void add(const int *i, %s *a, %s *b, %s *own) {\n"
      "  for (int k = 0; k < %d; k++) { a[k] += 1 / (%s)(*i * 7 + k + 3); b[k] -= 3 / (%s)(*i + k + 1); }\n"
      "  *own += 1 / (%s)(*i + 3);\n}\n",
      type, type, type, dim, type, type, type);
  snprintf(named, sizeof named, "OP2_BACKEND=%s", backend);
  snprintf(forced, sizeof forced, "OP2_VARIANT=%s", variant);
  char *argv[] = {"test", named, "OP2_CACHE=off", "OP2_TUNE=off", fp, forced};
  works(op_init(variant[0] ? 6 : 5, argv, 0));
  op_set links = op_decl_set(LINKS, "links"), places = op_decl_set(PLACES, "places");
  op_map map = op_decl_map(links, places, 2, ends, "ends");
  op_dat sums = op_decl_dat(places, dim, type, NULL, "sums"), own = op_decl_dat(places, 1, type, NULL, "own");
  for (int again = 0; again < 2; again++)
    works(op_par_loop(kernel, "add", links, op_arg_idx(-1, OP_ID),
                      op_arg_dat(sums, 0, map, dim, type, OP_INC),
                      op_arg_dat(sums, 1, map, dim, type, OP_INC), op_arg_dat(own, 1, map, 1, type, OP_INC)));
  works(op_fetch_data(sums, out));
  works(op_fetch_data(own, (char *)out + sizeof(double) * PLACES * MOST_ROW));
  works(op_exit());
}

/* OP2_FP=strict promises them, whichever of its forms a loop takes. */
TEST(strict_sums_have_the_bits_of_seq) {
  static const struct {
    const char *type;
    int dim;
    bool shuffled;
  } cases_of[] = {{"double", 4, false}, {"double", 3, true}, {"float", 4, true}, {"float", 5, false}};
  static const char *const variants[] = {"", "ordered/128/soa", "ordered/32/scalars", "apart/64"};
  static double wanted[PLACES * (MOST_ROW + 1)], got[PLACES * (MOST_ROW + 1)];
  for (size_t i = 0; i < sizeof cases_of / sizeof *cases_of; i++) {
    add_links("seq", "", cases_of[i].type, cases_of[i].dim, cases_of[i].shuffled, wanted);
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
      add_links("cuda", variants[v], cases_of[i].type, cases_of[i].dim, cases_of[i].shuffled, got);
      if (memcmp(wanted, got, sizeof got) != 0)
        fail_msg("%d values of %s, %s: other bits than seq", cases_of[i].dim, cases_of[i].type,
                 variants[v][0] ? variants[v] : "the first guess");
    }
  }
}

int main(int argc, char **argv) {
  cases = argc > 1 ? atoi(argv[1]) : 2;
  begin_tests();
  return run_these(NULL, NULL);
}
