/* WARPS and ORDERED. Increments summed by warps: each lane leaves what its element adds in shared memory, one component behind the other;
 * then lanes take one value of a target each, add up its summands, which a plan lists, and add the sum to memory. Lanes
 * that are neighbours have neighbouring values, so that one operation covers what lies in one piece of memory. Nothing
 * but the lanes of a warp waits for one another; `joined` and ORDERED have the threads of a block in place of those. Warps of
 * OpenCL are sub-groups, or equal parts of one; where a driver made smaller ones, the whole group waits in place of them.
 *
 * Shared memory is never added to: on many devices that is a loop of its own. */
#include <stdio.h>

#include "jit/emit/gpu/write.h"

static bool is_ordered(const struct gpu_writer *w) {
  return w->shape->strategy == GPU_ORDERED;
}

static bool is_joined(const struct gpu_writer *w) {
  return w->shape->joined || is_ordered(w);
}

static const struct desc_dat *dat_of(const struct gpu_writer *w, int k) {
  return &w->g.d->dats[w->targets.items[k].dat];
}

static bool is_sum(const struct gpu_writer *w, int k) {
  return w->targets.items[k].access == OP_INC;
}

/* Kernels add to its rows in shared memory, which lie there one behind the other. */
static bool is_near(const struct gpu_writer *w, int k) {
  return gpu_is_near(w->g.d, w->shape, &w->targets, w->targets.items[k].columns[0].arg);
}

void gpu_put_sum_types(struct gpu_writer *w) {
  if (is_joined(w))
    put(&w->g, "#define OP2_WIDTH %d", w->shape->block);
  else
    put(&w->g, "#define OP2_WIDTH $lanes");
  for (int k = 0; k < w->targets.count; k++) {
    put(&w->g, "#if %d * OP2_WIDTH <= 256", w->targets.items[k].ncolumns);
    put(&w->g, "typedef unsigned char op2_entry%d;", k);
    put(&w->g, "#else");
    put(&w->g, "typedef unsigned short op2_entry%d;", k);
    put(&w->g, "#endif");
  }
}

/* Where each target's summands are in the memory of those that sum together (gpu_sums_bytes). */
static void put_sizes(struct gpu_writer *w) {
  put(&w->g, "enum { op2_width = OP2_WIDTH, op2_until0 = 0 };");
  for (int k = 0; k < w->targets.count; k++)
    if (is_near(w, k))
      put(&w->g, "enum { op2_until%d = op2_until%d + (%d * op2_width * %d * %d + 15) / 16 * 16 };", k + 1, k,
          w->targets.items[k].ncolumns, gpu_near_apart(dat_of(w, k)->dim),
          (int)type_info(dat_of(w, k)->type)->size);
    else
      put(&w->g,
          "enum { op2_size%d = %d * op2_width + 1, op2_until%d = op2_until%d + (%d * op2_size%d * %d + 15) / "
          "16 * 16 };",
          k, w->targets.items[k].ncolumns, k + 1, k, dat_of(w, k)->dim * (is_sum(w, k) ? 1 : 2), k,
          (int)type_info(dat_of(w, k)->type)->size);
}

/* This thread's element, the shared memory of its warp, and what the plan has for that. */
static void put_begin(struct gpu_writer *w) {
  const bool copies = w->language->copies;
  const char *space = copies ? word_named(&w->g, "shared") : "";
  /* Sub-groups need not have work-items that are neighbours. */
  const char *const thread = word_named(&w->g, is_joined(w) ? "thread" : "place");
  put_sizes(w);
  put(&w->g, "const int op2_in = (int)(%s %% op2_width);", thread);
  const char *const place = is_ordered(w) ? "op2_i" : "op2_e";
  put(&w->g, "const int %s = op2_begin + op2_nth * %d + (int)%s;", place, w->shape->block, thread);
  put(&w->g, "const bool op2_on = %s < op2_end, op2_some = %s - op2_in < op2_end;", place, place);
  if (is_ordered(w))
    put(&w->g, "const int op2_e = op2_on ? op2_begin + op2_list[op2_i] : 0;");
  put(&w->g, "const int op2_group = (op2_nth * %d + (int)%s) / op2_width;", w->shape->block, thread);
  if (!copies)
    put(&w->g, "$shared $aligned unsigned char op2_shared[];");
  for (int k = 0; k < w->targets.count; k++) {
    const char *type = gpu_memory_type(w, dat_of(w, k)->type);
    put(&w->g,
        "%s%s *const op2_h%d = (%s%s *)(op2_shared + ((int)%s / op2_width * op2_until%d + op2_until%d)%s);",
        space, type, k, space, type, thread, w->targets.count, k, copies ? " / 16" : "");
    put(&w->g, "const $wide op2_u%d = op2_some ? op2_f%d[op2_group] : 0;", k, k);
    put(&w->g, "const int op2_n%d = op2_some ? (int)(op2_f%d[op2_group + 1] - op2_u%d) : 0;", k, k, k);
  }
  if (!w->shape->near)
    return;
  char sums[64];
  snprintf(sums, sizeof sums, "%d / op2_width * op2_until%d", w->shape->block, w->targets.count);
  gpu_put_near_places(w, sums);
  gpu_put_brought(w);
}

static void put_left(struct gpu_writer *w, int arg, int v) {
  const struct desc_arg *a = &w->g.d->args[arg];
  const int k = gpu_target_of(&w->targets, a->dat), c = gpu_column_of(w, arg, v);
  put_components(&w->g, a->dim, "op2_h%d[(#) * op2_size%d + %d * op2_width + op2_in] = op2_a%d[%d + #];", k,
                 k, c, arg, v * a->dim);
  if (!is_sum(w, k))
    put_components(&w->g, a->dim,
                   "op2_h%d[(%d + #) * op2_size%d + %d * op2_width + op2_in] = op2_b%d[%d + #];", k, a->dim,
                   k, c, arg, v * a->dim);
}

static void put_elements(struct gpu_writer *w) {
  const struct desc *d = w->g.d;
  put_open(&w->g, "if (op2_on)");
  gpu_put_near_cleared(w);
  gpu_put_rows(w);
  gpu_put_element(w);
  for (int i = 0; i < d->nargs; i++)
    for (int v = 0;
         gpu_is_increment(w, &d->args[i]) && !gpu_near_arg(w, &d->args[i]) && v < arg_columns(d, &d->args[i]);
         v++)
      put_left(w, i, v);
  put_close(&w->g);
  if (w->shape->near)
    gpu_put_taken_back(w);
  put(&w->g, is_joined(w) ? "$barrier" : "$step");
}

/* Extrema: an element that left what it began with says nothing. Those that began with a number are put together, and
 * those that began with a NaN, which gives way to any number: one kind of them, the other ones go to memory by themselves. */
static void put_best(struct gpu_writer *w, int k, const char *memory) {
  const struct desc_dat *dat = dat_of(w, k);
  const char *type = word_type(&w->g, dat->type), *of = gpu_of_type(w, dat->type),
             *most = gpu_most(w->targets.items[k].access);
  put(&w->g, "%s op2_best = 0, op2_from = 0;", type);
  put(&w->g, "bool op2_any = false;");
  put_open(&w->g, "for (; op2_s <= op2_stop; op2_s++)");
  put(&w->g, "const int op2_at = op2_part * op2_size%d + (int)op2_own[op2_s];", k);
  put(&w->g, "const %s op2_now = op2_h%d[op2_at], op2_was = op2_h%d[op2_at + %d * op2_size%d];", type, k, k,
      dat->dim, k);
  put(&w->g, "if (op2_now == op2_was || (op2_now != op2_now && op2_was != op2_was)) continue;");
  put_open(&w->g, "if (!op2_any)");
  put(&w->g, "op2_best = op2_now, op2_from = op2_was, op2_any = true;");
  put_else(&w->g, "if ((op2_was != op2_was) == (op2_from != op2_from)) ");
  put(&w->g, "op2_improve(%s&op2_best, op2_was, op2_now, %s);", gpu_named_type(w, dat->type), most);
  put_else(&w->g, "");
  put(&w->g, "op2_atomic_improve%s(&%s, op2_was, op2_now, %s);", of, memory, most);
  put_close(&w->g);
  put_close(&w->g);
  put(&w->g, "if (op2_any) op2_atomic_improve%s(&%s, op2_from, op2_best, %s);", of, memory, most);
}

/* The first value of a sum, or the next summand; as many components as one addition takes. */
static void put_summand(struct gpu_writer *w, int k, int piece, bool first) {
  const struct desc_dat *dat = dat_of(w, k);
  const char *sum = piece > 1 ? "op2_sum[op2_j]" : "op2_sum";
  char value[96];
  if (is_near(w, k))
    snprintf(value, sizeof value, "op2_h%d[(int)op2_own[op2_s] * %d + op2_part%s]", k,
             gpu_near_apart(dat->dim), piece > 1 ? " + op2_j" : "");
  else
    snprintf(value, sizeof value, "op2_h%d[(op2_part%s) * op2_size%d + (int)op2_own[op2_s]]", k,
             piece > 1 ? " + op2_j" : "", k);
  if (piece > 1)
    put(&w->g, "for (int op2_j = 0; op2_j < op2_piece; op2_j++)");
  if (first)
    put(&w->g, "%s = %s;", sum, value);
  else
    gpu_put_stored(w, dat->type, 1, OP_INC, sum, value);
}

static void put_sum(struct gpu_writer *w, int k, const char *memory, int piece) {
  const struct desc_dat *dat = dat_of(w, k);
  put(&w->g, piece > 1 ? "%s op2_sum[op2_piece];" : "%s op2_sum;", gpu_memory_type(w, dat->type));
  put_summand(w, k, piece, true);
  put_open(&w->g, "while (op2_s++ < op2_stop)");
  put_summand(w, k, piece, false);
  put_close(&w->g);
  if (piece > 1)
    put(&w->g, "op2_add_row<op2_piece, op2_piece>(&%s, op2_sum);", memory);
  else
    put(&w->g, "op2_add%s(&%s, op2_sum);", gpu_of_type(w, dat->type), memory);
}

/* A target of this block has what was there and then the summands; a summand of another block's is kept. */
static void put_ordered_sum(struct gpu_writer *w, int k) {
  const int number = w->targets.items[k].dat;
  const struct desc_dat *dat = dat_of(w, k);
  put(&w->g, "const int op2_target = op2_q%d[op2_u%d + op2_row];", k, k);
  put(&w->g, "%s $global*const op2_to =", gpu_memory_type(w, dat->type));
  put(&w->g, "    op2_target < 0 ? op2_p%d + ($wide)~op2_target * %d + op2_part", k, dat->dim);
  put(&w->g,
      dat_is_apart(w->g.d, number) ? "                   : op2_d%d + op2_part * op2_s%d + op2_target;"
                                   : "                   : op2_d%d + ($wide)op2_target * %d + op2_part;",
      number, dat_is_apart(w->g.d, number) ? number : dat->dim);
  put(&w->g, "%s op2_sum = %s;", gpu_memory_type(w, dat->type), word_sum(dat->type));
  put(&w->g, "if (op2_target >= 0) op2_sum = *op2_to;");
  put_open(&w->g, "for (; op2_s <= op2_stop; op2_s++)");
  put_summand(w, k, 1, false);
  put_close(&w->g);
  put(&w->g, "*op2_to = op2_sum;");
}

/* Lanes take the values of a row one after the other; where components are apart, one component of all targets. What ORDERED
 * keeps lies in rows always. */
static void put_target(struct gpu_writer *w, int k) {
  const int number = w->targets.items[k].dat;
  const struct desc_dat *dat = dat_of(w, k);
  const bool apart = dat_is_apart(w->g.d, number) && !is_ordered(w);
  const int piece = is_sum(w, k) && !is_ordered(w) ? gpu_piece(w, number) : 1;
  struct text memory = {0};
  put_block(&w->g);
  put(&w->g, "const op2_entry%d $global*op2_own = op2_slots%d + ($wide)op2_group * (%d * op2_width);", k, k,
      w->targets.items[k].ncolumns);
  if (piece > 1)
    put(&w->g, "enum { op2_piece = OP2_PIECE(%d), op2_parts = %d / op2_piece };", piece, dat->dim);
  if (apart) {
    put_open(&w->g, "for (int op2_part = 0; op2_part < %d; op2_part++)", dat->dim);
    put_open(&w->g, "for (int op2_row = op2_in; op2_row < op2_n%d; op2_row += op2_width)", k);
    text_addf(&memory, "op2_d%d[op2_part * op2_s%d + op2_q%d[op2_u%d + op2_row]]", number, number, k, k);
  } else {
    char parts[16] = "op2_parts";
    if (piece == 1)
      snprintf(parts, sizeof parts, "%d", dat->dim);
    put_open(&w->g, "for (int op2_c = op2_in; op2_c < op2_n%d * %s; op2_c += op2_width)", k, parts);
    put(&w->g, "const int op2_row = op2_c / %s, op2_part = op2_c %% %s%s;", parts, parts,
        piece > 1 ? " * op2_piece" : "");
    add_words(&w->g, &memory,
              dat->wide ? "op2_d%d[($wide)op2_q%d[op2_u%d + op2_row] * %d + op2_part]"
                        : "op2_d%d[op2_q%d[op2_u%d + op2_row] * %d + op2_part]",
              number, k, k, dat->dim);
  }
  put(&w->g, "int op2_s = op2_row ? op2_last%d[op2_u%d + op2_row - 1] + 1 : 0;", k, k);
  put(&w->g, "const int op2_stop = op2_last%d[op2_u%d + op2_row];", k, k);
  if (is_ordered(w))
    put_ordered_sum(w, k);
  else if (is_sum(w, k))
    put_sum(w, k, text_str(&memory), piece);
  else
    put_best(w, k, text_str(&memory));
  for (int open = apart ? 3 : 2; open > 0; open--)
    put_close(&w->g);
  piece_free(&w->g, &memory);
}

void gpu_put_warps(struct gpu_writer *w) {
  put_begin(w);
  put_elements(w);
  for (int k = 0; k < w->targets.count; k++)
    put_target(w, k);
}
