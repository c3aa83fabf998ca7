#include "run/team_share.h"

#include <string.h>

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

/* So many share so many CPUs' time. */
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
