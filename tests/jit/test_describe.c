/* A description as text and back; the frame's slots. */
#include "../unit.h"
#include <stdlib.h>
#include <string.h>

#include "jit/kernel/kernel.h"
#include "jit/kernel/number.h"

static uint32_t seed = 1;

static int pick(int n) {
  seed = seed * 1664525u + 1013904223u;
  return (int)((seed >> 8) % (uint32_t)n);
}

static enum type_code any_type(void) {
  return (enum type_code)(1 + pick(TYPE_COUNT - 1));
}

static void any_value(enum type_code type, unsigned char *value) {
  for (size_t i = 0; i < type_info(type)->size; i++)
    value[i] = (unsigned char)pick(256);
  if (type == TYPE_BOOL)
    value[0] &= 1;
}

static void any_const(struct desc_const *c, int number) {
  struct text name = {0};
  text_addf(&name, "c%d_%d", number, pick(1000));
  *c = (struct desc_const){
      .name = text_take(&name), .type = any_type(), .dim = 1 + pick(4), .folded = pick(2)};
  size_t size = type_info(c->type)->size;
  c->value = c->folded ? malloc((size_t)c->dim * size) : NULL;
  for (int i = 0; c->value && i < c->dim; i++)
    any_value(c->type, c->value + (size_t)i * size);
}

static void any_arg(struct desc *d, int i) {
  struct desc_arg *a = &d->args[i];
  *a = (struct desc_arg){
      .map = -1, .idx = -1, .dat = -1, .ref = -1, .info = -1, .dim = 1 + pick(5), .present = true};
  a->form = (enum desc_form)pick(3);
  a->type = a->form == DESC_IDX ? TYPE_INT : any_type();
  a->present = pick(4) != 0;
  if (a->form == DESC_GBL)
    a->access = pick(7);
  if (a->form != DESC_DAT)
    return;
  a->access = pick(4);
  a->map = d->nmaps ? pick(d->nmaps + 1) - 1 : -1;
  int arity = a->map >= 0 ? d->maps[a->map].arity : 0;
  a->idx = a->map < 0 ? -1 : pick(2) ? -arity : pick(arity);
  if (!a->present)
    return;
  int set = a->map >= 0 ? d->maps[a->map].to : 0;
  a->dat = d->ndats++;
  d->dats[a->dat] =
      (struct desc_dat){.type = a->type, .dim = a->dim, .set = set, .soa = pick(2), .wide = pick(2)};
}

static struct desc any_desc(void) {
  static const char *const fps[] = {"strict", "contract", "fast"};
  struct desc d = {.nsets = 1 + pick(4), .nargs = 1 + pick(12)};
  d.nmaps = pick(3);
  d.kernel_name = strdup("res_calc");
  d.text = strdup(pick(2) ? "" : "void k(double *x)\n{ text 5:12 }\n");
  d.fp = strdup(fps[pick(3)]);
  for (int i = 0; i < d.nsets; i++)
    d.renumbered[i] = pick(2);
  for (int i = 0; i < d.nmaps; i++)
    d.maps[i] = (struct desc_map){.arity = 1 + pick(8), .to = pick(d.nsets)};
  for (int i = 0; i < d.nargs; i++)
    any_arg(&d, i);
  int nconsts = pick(4);
  d.consts = calloc((size_t)nconsts + 1, sizeof *d.consts);
  for (int i = 0; i < nconsts; i++)
    any_const(&d.consts[i], i);
  d.nconsts = nconsts;
  return d;
}

TEST(copies) {
  for (int i = 0; i < 2000; i++) {
    struct desc d = any_desc(), copy;
    struct text first = {0}, second = {0};
    struct error err = {0};
    desc_print(&d, &first);
    assert_int_equal(desc_copy(&copy, &d, &err), OP_OK);
    desc_free(&d);
    desc_print(&copy, &second);
    assert_string_equal(text_str(&first), text_str(&second));
    desc_free(&copy);
    text_free(&first);
    text_free(&second);
  }
}

static void expect_number(enum type_code type, const void *value, const char *plain, const char *c) {
  struct text a = {0}, b = {0};
  number_print(type, value, &a);
  number_print_c(type, value, &b);
  assert_string_equal(text_str(&a), plain);
  assert_string_equal(text_str(&b), c);
  if (strchr(plain, 'x')) {
    const double wide = number_read_hex(plain);
    const float narrow = (float)wide;
    assert_memory_equal(type == TYPE_FLOAT ? (const void *)&narrow : &wide, value, type_info(type)->size);
  }
  text_free(&a);
  text_free(&b);
}

TEST(numbers) {
  expect_number(TYPE_DOUBLE, &(double){1.4}, "0x1.6666666666666p+0", "0x1.6666666666666p+0");
  expect_number(TYPE_DOUBLE, &(double){-0.0}, "-0x0p+0", "-0x0p+0");
  expect_number(TYPE_DOUBLE, &(double){5e-324}, "0x0.0000000000001p-1022", "0x0.0000000000001p-1022");
  expect_number(TYPE_DOUBLE, &(double){__builtin_inf()}, "inf", "(__builtin_inf())");
  expect_number(TYPE_DOUBLE, &(double){__builtin_nan("0x1")}, "nan:7ff8000000000001",
                "(__builtin_nan(\"0x1\"))");
  expect_number(TYPE_FLOAT, &(float){1.4f}, "0x1.666666p+0", "0x1.666666p+0f");
  expect_number(TYPE_FLOAT, &(float){-__builtin_inff()}, "-inf", "(-__builtin_inff())");
  expect_number(TYPE_FLOAT, &(float){__builtin_nanf("0x3")}, "nan:7ff8000060000000",
                "(__builtin_nanf(\"0x3\"))");
  expect_number(TYPE_INT, &(int){-2147483647 - 1}, "-2147483648", "(-2147483647 - 1)");
  expect_number(TYPE_UINT, &(unsigned){4294967295u}, "4294967295", "4294967295u");
  expect_number(TYPE_LONGLONG, &(long long){-5}, "-5", "(-4ll - 1)");
  expect_number(TYPE_ULONGLONG, &(unsigned long long){18446744073709551615ull}, "18446744073709551615",
                "18446744073709551615ull");
  expect_number(TYPE_BOOL, &(bool){true}, "1", "1");
  expect_number(TYPE_CHAR, &(char){-1}, "-1", "(0 - 1)");
  expect_number(TYPE_SHORT, &(short){-300}, "-300", "(-299 - 1)");
}

/* Every slot is used once and all are below the count. */
TEST(slots) {
  for (int i = 0; i < 100; i++) {
    struct desc d = any_desc();
    int used[OP_MAX_ARGS * 8] = {0};
    for (int n = 0; n < d.ndats; n++) {
      used[desc_slot_dat(&d, n)]++;
      used[desc_slot_stride(&d, n)]++;
    }
    for (int n = 0; n < d.nmaps; n++)
      used[desc_slot_map(&d, n)]++;
    for (int n = 0; n < d.nargs; n++) {
      used[desc_slot_arg(&d, n)]++;
      used[desc_slot_start(&d, n)]++;
    }
    for (int n = 0; n < d.nsets; n++)
      used[desc_slot_numbers(&d, n)]++;
    for (int n = 0; n < d.nconsts; n++)
      used[desc_slot_const(&d, n)]++;
    used[desc_slot_straight(&d)]++;
    for (int n = 0; n < desc_slots(&d); n++)
      assert_int_equal(used[n], 1);
    desc_free(&d);
  }
}
