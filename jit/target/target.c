#include "jit/target.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <pthread.h>
#include <string.h>

#include "jit/load/load_vector.h"
#include "jit/target/row.h"

static const struct target_row *const rows[] = {&target_x86_64, &target_aarch64};
enum { ROWS = sizeof rows / sizeof *rows };

/* Both are empty on a processor that no row knows: nothing is compiled there (load_missing). */
static void describe_host(struct text *cpu, struct text *features) {
  text_clear(cpu);
  text_clear(features);
  for (int i = 0; i < ROWS; i++)
    if (rows[i]->describe)
      rows[i]->describe(cpu, features);
}

/* Asked once: on a virtual machine each of the processor's answers comes from its host, and takes tens of
 * microseconds. Empty if there was no memory then. */
static struct { char cpu[32], features[1024]; } host;

static void find_host(void) {
  struct text cpu = {0}, features = {0};
  describe_host(&cpu, &features);
  if (text_ok(&cpu) && text_ok(&features) && cpu.length < sizeof host.cpu &&
      features.length < sizeof host.features) {
    memcpy(host.cpu, text_str(&cpu), cpu.length);
    memcpy(host.features, text_str(&features), features.length);
  }
  text_free(&cpu);
  text_free(&features);
}

void target_host(struct text *cpu, struct text *features) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, find_host);
  if (!host.cpu[0]) {
    describe_host(cpu, features);
    return;
  }
  text_clear(cpu);
  text_add(cpu, host.cpu);
  text_clear(features);
  text_add(features, host.features);
}

int target_vector_bytes(const char *features) {
  for (int i = 0; i < ROWS; i++) {
    const char *mark = strstr(features, rows[i]->mark);
    if (mark && mark > features)
      return rows[i]->vector_bytes(features);
  }
  return 16; /* nothing is known of it */
}

void target_mathematics(struct text *out) {
  const char *library = load_vector_library();
  if (strncmp(library, "libmvec", 7) == 0) {
    text_addf(out, "libmvec of glibc %s", gnu_get_libc_version());
    return;
  }
  void *found = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  text_add(out, found ? library : "no vector functions");
  if (found)
    dlclose(found);
}
