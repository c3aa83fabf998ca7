/* A tool (OP2_TOOLS) that kills the process when so many loops have run as CHECKPOINT_LOOPS says, or CHECKPOINT_DELAY
 * microseconds after that, whatever it is at then; on rank CHECKPOINT_RANK alone where there are several. */
#include <op2jit_tools.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long left = -1, delay;

static void *kill_later(void *unused) {
  struct timespec time = {.tv_sec = delay / 1000000, .tv_nsec = delay % 1000000 * 1000};
  (void)unused;
  nanosleep(&time, NULL);
  kill(getpid(), SIGKILL);
  return NULL;
}

static void begins(void *user, const char *loop) {
  pthread_t thread;
  (void)user, (void)loop;
  if (left <= 0 || --left)
    return;
  if (!delay || pthread_create(&thread, NULL, kill_later, NULL) != 0)
    kill(getpid(), SIGKILL);
}

__attribute__((visibility("default"))) const op_tool *op2jit_tool(void) {
  static const op_tool tool = {.version = OP_TOOL_VERSION, .loop_begins = begins};
  const char *loops = getenv("CHECKPOINT_LOOPS"), *later = getenv("CHECKPOINT_DELAY"),
             *mine = getenv("OMPI_COMM_WORLD_RANK"), *rank = getenv("CHECKPOINT_RANK");
  if (!mine)
    mine = getenv("PMI_RANK");
  if (!mine || !rank || atoi(mine) == atoi(rank))
    left = loops ? atol(loops) : -1;
  delay = later ? atol(later) : 0;
  return &tool;
}
