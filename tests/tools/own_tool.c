/* A tool in a library of its own: writes what it is told to the file that OP2_TEST_SAID names. */
#include <op2jit_tools.h>
#include <stdio.h>
#include <stdlib.h>

static FILE *said;

static void loop_begins(void *user, const char *loop) {
  (void)user;
  fprintf(said, "begin %s\n", loop);
}

static void event(void *user, enum op_event which, const char *name, const char *detail, double seconds,
                  double bytes) {
  (void)user;
  fprintf(said, "event %d %s %s %d %d\n", (int)which, name, *detail ? "said" : "-", seconds >= 0, bytes > 0);
}

static void finish(void *user) {
  (void)user;
  fprintf(said, "finish\n");
  fclose(said);
}

static const op_tool table = {OP_TOOL_VERSION, NULL, loop_begins, event, finish};

const op_tool *op2jit_tool(void);
const op_tool *op2jit_tool(void) {
  said = fopen(getenv("OP2_TEST_SAID"), "w");
  return said ? &table : NULL;
}
