/* Hostile files: a small good one with some of its bytes changed, read by every call. Each is read in a child,
 * since HDF5 itself may fall over one; that is counted apart, and what this library does with the answers must
 * never crash. */
#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "files.h"

enum { MUTATIONS = 400, MOST = 65536, IN_HDF5 = 90, IN_OURS = 91, HANGS = 92 };

static unsigned char good[MOST], bad[MOST];
static size_t length;

FIXTURE(make_good) {
  if (make_folder(NULL) || op_init(0, NULL, 0))
    return -1;
  const int v = 7;
  declare_strip(12);
  if (op_dump_to_hdf5(in_folder("good.h5")) ||
      op_write_const_hdf5("group/v", 1, "int", &v, in_folder("good.h5")) || op_exit())
    return -1;
  FILE *f = fopen(in_folder("good.h5"), "rb");
  length = fread(good, 1, sizeof good, f);
  fclose(f);
  return length > 0 && length < sizeof good ? 0 : -1;
}

/* Whose code it is, by the file that the failing instruction is in. */
static void fallen(int signal_number, siginfo_t *info, void *context) {
  (void)info;
  if (signal_number == SIGALRM)
    _exit(HANGS);
#if defined(__x86_64__)
  const ucontext_t *c = context;
  Dl_info where;
  void *at = (void *)(uintptr_t)c->uc_mcontext.gregs[REG_RIP];
  if (dladdr(at, &where) && where.dli_fname && strstr(where.dli_fname, "libhdf5"))
    _exit(IN_HDF5);
  /* In the C library on behalf of HDF5: memcpy of lengths that it took from the file, abort, assert. */
  if (dladdr(at, &where) && where.dli_fname && strstr(where.dli_fname, "libc.so"))
    _exit(IN_HDF5);
#else
  (void)context;
#endif
  _exit(IN_OURS);
}

static void read_all(const char *path) {
  static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM};
  struct sigaction action = {.sa_sigaction = fallen, .sa_flags = SA_SIGINFO};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
    sigaction(signals[i], &action, NULL);
  alarm(20);
  int v;
  op_init(0, NULL, 0);
  op_set nodes = op_decl_set_hdf5(path, "nodes"),
         cells = op_decl_set_hdf5_infer_size(path, "cells", "cell_nodes");
  op_set sane = op_decl_set(12, "sane"), few = op_decl_set(26, "few");
  op_decl_map_hdf5(cells, nodes, 4, path, "cell_nodes");
  op_decl_map_hdf5(sane, few, 4, path, "cell_nodes");
  op_decl_dat_hdf5(few, 2, "double", path, "x");
  op_decl_dat_hdf5(sane, 1, "float:soa", path, "q");
  op_get_const_hdf5("group/v", 1, "int", &v, path);
  op_write_const_hdf5("group/w", 1, "int", &v, path);
  op_exit();
  _exit(0);
}

static int read_in_child(const char *path) {
  fflush(NULL);
  pid_t pid = fork();
  if (pid == 0)
    read_all(path);
  int status;
  waitpid(pid, &status, 0);
  return status;
}

TEST(bytes_are_changed) {
  unsigned seed = 2024;
  int fallen_hdf5 = 0, hung = 0;
  for (int i = 0; i < MUTATIONS; i++) {
    memcpy(bad, good, length);
    size_t size = length;
    seed = seed * 1664525u + 1013904223u;
    const int changes = 1 + (int)(seed >> 28) % 4;
    for (int k = 0; k < changes; k++) {
      seed = seed * 1664525u + 1013904223u;
      /* The description of the tables lies at the beginning. */
      const size_t at = (seed >> 8) % (k % 2 ? length : length < 4096 ? length : 4096);
      seed = seed * 1664525u + 1013904223u;
      bad[at] = (unsigned char)(seed >> 24);
    }
    if (i % 16 == 15)
      size = (seed >> 8) % length;
    FILE *f = fopen(in_folder("bad.h5"), "wb");
    fwrite(bad, 1, size, f);
    fclose(f);
    int status = read_in_child(in_folder("bad.h5"));
    if (WIFEXITED(status) && WEXITSTATUS(status) == IN_HDF5)
      fallen_hdf5++;
    else if (WIFEXITED(status) && WEXITSTATUS(status) == HANGS)
      hung++;
    else if (status != 0)
      fail_msg("mutation %d ends with status %d", i, status);
  }
  printf("  %d damaged files: HDF5 itself fell over %d and hung on %d, the rest were errors or good\n",
         MUTATIONS, fallen_hdf5, hung);
  assert_true(fallen_hdf5 + hung < MUTATIONS / 10);
}

static int clean(void **state) {
  return remove_folder(state);
}

int main(void) {
  need_hdf5();
  return run_these(make_good, clean);
}
