/* Rows of ragged maps that stay where they are, in a language whose pointers have a space each. In the kernel's text
 * `T **x` becomes `__global T *x`, and the targets' numbers behind it; OP_ROW(x, k) becomes a macro for that argument, and
 * pointers that begin with such a row are `__global` too. */
#include <stdio.h>

#include "jit/front/parameters.h"
#include "jit/generate/gpu/write.h"

int gpu_find_places(struct gpu_writer *w, struct kernel *k, struct error *err) {
  const struct desc *d = w->g.d;
  if (!w->language->copies)
    return OP_OK;
  if (!rows_in_place(k, d, &w->in_place))
    return error_memory(err, "a kernel's rows", k->length);
  for (int i = 0; i < d->nargs; i++) {
    const struct desc_arg *a = &d->args[i];
    if (w->in_place.args[i]) /* no type is named where it is passed */
      k->parameters[desc_parameter(d, i)].longer = false;
    else if (a->present && a->form == DESC_DAT && desc_is_ragged(d, a) && !d->maps[a->map].most)
      return error_set(err, OP_ERR_SIZE, "kernel %s: no room was made for the rows of argument %d",
                       d->kernel_name, i + 1);
  }
  return OP_OK;
}

void gpu_put_row_macros(struct gpu_writer *w) {
  for (int i = 0; i < w->g.d->nargs; i++)
    if (w->in_place.args[i])
      put(&w->g,
          w->g.d->args[i].entry ? "#define op2_rows%d(x, k) ((x) + ($wide)(k) * %d)"
                                : "#define op2_rows%d(x, k) ((x) + ($wide)op2_to%d[k] * %d)",
          i, w->g.d->args[i].entry ? w->g.d->args[i].dim : i, w->g.d->args[i].dim);
}

/* Of targets two arguments: what an argument is stands in parentheses. */
void gpu_row_place(const struct gpu_writer *w, int arg, char *out, size_t size) {
  const struct desc_arg *a = &w->g.d->args[arg];
  if (a->entry)
    snprintf(out, size, "op2_d%d + op2_%s%d * %d", a->dat, a->scattered ? "entry" : "first", a->map, a->dim);
  else
    snprintf(out, size, "op2_d%d), (op2_t%d + op2_first%d", a->dat, a->map, a->map);
}

/* ---- the kernel's text ---------------------------------------------------------------------------*/

struct copy {
  const struct gpu_writer *w;
  struct text text;
  size_t done; /* bytes of the text before */
};

/* What stands there, up to a token, then `word`; goes on at byte `next`. */
static void put_word(struct copy *c, size_t token, const char *word, size_t next) {
  const struct kernel *k = c->w->g.k;
  text_add_bytes(&c->text, k->text + c->done, k->tokens.items[token].begin - c->done);
  text_add(&c->text, word);
  c->done = next;
}

static int arg_of(const struct desc *d, int parameter) {
  for (int i = 0; i < d->nargs; i++)
    if (desc_parameter(d, i) == parameter)
      return i;
  return -1;
}

/* From `first` to `end`; lines stay. */
static void copy_parameter(struct copy *c, int arg, size_t first, size_t end) {
  const struct kernel *k = c->w->g.k;
  const struct token *items = k->tokens.items;
  size_t star = first;
  while (star < end && !token_is(&k->tokens, star, "*"))
    star++;
  put_word(c, first, "__global ", items[first].begin);
  put_word(c, star, "*", items[end - 1].end);
  text_add(&c->text, k->parameters[desc_parameter(c->w->g.d, arg)].name);
  if (!c->w->g.d->args[arg].entry)
    text_addf(&c->text, ", __global const int *op2_to%d", arg);
  for (size_t at = items[star].begin; at < c->done; at++)
    if (k->text[at] == '\n')
      text_add_char(&c->text, '\n');
}

static void copy_parameters(struct copy *c, size_t open, size_t close) {
  const struct tokens *t = &c->w->g.k->tokens;
  size_t first = open + 1;
  int number = 0;
  for (size_t i = first; i <= close; i++)
    if (i == close || token_is(t, i, ",")) {
      const int arg = arg_of(c->w->g.d, number++);
      if (arg >= 0 && c->w->in_place.args[arg])
        copy_parameter(c, arg, first, i);
      first = i + 1;
    } else if (token_is(t, i, "(") || token_is(t, i, "["))
      i = kernel_skip_brackets(t, i) - 1;
}

static void copy_body(struct copy *c, size_t begin, size_t end) {
  const struct kernel *k = c->w->g.k;
  const struct in_place *p = &c->w->in_place;
  size_t declared = 0;
  for (size_t i = begin; i < end; i++) {
    const int arg = in_place_row(k, c->w->g.d, p, i);
    char word[32];
    if (declared < p->ndeclared && i == p->declared[declared]) {
      put_word(c, i, "__global ", k->tokens.items[i].begin);
      declared++;
    }
    if (arg < 0)
      continue;
    snprintf(word, sizeof word, "op2_rows%d", arg);
    put_word(c, i, word, k->tokens.items[i].end);
  }
}

static bool has_places(const struct gpu_writer *w) {
  for (int i = 0; i < w->g.d->nargs; i++)
    if (w->in_place.args[i])
      return true;
  return false;
}

int gpu_put_text(struct gpu_writer *w, struct text *out, struct error *err) {
  const struct kernel *k = w->g.k;
  if (!has_places(w)) {
    w->language->copy_text(k, w->g.d, out);
    return OP_OK;
  }
  struct copy c = {.w = w};
  struct kernel changed;
  const size_t open = k->functions[k->function].open, begin = kernel_skip_brackets(&k->tokens, open);
  copy_parameters(&c, open, begin - 1);
  copy_body(&c, begin, kernel_skip_brackets(&k->tokens, begin));
  text_add_bytes(&c.text, k->text + c.done, k->length - c.done);
  const int code = text_ok(&c.text)
                       ? kernel_parse(&changed, text_str(&c.text), c.text.length, w->g.d->kernel_name, err)
                       : error_memory(err, "a kernel text", k->length);
  text_free(&c.text);
  if (code)
    return code;
  w->language->copy_text(&changed, w->g.d, out);
  kernel_free(&changed);
  return OP_OK;
}
