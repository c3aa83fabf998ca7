/* What killed processes left beside a file goes when the file is written again; whatever else is there stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/aside.h"

static char folder[] = "/tmp/op2jit-aside-XXXXXX";

static int enter_folder(void **state) {
  (void)state;
  return mkdtemp(folder) ? chdir(folder) : -1;
}

static int leave_folder(void **state) {
  (void)state;
  return chdir("/") || rmdir(folder);
}

static void make(const char *name) {
  FILE *f = fopen(name, "w");
  assert_non_null(f);
  fclose(f);
}

/* The number of a process that is no more. */
static long a_dead_process(void) {
  pid_t pid = fork();
  if (pid == 0)
    _exit(0);
  assert_true(pid > 0);
  assert_int_equal(waitpid(pid, NULL, 0), pid);
  return pid;
}

static void leftovers_go(void **state) {
  (void)state;
  struct text name = {0};
  struct error err = {0};
  char machine[9] = "", dead[PATH_MAX];
  assert_int_equal(aside_name("mesh.h5", &name, &err), OP_OK);
  assert_int_equal(sscanf(text_str(&name), "mesh.h5.%8[0-9a-f].", machine), 1);
  char mine[PATH_MAX];
  snprintf(mine, sizeof mine, "mesh.h5.%s.%ld.part", machine, (long)getpid());
  assert_string_equal(text_str(&name), mine);
  const long pid = a_dead_process();
  snprintf(dead, sizeof dead, "mesh.h5.%s.%ld.part", machine, pid);

  /* The number of a process that lives, another machine's, another file's, and what only looks like it. */
  static const char *const forms[] = {"mesh.h5.%s.%ld.part2", "mesh.h.%s.%ld.part",   "mesh.h5.%s.-%ld.part",
                                      "mesh.h5.%s.%ldx.part", "xmesh.h5.%s.%ld.part", "mesh.h5.%s.0%ld.part"};
  enum { FORMS = sizeof forms / sizeof *forms, OTHERS = FORMS + 2 };
  char others[OTHERS][PATH_MAX];
  for (int i = 0; i < FORMS; i++)
    snprintf(others[i], PATH_MAX, forms[i], machine, pid);
  snprintf(others[FORMS], PATH_MAX, "mesh.h5.%s.%ld.part", machine, (long)getppid());
  machine[7] = machine[7] == '0' ? '1' : '0';
  snprintf(others[FORMS + 1], PATH_MAX, "mesh.h5.%s.%ld.part", machine, pid);
  for (int i = 0; i < OTHERS; i++)
    make(others[i]);

  /* With and without a folder in the name. */
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/mesh.h5", folder);
  const char *const paths[] = {"mesh.h5", path};
  for (int i = 0; i < 2; i++) {
    make(dead);
    assert_int_equal(aside_name(paths[i], &name, &err), OP_OK);
    assert_int_not_equal(access(dead, F_OK), 0);
  }
  for (int i = 0; i < OTHERS; i++)
    if (unlink(others[i]) != 0)
      fail_msg("%s is gone", others[i]);
  assert_int_equal(aside_name("absent/mesh.h5", &name, &err), OP_OK);
  text_free(&name);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(leftovers_go)};
  return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
