// A program of OP2 that takes turns with others (bench/compare.py), as bench/turns/turns.c does. It defines the three functions below.
// PROGRAM SIZE STEPS runs one batch and ends; PROGRAM op2 SIZE ANSWER takes turns.
#include <op_profile.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

// Declares all.
static void prepare(int size);
// Puts every batch, of so many steps, at the same start; and again after each `most` of them. This is not counted.
static void begin(int steps);
static void step();
// The dat of the newest state.
static op_dat answer();
static int most = INT_MAX;

static void put(op_dat dat, const std::vector<double> &values) {
  memcpy(dat->data, values.data(), values.size() * sizeof(double));
  op_arg wrote = op_arg_dat(dat, -1, OP_ID, dat->dim, "double", OP_WRITE);
  op_mpi_set_dirtybit(1, &wrote);
}

// As clock_seconds of bench/common has it.
static double now() {
  const char *wanted = getenv("TURNS_CLOCK");
  struct timespec at;
  clock_gettime(wanted && std::string(wanted) == "cpu" ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &at);
  return static_cast<double>(at.tv_sec) + 1e-9 * static_cast<double>(at.tv_nsec);
}

// Milliseconds of a step.
static double batch(int steps) {
  double seconds = 0;
  for (int done = 0; done < steps;) {
    begin(steps);
    const int end = std::min(steps - done, most) + done;
    const double start = now();
    for (; done < end; done++)
      step();
    seconds += now() - start;
  }
  return 1e3 * seconds / steps;
}

int main(int argc, char **argv) {
  if (argc < 3)
    return 2;
  const bool turns = std::string(argv[1]) == "op2";
  op_init(argc, argv, 0);
  op_profile_start("turns"); // or OP2's loops end the program
  prepare(atoi(argv[turns ? 2 : 1]));
  if (!turns) {
    batch(atoi(argv[2]));
    op_exit();
    return 0;
  }
  printf("ready\n");
  fflush(stdout);
  char line[16];
  while (fgets(line, sizeof line, stdin)) {
    printf("%.9g\n", batch(atoi(line)));
    fflush(stdout);
  }
  op_dat dat = answer();
  std::vector<double> state(static_cast<size_t>(dat->set->size) * static_cast<size_t>(dat->dim));
  op_fetch_data(dat, state.data());
  FILE *file = fopen(argv[3], "wb");
  const bool written = file && fwrite(state.data(), sizeof(double), state.size(), file) == state.size();
  op_exit();
  return file && !fclose(file) && written ? 0 : 1;
}
