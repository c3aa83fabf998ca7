/* Records of loops: which elements run, in which parts; and the table in which they are found by call site, kernel text, set
 * and arguments. */
#include "record/record.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "context/context.h"
#include "mesh/data.h"
#include "mesh/matrix.h"
#include "mesh/subset.h"
#include "op2jit.h"

bool loop_fills_matrix(const struct loop *loop) {
  bool fills = false;
  for (int i = 0; i < loop->nargs; i++)
    fills |= loop->args[i].dat && loop->args[i].dat->segment && loop->args[i].dat->segment->pair.rows;
  return fills;
}

bool loop_adds_to_rows(const struct loop *loop) {
  bool adds = false;
  for (int i = 0; i < loop->nargs; i++)
    adds |= loop->args[i].dat && loop->args[i].dat->segment && !loop->args[i].dat->segment->set;
  return adds;
}

bool loop_writes_through_map(const struct loop *loop) {
  if (loop_fills_matrix(loop))
    return true;
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (arg->form == DESC_DAT && arg->present && !arg_is_own(arg) && arg->access != OP_READ)
      return true;
  }
  return false;
}

static bool has_map(const struct loop *loop) {
  for (int i = 0; i < loop->nargs; i++)
    if (!arg_is_own(&loop->args[i]) && loop->args[i].present)
      return true;
  return false;
}

static void add_part(struct loop *loop, long begin, long end) {
  loop->ready.parts[loop->ready.nparts++] = (struct loop_part){.begin = begin, .end = end};
}

/* The parts are the same whether or not a call needs messages: so are the bits of its results, and one set of
 * plans serves both. */
void loop_make_parts(struct loop *loop) {
  const long *extents = loop->set->extents;
  loop->ready.nparts = 0;
  if (!loop->set->spread || !has_map(loop))
    add_part(loop, 0, extents[EXTENT_OWNED]);
  else {
    add_part(loop, 0, extents[EXTENT_CORE]);
    add_part(loop, extents[EXTENT_CORE], extents[EXTENT_OWNED]);
  }
  loop->ready.nresults = loop->ready.nparts;
  if (loop->set->spread && loop_writes_through_map(loop))
    add_part(loop, extents[EXTENT_OWNED], extents[EXTENT_EXEC]);
  loop->stats.redundant =
      extents[EXTENT_OWNED] ? (double)(loop_end(loop) - extents[EXTENT_OWNED]) / (double)extents[EXTENT_OWNED]
                            : 0;
}

/* ---- the table ---- */

static uint64_t mix(uint64_t value) {
  value ^= value >> 32;
  value *= 0x9e3779b97f4a7c15u;
  return value ^ value >> 29;
}

/* A sum over the arguments, so that the processor works on several at a time: this is in every call. */
uint64_t loop_hash(const struct loop_call *call) {
  uint64_t sum = (uint64_t)(uintptr_t)call->set + (uint64_t)call->nargs;
  for (int i = 0; i < call->nargs; i++) {
    const op_arg *a = &call->args[i];
    const uint64_t numbers =
        (uint64_t)(unsigned)a->idx_ << 32 ^ (uint64_t)(unsigned)a->dim_ << 8 ^ (uint64_t)(unsigned)a->access_;
    sum += mix((uint64_t)(uintptr_t)a->dat_ * 0xff51afd7ed558ccdu ^ (uint64_t)(uintptr_t)a->map_ << 1 ^
               numbers * 0xc4ceb9fe1a85ec53u ^ (uint64_t)i << 56);
  }
  return mix(sum);
}

/* The arguments have one record. The address of a global does not matter: it may differ from call to call. */
static bool same_arg(const op_arg *a, const op_arg *b) {
  return a->dat_ == b->dat_ && a->map_ == b->map_ && a->form_ == b->form_ && a->idx_ == b->idx_ &&
         a->dim_ == b->dim_ && a->type_ == b->type_ && a->access_ == b->access_ &&
         a->present_ == b->present_ && a->ref_ == b->ref_;
}

static bool is_record(const struct loop *loop, uint64_t hash, const struct loop_call *call) {
  if (loop->key.hash != hash || loop->key.set != call->set || loop->nargs != call->nargs)
    return false;
  for (int i = 0; i < call->nargs; i++)
    if (!same_arg(&loop->key.args[i], &call->args[i]))
      return false;
  return loop->compiled == call->compiled && strcmp(loop->key.name, call->name) == 0 &&
         strcmp(loop->key.text, call->text) == 0;
}

struct loop *loop_find(const struct loop_table *table, uint64_t hash, const struct loop_call *call) {
  if (!table->nbuckets)
    return NULL;
  for (struct loop *loop = table->buckets[hash & (table->nbuckets - 1)]; loop; loop = loop->next)
    if (is_record(loop, hash, call))
      return loop;
  return NULL;
}

static bool grow(struct loop_table *table) {
  if (table->count < table->nbuckets)
    return true;
  size_t n = table->nbuckets ? 2 * table->nbuckets : 64;
  struct loop **buckets = array_new(n, sizeof *buckets);
  if (!buckets)
    return false;
  for (size_t b = 0; b < table->nbuckets; b++)
    for (struct loop *loop = table->buckets[b], *next; loop; loop = next) {
      next = loop->next;
      loop->next = buckets[loop->key.hash & (n - 1)];
      buckets[loop->key.hash & (n - 1)] = loop;
    }
  free(table->buckets);
  table->buckets = buckets;
  table->nbuckets = n;
  return true;
}

int loop_add(struct op_context *ctx, struct loop *loop, struct error *err) {
  struct loop_table *table = ctx->loops;
  if (!grow(table))
    return error_memory(err, "the table of loops", 2 * table->nbuckets * sizeof(void *));
  struct loop **bucket = &table->buckets[loop->key.hash & (table->nbuckets - 1)];
  loop->key.order = table->next_order++;
  loop->next = *bucket;
  *bucket = loop;
  table->count++;
  ctx->counters->records++;
  return OP_OK;
}

bool loop_uses(const struct loop *loop, const void *object) {
  if (loop->set == object || set_numbered(loop->set) == object)
    return true;
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if ((arg->dat && arg->dat == object) ||
        (arg->map && (arg->map == object || map_origin(arg->map) == object)))
      return true;
  }
  return false;
}

static void enter_again(struct loop_table *table, struct loop *loop) {
  const struct loop_call call = {.set = loop->key.set, .nargs = loop->nargs, .args = loop->key.args};
  loop->key.hash = loop_hash(&call);
  loop->next = table->buckets[loop->key.hash & (table->nbuckets - 1)];
  table->buckets[loop->key.hash & (table->nbuckets - 1)] = loop;
}

static bool goes_by(const struct loop *loop, const void *handle) {
  bool found = loop->key.set == handle;
  for (int i = 0; i < loop->nargs; i++)
    found |= loop->key.args[i].dat_ == handle;
  return found;
}

static void rename_handle(struct loop *loop, const void *from, void *to) {
  if (loop->key.set == from)
    loop->key.set = to;
  for (int i = 0; i < loop->nargs; i++)
    if (loop->key.args[i].dat_ == from)
      loop->key.args[i].dat_ = to;
}

static bool rename_all(struct loop_table *table, const void *from, void *to) {
  struct loop *found = NULL;
  for (size_t b = 0; b < table->nbuckets; b++)
    for (struct loop **link = &table->buckets[b], *loop; (loop = *link);) {
      if (!goes_by(loop, from)) {
        link = &loop->next;
        continue;
      }
      *link = loop->next;
      loop->next = found;
      found = loop;
    }
  const bool any = found;
  for (struct loop *next; found; found = next) {
    next = found->next;
    rename_handle(found, from, to);
    enter_again(table, found);
  }
  return any;
}

bool loops_rename(struct op_context *ctx, op_set from, op_set to) {
  return rename_all(ctx->loops, from, to);
}

void loops_rename_dat(struct op_context *ctx, op_dat from, op_dat to) {
  rename_all(ctx->loops, from, to);
}

struct loop *loop_next(const struct loop_table *table, const struct loop *loop) {
  struct loop *next = loop ? loop->next : NULL;
  for (size_t b = loop ? (loop->key.hash & (table->nbuckets - 1)) + 1 : 0; !next && b < table->nbuckets; b++)
    next = table->buckets[b];
  return next;
}

static int by_order(const void *a, const void *b) {
  const struct loop *const *x = a, *const *y = b;
  return (*x)->key.order < (*y)->key.order ? -1 : (*x)->key.order > (*y)->key.order;
}

struct loop **loop_records(const struct op_context *ctx) {
  struct loop **records = array_new(ctx->loops->count, sizeof *records);
  size_t n = 0;
  for (struct loop *loop = NULL; records && (loop = loop_next(ctx->loops, loop));)
    records[n++] = loop;
  if (records)
    qsort(records, n, sizeof *records, by_order);
  return records;
}

long long *loop_times(const struct op_context *ctx) {
  long long *times = array_new((size_t)ctx->mesh->sets.count, sizeof *times);
  for (const struct loop *loop = NULL; times && (loop = loop_next(ctx->loops, loop));) {
    const double computing = loop->stats.seconds - loop->stats.exchange_seconds;
    if (loop->set && computing > 0)
      times[loop->set->id] += (long long)(computing * 1e9);
  }
  return times;
}

/* ---- native forms ---- */

static bool is_named(const struct native_form *form, const char *name) {
  return form->name && name ? strcmp(form->name, name) == 0 : form->name == name;
}

/* By content: a text that was changed in place is another kernel. */
static struct native_form *find(const struct native_table *table, const char *text, const char *name) {
  for (int i = 0; i < table->count; i++)
    if (is_named(&table->items[i], name) && strcmp(table->items[i].text, text) == 0)
      return &table->items[i];
  return NULL;
}

int native_add(struct native_table *table, const char *text, const char *name, op_kernel_function function,
               struct error *err) {
  struct native_form *known = find(table, text, name);
  if (known) {
    known->function = function;
    return OP_OK;
  }
  struct native_form *items = array_more(table->items, (size_t)table->count, sizeof *items);
  if (!items)
    return error_memory(err, "the native forms", 2 * (size_t)table->count * sizeof *items);
  table->items = items;
  struct native_form form = {strdup(text), name ? strdup(name) : NULL, function};
  if (!form.text || (name && !form.name)) {
    free(form.text);
    free(form.name);
    return error_memory(err, "a kernel text", strlen(text) + 1);
  }
  items[table->count++] = form;
  return OP_OK;
}

op_kernel_function native_find(const struct native_table *table, const char *text, const char *name) {
  const struct native_form *form = find(table, text, name);
  if (!form)
    form = find(table, text, NULL);
  return form ? form->function : NULL;
}

void native_free(struct native_table *table) {
  for (int i = 0; i < table->count; i++) {
    free(table->items[i].text);
    free(table->items[i].name);
  }
  free(table->items);
  *table = (struct native_table){0};
}
