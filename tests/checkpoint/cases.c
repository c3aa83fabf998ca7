/* cases WHAT [die] [OP2_...]: small programs, each with one thing that a checkpoint may miss. Loops come first, so that one
 * with every=30 is due where the program calls op_checkpoint. die: the process kills itself at the end. */
#include <op2jit_checkpoint.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

OP_KERNEL_DEF(
    work, void work(int *x) { *x = *x * 3 + 1; })
OP_KERNEL_DEF(
    fill, void fill(const int *from, int *to) { *to = *from + 7; })
OP_KERNEL_DEF(
    clip, void clip(const int *x, int *y) {
      if (*x * 5 + 3 != 248)
        *y = *x;
    })
OP_KERNEL_DEF(
    odd, void odd(const int *x, int *y) {
      if (*x & 1)
        *y = *x;
    })
OP_KERNEL_DEF(
    twice, void twice(int *x) { *x *= 2; })
OP_KERNEL_DEF(
    peek, void peek(const int *x, const int *k, int *y) { *y = *x ? x[*k] : 0; })
OP_KERNEL_DEF(
    add, void add(const int *y, int *x) { *x += *y; })
OP_KERNEL_DEF(
    sum, void sum(const int *x, const int *number, int *all) { *all += *x * (*number + 1); })

enum { SIZE = 50 };
static op_set cells;
static op_dat x, y, other;

static op_arg direct(op_dat dat, op_access access) {
  return op_arg_dat(dat, -1, OP_ID, 1, "int", access);
}

static void repeat(int times) {
  for (int i = 0; i < times; i++)
    op_par_loop(OP_KERNEL_OF(work), "work", cells, direct(other, OP_RW));
}

static void fill_from(op_dat from, op_dat to) {
  op_par_loop(OP_KERNEL_OF(fill), "fill", cells, direct(from, OP_READ), direct(to, OP_WRITE));
}

static void add_to_x(op_dat from) {
  op_par_loop(OP_KERNEL_OF(add), "add", cells, direct(from, OP_READ), direct(x, OP_RW));
}

/* A kernel that leaves some of what it says that it writes first runs while the checkpoint waits. */
static void partial(void) {
  fill_from(x, y);
  repeat(40);
  op_checkpoint();
  op_par_loop(OP_KERNEL_OF(clip), "clip", cells, direct(x, OP_READ), direct(y, OP_WRITE));
  add_to_x(y);
  repeat(20);
}

/* Its record is made anew behind the checkpoint, and says what was found of the kernel. */
static void found(void) {
  op_par_loop(OP_KERNEL_OF(clip), "clip", cells, direct(x, OP_READ), direct(y, OP_WRITE));
  op_update_const("unused", &(int){2});
  op_par_loop(OP_KERNEL_OF(clip), "clip", cells, direct(y, OP_READ), direct(x, OP_WRITE));
  /* Each of these has a place of its own among those that are known, or takes another's. */
  for (int i = 0; i < 3; i++) {
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
    static op_dat dats[40];
    for (int k = 0; k < 40; k++) {
      if (!dats[k])
        dats[k] = op_decl_dat(cells, 1, "int", NULL, names[k % 10]);
      op_par_loop(OP_KERNEL_OF(clip), "clip", cells, direct(x, OP_READ), direct(dats[k], OP_WRITE));
      add_to_x(dats[k]);
    }
  }
  op_checkpoint();
  add_to_x(y);
  repeat(20);
}

/* Dats with one name: the first is freed before the others are read. */
static void names(void) {
  op_dat same[3];
  for (int k = 0; k < 3; k++) {
    same[k] = op_decl_dat_temp(cells, 1, "int", NULL, "same");
    fill_from(k ? same[k - 1] : x, same[k]);
  }
  repeat(40);
  op_checkpoint();
  op_free_dat_temp(same[0]);
  add_to_x(same[1]);
  repeat(20);
  fill_from(x, same[2]);
  add_to_x(same[2]);
}

/* A loop that fails, and a program that knows. */
static void fails(void) {
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  const int code = op_par_loop(OP_KERNEL_OF(odd), "odd", cells, direct(x, OP_READ), direct(y, OP_WRITE));
  op_set_error_handler(OP_ERRORS_FATAL, NULL);
  repeat(40);
  op_checkpoint();
  repeat(20);
  printf("dat code %d\n", code);
}

/* Loops that fail when they no longer wait: as one they give something else, since one looks at its neighbour. */
static void late(void) {
  int values[SIZE], next = 1;
  for (int i = 0; i < SIZE; i++)
    values[i] = SIZE - 1 - i;
  op_put_data(x, values);
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  op_par_loop(OP_KERNEL_OF(twice), "twice", cells, direct(x, OP_RW));
  op_par_loop(OP_KERNEL_OF(peek), "peek", cells, direct(x, OP_READ), op_arg_gbl(&next, 1, "int", OP_READ),
              direct(y, OP_WRITE));
  op_barrier();
  const int code = op_last_error()->code;
  op_set_error_handler(OP_ERRORS_FATAL, NULL);
  repeat(40);
  op_checkpoint();
  repeat(20);
  printf("dat code %d\n", code);
}

/* A child goes on and does its work: what is there is the parent's. */
static void forks(void) {
  repeat(40);
  op_checkpoint();
  repeat(300); /* it is written */
  const pid_t child = fork();
  if (child == 0) {
    repeat(200);
    op_checkpoint();
    repeat(40);
    _exit(op_exit() != OP_OK);
  }
  int status = -1;
  waitpid(child, &status, 0);
  printf("dat child %d\n", status);
}

static const struct {
  const char *name;
  void (*run)(void);
} cases[] = {{"partial", partial}, {"found", found}, {"names", names},
             {"fails", fails},     {"late", late},   {"forks", forks}};

int main(int argc, char **argv) {
  int values[SIZE], all = 0, unused = 1;
  op_init(argc, argv, 1);
  for (int i = 0; i < SIZE; i++)
    values[i] = i * i;
  cells = op_decl_set(SIZE, "cells");
  x = op_decl_dat(cells, 1, "int", values, "x");
  y = op_decl_dat(cells, 1, "int", values, "y");
  other = op_decl_dat(cells, 1, "int", values, "other");
  op_decl_const("unused", 1, "int", &unused);
  op_checkpoint(); /* from now on they begin at such calls */
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (argc > 1 && strcmp(argv[1], cases[i].name) == 0)
      cases[i].run();
  if (argc > 2 && strcmp(argv[2], "die") == 0)
    kill(getpid(), SIGKILL);
  op_par_loop(OP_KERNEL_OF(sum), "sum", cells, direct(x, OP_READ), op_arg_idx(-1, OP_ID),
              op_arg_gbl(&all, 1, "int", OP_INC));
  printf("dat x %d\n", all);
  return op_exit() != OP_OK;
}
