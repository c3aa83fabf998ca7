/* Shared by unit tests: cmocka with the headers that come before it, and tests that need no list. The tests of a
 * program are those of its files, in their order. It needs no main either:
 *
 *   TEST(what_is_to_be) { ... }
 *   AROUND_ALL(make_folder, remove_folder)
 */
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

/* A test of the program's list, and what is done before and after it. */
#define TEST_BETWEEN(name, before, after)                                                                    \
  CASE(name);                                                                                                \
  __attribute__((constructor)) static void register_##name(void) {                                           \
    add_test((struct CMUnitTest)cmocka_unit_test_setup_teardown(name, before, after));                       \
  }                                                                                                          \
  CASE(name)

#define TEST(name) TEST_BETWEEN(name, NULL, NULL)

/* What is done before the first test and after the last one, where the program has no main. */
#define AROUND_ALL(before, after)                                                                            \
  __attribute__((constructor)) static void register_around(void) {                                           \
    around_all(before, after);                                                                               \
  }

void add_test(struct CMUnitTest test);
void around_all(CMFixtureFunction before, CMFixtureFunction after);

/* All tests of the list; returns how many failed. */
int run_these(CMFixtureFunction before, CMFixtureFunction after);

#endif
