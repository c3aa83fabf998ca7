/* A tool (OP2_TOOLS) that kills the process when so many loops have run as CHECKPOINT_LOOPS says, on rank CHECKPOINT_RANK
 * alone where there are several; what it counted before goes to nobody. */
#include <op2jit_tools.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static long left = -1;

static void begins(void *user, const char *loop) {
  (void)user, (void)loop;
  if (left > 0 && --left == 0)
    kill(getpid(), SIGKILL);
}

__attribute__((visibility("default"))) const op_tool *op2jit_tool(void) {
  static const op_tool tool = {.version = OP_TOOL_VERSION, .loop_begins = begins};
  const char *loops = getenv("CHECKPOINT_LOOPS"), *mine = getenv("OMPI_COMM_WORLD_RANK"),
             *rank = getenv("CHECKPOINT_RANK");
  if (!mine)
    mine = getenv("PMI_RANK");
  if (!mine || !rank || atoi(mine) == atoi(rank))
    left = loops ? atol(loops) : -1;
  return &tool;
}
