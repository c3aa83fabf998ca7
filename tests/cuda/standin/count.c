/* Counts what the device's second-level cache would have to do, were there none before it: each load, store, or atomic
 * operation, of a warp is one operation for each sector of 32 bytes that it touches; atomic operations of several lanes on one address are one each.
 * Threads of the stand-in run one after the other, so that what belongs together is found when the block has ended:
 * accesses of one warp, from one place of the program, between the same two meetings of its threads, each lane's first
 * one, second one and so on. */
#include <stdlib.h>

#include "standin.h"

enum { SECTOR = 32 };

struct access {
  const void *place;
  uintptr_t address;
  unsigned size;
  uint64_t epoch;   /* how many meetings of its threads came before */
  int thread, turn; /* turn: how many accesses of this thread from this place in this epoch came before */
  int kind;
  long number; /* in the order of the block */
};

static struct {
  bool on;
  struct access *items;
  long count, room;
  struct standin_counts sums;
} counted;

void standin_count(int on) {
  counted.on = on;
  counted.sums = (struct standin_counts){0};
}

void standin_counted(struct standin_counts *out) {
  *out = counted.sums;
}

bool count_is_on(void) {
  return counted.on;
}

void count_access(uintptr_t address, unsigned size, int kind, const void *place) {
  if (counted.count == counted.room) {
    const long room = counted.room ? 2 * counted.room : 4096;
    struct access *items = realloc(counted.items, (size_t)room * sizeof *items);
    if (!items)
      abort();
    counted.items = items;
    counted.room = room;
  }
  counted.items[counted.count] =
      (struct access){.place = place,
                      .address = address,
                      .size = size,
                      .epoch = (uint64_t)running.thread->epoch << 32 | running.thread->warp_epoch,
                      .thread = running.thread->number,
                      .kind = kind,
                      .number = counted.count};
  counted.count++;
}

static int compare(long a, long b) {
  return (a > b) - (a < b);
}

static int by_thread(const void *a, const void *b) {
  const struct access *x = a, *y = b;
  const int place = compare((long)x->place, (long)y->place), kind = compare(x->kind, y->kind),
            thread = compare(x->thread, y->thread);
  return place ? place : kind ? kind : thread ? thread : compare(x->number, y->number);
}

static int by_instruction(const void *a, const void *b) {
  const struct access *x = a, *y = b;
  const int place = compare((long)x->place, (long)y->place), kind = compare(x->kind, y->kind),
            warp = compare(x->thread / running.lanes, y->thread / running.lanes),
            epoch = compare((long)x->epoch, (long)y->epoch), turn = compare(x->turn, y->turn);
  return place   ? place
         : kind  ? kind
         : warp  ? warp
         : epoch ? epoch
         : turn  ? turn
                 : compare((long)x->address, (long)y->address);
}

static bool same_instruction(const struct access *x, const struct access *y) {
  return x->place == y->place && x->kind == y->kind && x->epoch == y->epoch && x->turn == y->turn &&
         x->thread / running.lanes == y->thread / running.lanes;
}

/* Accesses of one instruction, by address: sectors that none before has touched; an atomic operation also where more
 * lanes name its address than any other one of the sector. */
static void add(const struct access *all, long from, long end) {
  uintptr_t done = 0; /* the sector behind the last */
  long most = 0, lanes = 0;
  for (long i = from; i < end; i++) {
    const uintptr_t first = all[i].address / SECTOR, behind = (all[i].address + all[i].size - 1) / SECTOR + 1;
    const long fresh = behind <= done ? 0 : (long)(behind - (first > done ? first : done));
    lanes = i > from && all[i].address == all[i - 1].address ? lanes + 1 : 1;
    const bool more = fresh > 0 || lanes > most;
    most = fresh > 0 ? 1 : more ? lanes : most;
    if (all[i].kind == STANDIN_ATOMIC)
      counted.sums.atomics += fresh > 0 ? fresh : more;
    else
      *(all[i].kind == STANDIN_READ ? &counted.sums.loads : &counted.sums.stores) += fresh;
    done = behind > done ? behind : done;
  }
}

void count_block(void) {
  struct access *items = counted.items;
  const long n = counted.count;
  if (!n)
    return;
  qsort(items, (size_t)n, sizeof *items, by_thread);
  for (long i = 1; i < n; i++)
    if (items[i].place == items[i - 1].place && items[i].kind == items[i - 1].kind &&
        items[i].thread == items[i - 1].thread && items[i].epoch == items[i - 1].epoch)
      items[i].turn = items[i - 1].turn + 1;
  qsort(items, (size_t)n, sizeof *items, by_instruction);
  for (long from = 0, end; from < n; from = end) {
    for (end = from + 1; end < n && same_instruction(&items[from], &items[end]);)
      end++;
    add(items, from, end);
  }
  counted.count = 0;
}
