/* The share of the machine's time that control groups leave to a process, read from folders made here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "team_quota.h"

enum { MOST_FILES = 6 };

#define V1 "/sys/fs/cgroup/cpu"
#define V2 "/sys/fs/cgroup"
#define GROUPS "/proc/self/cgroup"

static const struct scene {
  const char *name;
  int cpus; /* wanted */
  struct {
    const char *path, *text;
  } files[MOST_FILES];
} scenes[] = {
    {"no control groups", 0, {{NULL, NULL}}},
    {"version 2 without a quota", 0, {{GROUPS, "0::/job\n"}, {V2 "/job/cpu.max", "max 100000\n"}}},
    {"one and a half CPUs", 2, {{GROUPS, "0::/job\n"}, {V2 "/job/cpu.max", "150000 100000\n"}}},
    {"two CPUs and no more", 2, {{GROUPS, "0::/job\n"}, {V2 "/job/cpu.max", "200000 100000\n"}}},
    {"a tenth of a CPU", 1, {{GROUPS, "0::/job\n"}, {V2 "/job/cpu.max", "10000 100000\n"}}},
    {"inside a container", 3, {{GROUPS, "0::/\n"}, {V2 "/cpu.max", "300000 100000\n"}}},
    {"a group above has less",
     2,
     {{GROUPS, "0::/user/job\n"},
      {V2 "/user/job/cpu.max", "800000 100000\n"},
      {V2 "/user/cpu.max", "200000 100000\n"},
      {V2 "/cpu.max", "max 100000\n"}}},
    {"a group above has more",
     2,
     {{GROUPS, "0::/user/job\n"},
      {V2 "/user/job/cpu.max", "20000 10000\n"},
      {V2 "/user/cpu.max", "800000 100000\n"}}},
    {"version 1",
     2,
     {{GROUPS, "5:memory:/x\n4:cpuacct,cpu:/job\n"},
      {V1 "/job/cpu.cfs_quota_us", "125000\n"},
      {V1 "/job/cpu.cfs_period_us", "100000\n"}}},
    {"version 1 without a quota",
     0,
     {{GROUPS, "4:cpu:/job\n"},
      {V1 "/job/cpu.cfs_quota_us", "-1\n"},
      {V1 "/job/cpu.cfs_period_us", "100000\n"}}},
    {"version 1, whose path a container does not see",
     4,
     {{GROUPS, "4:cpu:/docker/0123\n"},
      {V1 "/cpu.cfs_quota_us", "400000\n"},
      {V1 "/cpu.cfs_period_us", "100000\n"}}},
    {"both versions",
     2,
     {{GROUPS, "4:cpu:/\n0::/job\n"},
      {V1 "/cpu.cfs_quota_us", "400000\n"},
      {V1 "/cpu.cfs_period_us", "100000\n"},
      {V2 "/job/cpu.max", "200000 100000\n"}}},
    {"a controller whose name begins with cpu",
     0,
     {{GROUPS, "4:cpuset:/job\n"},
      {V1 "/job/cpu.cfs_quota_us", "100000\n"},
      {V1 "/job/cpu.cfs_period_us", "100000\n"}}},
    {"a period of nothing", 0, {{GROUPS, "0::/job\n"}, {V2 "/job/cpu.max", "100000 0\n"}}},
    {"no numbers", 0, {{GROUPS, "0::/job\n"}, {V2 "/job/cpu.max", "many\n"}}},
    {"an empty file", 0, {{GROUPS, "0::/job\n"}, {V2 "/job/cpu.max", ""}}},
    {"more than there are numbers",
     0,
     {{GROUPS, "0::/job\n"}, {V2 "/job/cpu.max", "9223372036854775807 1\n"}}},
    {"lines that say nothing", 0, {{GROUPS, "\n0\n0:\n::\nno colon\n"}}},
};

static void put_file(const char *root, const char *path, const char *text) {
  char whole[512];
  assert_true(snprintf(whole, sizeof whole, "%s%s", root, path) < (int)sizeof whole);
  for (char *slash = strchr(whole + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    assert_true(mkdir(whole, 0700) == 0 || errno == EEXIST);
    *slash = '/';
  }
  FILE *file = fopen(whole, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static int drop(const char *path, const struct stat *about, int kind, struct FTW *place) {
  (void)about;
  (void)kind;
  (void)place;
  return remove(path);
}

static void reads_quotas(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
    char root[] = "/tmp/op2jit-quota-XXXXXX";
    assert_non_null(mkdtemp(root));
    for (int f = 0; f < MOST_FILES && scenes[i].files[f].path; f++)
      put_file(root, scenes[i].files[f].path, scenes[i].files[f].text);
    const int cpus = quota_cpus(root);
    nftw(root, drop, 8, FTW_DEPTH | FTW_PHYS);
    if (cpus != scenes[i].cpus)
      fail_msg("%s: %d CPUs instead of %d", scenes[i].name, cpus, scenes[i].cpus);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(reads_quotas)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
