#include "exec/caches.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* No processor has more than this. One cache of few cores: 96 MB (AMD's stacked ones), of many: 504 MB for 72
 * cores (Intel's Xeon 6). All of a machine: 1152 MB for 96 cores (AMD's Genoa-X). What is usual counts where
 * nothing better is known: AMD's cores share 32 MB by eight, Intel's have 2 to 5 MB each. */
static const size_t megabyte = (size_t)1 << 20;
static const size_t most_of_one = 96, most_of_a_sharer = 8, most_of_a_cpu = 12;
static const size_t usual_least = 32, usual_of_a_cpu = 4;

/* The machine's word on its caches. */
struct machine {
  const char *folder;
  int cpus;
  size_t bytes; /* of one last-level cache, or of all; 0: unknown */
  int sharing;  /* CPUs that share it; 0: the machine says only how much there is */
  size_t own;   /* of a CPU's second-level cache; 0: unknown */
};

static size_t at_least(size_t a, size_t b) {
  return a > b ? a : b;
}

/* The first line of a file; empty if there is none. */
static void read_line(const char *folder, const char *name, char *line, int size) {
  struct text path = {0};
  line[0] = 0;
  text_addf(&path, "%s/%s", folder, name);
  FILE *file = text_ok(&path) ? fopen(text_str(&path), "r") : NULL;
  if (file && !fgets(line, size, file))
    line[0] = 0;
  if (file)
    fclose(file);
  text_free(&path);
}

/* CPUs in a list like "0-3,8". */
static int count_cpus(const char *list) {
  int count = 0, low, high, used;
  for (; *list >= '0' && *list <= '9'; list += used, list += *list == ',') {
    if (sscanf(list, "%d-%d%n", &low, &high, &used) != 2 && sscanf(list, "%d%n", &low, &used) == 1)
      high = low;
    count += high - low + 1;
  }
  return count;
}

static void read_of_cache(const struct machine *m, int index, const char *what, char *line, int size) {
  char name[64];
  snprintf(name, sizeof name, "cpu0/cache/index%d/%s", index, what);
  read_line(m->folder, name, line, size);
}

/* Takes the first CPU's cache of the highest level, above its own first one; and the CPU's share of the second-level cache. */
static void read_caches(struct machine *m) {
  int highest = 1;
  for (int index = 0; index < 8; index++) {
    char level[16], size[32], shared[1024];
    unsigned long kilobytes = 0;
    read_of_cache(m, index, "level", level, sizeof level);
    read_of_cache(m, index, "size", size, sizeof size);
    if (atoi(level) < 2 || sscanf(size, "%luK", &kilobytes) != 1)
      continue;
    read_of_cache(m, index, "shared_cpu_list", shared, sizeof shared);
    const int sharing = count_cpus(shared) > 0 ? count_cpus(shared) : 1;
    if (atoi(level) == 2)
      m->own = kilobytes * 1024 / (size_t)sharing;
    if (atoi(level) <= highest)
      continue;
    highest = atoi(level);
    m->bytes = kilobytes * 1024;
    m->sharing = sharing;
  }
}

/* The kernel's word first. The C library's has no CPUs with it, and on some processors is the sum over all caches:
 * it is taken for that. A recorded machine has a file with it. */
static struct machine read_machine(const struct env *env) {
  const bool recorded = env_given(env, ENV_MACHINE);
  struct machine m = {.folder = recorded ? env_value(env, ENV_MACHINE) : "/sys/devices/system/cpu"};
  char line[1024];
  read_line(m.folder, "online", line, sizeof line); /* as the lists of sharers, which leave out the others */
  if (!count_cpus(line))
    read_line(m.folder, "present", line, sizeof line);
  const int listed = count_cpus(line);
  m.cpus = listed > 0 ? listed : (int)sysconf(_SC_NPROCESSORS_CONF);
  read_caches(&m);
  read_line(m.folder, "sysconf_l3", line, sizeof line);
  const long said = recorded ? strtol(line, NULL, 10) : sysconf(_SC_LEVEL3_CACHE_SIZE);
  if (!m.bytes && said > 0)
    m.bytes = (size_t)said;
  return m;
}

static bool believable(const struct machine *m) {
  const size_t sharing = (size_t)(m->sharing ? m->sharing : m->cpus);
  return m->bytes && m->bytes <= at_least(most_of_one, most_of_a_sharer * sharing) * megabyte;
}

static size_t believed(const struct machine *m, int threads) {
  const int cpus = threads < m->cpus ? threads : m->cpus;
  if (!believable(m))
    return at_least(usual_least, usual_of_a_cpu * (size_t)cpus) * megabyte;
  int caches = m->sharing ? (m->cpus + m->sharing - 1) / m->sharing : 1;
  caches = cpus < caches ? cpus : caches;
  const size_t all = m->bytes * (size_t)caches,
               most = at_least(most_of_one, most_of_a_cpu * (size_t)m->cpus) * megabyte;
  return all < most ? all : most;
}

size_t caches_bytes(const struct env *env, int threads) {
  const long given = env_number(env, ENV_L3, 0);
  const struct machine m = read_machine(env);
  return given ? (size_t)given : believed(&m, threads > 0 ? threads : 1);
}

size_t caches_own_bytes(const struct env *env) {
  const struct machine m = read_machine(env);
  const size_t own = m.own && m.own <= most_of_a_sharer * megabyte ? m.own : megabyte,
               all = caches_bytes(env, 1);
  return own < all ? own : all;
}

void caches_describe(const struct env *env, struct text *out) {
  const struct machine m = read_machine(env);
  const double unit = (double)megabyte;
  text_addf(out, "%.4g MB", (double)caches_bytes(env, m.cpus) / unit);
  if (env_given(env, ENV_L3))
    text_add(out, " by OP2_L3");
  if (!m.bytes)
    text_addf(out, "; the machine says nothing of its %d CPUs", m.cpus);
  else
    text_addf(out, "; the machine says %.4g MB for ", (double)m.bytes / unit);
  if (m.bytes && m.sharing == 1)
    text_add(out, "each CPU");
  else if (m.bytes)
    text_addf(out, "%s %d CPUs", m.sharing ? "each" : "all", m.sharing ? m.sharing : m.cpus);
  if (m.bytes && !believable(&m))
    text_add(out, ", which no processor has");
  if (!env_given(env, ENV_L3) && !believable(&m))
    text_add(out, "; OP2_L3=SIZE says better");
}
