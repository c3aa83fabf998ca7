/* The triad by which reports judge loops, in arrays as large as the machine's caches ask for. */
#include "../unit.h"

#include <stdio.h>

#include "exec/caches.h"
#include "exec/triad.h"

TEST(bandwidth) {
  struct error err = {0};
  struct team *team = NULL;
  double rate = 0;
  struct env env = {0};
  struct text warnings = {0};
  assert_int_equal(env_read(&env, 0, NULL, &warnings, &err), OP_OK);
  assert_int_equal(team_open(&team, TEAM_DEFAULT, 2, &err), OP_OK);
  for (int threads = 1; threads <= 2; threads++) {
    assert_int_equal(triad_measure(team, threads, caches_bytes(&env, threads), &rate, &err), OP_OK);
    assert_true(rate > 0.05 && rate < 20000);
    printf("%d threads: %.1f GB/s\n", threads, rate);
  }
  team_close(team);
  text_free(&warnings);
  env_free(&env);
  error_free(&err);
}
