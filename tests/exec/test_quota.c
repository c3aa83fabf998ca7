/* The share of the machine's time that control groups leave to a process, read from folders made here. */
#include "../unit.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exec/team_quota.h"

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

TEST(reads_quotas) {
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

/* Two processes see the same groups under the same path, or, in containers, different ones. */
TEST(tells_groups_apart) {
  struct quotas quotas[3];
  for (int i = 0; i < 2; i++) {
    char root[] = "/tmp/op2jit-quota-XXXXXX";
    assert_non_null(mkdtemp(root));
    put_file(root, GROUPS, "0::/pod/job\n");
    put_file(root, V2 "/pod/job/cpu.max", "150000 100000\n");
    put_file(root, V2 "/pod/cpu.max", "300000 100000\n");
    quotas_read(root, &quotas[i]);
    quotas_read(root, &quotas[2]);
    nftw(root, drop, 8, FTW_DEPTH | FTW_PHYS);
    assert_int_equal(quotas[i].count, 2);
    assert_int_equal(quotas[i].groups[0].cpus, 2);
    assert_int_equal(quotas[i].groups[1].cpus, 3);
    assert_memory_equal(&quotas[i], &quotas[2], sizeof quotas[i]);
    assert_true(quotas[i].groups[0].file != quotas[i].groups[1].file);
  }
}

enum { RANKS = 4 };

/* Ranks on a machine; groups are told apart by `file`, 0: none. */
static const struct crowd {
  const char *name;
  int count, share; /* ranks, and CPUs for the first of them */
  bool crowded;
  struct {
    size_t cpus; /* the first ones of the machine */
    struct quota own, above;
  } ranks[RANKS];
} crowds[] = {
    {"one rank", 1, 0, false, {{4, {2, 0, 1}, {0, 0, 0}}}},
    {"two on the same CPUs", 2, 2, false, {{4, {0, 0, 0}, {0, 0, 0}}, {4, {0, 0, 0}, {0, 0, 0}}}},
    {"two on different CPUs", 2, 0, false, {{4, {0, 0, 0}, {0, 0, 0}}, {2, {0, 0, 0}, {0, 0, 0}}}},
    {"two with one quota", 2, 1, false, {{4, {2, 0, 1}, {0, 0, 0}}, {4, {2, 0, 1}, {0, 0, 0}}}},
    {"two in two containers", 2, 2, false, {{4, {2, 0, 1}, {0, 0, 0}}, {4, {2, 0, 2}, {0, 0, 0}}}},
    {"groups of two devices", 2, 2, false, {{4, {2, 7, 1}, {0, 0, 0}}, {4, {2, 8, 1}, {0, 0, 0}}}},
    {"one with a quota", 2, 3, false, {{6, {5, 0, 1}, {0, 0, 0}}, {6, {0, 0, 0}, {0, 0, 0}}}},
    {"two containers in one pod", 2, 1, false, {{8, {2, 0, 1}, {3, 0, 9}}, {8, {2, 0, 2}, {3, 0, 9}}}},
    {"more than CPUs",
     3,
     1,
     true,
     {{2, {0, 0, 0}, {0, 0, 0}}, {2, {0, 0, 0}, {0, 0, 0}}, {2, {0, 0, 0}, {0, 0, 0}}}},
    {"more than the quota",
     3,
     1,
     true,
     {{8, {2, 0, 1}, {0, 0, 0}}, {8, {2, 0, 1}, {0, 0, 0}}, {8, {2, 0, 1}, {0, 0, 0}}}},
    {"one quota on different CPUs", 2, 1, true, {{4, {1, 0, 1}, {0, 0, 0}}, {3, {1, 0, 1}, {0, 0, 0}}}},
};

TEST(shares) {
  for (size_t i = 0; i < sizeof crowds / sizeof *crowds; i++) {
    const struct crowd *c = &crowds[i];
    struct allowance all[RANKS] = {0};
    bool crowded = !c->crowded;
    for (int r = 0; r < c->count; r++) {
      for (size_t cpu = 0; cpu < c->ranks[r].cpus; cpu++)
        CPU_SET(cpu, &all[r].cpus);
      if (c->ranks[r].own.file)
        all[r].quotas.groups[all[r].quotas.count++] = c->ranks[r].own;
      if (c->ranks[r].above.file)
        all[r].quotas.groups[all[r].quotas.count++] = c->ranks[r].above;
    }
    const int share = allowance_share(&all[0], c->count, all, &crowded);
    if (share != c->share || crowded != c->crowded)
      fail_msg("%s: %d CPUs instead of %d, %scrowded", c->name, share, c->share, crowded ? "" : "not ");
  }
}
