/* Which shapes a loop can have, and which are worth trying. */
#include "jit/emit/choose.h"

#include <stddef.h>
#include <string.h>

#include "jit/emit/generate.h"
#include "jit/emit/skeleton.h"
#include "jit/emit/strip.h"
#include "jit/kernel/says.h"

/* Strips of a loop whose elements differ are weighed as if each element had so many targets. */
enum { USUAL_TARGETS = 4 };

bool shape_fits(const struct desc *d, const struct shape *s) {
  return s->width == 0 || rows_most(d) > 0;
}

bool shape_has_rows(const struct desc *d) {
  return !d->entry && (desc_says(d) & SAYS_ANY_ORDER);
}

bool shape_can_be_straight(const struct desc *d, const struct shape *s) {
  bool mapped = false;
  if (rows_open_map(d) >= 0)
    return false;
  for (int m = 0; m < d->nmaps; m++)
    for (int c = 0; c < desc_arity(&d->maps[m]); c++)
      mapped |= desc_uses_column(d, m, c);
  return mapped && s->width && !s->list && shape_fits(d, s);
}

bool shape_can_stream(const struct desc *d, const struct shape *s) {
  bool any = false;
  for (int i = 0; i < d->nargs; i++)
    any |= lanes_can_stream(d, &d->args[i], s->width);
  return any && s->width && !s->list && shape_fits(d, s);
}

bool shape_can_be_piped(const struct desc *d, const struct shape *s) {
  return stages_wait(d) && s->width && rows_open_map(d) < 0 && shape_fits(d, s);
}

/* Values that an element increments through maps, and those of floating point that it reads. */
static int count_values(const struct desc *d, bool increments) {
  int count = 0;
  for (int i = 0; i < d->nargs; i++) {
    const struct desc_arg *a = &d->args[i];
    if (a->present && a->form == DESC_DAT &&
        (increments ? a->map >= 0 && access_reduces(a->access)
                    : a->access == OP_READ && type_info(a->type)->is_float))
      count += a->dim * arg_columns(d, a);
  }
  return count;
}

/* One or two values that leave a strip as they are. */
static bool adds_singles(const struct desc *d) {
  bool rows = false;
  for (int i = 0; i < d->nargs; i++) {
    const struct desc_arg *a = &d->args[i];
    rows |= a->present && a->form == DESC_DAT && a->map >= 0 && access_reduces(a->access) && a->dim > 1;
  }
  return !rows && count_values(d, true) <= 2;
}

/* True: each element works on whole rows, on other sets' data, or adds up floating-point numbers. Otherwise the compiler
 * makes vectors of the plain loop by itself. Increments leave a strip row by row, one element after the other: only
 * arithmetic that takes time makes up for bringing rows into lanes and back, or, in the caches, much that is read for
 * each of them; single values do with 32 registers. */
static bool gains(const struct desc *d, int vector_bytes, bool large) {
  enum { MUCH_READ = 4 };
  const int increments = count_values(d, true);
  const bool much_read = count_values(d, false) >= MUCH_READ * increments;
  const bool worth = much_read ? !large : vector_bytes >= 64 && adds_singles(d);
  if (increments && !worth && !(desc_says(d) & SAYS_SLOW))
    return false;
  for (int i = 0; i < d->nargs; i++) {
    const struct desc_arg *a = &d->args[i];
    if (a->present && a->form == DESC_DAT && (a->map >= 0 || (a->dim > 1 && !d->dats[a->dat].soa)))
      return true;
    if (a->present && a->form == DESC_GBL && a->access == OP_INC && type_info(a->type)->is_float)
      return true;
  }
  return false;
}

/* Increments leave a strip row by row, so that wide registers only make it longer; with AVX-512, half of one. */
static int increment_bytes(const struct desc *d, int vector_bytes) {
  return vector_bytes > 32 && count_values(d, true) ? 32 : vector_bytes;
}

/* The widest floating-point type: its values fill one vector register. */
static int natural_width(const struct desc *d, int vector_bytes) {
  int bytes = 4;
  for (int i = 0; i < d->nargs; i++)
    if (d->args[i].present && type_info(d->args[i].type)->size == 8)
      bytes = 8;
  int width = vector_bytes / bytes;
  return width < 4 ? 4 : width > 16 ? 16 : width;
}

/* Thirty-two registers, which come with 512 bits, hold what strips in stages keep, if that is little. */
static bool pipes(const struct desc *d, int vector_bytes) {
  enum { MOST_KEPT = 24 };
  return vector_bytes >= 64 && stages_keep(d) <= MOST_KEPT;
}

/* At least as wide as others, for results that go past the caches in whole lines. */
static int stream_width(const struct desc *d, int width) {
  while (width < 16 && !lanes_fill_lines(d, width))
    width *= 2;
  return width;
}

static int add_shape(const struct desc *d, int width, struct shape_wish wish, struct shape *out, int count) {
  struct shape s = {.width = width, .rows = wish.rows && shape_has_rows(d)};
  s.piped = wish.piped && shape_can_be_piped(d, &s);
  s.straight = wish.straight && shape_can_be_straight(d, &s);
  s.stream = wish.stream && shape_can_stream(d, &s);
  for (int i = 0; i < count; i++)
    if (shape_equal(&out[i], &s))
      return count;
  if (!shape_fits(d, &s))
    return count;
  out[count] = s;
  return count + 1;
}

struct shape shape_for_sorted(const struct desc *d, int vector_bytes, struct shape_wish wish) {
  const bool useful = vector_bytes >= 32 && rows_open_map(d) >= 0 && rows_most(d) > 1;
  return (struct shape){.width = useful ? natural_width(d, vector_bytes) : 0,
                        .rows = useful && wish.rows && shape_has_rows(d)};
}

int shape_candidates(const struct desc *d, int vector_bytes, struct shape_wish wish,
                     struct shape out[SHAPE_CANDIDATES]) {
  const struct shape_wish plain = {.rows = wish.rows},
                          cached = {.straight = wish.straight, .rows = wish.rows},
                          piped = {.straight = wish.straight, .rows = wish.rows, .piped = true},
                          other = {.rows = !wish.rows};
  const int width = natural_width(d, increment_bytes(d, vector_bytes)),
            widest = natural_width(d, vector_bytes);
  const int second = widest != width ? widest : width == 4 ? 8 : width / 2;
  int count = 0;
  /* Elements that differ from their neighbours make no strips. */
  const bool strips = vector_bytes >= 32 && (rows_open_map(d) < 0 || wish.even);
  const struct shape streaming = {.width = stream_width(d, width)};
  const bool streams = strips && wish.stream && shape_can_stream(d, &streaming);
  /* From memory, what need not be read counts for more than how elements are brought into lanes. */
  struct desc room;
  const struct desc *lanes = rows_of_strip(d, USUAL_TARGETS, &room);
  if (streams && count_values(lanes, true) == 0)
    count = add_shape(d, streaming.width, wish, out, count);
  const bool gain = strips && gains(lanes, vector_bytes, wish.stream);
  if (gain && pipes(lanes, vector_bytes))
    count = add_shape(d, width, piped, out, count);
  if (gain)
    count = add_shape(d, width, cached, out, count);
  count = add_shape(d, 0, plain, out, count);
  if (shape_has_rows(d))
    count = add_shape(d, 0, other, out, count);
  if (streams)
    count = add_shape(d, streaming.width, wish, out, count);
  if (strips) {
    count = add_shape(d, width, cached, out, count);
    count = add_shape(d, second, cached, out, count);
    count = add_shape(d, width, plain, out, count);
    count = add_shape(d, width, piped, out, count);
  }
  return count;
}

static const struct {
  const char *name;
  int width;
} forms[] = {{"scalar", 0}, {"strip4", 4}, {"strip8", 8}, {"strip16", 16}};
enum { FORMS = sizeof forms / sizeof *forms };

/* In the order of a name. */
static const struct {
  const char *mark;
  size_t flag;
} marks[] = {{"+straight", offsetof(struct shape, straight)},
             {"+stream", offsetof(struct shape, stream)},
             {"+piped", offsetof(struct shape, piped)},
             {"+rows", offsetof(struct shape, rows)},
             {"+list", offsetof(struct shape, list)}};
enum { MARKS = sizeof marks / sizeof *marks };

void shape_print(const struct shape *s, struct text *out) {
  for (int i = 0; i < FORMS; i++)
    if (forms[i].width == s->width)
      text_add(out, forms[i].name);
  for (int i = 0; i < MARKS; i++)
    if (*(const bool *)((const char *)s + marks[i].flag))
      text_add(out, marks[i].mark);
  if (s->bounds)
    text_add(out, SHAPE_BOUNDS);
}

static bool skip(const char **at, const char *mark) {
  const size_t length = strlen(mark);
  const bool there = strncmp(*at, mark, length) == 0;
  *at += there ? length : 0;
  return there;
}

bool shape_parse(const char *name, struct shape *s) {
  const size_t length = strcspn(name, "+");
  for (int i = 0; i < FORMS; i++) {
    if (strlen(forms[i].name) != length || memcmp(name, forms[i].name, length) != 0)
      continue;
    const char *at = name + length;
    *s = (struct shape){.width = forms[i].width};
    for (int k = 0; k < MARKS; k++)
      *(bool *)((char *)s + marks[k].flag) = skip(&at, marks[k].mark);
    return !*at && (!(s->straight || s->stream) || (s->width && !s->list)) && (!s->piped || s->width);
  }
  return false;
}
