/* How far a long transfer is: one line on a terminal, once a second has passed; nothing sooner, nothing unless wanted, and nothing
 * where stderr is no terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files/progress.h"

enum { LONG = 600000 };

static char shown[4096];

/* A transfer in two steps, each of which takes so many microseconds, with `descriptor` as stderr. */
static void transfer(int descriptor, bool wanted, int each) {
  const int before = dup(STDERR_FILENO);
  assert_int_equal(dup2(descriptor, STDERR_FILENO), STDERR_FILENO);
  struct progress p = progress_begin("reading", "mesh.h5", 2, wanted);
  for (int i = 0; i < 2; i++) {
    usleep((useconds_t)each);
    progress_add(&p, 1);
  }
  progress_end(&p);
  assert_int_equal(dup2(before, STDERR_FILENO), STDERR_FILENO);
  close(before);
}

static void on_a_terminal(bool wanted, int each) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  assert_true(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
  const int other = open(ptsname(terminal), O_RDWR | O_NOCTTY);
  assert_true(other >= 0);
  transfer(other, wanted, each);
  memset(shown, 0, sizeof shown);
  fcntl(terminal, F_SETFL, O_NONBLOCK);
  for (ssize_t n, at = 0; (n = read(terminal, shown + at, sizeof shown - 1 - (size_t)at)) > 0;)
    at += n;
  close(other);
  close(terminal);
}

static void long_ones_are_shown(void **state) {
  (void)state;
  on_a_terminal(true, LONG);
  assert_non_null(strstr(shown, "op2jit: reading mesh.h5: 100 %, "));
  assert_string_equal(shown + strlen(shown) - 4, "\r\033[K");
}

static void others_are_not(void **state) {
  (void)state;
  on_a_terminal(true, 0);
  assert_string_equal(shown, "");
  on_a_terminal(false, LONG);
  assert_string_equal(shown, "");
  FILE *file = tmpfile();
  assert_non_null(file);
  transfer(fileno(file), true, LONG);
  assert_int_equal(lseek(fileno(file), 0, SEEK_END), 0);
  fclose(file);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(long_ones_are_shown), cmocka_unit_test(others_are_not)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
