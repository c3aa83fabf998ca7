/* test_tools OWN KOKKOS NOTOOL: what tools are told, tables of the program's and libraries of OP2_TOOLS; and what is
 * refused. */
#include "../unit.h"

#include <op2jit.h>
#include <op2jit_tools.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

OP_KERNEL_DEF(
    twice, void twice(const double *in, double *out) { *out = 2 * *in; })

enum { SIZE = 1000, TIMES = 3 };
static const char *own, *kokkos, *no_tool;

struct seen {
  int begun, events[OP_EVENT_FILE + 1], finished;
  bool open; /* a loop */
};

static void on_begin(void *user, const char *loop) {
  struct seen *seen = user;
  assert_string_equal(loop, "twice");
  assert_false(seen->open);
  seen->open = true;
  seen->begun++;
}

static void on_event(void *user, enum op_event event, const char *name, const char *detail, double seconds,
                     double bytes) {
  struct seen *seen = user;
  assert_true(event >= 0 && event <= OP_EVENT_FILE && seconds >= 0 && bytes >= 0);
  assert_non_null(detail);
  seen->events[event]++;
  if (event != OP_EVENT_LOOP)
    return;
  assert_true(seen->open && strcmp(name, "twice") == 0 && bytes == 2 * SIZE * sizeof(double));
  seen->open = false;
}

static void on_finish(void *user) {
  ((struct seen *)user)->finished++;
}

static void works(int code) {
  if (code != OP_OK)
    fail_msg("%s", op_last_error()->message);
}

static int begin(const char *tools) {
  char setting[1024];
  snprintf(setting, sizeof setting, "OP2_TOOLS=%s", tools);
  char *argv[] = {"tools", setting};
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  return op_init(tools ? 2 : 1, argv, 0);
}

static void run_loops(void) {
  static double x[SIZE];
  op_set set = op_decl_set(SIZE, "set");
  op_dat in = op_decl_dat(set, 1, "double", x, "in"), out = op_decl_dat(set, 1, "double", x, "out");
  for (int i = 0; i < TIMES; i++)
    works(op_par_loop(OP_KERNEL_OF(twice), "twice", set, op_arg_dat(in, -1, OP_ID, 1, "double", OP_READ),
                      op_arg_dat(out, -1, OP_ID, 1, "double", OP_WRITE)));
  works(op_fetch_data(out, x));
}

TEST(a_table_of_the_program) {
  struct seen seen = {0};
  op_tool tool = {OP_TOOL_VERSION, &seen, on_begin, on_event, on_finish};
  works(begin(NULL));
  tool.version++;
  assert_int_equal(op_add_tool(&tool), OP_ERR_ARGUMENT);
  tool.version--;
  assert_int_equal(op_add_tool(NULL), OP_ERR_ARGUMENT);
  works(op_add_tool(&tool));
  run_loops();
  assert_int_equal(seen.begun, TIMES);
  assert_int_equal(seen.events[OP_EVENT_LOOP], TIMES);
  assert_int_equal(seen.finished, 0);
  works(op_exit());
  assert_int_equal(seen.finished, 1);
  assert_int_equal(op_add_tool(&tool), OP_ERR_STATE);
}

TEST(a_table_without_functions) {
  const op_tool nothing = {.version = OP_TOOL_VERSION};
  works(begin(NULL));
  works(op_add_tool(&nothing));
  run_loops();
  works(op_exit());
}

/* The words that a library wrote; the caller frees them. */
static char *told(const char *tools) {
  char path[] = "/tmp/op2jit-tool-XXXXXX";
  const int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
  setenv("OP2_TEST_SAID", path, 1);
  works(begin(tools));
  run_loops();
  works(op_exit());
  char *text = calloc(1, 1 << 16);
  FILE *said = fopen(path, "r");
  assert_true(text && said);
  text[fread(text, 1, (1 << 16) - 1, said)] = '\0';
  fclose(said);
  remove(path);
  return text;
}

static int count(const char *text, const char *part) {
  int n = 0;
  for (; (text = strstr(text, part)); text++)
    n++;
  return n;
}

TEST(a_library_of_tools) {
  char *text = told(own);
  assert_int_equal(count(text, "begin twice\nevent 0 twice said 1 1\n"), TIMES);
  assert_int_equal(count(text, "finish\n"), 1);
  free(text);
}

TEST(a_library_of_kokkos) {
  char *text = told(kokkos);
  assert_int_equal(count(text, "init 0 1 0 1\n"), 1);
  for (int i = 0; i < TIMES; i++) {
    char pair[64];
    snprintf(pair, sizeof pair, "begin twice 0 %d\nend %d\n", 40 + i, 40 + i);
    if (!strstr(text, "copy")) /* loops on a device have copies in between */
      assert_int_equal(count(text, pair), 1);
  }
  assert_int_equal(count(text, "begin twice"), TIMES);
  assert_int_equal(count(text, "finalize\n"), 1);
  free(text);
}

TEST(what_is_no_tool) {
  assert_int_equal(begin("/nosuch/tool.so"), OP_ERR_ENV);
  assert_non_null(strstr(op_last_error()->message, "OP2_TOOLS: /nosuch/tool.so: "));
  assert_int_equal(begin(no_tool), OP_ERR_ENV);
  assert_non_null(strstr(op_last_error()->message, "is no tool: it has neither op2jit_tool() nor kokkosp_"));
  works(begin(NULL));
  works(op_exit());
}

int main(int argc, char **argv) {
  if (argc != 4)
    return 2;
  own = argv[1];
  kokkos = argv[2];
  no_tool = argv[3];
  return run_these(NULL, NULL);
}
