/* Beginning, and errors, for programs in Fortran. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "api/fortran/fortran.h"
#include "base/list.h"
#include "base/log.h"
#include "base/text.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "report/report.h"

/* Fortran hands a program's arguments on one by one, and cut to some length: here they are as the system has them. */
static void read_words(struct text *out) {
  char part[4096];
  size_t n;
  FILE *file = fopen("/proc/self/cmdline", "rb");
  while (file && (n = fread(part, 1, sizeof part, file)) > 0)
    text_add_bytes(out, part, n);
  if (file)
    fclose(file);
}

/* Each word ends with a NUL. argv ends with NULL. */
static char **list_words(struct text *words, int *argc) {
  int count = 0;
  for (size_t i = 0; i < words->length; i++)
    count += !words->data[i];
  char **argv = array_new((size_t)count + 1, sizeof *argv);
  char *at = words->data;
  for (int i = 0; argv && i < count; i++, at += strlen(at) + 1)
    argv[i] = at;
  *argc = argv ? count : 0;
  return argv;
}

static void *find_mpi(const char *name) {
  return dlsym(RTLD_DEFAULT, name);
}

/* MPI's description of itself. A program with a communicator has MPI in its process. */
static void library_version(char *out) {
  int (*ask)(char *, int *) = NULL;
  int length = 0;
  void *found = find_mpi("MPI_Get_library_version");
  memcpy(&ask, &found, sizeof ask);
  if (ask)
    ask(out, &length);
}

/* MPI that the program has begun itself is ended too, as OP2 does. */
int op2jit_f_exit(void) {
  int (*begun)(int *) = NULL, (*ended)(int *) = NULL, (*end)(void) = NULL, is_begun = 0, is_ended = 1;
  void *found[] = {find_mpi("MPI_Initialized"), find_mpi("MPI_Finalized"), find_mpi("MPI_Finalize")};
  const int code = op2jit_exit();
  memcpy(&begun, &found[0], sizeof begun);
  memcpy(&ended, &found[1], sizeof ended);
  memcpy(&end, &found[2], sizeof end);
  if (begun && ended && end && begun(&is_begun) == 0 && ended(&is_ended) == 0 && is_begun && !is_ended)
    end();
  return code;
}

int op2jit_f_init(int diags, int base, int old, int given, int comm) {
  enum { VERSION_BYTES = 8192 }; /* what MPICH needs */
  char library[VERSION_BYTES] = "";
  struct text words = {0};
  int argc = 0;
  read_words(&words);
  char **argv = list_words(&words, &argc);
  if (given)
    library_version(library);
  const struct comm_given by = {.fortran = comm, .library = library};
  const int code = api_init(argc, argv, diags, given ? &by : NULL, old != 0);
  free(argv);
  text_free(&words);
  if (!code && api_context()) {
    api_context()->maps_base = base;
    api_context()->columns_base = 1;
  }
  return code;
}

int op2jit_f_error(char *out, int size) {
  const op_error *error = op2jit_last_error();
  const size_t room = size > 0 ? (size_t)size : 0, length = strlen(error->message);
  memset(out, ' ', room);
  memcpy(out, error->message, length < room ? length : room);
  return error->code;
}

char *op2jit_f_report_json(size_t *length) {
  struct text report = {0};
  char *taken = NULL;
  *length = 0;
  struct op_context *ctx = api_enter("op_report_json", FLUSH);
  if (!ctx)
    return NULL;
  int code = api_agree("op_report_json");
  if (!code)
    code = context_json(ctx, &report, api_error());
  const size_t bytes = report.length;
  if (!code && !(taken = text_take(&report)))
    code = error_memory(api_error(), "a report", bytes);
  text_free(&report);
  *length = taken ? bytes : 0;
  api_leave_local(code);
  return taken;
}

void op2jit_f_print(const char *line) {
  op2jit_printf("%s\n", line);
}

void op2jit_f_copied(const char *call) {
  struct op_context *ctx = api_context();
  if (!ctx || ctx->copies_told)
    return;
  ctx->copies_told = true;
  log_line(
      ctx->log, LOG_WARN, "perf",
      "%s: the array is a section whose values do not lie one behind the other; it is copied, as all such "
      "sections are, which is not said again",
      call);
}

int op2jit_f_refuse_bounds(long long pieces, long long bounds) {
  if (!api_enter("op_graph_loop", KEEP))
    return api_refused();
  return api_leave_local(error_set(api_error(), OP_ERR_SIZE,
                                   "op_graph_loop: %lld tasks need %lld bounds, and the array has %lld; give "
                                   "where each piece begins, and behind them one more than the last element",
                                   pieces, pieces + 1, bounds));
}

int op2jit_f_refuse_section(const char *call) {
  struct op_context *ctx = api_enter(call, KEEP);
  if (!ctx)
    return api_refused();
  return api_leave_local(error_set(api_error(), OP_ERR_ARGUMENT,
                                   "%s: the array is a section whose values do not lie one behind the other; "
                                   "pass an array of its own, and copy between the two",
                                   call));
}
