/* Waiting for another thread: nobody is missed, and who finds others on its CPU sleeps. */
#include "../unit.h"
#include <stdatomic.h>

#include <pthread.h>
#include <signal.h>

#include "base/clock.h"
#include "exec/team_gate.h"

static const long minute_ns = 60000000000;

struct wait {
  struct gate gate;
  struct patience patience;
  _Atomic bool over;
  bool switched; /* the kernel gave the waiter's CPU to others */
};

static void *wait_at_gate(void *wait) {
  struct wait *w = wait;
  gate_wait(&w->gate, 0, &w->patience);
  return NULL;
}

static void *wait_and_look(void *wait) {
  struct wait *w = wait;
  const long before = gate_switches();
  gate_wait(&w->gate, 0, &w->patience);
  w->switched = gate_switches() != before;
  return NULL;
}

/* As long as a virtual machine's host may keep a CPU: time goes by, and the kernel knows nothing of it. */
static void lose_time(int signal) {
  (void)signal;
  for (const long start = clock_ns(); clock_ns() - start < 4 * gate_alone_ns;)
    gate_pause();
}

static void *keep_busy(void *wait) {
  struct wait *w = wait;
  while (!w->over)
    gate_pause();
  return NULL;
}

/* Within 20 seconds; else it would spin for a minute. */
static bool falls_asleep(struct wait *w) {
  for (int ms = 0; ms < 20000 && !w->gate.sleepers; ms++)
    usleep(1000);
  return w->gate.sleepers == 1;
}

/* A thread that shares its CPU with another does not spin for long; the second time within a moment all remember that. */
TEST(finds_a_crowd) {
  pthread_t waiter, other;
  cpu_set_t all, here;
  struct wait crowded = {.patience.spin_ns = minute_ns};
  assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
  CPU_ZERO(&here);
  CPU_SET((size_t)sched_getcpu(), &here);
  assert_int_equal(sched_setaffinity(0, sizeof here, &here), 0);
  assert_int_equal(pthread_create(&other, NULL, keep_busy, &crowded), 0);
  assert_int_equal(pthread_create(&waiter, NULL, wait_at_gate, &crowded), 0);
  assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
  bool slept = falls_asleep(&crowded);
  gate_open(&crowded.gate);
  crowded.over = true;
  pthread_join(waiter, NULL);
  pthread_join(other, NULL);
  assert_true(slept);
  assert_true(crowded.patience.kept > 0);
}

/* Another program may take the CPU at any time: then it is tried again. */
TEST(host_is_no_crowd) {
  const struct sigaction losing = {.sa_handler = lose_time};
  assert_int_equal(sigaction(SIGUSR1, &losing, NULL), 0);
  for (int round = 0; round < 200; round++) {
    struct wait w = {.patience.spin_ns = minute_ns};
    pthread_t waiter;
    assert_int_equal(pthread_create(&waiter, NULL, wait_and_look, &w), 0);
    for (int i = 0; i < 3; i++) {
      usleep(1000);
      pthread_kill(waiter, SIGUSR1);
    }
    usleep(1000);
    const bool slept = w.gate.sleepers > 0, kept = w.patience.kept > 0;
    gate_open(&w.gate);
    pthread_join(waiter, NULL);
    if (w.switched)
      continue;
    assert_false(slept);
    assert_false(kept);
    return;
  }
  skip_since("the machine was never quiet for four milliseconds");
}

TEST(twice_makes_a_crowd) {
  const long ms = 1000000;
  struct patience p = {.spin_ns = minute_ns};
  gate_note_kept(&p, 100 * ms);
  assert_false(gate_is_crowded(&p, 100 * ms));
  gate_note_kept(&p, 150 * ms);
  assert_false(gate_is_crowded(&p, 150 * ms));
  gate_note_kept(&p, 155 * ms);
  assert_true(gate_is_crowded(&p, 155 * ms));
  assert_true(gate_is_crowded(&p, 254 * ms));
  assert_false(gate_is_crowded(&p, 256 * ms));
}

TEST(knows_of_a_crowd) {
  pthread_t waiter;
  struct wait known = {.patience.spin_ns = minute_ns};
  known.patience.crowded = clock_ns() + minute_ns;
  assert_int_equal(pthread_create(&waiter, NULL, wait_at_gate, &known), 0);
  bool slept = falls_asleep(&known);
  gate_open(&known.gate);
  pthread_join(waiter, NULL);
  assert_true(slept);
}

/* Two threads wait for each other in turn, spinning, sleeping at once, and sleeping as if in a crowd. */
struct turns {
  struct gate there, back;
  struct patience patience;
};
enum { turns = 5000 };

static void *answer(void *argument) {
  struct turns *t = argument;
  for (uint32_t i = 0; i < turns; i++) {
    gate_wait(&t->there, i, &t->patience);
    gate_open(&t->back);
  }
  return NULL;
}

TEST(nobody_is_missed) {
  const struct patience ways[] = {
      {.spin_ns = 0}, {.spin_ns = 1000000}, {.spin_ns = 1000000, .crowded = minute_ns * 1000000}};
  for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
    struct turns t = {.patience = ways[way]};
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, answer, &t), 0);
    for (uint32_t i = 0; i < turns; i++) {
      gate_open(&t.there);
      gate_wait(&t.back, i, &t.patience);
    }
    pthread_join(other, NULL);
    assert_int_equal(gate_value(&t.there), turns);
    assert_int_equal(gate_value(&t.back), turns);
    assert_int_equal(t.there.sleepers + t.back.sleepers, 0);
  }
}
