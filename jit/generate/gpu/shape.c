/* Shapes by name, increments by target, parameters in order, slots by argument. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "jit/generate/gpu/gpu.h"
#include "jit/generate/skeleton.h"

/* ---- names ---- */
static const char *const strategies[GPU_STRATEGIES] = {"direct", "atomics", "staged", "blocks", "colours",
                                                       "apart",  "whole",   "warps",  "ordered"};

bool gpu_has_blocks(enum gpu_strategy s) {
  return s == GPU_STAGED || s == GPU_BLOCKS || s == GPU_WHOLE;
}

void gpu_shape_print(const struct gpu_shape *s, struct text *out) {
  if (s->tasks) {
    gpu_tasks_print(s, out);
    return;
  }
  text_addf(out, "%s/%d", strategies[s->strategy], s->block);
  if (s->vectors)
    text_add(out, "/vectors");
  if (s->sorted)
    text_add(out, "/sorted");
  if (s->min_blocks)
    text_addf(out, "/min%d", s->min_blocks);
  if (s->rows)
    text_addf(out, "/rows%d", s->rows);
  if (s->joined)
    text_add(out, "/joined");
  if (s->near)
    text_add(out, "/near");
  if (s->near && s->near != GPU_NEAR_VALUES)
    text_addf(out, "%d", s->near);
  if (s->dependent)
    text_add(out, "/dependent");
}

int gpu_elements(const struct gpu_shape *s) {
  return s->rows ? s->block / s->rows : s->block;
}

bool gpu_shape_word(const char *word, struct gpu_shape *s) {
  int number = 0;
  char end;
  for (int i = 0; i < GPU_STRATEGIES; i++)
    if (strcmp(word, strategies[i]) == 0) {
      s->strategy = (enum gpu_strategy)i;
      s->near = 0; /* the first guess may be near; what is forced is what is named */
      return true;
    }
  if (strcmp(word, "vectors") == 0)
    return s->vectors = true;
  if (strcmp(word, "scalars") == 0)
    return !(s->vectors = false);
  if (strcmp(word, "sorted") == 0)
    return s->sorted = true;
  if (strcmp(word, "joined") == 0)
    return s->joined = true;
  if (strcmp(word, "dependent") == 0)
    return s->dependent = true;
  if (strcmp(word, "near") == 0) {
    s->near = GPU_NEAR_VALUES;
    return true;
  }
  if (sscanf(word, "near%d%c", &number, &end) == 1 && number > 0 && number <= 64) {
    s->near = number;
    return true;
  }
  if (sscanf(word, "min%d%c", &number, &end) == 1 && number > 0 && number <= 32) {
    s->min_blocks = number;
    return true;
  }
  if (strcmp(word, "rows1") == 0)
    return !(s->rows = 0);
  if (sscanf(word, "rows%d%c", &number, &end) == 1 && number >= GPU_ROWS_LEAST && number <= GPU_ROWS_MOST &&
      (number & (number - 1)) == 0) {
    s->rows = number;
    return true;
  }
  if (sscanf(word, "%d%c", &number, &end) == 1 && number >= 32 && number <= 1024 && number % 32 == 0) {
    s->block = number;
    return true;
  }
  return false;
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
/* What a block leaves behind: reductions, payloads, and globals that the one element of a set writes. */
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
static bool add(struct gpu_parameters *p, enum gpu_parameter_kind kind, int index, int column, size_t bytes) {
  struct gpu_parameter *items = array_more(p->items, (size_t)p->count, sizeof *items);
  if (!items)
    return false;
  p->items = items;
  items[p->count++] = (struct gpu_parameter){kind, index, column, bytes};
  return true;
}

static bool add_data(const struct desc *d, struct gpu_parameters *p) {
  bool good = true;
  for (int i = 0; i < d->ndats; i++) {
    good = good && add(p, GPU_P_DAT, i, 0, sizeof(void *));
    if (dat_is_apart(d, i))
      good = good && add(p, GPU_P_STRIDE, i, 0, sizeof(long long));
  }
  for (int m = 0; m < d->nmaps; m++)
    good = good && add(p, GPU_P_MAP, m, 0, sizeof(void *)) &&
           (!d->maps[m].ragged || add(p, GPU_P_OFFSETS, m, 0, sizeof(void *))) &&
           (!desc_scatters(d, m) || add(p, GPU_P_ENTRIES, m, 0, sizeof(void *)));
  for (int s = 0; s < d->nsets; s++)
    if (uses_numbers(d, s))
      good = good && add(p, GPU_P_NUMBERS, s, 0, sizeof(void *));
  return good;
}

/* Values up to here travel with the launch. */
enum { BY_VALUE = 512 };

static bool add_globals(const struct desc *d, struct gpu_parameters *p) {
  bool good = true;
  size_t together = 0;
  for (int i = 0; i < d->nargs; i++) {
    const struct desc_arg *a = &d->args[i];
    if (!a->present)
      continue;
    size_t bytes = (size_t)a->dim * type_info(a->type)->size;
    bool global = a->form == DESC_GBL && access_reads(a->access);
    bool start = a->form == DESC_GBL && access_is_extremum(a->access);
    if (!global && !start)
      continue;
    bool value = !a->kept && together + bytes <= BY_VALUE;
    together += value ? bytes : 0;
    good = good && add(p, global ? GPU_P_GLOBAL : GPU_P_START, i, !value, value ? bytes : sizeof(void *));
  }
  return good;
}

static bool add_results(const struct desc *d, const struct gpu_shape *s, struct gpu_parameters *p) {
  if (!gpu_slot_bytes(d))
    return true;
  bool good = add(p, GPU_P_SLOTS, 0, 0, sizeof(void *)) && add(p, GPU_P_WARPS, 0, 0, sizeof(void *)) &&
              add(p, GPU_P_SLOT, 0, 0, sizeof(int));
  if (!gpu_has_ticket(s))
    return good;
  good = good && add(p, GPU_P_TICKET, 0, 0, sizeof(void *)) && add(p, GPU_P_COUNT, 0, 0, sizeof(int)) &&
         (!gpu_tells_host(d) || add(p, GPU_P_RESULT, 0, 0, sizeof(void *)));
  for (int i = 0; i < d->nargs; i++)
    if (d->args[i].kept && in_slot(&d->args[i]))
      good = good && add(p, GPU_P_KEPT, i, 0, sizeof(void *));
  return good;
}

static bool add_staging(const struct gpu_targets *t, struct gpu_parameters *p) {
  bool good = true;
  for (int k = 0; k < t->count; k++) {
    good = good && add(p, GPU_P_STAGED_FIRST, k, 0, sizeof(void *)) &&
           add(p, GPU_P_STAGED_TARGETS, k, 0, sizeof(void *)) && add(p, GPU_P_STAGED_AT, k, 0, sizeof(int));
    for (int c = 0; c < t->items[k].ncolumns; c++)
      good = good && add(p, GPU_P_STAGED_LOCAL, k, c, sizeof(void *));
  }
  return good;
}

static bool add_sums(const struct gpu_targets *t, struct gpu_parameters *p) {
  static const enum gpu_parameter_kind kinds[] = {GPU_P_STAGED_FIRST, GPU_P_STAGED_TARGETS, GPU_P_SUMS_LAST,
                                                  GPU_P_SUMS_SLOTS};
  bool good = true;
  for (int k = 0; k < t->count; k++)
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
      good = good && add(p, kinds[i], k, 0, sizeof(void *));
  return good;
}

static bool add_walk(const struct gpu_shape *s, const struct gpu_targets *t, struct gpu_parameters *p) {
  bool good = true;
  if (s->sorted || s->strategy == GPU_COLOURS || s->strategy == GPU_ORDERED)
    good = add(p, GPU_P_LIST, 0, 0, sizeof(void *));
  good = good && add(p, GPU_P_BEGIN, 0, 0, sizeof(int)) && add(p, GPU_P_END, 0, 0, sizeof(int)) &&
         add(p, GPU_P_BACK, 0, 0, sizeof(int));
  if (gpu_has_blocks(s->strategy))
    good = good && add(p, GPU_P_BLOCKS, 0, 0, sizeof(void *)) && add(p, GPU_P_FIRST, 0, 0, sizeof(int)) &&
           add(p, GPU_P_COLOURS, 0, 0, sizeof(void *)) && add(p, GPU_P_COUNTS, 0, 0, sizeof(void *));
  if (s->strategy == GPU_STAGED || s->strategy == GPU_WHOLE)
    good = good && add_staging(t, p);
  if (gpu_sums_by_targets(s->strategy))
    good = good && add_sums(t, p);
  for (int k = 0; gpu_adds_later(s->strategy) && k < t->count; k++)
    good = good && add(p, GPU_P_APART, k, 0, sizeof(void *));
  return good;
}

/* Their bytes, as they travel. */
static bool add_constants(const struct desc *d, const struct gpu_shape *s, struct gpu_parameters *p) {
  size_t bytes = 0;
  for (int i = 0; i < d->nconsts; i++)
    if (!d->consts[i].folded)
      bytes += ((size_t)d->consts[i].dim * type_info(d->consts[i].type)->size + 15) / 16 * 16;
  return s->dialect != GPU_DIALECT_OPENCL || !bytes || add(p, GPU_P_CONSTANTS, 0, 0, bytes);
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
  if (add_data(d, out) && add_globals(d, out) && add_results(d, s, out) && add_walk(s, t, out) &&
      add_constants(d, s, out))
    return OP_OK;
  gpu_parameters_free(out);
  return error_memory(err, "a kernel's parameters", 0);
}

int gpu_parameter_bytes(const struct gpu_parameter *p) {
  switch (p->kind) {
  case GPU_P_STRIDE:
  case GPU_P_SLOT:
  case GPU_P_COUNT:
  case GPU_P_BEGIN:
  case GPU_P_END:
  case GPU_P_BACK:
  case GPU_P_FIRST:
  case GPU_P_CONSTANTS:
  case GPU_P_STAGED_AT: return (int)p->bytes;
  case GPU_P_GLOBAL:
  case GPU_P_START: return p->column ? 0 : (int)p->bytes;
  default: return 0;
  }
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
