/* The derivatives of a sample's program: the tape's gradient along a line against the tangent, and against
 * differences. A test includes the sample's source, and says how it runs. */
#ifndef OP2JIT_TESTS_SAMPLE_H
#define OP2JIT_TESTS_SAMPLE_H

#include <math.h>

#include "../api/support.h"
#include "op2jit_adjoint.h"

enum { MOST_INPUTS = 4 };

struct sample_input {
  op_dat dat;
  op_set set;
  int dim;
  double by; /* how far differences move it; 0: they leave it as it is */
  /* of sample_compare */
  double *values, *line, *bar;
};

struct sample {
  int ninputs;
  struct sample_input inputs[MOST_INPUTS];
  op_gbl output;     /* zero before each run */
  void (*run)(void); /* from the inputs to the output, in the same way each time */
  int steps;         /* it tells a tape of steps: of so many */
  int passive;       /* it looks at values, and gives others that do not depend on them */
  double most;       /* between tape and differences, of the norms */
};

static int sample_records; /* the sample tells a tape where steps begin */
static inline void sample_step(void) {
  if (sample_records)
    works(op_tape_step());
}

static inline op_gbl sample_output(void) {
  return op_decl_gbl(1, "double", NULL, "output");
}

/* The sum of squares of all values of a dat, each by another weight. */
static inline void sample_add_up(op_set set, op_dat dat, int dim, op_gbl output) {
  op_par_loop("static void add_up(const double *u, const int *n, const int *dim, double *sum) {"
              "  for (int i = 0; i < *dim; i++)"
              "    *sum += (1 + 0.1 * ((*n + i) % 7)) * u[i] * u[i]; }",
              "add_up", set, direct(dat, dim, "double", OP_READ), op_arg_idx(-1, OP_ID),
              op_arg_gbl(&dim, 1, "int", OP_READ), op_arg_global(output, OP_INC));
}

static inline size_t sample_count(const struct sample_input *input) {
  return (size_t)op_get_size(input->set) * (size_t)input->dim;
}

static inline void sample_open(struct sample *sample) {
  for (int k = 0; k < sample->ninputs; k++) {
    struct sample_input *input = &sample->inputs[k];
    const size_t count = sample_count(input);
    input->values = calloc(3 * count + 1, sizeof(double));
    assert_non_null(input->values);
    input->line = input->values + count;
    input->bar = input->line + count;
    works(op_fetch_data(input->dat, input->values));
    for (size_t i = 0; i < count; i++)
      input->line[i] = sin(1 + 0.7 * (double)i + k);
  }
}

/* The inputs, moved so far along the lines that differences take. */
static inline void sample_put(const struct sample *sample, double way) {
  const double zero = 0;
  for (int k = 0; k < sample->ninputs; k++) {
    const struct sample_input *input = &sample->inputs[k];
    const size_t count = sample_count(input);
    double *to = calloc(count + 1, sizeof *to);
    assert_non_null(to);
    for (size_t i = 0; i < count; i++)
      to[i] = input->values[i] + way * input->by * input->line[i];
    works(op_put_data(input->dat, to));
    free(to);
  }
  works(op_put_gbl(sample->output, &zero));
}

static inline double sample_run(const struct sample *sample, double way) {
  double value = 0;
  sample_put(sample, way);
  sample->run();
  works(op_get_gbl(sample->output, &value));
  return value;
}

/* With bars of all inputs at the end. */
static inline void sample_go_back(struct sample *sample) {
  op_dat inputs[MOST_INPUTS];
  const double one = 1;
  double difference = 1;
  op_tape_facts_t facts;
  sample_put(sample, 0);
  for (int k = 0; k < sample->ninputs; k++)
    inputs[k] = sample->inputs[k].dat;
  op_tape tape = op_tape_begin(sample->ninputs, inputs, 0);
  assert_non_null(tape);
  if (sample->passive)
    works(op_tape_passive());
  sample_records = 1;
  sample->run();
  sample_records = 0;
  works(op_tape_end(tape));
  works(op_tape_check(tape, 1, &difference));
  if (!(difference <= 1e-10))
    fail_msg("op_tape_check gives %g", difference);
  works(op_put_gbl(op_bar_gbl(sample->output), &one));
  works(op_tape_reverse(tape, 1));
  works(op_tape_facts(tape, &facts));
  assert_int_equal(facts.steps, sample->steps);
  for (int k = 0; k < sample->ninputs; k++)
    works(op_fetch_data(op_bar(sample->inputs[k].dat), sample->inputs[k].bar));
  works(op_tape_free(tape));
}

static inline double sample_tangent(const struct sample *sample) {
  double dot = 0;
  works(op_tangent(1));
  sample_put(sample, 0);
  for (int k = 0; k < sample->ninputs; k++)
    works(op_put_data(op_dot(sample->inputs[k].dat), sample->inputs[k].line));
  sample->run();
  works(op_get_gbl(op_dot_gbl(sample->output), &dot));
  works(op_tangent(0));
  return dot;
}

/* The gradient times the lines, which differences take as far as `by` says, or which are taken whole; the norms. */
static inline double sample_along(const struct sample *sample, int by, double *norms) {
  double sum = 0, bars = 0, lines = 0;
  for (int k = 0; k < sample->ninputs; k++) {
    const struct sample_input *input = &sample->inputs[k];
    const double times = by ? input->by : 1;
    for (size_t i = 0; i < sample_count(input); i++) {
      sum += input->bar[i] * input->line[i] * times;
      bars += input->bar[i] * input->bar[i];
      lines += input->line[i] * input->line[i] * times * times;
    }
  }
  *norms = sqrt(bars) * sqrt(lines);
  return sum;
}

static inline void sample_compare(struct sample *sample) {
  double norms;
  sample_open(sample);
  sample_go_back(sample);
  const double tangent = sample_tangent(sample), tape = sample_along(sample, 0, &norms);
  if (!(norms > 0 && fabs(tangent - tape) <= 1e-10 * norms))
    fail_msg("the tangent is %.17g, the tape gives %.17g, norms %g", tangent, tape, norms);
  const double difference = (sample_run(sample, 1) - sample_run(sample, -1)) / 2;
  const double moved = sample_along(sample, 1, &norms);
  if (!(norms > 0 && fabs(difference - moved) <= sample->most * norms))
    fail_msg("differences give %.17g, the tape %.17g, norms %g", difference, moved, norms);
  for (int k = 0; k < sample->ninputs; k++)
    free(sample->inputs[k].values);
}

#endif
