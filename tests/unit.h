/* What unit tests share: cmocka with what it wants to stand before it, and tests that need no list. A program's
 * tests are those that its file has, in their order:
 *
 *   TEST(what_is_to_be) { ... } int main(void) { return run_these(NULL, NULL); }
 * */
#ifndef OP2JIT_TESTS_UNIT_H
#define OP2JIT_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* after the four above, as cmocka wants it */
#include <cmocka.h>

#define UNUSED __attribute__((unused))

/* The report of a run has the line before. */
#define skip_since(why)                                                                                      \
  do {                                                                                                       \
    print_message("skipped: %s\n", why);                                                                     \
    skip();                                                                                                  \
  } while (0)

/* A test that a list of its own names. */
#define CASE(name) static void name(void **state UNUSED)

/* What is done before or after tests. */
#define FIXTURE(name) static int name(void **state UNUSED)

enum { MOST_TESTS = 128 };
UNUSED static struct CMUnitTest tests_of_file[MOST_TESTS];
UNUSED static size_t ntests_of_file;

#define TEST(name)                                                                                           \
  CASE(name);                                                                                                \
  __attribute__((constructor)) static void register_##name(void) {                                           \
    if (ntests_of_file < MOST_TESTS)                                                                         \
      tests_of_file[ntests_of_file++] = (struct CMUnitTest)cmocka_unit_test(name);                           \
  }                                                                                                          \
  CASE(name)

static inline int run_these(CMFixtureFunction before, CMFixtureFunction after) {
  return _cmocka_run_group_tests("tests", tests_of_file, ntests_of_file, before, after);
}

#endif
