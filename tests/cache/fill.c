/* fill FILE: a cache with a few of everything, for the tests of the command. */
#include "support.h"

/* With the column that the list shows. */
static bool put_shaped(struct store *s, const char *loop, const char *shape) {
  struct test_key k;
  unsigned char bytes[TEST_BINARY_MOST];
  test_key_make(&k, loop, 0);
  k.columns[5] = (struct store_column){"shape", shape, strlen(shape)};
  const struct store_new_binary binary = {bytes, test_binary(0, bytes), k.text, strlen(k.text), 0.05, NULL};
  return store_put_binary(s, &k.key, &binary);
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  struct store *s = test_open(argv[1]);
  bool good = store_path(s) != NULL;
  for (int i = 0; i < 3; i++)
    good = test_put(s, "res_calc", i) && good;
  good = put_shaped(s, "update", "strip8") && good;
  struct test_key broken;
  test_key_make(&broken, "broken", 0);
  store_note_failure(s, &broken.key, "line 2: no\nfunction");
  struct store_tuning rows[] = {
      {"sig", "res_calc", "cpu \"A\"", 4, "mesh 1", "blocks:64", 2e-3, 5, false, 0, 1e-3, false},
      {"sig", "res_calc", "cpu \"A\"", 4, "mesh 1", "blocks:128", 1e-3, 5, true, 0, 1e-3, false},
      {"sig", "res_calc", "cpu \"A\"", 4, "mesh 1", "owner", -1.0, 1, false, 0, 1e-3, false},
      {"layout of dat grad, 3 double, on set cells", "dat grad", "cpu \"A\"", 4, "mesh 1",
       "a variant of 40 letters, which is longer", 1e-3, 5, true, 0, 1e-3, false},
      {"of update", "update", "cpu \"A\"", 4, "mesh 1", "scalar", 1e-3, 5, true, 0, 1e-3, false},
      {"of update", "update", "cpu \"A\"", 4, "mesh 1", "strip4", 0.99e-3, 5, false, 0, 1e-3, false},
      {"of update", "update", "cpu \"A\"", 4, "mesh 1", "strip8", 0.5e-3, 2, false, 0, 1e-3, false},
      {"of update", "update", "cpu \"A\"", 4, "mesh 1", "strip16", 0.9e-3, 5, false, 0, 2e-3, false},
      {"of save", "save", "cpu \"A\"", 4, "mesh 1", "scalar", 1e-3, 5, true, 0, 2e-3, true},
      {"0123456789abcdef", "a loop with a name of 30 letters", "cpu \"A\"", 4, "mesh 1", "owner", 1e-3, 5,
       true, 0, 1e-3, false}};
  good = store_put_tunings(s, rows, sizeof rows / sizeof *rows) && good;
  store_close(s);
  return good ? 0 : 1;
}
