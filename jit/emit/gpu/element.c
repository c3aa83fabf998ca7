/* One element in CUDA C: rows into registers, the call, rows back. */
#include <stdio.h>

#include "jit/emit/gpu/write.h"

/* Longer rows stay in memory. */
enum { REGISTER_ROW = 32 };

int gpu_target_of(const struct gpu_targets *t, int dat) {
  for (int i = 0; i < t->count; i++)
    if (t->items[i].dat == dat)
      return i;
  return -1;
}

bool gpu_is_increment(const struct gpu_writer *w, const struct desc_arg *a) {
  return a->present && a->form == DESC_DAT && access_reduces(a->access) &&
         gpu_target_of(&w->targets, a->dat) >= 0;
}

/* Which of its target's columns entry `v` of an argument is. */
int gpu_column_of(const struct gpu_writer *w, int arg, int v) {
  const struct gpu_target *t = &w->targets.items[gpu_target_of(&w->targets, w->g.d->args[arg].dat)];
  for (int c = 0; c < t->ncolumns; c++)
    if (t->columns[c].arg == arg)
      return c + v;
  return 0;
}

/* An own row that nobody else adds to: as one that is read and written. Not where bits count, which are those of sums that begin
 * with nothing. */
static bool begins_there(const struct gpu_writer *w, const struct desc_arg *a) {
  return a->access == OP_INC && a->form == DESC_DAT && !a->matrix && a->map < 0 && w->shape->vectors &&
         !desc_reproduces(w->g.d) && !w->shape->rows && !w->language->copies &&
         !dat_is_apart(w->g.d, a->dat) && arg_is_alone(w->g.d, a) &&
         !desc_is_shared(w->g.d, (int)(a - w->g.d->args));
}

/* True: the kernel gets a row in registers. */
static bool is_row(const struct gpu_writer *w, const struct desc_arg *a) {
  if (desc_is_ragged(w->g.d, a) || gpu_near_arg(w, a))
    return false;
  if (gpu_is_increment(w, a) || a->matrix || (w->shape->rows && a->access != OP_READ) ||
      (a->access == OP_INC && desc_reproduces(w->g.d)))
    return true;
  if (w->language->copies || desc_is_shared(w->g.d, (int)(a - w->g.d->args)))
    return true;
  return dat_is_apart(w->g.d, a->dat) ||
         (w->shape->vectors && a->dim <= REGISTER_ROW && (a->access != OP_INC || begins_there(w, a)));
}

/* ---- places in memory ---- */
static void row(const struct gpu_writer *w, const struct desc_arg *a, int v, char *out, size_t size) {
  char at[64];
  arg_element(&w->g, a, arg_column(a, v), at, sizeof at);
  snprintf(out, size, "op2_d%d + %s * %d", a->dat, at, a->dim);
}

/* Component '#' of a row. */
static void component(const struct gpu_writer *w, const struct desc_arg *a, int v, char *out, size_t size) {
  arg_component(&w->g, a, arg_column(a, v), out, size);
}

/* ---- vectors ---- */
struct piece {
  const char *type;
  int bytes;
};

static struct piece widest(const struct desc_arg *a) {
  static const struct piece pieces[] = {{"int4", 16}, {"int2", 8}, {"int", 4}, {"short", 2}, {"char", 1}};
  int bytes = a->dim * (int)type_info(a->type)->size, i = 0;
  while (bytes % pieces[i].bytes)
    i++;
  return pieces[i];
}

static int row_pieces(const struct desc_arg *a, struct piece p) {
  return a->dim * (int)type_info(a->type)->size / p.bytes;
}

/* True: the lanes of a warp have elements that follow one another, and all come to the end of theirs. Then two of them store
 * their rows of an argument together, if a row has two pieces of 16 bytes or more: memory takes 32 bytes at a time. */
static bool is_stored_whole(const struct gpu_writer *w, const struct desc_arg *a) {
  const struct gpu_shape *s = w->shape;
  const struct piece p = widest(a);
  return s->vectors && !s->rows && !s->sorted && s->strategy != GPU_COLOURS && s->strategy != GPU_ORDERED &&
         !w->language->copies && a->present && a->form == DESC_DAT && a->map < 0 && !a->dropped &&
         (a->access == OP_WRITE || a->access == OP_RW || begins_there(w, a)) && is_row(w, a) &&
         !dat_is_apart(w->g.d, a->dat) && p.bytes == 16 && row_pieces(a, p) > 1;
}

static void put_loaded(struct gpu_writer *w, int arg, int v) {
  const struct desc_arg *a = &w->g.d->args[arg];
  char memory[128];
  if (!w->language->copies && !dat_is_apart(w->g.d, a->dat)) {
    const struct piece p = widest(a);
    row(w, a, v, memory, sizeof memory);
    put(&w->g, "op2_load<%s, %d>(op2_a%d + %d, %s);", p.type, row_pieces(a, p), arg, v * a->dim, memory);
    return;
  }
  component(w, a, v, memory, sizeof memory);
  put_components(&w->g, a->dim, "op2_a%d[%d + #] = %s;", arg, v * a->dim, memory);
}

/* Another argument keeps extrema in the same row: each has a copy, and the better of both stays. */
static bool meets_another(const struct gpu_writer *w, int arg) {
  const struct desc *d = w->g.d;
  bool another = false;
  for (int i = 0; i < d->nargs && access_is_extremum(d->args[arg].access); i++)
    another |=
        i != arg && d->args[i].present && d->args[i].form == DESC_DAT && d->args[i].dat == d->args[arg].dat;
  return another;
}

/* Rows without atomic operations: by pieces of more than a value. */
static bool adds_pieces(const struct gpu_writer *w, const struct desc_arg *a) {
  return w->shape->vectors && !w->language->copies && !dat_is_apart(w->g.d, a->dat) &&
         a->dim <= REGISTER_ROW && widest(a).bytes > (int)type_info(a->type)->size;
}

static void put_pieces_added(struct gpu_writer *w, int arg, int v) {
  const struct desc_arg *a = &w->g.d->args[arg];
  const struct piece p = widest(a);
  char memory[128];
  row(w, a, v, memory, sizeof memory);
  if (gpu_is_increment(w, a) && w->shape->strategy == GPU_STAGED)
    snprintf(memory, sizeof memory, "op2_h%d + op2_l%d_%d * %d", gpu_target_of(&w->targets, a->dat),
             gpu_target_of(&w->targets, a->dat), gpu_column_of(w, arg, v), a->dim);
  put(&w->g, "op2_add_stored<%s, %d>(%s, op2_a%d + %d);", p.type, row_pieces(a, p), memory, arg, v * a->dim);
}

static void put_stored(struct gpu_writer *w, int arg, int v) {
  const struct desc_arg *a = &w->g.d->args[arg];
  char memory[128], value[64];
  component(w, a, v, memory, sizeof memory);
  if (meets_another(w, arg)) {
    put_components(&w->g, a->dim, "op2_improve(%s&%s, op2_b%d[%d + #], op2_a%d[%d + #], %s);",
                   gpu_named_type(w, a->type), memory, arg, v * a->dim, arg, v * a->dim, gpu_most(a->access));
    return;
  }
  if (w->language->copies || dat_is_apart(w->g.d, a->dat) || (a->access == OP_INC && !begins_there(w, a))) {
    /* Another argument may increment the same row. */
    if (a->access == OP_INC && adds_pieces(w, a)) {
      put_pieces_added(w, arg, v);
      return;
    }
    snprintf(value, sizeof value, "op2_a%d[%d + #]", arg, v * a->dim);
    gpu_put_stored(w, a->type, a->dim, a->access, memory, value);
    return;
  }
  struct piece p = widest(a);
  row(w, a, v, memory, sizeof memory);
  if (is_stored_whole(w, a))
    put(&w->g, "op2_store_whole<%d>(%s, op2_a%d, op2_whole);", row_pieces(a, p), memory, arg);
  else
    put(&w->g, "op2_store<%s, %d>(%s, op2_a%d + %d);", p.type, row_pieces(a, p), memory, arg, v * a->dim);
}

/* ---- before the call ---- */
static void put_row(struct gpu_writer *w, int arg) {
  const struct desc_arg *a = &w->g.d->args[arg];
  int n = arg_columns(w->g.d, a);
  put(&w->g, "%s op2_a%d[%d];", word_type(&w->g, a->type), arg, n * a->dim);
  if (a->matrix || (a->access == OP_INC && !begins_there(w, a)))
    put_components(&w->g, n * a->dim, "op2_a%d[#] = %s;", arg, a->matrix ? "0" : word_sum(a->type));
  else if (a->access != OP_WRITE)
    for (int v = 0; v < n; v++)
      put_loaded(w, arg, v);
  if (meets_another(w, arg)) {
    put(&w->g, "%s op2_b%d[%d];", word_type(&w->g, a->type), arg, n * a->dim);
    put_components(&w->g, n * a->dim, "op2_b%d[#] = op2_a%d[#];", arg, arg);
  }
}

static void pointer(const struct gpu_writer *w, int arg, int v, char *out, size_t size) {
  const struct desc_arg *a = &w->g.d->args[arg];
  if (!a->present)
    snprintf(out, size, "op2_a%d", arg);
  else if (is_row(w, a))
    snprintf(out, size, "op2_a%d + %d", arg, v * a->dim);
  else if (gpu_near_arg(w, a))
    snprintf(out, size, "op2_w%d + %d * op2_step%d", arg, v, arg);
  else
    row(w, a, v, out, size);
}

/* ---- rows of ragged maps, where kernels are passed copies: one behind the other ---- */
static bool is_copied_ragged(const struct gpu_writer *w, const struct desc_arg *a) {
  return w->language->copies && a->present && desc_is_ragged(w->g.d, a) && !a->stays;
}

/* Opens a loop over them: component # of one is op2_d...[op2_at * dim + #] in memory, op2_a...[op2_row * dim + #] as a copy. */
static void open_ragged(struct gpu_writer *w, const struct desc_arg *a) {
  put_open(&w->g, "for (int op2_row = 0; op2_row < op2_count%d; op2_row++)", a->map);
  put(&w->g,
      a->scattered ? "const $wide op2_at = op2_entry%d + op2_row;"
      : a->entry   ? "const $wide op2_at = op2_first%d + op2_row;"
                   : "const $wide op2_at = op2_t%d[op2_first%d + op2_row];",
      a->map, a->map);
}

static void put_ragged_copies(struct gpu_writer *w, int arg) {
  const struct desc_arg *a = &w->g.d->args[arg];
  const char *type = word_type(&w->g, a->type);
  const int size = a->dim * w->g.d->maps[a->map].most;
  put(&w->g, "%s op2_a%d[%d];", type, arg, size);
  if (access_is_extremum(a->access))
    put(&w->g, "%s op2_b%d[%d];", type, arg, size);
  if (a->access != OP_WRITE) {
    open_ragged(w, a);
    if (a->access == OP_INC)
      put_components(&w->g, a->dim, "op2_a%d[op2_row * %d + #] = %s;", arg, a->dim, word_sum(a->type));
    else
      put_components(&w->g, a->dim, "op2_a%d[op2_row * %d + #] = op2_d%d[op2_at * %d + #];", arg, a->dim,
                     a->dat, a->dim);
    if (access_is_extremum(a->access))
      put_components(&w->g, a->dim, "op2_b%d[op2_row * %d + #] = op2_a%d[op2_row * %d + #];", arg, a->dim,
                     arg, a->dim);
    put_close(&w->g);
  }
  put(&w->g, "%s%s *op2_v%d[4] = {op2_a%d, (%s *)0, (%s *)%d, (%s *)(size_t)op2_count%d};",
      a->access == OP_READ ? "const " : "", type, arg, arg, type, type, a->dim, type, a->map);
}

/* One after the other: a row may name a target twice. */
static void put_ragged_results(struct gpu_writer *w, int arg) {
  const struct desc_arg *a = &w->g.d->args[arg];
  char memory[64], value[64];
  snprintf(memory, sizeof memory, "op2_d%d[op2_at * %d + #]", a->dat, a->dim);
  snprintf(value, sizeof value, "op2_a%d[op2_row * %d + #]", arg, a->dim);
  open_ragged(w, a);
  if (access_is_extremum(a->access))
    put_components(&w->g, a->dim, "op2_improve(%s&%s, op2_b%d[op2_row * %d + #], %s, %s);",
                   gpu_named_type(w, a->type), memory, arg, a->dim, value, gpu_most(a->access));
  else
    gpu_put_stored(w, a->type, a->dim, a->access, memory, value);
  put_close(&w->g);
}

static void put_vector(struct gpu_writer *w, int arg) {
  const struct desc_arg *a = &w->g.d->args[arg];
  if (w->g.d->args[arg].stays)
    return;
  if (is_copied_ragged(w, a)) {
    put_ragged_copies(w, arg);
    return;
  }
  if (desc_is_ragged(w->g.d, a)) {
    put_handle(&w->g, arg);
    return;
  }
  struct text list = {0};
  for (int v = 0; v < arg_columns(w->g.d, a); v++) {
    char where[160];
    pointer(w, arg, v, where, sizeof where);
    text_addf(&list, "%s%s", v ? ", " : "", where);
  }
  put(&w->g, "%s%s *op2_v%d[] = {%s};", a->access == OP_READ ? "const " : "", word_type(&w->g, a->type), arg,
      text_str(&list));
  piece_free(&w->g, &list);
}

/* An extremum begins with what is there, and keeps that. */
static void put_begun(struct gpu_writer *w, int arg) {
  const struct desc_arg *a = &w->g.d->args[arg];
  const int n = arg_columns(w->g.d, a);
  for (int v = 0; v < n; v++) {
    char memory[128];
    component(w, a, v, memory, sizeof memory);
    if (w->shape->strategy == GPU_ATOMICS || w->shape->strategy == GPU_WARPS)
      put_components(&w->g, a->dim, "op2_a%d[%d + #] = op2_peek%s(&%s);", arg, v * a->dim,
                     gpu_of_type(w, a->type), memory);
    else
      put_loaded(w, arg, v);
  }
  put_components(&w->g, n * a->dim, "op2_b%d[#] = op2_a%d[#];", arg, arg);
}

static void put_before(struct gpu_writer *w, int arg) {
  const struct desc_arg *a = &w->g.d->args[arg];
  if (!a->present)
    put(&w->g, "%s op2_a%d[%d] = {%s};", word_type(&w->g, a->type), arg, a->dim,
        type_is_struct(a->type) ? "" : "0");
  else if (a->form == DESC_IDX)
    put_idx(&w->g, arg);
  else if (a->form == DESC_INFO || (a->form == DESC_GBL && a->access == OP_WORK))
    put(&w->g, "%s op2_a%d[%d];", word_type(&w->g, a->type), arg, a->dim);
  else if (gpu_is_exact(w->g.d, arg))
    gpu_put_exact_before(w, arg);
  else if (arg_is_extremum_with_info(a))
    put(&w->g, "%s op2_a%d[1] = {op2_b%d[0]};", word_type(&w->g, a->type), arg, arg);
  else if (a->form == DESC_DAT && !gpu_is_increment(w, a) && is_row(w, a))
    put_row(w, arg);
  else if (a->form == DESC_DAT && gpu_is_increment(w, a) && is_row(w, a) && access_is_extremum(a->access))
    put_begun(w, arg);
  if (a->form == DESC_DAT && arg_is_vector(a))
    put_vector(w, arg);
}

/* ---- the call ---- */
static void passed(const struct generator *g, int arg, char *out, size_t size) {
  const struct gpu_writer *w = (const struct gpu_writer *)g; /* its first member */
  const struct desc_arg *a = &w->g.d->args[arg];
  if (w->g.d->args[arg].stays)
    gpu_row_place(w, arg, out, size);
  else if (a->form == DESC_DAT && arg_is_vector(a))
    snprintf(out, size, "op2_v%d", arg);
  else if (a->present && a->form == DESC_DAT)
    pointer(w, arg, 0, out, size);
  else if (a->present && a->form == DESC_GBL && a->access == OP_READ)
    snprintf(out, size, "op2_g%d", arg);
  else if (a->present && a->form == DESC_GBL && a->access != OP_WORK && a->info < 0 &&
           !gpu_is_exact(w->g.d, arg))
    snprintf(out, size, "op2_r.g%d", arg);
  else
    snprintf(out, size, "op2_a%d", arg);
}

/* ---- behind the call ---- */
static void put_decision(struct gpu_writer *w, int arg) {
  const struct desc *d = w->g.d;
  const struct desc_arg *a = &d->args[arg];
  const char *most = gpu_most(a->access), *type = gpu_of_type(w, a->type);
  put(&w->g, d->renumbered[0] ? "const $wide op2_i%d = op2_x0[op2_e];" : "const $wide op2_i%d = op2_e;", arg);
  put_open(
      &w->g,
      "if (op2_better%s(op2_a%d[0], op2_r.g%d[0], %s) || (op2_same%s(op2_a%d[0], op2_r.g%d[0]) && op2_i%d < "
      "op2_r.g%d.element))",
      type, arg, arg, most, type, arg, arg, arg, a->info);
  put(&w->g, "op2_r.g%d[0] = op2_a%d[0];", arg, arg);
  for (int i = 0; i < d->nargs; i++)
    if (d->args[i].form == DESC_INFO && d->args[i].ref == arg) {
      put(&w->g, "op2_r.g%d.element = op2_i%d;", i, arg);
      put_components(&w->g, d->args[i].dim, "op2_r.g%d.payload[#] = op2_a%d[#];", i, i);
    }
  put_close(&w->g);
}

static void put_after(struct gpu_writer *w, int arg) {
  const struct desc_arg *a = &w->g.d->args[arg];
  if (!a->present)
    return;
  if (gpu_is_exact(w->g.d, arg))
    gpu_put_exact_after(w, arg);
  else if (arg_is_extremum_with_info(a) && !w->shape->rows)
    put_decision(w, arg);
  else if (is_copied_ragged(w, a) && a->access != OP_READ && !a->dropped)
    put_ragged_results(w, arg);
  else if (a->form == DESC_DAT && a->access != OP_READ && !a->dropped && !gpu_is_increment(w, a) &&
           is_row(w, a))
    for (int v = 0; v < arg_columns(w->g.d, a); v++)
      put_stored(w, arg, v);
}

void gpu_put_rows(struct gpu_writer *w) {
  for (int i = 0; i < w->g.d->nargs; i++) {
    const struct desc_arg *a = &w->g.d->args[i];
    if (gpu_is_increment(w, a) && is_row(w, a)) {
      put(&w->g, "%s op2_a%d[%d];", word_type(&w->g, a->type), i, arg_columns(w->g.d, a) * a->dim);
      if (a->access == OP_INC)
        put_components(&w->g, arg_columns(w->g.d, a) * a->dim, "op2_a%d[#] = %s;", i, word_sum(a->type));
      else
        put(&w->g, "%s op2_b%d[%d];", word_type(&w->g, a->type), i, arg_columns(w->g.d, a) * a->dim);
    }
  }
}

/* All threads of the element have the same values, and the first one stores them: when the others have read what it
 * overwrites. */
static void put_together(struct gpu_writer *w) {
  for (int i = 0; i < w->g.d->nargs; i++)
    if (arg_is_extremum_with_info(&w->g.d->args[i]))
      put_decision(w, i);
  put(&w->g, "op2_row_meet();");
  put_open(&w->g, "if (op2_lane == 0)");
}

/* True: lanes that exchange values add rows of increments, so that one operation covers one piece of memory.
 * Types of less than 4 bytes have no atomic addition of their own. */
static bool adds_by_fours(const struct gpu_writer *w, const struct desc_arg *a) {
  return w->shape->strategy == GPU_ATOMICS && w->shape->vectors && !w->shape->rows && !w->language->copies &&
         a->access == OP_INC && gpu_is_increment(w, a) && is_row(w, a) && !dat_is_apart(w->g.d, a->dat) &&
         a->dim > 1 && a->dim <= REGISTER_ROW && !type_is_struct(a->type) && type_info(a->type)->size >= 4;
}

/* Both lanes of a pair have read their rows when one stores into the other's. */
static void put_whole(struct gpu_writer *w) {
  bool stored = false, added = false;
  for (int i = 0; i < w->g.d->nargs; i++) {
    stored |= is_stored_whole(w, &w->g.d->args[i]);
    added |= adds_by_fours(w, &w->g.d->args[i]);
  }
  if (!stored && !added)
    return;
  put(&w->g, "const bool op2_whole = op2_end - op2_e + (int)($thread %% $lanes) >= $lanes;");
  if (!stored)
    return;
  put_open(&w->g, "if (op2_whole)");
  put(&w->g, "$step");
  put_close(&w->g);
}

void gpu_put_element(struct gpu_writer *w) {
  put_map_entries(&w->g);
  for (int i = 0; i < w->g.d->nargs; i++)
    put_before(w, i);
  put_call_with(&w->g, passed);
  if (w->shape->rows)
    put_together(w);
  put_whole(w);
  for (int i = 0; i < w->g.d->nargs; i++)
    put_after(w, i);
  if (w->shape->rows)
    put_close(&w->g);
}

/* ---- increments ---- */
int gpu_piece(const struct gpu_writer *w, int dat) {
  const struct desc_dat *d = &w->g.d->dats[dat];
  if (w->shape->dialect != GPU_DIALECT_CUDA || d->type != TYPE_FLOAT || dat_is_apart(w->g.d, dat))
    return 1;
  return d->dim % 4 == 0 ? 4 : d->dim % 2 == 0 ? 2 : 1;
}

/* Rows of floats in OpenCL: two values in the word of 8 bytes that they lie in. */
static bool adds_pairs(const struct gpu_writer *w, const struct desc_arg *a) {
  return w->language->copies && w->shape->vectors && a->type == TYPE_FLOAT && a->dim % 2 == 0 &&
         !dat_is_apart(w->g.d, a->dat);
}

/* By as many components at a time as the device adds at once, or by several lanes. */
static void put_row_added(struct gpu_writer *w, int arg, int v) {
  const struct desc_arg *a = &w->g.d->args[arg];
  char memory[128];
  row(w, a, v, memory, sizeof memory);
  if (adds_pairs(w, a)) {
    put(&w->g, "for (int op2_c = 0; op2_c < %d; op2_c += 2)", a->dim);
    put(&w->g, "  op2_add_pair(%s + op2_c, op2_a%d[%d + op2_c], op2_a%d[%d + op2_c]);", memory, arg,
        v * a->dim, arg, v * a->dim + 1);
    return;
  }
  if (adds_by_fours(w, a)) {
    char at[64];
    arg_element(&w->g, a, arg_column(a, v), at, sizeof at);
    put(&w->g, "op2_add_fours<%d, OP2_PIECE(%d)>(op2_d%d, (int)%s, op2_a%d + %d, op2_whole);", a->dim,
        gpu_piece(w, a->dat), a->dat, at, arg, v * a->dim);
    return;
  }
  put(&w->g, "op2_add_row<%d, OP2_PIECE(%d)>(%s, op2_a%d + %d);", a->dim, gpu_piece(w, a->dat), memory, arg,
      v * a->dim);
}

static void put_increment(struct gpu_writer *w, int arg, int v) {
  const struct desc_arg *a = &w->g.d->args[arg];
  int k = gpu_target_of(&w->targets, a->dat), c = gpu_column_of(w, arg, v);
  const bool atomic = w->shape->strategy == GPU_ATOMICS;
  const char *first = atomic ? "" : gpu_named_type(w, a->type);
  struct text improve = {0};
  char memory[128], value[64];
  snprintf(value, sizeof value, "op2_a%d[%d + #]", arg, v * a->dim);
  text_addf(&improve, atomic ? "atomic_improve%s" : "improve", gpu_of_type(w, a->type));
  component(w, a, v, memory, sizeof memory);
  if (w->shape->strategy == GPU_STAGED)
    snprintf(memory, sizeof memory, "op2_h%d[op2_l%d_%d * %d + #]", k, k, c, a->dim);
  if (w->shape->strategy == GPU_APART)
    put_components(&w->g, a->dim, "op2_p%d[(($wide)op2_e * %d + %d) * %d + #] = op2_a%d[%d + #];", k,
                   w->targets.items[k].ncolumns, c, a->dim, arg, v * a->dim);
  else if (access_is_extremum(a->access))
    put_components(&w->g, a->dim, "op2_%s(%s&%s, op2_b%d[%d + #], op2_a%d[%d + #], %s);", text_str(&improve),
                   first, memory, arg, v * a->dim, arg, v * a->dim, gpu_most(a->access));
  else if (atomic && (gpu_piece(w, a->dat) > 1 || adds_by_fours(w, a) || adds_pairs(w, a)))
    put_row_added(w, arg, v);
  else if (atomic)
    put_components(&w->g, a->dim, "op2_add%s(&%s, op2_a%d[%d + #]);", gpu_of_type(w, a->type), memory, arg,
                   v * a->dim);
  else if (adds_pieces(w, a))
    put_pieces_added(w, arg, v);
  else
    gpu_put_stored(w, a->type, a->dim, OP_INC, memory, value);
  piece_free(&w->g, &improve);
}

void gpu_put_increments(struct gpu_writer *w) {
  const struct desc *d = w->g.d;
  const bool one = w->shape->rows && w->targets.count > 0;
  if (one)
    put_open(&w->g, "if (op2_lane == 0)");
  for (int i = 0; i < d->nargs; i++)
    for (int v = 0;
         gpu_is_increment(w, &d->args[i]) && !gpu_near_arg(w, &d->args[i]) && v < arg_columns(d, &d->args[i]);
         v++)
      put_increment(w, i, v);
  if (one)
    put_close(&w->g);
}
