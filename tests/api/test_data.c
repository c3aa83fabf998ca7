/* Data out and in: ranges, files. */
#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <unistd.h>

#include "support.h"

static char folder[] = "/tmp/op2jit-test-XXXXXX";

static const char *in_folder(const char *name) {
  static char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static size_t read_file(const char *name, void *into, size_t size) {
  FILE *file = fopen(in_folder(name), "rb");
  assert_non_null(file);
  size_t n = fread(into, 1, size, file);
  fclose(file);
  return n;
}

static int files_in_folder(void) {
  int n = 0;
  DIR *dir = opendir(folder);
  assert_non_null(dir);
  for (struct dirent *e; (e = readdir(dir));)
    n += e->d_name[0] != '.';
  closedir(dir);
  return n;
}

LIBRARY_TEST(both_ends_of_a_range_are_fetched) {
  enum { N = 11, DIM = 3 };
  int values[N * DIM], out[N * DIM];
  for (int i = 0; i < N * DIM; i++)
    values[i] = i;
  op_set set = op_decl_set(N, "s");
  for (int soa = 0; soa < 2; soa++) {
    op_dat dat = op_decl_dat(set, DIM, soa ? "int:soa" : "int", values, "d");
    for (int low = 0; low < N; low++)
      for (int high = low; high < N; high++) {
        memset(out, -1, sizeof out);
        works(op_fetch_data_idx(dat, out, low, high));
        size_t count = (size_t)(high - low + 1) * DIM;
        assert_memory_equal(out, values + low * DIM, count * sizeof(int));
        /* Nothing behind it is touched. */
        if (count < N * DIM)
          assert_int_equal(out[count], -1);
      }
  }
}

OP_KERNEL_DEF(
    next, void next(int *x) {
      x[0] += 1;
      x[1] -= 1;
    })

LIBRARY_TEST(fetch_and_put_see_what_loops_wrote) {
  enum { N = 100 };
  int x[2 * N], out[2 * N];
  op_set set = op_decl_set(N, "s");
  for (int soa = 0; soa < 2; soa++) {
    memset(x, 0, sizeof x);
    op_dat dat = op_decl_dat(set, 2, soa ? "int:soa" : "int", x, "d");
    for (int round = 1; round <= 6; round++) {
      works(op_par_loop(OP_KERNEL_OF(next), "next", set, direct(dat, 2, "int", OP_RW)));
      if (round % 3 == 0) {
        works(op_put_data(dat, out)); /* back to two rounds before */
        works(op_par_loop(OP_KERNEL_OF(next), "next", set, direct(dat, 2, "int", OP_RW)));
      }
      works(op_fetch_data(dat, out));
      for (int i = 0; i < N; i++)
        assert_true(out[2 * i] == -out[2 * i + 1]);
    }
    assert_int_equal(out[0], 6);
    assert_int_equal(out[2 * N - 2], 6);
  }
}

LIBRARY_TEST(text_files_hold_every_digit) {
  double d[4] = {1.0 / 3, -0.0, 1e300, 5};
  float f[2] = {0.1f, -2};
  unsigned long long u[2] = {ULLONG_MAX, 0};
  long long l[2] = {LLONG_MIN, 3};
  char c[2] = {(char)-1, 'A'}; /* it may have no sign */
  bool b[2] = {true, false};
  op_set set = op_decl_set(2, "s");
  static const char name[] = "values.txt";
  const struct {
    op_dat dat;
    const char *text;
  } cases[] = {
      {op_decl_dat(set, 2, "double", d, "d"), "2 2\n0.33333333333333331 -0\n1.0000000000000001e+300 5\n"},
      {op_decl_dat(set, 2, "double:soa", d, "d"), "2 2\n0.33333333333333331 -0\n1.0000000000000001e+300 5\n"},
      {op_decl_dat(set, 1, "float", f, "f"), "2 1\n0.10000000149011612\n-2\n"},
      {op_decl_dat(set, 1, "ull", u, "u"), "2 1\n18446744073709551615\n0\n"},
      {op_decl_dat(set, 1, "ll", l, "l"), "2 1\n-9223372036854775808\n3\n"},
      {op_decl_dat(set, 1, "char", c, "c"), CHAR_MIN < 0 ? "2 1\n-1\n65\n" : "2 1\n255\n65\n"},
      {op_decl_dat(set, 1, "bool", b, "b"), "2 1\n1\n0\n"},
      {op_decl_dat(op_decl_set(0, "none"), 7, "int", NULL, "n"), "0 7\n"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char got[256] = "";
    works(op_print_dat_to_txtfile(cases[i].dat, in_folder(name)));
    got[read_file(name, got, sizeof got - 1)] = '\0';
    assert_string_equal(got, cases[i].text);
  }
  unlink(in_folder(name));
}

LIBRARY_TEST(binary_files_hold_two_ints_and_the_rows) {
  enum { N = 10000, DIM = 3 }; /* more than any buffer */
  static short values[N * DIM];
  static unsigned char got[sizeof values + 100];
  for (int i = 0; i < N * DIM; i++)
    values[i] = (short)(i * 7);
  op_set set = op_decl_set(N, "s");
  for (int soa = 0; soa < 2; soa++) {
    op_dat dat = op_decl_dat(set, DIM, soa ? "short:soa" : "short", values, "d");
    works(op_print_dat_to_binfile(dat, in_folder("values.bin")));
    assert_int_equal(read_file("values.bin", got, sizeof got), 2 * sizeof(int) + sizeof values);
    int head[2];
    memcpy(head, got, sizeof head);
    assert_true(head[0] == N && head[1] == DIM);
    assert_memory_equal(got + sizeof head, values, sizeof values);
  }
  unlink(in_folder("values.bin"));
}

LIBRARY_TEST(a_file_is_whole_or_as_it_was) {
  int x[2] = {1, 2};
  char got[64] = "";
  op_dat dat = op_decl_dat(op_decl_set(2, "s"), 1, "int", x, "d");
  /* A name that cannot be replaced: a folder. */
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s", in_folder("sub"));
  works(op_print_dat_to_txtfile(dat, in_folder("kept.txt")));
  fails(OP_ERR_FILE, op_print_dat_to_txtfile(dat, folder));
  fails(OP_ERR_FILE, op_print_dat_to_binfile(dat, in_folder("missing/file")));
  assert_non_null(strstr(op_last_error()->message, "missing/file"));
  assert_int_equal(files_in_folder(), 1);
  x[0] = 77;
  works(op_put_data(dat, x));
  works(op_print_dat_to_txtfile(dat, in_folder("kept.txt")));
  got[read_file("kept.txt", got, sizeof got - 1)] = '\0';
  assert_string_equal(got, "2 1\n77\n2\n");
  assert_int_equal(files_in_folder(), 1);
  unlink(in_folder("kept.txt"));
}

FIXTURE(make_folder) {
  return mkdtemp(folder) ? 0 : -1;
}

FIXTURE(remove_folder) {
  return rmdir(folder);
}

AROUND_ALL(make_folder, remove_folder)
