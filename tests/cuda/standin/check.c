/* The checker: who touched each byte last, and whether something ordered that touch before this one. Threads
 * of a block are ordered by its barriers, lanes of a warp also by their meetings, blocks by what one hands to another (order.c). */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "standin.h"

enum { FINDINGS_SHOWN = 20 };

/* A mistake is made by many threads: it is shown once per kind and place. */
static struct {
  char *text;
  size_t length;
  int count, shown, total;
  struct {
    const char *kind;
    const void *place;
    int line;
  } known[FINDINGS_SHOWN];
} found;

static bool known(const char *kind, const void *place, int line) {
  for (int i = 0; i < found.shown; i++)
    if (found.known[i].kind == kind && found.known[i].place == place && found.known[i].line == line)
      return true;
  return found.shown >= FINDINGS_SHOWN;
}

/* The line of the generated source (or of the user's, by #line) that a place in the program came from. */
static void line_of(const void *place, char *out, size_t size) {
  snprintf(out, size, "?");
  const struct standin_module *m = running.launch ? running.launch->function->module : NULL;
  if (!m || !place)
    return;
  char command[200];
  snprintf(command, sizeof command, "addr2line -e /proc/%d/fd/%d 0x%lx 2>/dev/null", (int)getpid(), m->file,
           (unsigned long)((uintptr_t)place - m->offset - 1));
  FILE *pipe = popen(command, "r");
  if (!pipe)
    return;
  char line[240];
  if (fgets(line, sizeof line, pipe)) {
    line[strcspn(line, " \n")] = 0;
    const char *slash = strrchr(line, '/');
    snprintf(out, size, "%s", slash ? slash + 1 : line);
  }
  pclose(pipe);
}

static void keep(const char *line) {
  size_t length = strlen(line);
  char *text = realloc(found.text, found.length + length + 1);
  if (!text)
    return;
  memcpy(text + found.length, line, length + 1);
  found.text = text;
  found.length += length;
}

void finding(const char *kind, const void *place, int line, const char *format, ...) {
  found.count++;
  found.total++;
  if (known(kind, place, line))
    return;
  found.known[found.shown].kind = kind;
  found.known[found.shown].place = place;
  found.known[found.shown++].line = line;
  char where[256] = "?", what[400], whole[1000];
  va_list args;
  va_start(args, format);
  vsnprintf(what, sizeof what, format, args);
  va_end(args);
  if (line)
    snprintf(where, sizeof where, "line %d", line);
  else
    line_of(place, where, sizeof where);
  const char *kernel = running.launch ? running.launch->function->kernel->name : "-";
  snprintf(whole, sizeof whole, "standin: %s: %s: kernel %s, block %u, thread %d: %s\n", kind, where, kernel,
           running.block, running.thread ? running.thread->number : -1, what);
  keep(whole);
  if (!getenv("STANDIN_QUIET"))
    fputs(whole, stderr);
}

int finding_count(void) {
  return found.total;
}

int standin_findings(char *out, size_t size) {
  int count = found.count;
  if (out && size)
    snprintf(out, size, "%s", found.text ? found.text : "");
  free(found.text);
  found.text = NULL;
  found.length = 0;
  found.count = found.shown = 0;
  return count;
}

static bool same_warp(int a, int b) {
  return a / running.lanes == b / running.lanes;
}

/* Whether the touch `m` is of another thread, and unordered with the running one. */
static bool conflicts(const struct mark *m) {
  const struct thread_state *t = running.thread;
  if (m->launch != running.serial)
    return false;
  if (m->block != running.block)
    return !order_before(m);
  if (m->epoch != t->epoch || m->thread == t->number)
    return false;
  if (m->thread == -2)
    return true;
  /* The warp of a mark is in the high bits of its warp_epoch, also where the mark is of several lanes. */
  int other = m->thread >= 0 ? m->thread : (int)(m->warp_epoch >> 24) * running.lanes;
  if (same_warp(other, t->number))
    return (m->warp_epoch & 0xffffff) >= t->warp_epoch;
  return true;
}

/* Remember the running thread's touch; an older unordered one of the same nature is merged. */
static void remember(struct mark *m, int kind, const void *place) {
  const struct thread_state *t = running.thread;
  uint32_t warp = (uint32_t)(t->number / running.lanes) << 24;
  bool merge = m->launch == running.serial && m->kind == kind && conflicts(m);
  struct mark next = {.launch = running.serial,
                      .block = running.block,
                      .epoch = t->epoch,
                      .warp_epoch = warp | t->warp_epoch,
                      .thread = (int16_t)t->number,
                      .kind = (uint8_t)kind,
                      .place = place};
  if (merge) {
    if (m->block != running.block) {
      next.block = MARK_BLOCKS;
      next.epoch = m->epoch > t->epoch ? m->epoch : t->epoch;
    } else if (m->thread == -2 || m->warp_epoch >> 24 != next.warp_epoch >> 24)
      next.thread = -2;
    else
      next.thread = -1;
  }
  *m = next;
}

static void race(const struct mark *m, int kind, const void *place, const char *space, size_t offset) {
  static const char *const names[] = {"read", "write", "atomic", "-"};
  static const char kind_name[] = "race";
  char other[256] = "";
  if (!known(kind_name, place, 0))
    line_of(m->place, other, sizeof other);
  finding(kind_name, place, 0, "%s of %s byte %zu meets an unordered %s at %s", names[kind], space, offset,
          names[m->kind], other);
}

static void touch(struct shadow *shadow, size_t offset, unsigned size, int kind, const void *place,
                  const char *space) {
  bool told = false;
  unsigned undefined = 0;
  for (size_t i = offset; i < offset + size; i++) {
    struct shadow *s = &shadow[i];
    const struct mark *against = NULL;
    if (conflicts(&s->write) && !(kind == STANDIN_ATOMIC && s->write.kind == STANDIN_ATOMIC))
      against = &s->write;
    else if (kind != STANDIN_READ && conflicts(&s->read))
      against = &s->read;
    if (against && !told) {
      race(against, kind, place, space, i);
      told = true;
    }
    undefined += kind != STANDIN_WRITE && !s->defined;
    if (kind == STANDIN_READ) {
      remember(&s->read, kind, place);
    } else {
      remember(&s->write, kind, place);
      s->defined = 1;
    }
  }
  /* Additions to a type that no atomic knows read the whole word, and keep what is not theirs as it is. */
  if (kind == STANDIN_ATOMIC ? undefined == size : undefined > 0)
    finding("uninitialised", place, 0, "read of %s bytes %zu to %zu before anything wrote them", space,
            offset, offset + size - 1);
}

static void bounds(const void *place, const char *kind, uintptr_t address, unsigned size, const char *what) {
  finding(kind, place, 0, "%u bytes at %#lx: %s", size, (unsigned long)address, what);
  blocks_abort(CODE_ILLEGAL_ADDRESS);
}

/* Where the host may write memory of the device, as MPI does: a byte that no kernel has written and that is not as
 * it was when it was new says that it did. Which bytes it wrote besides cannot be seen. */
static void notice_host(struct region *r, uintptr_t address) {
  const unsigned char *bytes = (const unsigned char *)r->base;
  bool written = false;
  if (!standin_settings.reachable || r->shadow[address - r->base].defined)
    return;
  for (size_t i = 0; i < r->bytes && !written; i++)
    written = bytes[i] != MEMORY_NEW && !r->shadow[i].defined;
  if (written)
    memory_define(r->base, r->bytes);
}

static void check_global(uintptr_t address, unsigned size, int kind, const void *place) {
  struct region *r = memory_find(address);
  char what[160];
  if (!r) {
    bounds(place, "out of bounds", address, size, "between allocations");
  } else if (!r->live) {
    snprintf(what, sizeof what, "allocation %d of %zu bytes has been freed", r->serial, r->bytes);
    bounds(place, "use after free", address, size, what);
  } else if (address + size > r->base + r->bytes) {
    snprintf(what, sizeof what, "byte %zu of allocation %d, which has %zu", (size_t)(address - r->base),
             r->serial, r->bytes);
    bounds(place, "out of bounds", address, size, what);
  } else if (r->shadow) {
    char space[32];
    notice_host(r, address);
    snprintf(space, sizeof space, "allocation %d", r->serial);
    if (count_is_on())
      count_access(address, size, kind, place);
    touch(r->shadow, address - r->base, size, kind, place, space);
    if (kind == STANDIN_ATOMIC)
      order_atomic(address);
  }
}

void check_access(const void *pointer, unsigned size, int kind, const void *place) {
  uintptr_t address = (uintptr_t)pointer;
  if (kind == STANDIN_FENCE) {
    order_fence();
    return;
  }
  if (kind == STANDIN_WAIT) {
    running.thread->waited = true;
    return;
  }
  if (address - (uintptr_t)running.stacks < running.stacks_bytes)
    return;
  const struct standin_module *m = running.launch->function->module;
  const struct standin_program *p = m->program;
  extern struct standin_machine standin_machine;
  uintptr_t machine = (uintptr_t)&standin_machine;
  if ((address >= machine && address < machine + sizeof standin_machine) || address == (uintptr_t)p->machine)
    return;
  if ((size & (size - 1)) == 0 && size <= 16 && address % size != 0) {
    finding("misaligned", place, 0, "%u bytes at %#lx", size, (unsigned long)address);
    blocks_abort(CODE_MISALIGNED);
  }
  if (kind == STANDIN_ALIGN)
    return;
  size_t dynamic = address - (uintptr_t)running.dynamic, fixed = address - (uintptr_t)p->shared_first;
  if (running.launch->dependent && !running.thread->waited && memory_in_arena(address))
    finding("no wait", place, 0, "memory is touched before it waits for the launch before it");
  if (memory_in_arena(address)) {
    check_global(address, size, kind, place);
  } else if (dynamic < running.launch->dynamic_bytes) {
    if (dynamic + size > running.launch->dynamic_bytes)
      bounds(place, "out of bounds", address, size, "beyond the dynamic shared memory");
    touch(running.dynamic_shadow, dynamic, size, kind, place, "shared");
  } else if (fixed < (size_t)(p->shared_last - p->shared_first)) {
    touch(running.static_shadow, fixed, size, kind, place, "static shared");
  } else if (address >= m->first && address < m->last) {
    if (kind != STANDIN_READ)
      bounds(place, "out of bounds", address, size, "constant memory is read only");
  } else {
    bounds(place, dynamic + 65536 < 4 * 65536 ? "out of bounds" : "host pointer", address, size,
           dynamic + 65536 < 4 * 65536 ? "beside the dynamic shared memory" : "no memory of the device");
  }
}
