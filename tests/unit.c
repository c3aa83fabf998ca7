#include "unit.h"

#include <stdlib.h>

static struct {
  struct CMUnitTest *tests;
  size_t n;
  CMFixtureFunction before, after;
} list;

void add_test(struct CMUnitTest test) {
  struct CMUnitTest *more = realloc(list.tests, (list.n + 1) * sizeof *more);
  if (!more)
    abort();
  more[list.n++] = test;
  list.tests = more;
}

void around_all(CMFixtureFunction before, CMFixtureFunction after) {
  list.before = before;
  list.after = after;
}

int run_these(CMFixtureFunction before, CMFixtureFunction after) {
  return _cmocka_run_group_tests("tests", list.tests, list.n, before ? before : list.before,
                                 after ? after : list.after);
}
