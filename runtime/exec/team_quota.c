#include "exec/team_quota.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"

/* The two versions: where a group's files are, and what they are called. Version 2 has both numbers in one file. */
static const struct version {
  const char *mount, *quota, *period;
} version_1 = {"/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "cpu.cfs_period_us"},
  version_2 = {"/sys/fs/cgroup", "cpu.max", NULL};

enum { MOST_LINE = 4096 };

/* Reads the first line of a group's file, and which file that is. False: there is none. */
static bool first_line(const char *root, const struct version *v, const char *group, const char *name,
                       char line[MOST_LINE], struct stat *which) {
  struct text path = {0};
  text_addf(&path, "%s%s%s/%s", root, v->mount, group, name);
  FILE *file = text_ok(&path) ? fopen(text_str(&path), "re") : NULL;
  text_free(&path);
  bool got = file && fstat(fileno(file), which) == 0 && fgets(line, MOST_LINE, file);
  if (file)
    fclose(file);
  return got;
}

/* The quota of this group alone; false: none. "max", and -1 in version 1, mean that there is no quota. */
static bool quota_of(const char *root, const struct version *v, const char *group, struct quota *out) {
  char line[MOST_LINE];
  struct stat which, other;
  long long quota = 0, period = 0;
  if (!first_line(root, v, group, v->quota, line, &which))
    return false;
  int numbers = sscanf(line, "%lld %lld", &quota, &period);
  if (v->period && numbers == 1 && first_line(root, v, group, v->period, line, &other))
    numbers += sscanf(line, "%lld", &period);
  if (numbers != 2 || quota <= 0 || period <= 0 || quota / period >= INT_MAX)
    return false;
  *out = (struct quota){(int)(quota / period) + (quota % period > 0), which.st_dev, which.st_ino};
  return true;
}

/* A group has no more than those above it; their files are where its path leads, but in some containers only the
 * topmost ones can be seen. Shortens `group`. */
static void add_quotas(const char *root, const struct version *v, char *group, struct quotas *out) {
  for (;;) {
    if (out->count < QUOTAS_MOST && quota_of(root, v, group, &out->groups[out->count]))
      out->count++;
    char *end = strrchr(group, '/');
    if (!end)
      return;
    *end = 0;
  }
}

/* "4:cpu,cpuacct:/some/group" is version 1's if "cpu" is among the words, "0::/some/group" version 2's. */
static const struct version *version_of(char *line, char **group) {
  char *words = strchr(line, ':'), *path = words ? strchr(words + 1, ':') : NULL;
  if (!path)
    return NULL;
  *path = 0;
  *group = path + 1;
  (*group)[strcspn(*group, "\n")] = 0;
  if (!words[1])
    return &version_2;
  for (char *rest = words + 1, *word; (word = strsep(&rest, ","));)
    if (strcmp(word, "cpu") == 0)
      return &version_1;
  return NULL;
}

void quotas_read(const char *root, struct quotas *out) {
  struct text path = {0};
  char line[MOST_LINE], *group;
  memset(out, 0, sizeof *out);
  text_addf(&path, "%s/proc/self/cgroup", root);
  FILE *file = text_ok(&path) ? fopen(text_str(&path), "re") : NULL;
  text_free(&path);
  while (file && fgets(line, sizeof line, file)) {
    const struct version *v = version_of(line, &group);
    if (v)
      add_quotas(root, v, group, out);
  }
  if (file)
    fclose(file);
}

int quota_cpus(const char *root) {
  struct quotas quotas;
  int least = 0;
  quotas_read(root, &quotas);
  for (int i = 0; i < quotas.count; i++)
    if (!least || quotas.groups[i].cpus < least)
      least = quotas.groups[i].cpus;
  return least;
}

void allowance_read(struct allowance *out) {
  memset(out, 0, sizeof *out);
  if (sched_getaffinity(0, sizeof out->cpus, &out->cpus) != 0)
    CPU_SET(0, &out->cpus);
  quotas_read("", &out->quotas);
}

static bool is_in(const struct allowance *one, const struct quota *group) {
  for (int i = 0; i < one->quotas.count; i++)
    if (one->quotas.groups[i].device == group->device && one->quotas.groups[i].file == group->file)
      return true;
  return false;
}

/* A share of CPUs' time. */
struct portion {
  int share; /* 0: nobody shares yet */
  bool crowded;
};

static void divide(struct portion *p, int cpus, int by) {
  const int each = cpus > by ? cpus / by : 1;
  p->crowded |= by > cpus;
  if (!p->share || each < p->share)
    p->share = each;
}

int allowance_share(const struct allowance *mine, int count, const struct allowance all[], bool *crowded) {
  struct portion p = {0};
  int equal = 0;
  for (int i = 0; i < count; i++)
    equal += CPU_EQUAL(&all[i].cpus, &mine->cpus) != 0;
  int most = equal;
  divide(&p, CPU_COUNT(&mine->cpus), equal);
  for (int g = 0; g < mine->quotas.count; g++) {
    int inside = 0;
    for (int i = 0; i < count; i++)
      inside += is_in(&all[i], &mine->quotas.groups[g]);
    divide(&p, mine->quotas.groups[g].cpus, inside);
    most = inside > most ? inside : most;
  }
  *crowded = p.crowded;
  return most > 1 ? p.share : 0;
}
