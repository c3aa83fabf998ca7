/* Rows of many values: too many for registers, and where each thread reads its own row piece by piece, a warp asks memory
 * for half a sector of each of 32 rows at a time. In a shape that is near a warp brings the rows of its elements to shared
 * memory together: its threads take the pieces of a row one after the other, so that all of a sector is asked for at once.
 * Kernels work there. What they changed goes back in the same way, and what they add is added so, too.
 *
 * Nothing but the threads of a warp waits for one another. Rows are so far apart that threads use other banks. */
#include <stdio.h>

#include "jit/emit/gpu/write.h"

static size_t row_bytes(const struct desc_arg *a) {
  return (size_t)a->dim * type_info(a->type)->size;
}

static bool is_wide(const struct desc *d, const struct gpu_shape *s, const struct desc_arg *a) {
  return a->present && a->form == DESC_DAT && !desc_is_ragged(d, a) && !a->entry && !a->matrix &&
         !dat_is_apart(d, a->dat) && !type_is_struct(a->type) && a->dim >= s->near && row_bytes(a) % 4 == 0 &&
         !desc_is_shared(d, (int)(a - d->args));
}

/* All that adds to a target does it in one way. */
static bool target_is_near(const struct desc *d, const struct gpu_shape *s, int dat) {
  bool near = true;
  for (int i = 0; i < d->nargs; i++) {
    const struct desc_arg *a = &d->args[i];
    if (a->present && a->form == DESC_DAT && a->dat == dat && access_reduces(a->access))
      near = near && a->access == OP_INC && is_wide(d, s, a);
  }
  return near;
}

bool gpu_is_near(const struct desc *d, const struct gpu_shape *s, const struct gpu_targets *t, int arg) {
  const struct desc_arg *a = &d->args[arg];
  if (!s->near || !is_wide(d, s, a))
    return false;
  if (access_reduces(a->access) && gpu_target_of(t, a->dat) >= 0)
    return target_is_near(d, s, a->dat);
  const bool begins_there = a->access != OP_INC || !desc_reproduces(d);
  return a->access == OP_READ ||
         (a->map < 0 && begins_there && !access_is_extremum(a->access) && arg_is_alone(d, a));
}

bool gpu_near_can(const struct desc *d, const struct gpu_shape *s, const struct gpu_targets *t) {
  struct gpu_shape near = *s;
  near.near = s->near ? s->near : GPU_NEAR_VALUES;
  const bool has_place =
      !s->rows && s->dialect != GPU_DIALECT_OPENCL &&
      (s->strategy == GPU_DIRECT || s->strategy == GPU_ATOMICS || s->strategy == GPU_WARPS);
  bool any = false;
  for (int i = 0; i < d->nargs; i++)
    any |= gpu_is_near(d, &near, t, i);
  return has_place && any;
}

bool gpu_near_arg(const struct gpu_writer *w, const struct desc_arg *a) {
  return gpu_is_near(w->g.d, w->shape, &w->targets, (int)(a - w->g.d->args));
}

static bool adds(const struct gpu_targets *t, const struct desc_arg *a) {
  return access_reduces(a->access) && gpu_target_of(t, a->dat) >= 0;
}

/* Bytes that a thread moves at a time, and bytes from a row to the next. */
static int piece_bytes(const struct desc_arg *a) {
  const size_t bytes = row_bytes(a);
  return bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : 4;
}

static int apart_bytes(const struct gpu_targets *t, const struct desc_arg *a) {
  const int piece = piece_bytes(a);
  return adds(t, a) ? gpu_near_apart(a->dim) * (int)type_info(a->type)->size
                    : ((int)row_bytes(a) / piece | 1) * piece;
}

/* Up to argument `end`. Sums of warps have a place of their own. */
static size_t bytes_before(const struct desc *d, const struct gpu_shape *s, const struct gpu_targets *t,
                           int end) {
  size_t bytes = 0;
  for (int i = 0; i < end; i++) {
    const struct desc_arg *a = &d->args[i];
    if (gpu_is_near(d, s, t, i) && !(s->strategy == GPU_WARPS && adds(t, a)))
      bytes += (size_t)arg_columns(d, a) * (size_t)apart_bytes(t, a);
  }
  return bytes;
}

size_t gpu_near_bytes(const struct desc *d, const struct gpu_shape *s, const struct gpu_targets *t) {
  return bytes_before(d, s, t, d->nargs);
}

/* ---- helpers ---- */
/* In front: OP2_FROM(v, lane), what thread `lane` of the warp has as v. Four pieces at a time: with all of a row's, registers
 * would not do. */
static const char helpers[] =
    "template <int B> struct op2_piece;\n"
    "template <> struct op2_piece<16> { typedef int4 type; };\n"
    "template <> struct op2_piece<8> { typedef int2 type; };\n"
    "template <> struct op2_piece<4> { typedef int type; };\n"
    /* Straight to shared memory where the device can, without waiting. */
    "template <int B> __device__ __forceinline__ void op2_bring_piece(void *to, const void *from) {\n"
    "#if defined(__EDG__) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800\n"
    "  asm volatile(\"cp.async.ca.shared.global [%0], [%1], %2;\"\n"
    "               :: \"r\"((unsigned)__cvta_generic_to_shared(to)), \"l\"(from), \"n\"(B) : \"memory\");\n"
    "#else\n"
    "  typedef typename op2_piece<B>::type piece;\n"
    "  *(piece *)to = *(const piece *)from;\n"
    "#endif\n"
    "}\n"
    "static __device__ __forceinline__ void op2_brought() {\n"
    "#if defined(__EDG__) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800\n"
    "  asm volatile(\"cp.async.wait_all;\" ::: \"memory\");\n"
    "#endif\n"
    "}\n"
    /* Rows of N pieces of B bytes for `count` threads of a warp, S bytes apart: of element after element, or those
     * that each thread names. */
    "template <int B, int N, int S>\n"
    "__device__ __forceinline__ void op2_bring_next(unsigned char *to, const void *from, int count) {\n"
    "#pragma unroll 4\n"
    "  for (int i = 0; i < N; i++) {\n"
    "    const int piece = (int)(threadIdx.x % OP2_LANES) + i * OP2_LANES;\n"
    "    if (piece / N < count)\n"
    "      op2_bring_piece<B>(to + piece / N * S + piece % N * B, (const char *)from + piece * B);\n"
    "  }\n"
    "}\n"
    "template <int B, int N, int S>\n"
    "__device__ __forceinline__ void op2_bring(unsigned char *to, const void *from, int row, int count) {\n"
    "#pragma unroll 4\n"
    "  for (int i = 0; i < N; i++) {\n"
    "    const int piece = (int)(threadIdx.x % OP2_LANES) + i * OP2_LANES;\n"
    "    const long long at = OP2_FROM(row, piece / N);\n"
    "    if (piece / N < count)\n"
    "      op2_bring_piece<B>(to + piece / N * S + piece % N * B, (const char *)from + (at * N + piece % N) "
    "* B);\n"
    "  }\n"
    "}\n"
    "template <int B, int N, int S>\n"
    "__device__ __forceinline__ void op2_take_back(void *to, const unsigned char *from, int count) {\n"
    "  typedef typename op2_piece<B>::type type;\n"
    "#pragma unroll 4\n"
    "  for (int i = 0; i < N; i++) {\n"
    "    const int piece = (int)(threadIdx.x % OP2_LANES) + i * OP2_LANES;\n"
    "    if (piece / N < count)\n"
    "      ((type *)to)[piece] = *(const type *)(from + piece / N * S + piece % N * B);\n"
    "  }\n"
    "}\n"
    /* Rows of N values, P of them by one operation. */
    "template <int N, int S, int P, class T>\n"
    "__device__ __forceinline__ void op2_add_rows(T *to, const T *from, int row, int count) {\n"
    "#pragma unroll 4\n"
    "  for (int i = 0; i < N / P; i++) {\n"
    "    const int piece = (int)(threadIdx.x % OP2_LANES) + i * OP2_LANES, whose = piece / (N / P),\n"
    "              part = piece % (N / P) * P;\n"
    "    const long long at = OP2_FROM(row, whose);\n"
    "    if (whose >= count) continue;\n"
    "    if (P > 1)\n"
    "      op2_add_row<P, P>((float *)(to + at * N + part), (const float *)(from + whose * S + part));\n"
    "    else\n"
    "      op2_add(to + at * N + part, from[whose * S + part]);\n"
    "  }\n"
    "}\n";

void gpu_put_near_helpers(struct gpu_writer *w) {
  text_add(w->g.out, w->language->near);
  text_add(w->g.out, helpers);
}

/* ---- places ---- */
/* Warps sum what is added where it is. */
static bool is_summed(const struct gpu_writer *w, const struct desc_arg *a) {
  return w->shape->strategy == GPU_WARPS && adds(&w->targets, a);
}

static void put_place(struct gpu_writer *w, int arg) {
  const struct desc_arg *a = &w->g.d->args[arg];
  const char *type = word_type(&w->g, a->type);
  const int apart = apart_bytes(&w->targets, a) / (int)type_info(a->type)->size;
  if (is_summed(w, a)) {
    put(&w->g, "enum { op2_step%d = op2_width * %d };", arg, apart);
    put(&w->g, "%s *const op2_w%d = op2_h%d + (%d * op2_width + op2_in) * %d;", type, arg,
        gpu_target_of(&w->targets, a->dat), gpu_column_of(w, arg, 0), apart);
    return;
  }
  put(&w->g, "enum { op2_step%d = $lanes * %d };", arg, apart);
  put(&w->g, "unsigned char *const op2_rows%d = op2_near + $lanes * %zu;", arg,
      bytes_before(w->g.d, w->shape, &w->targets, arg));
  put(&w->g, "%s *const op2_w%d = (%s *)op2_rows%d + op2_mine * %d;", type, arg, type, arg, apart);
}

void gpu_put_near_places(struct gpu_writer *w, const char *begin) {
  const size_t bytes = gpu_near_bytes(w->g.d, w->shape, &w->targets);
  put(&w->g, "const int op2_mine = (int)($thread %% $lanes);");
  if (bytes)
    put(&w->g, "unsigned char *const op2_near = op2_shared + %s + (int)($thread / $lanes) * ($lanes * %zu);",
        begin, bytes);
  for (int i = 0; i < w->g.d->nargs; i++)
    if (gpu_near_arg(w, &w->g.d->args[i]))
      put_place(w, i);
}

/* ---- rows there and back ---- */
/* By the map's columns, each once; op2_row0_0 is the element. */
static void row_number(const struct desc_arg *a, int v, char *out, size_t size) {
  snprintf(out, size, "op2_row%d_%d", a->map + 1, a->map < 0 ? 0 : arg_column(a, v));
}

static void put_row_numbers(struct gpu_writer *w) {
  const struct desc *d = w->g.d;
  put(&w->g, "const int op2_row0_0 = op2_on ? op2_e : 0;");
  for (int m = 0; m < d->nmaps; m++)
    for (int c = 0; c < d->maps[m].arity; c++)
      if (!d->maps[m].ragged && desc_uses_column(d, m, c))
        put(&w->g, "const int op2_row%d_%d = op2_on ? op2_t%d[($wide)op2_e * %d + %d] : 0;", m + 1, c, m,
            d->maps[m].arity, c);
}

static void put_brought(struct gpu_writer *w, int arg, int v) {
  const struct desc_arg *a = &w->g.d->args[arg];
  const int piece = piece_bytes(a), pieces = (int)row_bytes(a) / piece, apart = apart_bytes(&w->targets, a);
  char row[40];
  row_number(a, v, row, sizeof row);
  if (a->map < 0)
    put(&w->g, "op2_bring_next<%d, %d, %d>(op2_rows%d, op2_d%d + ($wide)(op2_e - op2_mine) * %d, op2_here);",
        piece, pieces, apart, arg, a->dat, a->dim);
  else
    put(&w->g, "op2_bring<%d, %d, %d>(op2_rows%d + %d * $lanes * %d, op2_d%d, %s, op2_here);", piece, pieces,
        apart, arg, v, apart, a->dat, row);
}

void gpu_put_brought(struct gpu_writer *w) {
  put(&w->g, "const int op2_left = op2_end - (op2_e - op2_mine), op2_here = op2_left < $lanes ? op2_left : "
             "$lanes;");
  put_row_numbers(w);
  for (int i = 0; i < w->g.d->nargs; i++) {
    const struct desc_arg *a = &w->g.d->args[i];
    const bool brings = gpu_near_arg(w, a) && !adds(&w->targets, a) && a->access != OP_WRITE;
    for (int v = 0; brings && v < arg_columns(w->g.d, a); v++)
      put_brought(w, i, v);
  }
  put(&w->g, "op2_brought();");
  put(&w->g, "$step");
}

void gpu_put_near_cleared(struct gpu_writer *w) {
  for (int i = 0; i < w->g.d->nargs; i++) {
    const struct desc_arg *a = &w->g.d->args[i];
    for (int v = 0; gpu_near_arg(w, a) && adds(&w->targets, a) && v < arg_columns(w->g.d, a); v++)
      put_components(&w->g, a->dim, "op2_w%d[%d * op2_step%d + #] = %s;", i, v, i, word_sum(a->type));
  }
}

static void put_added(struct gpu_writer *w, int arg, int v) {
  const struct desc_arg *a = &w->g.d->args[arg];
  char row[40];
  row_number(a, v, row, sizeof row);
  put(&w->g,
      "op2_add_rows<%d, %d, OP2_PIECE(%d)>(op2_d%d, op2_w%d - op2_mine * %d + %d * op2_step%d, %s, "
      "op2_here);",
      a->dim, gpu_near_apart(a->dim), gpu_piece(w, a->dat), a->dat, arg, gpu_near_apart(a->dim), v, arg, row);
}

void gpu_put_taken_back(struct gpu_writer *w) {
  put(&w->g, "$step");
  for (int i = 0; i < w->g.d->nargs; i++) {
    const struct desc_arg *a = &w->g.d->args[i];
    if (!gpu_near_arg(w, a) || is_summed(w, a) || a->access == OP_READ)
      continue;
    if (!adds(&w->targets, a))
      put(&w->g, "op2_take_back<%d, %d, %d>(op2_d%d + ($wide)(op2_e - op2_mine) * %d, op2_rows%d, op2_here);",
          piece_bytes(a), (int)row_bytes(a) / piece_bytes(a), apart_bytes(&w->targets, a), a->dat, a->dim, i);
    for (int v = 0; adds(&w->targets, a) && v < arg_columns(w->g.d, a); v++)
      put_added(w, i, v);
  }
  put(&w->g, "$step");
}
