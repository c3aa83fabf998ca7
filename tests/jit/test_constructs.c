/* Every construct of the kernel language through the compiler, in every shape, layout and numbering, against calling
 * the kernel's C function one element after the other. */
#include "../unit.h"
#include <stdio.h>
#include <string.h>

#include "../kernels/fill.h"
#include "../kernels/kernels.h"
#include "backend/native_call.h"
#include "build.h"
#include "jit/jit.h"
#include "jit/kernel/kernel.h"
#include "jit/prove.h"
#include "plan/strategy.h"

enum { ELEMENTS = 211, TARGETS = 67, ARITY = 3, LARGEST = 32, PIECES = 3, SLACK = 16 };

/* Whatever may not change the answers. */
struct way {
  const char *name, *shape;
  bool soa, renumbered, wide;
};

struct storage {
  unsigned char *rows;    /* in rows, the reference's form */
  unsigned char *library; /* in the library's layout */
  size_t bytes;
};

struct trial {
  const struct kernel_case *c;
  const struct way *way;
  struct desc d;
  struct storage dats[8];
  unsigned char globals[8][LARGEST * 8], starts[8][LARGEST * 8];
  unsigned char reference[8][LARGEST * 8];
  int map[ELEMENTS * ARITY], list[ELEMENTS], numbers[2][ELEMENTS];
  struct plan_entry straight;
  void *frame[64];
};

static unsigned seed;

/* ---- setting up --------------------------------------------------------------------------------*/

static int set_size(int set) {
  return set == 0 ? ELEMENTS : TARGETS;
}

/* The columns that the loop uses, in the order of generated code. */
static void find_straight(struct trial *t) {
  struct error err = {0};
  struct plan_column columns[ARITY];
  struct plan_request request = {.size = ELEMENTS, .columns = columns};
  for (int c = 0; c < ARITY; c++)
    if (desc_uses_column(&t->d, 0, c))
      columns[request.ncolumns++] = (struct plan_column){
          .table = t->map, .arity = ARITY, .column = c, .target = 1, .target_size = TARGETS};
  if (request.ncolumns)
    assert_int_equal(
        strategy_straight.build(&t->straight, &(struct plan_wish){.request = request}, NULL, &err), OP_OK);
}

/* Both numberings hold each number once; the mesh itself is in the library's. */
static void make_mesh(struct trial *t) {
  for (int e = 0; e < ELEMENTS; e++) {
    for (int c = 0; c < ARITY; c++)
      t->map[e * ARITY + c] =
          strstr(t->way->shape, "straight") ? (e + c * 17) % TARGETS : (e * 5 + c * 17 + e / 7) % TARGETS;
    t->list[e] = (e * 100) % ELEMENTS;
    t->numbers[0][e] = (e * 37 + 11) % ELEMENTS;
    t->numbers[1][e] = (e * 29 + 3) % TARGETS;
  }
}

static bool is_dat(const struct kernel_arg *a) {
  return a->how <= VECTOR;
}

static void add_dat(struct trial *t, int arg) {
  const struct kernel_arg *a = &t->c->args[arg];
  int set = a->how == DIRECT ? 0 : 1, dat;
  if (a->shared)
    dat = t->d.args[a->shared - 1].dat;
  else {
    dat = build_dat(&t->d, a->type, a->dim, set, t->way->soa);
    t->d.dats[dat].wide = t->way->wide;
    struct storage *s = &t->dats[dat];
    size_t size = type_info(a->type)->size;
    s->bytes = (size_t)(set_size(set) * a->dim) * size;
    s->rows = malloc(s->bytes);
    const size_t room = s->bytes + SLACK * (size_t)a->dim * size;
    s->library = aligned_alloc(64, (room + 63) / 64 * 64); /* as the library's own memory is */
    kernel_fill(&seed, a->type, s->rows, set_size(set) * a->dim);
  }
  int idx = a->how == DIRECT ? -1 : a->how == VECTOR ? -ARITY : (int)a->how - (int)VIA_0;
  build_arg(&t->d, dat, a->how == DIRECT ? -1 : 0, idx, a->access);
}

static void add_arg(struct trial *t, int arg) {
  const struct kernel_arg *a = &t->c->args[arg];
  if (is_dat(a))
    add_dat(t, arg);
  else if (a->how == NUMBER || a->how == NUMBER_VIA)
    build_idx(&t->d, a->how == NUMBER ? -1 : 0, a->how == NUMBER ? -1 : 1);
  else if (a->how == PAYLOAD)
    build_info(&t->d, a->type, a->dim, arg - 1);
  else {
    build_gbl(&t->d, a->type, a->dim, a->access);
    kernel_fill(&seed, a->type, t->starts[arg], a->dim);
  }
}

/* Rows to the library's layout, or back. */
static void convert(const struct trial *t, int dat, bool back) {
  const struct desc_dat *d = &t->d.dats[dat];
  size_t size = type_info(d->type)->size;
  int n = set_size(d->set);
  for (int e = 0; e < n; e++)
    for (int c = 0; c < d->dim; c++) {
      unsigned char *row = t->dats[dat].rows + (size_t)(e * d->dim + c) * size;
      unsigned char *mine = t->dats[dat].library + (size_t)(d->soa ? c * n + e : e * d->dim + c) * size;
      memcpy(back ? row : mine, back ? mine : row, size);
    }
}

static void setup(struct trial *t, const struct kernel_case *c, const struct way *way) {
  memset(t, 0, sizeof *t);
  seed = 77;
  t->c = c;
  t->way = way;
  make_mesh(t);
  t->d = build_loop(c->name, "");
  struct kernel k;
  struct error err = {0};
  if (kernel_parse(&k, c->text, strlen(c->text), c->name, &err) != OP_OK)
    fail_msg("%s: %s", c->construct, error_message(&err));
  free(t->d.text);
  t->d.text = strdup(k.text);
  build_map(&t->d, ARITY, 1);
  for (int i = 0; i < c->nargs; i++)
    add_arg(t, i);
  t->d.renumbered[0] = t->d.renumbered[1] = way->renumbered;
  if (kernel_check(&k, &t->d, &err) != OP_OK)
    fail_msg("%s: %s", c->construct, error_message(&err));
  kernel_free(&k);
  find_straight(t);
  for (int i = 0; i < t->d.ndats; i++)
    convert(t, i, false);
}

static void teardown(struct trial *t) {
  for (int i = 0; i < t->d.ndats; i++) {
    free(t->dats[i].rows);
    free(t->dats[i].library);
  }
  plan_entry_clear(&t->straight);
  desc_free(&t->d);
}

/* ---- the reference -------------------------------------------------------------------------------*/

/* Element e in the order of the user's numbers, so that ties go to the lowest. */
static int element_of(const struct trial *t, int number) {
  if (!t->way->renumbered)
    return number;
  for (int e = 0; e < ELEMENTS; e++)
    if (t->numbers[0][e] == number)
      return e;
  fail();
  return 0;
}

static unsigned char *row_of(const struct trial *t, int arg, int element) {
  const struct desc_arg *a = &t->d.args[arg];
  return t->dats[a->dat].rows + (size_t)(element * a->dim) * type_info(a->type)->size;
}

/* The kernel's values for INC: zeros, added afterwards; so that `n += x` in one order is the same here and there. */
static void call_reference(struct trial *t, int e) {
  void *pointers[8];
  void *vectors[8][ARITY];
  int numbers[8];
  unsigned char scratch[8][LARGEST * 8];
  for (int i = 0; i < t->c->nargs; i++) {
    const struct kernel_arg *a = &t->c->args[i];
    int target = t->map[e * ARITY + 1];
    if (a->how == DIRECT)
      pointers[i] = row_of(t, i, e);
    else if (a->how == VECTOR) {
      for (int c = 0; c < ARITY; c++)
        vectors[i][c] = row_of(t, i, t->map[e * ARITY + c]);
      pointers[i] = vectors[i];
    } else if (is_dat(a))
      pointers[i] = row_of(t, i, t->map[e * ARITY + (int)a->how - (int)VIA_0]);
    else if (a->how == NUMBER || a->how == NUMBER_VIA) {
      int set = a->how == NUMBER ? 0 : 1, n = set ? target : e;
      numbers[i] = t->way->renumbered ? t->numbers[set][n] : n;
      pointers[i] = &numbers[i];
    } else
      pointers[i] = a->access == OP_WORK ? scratch[i] : t->reference[i];
  }
  native_call_of(t->c->nargs)(t->c->function, pointers);
}

static void run_reference(struct trial *t) {
  memcpy(t->reference, t->starts, sizeof t->starts);
  for (int number = 0; number < ELEMENTS; number++)
    call_reference(t, element_of(t, number));
}

/* ---- generated code ------------------------------------------------------------------------------*/

struct info_slot {
  long long element;
  unsigned char payload[LARGEST * 8];
};

static void fill_frame(struct trial *t, struct info_slot *infos) {
  const struct desc *d = &t->d;
  for (int i = 0; i < d->ndats; i++) {
    t->frame[desc_slot_dat(d, i)] = t->dats[i].library;
    t->frame[desc_slot_stride(d, i)] = (void *)(intptr_t)set_size(d->dats[i].set);
  }
  t->frame[desc_slot_map(d, 0)] = t->map;
  t->frame[desc_slot_straight(d)] = t->straight.straight.words;
  for (int s = 0; s < 2; s++)
    t->frame[desc_slot_numbers(d, s)] = t->way->renumbered ? t->numbers[s] : NULL;
  for (int i = 0; i < d->nargs; i++) {
    const struct desc_arg *a = &d->args[i];
    infos[i].element = -1;
    if (a->form == DESC_INFO)
      t->frame[desc_slot_arg(d, i)] = &infos[i];
    else if (a->form == DESC_GBL && a->access != OP_WORK)
      t->frame[desc_slot_arg(d, i)] = t->globals[i];
    if (a->info >= 0)
      t->frame[desc_slot_start(d, i)] = t->starts[i];
  }
}

/* In pieces that share one slot, as one thread does it. */
static void run_code(struct trial *t, range_function run, bool list) {
  struct info_slot infos[8];
  memcpy(t->globals, t->starts, sizeof t->starts);
  fill_frame(t, infos);
  /* Vectors of the second piece are not aligned, those of the third are. */
  static const long ends[PIECES + 1] = {0, 1, 128, ELEMENTS};
  for (int p = 0; p < PIECES; p++)
    run(t->frame, list ? t->list : NULL, ends[p], ends[p + 1]);
  for (int i = 0; i < t->d.nargs; i++)
    if (t->d.args[i].form == DESC_INFO)
      memcpy(t->globals[i], infos[i].payload, sizeof t->globals[i]);
}

/* ---- comparing ---------------------------------------------------------------------------------*/

static bool near(enum type_code type, const unsigned char *a, const unsigned char *b) {
  double x, y, tolerance = type == TYPE_DOUBLE ? 2e-12 : 1e-4;
  float f;
  if (!type_info(type)->is_float)
    return memcmp(a, b, type_info(type)->size) == 0;
  if (type == TYPE_DOUBLE) {
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
  } else {
    memcpy(&f, a, sizeof f);
    x = (double)f;
    memcpy(&f, b, sizeof f);
    y = (double)f;
  }
  return x == y || (x != x && y != y) || fabs(x - y) <= tolerance * (1 + fabs(x));
}

static void expect_near(const struct trial *t, const char *what, int number, enum type_code type,
                        const unsigned char *wanted, const unsigned char *got, size_t count) {
  size_t size = type_info(type)->size;
  for (size_t i = 0; i < count; i++)
    if (!near(type, wanted + i * size, got + i * size)) {
      char a[40], b[40];
      type_print(type, wanted + i * size, a, sizeof a);
      type_print(type, got + i * size, b, sizeof b);
      fail_msg("%s (%s), %s: %s %d, value %zu: wanted %s, got %s", t->c->construct, t->c->name, t->way->name,
               what, number, i, a, b);
    }
}

static void compare(struct trial *t) {
  for (int i = 0; i < t->d.ndats; i++) {
    unsigned char *wanted = malloc(t->dats[i].bytes);
    memcpy(wanted, t->dats[i].rows, t->dats[i].bytes);
    convert(t, i, true);
    expect_near(t, "dat", i, t->d.dats[i].type, wanted, t->dats[i].rows,
                t->dats[i].bytes / type_info(t->d.dats[i].type)->size);
    free(wanted);
  }
  for (int i = 0; i < t->d.nargs; i++)
    if (t->d.args[i].form == DESC_INFO || (t->d.args[i].form == DESC_GBL && t->d.args[i].access != OP_WORK))
      expect_near(t, "argument", i + 1, t->d.args[i].type, t->reference[i], t->globals[i],
                  (size_t)t->d.args[i].dim);
}

/* ---- all of it ---------------------------------------------------------------------------------*/

enum { STRIPS = 6 }; /* the first of them */
static bool all_ways;
static int runs;

static const struct way ways[] = {
    {"rows", "scalar", false, false, false},
    {"rows, by list", "scalar+list", false, false, false},
    {"SoA", "scalar", true, false, false},
    {"SoA, by list, wide", "scalar+list", true, false, true},
    {"rows, renumbered, wide", "scalar", false, true, true},
    {"SoA, renumbered", "scalar", true, true, false},
    {"strips of 8", "strip8", false, false, false},
    {"strips of 4 by list, SoA, wide", "strip4+list", true, false, true},
    {"strips of 8, SoA", "strip8", true, false, false},
    {"strips of 16 by list, SoA, renumbered", "strip16+list", true, true, false},
    {"strips of 16, renumbered", "strip16", false, true, false},
    {"strips of 4", "strip4", false, false, false},
    {"strips of 8, straight", "strip8+straight", false, false, false},
    {"strips of 8, past the caches", "strip8+stream", false, false, false},
    {"strips of 16, past the caches, straight", "strip16+straight+stream", false, false, false},
    {"strips of 4, past the caches, SoA", "strip4+stream", true, false, false},
    {"strips of 4, straight, SoA, renumbered, wide", "strip4+straight", true, true, true},
};

/* Which ways a case goes through: all of them if asked for, else the first two of the group and one other in turn. */
static bool chosen(int c, size_t way, size_t first, size_t end, bool all) {
  return all || way < first + 2 || way == first + 2 + (size_t)c % (end - first - 2);
}

static void run_one(struct jit *jit, const struct kernel_case *c, const struct way *way) {
  static struct trial t;
  struct error err = {0};
  struct shape shape;
  struct jit_code code;
  setup(&t, c, way);
  assert_true(shape_parse(way->shape, &shape));
  if (jit_code(jit, &t.d, &shape, &code, &err) != OP_OK)
    fail_msg("%s: %s", c->construct, error_message(&err));
  run_code(&t, code.run, shape.list);
  run_reference(&t);
  compare(&t);
  teardown(&t);
  runs++;
}

static void run_group(size_t first, size_t end) {
  struct jit *jit;
  struct error err = {0};
  struct jit_options options = {.mode = JIT_ON};
  assert_int_equal(jit_open(&jit, &options, &err), OP_OK);
  for (size_t w = first; w < end; w++)
    for (int c = 0; c < KERNEL_CASES; c++)
      if (chosen(c, w, first, end, all_ways))
        run_one(jit, &kernel_cases[c], &ways[w]);
  jit_close(jit);
}

TEST(one_at_a_time) {
  run_group(0, STRIPS);
}

TEST(in_strips) {
  run_group(STRIPS, sizeof ways / sizeof *ways);
}

/* test_constructs [all] */
int main(int argc, char **argv) {
  all_ways = argc > 1 && strcmp(argv[1], "all") == 0;
  int failed = run_these(NULL, NULL);
  printf("%d kernels compiled and compared\n", runs);
  return failed;
}
