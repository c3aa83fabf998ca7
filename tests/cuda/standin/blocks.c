/* The machine: blocks one after another, the threads of a block as fibers that run until they have to meet
 * others. The order of blocks and threads is a permutation by the seed. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "fiber.h"
#include "standin.h"

enum { MAX_THREADS = 1024, STACK = 128 * 1024, SHARED = 256 * 1024, GUARD = 4096 };

enum fiber_state { FIBER_NEW, FIBER_READY, FIBER_WAITING, FIBER_DONE };

struct fiber {
  struct thread_state thread;
  enum fiber_state state;
  struct standin_dim index;
  void *sp;
  int stack;
  int meeting, line, width;
  unsigned lane;
  unsigned long long mask, value, result;
};

struct standin_machine standin_machine;
struct running running;

static struct {
  struct fiber fibers[MAX_THREADS];
  int order[MAX_THREADS];
  int nthreads, live;
  struct fiber *current;
  void *scheduler_sp;
  char *stacks;
  int free_stacks[MAX_THREADS], nfree;
  char *shared; /* dynamic shared memory ends at its end */
  unsigned long long random;
  uint32_t serial;
  int code; /* how the launch ended */
} machine;

static void to_scheduler(void) {
  void *unused;
  fiber_switch(machine.current ? &machine.current->sp : &unused, machine.scheduler_sp);
}

void blocks_abort(int code) {
  machine.code = code;
  to_scheduler();
  abort();
}

static void fiber_main(void) {
  running.launch->function->kernel->run(running.launch->parameters);
  if (running.launch->dependent && !machine.current->thread.waited)
    finding("no wait", NULL, 0, "it may begin before the launch before it has ended, and does not wait");
  machine.current->state = FIBER_DONE;
  to_scheduler();
  abort();
}

static void start(struct fiber *f) {
  f->stack = machine.free_stacks[--machine.nfree];
  f->sp = fiber_begin(machine.stacks + (size_t)(f->stack + 1) * STACK, fiber_main);
}

static void resume(struct fiber *f) {
  if (f->state == FIBER_NEW)
    start(f);
  f->state = FIBER_READY;
  machine.current = f;
  running.thread = &f->thread;
  standin_machine.thread = f->index;
  fiber_switch(&machine.scheduler_sp, f->sp);
  machine.current = NULL;
  if (f->state == FIBER_DONE) {
    machine.free_stacks[machine.nfree++] = f->stack;
    machine.live--;
  }
}

static unsigned long long meet(int meeting, unsigned long long mask, unsigned long long value, unsigned lane,
                               int width, int line) {
  struct fiber *f = machine.current;
  f->meeting = meeting, f->mask = mask, f->value = value, f->lane = lane, f->width = width, f->line = line;
  f->state = FIBER_WAITING;
  to_scheduler();
  return f->result;
}

static void trap(const char *what, int line) {
  finding("trap", NULL, line, "%s", what);
  blocks_abort(CODE_ASSERT);
}

/* ---- meetings ---- */
static int source_lane(const struct fiber *f, int lane) {
  int width = f->width, first = lane / width * width, to = lane;
  switch (f->meeting) {
  case STANDIN_SHUFFLE: to = first + (int)(f->lane % (unsigned)width); break;
  case STANDIN_SHUFFLE_UP: to = lane - (int)f->lane; break;
  case STANDIN_SHUFFLE_DOWN: to = lane + (int)f->lane; break;
  case STANDIN_SHUFFLE_XOR: to = lane ^ (int)f->lane; break;
  default: break;
  }
  return to < first || to >= first + width ? lane : to;
}

static void tell(struct fiber *f, const char *kind, const char *what) {
  running.thread = &f->thread;
  finding(kind, NULL, f->line, "%s", what);
}

/* All lanes that f's mask names wait at the same operation: hand out the results. */
static bool warp_meets(struct fiber *warp, int lanes, struct fiber *f) {
  const unsigned long long mask = f->mask;
  for (int i = 0; i < running.lanes; i++)
    if (mask >> i & 1) {
      struct fiber *g = i < lanes ? &warp[i] : NULL;
      if (!g || g->state != FIBER_WAITING || g->meeting != f->meeting || g->mask != mask ||
          g->line != f->line)
        return false;
    }
  unsigned long long ballot = 0;
  uint32_t epoch = 0;
  for (int i = 0; i < lanes; i++)
    if (mask >> i & 1) {
      ballot |= (unsigned long long)(warp[i].value & 1) << i;
      epoch = warp[i].thread.warp_epoch > epoch ? warp[i].thread.warp_epoch : epoch;
    }
  for (int i = 0; i < lanes; i++)
    if (mask >> i & 1) {
      struct fiber *g = &warp[i];
      int from = source_lane(g, i);
      if (!(mask >> from & 1)) {
        tell(g, "wrong mask", "a shuffle reads a lane that its mask does not name");
        from = i;
      }
      g->result = g->meeting == STANDIN_BALLOT ? ballot : warp[from].value;
    }
  for (int i = 0; i < lanes; i++)
    if (mask >> i & 1) {
      warp[i].state = FIBER_READY;
      warp[i].thread.warp_epoch = epoch + 1;
    }
  return true;
}

static bool warps_meet(void) {
  bool any = false;
  for (int first = 0; first < machine.nthreads; first += running.lanes) {
    int lanes = machine.nthreads - first < running.lanes ? machine.nthreads - first : running.lanes;
    struct fiber *warp = &machine.fibers[first];
    for (int i = 0; i < lanes; i++)
      if (warp[i].state == FIBER_WAITING && warp[i].meeting != STANDIN_BARRIER) {
        if (!(warp[i].mask >> i & 1)) {
          tell(&warp[i], "wrong mask", "a thread that its own mask does not name");
          machine.code = CODE_LAUNCH_FAILED;
          return false;
        }
        any |= warp_meets(warp, lanes, &warp[i]);
      }
  }
  return any;
}

/* Everyone waits at the barrier: let them go. Nobody can move but not all are there: a missing meeting. */
static void block_meets(void) {
  struct fiber *first = NULL, *odd = NULL;
  unsigned long long votes = 0;
  for (int i = 0; i < machine.nthreads; i++) {
    struct fiber *f = &machine.fibers[i];
    if (f->state == FIBER_DONE) {
      odd = odd ? odd : f;
      continue;
    }
    votes += f->value;
    first = first ? first : f;
    if (f->meeting != STANDIN_BARRIER || f->line != first->line)
      odd = f;
  }
  if (odd) {
    tell(first, "divergence",
         odd->state == FIBER_DONE ? "waits for threads of the block that have ended"
                                  : "threads of the block wait at different places");
    machine.code = CODE_LAUNCH_FAILED;
    return;
  }
  for (int i = 0; i < machine.nthreads; i++) {
    struct fiber *f = &machine.fibers[i];
    f->result = votes;
    f->state = FIBER_READY;
    f->thread.epoch++;
    f->thread.warp_epoch = 0;
  }
}

/* ---- blocks ---- */
static unsigned long long next_random(void) {
  machine.random ^= machine.random << 13;
  machine.random ^= machine.random >> 7;
  machine.random ^= machine.random << 17;
  return machine.random;
}

static void shuffle(int *order, int count) {
  for (int i = 0; i < count; i++)
    order[i] = i;
  for (int i = count - 1; standin_settings.seed && i > 0; i--) {
    int j = (int)(next_random() % (unsigned)(i + 1)), t = order[i];
    order[i] = order[j], order[j] = t;
  }
}

static bool prepare(void) {
  if (machine.stacks)
    return true;
  size_t stacks = (size_t)MAX_THREADS * STACK;
  char *p = mmap(NULL, stacks + SHARED + GUARD, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED)
    return false;
  for (int i = 0; i < MAX_THREADS; i++)
    mprotect(p + (size_t)i * STACK, GUARD, PROT_NONE);
  mprotect(p + stacks + SHARED, GUARD, PROT_NONE);
  machine.stacks = p;
  machine.shared = p + stacks;
  standin_machine.access = check_access;
  standin_machine.meet = meet;
  standin_machine.trap = trap;
  running.stacks = p;
  running.stacks_bytes = stacks;
  running.dynamic_shadow = memory_shadow(SHARED);
  running.static_shadow = memory_shadow(SHARED);
  return running.dynamic_shadow && running.static_shadow;
}

/* Each block has shared memory of its own. */
static void undefine(struct shadow *shadow, size_t bytes) {
  if (standin_settings.checked)
    memset(shadow, 0, bytes * sizeof *shadow);
}

static void block_start(const struct launch *l, uint32_t number) {
  const struct standin_program *p = l->function->module->program;
  size_t fixed = (size_t)(p->shared_last - p->shared_first);
  memset(standin_machine.dynamic, 0xFF, l->dynamic_bytes);
  memset(p->shared_first, 0xFF, fixed);
  undefine(running.dynamic_shadow, l->dynamic_bytes);
  undefine(running.static_shadow, fixed);
  running.block = number;
  order_block(number);
  standin_machine.block = (struct standin_dim){number % l->grid.x, number / l->grid.x % l->grid.y,
                                               number / l->grid.x / l->grid.y};
  machine.live = machine.nthreads;
  machine.nfree = 0;
  for (int i = MAX_THREADS - 1; i >= 0; i--)
    machine.free_stacks[machine.nfree++] = i;
  for (int i = 0; i < machine.nthreads; i++) {
    struct fiber *f = &machine.fibers[i];
    f->thread = (struct thread_state){.number = i};
    f->state = FIBER_NEW;
    unsigned x = l->block.x, y = l->block.y, n = (unsigned)i;
    f->index = (struct standin_dim){n % x, n / x % y, n / x / y};
  }
  shuffle(machine.order, machine.nthreads);
}

static void block_run(void) {
  while (machine.live > 0 && machine.code == CODE_OK) {
    bool ran = false;
    for (int i = 0; i < machine.nthreads && machine.code == CODE_OK; i++) {
      struct fiber *f = &machine.fibers[machine.order[i]];
      if (f->state == FIBER_NEW || f->state == FIBER_READY) {
        resume(f);
        ran = true;
      }
    }
    if (machine.live > 0 && machine.code == CODE_OK && !warps_meet() && !ran && machine.code == CODE_OK)
      block_meets();
  }
}

/* ---- faults ---- */
static void on_fault(int signal, siginfo_t *info, void *context) {
  ucontext_t *u = context;
  if (!machine.current) { /* not a kernel's: the usual end */
    struct sigaction usual = {.sa_handler = SIG_DFL};
    sigaction(signal, &usual, NULL);
    return;
  }
  finding("fault", fiber_place(u), 0, "signal %d at address %p", signal, info->si_addr);
  machine.code = CODE_ILLEGAL_ADDRESS;
  fiber_divert(u, to_scheduler);
}

static struct sigaction old_segv, old_bus, old_fpe;

static void catch_faults(bool on) {
  static char alternate[65536];
  static stack_t old_stack;
  if (on) {
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    sigaltstack(&stack, &old_stack);
    struct sigaction a = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigaction(SIGSEGV, &a, &old_segv);
    sigaction(SIGBUS, &a, &old_bus);
    sigaction(SIGFPE, &a, &old_fpe);
  } else {
    sigaction(SIGSEGV, &old_segv, NULL);
    sigaction(SIGBUS, &old_bus, NULL);
    sigaction(SIGFPE, &old_fpe, NULL);
    sigaltstack(&old_stack, NULL);
  }
}

static int *block_order(uint32_t count) {
  int *order = malloc(sizeof *order * count);
  if (order)
    shuffle(order, (int)count);
  return order;
}

static void run_all(const struct launch *l, const int *order, uint32_t count) {
  for (uint32_t i = 0; i < count && machine.code == CODE_OK; i++) {
    block_start(l, (uint32_t)order[i]);
    block_run();
    count_block();
  }
}

int blocks_run(const struct launch *l) {
  if (!prepare())
    return CODE_OUT_OF_MEMORY;
  uint32_t count = l->grid.x * l->grid.y * l->grid.z;
  machine.random = standin_settings.seed * 0x9E3779B97F4A7C15ULL + 1;
  int *order = block_order(count);
  if (!order || !order_launch(count)) {
    free(order);
    return CODE_OUT_OF_MEMORY;
  }
  running.lanes = l->function->module->program->lanes;
  machine.nthreads = (int)(l->block.x * l->block.y * l->block.z);
  machine.code = CODE_OK;
  running.launch = l;
  running.serial = ++machine.serial;
  running.dynamic = (unsigned char *)machine.shared + SHARED - (l->dynamic_bytes + 15) / 16 * 16;
  standin_machine.dynamic = running.dynamic;
  standin_machine.block_dim = l->block;
  standin_machine.grid_dim = l->grid;
  int before = finding_count();
  catch_faults(true);
  run_all(l, order, count);
  catch_faults(false);
  running.launch = NULL;
  running.thread = NULL;
  free(order);
  if (machine.code == CODE_OK && finding_count() != before)
    machine.code = CODE_LAUNCH_FAILED;
  return machine.code;
}
