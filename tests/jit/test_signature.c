/* The key: each thing that code depends on changes it, what must not matter does not, and the difference is said in
 * words. */
#include "../unit.h"
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "build.h"
#include "jit/key/elf_note.h"
#include "jit/key/signature.h"

struct subject {
  struct desc d;
  struct signature_inputs in;
};

static void make_subject(struct subject *s) {
  static const double gam = 1.4, qinf[3] = {1, 2, 3};
  s->d = build_loop("res_calc", "void res_calc(const double *a, double *b)\n{\n  b[0] += gam * a[0];\n}\n");
  int map = build_map(&s->d, 2, 1), dat = build_dat(&s->d, TYPE_DOUBLE, 4, 1, false);
  build_arg(&s->d, dat, map, 0, OP_READ);
  build_arg(&s->d, build_dat(&s->d, TYPE_DOUBLE, 1, 0, false), -1, -1, OP_INC);
  build_gbl(&s->d, TYPE_INT, 2, OP_MAX);
  build_const(&s->d, "gam", TYPE_DOUBLE, 1, &gam);
  build_const(&s->d, "qinf", TYPE_DOUBLE, 3, qinf);
  s->in = (struct signature_inputs){.desc = &s->d,
                                    .shape = "scalar",
                                    .generator = "1",
                                    .library = "aaaa",
                                    .compiler = "clang 19.1.6\nabcd",
                                    .cpu = "znver4",
                                    .features = "+avx2,+avx512f,-sha",
                                    .flags = ""};
}

typedef void change(struct subject *s);

static void replace(char **to, const char *with) {
  free(*to);
  *to = strdup(with);
}

#define CHANGE(name, ...)                                                                                    \
  static void name(struct subject *s) {                                                                      \
    __VA_ARGS__                                                                                              \
  }
CHANGE(nothing, (void)s;)
CHANGE(origin, char file[] = "other.c";
       origins_add(&s->d.origins,
                   (struct origin){.line = 1, .file = file, .file_line = 99, .one_line = true});)
CHANGE(kernel_name, replace(&s->d.kernel_name, "res_calk");)
CHANGE(text, s->d.text[strlen(s->d.text) - 12] = '1';)
CHANGE(access_of_one, s->d.args[1].access = OP_RW;)
CHANGE(type, s->d.args[1].type = s->d.dats[1].type = TYPE_FLOAT;)
CHANGE(dim, s->d.args[2].dim = 3;)
CHANGE(column, s->d.args[0].idx = 1;)
CHANGE(presence, s->d.args[0].present = false;)
CHANGE(sharing, s->d.args[1].dat = 0;)
CHANGE(more, build_gbl(&s->d, TYPE_INT, 1, OP_INC);)
CHANGE(arity, s->d.maps[0].arity = 3;)
CHANGE(renumbered, s->d.renumbered[1] = true;)
CHANGE(layout, s->d.dats[0].soa = true;)
CHANGE(wide, s->d.dats[0].wide = true;)
CHANGE(scalar, memcpy(s->d.consts[0].value, &(double){1.41}, sizeof(double));)
CHANGE(no_number, memcpy(s->d.consts[0].value, &(double){NAN}, sizeof(double));)
CHANGE(component, memcpy(s->d.consts[1].value + 8, &(double){-0.0}, sizeof(double));)
CHANGE(folded, s->d.consts[0].folded = false;)
CHANGE(fewer, free(s->d.consts[1].name); free(s->d.consts[1].value); s->d.nconsts = 1;)
CHANGE(shape, s->in.shape = "scalar+list";)
CHANGE(generator, s->in.generator = "2";)
CHANGE(library, s->in.library = "bbbb";)
CHANGE(version, s->in.compiler = "clang 19.1.7\nabcd";)
CHANGE(build, s->in.compiler = "clang 19.1.6\nabce";)
CHANGE(cpu, s->in.cpu = "skylake";)
CHANGE(features, s->in.features = "+avx2,-avx512f,-sha";)
CHANGE(platform, s->in.platform = "Portable, 3.2";)
CHANGE(device, s->in.device = "another";)
CHANGE(driver, s->in.driver = "3.2";)
CHANGE(flags, s->in.flags = "checking";)
CHANGE(fp, replace(&s->d.fp, "strict");)

static const struct row {
  change *change;
  const char *said; /* NULL: the key stays the same */
} rows[] = {
    {nothing, NULL},
    {origin, NULL},
    {kernel_name, "kernel res_calc -> res_calk"},
    {text, "kernel text line 3"},
    {access_of_one, "argument 2 access OP_INC -> OP_RW"},
    {type, "argument 2 type double -> float, dat 2 type double -> float"},
    {dim, "argument 3 dim 2 -> 3"},
    {column, "argument 1 index 0 -> 1"},
    {presence, "argument 1 is absent now"},
    {sharing, "argument 2 passes the dat of argument 1 too now"},
    {more, "argument 4 is new"},
    {arity, "map 1 arity 2 -> 3"},
    {renumbered, "set 2 is renumbered now"},
    {layout, "dat 1 is kept by components (soa) now"},
    {wide, "dat 1 has 2^31 values or more now"},
    {scalar, "constant gam 1.4 -> 1.41"},
    {no_number, "constant gam 1.4 -> nan"},
    {component, "constant qinf[1] 2 -> -0"},
    {folded, "constant gam is passed at run time now"},
    {fewer, "constant qinf is gone"},
    {shape, "shape scalar -> scalar+list"},
    {generator, "generator 1 -> 2"},
    {library, "library changed"},
    {version, "compiler clang 19.1.6 -> clang 19.1.7"},
    {build, "another build of the compiler"},
    {cpu, "cpu znver4 -> skylake"},
    {features, "target features -avx512f"},
    {flags, "flags nothing -> checking"},
    {fp, "fp contract -> strict"},
};

/* Binaries of OpenCL: which of the three that they are made by changed. */
static void make_of_driver(struct subject *s) {
  make_subject(s);
  s->in.platform = "Portable, 3.1";
  s->in.device = "epyc";
  s->in.driver = "3.1";
}

static const struct row of_drivers[] = {
    {nothing, NULL},
    {platform, "platform Portable, 3.1 -> Portable, 3.2"},
    {device, "device epyc -> another"},
    {driver, "driver 3.1 -> 3.2"},
    {cpu, "cpu znver4 -> skylake"},
};

static void check_rows(void make(struct subject *s), const struct row *checked, size_t count) {
  for (size_t i = 0; i < count; i++) {
    struct subject before, after;
    struct signature a, b;
    struct error err = {0};
    struct text said = {0};
    make(&before);
    make(&after);
    checked[i].change(&after);
    before.in.desc = &before.d;
    after.in.desc = &after.d;
    assert_int_equal(signature_make(&a, &before.in, &err), OP_OK);
    assert_int_equal(signature_make(&b, &after.in, &err), OP_OK);
    signature_difference(&a.key, &b.key, &said);
    assert_string_equal(text_str(&said), checked[i].said ? checked[i].said : "");
    assert_int_equal(signature_equal(&a, &b), checked[i].said == NULL);
    assert_int_equal(strcmp(a.hash, b.hash) == 0, checked[i].said == NULL);
    assert_int_equal(strlen(a.hash), 64);
    text_free(&said);
    signature_free(&a);
    signature_free(&b);
    desc_free(&before.d);
    desc_free(&after.d);
  }
}

TEST(each_component) {
  check_rows(make_subject, rows, sizeof rows / sizeof *rows);
  check_rows(make_of_driver, of_drivers, sizeof of_drivers / sizeof *of_drivers);
}

/* ---- with the names that a program gives ---- */

/* res_calc over edges: x and q by ecell, q again, res of the edges themselves, a largest value. */
static void make_named(struct subject *s) {
  static const double gam = 1.4;
  s->d =
      build_loop("res_calc", "void res_calc(const double *x, const double *q, const double *r, double *res, "
                             "int *largest) {}\n");
  int ecell = build_map(&s->d, 2, 1), enode = build_map(&s->d, 2, 2);
  int x = build_dat(&s->d, TYPE_DOUBLE, 2, 2, false), q = build_dat(&s->d, TYPE_DOUBLE, 4, 1, false);
  int res = build_dat(&s->d, TYPE_DOUBLE, 4, 0, false);
  build_arg(&s->d, x, enode, 0, OP_READ);
  build_arg(&s->d, q, ecell, 0, OP_READ);
  build_arg(&s->d, q, ecell, 1, OP_READ);
  build_arg(&s->d, res, -1, -1, OP_INC);
  build_gbl(&s->d, TYPE_INT, 1, OP_MAX);
  build_const(&s->d, "gam", TYPE_DOUBLE, 1, &gam);
  s->d.names = strdup("set 1 edges\nset 2 cells\nset 3 nodes\nmap 1 ecell\nmap 2 enode\n"
                      "dat 1 x\ndat 2 q\ndat 3 res\narg 5 largest\n");
  s->in = (struct signature_inputs){.desc = &s->d, .compiler = "clang 19"};
}

CHANGE(named_nothing, replace(&s->d.names, "dat 1 another name\n");)
CHANGE(named_access, s->d.args[3].access = OP_RW;)
CHANGE(named_map, s->d.args[1].map = 1;)
CHANGE(named_direct, s->d.args[1].map = -1; s->d.args[1].idx = -1;)
CHANGE(named_sharing, s->d.args[3].dat = 1; s->d.ndats = 2;)
CHANGE(named_apart, build_dat(&s->d, TYPE_DOUBLE, 4, 0, false); s->d.dats[2] = s->d.dats[1];
       s->d.args[2].dat = 2; s->d.args[3].dat = 3;
       replace(&s->d.names, "set 1 edges\nset 2 cells\nset 3 nodes\nmap 1 ecell\nmap 2 enode\n"
                            "dat 1 x\ndat 2 q\ndat 3 q\ndat 4 res\narg 5 largest\n");)
CHANGE(named_set, s->d.dats[1].set = 0;)
CHANGE(named_target, s->d.maps[0].to = 2;)
CHANGE(named_arity, s->d.maps[1].arity = 3;)
CHANGE(named_layout, s->d.dats[2].soa = true;)
CHANGE(named_renumbered, s->d.renumbered[1] = true;)
CHANGE(named_global, s->d.args[4].dim = 3;)
CHANGE(named_new, build_gbl(&s->d, TYPE_INT, 1, OP_INC);
       replace(&s->d.names, "set 1 edges\nset 2 cells\nset 3 nodes\nmap 1 ecell\nmap 2 enode\n"
                            "dat 1 x\ndat 2 q\ndat 3 res\narg 5 largest\narg 6 total\n");)
/* Another set comes first, so that all numbers move: nothing is said of what only moved. */
CHANGE(named_moved, s->d.maps[0].to = 2; s->d.maps[1].to = 1; s->d.dats[0].set = 1; s->d.dats[1].set = 2;
       replace(&s->d.names, "set 1 edges\nset 2 nodes\nset 3 cells\nmap 1 ecell\nmap 2 enode\n"
                            "dat 1 x\ndat 2 q\ndat 3 res\narg 5 largest\n");
       s->d.dats[2].soa = true;)
CHANGE(named_replaced, s->d.dats[0].dim = 3; s->d.args[0].dim = 3;
       replace(&s->d.names, "set 1 edges\nset 2 cells\nset 3 nodes\nmap 1 ecell\nmap 2 enode\n"
                            "dat 1 xyz\ndat 2 q\ndat 3 res\narg 5 largest\n");)
CHANGE(namesakes_set, s->d.dats[1].set = 2;)

CHANGE(named_text,
       replace(&s->d.text, "void res_calc(const double *x, const double *q, const double *r, double *res, "
                           "int *largest) { res[0] = 1; }\n");)
CHANGE(one_line,
       replace(&s->d.text, "void res_calc(const double *x, double *res) { res[0] -= gam * x[0] * x[0]; }");)

static const struct row named[] = {
    {named_nothing, NULL},
    {named_text, "kernel text line 1"},
    {named_access, "argument 4 (res) access OP_INC -> OP_RW"},
    {named_map, "argument 2 (q) map ecell -> enode"},
    {named_direct, "argument 2 (q) map ecell -> OP_ID"},
    {named_sharing, "argument 4 (q) passes the dat of argument 2 (q) too now, dat res is gone"},
    {named_apart,
     "argument 3 (q) passes a dat of its own now, no longer that of argument 2 (q), dat q is new"},
    {named_set, "dat q on set cells -> edges"},
    {named_target, "map ecell to set cells -> nodes"},
    {named_arity, "map enode arity 2 -> 3"},
    {named_layout, "dat res is kept by components (soa) now"},
    {named_renumbered, "set cells is renumbered now"},
    {named_global, "argument 5 (largest) dim 1 -> 3"},
    {named_new, "argument 6 (total) is new"},
    {named_moved, "dat res is kept by components (soa) now"},
    {named_replaced, "argument 1 (xyz) dim 2 -> 3, dat xyz (in place of x) dim 2 -> 3"},
};

/* As OP_KERNEL makes it. */
static void make_one_line(struct subject *s) {
  make_named(s);
  replace(&s->d.text, "void res_calc(const double *x, double *res) { res[0] += gam * x[0] * x[0]; }");
}

static const struct row one_lines[] = {
    {one_line,
     "kernel text \"...s) { res[0] += gam * x[0] * x[0]...\" -> \"...s) { res[0] -= gam * x[0] * x[0]...\""}};

/* Names need not be unique. */
static void make_namesakes(struct subject *s) {
  make_named(s);
  replace(&s->d.names, "set 1 edges\nset 2 cells\nset 3 cells\ndat 1 q\ndat 2 q\n");
}

static const struct row namesakes[] = {{namesakes_set, "dat q on set cells -> another cells"},
                                       {named_map, "argument 2 (q) map 1 -> 2"}};

TEST(each_name) {
  check_rows(make_named, named, sizeof named / sizeof *named);
  check_rows(make_one_line, one_lines, sizeof one_lines / sizeof *one_lines);
  check_rows(make_namesakes, namesakes, sizeof namesakes / sizeof *namesakes);
}

/* The same key in any process: this one was computed once. */
TEST(same_everywhere) {
  struct subject s;
  struct signature a;
  struct error err = {0};
  make_subject(&s);
  s.in.desc = &s.d;
  assert_int_equal(signature_make(&a, &s.in, &err), OP_OK);
  assert_string_equal(a.hash, "2cd547e00fcac1382345e0d2d6a779155466d935786004c48a5b3bff1b6b7fd4");
  signature_free(&a);
  desc_free(&s.d);
}

TEST(notes_of_files) {
  struct text id = {0}, again = {0}, none = {0};
  assert_true(elf_build_id("/proc/self/exe", &id));
  library_identity(&again); /* the library is in this program */
  assert_string_equal(text_str(&id), text_str(&again));
  assert_true(id.length >= 16);
  assert_false(elf_build_id("/dev/null", &none));
  assert_false(elf_build_id("/nonexistent/file", &none));
  assert_false(elf_words("/proc/self/exe", &none));
  assert_int_equal(none.length, 0);
  text_free(&id);
  text_free(&again);
}

/* A file that is cut short or changed is read or refused. */
TEST(damaged_files) {
  enum { HEAD = 8192 };
  unsigned char bytes[HEAD];
  FILE *self = fopen("/proc/self/exe", "rb");
  assert_non_null(self);
  size_t size = fread(bytes, 1, HEAD, self);
  fclose(self);
  char path[] = "/tmp/op2jit-elf-XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  uint32_t seed = 5;
  for (int round = 0; round < 600; round++) {
    unsigned char changed[HEAD];
    memcpy(changed, bytes, size);
    for (int n = 0; n < 8; n++) {
      seed = seed * 1664525u + 1013904223u;
      changed[4 + (seed >> 8) % 1000] = (unsigned char)(seed >> 3);
    }
    size_t kept = (seed >> 5) % size;
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_int_equal(pwrite(fd, changed, kept, 0), (ssize_t)kept);
    struct text out = {0};
    elf_build_id(path, &out);
    elf_words(path, &out);
    text_free(&out);
  }
  close(fd);
  unlink(path);
}
