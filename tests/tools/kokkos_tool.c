/* A tool with functions of the Kokkos Tools interface, as its profilers have them: writes what it is told to the file
 * that OP2_TEST_SAID names. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct space {
  char name[64];
};

void kokkosp_init_library(int number, uint64_t version, uint32_t devices, void *info);
void kokkosp_finalize_library(void);
void kokkosp_begin_parallel_for(const char *name, uint32_t device, uint64_t *id);
void kokkosp_end_parallel_for(uint64_t id);
void kokkosp_begin_deep_copy(struct space to, const char *to_name, const void *to_data, struct space from,
                             const char *from_name, const void *from_data, uint64_t bytes);

static FILE *said;
static uint64_t next = 40;

void kokkosp_init_library(int number, uint64_t version, uint32_t devices, void *info) {
  said = fopen(getenv("OP2_TEST_SAID"), "w");
  fprintf(said, "init %d %d %u %d\n", number, version > 20000000, devices, info == NULL);
}

void kokkosp_finalize_library(void) {
  fprintf(said, "finalize\n");
  fclose(said);
}

void kokkosp_begin_parallel_for(const char *name, uint32_t device, uint64_t *id) {
  *id = next++;
  fprintf(said, "begin %s %u %" PRIu64 "\n", name, device, *id);
}

void kokkosp_end_parallel_for(uint64_t id) {
  fprintf(said, "end %" PRIu64 "\n", id);
}

void kokkosp_begin_deep_copy(struct space to, const char *to_name, const void *to_data, struct space from,
                             const char *from_name, const void *from_data, uint64_t bytes) {
  (void)to_data, (void)from_data, (void)from_name;
  fprintf(said, "copy %s %s %s %" PRIu64 "\n", to_name, to.name, from.name, bytes);
}
