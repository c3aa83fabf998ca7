#include "loop.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agree.h"
#include "base/size.h"
#include "check/check.h"
#include "check/shadow.h"
#include "context.h"
#include "data.h"
#include "layouts.h"
#include "loop_names.h"
#include "reports.h"
#include "spread.h"

/* ---- finding the record ---- */

static uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}

static uint64_t hash_call(op_set set, int nargs, const op_arg *args) {
  uint64_t hash = mix((uint64_t)(uintptr_t)set, (uint64_t)nargs);
  for (int i = 0; i < nargs; i++) {
    const op_arg *a = &args[i];
    hash = mix(hash, (uint64_t)(uintptr_t)a->dat ^ (uint64_t)(uintptr_t)a->map << 1);
    hash =
        mix(hash, (uint64_t)(unsigned)a->idx << 32 ^ (uint64_t)(unsigned)a->dim << 8 ^ (uint64_t)a->access);
  }
  return hash;
}

/* What makes an argument another one. The address of a global does not: it may differ from call to call. */
static bool same_arg(const op_arg *a, const op_arg *b) {
  return a->dat == b->dat && a->map == b->map && a->form == b->form && a->idx == b->idx && a->dim == b->dim &&
         a->type == b->type && a->access == b->access && a->present == b->present && a->ref == b->ref;
}

static bool is_record(const struct loop *loop, uint64_t hash, const char *text, const char *name, op_set set,
                      int nargs, const op_arg *args) {
  if (loop->hash != hash || loop->set_handle != set || loop->nargs != nargs)
    return false;
  for (int i = 0; i < nargs; i++)
    if (!same_arg(&loop->keys[i], &args[i]))
      return false;
  return strcmp(loop->name, name) == 0 && strcmp(loop->text, text) == 0;
}

static struct loop *find(const struct loop_table *table, uint64_t hash, const char *text, const char *name,
                         op_set set, int nargs, const op_arg *args) {
  if (!table->nbuckets)
    return NULL;
  for (struct loop *loop = table->buckets[hash & (table->nbuckets - 1)]; loop; loop = loop->next)
    if (is_record(loop, hash, text, name, set, nargs, args))
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
      loop->next = buckets[loop->hash & (n - 1)];
      buckets[loop->hash & (n - 1)] = loop;
    }
  free(table->buckets);
  table->buckets = buckets;
  table->nbuckets = n;
  return true;
}

static void shadow_free(struct op_context *ctx, struct loop *shadow);

static void loop_free(struct op_context *ctx, struct loop *loop) {
  if (loop->shadow)
    shadow_free(ctx, loop->shadow);
  layouts_forget(ctx->layouts[loop->backend->space], loop);
  loop->backend->drop(ctx, loop);
  check_drop(loop);
  desc_free(&loop->desc);
  kernel_free(&loop->kernel);
  error_free(&loop->failure);
  free(loop->keys);
  free(loop->name);
  free(loop->text);
  free(loop->file);
  free(loop->slots);
  free(loop->globals);
  free(loop->frame);
  free(loop);
}

/* A shadow's results are memory of its own. */
static void shadow_free(struct op_context *ctx, struct loop *shadow) {
  for (int i = 0; i < shadow->nargs; i++)
    free(shadow->user[i]);
  loop_free(ctx, shadow);
}

static bool uses(const struct loop *loop, const struct dat *dat) {
  for (int i = 0; i < loop->nargs; i++)
    if (loop->args[i].dat == dat)
      return true;
  return false;
}

/* As if it were of an older mesh. */
static void make_stale(const struct op_context *ctx, struct loop *loop) {
  loop->epoch = ctx->mesh.epoch - 1;
  loop->turned = true;
}

void loop_follow_layout(struct op_context *ctx, const struct dat *dat) {
  for (size_t b = 0; b < ctx->loops.nbuckets; b++)
    for (struct loop *loop = ctx->loops.buckets[b]; loop; loop = loop->next)
      if (uses(loop, dat)) {
        make_stale(ctx, loop);
        if (loop->shadow)
          make_stale(ctx, loop->shadow);
      }
}

void loop_forget(struct op_context *ctx, const struct dat *dat) {
  struct loop_table *table = &ctx->loops;
  for (size_t b = 0; b < table->nbuckets; b++)
    for (struct loop **link = &table->buckets[b]; *link;) {
      struct loop *loop = *link;
      if (dat && !uses(loop, dat)) {
        link = &loop->next;
        continue;
      }
      *link = loop->next;
      if (dat)
        loop_past_keep(&ctx->pasts, loop);
      loop_free(ctx, loop);
      table->count--;
    }
  if (!dat) {
    free(table->buckets);
    *table = (struct loop_table){.next_order = table->next_order};
  }
}

/* The record that was made last, and which its call did not come to use. */
static void forget_record(struct op_context *ctx, struct loop *loop) {
  struct loop_table *table = &ctx->loops;
  struct loop **link = &table->buckets[loop->hash & (table->nbuckets - 1)];
  while (*link != loop)
    link = &(*link)->next;
  *link = loop->next;
  table->count--;
  table->next_order--;
  ctx->counters.records--;
  loop_free(ctx, loop);
}

static int by_order(const void *a, const void *b) {
  const struct loop *const *x = a, *const *y = b;
  return (*x)->order < (*y)->order ? -1 : (*x)->order > (*y)->order;
}

struct loop **loop_records(const struct op_context *ctx) {
  struct loop **records = array_new(ctx->loops.count, sizeof *records);
  size_t n = 0;
  for (size_t b = 0; records && b < ctx->loops.nbuckets; b++)
    for (struct loop *loop = ctx->loops.buckets[b]; loop; loop = loop->next)
      records[n++] = loop;
  if (records)
    qsort(records, n, sizeof *records, by_order);
  return records;
}

/* ---- making the record ---- */

static int copy_call(struct loop *loop, const char *text, const char *name, const op_arg *args,
                     const char *file, struct error *err) {
  loop->keys = array_new((size_t)loop->nargs, sizeof *loop->keys);
  loop->name = strdup(name);
  loop->text = strdup(text);
  loop->file = strdup(file ? file : "");
  if (!loop->keys || !loop->name || !loop->text || !loop->file)
    return error_memory(err, "the record of a loop", strlen(text) + (size_t)loop->nargs * sizeof *loop->keys);
  memcpy(loop->keys, args, (size_t)loop->nargs * sizeof *loop->keys);
  return OP_OK;
}

/* Bytes that one call must move at least: every dat once, read, written or both, every map once. */
static void count_bytes(struct loop *loop) {
  const double elements = (double)loop->set->extents[EXTENT_OWNED];
  loop->stats.bytes = loop->stats.working_set = 0;
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    bool first_dat = true, first_map = true, reads = false, writes = false;
    for (int j = 0; j < loop->nargs; j++) {
      const struct loop_arg *other = &loop->args[j];
      if (arg->dat && other->dat == arg->dat && other->present) {
        first_dat &= j >= i;
        reads |= other->access != OP_WRITE;
        writes |= other->access != OP_READ;
      }
      first_map &= !(other->map == arg->map && j < i);
    }
    if (arg->map && first_map) {
      loop->stats.bytes += elements * arg->map->arity * (double)sizeof(int);
      loop->stats.working_set += elements * arg->map->arity * (double)sizeof(int);
    }
    if (arg->dat && arg->present && first_dat) {
      double reached = (double)arg->dat->set->extents[EXTENT_OWNED];
      if (arg->map && elements * arg->map->arity < reached)
        reached = elements * arg->map->arity;
      loop->stats.bytes += reached * (double)arg->dat->row_bytes * (reads + writes);
      loop->stats.working_set += reached * (double)arg->dat->row_bytes;
    }
  }
}

/* Before the first record that uses a dat describes it. */
static int settle_layouts(struct op_context *ctx, const struct loop *loop, struct error *err) {
  struct layouts *layouts = ctx->layouts[SPACE_HOST];
  int code = OP_OK;
  for (int i = 0; layouts && !code && i < loop->nargs; i++)
    if (loop->args[i].dat)
      code = layouts_settle(ctx, layouts, loop->args[i].dat, err);
  return code;
}

static int check_and_describe(struct op_context *ctx, struct loop *loop, struct error *err) {
  int code = loop_check(ctx, loop, err);
  if (!code)
    code = settle_layouts(ctx, loop, err);
  if (!code && (code = kernel_parse(&loop->kernel, loop->text, strlen(loop->text), loop->name, err)))
    error_prefix(err, "loop %s: ", loop->name);
  if (!code)
    code = loop_describe(ctx, loop, err);
  if (!code && (code = kernel_check(&loop->kernel, &loop->desc, err)))
    error_prefix(err, "loop %s, ", loop->name);
  if (!code)
    code = loop_layout(loop, err);
  if (!code) {
    loop->native = native_find(&ctx->natives, loop->text);
    loop->checked = ctx->diags >= 7 || check_wanted(env_value(&ctx->env, ENV_CHECK), loop->name);
  }
  return code;
}

/* A record that is in no table. */
static struct loop *new_loop(struct op_context *ctx, const struct backend *backend, const char *text,
                             const char *name, op_set set, int nargs, const op_arg *args, const char *file,
                             struct error *err) {
  struct loop *loop = calloc(1, sizeof *loop);
  if (!loop) {
    error_memory(err, "the record of a loop", sizeof *loop);
    return NULL;
  }
  loop->backend = backend;
  loop->set_handle = set;
  loop->nargs = nargs;
  if (copy_call(loop, text, name, args, file, err) || check_and_describe(ctx, loop, err)) {
    loop_free(ctx, loop);
    return NULL;
  }
  return loop;
}

static struct loop *make_record(struct op_context *ctx, uint64_t hash, const char *text, const char *name,
                                op_set set, int nargs, const op_arg *args, const char *file, int line,
                                struct error *err) {
  struct loop *loop = new_loop(ctx, ctx->backend, text, name, set, nargs, args, file, err);
  if (!loop)
    return NULL;
  loop_names_note(ctx, name);
  loop->hash = hash;
  loop->line = line;
  loop->order = ctx->loops.next_order++;
  if (ctx->shadow && !(loop->shadow = new_loop(ctx, ctx->shadow, text, name, set, nargs, args, file, err))) {
    loop_free(ctx, loop);
    return NULL;
  }
  if (!grow(&ctx->loops)) {
    loop_free(ctx, loop);
    error_memory(err, "the table of loops", 2 * ctx->loops.nbuckets * sizeof(void *));
    return NULL;
  }
  struct loop **bucket = &ctx->loops.buckets[hash & (ctx->loops.nbuckets - 1)];
  loop->next = *bucket;
  *bucket = loop;
  ctx->loops.count++;
  ctx->counters.records++;
  return loop;
}

/* ---- running ---- */

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Globals are not part of the record, so their addresses are looked at in every call. */
static int take_user_memory(struct loop *loop, const op_arg *args, struct error *err) {
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    bool wanted = arg->form == DESC_INFO || (arg->form == DESC_GBL && arg->present && arg->access != OP_WORK);
    if (wanted && !args[i].data)
      return error_set(err, OP_ERR_ARGUMENT,
                       "loop %s, argument %d: the data is NULL; expected the address of %d of type %s",
                       loop->name, i + 1, arg->dim, type_info(arg->type)->name);
    loop->user[i] = args[i].data;
  }
  return OP_OK;
}

/* A direct WRITE leaves nothing of the old values; everything else needs them. */
static int need_dats(struct op_context *ctx, const struct loop *loop, struct error *err) {
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (!arg->dat || !arg->present)
      continue;
    int code = dat_need(ctx, arg->dat, loop->backend->space, REGION_OWNED, err);
    if (code)
      return error_prefix(err, "loop %s, argument %d: ", loop->name, i + 1);
  }
  return OP_OK;
}

static bool constants_changed(struct op_context *ctx, struct loop *loop) {
  if (loop->constant_epoch == ctx->mesh.constant_epoch)
    return false;
  loop->constant_epoch = ctx->mesh.constant_epoch;
  for (int i = 0; i < loop->desc.nconsts; i++) {
    const struct desc_const *known = &loop->desc.consts[i];
    const struct constant *constant = mesh_find_constant(&ctx->mesh, known->name);
    if (known->folded && memcmp(known->value, constant->value, constant->bytes) != 0)
      return true;
  }
  return false;
}

/* Whether the record still says what the mesh and the constants say. */
static bool is_stale(struct op_context *ctx, struct loop *loop) {
  if (loop->epoch != ctx->mesh.epoch)
    return true;
  return loop->prepared ? constants_changed(ctx, loop) : loop->constant_epoch != ctx->mesh.constant_epoch;
}

static int prepare_anew(struct op_context *ctx, struct loop *loop, struct error *err) {
  int code = OP_OK;
  if (is_stale(ctx, loop)) {
    loop->backend->drop(ctx, loop);
    check_drop(loop);
    loop->prepared = false;
    code = loop_describe(ctx, loop, err);
    if (!code)
      code = loop_layout(loop, err);
    code = agree_on_loop(ctx, loop, loop->name, code, err);
    /* Half described is as stale as before. */
    if (code)
      loop->epoch = ctx->mesh.epoch - 1;
  }
  if (code || loop->prepared)
    return code;
  count_bytes(loop);
  loop_make_parts(loop);
  loop_fill_frame(ctx, loop);
  code = loop->backend->prepare(ctx, loop, err);
  if (code)
    loop->backend->drop(ctx, loop);
  return code;
}

static int prepare(struct op_context *ctx, struct loop *loop, struct error *err) {
  if (loop->prepared && loop->epoch == ctx->mesh.epoch && loop->constant_epoch == ctx->mesh.constant_epoch)
    return OP_OK;
  const int own = prepare_anew(ctx, loop, err);
  const int code = agree_on_success(ctx->agreement, own, err);
  if (code && !own)
    loop->backend->drop(ctx, loop);
  loop->prepared = !code;
  /* A text that does not compile will not the next time either, unless a constant is declared. */
  if (code == OP_ERR_COMPILE || code == OP_ERR_VIOLATION)
    error_copy(&loop->failure, err);
  return code;
}

/* OP2_CHECK: on the host, whatever the backend, which learns nothing of it but the new versions of the dats. */
static int execute_checked(struct op_context *ctx, struct loop *loop, struct error *err) {
  int code = prepare(ctx, loop, err);
  for (int i = 0; !code && i < loop->nargs; i++)
    if (loop->args[i].dat && loop->args[i].present)
      code = dat_need(ctx, loop->args[i].dat, SPACE_HOST, REGION_OWNED, err);
  if (!code)
    code = loop_exchange_anew(ctx, loop, err);
  for (int p = 0; !code && p < loop->nparts; p++)
    loop_set_slots(loop, p, p == 0);
  if (!code)
    code = loop_start_values(loop, err);
  double start = seconds();
  if (!code)
    code = check_run(ctx, loop, err);
  if (!code)
    code = loop_results(ctx, loop, err);
  if (code)
    return code;
  loop_mark_written(ctx, loop, SPACE_HOST);
  loop->stats.seconds += seconds() - start;
  loop->stats.variant = "checking form";
  return OP_OK;
}

/* Everything but the run. */
static int make_ready(struct op_context *ctx, struct loop *loop, struct error *err) {
  int code = prepare(ctx, loop, err);
  if (!code && loop->backend->select)
    code = loop->backend->select(ctx, loop, err);
  if (!code)
    code = need_dats(ctx, loop, err);
  return code ? code : loop_start_values(loop, err);
}

/* What was begun is ended, also after a failure. */
static int finish_exchange(struct op_context *ctx, struct loop *loop, int code, struct error *err) {
  struct error ignored = {0};
  int status = loop_exchange_finish(ctx, loop, code ? &ignored : err);
  error_free(&ignored);
  return code ? code : status;
}

/* The first part needs no halo: it runs while messages travel. */
static int run_parts(struct op_context *ctx, struct loop *loop, bool exchanging, struct error *err) {
  int code = OP_OK;
  for (int p = 0; !code && p < loop->nparts; p++) {
    if (loop->parts[p].begin < loop->parts[p].end)
      code = loop->backend->run(ctx, loop, p, err);
    if (p == 0 && exchanging)
      code = finish_exchange(ctx, loop, code, err);
  }
  if (!code && loop->backend->finish)
    code = loop->backend->finish(ctx, loop, err);
  return code;
}

int loop_run_plain(struct op_context *ctx, struct loop *loop, struct error *err) {
  int code = make_ready(ctx, loop, err);
  if (!code)
    code = run_parts(ctx, loop, false, err);
  return code ? code : loop_results(ctx, loop, err);
}

/* `spent` without the time that others made this rank wait, which says nothing about the variant. */
static void note_time(struct op_context *ctx, struct loop *loop, double start, double waited) {
  const double spent = seconds() - start;
  loop->stats.seconds += spent;
  if (spent > loop->stats.slowest)
    loop->stats.slowest = spent;
  if (loop->backend->ran)
    loop->backend->ran(ctx, loop, spent - (loop->stats.waiting_seconds - waited));
  if (ctx->trace.wanted)
    context_trace(ctx, loop, start, spent);
}

static int execute_once(struct op_context *ctx, struct loop *loop, struct error *err) {
  int code = make_ready(ctx, loop, err);
  if (code && !layouts_refuse(ctx, ctx->layouts[loop->backend->space], err)) {
    error_clear(&loop->failure);
    code = make_ready(ctx, loop, err);
  }
  if (code)
    return code;
  const double start = seconds(), waited = loop->stats.waiting_seconds;
  bool exchanging = false;
  if (loop->nneeds)
    code = loop_exchange_start(ctx, loop, loop->backend->space, &exchanging, err);
  if (!code)
    code = run_parts(ctx, loop, exchanging, err);
  if (!code)
    code = loop_results(ctx, loop, err);
  if (code)
    return code;
  loop_mark_written(ctx, loop, loop->backend->space);
  note_time(ctx, loop, start, waited);
  return OP_OK;
}

static int exchange_now(struct op_context *ctx, struct loop *loop, enum space space, struct error *err) {
  bool exchanging = false;
  int code = loop_exchange_start(ctx, loop, space, &exchanging, err);
  return code || !exchanging ? code : loop_exchange_finish(ctx, loop, err);
}

/* Both runs start from the same halos, also where the first one's are on a device only. */
static int execute_twice(struct op_context *ctx, struct loop *loop, struct error *err) {
  struct shadow_run run;
  int code = prepare(ctx, loop, err);
  if (!code)
    code = exchange_now(ctx, loop, loop->backend->space, err);
  if (!code && loop->shadow->backend->space == SPACE_HOST)
    code = exchange_now(ctx, loop, SPACE_HOST, err);
  if (!code)
    code = shadow_begin(ctx, loop, &run, err);
  if (code)
    return code;
  code = execute_once(ctx, loop, err);
  if (code) {
    copies_free(&run.before);
    return code;
  }
  return shadow_end(ctx, loop, &run, err);
}

/* Get the code, run nothing. What the checking form compiles is known when it runs, so it is left out here. */
static int look_up(struct op_context *ctx, struct loop *loop, struct error *err) {
  int code = prepare(ctx, loop, err);
  return !code && loop->backend->select ? loop->backend->select(ctx, loop, err) : code;
}

static int execute(struct op_context *ctx, struct loop *loop, struct error *err) {
  struct layouts *layouts = ctx->layouts[ctx->backend->space];
  int code = layouts ? layouts_step(ctx, layouts, err) : OP_OK;
  if (code)
    return code;
  if (loop->checked)
    return execute_checked(ctx, loop, err);
  if (loop->shadow && (loop->stats.calls - 1) % ctx->shadow_every == 0)
    return execute_twice(ctx, loop, err);
  return execute_once(ctx, loop, err);
}

static int check_call(const char *text, const char *name, int nargs, const op_arg *args, struct error *err) {
  if (!name)
    return error_set(err, OP_ERR_ARGUMENT,
                     "op_par_loop: the kernel's name is NULL; expected the name of the function");
  if (!text)
    return error_set(err, OP_ERR_ARGUMENT,
                     "loop %s: the kernel text is NULL; expected C text, from a string, OP_KERNEL or "
                     "op_kernel_file",
                     name);
  if (nargs < 1 || nargs > OP_MAX_ARGS || !args)
    return error_set(err, OP_ERR_NARGS, "loop %s: %d arguments; expected 1 to %d", name, nargs, OP_MAX_ARGS);
  return OP_OK;
}

/* The record of a call, made if there is none. Ranks agree on new ones, and on what is wrong with a call. */
static int find_record(struct op_context *ctx, const char *text, const char *name, op_set set, int nargs,
                       const op_arg *args, const char *file, int line, struct loop **out, struct error *err) {
  uint64_t hash = 0;
  int code = check_call(text, name, nargs, args, err);
  if (!code) {
    hash = hash_call(set, nargs, args);
    *out = find(&ctx->loops, hash, text, name, set, nargs, args);
    if (*out)
      return OP_OK;
    *out = make_record(ctx, hash, text, name, set, nargs, args, file, line, err);
    code = *out ? OP_OK : err->code;
  }
  code = agree_on_loop(ctx, *out, name, code, err);
  if (code && *out)
    forget_record(ctx, *out);
  return code;
}

static long long bytes_moved(const struct op_context *ctx) {
  return ctx->counters.bytes_to_device + ctx->counters.bytes_from_device;
}

int loop_run(struct op_context *ctx, const char *text, const char *name, op_set set, int nargs,
             const op_arg *args, const char *file, int line, struct error *err) {
  struct loop *loop = NULL;
  /* The first loop after a declaration sends messages of its own, so all must have come to it. */
  int code = mesh_is_distributed(ctx)
                 ? OP_OK
                 : agree_on_call(ctx, OP_OK, err, "loop %s", name ? name : "without a name");
  if (!code)
    code = mesh_distribute(ctx, err);
  if (!code)
    code = find_record(ctx, text, name, set, nargs, args, file, line, &loop, err);
  if (code)
    return code;
  if (loop->failure.code && loop->constant_epoch == ctx->mesh.constant_epoch)
    return error_copy(err, &loop->failure);
  error_clear(&loop->failure);
  code = take_user_memory(loop, args, err);
  if (code)
    return code;
  if (ctx->diags >= 3)
    log_line(&ctx->log, LOG_WARN, "loop", "loop %s over %ld elements of set \"%s\"", name, loop->set->size,
             loop->set->name);
  ctx->counters.loops++;
  loop->stats.calls++;
  if (loop->most_elements == 0)
    return OP_OK;
  if (ctx->missing.count)
    return missing_note(ctx, loop, look_up(ctx, loop, err), err);
  const long long moved = bytes_moved(ctx);
  code = execute(ctx, loop, err);
  loop->stats.moved += bytes_moved(ctx) - moved;
  return code == OP_ERR_CACHE_MISS ? missing_note(ctx, loop, code, err) : code;
}
