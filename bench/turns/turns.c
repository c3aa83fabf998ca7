/* usage: turns_SAMPLE FORM|library|first|usual SIZE ANSWER first: the library as well, whose answer another one of it
 * is compared with; usual: the same, and nothing is given to op_init. Says "ready"; then for each number that it reads it runs a batch of so many steps and prints
 * the milliseconds of one. At the end of what it reads, the process of a form by hand (or the first one) writes
 * its last answer to the file ANSWER; the library's, which must end after it, compares its own with that. Status 0
 * only if all went well. `turns_SAMPLE forms SIZE` prints the bytes that a step must move, by how much answers may
 * differ, and the names of the forms. */
#include "turns.h"

#include "common/arguments.h"
#include "common/memory.h"
#include "common/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

OP_KERNEL_DEF(
    look, void look(const double *x, double *most) { *most = *x > *most ? *x : *most; })

/* A loop with a result, for which the program waits; it comes behind all others. */
void turns_bring(op_dat dat, op_set set) {
  double most = 0;
  op_barrier(); /* runs what waits, as a chain without this loop */
  op_par_loop(OP_KERNEL_OF(look), "look", set, op_arg_dat(dat, -1, OP_ID, 1, "double", OP_READ),
              op_arg_gbl(&most, 1, "double", OP_MAX));
  op_barrier();
}

void turns_wait(void) {
  static op_set one;
  static op_dat mark;
  if (!mark) {
    one = op_decl_set(1, "one");
    mark = op_decl_dat_temp(one, 1, "double", NULL, "mark");
  }
  turns_bring(mark, one);
}

static int write_answer(const char *path, const double *answer, size_t count) {
  FILE *file = fopen(path, "wb");
  if (!file)
    return -1;
  const size_t written = fwrite(answer, sizeof *answer, count, file);
  return fclose(file) || written < count ? -1 : 0;
}

static int read_answer(const char *path, double *answer, size_t count) {
  FILE *file = fopen(path, "rb");
  if (!file)
    return -1;
  const size_t found = fread(answer, sizeof *answer, count, file);
  fclose(file);
  return found < count ? -1 : 0;
}

double turns_bytes;

static int print_forms(int size) {
  turns_prepare(size, 0);
  printf("%.0f\n%g\n", turns_bytes, turns_limit);
  for (const struct turns_form *form = turns_forms; form->name; form++)
    printf("%s\n", form->name);
  return EXIT_SUCCESS;
}

static const struct turns_form *find_form(const char *name) {
  const struct turns_form *form = turns_forms;
  while (form->name && strcmp(form->name, name) != 0)
    form++;
  return form->name ? form : NULL;
}

static void run_batches(double (*run)(int, double *), double *answer) {
  char line[16];
  printf("ready\n");
  fflush(stdout);
  while (fgets(line, sizeof line, stdin)) {
    const int steps = atoi(line);
    printf("%.9g\n", 1e3 * run(steps, answer));
    fflush(stdout);
  }
}

static int compare_answers(const char *path, const double *answer, long long count) {
  struct check check = {0};
  double *by_hand = room(count, sizeof *by_hand);
  if (read_answer(path, by_hand, (size_t)count)) {
    perror(path);
    return EXIT_FAILURE;
  }
  check_at_most(&check, "the library against the hand-written loop",
                largest_difference(answer, by_hand, count), turns_limit);
  free(by_hand);
  return check.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv) {
  if (argc == 3 && !strcmp(argv[1], "forms"))
    return print_forms(atoi(argv[2]));
  const int compares = argc == 4 && !strcmp(argv[1], "library");
  const int usual = argc == 4 && !strcmp(argv[1], "usual");
  const int library = compares || usual || (argc == 4 && !strcmp(argv[1], "first"));
  const struct turns_form *form = argc == 4 ? find_form(argv[1]) : NULL;
  if (!library && !form) {
    fprintf(stderr, "usage: %s FORM|library|first|usual SIZE ANSWER, or forms SIZE\n", argv[0]);
    return 2;
  }
  const int size = atoi(argv[2]);
  int status = EXIT_SUCCESS;
  if (library && turns_word && !usual)
    init_with(1, argv, 0, turns_word);
  else if (library)
    op_init(1, argv, 0);
  const long long count = turns_prepare(size, library);
  double *answer = room(count, sizeof *answer);
  run_batches(library ? turns_library : form->run, answer);
  if (compares)
    status = compare_answers(argv[3], answer, count);
  else if (write_answer(argv[3], answer, (size_t)count)) {
    perror(argv[3]);
    status = EXIT_FAILURE;
  }
  if (library)
    op_exit();
  free(answer);
  return status;
}
