/* The mistakes that a file can have, a name, a shape or a disk: an error that says so, and nothing declared, changed
 * or lost. */
#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "files.h"
#include "files/io.h"

static const char *good_file(void) {
  static char path[PATH_MAX];
  snprintf(path, sizeof path, "%s", in_folder("good.h5"));
  return path;
}

FIXTURE(make_good) {
  if (make_folder(NULL) || op_init(0, NULL, 0))
    return -1;
  declare_strip(10);
  return op_dump_to_hdf5(good_file()) || op_exit();
}

static void write_text(const char *path, const char *text) {
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fputs(text, f);
  fclose(f);
}

/* ---- reading ---- */

LIBRARY_TEST(no_file) {
  handle_fails(OP_ERR_FILE, op_decl_set_hdf5(in_folder("none.h5"), "nodes"));
  message_has("No such file or directory");
  handle_fails(OP_ERR_FILE, op_decl_set_hdf5(folder, "nodes"));
  message_has("is not a file");
  handle_fails(OP_ERR_ARGUMENT, op_decl_set_hdf5(NULL, "nodes"));
  handle_fails(OP_ERR_ARGUMENT, op_decl_set_hdf5("", "nodes"));
  handle_fails(OP_ERR_ARGUMENT, op_decl_set_hdf5(good_file(), NULL));
}

LIBRARY_TEST(not_hdf5) {
  write_text(in_folder("text.h5"), "721801 720000 1438600 2800\n");
  handle_fails(OP_ERR_FILE, op_decl_set_hdf5(in_folder("text.h5"), "nodes"));
  message_has("text.h5");
  message_has("cannot be opened as an HDF5 file: file signature not found");
  write_text(in_folder("empty.h5"), "");
  handle_fails(OP_ERR_FILE, op_decl_set_hdf5(in_folder("empty.h5"), "nodes"));
}

static void copy_good(const char *to, long bytes, long at, int value) {
  char buffer[65536];
  FILE *in = fopen(good_file(), "rb"), *out = fopen(to, "wb");
  size_t n = fread(buffer, 1, sizeof buffer, in);
  if (at >= 0)
    buffer[at] = (char)value;
  fwrite(buffer, 1, bytes < 0 ? n : (size_t)bytes, out);
  fclose(in);
  fclose(out);
}

LIBRARY_TEST(cut_short) {
  struct stat s;
  assert_int_equal(stat(good_file(), &s), 0);
  for (int part = 1; part < 10; part++) {
    copy_good(in_folder("cut.h5"), s.st_size * part / 10, -1, 0);
    handle_fails(OP_ERR_FILE, op_decl_set_hdf5(in_folder("cut.h5"), "nodes"));
    message_has("cut.h5");
  }
}

/* The ninth byte is the version of the format. */
LIBRARY_TEST(another_version) {
  copy_good(in_folder("version.h5"), -1, 8, 77);
  handle_fails(OP_ERR_FILE, op_decl_set_hdf5(in_folder("version.h5"), "nodes"));
  message_has("version");
}

LIBRARY_TEST(no_dataset) {
  handle_fails(OP_ERR_FILE, op_decl_set_hdf5(good_file(), "node"));
  message_has("did you mean \"nodes\"");
  message_has("\"cell_nodes\"");
  handle_fails(OP_ERR_FILE, op_decl_set_hdf5(good_file(), "a/b/c"));
  op_set cells = op_decl_set_hdf5(good_file(), "cells");
  const int counted = op_counters()->loops == 0;
  assert_true(counted);
  handle_fails(OP_ERR_FILE, op_decl_dat_hdf5(cells, 1, "double", good_file(), "p"));
}

LIBRARY_TEST(wrong_shapes) {
  const char *file = good_file();
  op_set cells = op_decl_set_hdf5(file, "cells"), nodes = op_decl_set_hdf5(file, "nodes");
  handle_fails(OP_ERR_FILE, op_decl_set_hdf5(file, "x"));
  message_has("22 x 2");
  handle_fails(OP_ERR_DIM, op_decl_dat_hdf5(nodes, 3, "double", file, "x"));
  message_has("rows of 3");
  handle_fails(OP_ERR_SIZE, op_decl_dat_hdf5(cells, 2, "double", file, "x"));
  message_has("has 22 rows, but set \"cells\" has 10");
  handle_fails(OP_ERR_DIM, op_decl_map_hdf5(cells, nodes, 3, file, "cell_nodes"));
  handle_fails(OP_ERR_DIM, op_decl_map_hdf5(cells, nodes, 0, file, "cell_nodes"));
  handle_fails(OP_ERR_TYPE, op_decl_map_hdf5(nodes, nodes, 2, file, "x"));
  handle_fails(OP_ERR_TYPE, op_decl_dat_hdf5(nodes, 2, "complex", file, "x"));
  handle_fails(OP_ERR_HANDLE, op_decl_dat_hdf5(NULL, 2, "double", file, "x"));
  handle_fails(OP_ERR_HANDLE, op_decl_map_hdf5(NULL, nodes, 2, file, "cell_nodes"));
  double value;
  fails(OP_ERR_DIM, op_get_const_hdf5("q", 3, "double", &value, file));
  fails(OP_ERR_ARGUMENT, op_get_const_hdf5("q", 1, "double", NULL, file));
  fails(OP_ERR_TYPE, op_get_const_hdf5("q", 1, "real", &value, file));
  fails(OP_ERR_DIM, op_get_const_hdf5("q", 0, "real", &value, file));
}

LIBRARY_TEST(entries_out_of_range) {
  op_set cells = op_decl_set_hdf5(good_file(), "cells"), few = op_decl_set(20, "few");
  handle_fails(OP_ERR_MAP_RANGE, op_decl_map_hdf5(cells, few, 4, good_file(), "cell_nodes"));
  message_has("good.h5: map \"cell_nodes\": entry 1 of element 9");
  message_has("is 20; expected 0 .. 19");
}

/* Before anything is read or written. */
LIBRARY_TEST(asks_for_hdf5) {
  assert_int_equal(op_open_hdf5(), OP_OK);
  assert_int_equal(op_exit(), OP_OK);
  write_text(in_folder("op2jit-hdf5.so"), "no library");
  setenv("OP2_PLUGINS", folder, 1);
  assert_int_equal(op_init(0, NULL, 0), OP_OK);
  assert_int_equal(op_open_hdf5(), OP_ERR_FILE);
  message_has("the HDF5 plugin does not open");
  assert_int_equal(op_exit(), OP_OK);
  assert_int_equal(op_open_hdf5(), OP_ERR_STATE);
  unsetenv("OP2_PLUGINS");
  assert_int_equal(unlink(in_folder("op2jit-hdf5.so")), 0);
  assert_int_equal(op_init(0, NULL, 0), OP_OK);
}

/* ---- writing ---- */

/* The library is there in `run`, with a file already read. */
static int unprivileged(void (*run)(void)) {
  fflush(NULL);
  pid_t pid = fork();
  if (pid == 0) {
    /* The plugin first: the build's folder may be closed to others. */
    if (op_init(0, NULL, 0) != OP_OK || !op_decl_set_hdf5(good_file(), "cells"))
      _exit(1);
    if (getuid() == 0 && (setgroups(0, NULL) != 0 || setgid(65534) != 0 || setuid(65534) != 0))
      _exit(77);
    run();
    _exit(0);
  }
  int status;
  waitpid(pid, &status, 0);
  return status;
}

#define must(condition)                                                                                      \
  do {                                                                                                       \
    if (!(condition)) {                                                                                      \
      fprintf(stderr, "%s:%d: %s; %s\n", __FILE__, __LINE__, #condition, op_last_error()->message);          \
      _exit(1);                                                                                              \
    }                                                                                                        \
  } while (0)

static void without_rights(void) {
  const int v = 3;
  must(!op_decl_set_hdf5(in_folder("secret.h5"), "nodes"));
  must(op_last_error()->code == OP_ERR_FILE && strstr(op_last_error()->message, "Permission denied"));
  must(op_write_const_hdf5("v", 1, "int", &v, in_folder("closed/new.h5")) == OP_ERR_FILE);
  must(strstr(op_last_error()->message, "Permission denied"));
  must(op_write_const_hdf5("v", 1, "int", &v, in_folder("open/kept.h5")) == OP_ERR_FILE);
  must(strstr(op_last_error()->message, "kept.h5 cannot be written: Permission denied"));
  must(op_dump_to_hdf5(in_folder("open/kept.h5")) == OP_ERR_FILE);
  must(op_write_const_hdf5("v", 1, "int", &v, in_folder("open/mine.h5")) == OP_OK);
  must(unlink(in_folder("open/mine.h5")) == 0);
  op_exit();
}

LIBRARY_TEST(no_permission) {
  assert_int_equal(op_exit(), 0);
  copy_good(in_folder("secret.h5"), -1, -1, 0);
  chmod(in_folder("secret.h5"), 0);
  mkdir(in_folder("closed"), 0755);
  mkdir(in_folder("open"), 0777);
  chmod(in_folder("closed"), 0555);
  chmod(in_folder("open"), 0777);
  copy_good(in_folder("open/kept.h5"), -1, -1, 0);
  chmod(in_folder("open/kept.h5"), 0444);
  chmod(folder, 0755);
  assert_int_equal(unprivileged(without_rights), 0);
  unlink(in_folder("open/kept.h5"));
  assert_int_equal(rmdir(in_folder("open")), 0);
  assert_int_equal(rmdir(in_folder("closed")), 0);
  assert_int_equal(op_init(0, NULL, 0), 0);
}

LIBRARY_TEST(no_folder) {
  const int v = 3;
  fails(OP_ERR_FILE, op_write_const_hdf5("v", 1, "int", &v, in_folder("absent/new.h5")));
  message_has("No such file or directory");
  fails(OP_ERR_FILE, op_dump_to_hdf5(folder));
}

/* The file there is none of HDF5: nothing is added to it, and it stays. */
LIBRARY_TEST(not_ours_to_update) {
  const int v = 3;
  char text[32] = "";
  write_text(in_folder("precious.txt"), "precious");
  fails(OP_ERR_FILE, op_write_const_hdf5("v", 1, "int", &v, in_folder("precious.txt")));
  message_has("precious.txt: the file cannot be opened as an HDF5 file");
  FILE *f = fopen(in_folder("precious.txt"), "r");
  assert_non_null(fgets(text, sizeof text, f));
  fclose(f);
  assert_string_equal(text, "precious");
}

LIBRARY_TEST(names_that_collide) {
  declare_strip(3);
  op_set other = op_decl_set(2, "nodes");
  fails(OP_ERR_FILE, op_dump_to_hdf5(in_folder("twice.h5")));
  message_has("both called \"nodes\"");
  assert_int_not_equal(access(in_folder("twice.h5"), F_OK), 0);
  op_dat below = op_decl_dat(other, 1, "int", NULL, "q/below");
  works(op_fetch_data_hdf5_file_path(below, in_folder("place.h5"), "q"));
  fails(OP_ERR_FILE, op_fetch_data_hdf5_file(below, in_folder("place.h5"))); /* q is no folder */
  fails(OP_ERR_ARGUMENT, op_fetch_data_hdf5_file_path(below, in_folder("place.h5"), ""));
}

/* A folder holds other results, a set or a map the mesh: none of them is replaced. */
LIBRARY_TEST(no_place_for_data) {
  const char *file = in_folder("kept.h5");
  const double v[2] = {1, 2};
  double q[10];
  struct strip s = declare_strip(10);
  works(op_dump_to_hdf5(file));
  works(op_fetch_data_hdf5_file_path(s.q, file, "run/step0/q"));
  op_dat run = op_decl_dat(s.cells, 1, "double", NULL, "run");
  fails(OP_ERR_FILE, op_fetch_data_hdf5_file(run, file));
  message_has("dat \"run\": ");
  message_has("kept.h5: \"run\" is a folder of the file, not a dataset, and is not replaced");
  fails(OP_ERR_FILE, op_fetch_data_hdf5_file_path(run, file, "/run/step0/"));
  fails(OP_ERR_FILE, op_fetch_data_hdf5_file_path(run, file, "/"));
  fails(OP_ERR_FILE, op_write_const_hdf5("run", 2, "double", v, file));
  message_has("\"run\" is a folder");
  fails(OP_ERR_FILE, op_fetch_data_hdf5_file_path(run, file, "cells"));
  message_has("\"cells\" is the size of a set in the file's mesh and is not replaced");
  for (const char *const *same =
           (const char *const[]){"/nodes", "nodes/", "./nodes", "//nodes", "nodes/.", NULL};
       *same; same++) {
    fails(OP_ERR_FILE, op_fetch_data_hdf5_file_path(run, file, *same));
    message_has("\"nodes\" is the size of a set");
  }
  fails(OP_ERR_FILE, op_fetch_data_hdf5_file_path(run, file, "cell_nodes"));
  message_has("is a map in the file's mesh");
  fails(OP_ERR_FILE, op_write_const_hdf5("cells", 2, "double", v, file));
  works(op_exit());
  works(op_init(0, NULL, 0)); /* the file alone says what is its mesh */
  fails(OP_ERR_FILE, op_write_const_hdf5("nodes", 2, "double", v, file));
  works(op_write_const_hdf5("one", 1, "int", (const int[]){7}, file));
  works(op_write_const_hdf5("one", 2, "double", v, file));
  op_set cells = op_decl_set_hdf5(file, "cells"), nodes = op_decl_set_hdf5(file, "nodes");
  assert_non_null(op_decl_map_hdf5(cells, nodes, 4, file, "cell_nodes"));
  op_dat kept = op_decl_dat_hdf5(cells, 1, "double", file, "run/step0/q");
  assert_non_null(kept);
  works(op_fetch_data(kept, q));
  assert_true(q[9] == 4.5);
}

/* ---- no space ---- */

enum { LARGE = 200000 };

/* Runs in a child, with a limit or a full disk; ends with 0 if all was as it should be. */
static void write_too_much(const char *path) {
  int value = 5, back = 0;
  op_init(0, NULL, 0);
  op_set set = op_decl_set(LARGE, "large");
  op_dat dat = op_decl_dat(set, 2, "double", NULL, "d");
  must(op_write_const_hdf5("v", 1, "int", &value, path) == OP_OK);
  for (int round = 0; round < 3; round++) {
    must(op_fetch_data_hdf5_file(dat, path) == OP_ERR_FILE);
    must(strstr(op_last_error()->message, "No space left") ||
         strstr(op_last_error()->message, "File too large"));
    must(op_dump_to_hdf5(path) == OP_ERR_FILE);
    must(op_get_const_hdf5("v", 1, "int", &back, path) == OP_OK && back == 5);
  }
  must(op_write_const_hdf5("w", 1, "int", &value, path) == OP_OK); /* what fits still goes */
  must(op_get_const_hdf5("w", 1, "int", &back, path) == OP_OK && back == 5);
  must(op_exit() == OP_OK);
}

static int in_child(void (*run)(void)) {
  fflush(NULL);
  pid_t pid = fork();
  if (pid == 0) {
    run();
    exit(0); /* with all that HDF5 does at the end of a program */
  }
  int status;
  waitpid(pid, &status, 0);
  return status;
}

static void with_a_limit(void) {
  struct rlimit limit = {1 << 20, 1 << 20};
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &limit);
  write_too_much(in_folder("limit.h5"));
}

LIBRARY_TEST(a_limit_of_size) {
  assert_int_equal(op_exit(), 0);
  int before = files_in_folder();
  assert_int_equal(in_child(with_a_limit), 0);
  assert_int_equal(files_in_folder(), before + 1);
  assert_int_equal(op_init(0, NULL, 0), 0);
}

static void on_a_full_disk(void) {
  write_too_much(in_folder("disk/full.h5"));
}

LIBRARY_TEST(a_full_disk) {
  assert_int_equal(op_exit(), 0);
  mkdir(in_folder("disk"), 0755);
  if (mount("small", in_folder("disk"), "tmpfs", 0, "size=1m,mode=0777") != 0) {
    printf("not tested: a small tmpfs cannot be mounted here (%s)\n", strerror(errno));
    rmdir(in_folder("disk"));
    assert_int_equal(op_init(0, NULL, 0), 0);
    skip();
  }
  int status = in_child(on_a_full_disk);
  umount(in_folder("disk"));
  rmdir(in_folder("disk"));
  assert_int_equal(status, 0);
  assert_int_equal(op_init(0, NULL, 0), 0);
}

/* ---- killed ---- */

static void write_for_ever(void) {
  op_init(0, NULL, 0);
  op_set set = op_decl_set(LARGE, "large");
  double *values = calloc(2 * LARGE, sizeof *values);
  op_dat dat = op_decl_dat(set, 2, "double", NULL, "d");
  for (int round = 1;; round++) {
    for (int i = 0; i < 2 * LARGE; i++)
      values[i] = round;
    op_put_data(dat, values);
    op_fetch_data_hdf5_file(dat, in_folder("killed.h5"));
  }
}

LIBRARY_TEST(killed_while_writing) {
  unsigned seed = 99;
  int whole = 0;
  op_set set = op_decl_set(LARGE, "large");
  double *values = malloc(2 * LARGE * sizeof *values);
  for (int round = 0; round < 40; round++) {
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
      op_exit();
      write_for_ever();
    }
    seed = seed * 1664525u + 1013904223u;
    /* The first may finish a file, however busy the machine is. */
    for (int i = 0; round == 0 && i < 6000 && access(in_folder("killed.h5"), F_OK) != 0; i++)
      usleep(10000);
    usleep(2000 + (seed >> 8) % 40000);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    op_dat dat = op_decl_dat_hdf5(set, 2, "double", in_folder("killed.h5"), "d");
    if (!dat)
      fail_msg("%s", op_last_error()->message);
    works(op_fetch_data(dat, values));
    for (int i = 0; i < 2 * LARGE; i++)
      assert_true(values[i] >= 1 && values[i] == values[0]);
    whole++;
  }
  free(values);
  assert_int_equal(whole, 40);
}

int main(void) {
  need_hdf5();
  return run_these(make_good, remove_folder);
}
