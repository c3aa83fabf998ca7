/* forms [--source FILE] [--size WIDE HIGH] [PART]...: what single forms of kernels cost on this GPU, by which it is
 * decided what the library's look like. Parts, the most deciding first: res (res_calc of airfoil in every form), price
 * (operations of the L2), rows (whole sectors in direct loops), result (how one comes to the host), step (all together),
 * reuse (of the L2). A form of which the answer is wrong ends the program with status 1. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/cuda/gpu.h"
#include "common/memory.h"
#include "common/report.h"

enum { VALUES = 16, SAMPLES = 11, PARTS = 6 };

struct mesh {
  int wide, high, ncells, nedges;
  int *ends; /* two cells of each edge, whose corners have the cells' numbers */
};

/* Where the sums of a group of edges go. */
struct plan {
  cuda_address first, targets, ends, places;
};

struct bench {
  struct bare gpu;
  bool small; /* on a stand-in */
  struct mesh mesh;
  bool single; /* precision */
  cuda_module module;
  size_t real; /* bytes */
  cuda_address ends, x, q, old, adt, res, slots, ticket;
  struct plan warp, block;
  double *landing; /* memory of the host */
  int wrong;
};

struct form {
  cuda_function f;
  long threads;
  void *values[VALUES];
};

static void must(int code, const char *what) {
  if (code) {
    fprintf(stderr, "forms: %s: the driver says %d\n", what, code);
    exit(1);
  }
}

/* ---- time ---- */
/* Microseconds of one pass over the kernels, by events around some passes: the median. */
static double timed(struct bench *b, const struct form *kernels, int count) {
  const struct cuda_driver *d = &b->gpu.driver;
  const int passes = b->small ? 1 : 5, samples = b->small ? 1 : SAMPLES;
  double times[SAMPLES];
  for (int i = b->small ? 0 : -2; i < samples; i++) {
    float milliseconds = 0;
    must(d->event_record(b->gpu.before, b->gpu.stream), "timing");
    for (int k = 0; k < passes * count; k++)
      bare_launch(&b->gpu, kernels[k % count].f, kernels[k % count].threads,
                  (void **)kernels[k % count].values);
    must(d->event_record(b->gpu.after, b->gpu.stream), "timing");
    must(d->event_wait(b->gpu.after), "running");
    must(d->event_elapsed(&milliseconds, b->gpu.before, b->gpu.after), "timing");
    if (i >= 0)
      times[i] = 1e3 * (double)milliseconds / passes;
  }
  return median(times, samples);
}

static void tell(const struct bench *b, const char *part, const char *form, double microseconds,
                 const char *more) {
  printf("%-8s %-7s %-34s %9.2f us%s\n", part, b->single ? "float" : "double", form, microseconds, more);
  fflush(stdout);
}

/* ---- what there is to work on ---- */
static struct mesh grid(int wide, int high) {
  struct mesh m = {.wide = wide, .high = high, .ncells = wide * high, .nedges = 2 * wide * high};
  m.ends = room(2LL * m.nedges, sizeof *m.ends);
  for (int c = 0, e = 0; c < m.ncells; c++)
    for (int up = 0; up < 2; up++, e++) {
      m.ends[2 * e] = c;
      m.ends[2 * e + 1] = up ? (c + wide) % m.ncells : c % wide + 1 < wide ? c + 1 : c + 1 - wide;
    }
  return m;
}

static void put(const struct bench *b, void *to, long at, double v) {
  if (b->single)
    ((float *)to)[at] = (float)v;
  else
    ((double *)to)[at] = v;
}

static double got(const struct bench *b, const void *from, long at) {
  return b->single ? (double)((const float *)from)[at] : ((const double *)from)[at];
}

/* Rows of `dim`, near to `base`, by rows or with their components apart. */
static cuda_address reals(struct bench *b, int dim, double base, bool apart) {
  const int n = b->mesh.ncells;
  void *values = room((long long)n * dim, b->real);
  for (int i = 0; i < n; i++)
    for (int c = 0; c < dim; c++)
      put(b, values, apart ? (long)c * n + i : (long)i * dim + c,
          base + 0.1 * c + 0.01 * (i * 7 % 13) * (c + 1));
  const cuda_address at = bare_array(&b->gpu, values, (size_t)n * (size_t)dim * b->real);
  free(values);
  return at;
}

static int by_cell(const void *x, const void *y) {
  const int *a = x, *b = y;
  return a[0] != b[0] ? a[0] - b[0] : a[1] - b[1];
}

static struct plan plan_of(struct bench *b, int group) {
  const struct mesh *m = &b->mesh;
  const int groups = (m->nedges + group - 1) / group;
  int *first = room(groups + 1, sizeof *first), *targets = room(2LL * m->nedges, sizeof *targets), n = 0;
  unsigned short *ends = room(2LL * m->nedges, sizeof *ends), *places = room(2LL * m->nedges, sizeof *places);
  int(*found)[2] = room(2LL * group, sizeof *found);
  for (int g = 0; g < groups; g++) {
    const int begin = 2 * g * group,
              count = (2 * m->nedges < begin + 2 * group ? 2 * m->nedges : begin + 2 * group) - begin;
    for (int i = 0; i < count; i++)
      found[i][0] = m->ends[begin + i], found[i][1] = i;
    qsort(found, (size_t)count, sizeof *found, by_cell);
    first[g] = n;
    for (int i = 0; i < count; i++) {
      places[begin + i] = (unsigned short)found[i][1];
      if (i == 0 || found[i][0] != found[i - 1][0])
        targets[n++] = found[i][0];
      ends[n - 1] = (unsigned short)(i + 1);
    }
  }
  first[groups] = n;
  const struct plan p = {.first = bare_array(&b->gpu, first, ((size_t)groups + 1) * sizeof *first),
                         .targets = bare_array(&b->gpu, targets, (size_t)n * sizeof *targets),
                         .ends = bare_array(&b->gpu, ends, (size_t)n * sizeof *ends),
                         .places = bare_array(&b->gpu, places, 2 * (size_t)m->nedges * sizeof *places)};
  free(first), free(targets), free(ends), free(places), free(found);
  return p;
}

static void make(struct bench *b, bool single) {
  const size_t n = (size_t)b->mesh.ncells;
  b->single = single;
  b->real = single ? sizeof(float) : sizeof(double);
  b->module = bare_compile(&b->gpu, single ? "float" : "double", false, false);
  b->x = reals(b, 2, 0, false);
  b->q = reals(b, 4, 1, false);
  b->old = reals(b, 4, 1, false);
  b->adt = reals(b, 1, 1, false);
  b->res = bare_array(&b->gpu, NULL, 4 * n * b->real);
  b->slots = bare_array(&b->gpu, NULL, (n / GPU_BLOCK + 1) * sizeof(double));
  b->ticket = bare_array(&b->gpu, NULL, sizeof(unsigned));
}

static void unmake(struct bench *b) {
  const cuda_address all[] = {b->x, b->q, b->old, b->adt, b->res, b->slots, b->ticket};
  bare_wait(&b->gpu);
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    bare_release(&b->gpu, all[i]);
  b->gpu.driver.module_unload(b->module);
}

/* ---- res: every form of res_calc, against the first ---- */
static int backwards = 1, forwards = 0;

static struct form res_kernel(struct bench *b, const char *name, const struct plan *p) {
  struct form k = {.f = bare_kernel(&b->gpu, b->module, name), .threads = b->mesh.nedges};
  void *const values[] = {&b->mesh.nedges, &forwards, &b->ends, &b->ends, &b->x, &b->q, &b->adt, &b->res};
  memcpy(k.values, values, sizeof values);
  if (p) {
    void *const plan[] = {(void *)&p->first, (void *)&p->targets, (void *)&p->ends, (void *)&p->places};
    memcpy(k.values + 8, plan, sizeof plan);
  }
  return k;
}

/* What one run leaves in the rows. */
static double *result_of(struct bench *b, const struct form *k, bool apart) {
  const size_t n = 4 * (size_t)b->mesh.ncells;
  double *out = room((long long)n, sizeof *out);
  void *raw = room((long long)n, b->real);
  must(b->gpu.driver.fill(b->res, 0, n * b->real, b->gpu.stream), "clearing");
  bare_launch(&b->gpu, k->f, k->threads, (void **)k->values);
  bare_fetch(&b->gpu, raw, b->res, n * b->real);
  for (int i = 0; i < b->mesh.ncells; i++)
    for (int c = 0; c < 4; c++)
      out[4 * i + c] = got(b, raw, apart ? (long)c * b->mesh.ncells + i : 4L * i + c);
  free(raw);
  return out;
}

static void part_res(struct bench *b) {
  static const char *const names[] = {"rows", "warp", "lanes", "block", "apart", "wide"};
  double *expected = NULL;
  cuda_address rows[] = {b->x, b->q};
  for (int i = 0; i < (b->single ? 6 : 5); i++) {
    const bool apart = strcmp(names[i], "apart") == 0;
    char name[32];
    snprintf(name, sizeof name, "res_%s", names[i]);
    struct form k = res_kernel(b, name,
                               strcmp(names[i], "warp") == 0    ? &b->warp
                               : strcmp(names[i], "block") == 0 ? &b->block
                                                                : NULL);
    if (apart) {
      b->x = reals(b, 2, 0, true);
      b->q = reals(b, 4, 1, true);
      k.values[8] = k.values[9] = &b->mesh.ncells;
    }
    double *now = result_of(b, &k, apart), worst = 0;
    for (int v = 0; expected && v < 4 * b->mesh.ncells; v++)
      worst = worse_of(worst, difference_above(1, now[v], expected[v]));
    b->wrong += !(worst < (b->single ? 1e-4 : 1e-12));
    tell(b, "res", names[i], timed(b, &k, 1), worst < (b->single ? 1e-4 : 1e-12) ? "" : "  WRONG");
    if (expected)
      free(now);
    else
      expected = now;
    if (apart) {
      bare_release(&b->gpu, b->x);
      bare_release(&b->gpu, b->q);
      b->x = rows[0];
      b->q = rows[1];
    }
  }
  free(expected);
}

/* ---- price: of operations of the L2 ---- */
static void part_price(struct bench *b) {
  static const struct {
    const char *name, *kernel;
    int mode, twice;
  } rows[] = {{"red, a value of a sector", "price_red", 1, 0},
              {"red, two values of a sector", "price_red", 2, 0},
              {"red, four values of a sector", "price_red", 4, 0},
              {"red, a value, two lanes", "price_red", 1, 1},
              {"store, 8 bytes of a sector", "price_store", 8, -1},
              {"store, half a sector", "price_store", 16, -1},
              {"store, whole sectors", "price_store", 0, -1},
              {"load", "price_load", -1, -1}};
  const size_t reached = (size_t)(b->small ? 64 << 10 : 16 << 20);
  unsigned mask = (unsigned)(reached / 32) - 1;
  int times = b->small ? 2 : 64;
  const cuda_address data = bare_array(&b->gpu, NULL, reached);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    int mode = rows[i].mode, twice = rows[i].twice;
    struct form k = {.f = bare_kernel(&b->gpu, b->module, rows[i].kernel),
                     .threads = b->small ? 1024 : 1056 * 256};
    int n = 0;
    k.values[n++] = (void *)&data;
    k.values[n++] = &mask;
    if (mode >= 0)
      k.values[n++] = &mode;
    if (twice >= 0)
      k.values[n++] = &twice;
    k.values[n++] = &times;
    const double us = timed(b, &k, 1), lanes = (double)k.threads * times;
    char more[64];
    snprintf(more, sizeof more, "  %8.2f G lanes/s", 1e-3 * lanes / us);
    tell(b, "price", rows[i].name, us, more);
  }
  bare_release(&b->gpu, data);
}

/* ---- rows and results ---- */
static struct form save_kernel(struct bench *b, bool whole, int *back) {
  return (struct form){.f = bare_kernel(&b->gpu, b->module, whole ? "save_whole" : "save_half"),
                       .threads = b->mesh.ncells,
                       .values = {&b->mesh.ncells, back, &b->q, &b->old}};
}

static cuda_address none, landed;

static struct form update_kernel(struct bench *b, bool whole, int *back, bool ticket) {
  return (struct form){.f = bare_kernel(&b->gpu, b->module, whole ? "update_whole" : "update_half"),
                       .threads = b->mesh.ncells,
                       .values = {&b->mesh.ncells, back, &b->old, &b->q, &b->res, &b->adt, &b->slots,
                                  ticket ? &b->ticket : &none, &landed}};
}

static void part_rows(struct bench *b) {
  for (int whole = 0; whole < 2; whole++) {
    const struct form save = save_kernel(b, whole, &forwards),
                      update = update_kernel(b, whole, &forwards, true);
    tell(b, "rows", whole ? "save, whole sectors" : "save, halves", timed(b, &save, 1), "");
    tell(b, "rows", whole ? "update, whole sectors" : "update, halves", timed(b, &update, 1), "");
  }
}

/* Wall time until the host has it, the update's own included. */
static void part_result(struct bench *b) {
  const int times = b->small ? 1 : 50;
  int blocks = (b->mesh.ncells + GPU_BLOCK - 1) / GPU_BLOCK;
  const cuda_address sum = bare_array(&b->gpu, NULL, sizeof(double));
  const struct form update[] = {update_kernel(b, true, &forwards, false),
                                update_kernel(b, true, &forwards, true)};
  const struct form combine = {.f = bare_kernel(&b->gpu, b->module, "combine"),
                               .threads = GPU_BLOCK,
                               .values = {&b->slots, &blocks, (void *)&sum}};
  double results[2];
  for (int ticket = 0; ticket < 2; ticket++) {
    double begin = 0;
    for (int i = -1; i < times; i++) {
      begin = i == 0 ? clock_seconds() : begin;
      must(b->gpu.driver.fill(b->res, 1, 4 * (size_t)b->mesh.ncells * b->real, b->gpu.stream), "filling");
      bare_launch(&b->gpu, update[ticket].f, update[ticket].threads, (void **)update[ticket].values);
      if (!ticket) {
        bare_launch(&b->gpu, combine.f, combine.threads, (void **)combine.values);
        must(b->gpu.driver.copy_out(b->landing, sum, sizeof(double), b->gpu.stream), "copying");
      }
      bare_wait(&b->gpu);
      results[ticket] = *b->landing;
    }
    tell(b, "result", ticket ? "ticket, into memory of the host" : "second kernel, copy",
         1e6 * (clock_seconds() - begin) / times, "");
  }
  b->wrong += memcmp(&results[0], &results[1], sizeof *results) != 0;
  bare_release(&b->gpu, sum);
}

/* ---- step: save, twice (res, update) ---- */
static void part_step(struct bench *b) {
  static const char *const names[] = {"rows, halves", "sums of warps, whole sectors",
                                      "the same, every second loop backwards"};
  for (int form = 0; form < 3; form++) {
    int *turn[] = {&forwards, form == 2 ? &backwards : &forwards};
    struct form k[5] = {save_kernel(b, form, turn[0])};
    for (int i = 0; i < 2; i++) {
      k[1 + 2 * i] = form ? res_kernel(b, "res_warp", &b->warp) : res_kernel(b, "res_rows", NULL);
      k[1 + 2 * i].values[1] = turn[i];
      k[2 + 2 * i] = update_kernel(b, form, turn[1 - i], true);
    }
    tell(b, "step", names[form], timed(b, k, 5), "");
  }
}

static void part_reuse(struct bench *b) {
  const int megabytes[] = {10, 20, 30, 40, 60, 80, 120};
  const int count = b->small ? 1 : (int)(sizeof megabytes / sizeof *megabytes);
  for (int i = 0; i < count; i++) {
    int pieces = (b->small ? 1 << 16 : megabytes[i] << 20) / 16;
    const cuda_address data = bare_array(&b->gpu, NULL, (size_t)pieces * 16);
    for (int turns = 0; turns < 2; turns++) {
      const cuda_function f = bare_kernel(&b->gpu, b->module, "sweep");
      const struct form k[] = {
          {f, pieces, {(void *)&data, &pieces, &forwards, &b->ticket}},
          {f, pieces, {(void *)&data, &pieces, turns ? &backwards : &forwards, &b->ticket}}};
      const double us = timed(b, k, 2) / 2;
      char name[64], more[64];
      snprintf(name, sizeof name, "%d MB, %s", pieces / (1 << 16), turns ? "in turns" : "forwards");
      snprintf(more, sizeof more, "  %8.1f GB/s", 16e-3 * pieces / us);
      tell(b, "reuse", name, us, more);
    }
    bare_release(&b->gpu, data);
  }
}

static const struct {
  const char *name;
  void (*run)(struct bench *b);
  bool both; /* precisions */
} parts[PARTS] = {{"res", part_res, true},        {"price", part_price, true}, {"rows", part_rows, true},
                  {"result", part_result, false}, {"step", part_step, true},   {"reuse", part_reuse, false}};

static bool is_wanted(int argc, char **argv, const char *part) {
  for (int i = 0; i < argc; i++)
    if (strcmp(argv[i], part) == 0)
      return true;
  return argc == 0;
}

int main(int argc, char **argv) {
  struct bench b = {0};
  const char *source = "bench/gpu/forms.cu";
  int wide = 1200, high = 600, at = 1;
  for (; at < argc && strncmp(argv[at], "--", 2) == 0; at++) {
    if (strcmp(argv[at], "--source") == 0 && at + 1 < argc) {
      source = argv[++at];
    } else if (strcmp(argv[at], "--size") == 0 && at + 2 < argc) {
      wide = atoi(argv[++at]);
      high = atoi(argv[++at]);
    } else {
      fprintf(stderr,
              "usage: forms [--source FILE] [--size WIDE HIGH] [res|price|rows|result|step|reuse]...\n");
      return 2;
    }
  }
  if (wide < 32 || wide % 32 || high < 2) {
    fprintf(stderr, "forms: the width is a multiple of 32, the height at least 2\n");
    return 2;
  }
  b.small = getenv("STANDIN_CACHE") != NULL;
  b.mesh = grid(wide, high);
  bare_open(&b.gpu, source);
  printf("%s, %d x %d cells; a copy moves %.2f TB/s\n", b.gpu.device.name, wide, high, 1e-12 * b.gpu.copy);
  must(b.gpu.driver.host_alloc((void **)&b.landing, sizeof *b.landing, 0), "pinned memory");
  landed = (cuda_address)(size_t)b.landing;
  b.ends = bare_array(&b.gpu, b.mesh.ends, 2 * (size_t)b.mesh.nedges * sizeof *b.mesh.ends);
  b.warp = plan_of(&b, 32);
  b.block = plan_of(&b, GPU_BLOCK);
  for (int p = 0; p < PARTS; p++)
    for (int single = 0; single < (parts[p].both ? 2 : 1); single++)
      if (is_wanted(argc - at, argv + at, parts[p].name)) {
        make(&b, single);
        parts[p].run(&b);
        unmake(&b);
      }
  bare_close(&b.gpu);
  free(b.mesh.ends);
  if (b.wrong)
    printf("%d forms gave a wrong answer\n", b.wrong);
  return b.wrong != 0;
}
