/* A compiler plugin for programs that run under an emulator, where a compiler would take long: it asks the one of the
 * machine itself, which is another program (near.c). So does its prover, which reads texts as that machine does. */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "jit/deriver.h"
#include "jit/texts.h"
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

/* ---- messages ---- */

static struct compile_message *hear_messages(int *count) {
  const int64_t said = get_number(from);
  struct compile_message *messages = calloc((size_t)(said > 0 ? said : 1), sizeof *messages);
  *count = 0;
  for (int i = 0; messages && i < said; i++) {
    struct compile_message *m = &messages[i];
    if (!get_into(from, m, sizeof *m))
      break;
    m->file = get_text(from);
    m->text = get_text(from);
    ++*count;
  }
  return messages;
}

static void free_messages(struct compile_message *messages, int count) {
  for (int i = 0; i < count; i++) {
    free((char *)(uintptr_t)messages[i].file);
    free((char *)(uintptr_t)messages[i].text);
  }
  free(messages);
}

/* ---- compiling ---- */

static void compile(const struct compile_request *request, struct compile_result *result) {
  *result = (struct compile_result){.status = 2};
  pthread_mutex_lock(&lock);
  if (owner == getpid() || start()) {
    put_number(to, WIRE_COMPILE);
    put_files(to, request->files, request->nfiles);
    put_text(to, request->cpu);
    put_text(to, request->features);
    put_text(to, request->fp);
    put_number(to, request->debug);
    put_number(to, request->warnings);
    put_number(to, request->remarks);
    put_number(to, (int64_t)request->trial);
    fflush(to);
    const int64_t status = get_number(from);
    result->status = status < 0 ? 2 : (int)status;
    result->binary = get_bytes(from, &result->size);
    result->messages = hear_messages(&result->nmessages);
  }
  pthread_mutex_unlock(&lock);
}

static void release(struct compile_result *result) {
  free_messages(result->messages, result->nmessages);
  free(result->binary);
  *result = (struct compile_result){0};
}

/* ---- proving ---- */

static void hear_findings(struct prove_result *result) {
  const int64_t said = get_number(from);
  result->findings = calloc((size_t)(said > 0 ? said : 1), sizeof *result->findings);
  for (int i = 0; result->findings && i < said; i++) {
    struct prove_finding *f = &result->findings[i];
    if (!get_into(from, f, sizeof *f))
      break;
    f->file = get_text(from);
    f->parameter = get_text(from);
    f->name = get_text(from);
    result->nfindings++;
  }
}

static void prove(const struct prove_request *request, struct prove_result *result) {
  *result = (struct prove_result){.status = 2};
  pthread_mutex_lock(&lock);
  if (owner == getpid() || start()) {
    put_number(to, WIRE_PROVE);
    put_files(to, request->files, request->nfiles);
    put_text(to, request->kernel);
    put_number(to, request->narguments);
    for (int i = 0; i < request->narguments; i++) {
      put_bytes(to, &request->arguments[i], sizeof request->arguments[i]);
      put_text(to, request->arguments[i].type);
    }
    put_number(to, request->any_order);
    fflush(to);
    const int64_t status = get_number(from);
    result->status = status < 0 ? 2 : (int)status;
    hear_findings(result);
    result->facts = (const struct prove_fact *)(const void *)get_bytes(from, NULL);
    result->rows = (const struct row_facts *)(const void *)get_bytes(from, NULL);
    result->says = (int)get_number(from);
    result->messages = hear_messages(&result->nmessages);
  }
  pthread_mutex_unlock(&lock);
}

static void release_proof(struct prove_result *result) {
  for (int i = 0; i < result->nfindings; i++) {
    free((char *)(uintptr_t)result->findings[i].file);
    free((char *)(uintptr_t)result->findings[i].parameter);
    free((char *)(uintptr_t)result->findings[i].name);
  }
  free(result->findings);
  free((void *)(uintptr_t)result->facts);
  free((void *)(uintptr_t)result->rows);
  free_messages(result->messages, result->nmessages);
  *result = (struct prove_result){0};
}

static const char *version(void) {
  return "of another machine";
}

__attribute__((visibility("default"))) const struct compiler *op2jit_compiler(void);
const struct compiler *op2jit_compiler(void) {
  static const struct prover prover = {PROVER_ABI, prove, release_proof};
  static const struct deriver no_deriver = {.abi = DERIVER_ABI};
  static const struct reader no_reader = {.abi = READER_ABI};
  static const struct compiler table = {COMPILER_ABI, "clang", version,     compile,
                                        release,      &prover, &no_deriver, &no_reader};
  return &table;
}
