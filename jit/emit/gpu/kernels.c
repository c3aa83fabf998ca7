/* Kernels by strategy. */
#include "jit/emit/gpu/gpu.h"

#include <stdio.h>

#include "jit/emit/gpu/write.h"

/* ---- one thread, some elements ---- */
static void put_walk(struct gpu_writer *w) {
  bool list = w->shape->strategy == GPU_COLOURS;
  char shared[16] = "";
  if (w->shape->rows)
    snprintf(shared, sizeof shared, " / %d", w->shape->rows);
  put_open(&w->g,
           "for (unsigned op2_i = op2_begin + op2_nth * %d + $thread%s; op2_i < (unsigned)op2_end; op2_i += "
           "$blocks * %d)",
           gpu_elements(w->shape), shared, gpu_elements(w->shape));
  put(&w->g, list ? "const int op2_e = op2_list[op2_i];" : "const int op2_e = (int)op2_i;");
  gpu_put_rows(w);
  gpu_put_element(w);
  gpu_put_increments(w);
  put_close(&w->g);
}

/* The same, whose warps have elements that follow one another, and bring what those use to shared memory. */
static void put_near_walk(struct gpu_writer *w) {
  put(&w->g, "$shared $aligned unsigned char op2_shared[];");
  gpu_put_near_places(w, "0");
  put_open(&w->g,
           "for (int op2_i = op2_begin + op2_nth * %d + (int)$thread - op2_mine; op2_i < op2_end; op2_i += "
           "(int)$blocks * %d)",
           w->shape->block, w->shape->block);
  put(&w->g, "const int op2_e = op2_i + op2_mine;");
  put(&w->g, "const bool op2_on = op2_e < op2_end;");
  gpu_put_brought(w);
  put_open(&w->g, "if (op2_on)");
  gpu_put_near_cleared(w);
  gpu_put_rows(w);
  gpu_put_element(w);
  gpu_put_increments(w);
  put_close(&w->g);
  gpu_put_taken_back(w);
  put_close(&w->g);
}

/* ---- blocks of a plan: one thread, one element ---- */
static void put_block_head(struct gpu_writer *w) {
  put(&w->g, "const int op2_block = op2_blocks[op2_first + op2_nth];");
  put(&w->g, "const int op2_i = op2_begin + op2_block * %d + (int)$thread;", w->shape->block);
  put(&w->g, "const bool op2_on = op2_i < op2_end;");
  put(&w->g, w->shape->sorted ? "const int op2_e = op2_on ? op2_list[op2_i] : 0;"
                              : "const int op2_e = op2_on ? op2_i : 0;");
  put(&w->g, "const int op2_colour = op2_on ? op2_colours[op2_e] : -1;");
  put(&w->g, "const int op2_ncolours = op2_counts[op2_block];");
}

/* Where component op2_c of a block's targets is in memory, and in shared memory. */
static void staged_places(const struct gpu_writer *w, int k, struct text *memory, struct text *shared) {
  const int number = w->targets.items[k].dat, dim = w->g.d->dats[number].dim;
  if (dat_is_apart(w->g.d, number)) {
    text_addf(memory, "op2_d%d[op2_c / op2_n%d * op2_s%d + op2_q%d[op2_u%d + op2_c %% op2_n%d]]", number, k,
              number, k, k, k);
    text_addf(shared, "op2_h%d[op2_c %% op2_n%d * %d + op2_c / op2_n%d]", k, k, dim, k);
    return;
  }
  add_words(&w->g, memory,
            w->g.d->dats[number].wide ? "op2_d%d[($wide)op2_q%d[op2_u%d + op2_c / %d] * %d + op2_c %% %d]"
                                      : "op2_d%d[op2_q%d[op2_u%d + op2_c / %d] * %d + op2_c %% %d]",
            number, k, k, dim, dim, dim);
  text_addf(shared, "op2_h%d[op2_c]", k);
}

/* Sums begin with nothing, extrema with what is there. The memory is aligned for every type: OpenCL aligns what a launch
 * brings for the type that its pointer names, and no more. */
static void put_shared(struct gpu_writer *w) {
  if (!w->language->copies)
    put(&w->g, "$shared $aligned unsigned char op2_shared[];");
  const char *space = w->language->copies ? word_named(&w->g, "shared") : "";
  for (int k = 0; k < w->targets.count; k++) {
    const struct desc_dat *dat = &w->g.d->dats[w->targets.items[k].dat];
    put(&w->g,
        w->language->copies ? "%s%s *op2_h%d = (%s%s *)(op2_shared + op2_o%d / 16);"
                            : "%s%s *op2_h%d = (%s%s *)(op2_shared + op2_o%d);",
        space, gpu_memory_type(w, dat->type), k, space, gpu_memory_type(w, dat->type), k);
    put(&w->g, "const $wide op2_u%d = op2_f%d[op2_block];", k, k);
    put(&w->g, "const int op2_n%d = (int)(op2_f%d[op2_block + 1] - op2_u%d);", k, k, k);
    struct text memory = {0}, shared = {0};
    const bool sum = w->targets.items[k].access == OP_INC;
    staged_places(w, k, &memory, &shared);
    put(&w->g, "for (int op2_c = $thread; op2_c < op2_n%d * %d; op2_c += %d) %s = %s;", k, dat->dim,
        w->shape->block, text_str(&shared), sum ? word_sum(dat->type) : text_str(&memory));
    piece_free(&w->g, &memory);
    piece_free(&w->g, &shared);
  }
  put(&w->g, "$barrier");
}

static void put_flush(struct gpu_writer *w) {
  for (int k = 0; k < w->targets.count; k++) {
    const struct desc_dat *dat = &w->g.d->dats[w->targets.items[k].dat];
    put_open(&w->g, "for (int op2_c = $thread; op2_c < op2_n%d * %d; op2_c += %d)", k, dat->dim,
             w->shape->block);
    struct text memory = {0}, shared = {0};
    staged_places(w, k, &memory, &shared);
    /* No other block of this colour has the target: an extremum is the best of what was there already. */
    gpu_put_stored(w, dat->type, 1, w->targets.items[k].access, text_str(&memory), text_str(&shared));
    piece_free(&w->g, &memory);
    piece_free(&w->g, &shared);
    put_close(&w->g);
  }
}

static void put_block_increments(struct gpu_writer *w) {
  for (int k = 0; k < w->targets.count; k++)
    for (int c = 0; c < w->targets.items[k].ncolumns; c++) {
      const struct gpu_column *column = &w->targets.items[k].columns[c];
      /* The element itself has no entry; another column of a target may be the same one. */
      bool again = column->map < 0;
      for (int j = 0; j <= k; j++)
        for (int i = 0; i < (j < k ? w->targets.items[j].ncolumns : c); i++)
          again |= w->targets.items[j].columns[i].map == column->map &&
                   w->targets.items[j].columns[i].column == column->column;
      if (w->shape->strategy == GPU_STAGED)
        put(&w->g, "const int op2_l%d_%d = op2_j%d_%d[op2_e];", k, c, k, c);
      else if (!again)
        put(&w->g, "const int op2_m%d_%d = op2_t%d[($wide)op2_e * %d + %d];", column->map, column->column,
            column->map, w->g.d->maps[column->map].arity, column->column);
    }
  gpu_put_increments(w);
}

static bool has_extrema(const struct gpu_writer *w) {
  for (int k = 0; k < w->targets.count; k++)
    if (access_is_extremum(w->targets.items[k].access))
      return true;
  return false;
}

static void put_blocks(struct gpu_writer *w) {
  put_block_head(w);
  if (w->shape->strategy != GPU_BLOCKS)
    put_shared(w);
  gpu_put_rows(w);
  put_open(&w->g, "if (op2_on)");
  gpu_put_element(w);
  put_close(&w->g);
  /* All have seen what their extrema begin with before one changes. */
  if (has_extrema(w))
    put(&w->g, "$barrier");
  put_open(&w->g, "for (int op2_k = 0; op2_k < op2_ncolours; op2_k++)");
  put_open(&w->g, "if (op2_colour == op2_k)");
  put_block_increments(w);
  put_close(&w->g);
  put(&w->g, "$barrier");
  put_close(&w->g);
  if (w->shape->strategy != GPU_BLOCKS)
    put_flush(w);
}

/* ---- rows apart, summed per target ---- */
static void put_sum_head(struct gpu_writer *w, int k) {
  const char *type = gpu_memory_type(w, w->g.d->dats[w->targets.items[k].dat].type);
  put_open(&w->g,
           "$kernel $bounds(%d) %s%d(%s $global*dat, $wide stride, const int $global*$restricted "
           "first, const int $global*$restricted entries, const %s $global*$restricted apart, int ntargets)",
           GPU_SUM_THREADS, GPU_SUM, k, type, type);
}

/* Where component c of `target` is. */
static void put_sum_place(struct gpu_writer *w, int number) {
  put(&w->g,
      dat_is_apart(w->g.d, number) ? "%s $global*to = dat + c * stride + target;"
                                   : "%s $global*to = dat + ($wide)target * stride + c;",
      gpu_memory_type(w, w->g.d->dats[number].type));
}

static void put_sum(struct gpu_writer *w, int k) {
  int number = w->targets.items[k].dat;
  const struct desc_dat *dat = &w->g.d->dats[number];
  put_sum_head(w, k);
  put(&w->g, "const int target = $block * %d + $thread;", GPU_SUM_THREADS);
  put(&w->g, "if (target >= ntargets) return;");
  put_open(&w->g, "for (int c = 0; c < %d; c++)", dat->dim);
  put_sum_place(w, number);
  const int access = w->targets.items[k].access;
  const char *type = word_type(&w->g, dat->type);
  put(&w->g, "const %s start = *to;", type);
  put(&w->g, "%s sum = start;", type);
  put_open(&w->g, "for (int i = first[target]; i < first[target + 1]; i++)");
  put(&w->g, "const %s value = apart[($wide)entries[i] * %d + c];", type, dat->dim);
  if (access == OP_INC)
    put(&w->g, "sum += value;");
  else
    put(&w->g, "op2_improve(%s&sum, start, value, %s);", gpu_named_type(w, dat->type), gpu_most(access));
  put_close(&w->g);
  put(&w->g, "*to = sum;");
  put_close(&w->g);
  put_close(&w->g);
}

/* A thread for each value, so that neighbours take a row. */
static void put_later(struct gpu_writer *w, int k) {
  const int number = w->targets.items[k].dat, dim = w->g.d->dats[number].dim;
  const char *type = word_type(&w->g, w->g.d->dats[number].type);
  put_sum_head(w, k);
  put(&w->g, "const $wide at = ($wide)$block * %d + $thread;", GPU_SUM_THREADS);
  put(&w->g, "if (at >= ($wide)ntargets * %d) return;", dim);
  put(&w->g, "const int i = (int)(at / %d), c = (int)(at %% %d), target = entries[i];", dim, dim);
  put_sum_place(w, number);
  put(&w->g, "%s sum = *to;", type);
  put(&w->g, "for (int place = first[i]; place < first[i + 1]; place++)");
  put(&w->g, "  sum += apart[($wide)place * %d + c];", dim);
  put(&w->g, "*to = sum;");
  put_close(&w->g);
}

static bool gpu_has_structs(const struct desc *d) {
  enum type_code types[OP_MAX_ARGS];
  return desc_structs(d, types) > 0;
}

/* ---- everything ---- */
static void put_everything(struct gpu_writer *w, const struct gpu_parameters *p,
                           const struct generated *files) {
  struct text shape = {0};
  gpu_shape_print(w->shape, &shape);
  put(&w->g, "/* Made by op2jit (generator %s): loop %s, %s, %s. */", GENERATOR_VERSION, w->g.d->kernel_name,
      text_str(&shape), w->g.d->fp);
  text_free(&shape);
  text_add(w->g.out, w->language->front ? w->language->front : "");
  put(&w->g, "#include \"%s\"", files->prelude_file);
  gpu_put_exact_helpers(w);
  /* All of ours that has short names stands before the kernel's text, whose macros could mean them. */
  if (!gpu_has_structs(w->g.d)) {
    gpu_put_value_types(w, p);
    gpu_put_slot(w);
  }
  for (int k = 0; gpu_adds_later(w->shape->strategy) && k < w->targets.count; k++)
    (w->shape->strategy == GPU_APART ? put_sum : put_later)(w, k);
  if (w->shape->rows)
    gpu_put_rows_helpers(w);
  if (w->shape->near)
    gpu_put_near_helpers(w);
  gpu_put_user_text(w, files);
  if (gpu_has_structs(w->g.d)) { /* which it has */
    gpu_put_value_types(w, p);
    gpu_put_slot(w);
  }
  if (gpu_sums_by_targets(w->shape->strategy))
    gpu_put_sum_types(w);
  gpu_put_head(w, p);
  gpu_put_part(w, p);
  if (w->shape->rows)
    put(&w->g, "const int op2_lane = op2_row_lane();");
  gpu_put_start(w);
  if (gpu_has_blocks(w->shape->strategy))
    put_blocks(w);
  else if (gpu_sums_by_targets(w->shape->strategy))
    gpu_put_warps(w);
  else if (w->shape->near)
    put_near_walk(w);
  else
    put_walk(w);
  gpu_put_finish(w);
  put_close(&w->g);
}

static int generate(struct gpu_writer *w, struct generated *out, struct error *err) {
  struct gpu_parameters parameters = {0};
  generated_name(out, w->g.d->kernel_name, w->language->main_ending, w->g.d->entry ? ".cc" : ".c",
                 w->language->prelude_file);
  out->prelude = w->language->prelude();
  if (w->shape->tasks) {
    gpu_put_tasks(w, out);
    w->language->copy_text(w->g.k, w->g.d, &out->kernel);
    return OP_OK;
  }
  int code = gpu_targets_find(w->g.d, &w->targets, err);
  if (!code)
    code = gpu_parameters_find(w->g.d, w->shape, &w->targets, &parameters, err);
  if (!code) {
    put_everything(w, &parameters, out);
    if (w->g.d->entry)
      text_addf(&out->kernel, "%s\n", w->g.d->text);
    else
      code = gpu_put_text(w, &out->kernel, err);
  }
  gpu_parameters_free(&parameters);
  gpu_targets_free(&w->targets);
  return code;
}

int generate_gpu(const struct desc *d, const struct gpu_shape *s, struct generated *out, struct error *err) {
  const struct gpu_language *language = gpu_language(s->dialect);
  const struct generator words = {.w = language->words};
  struct kernel k;
  *out = (struct generated){0};
  const char *const constants = language->copies || s->tasks ? NULL : word_named(&words, "variable");
  int code = generated_kernel(&k, d, constants, false, err);
  if (code)
    return code;
  struct gpu_writer w = {
      .g = {.d = d, .w = language->words, .k = &k, .out = &out->main}, .language = language, .shape = s};
  w.g.first = gpu_hands_constants(&w) ? "op2_k" : NULL;
  if (s->rows)
    code = gpu_rows_split(&k, d, err);
  if (!code)
    code = gpu_check_places(&w, &k, err);
  if (!code)
    code = generate(&w, out, err);
  kernel_free(&k);
  return generated_end(out, code, err);
}
