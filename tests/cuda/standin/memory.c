/* Device memory: one reserved range of addresses, every allocation between unmapped pages, no address given
 * twice, freed memory unmapped. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "standin.h"

enum { PAGE = 4096 };
#ifdef __aarch64__ /* an emulator keeps books on each page */
static const size_t ARENA = (size_t)1 << 34;
#else
static const size_t ARENA = (size_t)1 << 42;
#endif

static struct {
  char *base;
  size_t top;
  struct region *regions; /* by address */
  size_t count, capacity;
  size_t used;
  struct region *last; /* found before */
} memory;

static size_t rounded(size_t bytes) {
  return (bytes + PAGE - 1) / PAGE * PAGE;
}

static bool prepare(void) {
  if (!memory.base) {
    void *p = mmap(NULL, ARENA, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
      return false;
    memory.base = p;
  }
  if (memory.count == memory.capacity) {
    size_t capacity = memory.capacity ? 2 * memory.capacity : 64;
    struct region *regions = realloc(memory.regions, capacity * sizeof *regions);
    if (!regions)
      return false;
    memory.regions = regions;
    memory.capacity = capacity;
    memory.last = NULL;
  }
  return true;
}

struct shadow *memory_shadow(size_t bytes) {
  void *p = mmap(NULL, rounded(bytes * sizeof(struct shadow)) + PAGE, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? NULL : p;
}

/* `file` -1: none. */
static struct region *add_region(size_t bytes, bool pinned, int file) {
  if (!prepare() || memory.top + rounded(bytes) + PAGE > ARENA)
    return NULL;
  char *base = memory.base + memory.top + PAGE;
  if (file < 0
          ? mprotect(base, rounded(bytes), PROT_READ | PROT_WRITE) != 0
          : mmap(base, rounded(bytes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)
    return NULL;
  struct region *r = &memory.regions[memory.count++];
  *r = (struct region){
      .base = (uintptr_t)base, .bytes = bytes, .mapped = rounded(bytes), .live = true, .pinned = pinned};
  r->serial = (int)memory.count;
  if (standin_settings.checked && !pinned)
    r->shadow = memory_shadow(bytes);
  memory.top += rounded(bytes) + PAGE;
  return r;
}

struct region *memory_new(size_t bytes, bool pinned) {
  if (!bytes ||
      (!pinned && (bytes > standin_settings.memory || memory.used > standin_settings.memory - bytes)))
    return NULL;
  struct region *r = add_region(bytes, pinned, -1);
  if (!r)
    return NULL;
  memset((void *)r->base, MEMORY_NEW, bytes);
  if (!pinned)
    memory.used += bytes;
  return r;
}

/* Nobody sees others write there: all of it counts as written. */
int memory_give(uintptr_t address) {
  struct region *r = memory_find(address);
  if (!r || !r->live || r->pinned || r->taken || r->base != address)
    return -1;
  if (r->file)
    return r->file - 1;
  const int file = memfd_create("standin-memory", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, (off_t)r->mapped) != 0 ||
      pwrite(file, (void *)r->base, r->mapped, 0) != (ssize_t)r->mapped ||
      mmap((void *)r->base, r->mapped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)
    return -1;
  r->file = file + 1;
  memory_define(r->base, r->bytes);
  return file;
}

struct region *memory_take(int file, size_t bytes) {
  struct region *r = add_region(bytes, false, file);
  if (!r)
    return NULL;
  r->taken = true;
  memory_define(r->base, bytes);
  return r;
}

bool memory_free(uintptr_t address, bool pinned) {
  struct region *r = memory_find(address);
  if (!r || !r->live || r->base != address || r->pinned != pinned)
    return false;
  r->live = false;
  mmap((void *)r->base, r->mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (r->file)
    close(r->file - 1);
  if (r->shadow)
    munmap(r->shadow, rounded(r->bytes * sizeof(struct shadow)) + PAGE);
  r->shadow = NULL;
  if (!pinned && !r->taken)
    memory.used -= r->bytes;
  return true;
}

static bool holds(const struct region *r, uintptr_t address) {
  return address >= r->base && address < r->base + r->mapped;
}

struct region *memory_find(uintptr_t address) {
  if (memory.last && holds(memory.last, address))
    return memory.last;
  size_t low = 0, high = memory.count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (memory.regions[middle].base + memory.regions[middle].mapped <= address)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == memory.count || !holds(&memory.regions[low], address))
    return NULL;
  return memory.last = &memory.regions[low];
}

bool memory_in_arena(uintptr_t address) {
  return memory.base && address >= (uintptr_t)memory.base && address < (uintptr_t)memory.base + ARENA;
}

size_t standin_live(void) {
  size_t bytes = 0;
  for (size_t i = 0; i < memory.count; i++)
    bytes += memory.regions[i].live ? memory.regions[i].bytes : 0;
  return bytes;
}

size_t memory_used(void) {
  return memory.used;
}

void memory_define(uintptr_t address, size_t bytes) {
  struct region *r = memory_find(address);
  if (!r || !r->shadow)
    return;
  for (size_t i = address - r->base; i < address - r->base + bytes && i < r->bytes; i++)
    r->shadow[i].defined = 1;
}
