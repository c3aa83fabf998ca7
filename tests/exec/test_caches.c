/* The sizes that the library takes caches to have, on machines as they were recorded or could be: run with the folder that has them. */
#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/caches.h"

static const struct scene {
  const char *name;
  int megabytes_of[3]; /* for 1, 2 and 1024 threads */
  const char *words;
} scenes[] = {
    {"nothing", {32, 32, 32}, "32 MB; the machine says nothing of its 2 CPUs; OP2_L3=SIZE says better"},
    {"zero", {32, 32, 32}, "32 MB; the machine says nothing of its 2 CPUs; OP2_L3=SIZE says better"},
    {"4M", {4, 4, 4}, "4 MB; the machine says 4 MB for each 4 CPUs"},
    {"508M-each",
     {32, 32, 32},
     "32 MB; the machine says 508 MB for all 2 CPUs, which no processor has; OP2_L3=SIZE says better"},
    {"508M-each-listed",
     {32, 32, 32},
     "32 MB; the machine says 508 MB for each CPU, which no processor has; OP2_L3=SIZE says better"},
    {"512M-of-all", {512, 512, 512}, "512 MB; the machine says 512 MB for each 128 CPUs"},
    {"8x32M", {32, 64, 256}, "256 MB; the machine says 32 MB for each 8 CPUs"},
    {"16M-each", {16, 32, 768}, "768 MB; the machine says 16 MB for each CPU"},
};
static const int threads_of[3] = {1, 2, 1024};
static const char *machines;

static void believe(const struct scene *scene, const char *given, struct env *env, struct text *words) {
  struct error err = {0};
  char machine[4200], bytes[64], program[] = "program";
  snprintf(machine, sizeof machine, "OP2_MACHINE=%s/%s", machines, scene->name);
  snprintf(bytes, sizeof bytes, "OP2_L3=%s", given);
  char *argv[] = {program, machine, bytes, NULL};
  assert_int_equal(env_read(env, 3, argv, words, &err), OP_OK);
  text_clear(words);
  caches_describe(env, words);
}

TEST(believes_what_can_be) {
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
    struct env env = {0};
    struct text words = {0};
    believe(&scenes[i], "", &env, &words);
    for (int t = 0; t < 3; t++)
      assert_int_equal(caches_bytes(&env, threads_of[t]), (size_t)scenes[i].megabytes_of[t] << 20);
    assert_string_equal(text_str(&words), scenes[i].words);
    text_free(&words);
    env_free(&env);
  }
}

/* A core's own: what is said and can be, and no more than what it can have of all. */
TEST(knows_a_cores_own) {
  static const struct {
    const char *machine, *given;
    size_t bytes;
  } cases[] = {{"8x32M", "", 1 << 20}, {"16M-each", "", 8 << 20}, {"16M-each", "3M", 3 << 20},
               {"4M", "", 1 << 20},    {"nothing", "", 1 << 20},  {"nothing", "512K", 512 << 10}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct env env = {0};
    struct text words = {0};
    const struct scene scene = {.name = cases[i].machine};
    believe(&scene, cases[i].given, &env, &words);
    assert_int_equal(caches_own_bytes(&env), cases[i].bytes);
    text_free(&words);
    env_free(&env);
  }
}

TEST(believes_people_more) {
  static const struct {
    const char *given;
    size_t bytes;
  } cases[] = {{"65536", 65536}, {"48M", (size_t)48 << 20}, {"2G", (size_t)2 << 30}, {"96K", 96 << 10}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct env env = {0};
    struct text words = {0};
    believe(&scenes[2], cases[i].given, &env, &words);
    assert_int_equal(caches_bytes(&env, 1), cases[i].bytes);
    assert_non_null(strstr(text_str(&words), " MB by OP2_L3; the machine says 4 MB for each 4 CPUs"));
    text_free(&words);
    env_free(&env);
  }
}

TEST(refuses_what_is_no_size) {
  static const char *const wrong[] = {"M", "4", "-1M", "32MB", "32m", "1000000G", "99999999999999999999"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    struct env env = {0};
    struct text warnings = {0};
    struct error err = {0};
    char bytes[64], program[] = "program";
    snprintf(bytes, sizeof bytes, "OP2_L3=%s", wrong[i]);
    char *argv[] = {program, bytes, NULL};
    assert_int_equal(env_read(&env, 2, argv, &warnings, &err), OP_ERR_ENV);
    assert_non_null(strstr(error_message(&err), "expected a whole number in 64K-64G"));
    error_free(&err);
    text_free(&warnings);
    env_free(&env);
  }
}

/* Whatever this one is. */
TEST(this_machine_has_some) {
  struct env env = {0};
  assert_true(caches_bytes(&env, 1) >= 1 << 18);
  assert_true(caches_bytes(&env, 64) >= caches_bytes(&env, 1));
}

int main(int argc, char **argv) {
  machines = argc > 1 ? argv[1] : "";
  return run_these(NULL, NULL);
}
