/* Rows of ragged maps that stay where they are, in a language whose pointers have a space each. In the kernel's text
 * `T **x` becomes `__global T *x`, and the targets' numbers behind it; OP_ROW(x, k) becomes a macro for that argument, and
 * pointers that begin with such a row are `__global` too. */
#include <stdio.h>

#include "jit/emit/gpu/write.h"

int gpu_check_places(const struct gpu_writer *w, struct kernel *k, struct error *err) {
  const struct desc *d = w->g.d;
  for (int i = 0; w->language->copies && i < d->nargs; i++) {
    const struct desc_arg *a = &d->args[i];
    if (a->stays) /* no type is named where it is passed */
      k->parameters[desc_parameter(d, i)].longer = false;
    else if (a->present && a->form == DESC_DAT && desc_is_ragged(d, a) && !d->maps[a->map].most)
      return error_set(err, OP_ERR_SIZE, "kernel %s: no room was made for the rows of argument %d",
                       d->kernel_name, i + 1);
  }
  return OP_OK;
}

void gpu_put_row_macros(struct gpu_writer *w) {
  for (int i = 0; i < w->g.d->nargs; i++)
    if (w->g.d->args[i].stays)
      put(&w->g,
          w->g.d->args[i].entry ? "#define op2_rows%d(x, k) ((x) + ($wide)(k) * %d)"
                                : "#define op2_rows%d(x, k) ((x) + ($wide)op2_to%d[k] * %d)",
          i, w->g.d->args[i].entry ? w->g.d->args[i].dim : i, w->g.d->args[i].dim);
}

/* Rows of targets are passed as two arguments, in the parentheses of one. */
void gpu_row_place(const struct gpu_writer *w, int arg, char *out, size_t size) {
  const struct desc_arg *a = &w->g.d->args[arg];
  if (a->entry)
    snprintf(out, size, "op2_d%d + op2_%s%d * %d", a->dat, a->scattered ? "entry" : "first", a->map, a->dim);
  else
    snprintf(out, size, "op2_d%d), (op2_t%d + op2_first%d", a->dat, a->map, a->map);
}

/* ---- the kernel's text ---------------------------------------------------------------------------*/

/* From its stars on. Lines stay. */
static void put_parameter(const struct gpu_writer *w, const struct stay *s, struct text *out) {
  const struct kernel *k = w->g.k;
  text_addf(out, "*%s", k->parameters[desc_parameter(w->g.d, s->arg)].name);
  if (!w->g.d->args[s->arg].entry)
    text_addf(out, ", __global const int *op2_to%d", s->arg);
  for (int at = s->at.begin; at < s->at.end; at++)
    if (k->text[at] == '\n')
      text_add_char(out, '\n');
}

static void put_changed(const struct gpu_writer *w, const struct row_facts *rows, struct text *out) {
  const struct kernel *k = w->g.k;
  int done = 0;
  for (int i = 0; i < rows->nstays; i++) {
    const struct stay *s = &rows->stays[i];
    text_add_bytes(out, k->text + done, (size_t)(s->at.begin - done));
    if (s->kind == STAY_DECLARES)
      text_add(out, "__global ");
    else if (s->kind == STAY_ROW)
      text_addf(out, "op2_rows%d", s->arg);
    else
      put_parameter(w, s, out);
    done = s->at.end;
  }
  text_add_bytes(out, k->text + done, k->length - (size_t)done);
}

int gpu_put_text(struct gpu_writer *w, struct text *out, struct error *err) {
  const struct kernel *k = w->g.k;
  const struct row_facts *rows = w->g.d->rows;
  if (!w->language->copies || !rows || !rows->nstays) {
    w->language->copy_text(k, w->g.d, out);
    return OP_OK;
  }
  struct text text = {0};
  struct kernel changed;
  put_changed(w, rows, &text);
  const int code = text_ok(&text)
                       ? kernel_parse(&changed, text_str(&text), text.length, w->g.d->kernel_name, err)
                       : error_memory(err, "a kernel text", k->length);
  text_free(&text);
  if (code)
    return code;
  w->language->copy_text(&changed, w->g.d, out);
  kernel_free(&changed);
  return OP_OK;
}
