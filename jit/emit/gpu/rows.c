/* Several threads of a warp for one element. All of them run the kernel with the same values, but for the steps of loops
 * over targets (jit/kernel/rows.h): each has every so many-th of these, and what these add up is put together by
 * shuffles behind the loop, so that all have the same values again. One of them stores.
 *
 * No thread waits for one that does not come: all of an element take the same way, since they read the same, and what
 * is stored for the element is stored when they have met behind the kernel. Shuffles name the element's threads only, so
 * that elements of one warp may be at different places, or beyond the last one. What they write in entries' rows belongs
 * to the thread that has the step: it is the same one in each of the kernel's loops. */
#include "jit/emit/gpu/write.h"

/* The first keeps what was there; the others begin with nothing. The sum is in all of them behind. */
static const char helpers[] =
    "static __device__ __forceinline__ int op2_row_lane() { return (int)(threadIdx.x % OP2_ROWS); }\n"
    "template <class T> static __device__ __forceinline__ T op2_row_moved(T v, int down) {\n"
    "  int words[(sizeof(T) + 3) / 4] = {0};\n"
    "  memcpy(words, &v, sizeof v);\n"
    "#pragma unroll\n"
    "  for (int i = 0; i < (int)((sizeof(T) + 3) / 4); i++)\n"
    "    words[i] = down ? op2_row_down(words[i], down) : op2_row_first(words[i]);\n"
    "  memcpy(&v, words, sizeof v);\n"
    "  return v;\n"
    "}\n"
    "template <class T> static __device__ __forceinline__ void op2_row_begin(T *v, int n, double nothing) {\n"
    "#pragma unroll\n"
    "  for (int i = 0; i < n; i++)\n"
    "    if (op2_row_lane() != 0) v[i] = (T)nothing;\n"
    "}\n"
    "#define OP2_ROW_END(name, both)                                                                 \\\n"
    "  template <class T> static __device__ __forceinline__ void name(T *v, int n) {                 \\\n"
    "    _Pragma(\"unroll\") for (int i = 0; i < n; i++) {                                           \\\n"
    "      T mine = v[i];                                                                            \\\n"
    "      _Pragma(\"unroll\") for (int down = OP2_ROWS / 2; down > 0; down /= 2) {                  \\\n"
    "        const T other = op2_row_moved(mine, down);                                              \\\n"
    "        mine = (T)(both);                                                                       \\\n"
    "      }                                                                                         \\\n"
    "      v[i] = op2_row_moved(mine, 0);                                                            \\\n"
    "    }                                                                                           \\\n"
    "  }\n"
    "OP2_ROW_END(op2_row_sum, mine + other)\n"
    "OP2_ROW_END(op2_row_product, mine * other)\n"
    "OP2_ROW_END(op2_row_least, mine != mine || other < mine ? other : mine)\n"
    "OP2_ROW_END(op2_row_most, mine != mine || other > mine ? other : mine)\n";

void gpu_put_rows_helpers(struct gpu_writer *w) {
  put(&w->g, "#define OP2_ROWS %d", w->shape->rows);
  text_add(w->g.out, w->language->rows ? w->language->rows : "");
  text_add(w->g.out, helpers);
}

/* Arguments that all threads of an element cannot have alike, or that one of them cannot store for all. */
static enum split_why argument_refusal(const struct desc *d) {
  enum { LONG_ROW = 32 }; /* each thread has a copy */
  for (int i = 0; i < d->nargs; i++) {
    const struct desc_arg *a = &d->args[i];
    if (a->form != DESC_DAT || a->access == OP_READ)
      continue;
    if (desc_is_ragged(d, a) && !a->entry)
      return WHY_TARGETS;
    if (access_is_extremum(a->access))
      return WHY_EXTREMA;
    if (!desc_is_ragged(d, a) && a->dim > LONG_ROW)
      return WHY_LONG_ROW;
    for (int j = 0; j < d->nargs; j++)
      if (j != i && d->args[j].form == DESC_DAT && d->args[j].dat == a->dat &&
          (a->access != OP_INC || d->args[j].access != OP_INC || a->entry))
        return WHY_TWICE;
  }
  return WHY_NOT_LOOKED_AT;
}

bool gpu_rows_can(const struct desc *d, const struct gpu_shape *s, enum split_why *why) {
  *why = !gpu_language(s->dialect)->rows                                   ? WHY_LANGUAGE
         : gpu_has_blocks(s->strategy) || gpu_sums_by_targets(s->strategy) ? WHY_STRATEGY
         : d->entry || d->nmembers                                         ? WHY_CXX
         : !desc_any_ragged(d)                                             ? WHY_NO_MAP
         : argument_refusal(d)                                             ? argument_refusal(d)
         : d->rows                                                         ? (enum split_why)d->rows->why
                                                                           : WHY_NOT_LOOKED_AT;
  return !*why && d->rows && d->rows->nloops > 0;
}

static void add_name(const struct kernel *k, const struct row_range *at, struct text *out) {
  text_add_bytes(out, k->text + at->begin, (size_t)(at->end - at->begin));
}

static void add_results(const struct kernel *k, const struct split_loop *l, bool behind, struct text *out) {
  static const char *const ends[] = {[SPLIT_SUM] = "op2_row_sum",
                                     [SPLIT_PRODUCT] = "op2_row_product",
                                     [SPLIT_LEAST] = "op2_row_least",
                                     [SPLIT_MOST] = "op2_row_most"};
  for (int i = 0; i < l->nresults; i++) {
    const struct split_result *r = &l->results[i];
    if (!behind && r->kind != SPLIT_SUM && r->kind != SPLIT_PRODUCT)
      continue;
    text_addf(out, " %s(%s", behind ? ends[r->kind] : "op2_row_begin", r->address ? "" : "&");
    add_name(k, &r->name, out);
    text_addf(out, ", %d%s);", r->count, behind ? "" : r->kind == SPLIT_SUM ? ", -0.0" : ", 1.0");
  }
}

/* Lines stay. */
static void add_split(const struct kernel *k, const struct row_facts *rows, struct text *out) {
  int done = 0;
  for (int i = 0; i < rows->nloops; i++) {
    const struct split_loop *l = &rows->loops[i];
    add_name(k, &(struct row_range){done, l->all.begin}, out);
    text_add_char(out, '{');
    add_results(k, l, false, out);
    text_add_char(out, ' ');
    add_name(k, &(struct row_range){l->all.begin, l->zero.begin}, out);
    text_add(out, "op2_row_lane()");
    add_name(k, &(struct row_range){l->zero.end, l->step.begin}, out);
    add_name(k, &l->counter, out);
    text_add(out, " += OP2_ROWS");
    add_name(k, &(struct row_range){l->step.end, l->all.end}, out);
    add_results(k, l, true, out);
    text_add(out, " }");
    done = l->all.end;
  }
  text_add_bytes(out, k->text + done, k->length - (size_t)done);
}

int gpu_rows_split(struct kernel *k, const struct desc *d, struct error *err) {
  struct kernel changed;
  struct text text = {0};
  if (!d->rows || !d->rows->nloops)
    return error_set(err, OP_ERR_KERNEL, "kernel %s: several threads cannot share an element",
                     d->kernel_name);
  add_split(k, d->rows, &text);
  int code = text_ok(&text) ? kernel_parse(&changed, text_str(&text), text.length, d->kernel_name, err)
                            : error_memory(err, "a kernel text", k->length);
  text_free(&text);
  if (code)
    return code;
  kernel_free(k);
  *k = changed;
  return OP_OK;
}
