/* fill FILE: a cache with a few of everything, for the tests of the command. */
#include "support.h"

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  struct store *s = test_open(argv[1]);
  bool good = store_path(s) != NULL;
  for (int i = 0; i < 3; i++)
    good = test_put(s, "res_calc", i) && good;
  good = test_put(s, "update", 0) && good;
  struct test_key broken;
  test_key_make(&broken, "broken", 0);
  good = store_put_failure(s, &broken.key, "clang 19.1.6\n0f3a", "error kernel 2 1 no;\n",
                           "line 2: no\nfunction", 0) &&
         good;
  struct store_tuning rows[] = {
      {"sig", "res_calc", "cpu \"A\"", 4, "mesh 1", "blocks:64", 2e-3, 5, false, 0, 1e-3, false},
      {"sig", "res_calc", "cpu \"A\"", 4, "mesh 1", "blocks:128", 1e-3, 5, true, 0, 1e-3, false},
      {"sig", "res_calc", "cpu \"A\"", 4, "mesh 1", "owner", -1.0, 1, false, 0, 1e-3, false}};
  good = store_put_tunings(s, rows, 3) && good;
  store_close(s);
  return good ? 0 : 1;
}
