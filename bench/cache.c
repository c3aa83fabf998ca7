/* What the kernel cache costs: lookups, inserts, ten thousand entries, 64 processes at once, bytes per kernel.
 * The kernels are pieces of this program's own machine code. */
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/sha256.h"
#include "kernels-cache/store.h"

enum { KERNEL_BYTES = 6000, SOURCE_BYTES = 5000, COLUMNS = 14, ENTRIES = 10000, PROCESSES = 64, LOOPS = 5 };
static const long COMPILE_US = 50000; /* what a compile takes in the test of many processes */

static char folder[200], file[240];
static unsigned char *code; /* machine code to cut kernels from */
static size_t code_size;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *times, int n) {
  qsort(times, (size_t)n, sizeof *times, compare);
  return times[n / 2];
}

/* ---- keys and kernels --------------------------------------------------------------------------*/

struct kernel {
  struct store_key key;
  struct store_column columns[COLUMNS];
  char hash[65], loop[32], text[1600], number[16];
};

static void make(struct kernel *k, int number) {
  static const char *const names[COLUMNS] = {
      "kernel",    "kernel text", "arguments", "sets and maps", "dats",     "constants", "shape",
      "generator", "library",     "compiler",  "cpu",           "features", "flags",     "fp"};
  static const char features[] =
      "+adx,+aes,+avx,+avx2,+bmi,+bmi2,+fma,+avx512f,+avx512bw,+avx512vl,+avx512dq,+sse4.2";
  unsigned char digest[32];
  struct sha256 s;
  sha256_begin(&s);
  sha256_add(&s, &number, sizeof number);
  sha256_end(&s, digest);
  sha256_hex(digest, k->hash);
  snprintf(k->loop, sizeof k->loop, "loop_%d", number % 50);
  snprintf(k->number, sizeof k->number, "%d", number);
  int used = 0;
  for (int line = 0; line < 25; line++)
    used += snprintf(k->text + used, sizeof k->text - (size_t)used,
                     "  res[%d] += gam%d * (q1[%d] * vol1 + q2[%d]);\n", line % 4, number, line % 7, line);
  for (int i = 0; i < COLUMNS; i++)
    k->columns[i] = (struct store_column){names[i], "some value", 10};
  k->columns[1] = (struct store_column){names[1], k->text, strlen(k->text)};
  k->columns[5] = (struct store_column){names[5], k->number, strlen(k->number)};
  k->columns[11] = (struct store_column){names[11], features, sizeof features - 1};
  k->key = (struct store_key){.hash = k->hash, .loop = k->loop, .columns = k->columns, .ncolumns = COLUMNS};
}

static bool put(struct store *store, int number) {
  struct kernel k;
  char source[SOURCE_BYTES];
  make(&k, number);
  for (size_t i = 0; i < sizeof source; i++)
    source[i] = k.text[i % strlen(k.text)];
  struct store_new_binary b = {code + (size_t)number * 977 % (code_size - KERNEL_BYTES),
                               KERNEL_BYTES,
                               source,
                               sizeof source,
                               0.05,
                               "bench"};
  return store_put_binary(store, &k.key, &b);
}

static bool get(struct store *store, const struct kernel *k) {
  struct store_blob blob;
  bool found = store_get_binary(store, &k->key, &blob);
  store_blob_free(&blob);
  return found;
}

static int take_code(struct dl_phdr_info *info, size_t size, void *data) {
  (void)size, (void)data;
  for (int i = 0; i < info->dlpi_phnum && !code; i++)
    if (info->dlpi_phdr[i].p_type == PT_LOAD && (info->dlpi_phdr[i].p_flags & PF_X) &&
        info->dlpi_phdr[i].p_memsz > 4 * KERNEL_BYTES) {
      code = (unsigned char *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
      code_size = info->dlpi_phdr[i].p_memsz;
    }
  return code != NULL;
}

static struct store *open_file(const char *path) {
  static struct log log = {.level = LOG_WARN, .rank = -1};
  struct store *store = NULL;
  struct error err = {0};
  struct store_options options = {.path = path, .log = &log};
  if (store_open(&store, &options, &err) != OP_OK || (path && !store_path(store))) {
    fprintf(stderr, "bench cache: %s cannot be opened\n", path);
    exit(1);
  }
  return store;
}

static void need(bool good, const char *what) {
  if (!good) {
    fprintf(stderr, "bench cache: wrong: %s\n", what);
    exit(1);
  }
}

/* ---- the rows of the table ----------------------------------------------------------------------*/

static void row(const char *what, double value, const char *unit, const char *target) {
  printf("  %-58s %10.1f %-4s %s\n", what, value, unit, target);
}

/* Run anew by itself: the first lookup of a process, with everything that opening takes. */
static int first_lookup(const char *path, int number) {
  struct kernel k;
  make(&k, number);
  double begin = now();
  struct store *store = open_file(path);
  bool found = get(store, &k);
  double seconds = now() - begin;
  store_close(store);
  printf("%.9f\n", seconds);
  return !found;
}

static void first_lookups(const char *self, const char *what, int entries) {
  double times[25];
  for (int i = 0; i < 25; i++) {
    char command[600];
    snprintf(command, sizeof command, "'%s' first '%s' %d", self, file, i * 7 % entries);
    FILE *f = popen(command, "r");
    need(f && fscanf(f, "%lf", &times[i]) == 1 && pclose(f) == 0, "the first lookup in a process");
  }
  row(what, median(times, 25) * 1e6, "us", "target 2000 us");
}

static void warm_lookups(struct store *store, const char *what, int entries) {
  static double times[20001];
  struct kernel k;
  int n = 0;
  for (int round = 0; round < 2; round++) /* the first one warms */
    for (n = 0; n < 20001; n++) {
      make(&k, n * 7919 % entries);
      double begin = now();
      bool found = get(store, &k);
      times[n] = now() - begin;
      need(found, "a lookup");
      if (entries < 1000 && n > 5000)
        break;
    }
  double middle = median(times, n);
  row(what, middle * 1e6, "us", "target 50 us");
}

static void misses(struct store *store) {
  static double times[5001];
  struct kernel k;
  for (int i = 0; i < 5001; i++) {
    make(&k, 1000000 + i);
    double begin = now();
    bool found = get(store, &k);
    times[i] = now() - begin;
    need(!found, "a miss");
  }
  row("a miss, warm", median(times, 5001) * 1e6, "us", "");
}

static void inserts(struct store *store, int from, int to, const char *what) {
  double *times = malloc((size_t)(to - from) * sizeof *times);
  need(times != NULL, "memory");
  double begin = now();
  for (int i = from; i < to; i++) {
    double start = now();
    need(put(store, i), "an insert");
    times[i - from] = now() - start;
  }
  double all = now() - begin;
  row(what, median(times, to - from) * 1e6, "us", "");
  if (to - from > 1000)
    row("  all of them", all * 1e3, "ms", "");
  free(times);
}

static void sizes(struct store *store) {
  struct store_stats s;
  store_stats(store, &s);
  double n = (double)s.binaries;
  row("binary and source in their rows, per kernel", (double)s.stored_bytes / n, "B", "");
  row("the whole file per kernel, with keys, history and indices", (double)(s.file_bytes - s.free_bytes) / n,
      "B", "");
}

/* ---- many processes ------------------------------------------------------------------------------*/

static struct shared {
  volatile int go;
  int compiles, failed;
  double longest;
} * shared;

static void one_process(int seed) {
  while (!shared->go)
    usleep(200);
  double begin = now();
  struct store *store = open_file(file);
  for (int i = 0; i < LOOPS; i++) {
    struct kernel k;
    make(&k, i);
    if (get(store, &k))
      continue;
    enum store_lease lease = store_lease(store, &k.key);
    if (lease == STORE_LEASE_READY && get(store, &k))
      continue;
    usleep((useconds_t)COMPILE_US);
    __atomic_fetch_add(&shared->compiles, 1, __ATOMIC_SEQ_CST);
    if (!put(store, i))
      __atomic_fetch_add(&shared->failed, 1, __ATOMIC_SEQ_CST);
  }
  store_close(store);
  double seconds = now() - begin;
  if (seconds > shared->longest)
    shared->longest = seconds;
  (void)seed;
}

static void processes(const char *what) {
  char line[100];
  *shared = (struct shared){0};
  fflush(NULL);
  for (int i = 0; i < PROCESSES; i++)
    if (fork() == 0) {
      one_process(i);
      _exit(0);
    }
  double begin = now();
  shared->go = 1;
  while (wait(NULL) > 0)
    ;
  double all = now() - begin;
  snprintf(line, sizeof line, "%d processes, %s: until the last is done", PROCESSES, what);
  row(line, all * 1e3, "ms", "");
  snprintf(line, sizeof line, "  compiles of %d loops of %ld ms each", LOOPS, COMPILE_US / 1000);
  row(line, shared->compiles, "", *what == 'c' ? "target 5" : "target 0");
  need(shared->failed == 0, "a process that could not keep its binary");
}

int main(int argc, char **argv) {
  dl_iterate_phdr(take_code, NULL);
  if (argc == 4 && strcmp(argv[1], "first") == 0)
    return first_lookup(argv[2], atoi(argv[3]));
  char self[400];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  need(length > 0, "the program's own name");
  self[length] = '\0';
  const char *base = getenv("TMPDIR");
  snprintf(folder, sizeof folder, "%s/op2jit-bench-XXXXXX", base ? base : "/tmp");
  need(mkdtemp(folder) != NULL, "a folder for the file");
  snprintf(file, sizeof file, "%s/kernels.db", folder);
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  need(shared != MAP_FAILED, "shared memory");

  printf("kernel cache, kernels of %d bytes with %d bytes of source and %d columns; medians\n", KERNEL_BYTES,
         SOURCE_BYTES, COLUMNS);
  processes("cold");
  processes("warm");
  struct store *store = open_file(file);
  inserts(store, LOOPS, 100, "insert");
  warm_lookups(store, "lookup, warm, 100 entries", 100);
  store_close(store);
  first_lookups(self, "lookup, first in a process with opening, 100 entries", 100);
  store = open_file(file);
  inserts(store, 100, ENTRIES, "insert, up to 10000 entries");
  warm_lookups(store, "lookup, warm, 10000 entries", ENTRIES);
  misses(store);
  sizes(store);
  store_close(store);
  first_lookups(self, "lookup, first in a process with opening, 10000 entries", ENTRIES);

  char command[300];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  return system(command) != 0;
}
