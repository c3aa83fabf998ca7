/* The text around the body of a kernel: constants, the user's text, parameters. */
#include <stdlib.h>

#include "jit/emit/gpu/write.h"
#include "jit/kernel/prelude.h"

bool gpu_has_variables(const struct desc *d) {
  for (int i = 0; i < d->nconsts; i++)
    if (!d->consts[i].folded)
      return true;
  return false;
}

bool gpu_hands_constants(const struct gpu_writer *w) {
  return w->language->copies && gpu_has_variables(w->g.d);
}

/* ---- constants that are not folded: variables that the host sets, or members of what it passes ---- */
/* Structs of the program are not known yet: their bytes. */
static void put_handed(struct gpu_writer *w) {
  put(&w->g, "typedef struct {");
  for (int i = 0; i < w->g.d->nconsts; i++) {
    const struct desc_const *c = &w->g.d->consts[i];
    const bool bytes = type_is_struct(c->type);
    if (!c->folded)
      put(&w->g, "  $aligned %s op2_c_%s[%zu];", bytes ? "uchar" : gpu_memory_type(w, c->type), c->name,
          (size_t)c->dim * (bytes ? type_info(c->type)->size : 1));
  }
  put(&w->g, "} op2_constants;");
}

static void put_variables(struct gpu_writer *w) {
  if (w->language->copies) {
    if (gpu_hands_constants(w))
      put_handed(w);
    return;
  }
  for (int i = 0; i < w->g.d->nconsts; i++) {
    const struct desc_const *c = &w->g.d->consts[i];
    if (!c->folded && !type_is_struct(c->type))
      put(&w->g, c->dim == 1 ? "$variable %s %s%s;" : "$variable %s %s%s[%d];", word_type(&w->g, c->type),
          word_before(&w->g, c->name), c->name, c->dim);
  }
}

/* ---- the user's text: in a namespace of its own, where none of CUDA's names is in its way ---- */
void gpu_put_user_text(struct gpu_writer *w, const struct generated *files) {
  put(&w->g, "$openuser");
  if (w->g.d->entry)
    text_add(w->g.out, jit_cuda_cxx());
  put_constants(&w->g);
  put_variables(w);
  if (w->language->copies) /* they may be called as functions of OpenCL C */
    for (int i = 0; i < w->g.k->nfunctions; i++)
      put(&w->g, "#define %s op2_u_%s", w->g.k->functions[i].name, w->g.k->functions[i].name);
  gpu_put_row_macros(w);
  put(&w->g, "#include \"%s\"", files->kernel_file);
  put(&w->g, "$closeuser");
  put_structs(&w->g, word_named(&w->g, "user"), false);
}

/* ---- parameters ---- */
void gpu_put_value_types(struct gpu_writer *w, const struct gpu_parameters *p) {
  for (int i = 0; i < p->count; i++)
    if ((p->items[i].kind == GPU_P_GLOBAL || p->items[i].kind == GPU_P_START) && !p->items[i].column) {
      const struct desc_arg *a = &w->g.d->args[p->items[i].index];
      if (w->language->copies)
        put(&w->g, "typedef struct op2_values%d op2_values%d;", p->items[i].index, p->items[i].index);
      put(&w->g, "struct op2_values%d { %s op2_v[%d]; };", p->items[i].index, gpu_memory_type(w, a->type),
          a->dim);
    }
}

/* Declarations by index, or by index and column. */
static const char *const declarations[] = {
    [GPU_P_STRIDE] = "$wide op2_s%d",
    [GPU_P_MAP] = "const int $global*$restricted op2_t%d",
    [GPU_P_OFFSETS] = "const $wide $global*$restricted op2_z%d",
    [GPU_P_ENTRIES] = "const int $global*$restricted op2_entries%d",
    [GPU_P_NUMBERS] = "const int $global*$restricted op2_x%d",
    [GPU_P_STAGED_FIRST] = "const $wide $global*$restricted op2_f%d",
    [GPU_P_STAGED_TARGETS] = "const int $global*$restricted op2_q%d",
    [GPU_P_STAGED_AT] = "int op2_o%d",
    [GPU_P_STAGED_LOCAL] = "const unsigned short $global*$restricted op2_j%d_%d",
    [GPU_P_TICKET] = "unsigned $global*op2_ticket",
    [GPU_P_RESULT] = "op2_slot $global*op2_result",
    [GPU_P_SLOTS] = "op2_slot $global*op2_slots",
    [GPU_P_WARPS] = "op2_slot $global*op2_warps",
    [GPU_P_LIST] = "const int $global*$restricted op2_list",
    [GPU_P_BLOCKS] = "const int $global*$restricted op2_blocks",
    [GPU_P_COLOURS] = "const unsigned short $global*$restricted op2_colours",
    [GPU_P_COUNTS] = "const int $global*$restricted op2_counts",
    [GPU_P_CONSTANTS] = "const op2_constants op2_k0",
    [GPU_P_SLOT] = "int op2_slot0",
    [GPU_P_COUNT] = "int op2_count",
    [GPU_P_BEGIN] = "int op2_begin",
    [GPU_P_END] = "int op2_end",
    [GPU_P_BACK] = "int op2_back",
    [GPU_P_FIRST] = "int op2_first"};

/* A kept one may be a result of the same kernel. */
static void declare_values(const struct gpu_writer *w, const struct gpu_parameter *p, struct text *out) {
  const struct desc_arg *a = &w->g.d->args[p->index];
  const char *name = p->kind == GPU_P_START ? "b" : w->language->copies && a->access == OP_READ ? "w" : "g";
  if (p->column)
    add_words(&w->g, out, "const %s $global*%sop2_%s%d", gpu_memory_type(w, a->type),
              a->kept ? "" : "$restricted ", name, p->index);
  else
    text_addf(out, "const op2_values%d op2_y%d", p->index, p->index);
}

static void declare(const struct gpu_writer *w, const struct gpu_parameter *p, struct text *out) {
  const struct desc *d = w->g.d;
  const int i = p->index;
  switch (p->kind) {
  case GPU_P_GLOBAL:
  case GPU_P_START: declare_values(w, p, out); break;
  case GPU_P_DAT:
    add_words(&w->g, out, "%s%s $global*$restricted op2_d%d", dat_is_written(d, i) ? "" : "const ",
              gpu_memory_type(w, d->dats[i].type), i);
    break;
  case GPU_P_SUMS_LAST:
  case GPU_P_SUMS_SLOTS:
    add_words(&w->g, out, "const op2_entry%d $global*$restricted op2_%s%d", i,
              p->kind == GPU_P_SUMS_LAST ? "last" : "slots", i);
    break;
  case GPU_P_APART:
    add_words(&w->g, out, "%s $global*$restricted op2_p%d",
              gpu_memory_type(w, d->dats[w->targets.items[i].dat].type), i);
    break;
  case GPU_P_KEPT:
    add_words(&w->g, out, "%s $global*op2_kept%d", gpu_memory_type(w, d->args[i].type), i);
    break;
  default: add_words(&w->g, out, declarations[p->kind], i, p->column);
  }
}

/* Values of a global: where they came with the launch, or a copy where kernels can have no other. */
static void put_values(struct gpu_writer *w, const struct gpu_parameter *p) {
  const struct desc_arg *a = &w->g.d->args[p->index];
  const char *type = word_type(&w->g, a->type), *name = p->kind == GPU_P_GLOBAL ? "g" : "b";
  const bool read = p->kind == GPU_P_GLOBAL && a->access == OP_READ;
  if (w->language->copies && (p->column ? read : a->type == TYPE_BOOL)) {
    put(&w->g, "%s op2_%s%d[%d];", type, name, p->index, a->dim);
    put_components(&w->g, a->dim, p->column ? "op2_%s%d[#] = op2_w%d[#];" : "op2_%s%d[#] = op2_y%d.op2_v[#];",
                   name, p->index, p->index);
  } else if (!p->column) {
    put(&w->g, "const %s *op2_%s%d = op2_y%d.op2_v;", type, name, p->index, p->index);
  }
}

void gpu_put_head(struct gpu_writer *w, const struct gpu_parameters *p) {
  struct text list = {0};
  for (int i = 0; i < p->count; i++) {
    text_add(&list, i ? ",\n    " : "");
    declare(w, &p->items[i], &list);
  }
  char *name = gpu_kernel_name(w->g.d);
  /* A compiler may read what is restricted to one pointer wherever it likes, before the kernel waits, too. */
  if (w->shape->dependent)
    text_add(w->g.out, GPU_WAIT_TEXT "#define __restrict__\n");
  if (w->language->copies && gpu_has_shared(w->shape->strategy))
    text_add(&list, ",\n    __local uint4 *op2_shared");
  const bool by_warps = w->shape->strategy == GPU_WARPS && !w->shape->joined;
  if (w->shape->min_blocks)
    put_open(&w->g, "$kernel $bounds(%d, %d) %s(%s)", w->shape->block, w->shape->min_blocks, name ? name : "",
             text_str(&list));
  else
    put_open(&w->g, by_warps ? "$kernel $bounds(%d) $sized%s(%s)" : "$kernel $bounds(%d) %s(%s)",
             w->shape->block, name ? name : "", text_str(&list));
  w->g.out->failed |= !name;
  free(name);
  piece_free(&w->g, &list);
  if (w->shape->dependent)
    put(&w->g, "op2_wait_for_before();");
  for (int i = 0; i < p->count; i++)
    if (p->items[i].kind == GPU_P_GLOBAL || p->items[i].kind == GPU_P_START)
      put_values(w, &p->items[i]);
  if (gpu_hands_constants(w))
    put(&w->g, "const op2_constants *op2_k = &op2_k0;");
  put(&w->g, "const int op2_nth = (int)(op2_back ? $blocks - 1 - $block : $block);");
}

/* Arrays with a value for each element of the part are found by the set's numbers. What a reproducible loop keeps apart is in
 * one array for all parts. */
void gpu_put_part(struct gpu_writer *w, const struct gpu_parameters *p) {
  for (int i = 0; i < p->count; i++) {
    const struct gpu_parameter *at = &p->items[i];
    if (at->kind == GPU_P_COLOURS)
      put(&w->g, "op2_colours -= op2_begin;");
    else if (at->kind == GPU_P_LIST && (w->shape->sorted || w->shape->strategy == GPU_ORDERED))
      put(&w->g, "op2_list -= op2_begin;");
    else if (at->kind == GPU_P_STAGED_LOCAL)
      put(&w->g, "op2_j%d_%d -= op2_begin;", at->index, at->column);
    else if (at->kind == GPU_P_APART && w->shape->strategy == GPU_APART && !desc_reproduces(w->g.d))
      put(&w->g, "op2_p%d -= ($wide)op2_begin * %d;", at->index,
          w->targets.items[at->index].ncolumns * w->g.d->dats[w->targets.items[at->index].dat].dim);
  }
}
