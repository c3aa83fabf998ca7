/* Calls of loops. */
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/list.h"
#include "base/log.h"
#include "checkpoint/inner.h"
#include "context/context.h"
#include "files/layout.h"
#include "mesh/halo.h"
#include "record/kept.h"
#include "record/record.h"
#include "record/results.h"

/* The kind of an event, made of what is the same in every run: names, sizes of the whole mesh, texts. */
enum { HASH_START = 1469598103 };

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count) {
  const unsigned char *at = bytes;
  for (size_t i = 0; i < count; i++)
    hash = (hash ^ at[i]) * 1099511628211U;
  return hash;
}

static uint64_t hash_word(uint64_t hash, const char *word) {
  return hash_bytes(hash, word, strlen(word) + 1);
}

static long long user_number(const struct set *set, long element) {
  return set->spread ? set->spread->numbers[element] : set->to_user ? set->to_user[element] : element;
}

/* The sum of hashes of rows, in the user's numbers: the same however ranks share them, and in whatever order they lie. Sets of
 * entries have no numbers of their own. */
static int sum_map(struct op_context *ctx, const struct map *map, long long *out, struct error *err) {
  const uint64_t factor = 0x9e3779b97f4a7c15U;
  const bool known = !map->from->entries_of && !map->to->entries_of;
  uint64_t sum = 0;
  for (long e = 0; known && e < map->from->extents[EXTENT_OWNED]; e++) {
    uint64_t hash = (uint64_t)(user_number(map->from, e) + 1) * factor;
    for (long k = map_begin(map, e); k < map_end(map, e); k++) {
      hash = (hash ^ (uint64_t)user_number(map->to, map->table[k])) * factor;
      hash ^= hash >> 29;
    }
    sum += hash;
  }
  *out = (long long)sum;
  return together_alone(ctx->comm)
             ? OP_OK
             : ctx->comm->table->reduce_all(ctx->comm, out, 1, COMM_LLONG, COMM_SUM, err);
}

/* Found out once for each map: all ranks come to its first loop together. */
static int find_sum(struct op_context *ctx, struct checkpoint *k, const struct map *map, long long *out,
                    struct error *err) {
  for (size_t i = 0; i < k->nmaps; i++)
    if (k->maps[i].id == map->id) {
      *out = k->maps[i].sum;
      return OP_OK;
    }
  int code = sum_map(ctx, map, out, err);
  struct map_sum *more = array_more(k->maps, k->nmaps, sizeof *more);
  if (!more && !code)
    code = error_memory(err, "what is known of maps", 0);
  if (more) {
    k->maps = more;
    k->nmaps += !code;
    more[k->nmaps - !code] = (struct map_sum){map->id, *out};
  }
  return together_agree(ctx->comm, code, err);
}

static int add_maps(struct op_context *ctx, struct checkpoint *k, const struct loop *loop, struct text *out,
                    struct error *err) {
  uint64_t hash = HASH_START;
  int code = OP_OK;
  for (int i = 0; !code && i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    long long sum;
    if (!arg->map || map_is_own(arg->map))
      continue;
    code = find_sum(ctx, k, map_origin(arg->map), &sum, err);
    hash = hash_bytes(hash, &sum, sizeof sum);
  }
  if (hash != HASH_START)
    text_addf(out, "; maps %08x", (unsigned)(hash & 0xffffffffU));
  return code;
}

/* A text that moved to another line of its file is the same. */
static uint64_t hash_text(const char *text) {
  uint64_t hash = HASH_START;
  while (*text) {
    const size_t line = strcspn(text, "\n");
    if (strncmp(text, "#line", 5) != 0)
      hash = hash_bytes(hash, text, line);
    text += line + (text[line] == '\n');
  }
  return hash;
}

/* By what the program said: when it is found that a kernel leaves some of what it writes depends on the run. */
static void add_argument(struct text *out, const struct loop_arg *arg, const op_arg *said) {
  if (!arg->present) {
    text_add(out, "none");
    return;
  }
  const char *name = arg->dat                 ? arg->dat->name
                     : arg->gbl               ? arg->gbl->name
                     : arg->form == DESC_INFO ? "payload"
                     : arg->form == DESC_IDX  ? "number"
                                              : "value";
  text_addf(out, "%s %d %s %s", name, arg->dim, type_info(arg->type)->name, access_name((int)said->access_));
  if (arg->map && !map_is_own(arg->map))
    text_addf(out, " by %s[%d]", arg->map->name, arg->idx);
}

static void add_loop(struct text *out, const struct loop *loop) {
  const struct set *set = set_numbered(loop->set);
  text_addf(out, "loop %s over %s (%lld elements%s%s):", loop->name, set->name, set->global_size,
            loop->set->sub ? ", of them " : "", loop->set->sub ? loop->set->name : "");
  for (int i = 0; i < loop->nargs; i++) {
    text_add(out, i ? ", " : " ");
    add_argument(out, &loop->args[i], &loop->key.args[i]);
  }
  text_addf(out, "; text %08x", (unsigned)(hash_text(loop->key.text) & 0xffffffffU));
}

/* The loop gets new values for all of the dat, and nothing is read before.
 * Where it is known that a kernel leaves some of what it says that it writes, the rest stays as it was. Ranks need not know
 * the same, and must not decide by it. */
static bool access_kills(const struct loop *loop, const struct loop_arg *arg) {
  const bool partial =
      !loop->set->of_ranks && loop->facts.known && loop->facts.args[arg - loop->args].partial;
  return arg->access == OP_WRITE && !arg->map && !loop->set->sub && !partial;
}

/* Keeps the accesses of the last call: a temporary has another number each time. */
static bool take_accesses(struct kind *kind, const struct loop *loop) {
  struct kind_access *accesses = array_resize(kind->accesses, (size_t)loop->nargs, sizeof *accesses);
  if (!accesses)
    return false;
  kind->accesses = accesses;
  kind->naccesses = 0;
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    const bool kills = access_kills(loop, arg);
    if (arg->present && arg->dat)
      accesses[kind->naccesses++] =
          (struct kind_access){.dat = arg->dat->id,
                               .reads = !kills,
                               .kills = kills,
                               .bytes = arg->dat->set->global_size * (long long)arg->dat->row_bytes};
  }
  return true;
}

/* The kind of a loop's call, with its accesses. *kind -1: no memory. All ranks: the first loop of a map looks through it. */
static int kind_of_loop(struct op_context *ctx, struct checkpoint *k, const struct loop *loop, int *kind,
                        struct error *err) {
  struct text line = {0};
  *kind = -1;
  add_loop(&line, loop);
  int code = add_maps(ctx, k, loop, &line, err);
  const uint64_t hash = hash_word(HASH_START, text_str(&line));
  if (loop->key.file)
    text_addf(&line, " (%s:%d)", loop->key.file, loop->key.line);
  if (!code && text_ok(&line))
    *kind = happened_kind(&k->happened, hash, text_str(&line));
  if (*kind >= 0 && !take_accesses(&k->happened.kinds[*kind], loop))
    *kind = -1;
  text_free(&line);
  return code;
}

static int find_kind(struct op_context *ctx, struct checkpoint *k, const struct loop *loop, int *kind,
                     struct error *err) {
  struct seen *seen = &k->seen[((uintptr_t)loop >> 6) % SEEN];
  int code = OP_OK;
  if (seen->loop != loop || seen->order != loop->key.order) {
    *seen = (struct seen){.loop = loop, .order = loop->key.order};
    code = kind_of_loop(ctx, k, loop, &seen->kind, err);
  }
  *kind = seen->kind;
  if (code || seen->kind < 0)
    seen->loop = NULL;
  return code;
}

/* Where the program finds a result of argument i; NULL: it finds none there. */
static void *result_of(const struct loop *loop, const struct loop_call *call, int i) {
  const struct loop_arg *arg = &loop->args[i];
  const bool result = arg->present && (arg->form == DESC_INFO || arg_is_result(arg));
  return result && !arg->gbl && !kept_has(&call->args[i]) ? call->args[i].data_ : NULL;
}

static int give_results(const struct checkpoint *k, const struct loop *loop, const struct loop_call *call,
                        struct error *err) {
  int code = OP_OK;
  for (int v = 0; !code && v < loop->nvalues; v++) {
    void *memory = result_of(loop, call, loop->values[v]);
    if (memory)
      code = values_take(k, &k->past->values, &k->past->values_at, loop->name, memory,
                         loop->args[loop->values[v]].bytes, err);
  }
  return code;
}

static int ran(struct op_context *ctx, const struct loop *loop, const struct loop_call *call,
               struct error *err) {
  struct checkpoint *k = checkpoint_of(ctx);
  int code = OP_OK;
  k->running = false;
  for (int v = 0; !code && v < loop->nvalues; v++) {
    const void *memory = result_of(loop, call, loop->values[v]);
    if (memory)
      code = values_add(k, &k->values, loop->name, memory, loop->args[loop->values[v]].bytes, err);
  }
  return code;
}

/* A call that is refused before it runs is refused again in the next run, and does not count. */
static void failed(struct op_context *ctx, bool waited) {
  struct checkpoint *k = checkpoint_of(ctx);
  k->running |= waited;
  if (k->running && !k->stopped && together_is_root(ctx->comm))
    log_line(
        ctx->log, LOG_WARN, "io",
        "%s: no more checkpoints are written, since a loop failed: a run that goes on would pass it as if "
        "it had not",
        k->path);
  k->stopped |= k->running;
  k->running = false;
}

/* A kernel that leaves some of what it says that it writes shows it when its loop first runs: from then on it says OP_RW. Until
 * then what it writes is kept. The program's own functions nobody looks at. */
static bool may_leave_some(const struct loop *loop) {
  return loop->backend->plan && !loop->ready.prepared;
}

/* Reads come first: a loop may have a dat twice. */
static int decide(struct op_context *ctx, struct checkpoint *k, const struct loop *loop, struct error *err) {
  int code = OP_OK;
  for (int i = 0; !code && i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    const bool open =
        arg->present && arg->dat && (size_t)arg->dat->id < k->nmarks && k->marks[arg->dat->id].open;
    if (arg->present && arg->dat && (!access_kills(loop, arg) || (open && may_leave_some(loop))))
      code = checkpoint_look(ctx, k, loop->name, arg->dat, err);
  }
  for (int i = 0; !code && i < loop->nargs; i++)
    if (loop->args[i].present && loop->args[i].dat && access_kills(loop, &loop->args[i]))
      checkpoint_drops(k, loop->args[i].dat);
  return code;
}

static int note_changes(struct checkpoint *k, const struct loop *loop, struct error *err) {
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (!arg->present || !arg->dat || !access_changes(arg->access))
      continue;
    struct mark *mark = checkpoint_mark(k, arg->dat);
    if (!mark)
      return error_memory(err, "what is known of dats", k->nmarks * sizeof *mark);
    mark->changed = true;
  }
  return OP_OK;
}

static int told(struct op_context *ctx, struct loop *loop, const struct loop_call *call, bool *done,
                struct error *err) {
  struct checkpoint *k = checkpoint_of(ctx);
  int kind = -1, code = find_kind(ctx, k, loop, &kind, err);
  if (!code)
    code = checkpoint_event(ctx, k, kind, false, err);
  if (code)
    return code;
  k->loops++;
  if (k->past) {
    k->facts.skipped++;
    *done = true;
    code = give_results(k, loop, call, err);
  } else if (k->nlost || k->nopen)
    code = decide(ctx, k, loop, err);
  if (!code)
    code = note_changes(k, loop, err);
  k->running = !code && !k->past;
  return code;
}

void checkpoint_record(struct checkpoint *k) {
  k->recorder =
      (struct recorder){.state = k,
                        .loop = told,
                        .ran = ran,
                        .failed = failed,
                        .no_matrix = "which checkpoints do not hold; run without OP2_CHECKPOINT",
                        .no_graph = "loops of a graph have no checkpoints; run without OP2_CHECKPOINT, or "
                                    "call op_par_loop"};
}

/* ---- maps, so that another mesh shows ---- */

int kind_of_call(struct happened *h, const char *call, const char *name, int dim) {
  const uint64_t hash = hash_bytes(hash_word(hash_word(HASH_START, call), name), &dim, sizeof dim);
  struct text line = {0};
  for (size_t i = 0; i < h->nkinds; i++)
    if (h->kinds[i].hash == hash)
      return (int)i;
  text_addf(&line, *name ? "%s of \"%s\", %d values" : "%s", call, name, dim);
  const int kind = text_ok(&line) ? happened_kind(h, hash, text_str(&line)) : -1;
  text_free(&line);
  return kind;
}
