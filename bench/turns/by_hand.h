/* The forms by hand of a loop over elements that add to nodes, and one over the nodes behind it: blocks by colours, nodes
 * that threads own, atomic additions. Included by a driver, which defines before
 *   by_hand_range(begin, end)          elements, adding to all of their nodes
 *   by_hand_border(owners, t, element) one, adding to the nodes of thread t alone
 *   by_hand_atomic(element)            one, adding atomically
 *   by_hand_nodes(begin, end)          the loop behind
 *   by_hand_begin(answer), by_hand_end(answer)   the start of a batch, and what came of it. */
#include "common/colouring.h"
#include "common/owners.h"
#include "common/report.h"
#include "common/threads.h"

/* Made by by_hand_make, of a table of elements x arity nodes to the first `adding` of which is added. */
static struct {
  int elements, nodes;
  struct colouring colours;
  struct owners owners;
} by_hand;

static void by_hand_make(int elements, int arity, int adding, const int *table, int nodes) {
  by_hand.elements = elements;
  by_hand.nodes = nodes;
  const int fitting = elements / 64, block = fitting < 256 ? 256 : fitting > 8192 ? 8192 : fitting;
  by_hand.colours = colouring_make(elements, arity, table, nodes, block);
  by_hand.owners = owners_make(elements, arity, adding, table, nodes);
}

static void elements_by_colours(void) {
  const struct colouring *c = &by_hand.colours;
  for (int colour = 0; colour < c->colours; colour++) {
#pragma omp for schedule(static)
    for (int i = c->first[colour]; i < c->first[colour + 1]; i++)
      by_hand_range(colouring_begin(c, c->order[i]), colouring_end(c, c->order[i]));
  }
}

static void elements_by_owners(void) {
  const struct owners *o = &by_hand.owners;
  const int t = thread_number();
  for (int i = o->first_run[t]; i < o->first_run[t + 1]; i++)
    by_hand_range(o->run[2 * i], o->run[2 * i + 1]);
  for (int i = o->first_border[t]; i < o->first_border[t + 1]; i++)
    by_hand_border(o, t, o->border[i]);
#pragma omp barrier
}

static void elements_by_atomics(void) {
#pragma omp for schedule(static)
  for (int e = 0; e < by_hand.elements; e++)
    by_hand_atomic(e);
}

static double run_steps(void (*elements)(void), int steps, double *answer) {
  by_hand_begin(answer);
  const double begin = clock_seconds();
#pragma omp parallel
  for (int s = 0; s < steps; s++) {
    elements();
    by_hand_nodes((int)((long long)by_hand.nodes * thread_number() / thread_count()),
                  (int)((long long)by_hand.nodes * (thread_number() + 1) / thread_count()));
#pragma omp barrier
  }
  const double seconds = (clock_seconds() - begin) / steps;
  by_hand_end(answer);
  return seconds;
}

static double by_colours(int steps, double *answer) {
  return run_steps(elements_by_colours, steps, answer);
}
static double by_owners(int steps, double *answer) {
  return run_steps(elements_by_owners, steps, answer);
}
static double by_atomics(int steps, double *answer) {
  return run_steps(elements_by_atomics, steps, answer);
}

const struct turns_form turns_forms[] = {
    {"colours", by_colours}, {"owners", by_owners}, {"atomics", by_atomics}, {NULL, NULL}};
