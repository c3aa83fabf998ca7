#include "case.h"

#include <stdlib.h>
#include <string.h>

#include "meets.h"
#include "native.h"
#include "ranks.h"

static char *printed(const struct kernel *k) {
  struct text text = {0};
  kernel_print(k, &text);
  char *s = text_take(&text);
  if (!s)
    abort();
  return s;
}

static void add_kernel(struct test_case *c, uint64_t seed, int number) {
  struct kernel *k = malloc(sizeof *k);
  if (!k)
    abort();
  kernel_invent(k, number < native_count ? NATIVE_SEED : seed, number, c->direct, c->sums);
  c->kernels[c->nkernels] = k;
  c->texts[c->nkernels++] = printed(k);
}

/* The kernel for a number: on several ranks, of those whose elements meet a lone one. */
static int kernel_number(const struct test_case *c, int number) {
  return c->meets ? meets_number(number, ranks_count() > 1 || c->mirrored) : number;
}

/* How many kernels of the build's seed there are of those that the case takes. */
static int known_kernels(const struct test_case *c) {
  int n = 0;
  while (kernel_number(c, n) < native_count)
    n++;
  return n;
}

void case_make(struct test_case *c, uint64_t seed, int number, bool native) {
  const int known = known_kernels(c);
  c->number = number;
  struct random r = random_stream(seed, (uint64_t)number + 1000);
  c->seed = random_next(&r);
  /* Three rounds over the kernels of the build fill the table; where kernels are compiled, new ones follow. */
  bool round = native || number < 3 * known;
  add_kernel(c, seed, kernel_number(c, round ? number % known : number));
  for (int n = c->direct ? CASE_KERNELS - 1 : random_below(&r, CASE_KERNELS); n > 0; n--)
    add_kernel(c, seed, kernel_number(c, random_below(&r, round ? known : number)));
}

void case_free(struct test_case *c) {
  for (int k = 0; k < c->nkernels; k++) {
    free(c->kernels[k]);
    free(c->texts[k]);
  }
}

static bool declare_boxes(void) {
  bool good = true;
  for (int t = 0; t < V_TYPES; t++)
    for (int d = 1; d <= MAX_BOXED; d++) {
      const size_t size = (size_t)d * vtypes[t].size;
      const op2jit_member member = {"v", vtypes[t].c, 0, size};
      char name[24];
      box_name((enum vtype)t, d, name, sizeof name);
      good = good && op2jit_decl_type(name, size, 1, &member) == OP_OK;
    }
  return good;
}

bool case_library_ready(bool native) {
  if (op_decl_prelude(kernel_shared()) || !declare_boxes())
    return false;
  for (int i = 0; i < CONSTANTS; i++)
    if (op_decl_const(constants[i].name, constants[i].dim, vtypes[constants[i].type].c, constants[i].at))
      return false;
  for (int i = 0; native && i < native_count; i++)
    if (!op_kernel_native(native_kernels[i].text, native_kernels[i].function))
      return false;
  return true;
}

/* ---- steps ------------------------------------------------------------------------------------*/

struct run {
  const struct test_case *c;
  struct world *w;
  struct coverage *coverage;
  struct binding bound[CASE_KERNELS];
  bool is_bound[CASE_KERNELS];
};

static bool run_first(struct run *run, int kernel) {
  struct binding *b = &run->bound[kernel];
  run->is_bound[kernel] =
      binding_make(b, run->w, run->c->kernels[kernel], run->c->texts[kernel], run->coverage);
  if (run->w->failure.length)
    return false;
  return !run->is_bound[kernel] || (world_refresh(run->w) && binding_run(b, run->w, run->coverage));
}

/* The same loop as before, perhaps with other values of what it only reads. */
static bool run_again(struct run *run, int kernel) {
  struct binding *b = &run->bound[kernel];
  for (int p = 0; p < b->kernel->nparams; p++)
    if (b->dat[p] >= 0 && !run->w->dats[b->dat[p]].handle)
      return run_first(run, kernel);
  if (b->subset >= 0 && random_chance(&run->w->random, 50) && !world_subset_again(run->w, b->subset))
    return false;
  binding_new_values(b, run->w);
  long long records = op_counters()->records;
  if (!world_refresh(run->w) || !binding_run(b, run->w, run->coverage))
    return false;
  if (op_counters()->records != records)
    world_fail(run->w, "op_counters()->records went from %lld to %lld for a loop seen before", records,
               op_counters()->records);
  return op_counters()->records == records;
}

/* A loop's third call in the checking form watches less than the first two. */
static bool run_new(struct run *run, int kernel) {
  bool good = run_first(run, kernel);
  for (int i = 0; good && run->is_bound[kernel] && i < run->c->again; i++)
    for (int k = run->c->all_again ? 0 : kernel; good && k <= kernel; k++)
      good = !run->is_bound[k] || run_again(run, k);
  return good;
}

static bool update_constant(struct run *run) {
  const struct constant *c = &constants[random_below(&run->w->random, CONSTANTS)];
  unsigned char *at = c->at;
  /* Native kernels that wait read the constants themselves. */
  op_barrier();
  for (int i = 0; i < c->dim; i++) {
    struct value v = {.f = random_between(&run->w->random, -64, 64) / 4.0,
                      .w = random_between(&run->w->random, -2000000, 2000000)};
    value_store(c->type, at + (size_t)i * vtypes[c->type].size, v);
  }
  world_say(run->w, "static const %s new_%s[] = ", vtypes[c->type].c, c->name);
  world_say_values(run->w, c->type, at, c->dim);
  world_say(run->w, ";\nop_update_const(\"%s\", new_%s);\n", c->name, c->name);
  if (op_update_const(c->name, at) == OP_OK)
    return true;
  world_fail(run->w, "op_update_const failed: %s", op_last_error()->message);
  return false;
}

/* Nothing that the user sees changes its number. */
static bool renumber(struct run *run) {
  struct world *w = run->w;
  if (!w->nmaps || w->mirrored)
    return true;
  if (ranks_count() > 1 && random_chance(w->odd ? &w->deal : &w->random, 70))
    return ranks_partition(w);
  int map = random_below(&w->random, w->nmaps);
  world_say(w, "op_renumber(m%d);\n", map);
  if (op_renumber(w->maps[map].handle) == OP_OK)
    return true;
  world_fail(w, "op_renumber(m%d) failed: %s", map, op_last_error()->message);
  return false;
}

static bool data_step(struct run *run, int choice) {
  struct world *w = run->w;
  int dat = w->ndats ? random_below(&w->random, w->ndats) : -1;
  if (dat < 0 || !w->dats[dat].handle)
    return true;
  int size = w->sets[w->dats[dat].set].size;
  if (choice == 0)
    return world_put(w, dat);
  if (choice == 1)
    return world_check(w, dat);
  if (choice == 2 && size > 0) {
    int low = random_below(&w->random, size);
    return world_check_range(w, dat, low, low + random_below(&w->random, size - low));
  }
  if (choice == 3 && w->dats[dat].temporary)
    return world_check(w, dat) && world_free_temporary(w, dat);
  return true;
}

static bool one_step(struct run *run, int step) {
  struct random *r = &run->w->random;
  int kernel = step < run->c->nkernels ? step : random_below(r, run->c->nkernels);
  int choice = step < run->c->nkernels ? 0 : random_below(r, run->c->direct ? 7 : 11);
  if (choice < 3)
    return run_new(run, kernel);
  if (choice < 6)
    return run->is_bound[kernel] ? run_again(run, kernel) : run_new(run, kernel);
  if (choice == 6)
    return update_constant(run);
  if (choice == 7)
    return renumber(run);
  return data_step(run, random_below(r, 4));
}

bool case_run(const struct test_case *c, struct world *w, struct coverage *coverage) {
  struct run *run = calloc(1, sizeof *run);
  if (!run)
    abort();
  run->c = c;
  run->w = w;
  run->coverage = coverage;
  world_open(w, c->seed, c->size_limit);
  w->mirrored = c->mirrored;
  w->odd = c->odd;
  w->keeps = c->keeps;
  w->direct = c->direct;
  w->none_meets = c->none_meets;
  w->longest = c->longest;
  struct random r = random_stream(c->seed, 2);
  int steps = c->nkernels + random_below(&r, CASE_STEPS - c->nkernels);
  bool each = random_chance(&r, 50) && !c->keeps, good = true;
  for (int s = 0; good && s < steps; s++)
    if (!(c->skipped >> s & 1)) {
      w->random = random_stream(c->seed, (uint64_t)s + 3);
      good = one_step(run, s) &&
             (s + 1 != c->nkernels || ranks_count() == 1 || !w->nsets || ranks_partition(w)) &&
             (!each || world_check_all(w));
    }
  good = good && world_check_all(w);
  free(run);
  return good;
}
