/* Stores past the caches: a result that nobody reads before the caches have forgotten it need not be in them, and
 * its old value need not be read. Only whole vectors at aligned addresses can be stored so; whether they are
 * aligned is found for each range, because ranks begin their ranges anywhere. op2_aligned is volatile, or LLVM
 * would make a loop for either case. */
#include <stdio.h>

#include "jit/generate/strips/lanes.h"
#include "jit/generate/strips/strip.h"

enum { LINE = 64, LEAST = 16 };

/* Values in one store. */
static int values_of(const struct desc_arg *a, int width) {
  const int line = LINE / (int)type_info(a->type)->size;
  return width < line ? width : line;
}

static int bytes_of(const struct desc_arg *a, int width) {
  return values_of(a, width) * (int)type_info(a->type)->size;
}

bool lanes_can_stream(const struct desc *d, const struct desc_arg *a, int width) {
  return width && a->present && a->form == DESC_DAT && a->access == OP_WRITE && !a->dropped && a->map < 0 &&
         arg_is_alone(d, a) && type_info(a->type)->size >= 4 && bytes_of(a, width) >= LEAST &&
         (dat_is_apart(d, a->dat) || lanes_row(a->dim, width) == a->dim);
}

/* Bytes that a strip writes in one place. */
static int bytes_in_place(const struct desc *d, const struct desc_arg *a, int width) {
  return (dat_is_apart(d, a->dat) ? 1 : a->dim) * width * (int)type_info(a->type)->size;
}

bool lanes_fill_lines(const struct desc *d, int width) {
  bool fill = true;
  for (int i = 0; i < d->nargs; i++)
    if (lanes_can_stream(d, &d->args[i], width))
      fill &= bytes_in_place(d, &d->args[i], width) % LINE == 0;
  return fill;
}

bool is_streamed(const struct generator *g, const struct desc_arg *a) {
  return g->s->stream && lanes_can_stream(g->d, a, g->s->width);
}

void put_stream_check(struct generator *g) {
  put(g, "unsigned long op2_place = 0;");
  for (int i = 0; i < g->d->nargs; i++) {
    const struct desc_arg *a = &g->d->args[i];
    const int mask = bytes_of(a, g->s->width) - 1;
    if (!is_streamed(g, a))
      continue;
    if (dat_is_apart(g->d, a->dat))
      put(g,
          "op2_place |= ((unsigned long)(op2_d%d + op2_begin) | (unsigned long)op2_s%d * sizeof(%s)) & %d;",
          a->dat, a->dat, word_type(g, a->type), mask);
    else
      put(g, "op2_place |= (unsigned long)(op2_d%d + op2_begin * %d) & %d;", a->dat, a->dim, mask);
  }
  put(g, "volatile const int op2_aligned = !op2_place;");
}

static void put_vectors(struct generator *g, int arg) {
  const struct desc_arg *a = &g->d->args[arg];
  const bool apart = dat_is_apart(g->d, a->dat), turned = !apart && a->dim > 1;
  const int width = g->s->width, n = values_of(a, width);
  char vector[32];
  lanes_vector(a->type, n, vector, sizeof vector);
  for (int from = 0; from < a->dim * width; from += n) {
    char where[96];
    if (apart)
      snprintf(where, sizeof where, "op2_d%d + %d * op2_s%d + op2_i + %d", a->dat, from / width, a->dat,
               from % width);
    else
      snprintf(where, sizeof where, "op2_d%d + op2_i * %d + %d", a->dat, a->dim, from);
    put(g, "__builtin_nontemporal_store(*(const %s *)(op2_%c%d + %d), (%s *)(%s));", vector,
        turned ? 'r' : 'l', arg, from, vector, where);
  }
}

void put_streamed_store(struct generator *g, int arg, void (*put_plain)(struct generator *g, int arg)) {
  put_open(g, "if (op2_aligned)");
  put_vectors(g, arg);
  put_close(g);
  put_open(g, "else");
  put_plain(g, arg);
  put_close(g);
}

void put_stream_end(struct generator *g) {
  put(g, "__atomic_thread_fence(__ATOMIC_SEQ_CST);");
}
