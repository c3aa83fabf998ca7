/* Generated text: the same description gives the same text, in this process and in any other; a few loops as golden
 * files, in which "shared: NAME" stands for a piece of shared.c.  test_generate FOLDER [write | shorten FILE] */
#include <stdio.h>
#include <stdlib.h>

#include "build.h"
#include "jit/emit/generate.h"
#include "jit/kernel/kernel.h"

static int failures;

static struct desc airfoil_edge(void) {
  struct desc d = build_loop(
      "res", "void res(const double *x1, const double *x2, const double *q, double *r1, double *r2) {\n"
             "  double f = eps * (x1[0] - x2[0]) * q[0];\n  r1[0] += f;\n  r2[1] -= f;\n}\n");
  static const double eps = 0.05;
  int nodes = build_map(&d, 2, 1), cells = build_map(&d, 2, 2);
  int x = build_dat(&d, TYPE_DOUBLE, 2, 1, false), q = build_dat(&d, TYPE_DOUBLE, 4, 2, true),
      r = build_dat(&d, TYPE_DOUBLE, 2, 2, false);
  build_arg(&d, x, nodes, 0, OP_READ);
  build_arg(&d, x, nodes, 1, OP_READ);
  build_arg(&d, q, cells, 0, OP_READ);
  build_arg(&d, r, cells, 0, OP_INC);
  build_arg(&d, r, cells, 1, OP_INC);
  build_const(&d, "eps", TYPE_DOUBLE, 1, &eps);
  return d;
}

static struct desc globals(void) {
  struct desc d = build_loop(
      "extremes",
      "void extremes(const float *a, const int *e, float *w, int *count, float *most, int *where) {\n"
      "  w[0] = a[0] * late;\n  ++*count;\n  if (w[0] > *most) {\n    *most = w[0];\n"
      "    *where = *e;\n  }\n}\n");
  build_arg(&d, build_dat(&d, TYPE_FLOAT, 1, 0, false), -1, -1, OP_READ);
  build_idx(&d, -1, -1);
  build_gbl(&d, TYPE_FLOAT, 3, OP_WORK);
  build_gbl(&d, TYPE_INT, 1, OP_INC);
  int most = build_gbl(&d, TYPE_FLOAT, 1, OP_MAX);
  build_info(&d, TYPE_INT, 1, most);
  build_const(&d, "late", TYPE_FLOAT, 1, NULL);
  d.renumbered[0] = true;
  return d;
}

static struct desc vectors(void) {
  struct desc d =
      build_loop("around", "void around(const long long *x[3], double **y) {\n  for (int i = 0; i < 3; i++)\n"
                           "    y[i][0] += (double)x[i][0];\n}\n");
  int map = build_map(&d, 3, 1);
  build_arg(&d, build_dat(&d, TYPE_LONGLONG, 1, 1, false), map, -3, OP_READ);
  build_arg(&d, build_dat(&d, TYPE_DOUBLE, 20, 1, true), map, -3, OP_INC);
  d.dats[1].wide = true;
  return d;
}

/* Element numbers, of the element itself and of targets whose set was renumbered. */
static struct desc numbers(void) {
  struct desc d = build_loop("count", "void count(const int *e, const int t[2], int *sum) {\n"
                                      "  *sum += e[0] - t[0] - t[1];\n}\n");
  int map = build_map(&d, 2, 1);
  build_idx(&d, -1, -1);
  build_idx(&d, map, -2);
  build_gbl(&d, TYPE_INT, 1, OP_INC);
  d.renumbered[1] = true;
  return d;
}

/* A matrix times a vector, by rows. Its entries are blocks of side x side; a row has `equal` of them, or any number
 * (0). */
static struct desc product(struct desc d, int side, int equal) {
  const int map = build_map(&d, 0, 1);
  d.maps[map].ragged = true;
  d.maps[map].equal = equal;
  const int a = build_arg(&d, build_dat(&d, TYPE_DOUBLE, side * side, 2, false), map, -1, OP_READ);
  d.args[a].entry = d.args[a].counted = true;
  build_arg(&d, build_dat(&d, TYPE_DOUBLE, side, 1, false), map, -1, OP_READ);
  build_arg(&d, build_dat(&d, TYPE_DOUBLE, side, 0, false), -1, -1, OP_WRITE);
  d.nsets = 3;
  return d;
}

static struct desc matrix(const char *name, int equal) {
  char text[300];
  snprintf(
      text, sizeof text,
      "void %s(int n, const double **a, const double **x, double *y) {\n  double sum = 0;\n  OP_ANY_ORDER\n"
      "  for (int k = 0; k < n; k++)\n    sum += *OP_ROW(a, k) * *OP_ROW(x, k);\n  *y = sum;\n}\n",
      name);
  return product(build_loop(name, text), 1, equal);
}

/* So large are its blocks that strips are for rows of one and of two of them only. */
static struct desc blocks(void) {
  return product(build_loop("blocks", "void blocks(int n, const double **a, const double **x, double *y) {\n"
                                      "  y[0] = y[1] = y[2] = 0;\n  for (int k = 0; k < n; k++)\n"
                                      "    for (int i = 0; i < 9; i++)\n"
                                      "      y[i / 3] += OP_ROW(a, k)[i] * OP_ROW(x, k)[i % 3];\n}\n"),
                 3, 0);
}

static void build_member(struct desc *d, const char *name, int nargs, const int *args, const int *accesses) {
  struct desc_member *m = &d->members[d->nmembers++];
  *m = (struct desc_member){.name = strdup(name), .function = strdup(name), .nargs = nargs};
  for (int i = 0; i < nargs; i++) {
    m->args[i] = (unsigned char)args[i];
    m->accesses[i] = (unsigned char)accesses[i];
  }
}

/* Loops of conjugate gradients as aero has them, one of whose rows nobody will see, and that add to another. */
static struct desc fused(void) {
  struct desc d =
      build_loop("axpy+dot", "void axpy(const double *a, const double *x, double *t, double *y) {\n"
                             "  *t = *a * *x;\n  *y += *t;\n}\n"
                             "void dot(const double *y, const double *t, double *sum) {\n"
                             "  *sum += *y * *t;\n}\n");
  const int x = build_dat(&d, TYPE_DOUBLE, 1, 0, false), t = build_dat(&d, TYPE_DOUBLE, 1, 0, false),
            y = build_dat(&d, TYPE_DOUBLE, 1, 0, false);
  const int a = build_gbl(&d, TYPE_DOUBLE, 1, OP_READ);
  const int ax = build_arg(&d, x, -1, -1, OP_READ), at = build_arg(&d, t, -1, -1, OP_WRITE),
            ay = build_arg(&d, y, -1, -1, OP_RW);
  const int sum = build_gbl(&d, TYPE_DOUBLE, 1, OP_INC);
  d.args[at].dropped = true;
  d.members = calloc(2, sizeof *d.members);
  build_member(&d, "axpy", 4, (const int[]){a, ax, at, ay},
               (const int[]){OP_READ, OP_READ, OP_WRITE, OP_INC});
  build_member(&d, "dot", 3, (const int[]){ay, at, sum}, (const int[]){OP_READ, OP_READ, OP_INC});
  return d;
}

static struct text read_file(const char *path) {
  struct text t = {0};
  FILE *file = fopen(path, "rb");
  for (int c; file && (c = fgetc(file)) != EOF;)
    text_add_char(&t, (char)c);
  if (file)
    fclose(file);
  return t;
}

/* How much of the text, from the line on, is the piece, as deep as the line is. */
static size_t piece_length(const char *line, const char *piece, const char *end) {
  const size_t depth = strspn(line, " ");
  const char *at = line;
  for (const char *next; piece < end; piece = next) {
    const size_t deep = *piece == '\n' ? 0 : depth;
    next = strchr(piece, '\n') + 1;
    if (strspn(at, " ") < deep || strncmp(at + deep, piece, (size_t)(next - piece)) != 0)
      return 0;
    at += deep + (size_t)(next - piece);
  }
  return (size_t)(at - line);
}

/* Each piece of shared.c becomes the line with its name. */
static struct text shorten(const char *folder, const struct text *made) {
  static const char mark[] = "/* piece: ";
  char path[600];
  snprintf(path, sizeof path, "%s/shared.c", folder);
  struct text shared = read_file(path), out = {0};
  text_add(&out, text_str(made));
  for (const char *name = strstr(text_str(&shared), mark), *next; name; name = next) {
    const char *piece = strchr(name, '\n') + 1;
    next = strstr(piece, mark);
    name += strlen(mark);
    struct text rest = out;
    out = (struct text){0};
    for (const char *line = text_str(&rest), *end; *line; line = end) {
      const size_t length = piece_length(line, piece, next ? next : piece + strlen(piece));
      end = length ? line + length : strchr(line, '\n') + 1;
      if (length)
        text_addf(&out, "%.*s/* shared: %.*s", (int)strspn(line, " "), line, (int)(piece - name), name);
      else
        text_add_bytes(&out, line, (size_t)(end - line));
    }
    text_free(&rest);
  }
  text_free(&shared);
  return out;
}

static void compare(const char *folder, const char *name, const struct text *text, bool write) {
  char path[600];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  struct text kept = read_file(path), shortened = shorten(folder, text), *made = &shortened;
  if (write) {
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(text_str(made), 1, made->length, file) != made->length || fclose(file) != 0)
      failures++;
  } else if (strcmp(text_str(&kept), text_str(made)) != 0) {
    fprintf(stderr, "%s: the generated text differs; it is now\n%s", path, text_str(made));
    failures++;
  }
  text_free(&kept);
  text_free(&shortened);
}

static int source_of(const struct desc *d, const struct shape *s, struct text *out, struct error *err) {
  struct generated files;
  if (generate_c(d, s, &files, err) != OP_OK)
    return err->code;
  text_add_bytes(out, text_str(&files.main), files.main.length);
  text_addf(out, "/* %s */\n", files.kernel_file);
  text_add_bytes(out, text_str(&files.kernel), files.kernel.length);
  generated_free(&files);
  return OP_OK;
}

static void one(const char *folder, struct desc d, const char *shape_name, bool write) {
  struct shape shape;
  struct text first = {0}, second = {0}, name = {0};
  struct error err = {0};
  struct desc again;
  if (!shape_parse(shape_name, &shape))
    shape = (struct shape){.width = -1};
  if (shape.width < 0 || source_of(&d, &shape, &first, &err) != OP_OK ||
      desc_copy(&again, &d, &err) != OP_OK || source_of(&again, &shape, &second, &err) != OP_OK) {
    fprintf(stderr, "%s: %s\n", d.kernel_name, error_message(&err));
    failures++;
  } else {
    text_addf(&name, "%s-%s.c", d.kernel_name, shape_name);
    compare(folder, text_str(&name), &first, write);
    if (strcmp(text_str(&first), text_str(&second)) != 0) {
      fprintf(stderr, "%s: a copy of the description gives another text\n", d.kernel_name);
      failures++;
    }
    desc_free(&again);
  }
  desc_free(&d);
  text_free(&first);
  text_free(&second);
  text_free(&name);
  error_free(&err);
}

/* The first of the shapes for a machine with 512-bit vectors. */
static void starts_with(struct desc d, int width) {
  struct shape shapes[SHAPE_CANDIDATES];
  const int count = shape_candidates(&d, 64, (struct shape_wish){0}, shapes);
  if (count < 2 || shapes[0].width != width) {
    fprintf(stderr, "%s: the first of %d shapes has width %d instead of %d\n", d.kernel_name, count,
            shapes[0].width, width);
    failures++;
  }
  desc_free(&d);
}

/* Adds something to rows of three at both ends. */
static struct desc adding(const char *value) {
  char text[400];
  snprintf(text, sizeof text,
           "double third(double x) { return x / 3; } double half(double x) { return 0.5 * x; }\n"
           "double sixth(double x) { return half(third(x)); }\nvoid add(const double *x, double *y1, double "
           "*y2) { for (int n = 0; n < 3; n++) { double f = %s; "
           "y1[n] += f; y2[n] -= f; } }",
           value);
  struct shared none = {0};
  struct kernel k;
  struct error err = {0};
  if (kernel_parse_unit(&k, &none, text, "add", &err) !=
      OP_OK) { /* which leaves out what add does not call */
    fprintf(stderr, "%s\n", error_message(&err));
    exit(1);
  }
  struct desc d = build_loop("add", k.text);
  kernel_free(&k);
  int map = build_map(&d, 2, 1), y = build_dat(&d, TYPE_DOUBLE, 3, 1, false);
  build_arg(&d, build_dat(&d, TYPE_DOUBLE, 3, 1, false), map, 0, OP_READ);
  build_arg(&d, y, map, 0, OP_INC);
  build_arg(&d, y, map, 1, OP_INC);
  return d;
}

/* A weight times what stands at one end, to the other. */
static struct desc adding_one(void) {
  struct desc d =
      build_loop("jac", "void jac(const double *a, const double *u, double *du) { *du += *a * *u; }");
  const int map = build_map(&d, 2, 1);
  build_arg(&d, build_dat(&d, TYPE_DOUBLE, 1, 0, false), -1, -1, OP_READ);
  build_arg(&d, build_dat(&d, TYPE_DOUBLE, 1, 1, false), map, 1, OP_READ);
  build_arg(&d, build_dat(&d, TYPE_DOUBLE, 1, 1, false), map, 0, OP_INC);
  return d;
}

/* Matrices of n x n by vectors: much is read for each value that is added. */
static struct desc multiplying(int n) {
  struct desc d = build_loop("multiply", "void multiply(const double *k, const double *p[4], double *v[4]) { "
                                         "v[0][0] += k[0] * p[1][0] + k[1] * p[0][0]; }");
  int map = build_map(&d, 4, 1);
  build_arg(&d, build_dat(&d, TYPE_DOUBLE, n * n, 0, false), -1, -1, OP_READ);
  build_arg(&d, build_dat(&d, TYPE_DOUBLE, 1, 1, false), map, -4, OP_READ);
  build_arg(&d, build_dat(&d, TYPE_DOUBLE, 1, 1, false), map, -4, OP_INC);
  return d;
}

/* The names of all shapes, for a machine whose vectors have so many bytes. */
static void has_shapes(struct desc d, int vector_bytes, struct shape_wish wish, const char *names) {
  struct shape shapes[SHAPE_CANDIDATES];
  struct text found = {0};
  const int count = shape_candidates(&d, vector_bytes, wish, shapes);
  for (int i = 0; i < count; i++) {
    text_add(&found, i ? " " : "");
    shape_print(&shapes[i], &found);
  }
  if (strcmp(text_str(&found), names) != 0) {
    fprintf(stderr, "%s: the shapes are %s instead of %s\n", d.kernel_name, text_str(&found), names);
    failures++;
  }
  text_free(&found);
  desc_free(&d);
}

static struct desc copying(int map) {
  struct desc d = build_loop("copy", "void copy(const double *x, double *y) { *y = *x; }");
  if (map)
    map = build_map(&d, 1, 1) + 1;
  build_arg(&d, build_dat(&d, TYPE_DOUBLE, 1, map ? 1 : 0, false), map - 1, map ? 0 : -1, OP_READ);
  build_arg(&d, build_dat(&d, TYPE_DOUBLE, 1, 0, false), -1, -1, OP_WRITE);
  return d;
}

/* Single precision, whose strips of four fill half a register; rows, components apart, and a row of three, which
 * leaves gaps. */
static struct desc rows_of_two(void) {
  struct desc d = build_loop(
      "spread", "void spread(const float *x, float *rows, float *apart, float *three) { for (int n = 0; "
                "n < 2; n++) rows[n] = apart[n] = three[n] = *x; three[2] = 0; }");
  build_arg(&d, build_dat(&d, TYPE_FLOAT, 1, 0, false), -1, -1, OP_READ);
  build_arg(&d, build_dat(&d, TYPE_FLOAT, 2, 0, false), -1, -1, OP_WRITE);
  build_arg(&d, build_dat(&d, TYPE_FLOAT, 2, 0, true), -1, -1, OP_WRITE);
  build_arg(&d, build_dat(&d, TYPE_FLOAT, 3, 0, false), -1, -1, OP_WRITE);
  return d;
}

/* Extrema at both ends of an edge: one loop over the lanes. */
static struct desc limits(void) {
  struct desc d =
      build_loop("limits", "void limits(const float *x, float *low[2]) { for (int e = 0; e < 2; e++) for "
                           "(int n = 0; n < 2; n++) if (x[n] < low[e][n]) low[e][n] = x[n]; }");
  const int map = build_map(&d, 2, 1);
  build_arg(&d, build_dat(&d, TYPE_FLOAT, 2, 0, false), -1, -1, OP_READ);
  build_arg(&d, build_dat(&d, TYPE_FLOAT, 2, 1, false), map, -1, OP_MIN);
  return d;
}

static struct desc rows_of_four(void) {
  struct desc d = build_loop(
      "widen", "void widen(const double *x, double *rows) { for (int n = 0; n < 4; n++) rows[n] = *x; }");
  build_arg(&d, build_dat(&d, TYPE_DOUBLE, 1, 0, false), -1, -1, OP_READ);
  build_arg(&d, build_dat(&d, TYPE_DOUBLE, 4, 0, false), -1, -1, OP_WRITE);
  return d;
}

static void shape_names(void) {
  static const char *const wrong[] = {"scalar+straight",    "strip8+straight+list", "strip8+",
                                      "strip8+lis",         "scalar+stream",        "strip8+stream+straight",
                                      "strip4+stream+list", "scalar+list+rows",     "scalar+piped"};
  struct shape s;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    if (shape_parse(wrong[i], &s)) {
      fprintf(stderr, "%s is no shape\n", wrong[i]);
      failures++;
    }
}

int main(int argc, char **argv) {
  bool write = argc > 2 && strcmp(argv[2], "write") == 0;
  if (argc < 2)
    return 2;
  if (argc > 3) {
    struct text made = read_file(argv[3]), shortened = shorten(argv[1], &made);
    fputs(text_str(&shortened), stdout);
    text_free(&made);
    text_free(&shortened);
    return 0;
  }
  one(argv[1], airfoil_edge(), "scalar", write);
  one(argv[1], airfoil_edge(), "scalar+list", write);
  one(argv[1], airfoil_edge(), "strip4", write);
  one(argv[1], airfoil_edge(), "strip4+straight", write);
  one(argv[1], adding("x[n] / 3"), "strip4+piped", write);
  one(argv[1], adding("x[n] / 3"), "strip4+straight+piped", write);
  one(argv[1], adding("x[n] / 3"), "strip4+piped+list", write);
  one(argv[1], globals(), "scalar", write);
  one(argv[1], globals(), "strip4+list", write);
  one(argv[1], vectors(), "scalar", write);
  one(argv[1], numbers(), "strip4", write);
  one(argv[1], fused(), "scalar", write);
  one(argv[1], fused(), "strip4", write);
  one(argv[1], numbers(), "strip4+straight", write);
  one(argv[1], copying(1), "strip8+straight+stream", write);
  one(argv[1], rows_of_two(), "strip4+stream", write);
  one(argv[1], limits(), "strip4", write);
  one(argv[1], matrix("multiply", 0), "scalar+rows", write);
  one(argv[1], blocks(), "strip4+stream", write);
  one(argv[1], blocks(), "strip4+list", write);
  one(argv[1], matrix("five", 5), "strip4+straight", write);
  const struct shape_wish straight = {.straight = true}, stream = {.stream = true},
                          both = {.straight = true, .stream = true};
  has_shapes(copying(1), 64, straight, "strip8+straight scalar strip4+straight strip8");
  has_shapes(copying(1), 64, (struct shape_wish){0}, "strip8 scalar strip4");
  has_shapes(copying(0), 64, straight, "scalar strip8 strip4");
  has_shapes(adding("x[n]"), 64, straight,
             "scalar strip4+straight strip8+straight strip4 strip4+straight+piped");
  /* Where registers are many, and little is kept in them, strips in stages come first. */
  has_shapes(adding("x[n] / 3"), 64, (struct shape_wish){0}, "strip4+piped strip4 scalar strip8");
  has_shapes(adding("x[n] / 3"), 32, (struct shape_wish){0}, "strip4 scalar strip8 strip4+piped");
  has_shapes(multiplying(4), 64, (struct shape_wish){0}, "strip4 scalar strip8");
  /* Much that is read is worth strips in the caches; single values are with many registers. */
  has_shapes(multiplying(4), 64, stream, "scalar strip4 strip8");
  has_shapes(adding_one(), 64, (struct shape_wish){0}, "strip4 scalar strip8");
  has_shapes(adding_one(), 32, (struct shape_wish){0}, "scalar strip4 strip8");
  has_shapes(copying(0), 64, stream, "strip8+stream scalar strip8 strip4");
  has_shapes(copying(1), 64, both, "strip8+straight+stream strip8+straight scalar strip4+straight strip8");
  has_shapes(adding("x[n]"), 64, both, "scalar strip4+straight strip8+straight strip4 strip4+straight+piped");
  /* Past the caches go whole lines: eight doubles, sixteen floats that lie apart, or rows of four doubles by fours. */
  /* Rows of any length: strips where those side by side are as long. */
  has_shapes(matrix("multiply", 0), 64, (struct shape_wish){0}, "scalar scalar+rows");
  has_shapes(matrix("multiply", 0), 64, (struct shape_wish){.rows = true}, "scalar+rows scalar");
  has_shapes(matrix("multiply", 0), 64, (struct shape_wish){.even = true},
             "strip8 scalar scalar+rows strip4");
  has_shapes(matrix("five", 5), 64, straight, "strip8+straight scalar scalar+rows strip4+straight strip8");
  has_shapes(copying(0), 32, stream, "strip8+stream scalar strip4 strip8");
  has_shapes(copying(0), 16, stream, "scalar");
  has_shapes(rows_of_two(), 32, stream, "strip16+stream strip8 scalar strip4");
  has_shapes(rows_of_four(), 32, stream, "strip4+stream strip4 scalar strip8");
  shape_names();
  starts_with(adding("0.5 * x[n] /* x[n] / 2 */"), 0);
  starts_with(adding("x[n] / 3"), 4);
  starts_with(adding("sqrtf(x[n])"), 4);
  starts_with(adding("sqr(x[n])"), 0);
  starts_with(adding("half(x[n])"), 0);
  starts_with(adding("sixth(x[n])"), 4);
  starts_with(multiplying(2), 0);
  starts_with(multiplying(4), 4);
  printf("%d wrong\n", failures);
  return failures != 0;
}
