/* One run of a capture, in a child. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/api.h"
#include "base/list.h"
#include "cli/replay.h"
#include "record/sites.h"

/* Longer than any call of a loop: a kernel may never end. */
enum { SECONDS_MOST = 600 };

/* ---- its environment ---- */

static bool add_word(struct rerun *t, const char *name, const char *value) {
  int n = 0;
  for (size_t length = strlen(name); t->words[n]; n++)
    if (strncmp(t->words[n], name, length) == 0 && t->words[n][length] == '=')
      return true;
  struct text word = {0};
  text_addf(&word, "%s=%s", name, value);
  t->words[n] = n + 1 < RERUN_WORDS ? text_take(&word) : NULL;
  text_free(&word);
  return t->words[n];
}

/* Takes from the captured run only what decides which code runs, and nothing that names a file. */
static bool add_captured(struct rerun *t, const struct capture *c) {
  static const char *const names[] = {"OP2_FP",    "OP2_REPRODUCIBLE", "OP2_VARIANT",
                                      "OP2_LAZY",  "OP2_FUSE",         "OP2_THREADS",
                                      "OP2_TILES", "OP2_TASKS",        "OP2_BACKEND"};
  const char *backend = capture_fact(c, "backend");
  bool good = true;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *value = capture_fact(c, names[i]);
    if (*value && strcmp(value, "native") != 0)
      good &= add_word(t, names[i], value);
  }
  /* A function of the program is not there. */
  if (strcmp(capture_fact(c, "OP2_BACKEND"), "") == 0 || strcmp(backend, "native") == 0)
    good &= add_word(t, "OP2_BACKEND", strcmp(backend, "native") == 0 ? "seq" : backend);
  return good && add_word(t, "OP2_TUNE", "off") && add_word(t, "OP2_MPI", "off");
}

/* Words of this command come first, and are not replaced. */
int rerun_make(struct rerun *t, const struct cli *cli, const struct capture *c, const char *const words[],
               struct error *err) {
  bool good = true;
  *t = (struct rerun){.times = 0};
  for (int i = 0; words && words[i]; i += 2)
    good &= add_word(t, words[i], words[i + 1]);
  for (int i = 0; i < ENV_COUNT; i++)
    if (env_given(&cli->env, (enum env_name)i) && i != ENV_CAPTURE)
      good &= add_word(t, env_row((enum env_name)i)->name, env_value(&cli->env, (enum env_name)i));
  good &= add_captured(t, c);
  if (good)
    return OP_OK;
  rerun_free(t);
  return error_memory(err, "the words of a run", 0);
}

void rerun_free(struct rerun *t) {
  for (int i = 0; i < RERUN_WORDS; i++)
    free(t->words[i]);
  *t = (struct rerun){.times = 0};
}

/* ---- the child ---- */

static void tell(struct outcome *out, int code) {
  out->end = RERUN_REFUSED;
  out->code = code;
  out->fact = api_error()->fact;
  snprintf(out->message, sizeof out->message, "%s", op_last_error()->message);
}

static void tell_variant(struct outcome *out) {
  const struct op_context *ctx = api_context();
  const struct loop_site *site = ctx && ctx->sites->count ? ctx->sites->items[0] : NULL;
  const char *variant = site ? site_stats(site)->variant : NULL;
  snprintf(out->variant, sizeof out->variant, "%s", variant ? variant : "");
}

_Noreturn static void run_child(const struct rerun *t, const struct capture *c, const struct places *places,
                                struct outcome *out) {
  char *argv[RERUN_WORDS + 1] = {(char *)(size_t) "op2jit"};
  int argc = 1;
  for (; t->words[argc - 1]; argc++)
    argv[argc] = t->words[argc - 1];
  env_forget();
  signal(SIGALRM, SIG_DFL);
  alarm((unsigned)(t->seconds ? t->seconds : SECONDS_MOST));
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  int code = op_init(argc, argv, 0);
  if (!code)
    code = replay_calls(c, places, t->times, out);
  if (code)
    tell(out, code);
  else {
    tell_variant(out);
    out->end = RERUN_RAN;
  }
  op_exit();
  fflush(NULL);
  _exit(0);
}

/* ---- the parent ---- */

static size_t size_of(const struct places *places) {
  return ((sizeof(struct outcome) + 63) & ~(size_t)63) + places->bytes;
}

static int wait_for(pid_t child, int *status) {
  pid_t ended;
  do
    ended = waitpid(child, status, 0);
  while (ended < 0 && errno == EINTR);
  return ended == child;
}

static int run(const struct rerun *t, const struct capture *c, const struct places *places,
               struct outcome *out, struct error *err) {
  struct outcome *shared =
      mmap(NULL, size_of(places), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  int status = 0;
  if (shared == MAP_FAILED)
    return error_memory(err, "the results of a run", size_of(places));
  shared->end = RERUN_DIED;
  shared->values = (unsigned char *)shared + (size_of(places) - places->bytes);
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0)
    run_child(t, c, places, shared);
  if (child < 0 || !wait_for(child, &status)) {
    munmap(shared, size_of(places));
    return error_set(err, OP_ERR_STATE, "no process can be started: %s", strerror(errno));
  }
  *out = *shared; /* `values` stays in the memory that outcome_free gives back */
  if (out->end == RERUN_DIED)
    out->code = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  out->values = (unsigned char *)shared + (size_of(places) - places->bytes);
  return OP_OK;
}

int rerun(const struct rerun *t, const struct capture *c, struct outcome *out, struct error *err) {
  struct places places;
  *out = (struct outcome){.end = RERUN_DIED};
  int code = places_find(c, &places, err);
  if (!code)
    code = run(t, c, &places, out, err);
  out->places = places;
  return code;
}

void outcome_free(struct outcome *o) {
  if (o->values)
    munmap(o->values - (size_of(&o->places) - o->places.bytes), size_of(&o->places));
  places_free(&o->places);
  o->values = NULL;
}
