/* Results of a loop in CUDA C: one structure per thread, merged over the warp, the block and the grid, always in the
 * same order. */
#include <stdio.h>

#include "jit/emit/gpu/write.h"

static bool has_slot(const struct gpu_writer *w) {
  return gpu_slot_bytes(w->g.d) > 0;
}

static bool is_member(const struct gpu_writer *w, int arg) {
  return gpu_slot_offset(w->g.d, arg) >= 0;
}

static bool is_extremum(const struct desc_arg *a) {
  return a->form == DESC_GBL && access_is_extremum(a->access);
}

static void put_struct(struct gpu_writer *w) {
  const struct desc *d = w->g.d;
  put_info_types(&w->g);
  for (int i = 0; w->language->copies && i < d->nargs; i++)
    if (d->args[i].form == DESC_INFO)
      put(&w->g, "typedef struct op2_info%d op2_info%d;", i, i);
  if (w->language->copies)
    put(&w->g, "typedef struct op2_slot op2_slot;");
  put_open(&w->g, "struct $aligned op2_slot");
  for (int i = 0; i < d->nargs; i++) {
    const struct desc_arg *a = &d->args[i];
    if (!is_member(w, i))
      continue;
    if (a->form == DESC_INFO)
      put(&w->g, "$aligned op2_info%d g%d;", i, i);
    else
      put(&w->g, "$aligned %s g%d[%d];", gpu_is_exact_sum(d, i) ? "op2_exact" : word_type(&w->g, a->type), i,
          a->dim);
  }
  w->g.depth--;
  put(&w->g, "};");
}

static void put_merged(struct gpu_writer *w, int arg) {
  const struct desc *d = w->g.d;
  const struct desc_arg *a = &d->args[arg];
  const char *most = gpu_most(a->access), *type = gpu_of_type(w, a->type);
  if (gpu_is_exact_sum(d, arg)) {
    put_components(&w->g, a->dim, "op2_exact_merge(&to->g%d[#], &from->g%d[#]);", arg, arg);
  } else if (gpu_is_exact(d, arg)) {
    char from[32], to[32];
    snprintf(from, sizeof from, "from->g%d[#]", arg);
    snprintf(to, sizeof to, "to->g%d[#]", arg);
    gpu_put_exact_better(w, arg, from, to);
  } else if (a->access == OP_INC) {
    put_components(&w->g, a->dim, "to->g%d[#] = (%s)(to->g%d[#] + from->g%d[#]);", arg,
                   word_type(&w->g, a->type), arg, arg);
  } else if (is_extremum(a) && a->info < 0) {
    put_components(&w->g, a->dim,
                   "if (op2_better%s(from->g%d[#], to->g%d[#], %s)) to->g%d[#] = from->g%d[#];", type, arg,
                   arg, most, arg, arg);
  } else if (is_extremum(a)) {
    put_open(&w->g,
             "if (from->g%d.element >= 0 && (op2_better%s(from->g%d[0], to->g%d[0], %s) || "
             "(op2_same%s(from->g%d[0], to->g%d[0]) && from->g%d.element < to->g%d.element)))",
             a->info, type, arg, arg, most, type, arg, arg, a->info, a->info);
    put(&w->g, "to->g%d[0] = from->g%d[0];", arg, arg);
    for (int i = 0; i < d->nargs; i++)
      if (d->args[i].form == DESC_INFO && d->args[i].ref == arg)
        put(&w->g, "to->g%d = from->g%d;", i, i);
    put_close(&w->g);
  }
}

static void put_merge(struct gpu_writer *w) {
  put_open(&w->g, "$helper op2_merge(op2_slot *to, const op2_slot *from)");
  for (int i = 0; i < w->g.d->nargs; i++)
    if (is_member(w, i) && w->g.d->args[i].form == DESC_GBL)
      put_merged(w, i);
  put_close(&w->g);
}

/* A tree over the threads of a block, in shared memory where that is enough. */
static void put_tree(struct gpu_writer *w) {
  const char *space = word_named(&w->g, gpu_meeting_bytes(w->g.d, w->shape) ? "shared" : "global");
  put_open(&w->g, "$helper op2_finish(op2_slot mine, op2_slot $global*slot, op2_slot %s*meeting)", space);
  put(&w->g, "const int thread = $place, threads = (int)$threads;");
  put(&w->g, "int down = 1;");
  put(&w->g, "while (2 * down < threads) down *= 2;");
  put(&w->g, "meeting[thread] = mine;");
  put(&w->g, "$barrier");
  put_open(&w->g, "for (; down > 0; down /= 2)");
  put_open(&w->g, "if (thread < down && thread + down < threads)");
  put(&w->g, "const op2_slot other = meeting[thread + down];");
  put(&w->g, "op2_merge(&mine, &other);");
  put(&w->g, "meeting[thread] = mine;");
  put_close(&w->g);
  put(&w->g, "op2_meet(down);");
  put_close(&w->g);
  put(&w->g, "if (thread == 0) *slot = mine;");
  put_close(&w->g);
}

/* `mine` of the threads of a warp to its place; `place` is the thread's own. */
static void put_warp(struct gpu_writer *w, const char *place) {
  put_open(&w->g, "for (int down = $half; down > 0; down /= 2)");
  put(&w->g, "const op2_slot other = op2_lane(mine, 0xffffffffu, down);");
  put(&w->g, "op2_merge(&mine, &other);");
  put_close(&w->g);
  put(&w->g, "if (%s %% $lanes == 0) warps[%s / $lanes] = mine;", place, place);
}

/* By warps; then one thread takes theirs. */
static void put_warps(struct gpu_writer *w) {
  put_open(&w->g, "$helper op2_finish(op2_slot &mine, op2_slot *slot, op2_slot *warps)");
  put_warp(w, word_named(&w->g, "thread"));
  put(&w->g, "$barrier");
  put_open(&w->g, "if ($thread == 0)");
  put(&w->g, "for (int i = 1; i < (int)$threads / $lanes; i++) op2_merge(&mine, &warps[i]);");
  put(&w->g, "*slot = mine;");
  put_close(&w->g);
  put_close(&w->g);
}

/* Results that leave others as they are: sums of nothing, and an extremum that is there already. */
static void put_neutral(struct gpu_writer *w) {
  for (int i = 0; i < w->g.d->nargs; i++) {
    const struct desc_arg *a = &w->g.d->args[i];
    if (is_member(w, i) && a->form == DESC_INFO)
      put(&w->g, "mine.g%d.element = -1;", i);
    else if (gpu_is_exact_sum(w->g.d, i))
      put_components(&w->g, a->dim, "op2_exact_clear(&mine.g%d[#]);", i);
    else if (is_member(w, i) && a->access == OP_INC)
      put_components(&w->g, a->dim, "mine.g%d[#] = %s;", i, word_sum(a->type));
  }
}

/* Where a block's results meet, if not in memory that the launch brings. */
static void put_meeting(struct gpu_writer *w, int threads) {
  const bool last = gpu_has_ticket(w->shape);
  if (gpu_meeting_bytes(w->g.d, w->shape))
    put(&w->g, "__local op2_slot op2_meeting[%d];",
        last && threads < GPU_COMBINE_THREADS ? GPU_COMBINE_THREADS : threads);
  if (w->language->copies && last)
    put(&w->g, "__local int op2_told;");
}

static const char *meeting(const struct gpu_writer *w, const char *brought) {
  return gpu_meeting_bytes(w->g.d, w->shape) ? "op2_meeting" : brought;
}

static bool is_kept(const struct gpu_writer *w, int arg) {
  return is_member(w, arg) && w->g.d->args[arg].kept;
}

static bool has_kept(const struct gpu_writer *w) {
  bool some = false;
  for (int i = 0; i < w->g.d->nargs; i++)
    some |= is_kept(w, i);
  return some;
}

/* Results that stay on the device: added there to what they were. One thread does it, which has `result`. */
static void put_kept(struct gpu_writer *w) {
  const struct desc *d = w->g.d;
  put(&w->g, "op2_slot now = result;");
  /* One after the other: two arguments may be one global. */
  for (int i = 0; i < d->nargs; i++) {
    if (!is_kept(w, i))
      continue;
    if (access_reduces(d->args[i].access)) {
      put_components(&w->g, d->args[i].dim, "now.g%d[#] = kept%d[#];", i, i);
      put(&w->g, "op2_merge(&now, &result);");
    }
    put_components(&w->g, d->args[i].dim, "kept%d[#] = now.g%d[#];", i, i);
  }
}

static void put_kept_parameters(struct gpu_writer *w) {
  for (int i = 0; i < w->g.d->nargs; i++)
    if (is_kept(w, i))
      add_words(&w->g, w->g.out, ", %s $global*kept%d", gpu_memory_type(w, w->g.d->args[i].type), i);
}

/* Thread `place` adds up its slots: of each GPU_COMBINE_THREADS one. */
static void put_every(struct gpu_writer *w, const char *place) {
  put(&w->g, "op2_slot mine = slots[(int)%s < count ? %s : 0];", place, place);
  put_open(&w->g, "if ((int)%s >= count)", place);
  put_neutral(w);
  put_close(&w->g);
  put_open(&w->g, "for (int i = %s + %d; i < count; i += %d)", place, GPU_COMBINE_THREADS,
           GPU_COMBINE_THREADS);
  put(&w->g, "const op2_slot other = slots[i];");
  put(&w->g, "op2_merge(&mine, &other);");
  put_close(&w->g);
}

/* A kernel of one block, behind all others. */
static void put_combine(struct gpu_writer *w) {
  add_words(&w->g, w->g.out,
            "$kernel $bounds(%d) %s(op2_slot $global*slots, int count, op2_slot $global*warps",
            GPU_COMBINE_THREADS, GPU_COMBINE);
  put_kept_parameters(w);
  put_open(&w->g, ")");
  put_meeting(w, GPU_COMBINE_THREADS);
  put_every(w, word_named(&w->g, "place"));
  put(&w->g, "$barrier");
  put(&w->g, "op2_finish(mine, slots, %s);", meeting(w, "warps"));
  if (has_kept(w)) {
    put_open(&w->g, "if ($place == 0)");
    put(&w->g, "const op2_slot result = slots[0];");
    put_kept(w);
    put_close(&w->g);
  }
  put_close(&w->g);
}

/* By warps, one behind the other. */
static void put_last_warps(struct gpu_writer *w) {
  put_warp(w, "at");
  put_close(&w->g);
  put(&w->g, "$barrier");
  put(&w->g, "if ($thread != 0) return;");
  put(&w->g, "op2_slot result = warps[0];");
  put(&w->g, "for (int i = 1; i < %d / $lanes; i++) op2_merge(&result, &warps[i]);", GPU_COMBINE_THREADS);
}

/* By the tree that op2_combine has. */
static void put_last_tree(struct gpu_writer *w) {
  put(&w->g, "warps[at] = mine;");
  put_close(&w->g);
  put(&w->g, "$barrier");
  put_open(&w->g, "for (int down = %d; down > 0; down /= 2)", GPU_COMBINE_THREADS / 2);
  put_open(&w->g, "for (int at = $thread; at < down; at += (int)$threads)");
  put(&w->g, "op2_slot mine = warps[at];");
  put(&w->g, "const op2_slot other = warps[at + down];");
  put(&w->g, "op2_merge(&mine, &other);");
  put(&w->g, "warps[at] = mine;");
  put_close(&w->g);
  put(&w->g, "$barrier");
  put_close(&w->g);
  put(&w->g, "if ($thread != 0) return;");
  put(&w->g, "const op2_slot result = warps[0];");
}

/* The last block's work, with as many threads as it has: the same sums in the same order for every size. */
static void put_last(struct gpu_writer *w) {
  const char *space = word_named(&w->g, gpu_meeting_bytes(w->g.d, w->shape) ? "shared" : "global");
  add_words(&w->g, w->g.out, "$helper op2_last(const op2_slot $global*slots, int count, op2_slot %s*warps",
            space);
  if (gpu_tells_host(w->g.d))
    add_words(&w->g, w->g.out, ", op2_slot $global*out");
  put_kept_parameters(w);
  put_open(&w->g, ")");
  put_open(&w->g, "for (int at = $thread; at < %d; at += (int)$threads)", GPU_COMBINE_THREADS);
  put_every(w, "at");
  (w->language->copies ? put_last_tree : put_last_warps)(w);
  if (gpu_tells_host(w->g.d))
    put(&w->g, "*out = result;");
  if (has_kept(w))
    put_kept(w);
  put_close(&w->g);
}

void gpu_put_slot(struct gpu_writer *w) {
  if (!has_slot(w))
    return;
  put_struct(w);
  put_merge(w);
  (w->language->copies ? put_tree : put_warps)(w);
  if (gpu_has_ticket(w->shape))
    put_last(w);
  else
    put_combine(w);
}

/* A NaN that is left where one was the start. */
static void put_nothing(struct gpu_writer *w, int arg) {
  const struct desc_arg *a = &w->g.d->args[arg];
  if (type_info(a->type)->is_float)
    put_components(&w->g, a->dim,
                   "if (op2_b%d[#] != op2_b%d[#] && op2_r.g%d[#] != op2_r.g%d[#]) op2_r.g%d[#] = "
                   "op2_nothing%s(op2_r.g%d[#]);",
                   arg, arg, arg, arg, arg, gpu_of_type(w, a->type), arg);
}

void gpu_put_start(struct gpu_writer *w) {
  const struct desc *d = w->g.d;
  if (has_slot(w))
    put_meeting(w, w->shape->block);
  if (has_slot(w))
    put(&w->g, "op2_slot op2_r;");
  for (int i = 0; i < d->nargs; i++) {
    const struct desc_arg *a = &d->args[i];
    if (!is_member(w, i))
      continue;
    if (a->form == DESC_INFO) {
      put(&w->g, "op2_r.g%d.element = -1;", i);
      put_components(&w->g, a->dim, "op2_r.g%d.payload[#] = 0;", i);
    } else if (is_extremum(a)) {
      put_components(&w->g, a->dim, "op2_r.g%d[#] = op2_b%d[#];", i, i);
      if (a->info >= 0 || gpu_is_exact(d, i))
        put_nothing(w, i);
    } else if (gpu_is_exact_sum(d, i)) {
      put_components(&w->g, a->dim, "op2_exact_clear(&op2_r.g%d[#]);", i);
    } else if (a->access == OP_RW) {
      put_components(&w->g, a->dim, "op2_r.g%d[#] = op2_g%d[#];", i, i);
    } else if (!type_is_struct(a->type)) {
      put_components(&w->g, a->dim, "op2_r.g%d[#] = %s;", i, word_sum(a->type));
    }
  }
}

/* Threads of one element have all the same results: those of one count. Of equal extrema each will do. */
static void put_counted_once(struct gpu_writer *w) {
  put_open(&w->g, "if (op2_lane != 0)");
  for (int i = 0; i < w->g.d->nargs; i++) {
    const struct desc_arg *a = &w->g.d->args[i];
    if (is_member(w, i) && a->form == DESC_GBL && a->access == OP_INC)
      put_components(&w->g, a->dim, "op2_r.g%d[#] = %s;", i, word_sum(a->type));
  }
  put_close(&w->g);
}

/* Where the results of a block's threads or warps meet. In memory of the launch the places before them are for the last one. */
static void put_finished(struct gpu_writer *w) {
  const int first = gpu_has_ticket(w->shape) ? GPU_COMBINE_THREADS : 0;
  if (gpu_meeting_bytes(w->g.d, w->shape))
    put(&w->g, "op2_finish(op2_r, op2_own, op2_meeting);");
  else
    put(&w->g,
        w->language->copies
            ? "op2_finish(op2_r, op2_own, op2_warps + %d + (op2_slot0 + op2_nth) * %d);"
            : "op2_finish(op2_r, op2_own, op2_warps + (%d + (op2_slot0 + op2_nth) * %d) / $lanes);",
        first, w->shape->block);
}

/* The block that leaves the last slot of those that count makes the loop's results. */
static void put_leave(struct gpu_writer *w) {
  struct text kept = {0};
  for (int i = 0; i < w->g.d->nargs; i++)
    if (is_kept(w, i))
      text_addf(&kept, ", op2_kept%d", i);
  put(&w->g, "if (op2_slot0 + op2_nth < op2_count && op2_is_last(op2_ticket, op2_count%s))",
      w->language->copies ? ", &op2_told" : "");
  put(&w->g, "  op2_last(op2_slots, op2_count, %s%s%s);", meeting(w, "op2_warps"),
      gpu_tells_host(w->g.d) ? ", op2_result" : "", text_str(&kept));
  piece_free(&w->g, &kept);
}

void gpu_put_finish(struct gpu_writer *w) {
  for (int i = 0; i < w->g.d->nargs; i++)
    if (is_member(w, i) && is_extremum(&w->g.d->args[i]) && w->g.d->args[i].info < 0)
      put_nothing(w, i);
  if (!has_slot(w))
    return;
  if (w->shape->rows)
    put_counted_once(w);
  put(&w->g, "op2_slot $global*op2_own = op2_slots + op2_slot0 + op2_nth;");
  put_finished(w);
  if (gpu_has_ticket(w->shape))
    put_leave(w);
}
