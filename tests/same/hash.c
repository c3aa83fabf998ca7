/* Put between a sample and the library (LD_PRELOAD): before op_exit it prints one hash of all dats that were declared.
 * One process. */
#include <dlfcn.h>
#include <op2jit.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 256 };
static struct {
  op_dat dat;
  size_t bytes;
} known[MOST];
static int count;

/* C has no conversion from a pointer to an object. */
static void find(const char *name, void *function) {
  void *found = dlsym(RTLD_NEXT, name);
  if (!found)
    abort();
  memcpy(function, &found, sizeof found);
}

static size_t size_of(const char *type) {
  static const struct {
    const char *name;
    size_t size;
  } sizes[] = {{"double", 8},    {"float", 4}, {"int", 4},  {"uint", 4}, {"unsigned int", 4},
               {"long long", 8}, {"bool", 1},  {"char", 1}, {"short", 2}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    if (strncmp(type, sizes[i].name, strlen(sizes[i].name)) == 0)
      return sizes[i].size;
  abort();
}

#pragma GCC visibility push(default)
op_dat op2jit_decl_dat_typed(op_set set, int dim, const char *type, const void *data, const char *name,
                             const char *is) {
  op_dat (*declare)(op_set, int, const char *, const void *, const char *, const char *);
  find("op2jit_decl_dat_typed", &declare);
  const op_dat dat = declare(set, dim, type, data, name, is);
  if (dat && count < MOST) {
    known[count].dat = dat;
    known[count++].bytes = (size_t)op_get_size(set) * (size_t)dim * size_of(type);
  }
  return dat;
}

int op_exit(void) {
  int (*end)(void);
  uint64_t hash = 14695981039346656037u;
  find("op2jit_exit", &end);
  for (int d = 0; d < count; d++) {
    unsigned char *values = malloc(known[d].bytes + 1);
    if (!values || (op_fetch_data)(known[d].dat, values) != OP_OK)
      abort();
    for (size_t i = 0; i < known[d].bytes; i++)
      hash = (hash ^ values[i]) * 1099511628211u;
    free(values);
  }
  if (count)
    printf("bits %016llx\n", (unsigned long long)hash);
  return end();
}
#pragma GCC visibility pop
