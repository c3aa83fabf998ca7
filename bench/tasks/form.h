/* A sample that runs a graph of tasks, and the same tasks by OpenMP. Each file here has the sample's source in it, so that
 * both forms run the same functions; form.c has the rest of the program. */
#ifndef BENCH_TASKS_FORM_H
#define BENCH_TASKS_FORM_H

#include <op2jit_tasks.h>

/* Before the first round; `size` 0: the sample's own. */
void form_prepare(int size);
/* One run of all tasks, by a graph or by OpenMP; what is no task of it comes before and is not timed. */
void form_refresh(void);
void form_by_graph(void);
void form_by_openmp(int threads);
/* What must be the same in both forms, but for rounding. */
double form_answer(void);
op_graph form_graph(void);

#endif
