/* Strips are vector code: the machine code of the flow solver's loops and of kernels with branches is taken apart.
 * The loop over strips has all divisions and square roots packed, or roots refined from estimates, and none scalar,
 * calls nothing and gathers nothing; scalar ones are allowed only as often as the kernel has them, for the elements behind the last strip.
 * Stores go past the caches where the shape says so; divisions begin early, and a strip earlier in stages. */
#include "../unit.h"
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "build.h"
#include "jit/jit.h"
#include "jit/kernel/kernel.h"
#include "jit/prove.h"
#include "vector_subjects.h"

static char folder[] = "/tmp/op2jit-vector-XXXXXX";

/* ---- machine code ------------------------------------------------------------------------------*/

enum kind {
  OTHER,
  PACKED_DIVISION,
  PACKED_ROOT,
  SCALAR_DIVISION,
  SCALAR_ROOT,
  LOAD,
  GATHER,
  STREAM,
  NEGATION,
  ALIGNMENT,
  CALL
};

struct instruction {
  unsigned long address, target; /* target: of a jump, else 0 */
  enum kind kind;
};

struct listing {
  struct instruction items[20000];
  int count;
};

struct counts {
  int of[CALL + 1];
};

/* Vectors are of 32 or 64 bytes: a packed operation on 16 is half a strip's at best. */
static enum kind kind_of(const char *text) {
  const bool wide = strstr(text, "zmm") || strstr(text, "ymm");
  if (strncmp(text, "vdivp", 5) == 0)
    return wide ? PACKED_DIVISION : SCALAR_DIVISION;
  if (strncmp(text, "vsqrtp", 6) == 0 || strncmp(text, "vrsqrt14p", 9) == 0)
    return wide ? PACKED_ROOT : SCALAR_ROOT;
  if (strncmp(text, "vdivs", 5) == 0)
    return SCALAR_DIVISION;
  if (strncmp(text, "vsqrts", 6) == 0)
    return SCALAR_ROOT;
  if (strncmp(text, "call", 4) == 0)
    return CALL;
  if (strncmp(text, "vmovntp", 7) == 0)
    return STREAM;
  if (wide && strncmp(text, "vxorp", 5) == 0)
    return NEGATION;
  if (strncmp(text, "vmovup", 6) == 0 && strchr(text, '(') && !strstr(text, "rsp") &&
      strchr(text, '(') < strstr(text, "mm"))
    return LOAD;
  if (strncmp(text, "and", 3) == 0 && strstr(text, ",%rsp"))
    return ALIGNMENT;
  return strstr(text, "gather") ? GATHER : OTHER;
}

/* The dumped object, taken apart. Sections follow one another. */
static void list_instructions(const char *name, const char *shape, const char *hash, struct listing *l) {
  char command[400], line[512];
  unsigned long section = 0;
  snprintf(command, sizeof command, "objdump -d --no-show-raw-insn %s/%s-%s-%.8s/%s.o", folder, name, shape,
           hash, name);
  FILE *listing = popen(command, "r");
  assert_non_null(listing);
  l->count = 0;
  while (fgets(line, sizeof line, listing)) {
    unsigned long address, target;
    int text = 0;
    section += strncmp(line, "Disassembly of section", 22) == 0 ? 1UL << 32 : 0;
    if (sscanf(line, " %lx:\t%n", &address, &text) != 1 || !text)
      continue;
    assert_true(l->count < (int)(sizeof l->items / sizeof *l->items));
    struct instruction *i = &l->items[l->count++];
    *i = (struct instruction){.address = section + address, .kind = kind_of(line + text)};
    if (line[text] == 'j' && sscanf(line + text, "%*s %lx", &target) == 1)
      i->target = section + target;
  }
  assert_int_equal(pclose(listing), 0);
}

static void count(const struct listing *l, unsigned long from, unsigned long to, struct counts *n) {
  memset(n, 0, sizeof *n);
  for (int i = 0; i < l->count; i++)
    if (l->items[i].address >= from && l->items[i].address <= to)
      n->of[l->items[i].kind]++;
}

/* A compiler for one processor. */
struct jit_case {
  struct jit *jit;
  const char *cpu;
  bool without_gathers;
};

/* LLVM can be told to since version 18; older ones use gather instructions here and there. */
static bool can_avoid_gathers(void) {
  struct plugin plugin = {0};
  struct error err = {0};
  int version = 0;
  assert_int_equal(plugin_find(&plugin, NULL, &err), OP_OK);
  assert_int_equal(sscanf(text_str(&plugin.identity), "clang %d", &version), 1);
  plugin_free(&plugin);
  return version >= 18;
}

/* A loop is what a jump back jumps over. One with a packed operation is the strips': it has all of them, nothing
 * that works on one lane, and leaves for no function. */
static void look_at_loops(const struct jit_case *c, int divisions, int roots, const struct listing *l,
                          const char *what) {
  bool found = false;
  for (int i = 0; i < l->count; i++) {
    const struct instruction *jump = &l->items[i];
    struct counts n;
    if (!jump->target || jump->target > jump->address)
      continue;
    count(l, jump->target, jump->address, &n);
    if (!n.of[PACKED_DIVISION] && !n.of[PACKED_ROOT])
      continue;
    found |= n.of[PACKED_DIVISION] >= divisions && n.of[PACKED_ROOT] >= roots;
    if (n.of[SCALAR_DIVISION] || n.of[SCALAR_ROOT] || n.of[CALL] || (n.of[GATHER] && c->without_gathers))
      fail_msg("%s: its main loop has %d scalar divisions, %d scalar roots, %d gathers, %d calls", what,
               n.of[SCALAR_DIVISION], n.of[SCALAR_ROOT], n.of[GATHER], n.of[CALL]);
  }
  if (!found)
    fail_msg("%s: no loop has its %d divisions and %d roots packed", what, divisions, roots);
}

/* A kernel's loop compiled and listed. */
static void make_listing(const struct jit_case *c, const struct subject *s, struct shape shape,
                         struct listing *l, char *what, size_t room) {
  struct desc d = describe(s);
  struct text shape_name = {0};
  struct jit_code code;
  struct error err = {0};
  struct kernel k;
  shape_print(&shape, &shape_name);
  snprintf(what, room, "%s, %s for %s", s->name, text_str(&shape_name), c->cpu);
  if (kernel_parse(&k, s->text, strlen(s->text), s->name, &err) != OP_OK ||
      kernel_check(&k, &d, &err) != OP_OK || jit_code(c->jit, &d, &shape, &code, &err) != OP_OK)
    fail_msg("%s: %s", what, error_message(&err));
  if (code.scalar[0])
    fail_msg("%s: not vector code: %s", what, code.scalar);
  list_instructions(s->name, text_str(&shape_name), code.hash, l);
  text_free(&shape_name);
  kernel_free(&k);
  desc_free(&d);
}

/* The division by a row that was loaded begins before the next rows are loaded. */
static void look_at_order(const struct listing *l, const char *what) {
  int first = 0, last = l->count - 1, loads = 0;
  while (first < last && l->items[first].kind != PACKED_DIVISION)
    first++;
  while (last > first && l->items[last].kind != PACKED_DIVISION)
    last--;
  for (int i = first; i < last; i++)
    loads += l->items[i].kind == LOAD;
  if (loads < 4)
    fail_msg("%s: %d rows are loaded between its first and its last division", what, loads);
}

static void take_apart(const struct jit_case *c, const struct subject *s, struct shape shape) {
  static struct listing listing;
  struct counts n;
  char what[64];
  make_listing(c, s, shape, &listing, what, sizeof what);
  look_at_loops(c, s->divisions, s->roots, &listing, what);
  /* Behind the last strip each element takes the kernel once. */
  count(&listing, 0, ~0UL, &n);
  if (n.of[SCALAR_DIVISION] > s->divisions || n.of[SCALAR_ROOT] > s->roots)
    fail_msg("%s: %d scalar divisions, %d scalar roots", what, n.of[SCALAR_DIVISION], n.of[SCALAR_ROOT]);
  /* A value that leaves as minus something else is subtracted, and vectors on the stack lie within lines of the cache. */
  if (n.of[ALIGNMENT] != 1 || (strcmp(s->name, "res_calc") == 0 && n.of[NEGATION] > 0))
    fail_msg("%s: %d negations, the stack aligned %d times", what, n.of[NEGATION], n.of[ALIGNMENT]);
  /* Vectors wider than registers stay where they are. */
  if (strcmp(s->name, "res_calc") == 0 && shape.width == 8)
    look_at_order(&listing, what);
  /* In stages they begin a strip earlier: those of the first one before the loop. */
  if (shape.piped && n.of[PACKED_DIVISION] != 2 * s->divisions)
    fail_msg("%s: %d packed divisions", what, n.of[PACKED_DIVISION]);
  if ((n.of[STREAM] > 0) != shape.stream)
    fail_msg("%s: %d stores past the caches", what, n.of[STREAM]);
}

/* ---- kernels nobody thought of ------------------------------------------------------------------*/

static int below(unsigned *seed, int n) {
  *seed = *seed * 1664525 + 1013904223;
  return (int)(*seed >> 16) % n;
}

static void invent_value(unsigned *seed, struct text *out) {
  static const char *const forms[] = {"t%d / (1.5 + t%d * t%d)", "sqrt(t%d * t%d + 0.5) - t%d",
                                      "t%d * t%d - t%d", "t%d > t%d ? t%d : 0.25",
                                      "fabs(t%d - t%d) / (2 + fabs(t%d))"};
  const int a = below(seed, 4), b = below(seed, 4), c = below(seed, 4);
  const char *form = forms[below(seed, (int)(sizeof forms / sizeof *forms))];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  text_addf(out, form, a, b, c);
#pragma GCC diagnostic pop
}

static void invent_statements(unsigned *seed, int depth, struct text *out) {
  for (int i = 0; i < 3; i++) {
    const bool branch = depth > 0 && below(seed, 3) > 0;
    if (branch) {
      text_addf(out, "if (t%d %c t%d) {", below(seed, 4), "<>"[below(seed, 2)], below(seed, 4));
      invent_statements(seed, depth - 1, out);
      text_add(out, "} else {");
      invent_statements(seed, depth - 1, out);
      text_add(out, "}");
    } else {
      text_addf(out, "t%d = ", below(seed, 4));
      invent_value(seed, out);
      text_add(out, ";");
    }
  }
}

/* Reads directly and through the map, writes or adds; with a branch, a division and a root that nothing makes
 * needless. */
static void take_random_one_apart(const struct jit_case *c, int number, int width) {
  static struct listing listing;
  unsigned seed = (unsigned)number * 7919;
  char what[64], name[32];
  struct text text = {0};
  snprintf(name, sizeof name, "random%d", number);
  text_addf(&text,
            "void %s(const double *a, const double *x, double *p, double *q) { double t0 = a[0], t1 = a[1], "
            "t2 = x[0], t3 = x[1]; if (t0 > t2) t1 = t3 / (1 + t0 * t0); else t2 = sqrt(t1 * t1 + 1);",
            name);
  invent_statements(&seed, 2, &text);
  text_add(&text,
           "p[0] += t0 + t1; p[1] -= t2; q[0] += t3; q[1] += t0 / (3 + t2 * t2) + sqrt(t1 * t1 + 2); }");
  assert_true(text_ok(&text));
  const struct subject s = {.name = name,
                            .text = text_str(&text),
                            .reads = {2},
                            .through_map = {2},
                            .increments = 2,
                            .type = TYPE_DOUBLE};
  make_listing(c, &s, (struct shape){.width = width}, &listing, what, sizeof what);
  look_at_loops(c, 1, 1, &listing, what);
  text_free(&text);
}

static void for_processor(const char *cpu, const char *features, const int *widths, int nwidths) {
  struct jit_case c = {.cpu = cpu};
  struct error err = {0};
  const struct jit_options options = {.mode = JIT_ON, .dump = folder, .cpu = cpu, .features = features};
  assert_int_equal(jit_open(&c.jit, &options, &err), OP_OK);
  c.without_gathers = can_avoid_gathers();
  for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
    for (int w = 0; w < nwidths; w++) {
      take_apart(&c, &subjects[i], (struct shape){.width = widths[w]});
      if (subjects[i].writes && w == 0)
        take_apart(&c, &subjects[i], (struct shape){.width = widths[w], .stream = true});
      if (strcmp(subjects[i].name, "res_calc") == 0 && w == 0)
        take_apart(&c, &subjects[i], (struct shape){.width = 4, .piped = true});
    }
  for (int i = 1; i <= 10; i++)
    take_random_one_apart(&c, i, widths[0]);
  jit_close(c.jit);
}

TEST(packed_avx512) {
  for_processor("znver4",
                "+avx,+avx2,+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl,+fma,+sse3,+ssse3,+sse4.1,+"
                "sse4.2,+bmi,+bmi2",
                (const int[]){8, 16}, 2);
}

TEST(packed_avx2) {
  for_processor("haswell", "+avx,+avx2,+fma,+sse3,+ssse3,+sse4.1,+sse4.2,+bmi,+bmi2", (const int[]){8}, 1);
}

/* A kernel's loop over a ragged map's targets, which mostly are few, is not unrolled where elements run one by one. */
TEST(rolled) {
  static struct listing listing;
  struct counts all;
  struct jit *jit;
  struct error err = {0};
  const struct jit_options options = {.mode = JIT_ON,
                                      .dump = folder,
                                      .cpu = "znver4",
                                      .features =
                                          "+avx,+avx2,+avx512f,+avx512bw,+avx512dq,+avx512vl,+fma,+bmi2"};
  const struct shape shape = {.width = 8};
  struct jit_code code;
  struct desc d = build_loop("inverse", "void inverse(int n, const double **a, double *y) { double sum = 0;"
                                        "for (int k = 0; k < n; k++) sum += 1 / *OP_ROW(a, k); *y = sum; }");
  const int map = build_map(&d, 0, 1);
  d.maps[map].ragged = true;
  d.args[build_arg(&d, build_dat(&d, TYPE_DOUBLE, 1, 1, false), map, -1, OP_READ)].counted = true;
  build_arg(&d, build_dat(&d, TYPE_DOUBLE, 1, 0, false), -1, -1, OP_WRITE);
  assert_int_equal(jit_open(&jit, &options, &err), OP_OK);
  assert_int_equal(jit_code(jit, &d, &shape, &code, &err), OP_OK);
  list_instructions("inverse", "strip8", code.hash, &listing);
  count(&listing, 0, ULONG_MAX, &all);
  /* In the elements behind a strip, and in those that differ. */
  assert_in_range(all.of[SCALAR_DIVISION], 1, 2);
  assert_true(all.of[PACKED_DIVISION] > 0);
  jit_close(jit);
  desc_free(&d);
}

/* A kernel that cannot be made of vectors says why. */
TEST(reason) {
  struct jit *jit;
  struct error err = {0};
  struct jit_options options = {.mode = JIT_ON};
  struct shape shape = {.width = 8};
  struct jit_code code;
  struct desc d = build_loop(
      "search", "void search(const double *a, double *b) { int n = 0; double x = a[0];"
                "while (x > 1e-9 && n < 1000) { x = x * a[1]; n++; if (x > 7) goto out; } out: b[0] = n; }");
  build_arg(&d, build_dat(&d, TYPE_DOUBLE, 2, 0, false), -1, -1, OP_READ);
  build_arg(&d, build_dat(&d, TYPE_DOUBLE, 1, 0, false), -1, -1, OP_WRITE);
  assert_int_equal(jit_open(&jit, &options, &err), OP_OK);
  assert_int_equal(jit_code(jit, &d, &shape, &code, &err), OP_OK);
  assert_true(strlen(code.scalar) > 0);
  assert_non_null(strstr(code.remarks, code.scalar));
  jit_close(jit);
  desc_free(&d);
}

/* More values at once than there are registers. */
TEST(spills) {
  struct jit *jit;
  struct error err = {0};
  struct jit_options options = {.mode = JIT_ON, .cpu = "haswell", .features = "+avx,+avx2,+fma,+sse4.2"};
  struct text many = {0};
  struct shape shape = {0};
  struct jit_code code;
  text_add(&many, "void crowd(const double *a, double *b) {");
  for (int i = 0; i < 40; i++)
    text_addf(&many, "double x%d = a[%d] / 3;", i, i);
  for (int i = 0; i < 40; i++)
    text_addf(&many, "b[%d] = x%d + x%d * x%d;", i, 39 - i, i, (i * 7 + 3) % 40);
  text_add(&many, "}");
  struct desc crowd = build_loop("crowd", text_str(&many));
  build_arg(&crowd, build_dat(&crowd, TYPE_DOUBLE, 40, 0, false), -1, -1, OP_READ);
  build_arg(&crowd, build_dat(&crowd, TYPE_DOUBLE, 40, 0, false), -1, -1, OP_WRITE);
  struct desc few = build_loop("few", "void few(const double *a, double *b) { *b = *a + 1; }");
  build_arg(&few, build_dat(&few, TYPE_DOUBLE, 1, 0, false), -1, -1, OP_READ);
  build_arg(&few, build_dat(&few, TYPE_DOUBLE, 1, 0, false), -1, -1, OP_WRITE);
  assert_int_equal(jit_open(&jit, &options, &err), OP_OK);
  assert_int_equal(jit_code(jit, &crowd, &shape, &code, &err), OP_OK);
  assert_true(code.spills > 0);
  assert_non_null(strstr(code.remarks, "spills"));
  assert_int_equal(jit_code(jit, &few, &shape, &code, &err), OP_OK);
  assert_int_equal(code.spills, 0);
  jit_close(jit);
  desc_free(&crowd);
  desc_free(&few);
  text_free(&many);
}

FIXTURE(make_folder) {
  return mkdtemp(folder) ? 0 : -1;
}

FIXTURE(remove_folder) {
  char command[128];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  return system(command);
}

int main(void) {
  if (system("objdump --version > /dev/null 2>&1") != 0) {
    puts("skipped: objdump (Debian: binutils) is not installed");
    return 77;
  }
  return run_these(make_folder, remove_folder);
}
