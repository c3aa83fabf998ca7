#define main sample_main
/* NOLINTNEXTLINE(bugprone-suspicious-include): the sample's functions are its own. */
#include "../../samples/barnes_hut/barnes_hut.c"
#undef main

#include "form.h"

static op_graph graph;

void form_prepare(int size) {
  sky = (struct sky){.leaf = 32, .task = 512, .angle = 0.6, .soft = 0.02, .step = 0.01};
  if (!make_sky(size ? size : 50000))
    exit(1);
  make_tree();
  graph = make_graph();
}

void form_refresh(void) {
  clear_forces();
}

void form_by_graph(void) {
  op_graph_run(graph);
}

static void make_masses(struct cell *c) {
  if (!is_large(c)) {
#pragma omp task depend(out : *c)
    find_mass(c, 1);
    return;
  }
  struct cell *p = &sky.cells[c->child];
  for (int o = 0; o < 8; o++)
    make_masses(p + o);
#pragma omp task depend(in : p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]) depend(out : *c)
  find_mass(c, 0);
}

static void make_pairs(struct cell *a, struct cell *b) {
  if (!a->count || !b->count || !near(a, b))
    return;
  if (is_large(a) && (a->size >= b->size || !is_large(b)))
    for (int o = 0; o < 8; o++)
      make_pairs(&sky.cells[a->child + o], b);
  else if (is_large(b))
    for (int o = 0; o < 8; o++)
      make_pairs(a, &sky.cells[b->child + o]);
  else {
    char *one = (char *)a->low;   /* NOLINT(clang-analyzer-deadcode.DeadStores): below */
    char *other = (char *)b->low; /* NOLINT(clang-analyzer-deadcode.DeadStores): below */
#pragma omp task depend(mutexinoutset : *one) depend(mutexinoutset : *other)
    act_pair(a, b);
  }
}

static void make_forces(struct cell *c) {
  if (is_large(c)) {
    for (int o = 0; o < 8; o++)
      make_forces(&sky.cells[c->child + o]);
    for (int o = 0; o < 8; o++)
      for (int q = o + 1; q < 8; q++)
        make_pairs(&sky.cells[c->child + o], &sky.cells[c->child + q]);
  } else if (c->count) {
    char *one = (char *)c->low; /* NOLINT(clang-analyzer-deadcode.DeadStores): below */
#pragma omp task depend(mutexinoutset : *one)
    pull_all(c);
#pragma omp task depend(mutexinoutset : *one)
    act_self(c);
  }
}

void form_by_openmp(int threads) {
  (void)threads;
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
    make_masses(&sky.cells[0]);
#pragma omp taskwait
    make_forces(&sky.cells[0]);
  }
}

double form_answer(void) {
  double sum = 0;
  for (int i = 0; i < sky.particles; i++)
    sum += sky.p[i].mass * sky.f[i].potential;
  return sum;
}

op_graph form_graph(void) {
  return graph;
}
