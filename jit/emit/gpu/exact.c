/* Results with the same bits in any order of the elements (desc_reproduces). The result of one element is kept apart
 * until the kernel is done with it. Sums are whole numbers then. They keep four neighbouring limbs, those of the largest
 * value and below; each limb adds up the digits of all values there, so that nothing depends on the order. Limbs are
 * those of base/exact.c, where the host puts them together. Among equal extrema -0 is less than 0. */
#include <stdio.h>

#include "jit/emit/gpu/write.h"

static bool is_float(const struct desc_arg *a) {
  return type_info(a->type)->is_float;
}

bool gpu_is_exact(const struct desc *d, int arg) {
  const struct desc_arg *a = &d->args[arg];
  return desc_reproduces(d) && a->present && a->form == DESC_GBL && access_reduces(a->access) &&
         a->info < 0 && is_float(a);
}

bool gpu_is_exact_sum(const struct desc *d, int arg) {
  return gpu_is_exact(d, arg) && d->args[arg].access == OP_INC;
}

/* Digits below the lowest limb that is kept are lost. They are lost of each value, whenever it came. */
static const char helpers[] =
    "typedef struct { $wide limbs[4]; int top, odd; } op2_exact;\n"
    "$helper op2_exact_clear(op2_exact *e) {\n"
    "  for (int i = 0; i < 4; i++) e->limbs[i] = 0;\n"
    "  e->top = e->odd = 0;\n"
    "}\n"
    "$helper op2_exact_raise(op2_exact *e, int top) {\n"
    "  if (top <= e->top) return;\n"
    "  for (int up = top - e->top > 4 ? 4 : top - e->top; up > 0; up--) {\n"
    "    for (int i = 0; i < 3; i++) e->limbs[i] = e->limbs[i + 1];\n"
    "    e->limbs[3] = 0;\n"
    "  }\n"
    "  e->top = top;\n"
    "}\n"
    "$helper op2_exact_merge(op2_exact *to, const op2_exact *from) {\n"
    "  op2_exact other = *from;\n"
    "  op2_exact_raise(&other, to->top);\n"
    "  op2_exact_raise(to, other.top);\n"
    "  for (int i = 0; i < 4; i++) to->limbs[i] += other.limbs[i];\n"
    "  to->odd |= other.odd;\n"
    "}\n"
    "/* m * 2^(shift - 1074) */\n"
    "$helper op2_exact_put(op2_exact *e, bool below, unsigned $wide m, int shift) {\n"
    "  if (m == 0) return;\n"
    "  const int limb = shift >> 5, at = shift & 31;\n"
    "  const $wide low = ($wide)(m << at & 0xffffffffu), middle = ($wide)(m >> (32 - at) & 0xffffffffu),\n"
    "              high = at ? ($wide)(m >> (64 - at)) : 0;\n"
    "  op2_exact_raise(e, limb + 2);\n"
    "  const int to = limb - e->top + 3;\n"
    "  for (int i = 0; i < 4; i++) {\n"
    "    const $wide digit = i == to ? low : i == to + 1 ? middle : i == to + 2 ? high : 0;\n"
    "    e->limbs[i] += below ? -digit : digit;\n"
    "  }\n"
    "}\n"
    "/* Bits 1, 2, 4 of `odd`: NaN, infinity, minus infinity. */\n"
    "$helper op2_exact_of(op2_exact *e, bool below, int exponent, bool last, unsigned $wide m, int bits, int "
    "least) {\n"
    "  if (last)\n"
    "    e->odd |= m ? 1 : below ? 4 : 2;\n"
    "  else\n"
    "    op2_exact_put(e, below, exponent ? m | (unsigned $wide)1 << bits : m, least + (exponent ? exponent "
    "- 1 : 0));\n"
    "}\n"
    "$helper op2_exact_float(op2_exact *e, float v) {\n"
    "  const unsigned word = (unsigned)$floatbits(v);\n"
    "  const int exponent = (int)(word >> 23 & 255u);\n"
    "  op2_exact_of(e, word >> 31 != 0, exponent, exponent == 255, word & 0x7fffffu, 23, 925);\n"
    "}\n";
static const char helpers_of_double[] = "$helper op2_exact_double(op2_exact *e, double v) {\n"
                                        "  const unsigned $wide word = (unsigned $wide)$doublebits(v);\n"
                                        "  const int exponent = (int)(word >> 52 & 2047u);\n"
                                        "  op2_exact_of(e, word >> 63 != 0, exponent, exponent == 2047, word "
                                        "& (((unsigned $wide)1 << 52) - 1), 52, 0);\n"
                                        "}\n";

void gpu_put_exact_helpers(struct gpu_writer *w) {
  bool any = false, doubles = false;
  for (int i = 0; i < w->g.d->nargs; i++)
    if (gpu_is_exact_sum(w->g.d, i)) {
      any = true;
      doubles |= w->g.d->args[i].type == TYPE_DOUBLE;
    }
  if (any)
    add_words(&w->g, w->g.out, helpers);
  if (doubles)
    add_words(&w->g, w->g.out, helpers_of_double);
}

void gpu_put_exact_before(struct gpu_writer *w, int arg) {
  const struct desc_arg *a = &w->g.d->args[arg];
  put(&w->g, "%s op2_a%d[%d];", word_type(&w->g, a->type), arg, a->dim);
  if (a->access == OP_INC)
    put_components(&w->g, a->dim, "op2_a%d[#] = %s;", arg, word_sum(a->type));
  else
    put_components(&w->g, a->dim, "op2_a%d[#] = op2_b%d[#];", arg, arg);
}

void gpu_put_exact_better(struct gpu_writer *w, int arg, const char *value, const char *best) {
  const struct desc_arg *a = &w->g.d->args[arg];
  struct text line = {0};
  text_addf(&line, "if (%s == %s ? 1 / %s %c 1 / %s : op2_better%s(%s, %s, %s)) %s = %s;", value, best, value,
            a->access == OP_MAX ? '>' : '<', best, gpu_of_type(w, a->type), value, best, gpu_most(a->access),
            best, value);
  put_components(&w->g, a->dim, "%s", text_str(&line));
  piece_free(&w->g, &line);
}

void gpu_put_exact_after(struct gpu_writer *w, int arg) {
  const struct desc_arg *a = &w->g.d->args[arg];
  char value[32], best[32];
  if (a->access == OP_INC) {
    put_components(&w->g, a->dim, "op2_exact_%s(&op2_r.g%d[#], op2_a%d[#]);",
                   a->type == TYPE_DOUBLE ? "double" : "float", arg, arg);
    return;
  }
  snprintf(value, sizeof value, "op2_a%d[#]", arg);
  snprintf(best, sizeof best, "op2_r.g%d[#]", arg);
  gpu_put_exact_better(w, arg, value, best);
}
