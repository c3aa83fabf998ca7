/* A compiler plugin for programs that run under an emulator, where a compiler would take long: it asks the one of the
 * machine itself, which is another program (near.c). There is no prover here. */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "jit/compiler.h"
#include "wire.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *to, *from;
static pid_t owner; /* of the other program: after a fork it is not ours */

static bool start(void) {
  int ask[2], tell[2];
  if (pipe(ask) || pipe(tell))
    return false;
  const pid_t child = fork();
  if (child == 0) {
    dup2(ask[0], 0);
    dup2(tell[1], 1);
    close(ask[0]), close(ask[1]), close(tell[0]), close(tell[1]);
    execl(NEAR, NEAR, (char *)NULL);
    _exit(127);
  }
  close(ask[0]);
  close(tell[1]);
  signal(SIGPIPE, SIG_IGN);
  to = fdopen(ask[1], "wb");
  from = fdopen(tell[0], "rb");
  owner = getpid();
  return child > 0 && to && from;
}

static void ask(const struct compile_request *request) {
  put_number(to, request->nfiles);
  for (int i = 0; i < request->nfiles; i++) {
    put_text(to, request->files[i].name);
    put_bytes(to, request->files[i].text, request->files[i].length);
  }
  put_text(to, request->cpu);
  put_text(to, request->features);
  put_text(to, request->fp);
  put_number(to, request->debug);
  put_number(to, request->warnings);
  put_number(to, request->remarks);
  put_number(to, (int64_t)request->trial);
  fflush(to);
}

static void hear(struct compile_result *result) {
  const int64_t status = get_number(from);
  result->status = status < 0 ? 2 : (int)status;
  result->binary = get_bytes(from, &result->size);
  const int64_t count = get_number(from);
  result->messages = calloc((size_t)(count > 0 ? count : 1), sizeof *result->messages);
  for (int i = 0; result->messages && i < count; i++) {
    struct compile_message *m = &result->messages[i];
    m->severity = (enum compile_severity)get_number(from);
    m->file = get_text(from);
    m->line = (int)get_number(from);
    m->column = (int)get_number(from);
    m->text = get_text(from);
    result->nmessages++;
  }
}

static void compile(const struct compile_request *request, struct compile_result *result) {
  *result = (struct compile_result){.status = 2};
  pthread_mutex_lock(&lock);
  if (owner == getpid() || start()) {
    ask(request);
    hear(result);
  }
  pthread_mutex_unlock(&lock);
}

static void release(struct compile_result *result) {
  for (int i = 0; i < result->nmessages; i++) {
    free((char *)(uintptr_t)result->messages[i].file);
    free((char *)(uintptr_t)result->messages[i].text);
  }
  free(result->messages);
  free(result->binary);
  *result = (struct compile_result){0};
}

static const char *version(void) {
  return "of another machine";
}

__attribute__((visibility("default"))) const struct compiler *op2jit_compiler(void);
const struct compiler *op2jit_compiler(void) {
  static const struct compiler table = {COMPILER_ABI, "clang", version, compile, release};
  return &table;
}
