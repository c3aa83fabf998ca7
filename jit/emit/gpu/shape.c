/* Shapes by name, increments by target, parameters in order, slots by argument. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "jit/emit/gpu/gpu.h"
#include "jit/emit/skeleton.h"

/* ---- names ---- */
static const char *const strategies[GPU_STRATEGIES] = {"direct",  "atomics", "staged", "blocks",
                                                       "colours", "apart",   "warps",  "ordered"};

/* Words behind strategy and block, in their order: flags, and numbers from `least` to `most`. A number may be left out where it
 * is the usual one. */
static const struct mark {
  const char *word;
  size_t member;
  int least, most, usual;
} marks[] = {{"vectors", offsetof(struct gpu_shape, vectors), 0, 0, 0},
             {"sorted", offsetof(struct gpu_shape, sorted), 0, 0, 0},
             {"min", offsetof(struct gpu_shape, min_blocks), 1, 32, 0},
             {"rows", offsetof(struct gpu_shape, rows), GPU_ROWS_LEAST, GPU_ROWS_MOST, 0},
             {"joined", offsetof(struct gpu_shape, joined), 0, 0, 0},
             {"near", offsetof(struct gpu_shape, near), 1, 64, GPU_NEAR_VALUES},
             {"dependent", offsetof(struct gpu_shape, dependent), 0, 0, 0}};
enum { MARKS = sizeof marks / sizeof *marks };

void gpu_shape_print(const struct gpu_shape *s, struct text *out) {
  if (s->tasks) {
    gpu_tasks_print(s, out);
    return;
  }
  text_addf(out, "%s/%d", strategies[s->strategy], s->block);
  for (int i = 0; i < MARKS; i++) {
    const void *member = (const char *)s + marks[i].member;
    const int number = marks[i].most ? *(const int *)member : *(const bool *)member;
    if (number)
      text_addf(out, "/%s", marks[i].word);
    if (number && marks[i].most && number != marks[i].usual)
      text_addf(out, "%d", number);
  }
}

int gpu_elements(const struct gpu_shape *s) {
  return s->rows ? s->block / s->rows : s->block;
}

/* The number that the word ends with; 0: it is none, or out of range. */
static int number_of(const char *digits, int least, int most) {
  char *end;
  const long number = isdigit((unsigned char)*digits) ? strtol(digits, &end, 10) : 0;
  return number >= least && number <= most && !*end ? (int)number : 0;
}

static bool take_mark(const struct mark *m, const char *behind, struct gpu_shape *s) {
  void *member = (char *)s + m->member;
  if (!m->most) {
    *(bool *)member |= !*behind;
    return !*behind;
  }
  const int number = *behind ? number_of(behind, m->least, m->most) : m->usual;
  if (!number || (m->member == offsetof(struct gpu_shape, rows) && (number & (number - 1))))
    return false;
  *(int *)member = number;
  return true;
}

bool gpu_shape_word(const char *word, struct gpu_shape *s) {
  for (int i = 0; i < GPU_STRATEGIES; i++)
    if (strcmp(word, strategies[i]) == 0) {
      s->strategy = (enum gpu_strategy)i;
      s->near = 0; /* the first guess may be near; what is forced is what is named */
      return true;
    }
  for (int i = 0; i < MARKS; i++)
    if (strncmp(word, marks[i].word, strlen(marks[i].word)) == 0 &&
        take_mark(&marks[i], word + strlen(marks[i].word), s))
      return true;
  if (strcmp(word, "scalars") == 0)
    return !(s->vectors = false);
  if (strcmp(word, "rows1") == 0)
    return !(s->rows = 0);
  const int block = number_of(word, 32, 1024);
  if (!block || block % 32)
    return false;
  s->block = block;
  return true;
}

/* ---- targets ---- */
static struct gpu_target *find_target(struct gpu_targets *t, int dat, int access) {
  for (int i = 0; i < t->count; i++)
    if (t->items[i].dat == dat)
      return &t->items[i];
  t->items[t->count] = (struct gpu_target){.dat = dat, .access = access};
  return &t->items[t->count++];
}

static bool is_incremented(const struct desc_arg *a) {
  return a->present && a->form == DESC_DAT && access_reduces(a->access);
}

/* Through a map; or directly, where increments through a map meet them. */
static bool has_columns(const struct desc *d, const struct desc_arg *a) {
  if (!is_incremented(a))
    return false;
  bool mapped = a->map >= 0 && !a->entry;
  for (int i = 0; i < d->nargs && !mapped; i++)
    mapped =
        is_incremented(&d->args[i]) && d->args[i].dat == a->dat && d->args[i].map >= 0 && !d->args[i].entry;
  return mapped;
}

int gpu_targets_find(const struct desc *d, struct gpu_targets *out, struct error *err) {
  *out = (struct gpu_targets){0};
  for (int i = 0; i < d->nargs; i++) {
    const struct desc_arg *a = &d->args[i];
    if (!has_columns(d, a))
      continue;
    struct gpu_target *t = find_target(out, a->dat, a->access);
    const bool vector = arg_is_vector(a) && !desc_is_ragged(d, a);
    int n = vector ? d->maps[a->map].arity : 1;
    struct gpu_column *columns = array_resize(t->columns, (size_t)t->ncolumns + (size_t)n, sizeof *columns);
    if (!columns) {
      gpu_targets_free(out);
      return error_memory(err, "a loop's increments", (size_t)n * sizeof *columns);
    }
    t->columns = columns;
    for (int v = 0; v < n; v++)
      columns[t->ncolumns++] = (struct gpu_column){.arg = i,
                                                   .map = a->map,
                                                   .column = vector                 ? v
                                                             : desc_is_ragged(d, a) ? 0
                                                                                    : a->idx};
  }
  return OP_OK;
}

bool gpu_targets_are_ragged(const struct desc *d, const struct gpu_targets *t) {
  for (int k = 0; k < t->count; k++)
    for (int c = 0; c < t->items[k].ncolumns; c++)
      if (desc_is_ragged(d, &d->args[t->items[k].columns[c].arg]))
        return true;
  return false;
}

/* As gpu_put_warps lays it out: a component has a place for each summand, and one more, so that components of a target
 * are in different banks; what is near has its rows one behind the other. Extrema have the value they began with as well. */
size_t gpu_sums_bytes(const struct desc *d, const struct gpu_shape *s, const struct gpu_targets *t,
                      int width) {
  size_t bytes = 0;
  for (int k = 0; k < t->count; k++) {
    const struct desc_dat *dat = &d->dats[t->items[k].dat];
    const size_t places = (size_t)t->items[k].ncolumns * (size_t)width + 1,
                 rows = (size_t)dat->dim * (t->items[k].access == OP_INC ? 1 : 2);
    const bool near = gpu_is_near(d, s, t, t->items[k].columns[0].arg);
    const size_t values = near ? (size_t)gpu_near_apart(dat->dim) * (places - 1) : rows * places;
    bytes += (values * type_info(dat->type)->size + 15) / 16 * 16;
  }
  return bytes;
}

void gpu_targets_free(struct gpu_targets *t) {
  for (int i = 0; i < t->count; i++)
    free(t->items[i].columns);
  *t = (struct gpu_targets){0};
}

/* ---- slots ---- */
/* A block leaves in its slot: reductions, payloads, and globals that the one element of a set writes. */
static bool in_slot(const struct desc_arg *a) {
  return a->present && (a->form == DESC_INFO || (a->form == DESC_GBL && access_changes(a->access)));
}

size_t gpu_slot_size(const struct desc *d, int arg) {
  const struct desc_arg *a = &d->args[arg];
  size_t bytes =
      (size_t)a->dim * (gpu_is_exact_sum(d, arg) ? sizeof(struct gpu_exact) : type_info(a->type)->size);
  return in_slot(a) ? bytes + (a->form == DESC_INFO ? sizeof(long long) : 0) : 0;
}

static size_t slot_end(const struct desc *d, int before) {
  size_t end = 0;
  for (int i = 0; i < before; i++)
    end += (gpu_slot_size(d, i) + 15) / 16 * 16;
  return end;
}

size_t gpu_slot_bytes(const struct desc *d) {
  return slot_end(d, d->nargs);
}

long gpu_slot_offset(const struct desc *d, int arg) {
  return in_slot(&d->args[arg]) ? (long)slot_end(d, arg) : -1;
}

bool gpu_tells_host(const struct desc *d) {
  bool tells = false;
  for (int i = 0; i < d->nargs; i++)
    tells |= in_slot(&d->args[i]) && !d->args[i].kept;
  return tells;
}

/* ---- parameters ---- */
static void add(struct gpu_parameters *p, enum gpu_parameter_kind kind, int index, int column, size_t bytes) {
  struct gpu_parameter *items = array_more(p->items, (size_t)p->count, sizeof *items);
  p->failed |= !items;
  if (!items)
    return;
  p->items = items;
  items[p->count++] = (struct gpu_parameter){kind, index, column, bytes};
}

static void add_address(struct gpu_parameters *p, enum gpu_parameter_kind kind, int index) {
  add(p, kind, index, 0, 0);
}

static void add_number(struct gpu_parameters *p, enum gpu_parameter_kind kind, int index) {
  add(p, kind, index, 0, sizeof(int));
}

static void add_data(const struct desc *d, struct gpu_parameters *p) {
  for (int i = 0; i < d->ndats; i++) {
    add_address(p, GPU_P_DAT, i);
    if (dat_is_apart(d, i))
      add(p, GPU_P_STRIDE, i, 0, sizeof(long long));
  }
  for (int m = 0; m < d->nmaps; m++) {
    add_address(p, GPU_P_MAP, m);
    if (d->maps[m].ragged)
      add_address(p, GPU_P_OFFSETS, m);
    if (desc_scatters(d, m))
      add_address(p, GPU_P_ENTRIES, m);
  }
  for (int s = 0; s < d->nsets; s++)
    if (uses_numbers(d, s))
      add_address(p, GPU_P_NUMBERS, s);
}

/* Values up to here travel with the launch. */
enum { BY_VALUE = 512 };

static void add_globals(const struct desc *d, struct gpu_parameters *p) {
  size_t together = 0;
  for (int i = 0; i < d->nargs; i++) {
    const struct desc_arg *a = &d->args[i];
    const bool global = access_reads(a->access);
    if (!a->present || a->form != DESC_GBL || (!global && !access_is_extremum(a->access)))
      continue;
    const size_t bytes = (size_t)a->dim * type_info(a->type)->size;
    const bool value = !a->kept && together + bytes <= BY_VALUE;
    together += value ? bytes : 0;
    add(p, global ? GPU_P_GLOBAL : GPU_P_START, i, !value, value ? bytes : 0);
  }
}

static void add_results(const struct desc *d, const struct gpu_shape *s, struct gpu_parameters *p) {
  if (!gpu_slot_bytes(d))
    return;
  add_address(p, GPU_P_SLOTS, 0);
  add_address(p, GPU_P_WARPS, 0);
  add_number(p, GPU_P_SLOT, 0);
  if (!gpu_has_ticket(s))
    return;
  add_address(p, GPU_P_TICKET, 0);
  add_number(p, GPU_P_COUNT, 0);
  if (gpu_tells_host(d))
    add_address(p, GPU_P_RESULT, 0);
  for (int i = 0; i < d->nargs; i++)
    if (d->args[i].kept && in_slot(&d->args[i]))
      add_address(p, GPU_P_KEPT, i);
}

/* Where the targets of blocks are, and the entries of elements in shared memory. */
static void add_staging(const struct gpu_shape *s, const struct gpu_targets *t, struct gpu_parameters *p) {
  const bool sums = gpu_sums_by_targets(s->strategy);
  for (int k = 0; k < t->count; k++) {
    add_address(p, GPU_P_STAGED_FIRST, k);
    add_address(p, GPU_P_STAGED_TARGETS, k);
    if (sums) {
      add_address(p, GPU_P_SUMS_LAST, k);
      add_address(p, GPU_P_SUMS_SLOTS, k);
      continue;
    }
    add_number(p, GPU_P_STAGED_AT, k);
    for (int c = 0; c < t->items[k].ncolumns; c++)
      add(p, GPU_P_STAGED_LOCAL, k, c, 0);
  }
}

static void add_walk(const struct gpu_shape *s, const struct gpu_targets *t, struct gpu_parameters *p) {
  if (s->sorted || s->strategy == GPU_COLOURS || s->strategy == GPU_ORDERED)
    add_address(p, GPU_P_LIST, 0);
  add_number(p, GPU_P_BEGIN, 0);
  add_number(p, GPU_P_END, 0);
  add_number(p, GPU_P_BACK, 0);
  if (gpu_has_blocks(s->strategy)) {
    add_address(p, GPU_P_BLOCKS, 0);
    add_number(p, GPU_P_FIRST, 0);
    add_address(p, GPU_P_COLOURS, 0);
    add_address(p, GPU_P_COUNTS, 0);
  }
  if (gpu_has_shared(s->strategy))
    add_staging(s, t, p);
  for (int k = 0; gpu_adds_later(s->strategy) && k < t->count; k++)
    add_address(p, GPU_P_APART, k);
}

/* OpenCL's constants travel with each launch. */
static void add_constants(const struct desc *d, const struct gpu_shape *s, struct gpu_parameters *p) {
  size_t bytes = 0;
  for (int i = 0; i < d->nconsts; i++)
    if (!d->consts[i].folded)
      bytes += ((size_t)d->consts[i].dim * type_info(d->consts[i].type)->size + 15) / 16 * 16;
  if (s->dialect == GPU_DIALECT_OPENCL && bytes)
    add(p, GPU_P_CONSTANTS, 0, 0, bytes);
}

/* Larger results meet in global memory. */
enum { MEETING_BYTES = 16384 };

size_t gpu_meeting_bytes(const struct desc *d, const struct gpu_shape *s) {
  const int threads = s->block > GPU_COMBINE_THREADS ? s->block : GPU_COMBINE_THREADS;
  const size_t bytes = gpu_slot_bytes(d) * (size_t)threads;
  return s->dialect == GPU_DIALECT_OPENCL && bytes <= MEETING_BYTES ? bytes : 0;
}

int gpu_parameters_find(const struct desc *d, const struct gpu_shape *s, const struct gpu_targets *t,
                        struct gpu_parameters *out, struct error *err) {
  *out = (struct gpu_parameters){0};
  add_data(d, out);
  add_globals(d, out);
  add_results(d, s, out);
  add_walk(s, t, out);
  add_constants(d, s, out);
  if (!out->failed)
    return OP_OK;
  gpu_parameters_free(out);
  return error_memory(err, "a kernel's parameters", 0);
}

void gpu_parameters_free(struct gpu_parameters *p) {
  free(p->items);
  *p = (struct gpu_parameters){0};
}

char *gpu_kernel_name(const struct desc *d) {
  struct text name = {0};
  text_add(&name, "op2_loop_");
  for (const char *c = d->kernel_name; *c; c++) /* of a fused loop, "a+b" */
    text_add_char(&name, *c == '+' ? '_' : *c);
  return text_take(&name);
}
