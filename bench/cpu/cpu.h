/* ./dev bench cpu: what its files share. A case is one piece of work that is done by hand, serially and
 * with OpenMP, and by the library, on the same data in one process. */
#ifndef BENCH_CPU_H
#define BENCH_CPU_H

enum cpu_contender { CPU_SERIAL, CPU_OPENMP, CPU_LIBRARY, CPU_CONTENDERS };

struct cpu_sizes {
  int cells;  /* airfoil */
  int grid;   /* jac and the synthetic loops: nodes on a side */
  int vector; /* vadd and streaming */
  int block;  /* block size of hand-written coloured loops */
};

struct cpu_case {
  const char *name;
  double bytes; /* that one repetition must move */
  void *run[CPU_CONTENDERS];
  /* One repetition, complete when it returns. */
  void (*repeat[CPU_CONTENDERS])(void *run);
  /* Largest relative difference between what the library and the hand-written loops computed, all
   * having done the same number of repetitions. */
  double (*difference)(struct cpu_case *);
  void (*end)(struct cpu_case *);
};

/* Between op_init and op_exit. Fill in `made`. */
typedef void cpu_case_begin(struct cpu_case *made, const struct cpu_sizes *sizes);
cpu_case_begin cpu_airfoil, cpu_jac, cpu_vadd, cpu_stream, cpu_gather, cpu_add1, cpu_add3, cpu_add6;

struct cpu_figure {
  double median, low, high; /* seconds of one repetition */
};

enum { CPU_MAX_CASES = 16, CPU_MAX_TEAMS = 2 };

struct cpu_row {
  const char *name;
  double bytes, difference;
  struct cpu_figure figure[CPU_CONTENDERS];
};

struct cpu_results {
  int teams, rows;
  int threads[CPU_MAX_TEAMS];
  double triad[CPU_MAX_TEAMS]; /* bytes per second */
  struct cpu_row row[CPU_MAX_TEAMS][CPU_MAX_CASES];
};

extern const char *const cpu_contender_names[CPU_CONTENDERS];

/* 0, or -1 after a message. */
int cpu_write_json(const struct cpu_results *results, const char *path);
int cpu_write_svg(const struct cpu_results *results, const char *path);

#endif
