/* Calls at the wrong time, from the wrong place, or in the wrong environment. */
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CASES_COMPILE COMPILES
#include "negative.h"

CASE(before_init, OP_ERR_STATE, FRESH) {
  op_decl_set(3, "cells");
}

CASE(before_init_loop, OP_ERR_STATE, FRESH) {
  double sum = 0;
  op_par_loop("void k(double *s) { *s += 1; }", "k", NULL, op_arg_gbl(&sum, 1, "double", OP_INC));
}

CASE(before_init_exit, OP_ERR_STATE, FRESH) {
  op_exit();
}

CASE(after_exit, OP_ERR_STATE, 0) {
  if (begin(NULL) == OP_OK && op_exit() == OP_OK)
    op_decl_const("gam", 1, "double", "");
}

CASE(init_twice, OP_ERR_STATE, IN_MESH) {
  begin(NULL);
}

CASE(handle_of_earlier_init, OP_ERR_HANDLE, 0) {
  if (begin(NULL) != OP_OK)
    return;
  op_set old = op_decl_set(4, "cells");
  op_exit();
  if (begin(NULL) != OP_OK)
    return;
  op_decl_dat(old, 1, "double", NULL, "q");
  said_keep(said, op_last_error());
  op_exit();
}

/* ---- around a kernel: only the native form can call anything ----------------------------------*/

static struct said *inside;

static void calls_library(double *h) {
  *h = 0;
  if (!inside->known) {
    op_decl_set(3, "cells");
    said_keep(inside, op_last_error());
  }
}

static void *other_thread(void *nothing) {
  op_set set = op_decl_set(3, "cells");
  if (set || op_last_error()->code != OP_ERR_BUSY)
    said_keep(inside, op_last_error());
  return nothing;
}

static void waits_for_thread(double *h) {
  pthread_t thread;
  *h = 0;
  if (inside->known)
    return;
  if (pthread_create(&thread, NULL, other_thread, NULL) == 0)
    pthread_join(thread, NULL);
  /* The thread's error is its own: here nothing failed. The same words come from a call of this one. */
  if (!inside->known && op_last_error()->code == OP_OK) {
    op_get_size(NULL);
    said_keep(inside, op_last_error());
  }
}

static void run_inside(struct mesh *m, struct said *said, const char *text, op_kernel_function function) {
  op_dat t = op_decl_dat_temp(m->cells, 1, "double", NULL, "t");
  inside = said;
  op_par_loop(op_kernel_native(text, function), "k", m->cells,
              op_arg_dat(t, -1, OP_ID, 1, "double", OP_WRITE));
  if (op_last_error()->code != OP_OK)
    said_keep(said, op_last_error());
  op_free_dat_temp(t);
}

CASE(call_inside_kernel, OP_ERR_BUSY, IN_MESH | RETURN_ONLY | NATIVE_ONLY) {
  run_inside(m, said, "void k(double *h) { *h = 0; }", (op_kernel_function)calls_library);
}

CASE(call_in_other_thread, OP_ERR_BUSY, IN_MESH | RETURN_ONLY | NATIVE_ONLY) {
  run_inside(m, said, "void k(double *h) { *h = 0; /* slow */ }", (op_kernel_function)waits_for_thread);
}

/* ---- what op_init reads -----------------------------------------------------------------------*/

#define ASSIGNED(name, code, flags, assignment)                                                              \
  CASE(name, code, flags) {                                                                                  \
    begin(assignment);                                                                                       \
  }

ASSIGNED(backend_unknown, OP_ERR_BACKEND, CUT, "OP2_BACKEND=fpga")
ASSIGNED(backend_misspelt, OP_ERR_BACKEND, CUT, "OP2_BACKEND=natvie")
ASSIGNED(threads_word, OP_ERR_ENV, 0, "OP2_THREADS=many")
ASSIGNED(threads_zero, OP_ERR_ENV, 0, "OP2_THREADS=0")
ASSIGNED(layers_five, OP_ERR_ENV, 0, "OP2_LAYERS=5")
ASSIGNED(threads_trailing, OP_ERR_ENV, 0, "OP2_THREADS=4x")
ASSIGNED(jit_word, OP_ERR_ENV, 0, "OP2_JIT=maybe")
ASSIGNED(fp_word, OP_ERR_ENV, 0, "OP2_FP=quick")
ASSIGNED(tune_word, OP_ERR_ENV, 0, "OP2_TUNE=sometimes")
ASSIGNED(variant_empty, OP_ERR_ENV, 0, "OP2_VARIANT=64,scale:")
ASSIGNED(variant_layout_of_loop, OP_ERR_ENV, 0, "OP2_VARIANT=64,scale:32/soa=height")
ASSIGNED(variant_twice, OP_ERR_ENV, 0, "OP2_VARIANT=soa=height,scale:32,64")
ASSIGNED(check_word, OP_ERR_ENV, 0, "OP2_CHECK=Yes")
ASSIGNED(cache_none, OP_ERR_ENV, 0, "OP2_CACHE=None")
ASSIGNED(cache_on, OP_ERR_ENV, 0, "OP2_CACHE=on")
ASSIGNED(timing_without_file, OP_ERR_ENV, 0, "OP2_TIMING=json")
ASSIGNED(log_word, OP_ERR_ENV, 0, "OP2_LOG=loud")
ASSIGNED(misspelt_variable, OP_OK, WARNING, "OP2_BACKND=native")
ASSIGNED(unlike_any_variable, OP_OK, WARNING, "OP2_ZQXWVK=1")
ASSIGNED(variable_without_value, OP_OK, WARNING, "OP2_THREADS")
ASSIGNED(plugins_nowhere, OP_OK, WARNING, "OP2_PLUGINS=/nowhere/at/all")
ASSIGNED(shadow_of_itself, OP_OK, WARNING | NATIVE_ONLY, "OP2_SHADOW=native")

CASE(environment_value, OP_ERR_ENV, 0) {
  setenv("OP2_FP", "exact", 1);
  begin(NULL);
  said_keep(said, op_last_error());
  unsetenv("OP2_FP");
}

CASE(argument_over_environment, OP_ERR_ENV, 0) {
  setenv("OP2_FP", "fast", 1);
  begin("OP2_FP=slow");
  said_keep(said, op_last_error());
  unsetenv("OP2_FP");
}

CASE(misspelt_in_environment, OP_OK, WARNING) {
  setenv("OP2_THREAD", "4", 1);
  if (begin(NULL) == OP_OK)
    op_exit();
  unsetenv("OP2_THREAD");
}

/* Names of loops are looked at when the program ends. */
static void run_scale_with(const char *assignment) {
  double sum = 0;
  if (begin(assignment) != OP_OK)
    return;
  op_set set = op_decl_set(3, "cells");
  op_dat dat = op_decl_dat(set, 1, "double", NULL, "height");
  op_par_loop(kernel_scale(), "scale", set, op_arg_dat(dat, -1, OP_ID, 1, "double", OP_READ),
              op_arg_gbl(&sum, 1, "double", OP_INC));
  op_exit();
}

CASE(check_of_no_loop, OP_OK, WARNING) {
  run_scale_with("OP2_CHECK=scael,scale,flux_through_faces");
}

CASE(variant_of_no_dat, OP_OK, WARNING) {
  run_scale_with("OP2_VARIANT=soa=heigth/aos=height/soa=zzzz");
}

CASE(variant_of_no_loop, OP_OK, WARNING) {
  char assignment[64];
  const char *backend = getenv("OP2_BACKEND");
  bool cuda = backend && strcmp(backend, "cuda") == 0;
  snprintf(assignment, sizeof assignment, "OP2_VARIANT=sclae:%s", cuda ? "atomics/64" : "scalar");
  run_scale_with(assignment);
}

/* ---- what an open library refuses -------------------------------------------------------------*/

/* Every file under /proc is somebody else's. */
CASE(cache_unwritable, OP_OK, WARNING | COMPILED_ONLY) {
  run_scale_with("OP2_CACHE=/proc/op2jit/kernels.db");
}

static void run_without_native_form(struct said *said) {
  double sum = 0;
  op_par_loop("void bare(double *sum) { *sum += 1; }", "bare", op_decl_set(3, "cells"),
              op_arg_gbl(&sum, 1, "double", OP_INC));
  said_keep(said, op_last_error());
  op_exit();
}

CASE(shadow_without_native_form, OP_ERR_BACKEND, COMPILED_ONLY) {
  if (begin("OP2_SHADOW=native") == OP_OK)
    run_without_native_form(said);
}

CASE(jit_off_without_native_form, OP_ERR_BACKEND, 0) {
  char kept[16] = "", *argv[] = {"negative", "OP2_JIT=off"};
  const char *backend = getenv("OP2_BACKEND");
  snprintf(kept, sizeof kept, "%s", backend ? backend : "");
  unsetenv("OP2_BACKEND");
  if (op_init(2, argv, 0) == OP_OK)
    run_without_native_form(said);
  if (backend)
    setenv("OP2_BACKEND", kept, 1);
}

/* Which value is taken otherwise depends on the processor. */
static const char *fixed_variant(void) {
  const char *backend = getenv("OP2_BACKEND");
  return backend && strcmp(backend, "cuda") == 0 ? "atomics/64" : "scalar";
}

CASE(load_only, OP_ERR_CACHE_MISS, COMPILED_ONLY | RETURN_ONLY) {
  double sum = 0;
  setenv("OP2_VARIANT", fixed_variant(), 1);
  int code = begin("OP2_JIT=load");
  unsetenv("OP2_VARIANT");
  if (code != OP_OK)
    return;
  op_set set = op_decl_set(3, "cells");
  op_par_loop("void k(const int *n, double *sum) {\n  *sum += 17 * *n;\n}\n", "k", set, op_arg_idx(-1, OP_ID),
              op_arg_gbl(&sum, 1, "double", OP_INC));
  said_keep(said, op_last_error());
  op_exit();
}

/* One life of a program with two loops, of which one needs no constant. */
static void two_loops(const char *mode, double gam) {
  if (begin(mode) != OP_OK)
    return;
  op_set set = op_decl_set(3, "cells");
  op_dat dat = op_decl_dat(set, 1, "double", NULL, "x");
  op_decl_const("gam", 1, "double", &gam);
  op_par_loop("void one(double *x) { *x += 1; }", "one", set, op_arg_dat(dat, -1, OP_ID, 1, "double", OP_RW));
  op_par_loop("void two(double *x) { *x *= gam; }", "two", set,
              op_arg_dat(dat, -1, OP_ID, 1, "double", OP_RW));
  op_exit();
}

static char load_folder[] = "/tmp/op2jit-load-XXXXXX";

/* The error ends the program. */
static void remove_load_folder(void) {
  char command[sizeof load_folder + 16];
  snprintf(command, sizeof command, "rm -rf %s", load_folder);
  if (system(command) != 0)
    fputs("the folder is left\n", stderr);
}

/* The first loop that is not there, with what changed. */
CASE(load_changed, OP_ERR_CACHE_MISS, COMPILED_ONLY | FRESH) {
  char file[sizeof load_folder + 16];
  if (!mkdtemp(load_folder) || atexit(remove_load_folder) != 0)
    return;
  snprintf(file, sizeof file, "%s/kernels.db", load_folder);
  setenv("OP2_CACHE", file, 1);
  setenv("OP2_VARIANT", fixed_variant(), 1);
  two_loops("OP2_JIT=on", 1.4);
  two_loops("OP2_JIT=load", 1.41);
}

/* ---- what is not there, or breaks ---------------------------------------------------------------*/

CASE(partitioner_not_built, OP_ERR_NOT_BUILT, IN_MESH) {
  op_partition("kahip", NULL, m->cells, m->edge_cells, NULL);
}

/* The driver says that a kernel ran too long. */
CASE(device_fails, OP_ERR_DEVICE, GPU_ONLY) {
  double sum = 0, heights[] = {1, 2, 4};
  setenv("STANDIN_FAIL", "cuLaunchKernel:1:702", 1);
  if (begin(NULL) == OP_OK) {
    op_set cells = op_decl_set(3, "cells");
    op_dat height = op_decl_dat(cells, 1, "double", heights, "height");
    op_par_loop(kernel_scale(), "scale", cells, op_arg_dat(height, -1, OP_ID, 1, "double", OP_READ),
                op_arg_gbl(&sum, 1, "double", OP_INC));
    said_keep(said, op_last_error());
    op_exit();
  }
  unsetenv("STANDIN_FAIL");
}

OP_KERNEL_DEF(
    twice, void twice(double *h, const int *e) { *h = 2 * *h + *e; })

/* Two edges change one cell, and the order decides what it becomes. */
CASE(promise_broken, OP_ERR_VIOLATION, 0) {
  int table[] = {0, 1, 0};
  double heights[] = {1, 2};
  if (begin("OP2_CHECK=on") != OP_OK)
    return;
  op_set edges = op_decl_set(3, "edges"), cells = op_decl_set(2, "cells");
  op_map map = op_decl_map(edges, cells, 1, table, "map");
  op_dat height = op_decl_dat(cells, 1, "double", heights, "height");
  op_par_loop(OP_KERNEL_OF(twice), "twice", edges, op_arg_dat(height, 0, map, 1, "double", OP_RW),
              op_arg_idx(-1, OP_ID));
  said_keep(said, op_last_error());
  op_exit();
}

OP_KERNEL_DEF(
    tops, void tops(const double *limit, double *h) {
      if (*limit > 1)
        *h = *limit;
    })
OP_KERNEL_DEF(
    halves, void halves(const double *limit, double *h) { *h = 0.5 * (*h + *limit); })

/* A user who promised OP_WRITE through a map is not sent to OP_RW alone. */
static void write_through_map(struct said *said, const char *text, const char *kernel) {
  int table[] = {0, 1};
  double limit = 1;
  op_set edges = op_decl_set(2, "edges"), cells = op_decl_set(2, "cells");
  op_map map = op_decl_map(edges, cells, 1, table, "map");
  op_dat height = op_decl_dat(cells, 1, "double", NULL, "height");
  op_par_loop(text, kernel, edges, op_arg_gbl(&limit, 1, "double", OP_READ),
              op_arg_dat(height, 0, map, 1, "double", OP_WRITE));
  said_keep(said, op_last_error());
  op_exit();
}

CASE(write_through_map_unset, OP_ERR_VIOLATION, NATIVE_ONLY) {
  if (begin("OP2_CHECK=on") == OP_OK)
    write_through_map(said, OP_KERNEL_OF(tops), "tops");
}

CASE(write_through_map_read, OP_ERR_VIOLATION, NATIVE_ONLY) {
  if (begin("OP2_CHECK=on") == OP_OK)
    write_through_map(said, OP_KERNEL_OF(halves), "halves");
}
