/* Schedules run by the executor: every element once, increments right, reductions with the same bits on any number of
 * threads. */

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "expect.h"
#include "mesh.h"
#include "mesh/data.h"

static const int counts[] = {1, 2, 3, 7, 16};
enum { ncounts = sizeof counts / sizeof *counts };

static struct team *open_team(int threads) {
  struct error err = {0};
  struct team *team = NULL;
  expect_ok(team_open(&team, TEAM_DEFAULT, threads, &err), &err);
  error_free(&err);
  return team;
}

/* frame: values, targets, table, sum. Increments two targets without atomics, and a global. */
static void increment(void *const *frame, const int *list, long begin, long end) {
  const double *values = frame[0];
  double *targets = frame[1], *sum = frame[3];
  const int *table = frame[2];
  (void)list;
  for (long e = begin; e < end; e++) {
    targets[table[2 * e]] += values[e];
    targets[table[2 * e + 1]] -= values[e];
    *sum += values[e] * values[e];
  }
}

struct problem {
  long size, ntargets;
  int *table;
  double *values, *targets;
};

static void make(struct problem *p, long size) {
  uint64_t seed = 99;
  p->size = size;
  p->ntargets = size / 2 + 1;
  p->table = mesh_table(size, 2, p->ntargets, MESH_NEAR, 7);
  p->values = calloc((size_t)size, sizeof *p->values);
  p->targets = calloc((size_t)p->ntargets, sizeof *p->targets);
  for (long e = 0; e < size; e++)
    p->values[e] = (double)random_next(&seed) / 1e7 + 1e-3;
}

static void clear(struct problem *p) {
  free(p->table);
  free(p->values);
  free(p->targets);
}

/* Runs and returns the sum, slots combined in their order. Several slots may share a line. */
static double run(struct problem *p, const struct schedule *s, int threads, size_t slot_bytes) {
  const struct reduction sum = {.index = 3, .offset = 0, .bytes = sizeof(double)};
  void *const frame[] = {p->values, p->targets, p->table, NULL};
  unsigned char *slots = calloc((size_t)s->nslots, slot_bytes);
  const struct work work = {.function = increment,
                            .frame = frame,
                            .nframe = 4,
                            .reductions = &sum,
                            .nreductions = 1,
                            .slots = slots,
                            .slot_bytes = slot_bytes};
  struct execution e = {.schedule = s, .works = &work, .nworks = 1, .threads = threads};
  struct team *team = open_team(threads);
  memset(p->targets, 0, (size_t)p->ntargets * sizeof *p->targets);
  executor_run(team, &e);
  team_close(team);
  double total = 0;
  for (int i = 0; i < s->nslots; i++)
    total += *(double *)(slots + (size_t)i * slot_bytes);
  free(slots);
  return total;
}

TEST(same_bits) {
  struct error err = {0};
  struct problem p;
  make(&p, 20000);
  const struct plan_column columns[] = {
      {.table = p.table, .arity = 2, .column = 0, .target = 1, .target_size = p.ntargets},
      {.table = p.table, .arity = 2, .column = 1, .target = 1, .target_size = p.ntargets}};
  static const int blocks[] = {1, 13, 64, 256, 1000, 20000};
  for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) {
    struct plan_request r = {.size = p.size, .block_size = blocks[b], .columns = columns, .ncolumns = 2};
    struct plan plan;
    struct schedule s;
    double *first = calloc((size_t)p.ntargets, sizeof *first), sum = 0;
    expect_ok(plan_build(&plan, &r, NULL, &err), &err);
    expect_ok(schedule_colours(&s, &plan, NULL, &err), &err);
    for (int i = 0; i < ncounts; i++) {
      double got = run(&p, &s, counts[i], (size_t)16 << i % 3);
      if (i == 0) {
        sum = got;
        memcpy(first, p.targets, (size_t)p.ntargets * sizeof *first);
      }
      assert_memory_equal(&got, &sum, sizeof sum);
      assert_memory_equal(first, p.targets, (size_t)p.ntargets * sizeof *first);
    }
    free(first);
    schedule_free(&s);
    plan_free(&plan);
  }
  clear(&p);
  error_free(&err);
}

/* Counts visits; a list function where there is a list. */
static void count_visits(void *const *frame, const int *list, long begin, long end) {
  int *visits = frame[0];
  for (long i = begin; i < end; i++)
    visits[list ? list[i] : i]++;
}

/* Messages get on while a loop runs: early, not after each of many items, and not once all are there. */
struct asked {
  int polls, left;
};

static bool ask(void *context) {
  struct asked *a = context;
  a->polls++;
  return --a->left > 0;
}

static void count_calls(void *const *frame, const int *list, long begin, long end) {
  int *calls = frame[1];
  count_visits(frame, list, begin, end);
  ++*calls;
}

TEST(messages_get_on_between_items) {
  enum { elements = 100000, item = 64, lasting = 1 << 30 };
  const int left[] = {lasting, 1, 3};
  struct error err = {0};
  struct schedule s;
  expect_ok(schedule_chunks(&s, elements, item, &err), &err);
  assert_true(s.nitems > 1000);
  for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
    int *visits = calloc(elements, sizeof *visits), calls = 0;
    void *const frame[] = {visits, &calls};
    struct asked asked = {.left = left[i]};
    const struct work work = {.function = count_calls, .frame = frame, .nframe = 2};
    executor_run(
        NULL,
        &(struct execution){
            .schedule = &s, .works = &work, .nworks = 1, .threads = 1, .poll = ask, .poll_context = &asked});
    for (long e = 0; e < elements; e++)
      assert_int_equal(visits[e], 1);
    assert_true(left[i] == lasting ? asked.polls >= 8 && asked.polls <= 40 : asked.polls == left[i]);
    assert_true(calls <= asked.polls + 1);
    free(visits);
  }
  schedule_free(&s);
  error_free(&err);
}

static void check_visits(const struct schedule *s, long size, int threads) {
  int *visits = calloc((size_t)size + 1, sizeof *visits);
  void *const frame[] = {visits};
  const struct work work = {.function = count_visits, .frame = frame, .nframe = 1};
  struct execution e = {.schedule = s, .works = &work, .nworks = 1, .threads = threads};
  struct team *team = open_team(threads);
  executor_run(team, &e);
  team_close(team);
  for (long i = 0; i < size; i++)
    assert_int_equal(visits[i], 1);
  assert_int_equal(visits[size], 0);
  free(visits);
}

TEST(every_element_once) {
  struct error err = {0};
  static const long sizes[] = {0, 1, 63, 64, 1000, 65536, 100001};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (int t = 0; t < ncounts; t++) {
      struct schedule s;
      struct plan_entry whole = {0};
      const struct plan_wish wish = {.request = {.size = sizes[i]}};
      expect_ok(strategy_whole.build(&whole, &wish, NULL, &err), &err);
      check_visits(&whole.schedule, sizes[i], counts[t]);
      plan_entry_clear(&whole);
      for (long chunk = 0; chunk <= sizes[i]; chunk = chunk * 3 + 7) {
        expect_ok(schedule_chunks(&s, sizes[i], chunk, &err), &err);
        check_visits(&s, sizes[i], counts[t]);
        schedule_free(&s);
      }
    }
  error_free(&err);
}

/* A second phase starts only when the first has ended, and owned items run on their owner. */
struct order {
  _Atomic int done, early, foreign;
  pthread_t owners[4];
};

static void first_phase(void *const *frame, const int *list, long begin, long end) {
  struct order *o = frame[0];
  (void)list;
  for (long i = begin; i < end; i++)
    o->done++;
  o->owners[begin / 10] = pthread_self();
}
static void second_phase(void *const *frame, const int *list, long begin, long end) {
  struct order *o = frame[0];
  (void)list;
  (void)end;
  if (o->done != 40)
    o->early++;
  if (!pthread_equal(o->owners[begin / 10], pthread_self()))
    o->foreign++;
}

TEST(phases_and_owners) {
  struct item items[8];
  struct phase phases[2] = {{0, 4, true}, {4, 4, true}};
  for (int i = 0; i < 8; i++)
    items[i] = (struct item){i % 4 * 10, i % 4 * 10 + 10, i / 4, i % 4, i};
  struct schedule s = {.items = items, .nitems = 8, .phases = phases, .nphases = 2, .nslots = 8};
  for (int threads = 1; threads <= 4; threads++) {
    struct team *team = open_team(threads);
    for (int round = 0; round < 100; round++) {
      struct order order = {0};
      void *const frame[] = {&order};
      const struct work works[] = {{.function = first_phase, .frame = frame, .nframe = 1},
                                   {.function = second_phase, .frame = frame, .nframe = 1}};
      struct execution e = {.schedule = &s, .works = works, .nworks = 2, .threads = threads};
      executor_run(team, &e);
      assert_int_equal(order.done, 40);
      assert_int_equal(order.early, 0);
      assert_int_equal(order.foreign, 0);
    }
    team_close(team);
  }
}

/* Two loops in tiles, as a chain would run them: the first writes what the second sums up in slots of its own,
 * next to it. Frames differ in length, and what follows one another but is not of the same work is never run as
 * one. */
enum { tiles = 12, tile = 64 };

static void write_tile(void *const *frame, const int *list, long begin, long end) {
  double *values = frame[0];
  (void)list;
  assert_int_equal(end - begin, tile);
  for (long e = begin; e < end; e++)
    values[e] = (double)e + 1;
}
static void sum_tile(void *const *frame, const int *list, long begin, long end) {
  double *values = frame[1], *sum = frame[2];
  (void)list;
  for (long e = begin; e < end; e++)
    *sum += values[e];
  assert_ptr_equal(frame[0], NULL);
}

TEST(works_of_one_owner_in_their_order) {
  struct item items[2 * tiles];
  struct phase phase = {0, 2 * tiles, true};
  for (int i = 0; i < tiles; i++) {
    items[2 * i] = (struct item){i * tile, (i + 1) * tile, 0, i / 4, 0};
    items[2 * i + 1] = (struct item){i * tile, (i + 1) * tile, 1, i / 4, i};
  }
  const struct schedule s = {.items = items, .nitems = 2 * tiles, .phases = &phase, .nphases = 1};
  const struct reduction reduction = {.index = 2, .bytes = sizeof(double)};
  for (int threads = 1; threads <= 4; threads++) {
    double values[tiles * tile] = {0}, sums[tiles] = {0};
    void *const first[] = {values}, *const second[] = {NULL, values, NULL};
    const struct work works[] = {{.function = write_tile, .frame = first, .nframe = 1},
                                 {.function = sum_tile,
                                  .frame = second,
                                  .nframe = 3,
                                  .reductions = &reduction,
                                  .nreductions = 1,
                                  .slots = (unsigned char *)sums,
                                  .slot_bytes = sizeof *sums}};
    struct team *team = open_team(threads);
    struct execution e = {.schedule = &s, .works = works, .nworks = 2, .threads = threads};
    executor_run(team, &e);
    for (int i = 0; i < tiles; i++)
      assert_true(sums[i] == tile * (i * tile + (tile + 1) / 2.0));
    team_close(team);
  }
}

TEST(small_sets_on_one_thread) {
  struct team *team = open_team(4);
  assert_int_equal(executor_threads(team, 100, 0), 1);
  assert_int_equal(executor_threads(team, 1000000, 0), 4);
  assert_int_equal(executor_threads(team, 1000000, 3), 3);
  assert_int_equal(executor_threads(team, 1000000, 9), 4);
  assert_int_equal(executor_threads(NULL, 1000000, 0), 1);
  team_close(team);
}

/* Enough for many threads, fewer and longer where each has results, whole strips, and never none. */
TEST(sizes_of_chunks) {
  static const struct {
    long size, plain, combining;
  } cases[] = {{0, 256, 256},       {1, 256, 256},         {20000, 256, 320},
               {100000, 448, 1600}, {1000000, 3968, 7872}, {16000000, 62528, 62528}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_int_equal(schedule_chunk_size(cases[i].size, false), cases[i].plain);
    assert_int_equal(schedule_chunk_size(cases[i].size, true), cases[i].combining);
  }
}

/* No thread of 64 gets an eighth more than its share of a set that is not small. */
TEST(chunks_are_shared_out_evenly) {
  enum { threads = 64 };
  for (long size = 262144; size < 300000000; size += 1 + size / 7)
    for (int combining = 0; combining < 2; combining++) {
      const long chunk = schedule_chunk_size(size, combining), chunks = (size + chunk - 1) / chunk;
      const long most = (chunks + threads - 1) / threads * chunk;
      assert_in_range(chunks, 1, 256);
      if (most > size / threads + size / threads / 8)
        fail_msg("%ld elements in chunks of %ld: one of %d threads gets %ld", size, chunk, threads, most);
    }
}

/* ---- first touch --------------------------------------------------------------------------------------*/

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
enum { parts = 3, elements = 1 << 20, page = 4096, pages = parts * (elements * 8 / page) };

static struct {
  unsigned char *memory;
  int thread_of_page[pages];
} touched;
static _Thread_local int my_number;

static void take_number(void *argument, int thread, int threads) {
  (void)argument;
  (void)threads;
  my_number = thread;
}

/* Whoever meets a page first meets it here. */
static void first_touch(int signal_number, siginfo_t *info, void *context) {
  (void)context;
  const size_t at = (size_t)((unsigned char *)info->si_addr - touched.memory) / page;
  if (at >= pages)
    signal(signal_number, SIG_DFL);
  else {
    touched.thread_of_page[at] = my_number;
    mprotect(touched.memory + at * page, page, PROT_READ | PROT_WRITE);
  }
}

static void note_thread(void *const *frame, const int *list, long begin, long end) {
  (void)list;
  for (long e = begin; e < end; e++)
    ((int *)frame[0])[e] = my_number;
}

/* Which thread runs which element of a loop in chunks, or by colour. */
static void run_noting(struct team *team, const struct schedule *s, int threads, int *thread_of) {
  void *const frame[] = {thread_of};
  const struct work work = {.function = note_thread, .frame = frame, .nframe = 1};
  struct execution e = {.schedule = s, .works = &work, .nworks = 1, .threads = threads};
  executor_run(team, &e);
}

/* Elements of pages that lie near another thread. */
static long far_away(const int *thread_of, int part) {
  long count = 0;
  for (long e = 0; e < elements; e++)
    count += thread_of[e] != touched.thread_of_page[part * (pages / parts) + e * 8 / page];
  return count;
}

TEST(memory_is_near_its_user) {
  struct error err = {0};
  struct sigaction catch = {.sa_sigaction = first_touch, .sa_flags = SA_SIGINFO}, old;
  int *direct = calloc(elements, sizeof *direct), *coloured = calloc(elements, sizeof *coloured);
  int *table;
  const long nedges = mesh_grid(1024, 512, &table); /* nearly as many */
  const struct plan_column columns[] = {
      {.table = table, .arity = 2, .column = 0, .target = 1, .target_size = 1024 * 512},
      {.table = table, .arity = 2, .column = 1, .target = 1, .target_size = 1024 * 512}};
  const struct plan_request r = {.size = nedges, .block_size = 1024, .columns = columns, .ncolumns = 2};
  struct plan plan;
  struct schedule chunks, colours;
  expect_ok(plan_build(&plan, &r, NULL, &err), &err);
  expect_ok(schedule_colours(&colours, &plan, NULL, &err), &err);
  expect_ok(schedule_chunks(&chunks, elements, 0, &err), &err);
  const long chunk = chunks.items[0].end;
  for (int threads = 2; threads <= 3; threads++) {
    struct team *team = open_team(threads);
    touched.memory = mmap(NULL, (size_t)pages * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(touched.memory != MAP_FAILED);
    team_run(team, threads, take_number, NULL);
    sigaction(SIGSEGV, &catch, &old);
    team_clear(team, touched.memory, (size_t)pages * page, (size_t)elements * 8);
    sigaction(SIGSEGV, &old, NULL);
    run_noting(team, &chunks, threads, direct);
    run_noting(team, &colours, threads, coloured);
    for (int part = 0; part < parts; part++) {
      assert_true(far_away(direct, part) <= threads * chunk);
      assert_true(far_away(coloured, part) <= elements / 100 + threads * 2 * 1024);
    }
    munmap(touched.memory, (size_t)pages * page);
    team_close(team);
  }
  schedule_free(&chunks);
  schedule_free(&colours);
  plan_free(&plan);
  free(table);
  free(direct);
  free(coloured);
  error_free(&err);
}
#endif

/* Loops over many arrays would wait for one line of each cache if all began at the same place of a page. */
TEST(arrays_begin_at_different_lines) {
  enum { arrays = 60, lines = 64 };
  const size_t sizes[] = {20000, (size_t)5 << 20};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    unsigned char *memory[arrays];
    int users[lines] = {0};
    for (unsigned i = 0; i < arrays; i++) {
      assert_non_null(memory[i] = data_memory(NULL, sizes[s], i));
      assert_int_equal((uintptr_t)memory[i] % 64, 0);
      assert_int_equal(users[(uintptr_t)memory[i] / 64 % lines]++, 0);
      for (size_t b = 0; b < sizes[s]; b += 999)
        assert_int_equal(memory[i][b], 0);
      memory[i][0] = memory[i][sizes[s] - 1] = 1;
    }
    for (int i = 0; i < arrays; i++)
      data_memory_free(memory[i]);
  }
  data_memory_free(NULL);
}

/* The same for components that lie apart, of which at least 32 go to different lines; and there is memory for all
 * of them. */
TEST(components_begin_at_different_lines) {
  enum { components = 32, lines = 64 };
  const long sizes[] = {0, 1, 16, 17, 512, 4096, (1 << 20) - 5, 1 << 20, (1 << 20) + 1};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (size_t value = sizeof(float); value <= sizeof(double); value *= 2) {
      const struct dat dat = {.row_bytes = components * value};
      const size_t stride = (size_t)data_stride(sizes[s]) * value;
      size_t bytes;
      int users[lines] = {0};
      assert_true(data_bytes(&dat, sizes[s], &bytes));
      assert_true(stride >= (size_t)sizes[s] * value && components * stride <= bytes);
      assert_int_equal(stride % 64, 0);
      for (size_t c = 0; c < components; c++)
        assert_int_equal(users[c * stride / 64 % lines]++, 0);
    }
}

int main(int argc, char **argv) {
  if (argc == 2) /* cases that are left out: what an emulator does not have */
    cmocka_set_skip_filter(argv[1]);
  return run_these(NULL, NULL);
}
