#include "jit/emit/strip_lanes.h"

#include <stdio.h>
#include <string.h>

#include "jit/emit/strip.h"

/* A row is turned in pieces: components offset .. offset + count - 1 in registers that hold `padded` of them,
 * a power of two. */
struct piece {
  int offset, count, padded;
};

enum { MOST_PADDED = 8 };

static struct piece next_piece(int dim, int offset, int width) {
  int most = width < MOST_PADDED ? width : MOST_PADDED, left = dim - offset;
  struct piece p = {.offset = offset, .count = left < most ? left : most, .padded = 1};
  while (p.padded < p.count)
    p.padded *= 2;
  return p;
}

int lanes_row(int dim, int width) {
  int row = 0;
  for (int offset = 0; offset < dim;) {
    struct piece p = next_piece(dim, offset, width);
    row = p.offset + p.padded;
    offset += p.count;
  }
  return row;
}

/* Types that vector instructions move and add. */
static bool has_vectors(enum type_code type) {
  return type_info(type)->size >= 4;
}

int lanes_read_behind(enum type_code type, int dim) {
  enum { NARROWEST = 4, WIDEST = 16 };
  int most = 0;
  for (int width = NARROWEST; width <= WIDEST; width *= 2)
    if (lanes_row(dim, width) - dim > most)
      most = lanes_row(dim, width) - dim;
  return type_is_struct(type) || !has_vectors(type) || dim > LANES_LONGEST_ROW ? 0 : most;
}

/* Identifier and C spelling of a type. */
static const char *const short_names[TYPE_COUNT] = {
    [TYPE_DOUBLE] = "double", [TYPE_FLOAT] = "float", [TYPE_INT] = "int",
    [TYPE_UINT] = "uint",     [TYPE_LONGLONG] = "ll", [TYPE_ULONGLONG] = "ull",
    [TYPE_BOOL] = "bool",     [TYPE_CHAR] = "char",   [TYPE_SHORT] = "short"};

void lanes_name(enum type_code type, int dim, char *out, size_t size) {
  snprintf(out, size, "%s_%d", short_names[type], dim);
}

static void lanes_vector(enum type_code type, int n, char *out, size_t size) {
  snprintf(out, size, "op2_%s%d", short_names[type], n);
}

/* ---- vectors in the text -------------------------------------------------------------------------*/

/* typedefs op2_double4 (aligned) and op2_double4u (as the scalar), for every length that is used. */
void put_lane_types(struct generator *g, enum type_code type) {
  int width = g->s->width;
  if (!has_vectors(type))
    return;
  for (int n = 2; n <= (width > MOST_PADDED ? width : MOST_PADDED); n *= 2) {
    size_t bytes = (size_t)n * type_info(type)->size;
    put(g, "typedef %s op2_%s%d __attribute__((vector_size(%zu), may_alias));", word_type(g, type),
        short_names[type], n, bytes);
    put(g, "typedef %s op2_%s%du __attribute__((vector_size(%zu), aligned(%zu), may_alias));",
        word_type(g, type), short_names[type], n, bytes, type_info(type)->size);
  }
}

static void shuffle(struct text *out, const char *a, const char *b, const int *from, int count) {
  text_addf(out, "__builtin_shufflevector(%s, %s", a, b);
  for (int i = 0; i < count; i++)
    text_addf(out, ", %d", from[i]);
  text_add_char(out, ')');
}

static void put_shuffle(struct generator *g, const char *to, const char *a, const char *b, const int *from,
                        int count) {
  struct text line = {0};
  shuffle(&line, a, b, from, count);
  put(g, "%s = %s;", to, text_str(&line));
  piece_free(g, &line);
}

/* Pairs of registers z exchange blocks of 1, 2, 4 ... values: afterwards value c of row k * padded + i is value k
 * * padded + i of register c. The same exchange leads back. */
static void put_exchange(struct generator *g, const struct piece *p, int width) {
  for (int stride = 1; stride < p->padded; stride *= 2)
    for (int i = 0; i < p->padded; i++) {
      if (i & stride)
        continue;
      int low[16], high[16];
      char a[16], b[16];
      for (int q = 0; q < width; q++) {
        low[q] = (q & stride) ? width + q - stride : q;
        high[q] = (q & stride) ? width + q : q + stride;
      }
      snprintf(a, sizeof a, "z%d", i);
      snprintf(b, sizeof b, "z%d", i | stride);
      put_shuffle(g, "t", a, b, low, width);
      put_shuffle(g, b, a, b, high, width);
      put(g, "%s = t;", a);
    }
}

/* ---- rows to lanes -----------------------------------------------------------------------------*/

/* An expression: `count` rows from `first` on in steps of one register's rows, side by side. */
static void side_by_side(enum type_code type, const struct piece *p, int first, int count, struct text *out) {
  if (count == 1) {
    text_addf(out, "*(const op2_%s%du *)(rows[%d] + %d)", short_names[type], p->padded, first, p->offset);
    return;
  }
  struct text left = {0}, right = {0};
  int from[16], half = count / 2, values = count * p->padded;
  side_by_side(type, p, first, half, &left);
  side_by_side(type, p, first + half * p->padded, half, &right);
  for (int i = 0; i < values; i++)
    from[i] = i;
  shuffle(out, text_str(&left), text_str(&right), from, values);
  text_free(&left);
  text_free(&right);
}

static void put_loaded_piece(struct generator *g, enum type_code type, const struct piece *p, int width) {
  put_block(g);
  for (int i = 0; i < p->padded; i++) {
    struct text value = {0};
    if (p->padded == 1) {
      text_addf(&value, "{");
      for (int l = 0; l < width; l++)
        text_addf(&value, "%srows[%d][%d]", l ? ", " : "", l, p->offset);
      text_add(&value, "}");
    } else
      side_by_side(type, p, i, width / p->padded, &value);
    put(g, "op2_%s%d z%d = %s;", short_names[type], width, i, text_str(&value));
    piece_free(g, &value);
  }
  if (p->padded > 1)
    put(g, "op2_%s%d t;", short_names[type], width);
  put_exchange(g, p, width);
  for (int c = 0; c < p->count; c++)
    put(g, "*(op2_%s%d *)(lanes + %d) = z%d;", short_names[type], width, (p->offset + c) * width, c);
  put_close(g);
}

/* ---- lanes to rows -----------------------------------------------------------------------------*/

static void put_turned_piece(struct generator *g, enum type_code type, const struct piece *p, int dim,
                             int width) {
  put_block(g);
  for (int c = 0; c < p->padded; c++)
    if (c < p->count)
      put(g, "op2_%s%d z%d = *(const op2_%s%d *)(lanes + %d);", short_names[type], width, c,
          short_names[type], width, (p->offset + c) * width);
    else
      put(g, "op2_%s%d z%d = z0;", short_names[type], width, c); /* of any value: nobody looks at it */
  if (p->padded > 1)
    put(g, "op2_%s%d t;", short_names[type], width);
  put_exchange(g, p, width);
  for (int l = 0; l < width; l++) {
    int i = l % p->padded, first = l - i, from[16];
    char z[16], to[96];
    for (int q = 0; q < p->padded; q++)
      from[q] = first + q;
    snprintf(z, sizeof z, "z%d", i);
    if (p->padded == 1)
      put(g, "rows[%d] = z0[%d];", l * lanes_row(dim, width) + p->offset, l);
    else {
      snprintf(to, sizeof to, "*(op2_%s%du *)(rows + %d)", short_names[type], p->padded,
               l * lanes_row(dim, width) + p->offset);
      put_shuffle(g, to, z, z, from, p->padded);
    }
  }
  put_close(g);
}

/* ---- one row of memory ---------------------------------------------------------------------------*/

static void put_row_helper(struct generator *g, enum type_code type, int dim, const char *verb,
                           const char *operator_) {
  char name[32];
  lanes_name(type, dim, name, sizeof name);
  put_open(g, "static inline __attribute__((always_inline)) void op2_%s_%s(%s *row, const %s *values)", verb,
           name, word_type(g, type), word_type(g, type));
  for (int c = 0; c < dim;) {
    int part = has_vectors(type) ? MOST_PADDED : 1;
    while (part > dim - c)
      part /= 2;
    if (part == 1)
      put(g, "row[%d] %s values[%d];", c, operator_, c);
    else
      put(g, "*(op2_%s%du *)(row + %d) %s *(const op2_%s%du *)(values + %d);", short_names[type], part, c,
          operator_, short_names[type], part, c);
    c += part;
  }
  put_close(g);
}

/* ---- all helpers -------------------------------------------------------------------------------*/

/* Small types are moved one by one. */
static void put_small_bodies(struct generator *g, int dim, bool load) {
  char lane[64], row[64];
  int width = g->s->width;
  put_open(g, "for (int l = 0; l < %d; l++)", width);
  for (int c = 0; c < dim; c++) {
    snprintf(lane, sizeof lane, "lanes[%d + l]", c * width);
    snprintf(row, sizeof row, load ? "rows[l][%d]" : "rows[l * %d + %d]", load ? c : lanes_row(dim, width),
             c);
    put(g, "%s = %s;", load ? lane : row, load ? row : lane);
  }
  put_close(g);
}

void put_lane_helpers(struct generator *g, enum type_code type, int dim) {
  char name[32];
  const char *t = word_type(g, type);
  int width = g->s->width;
  lanes_name(type, dim, name, sizeof name);
  put_open(g,
           "static inline __attribute__((always_inline)) void op2_load_%s(%s *lanes, const %s *const *rows)",
           name, t, t);
  struct piece p = {0};
  for (int offset = 0; has_vectors(type) && offset < dim; offset += p.count) {
    p = next_piece(dim, offset, width);
    put_loaded_piece(g, type, &p, width);
  }
  if (!has_vectors(type))
    put_small_bodies(g, dim, true);
  put_close(g);
  if (dim == 1)
    return;
  put_open(g, "static inline __attribute__((always_inline)) void op2_turn_%s(%s *rows, const %s *lanes)",
           name, t, t);
  for (int offset = 0; has_vectors(type) && offset < dim; offset += p.count) {
    p = next_piece(dim, offset, width);
    put_turned_piece(g, type, &p, dim, width);
  }
  if (!has_vectors(type))
    put_small_bodies(g, dim, false);
  put_close(g);
  put_row_helper(g, type, dim, "add", "+=");
  put_row_helper(g, type, dim, "put", "=");
}

/* Stores past the caches: a result that nobody reads before the caches have forgotten it need not be in them, and
 * its old value need not be read. Only whole vectors at aligned addresses can be stored so; whether they are
 * aligned is found for each range, because ranks begin their ranges anywhere. op2_aligned is volatile, or LLVM
 * would make a loop for either case. */

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
