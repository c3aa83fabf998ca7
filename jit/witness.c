#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "jit/load/load.h"
#include "jit/targets.h"
#include "jit/trial.h"

enum { TRIALS = 1500, PROCESSES = 8, EACH = 12 };
/* Processor time for all trials of one process. */
static const double MOST_SECONDS = 2;

/* Memory that both processes share. */
struct board {
  unsigned long trial; /* that runs */
  bool done;
  struct trial_result results[]; /* by finding */
};

struct search {
  const struct desc *loop;
  struct desc alone;
  struct made made;
  struct code *codes[2];
  struct trial *trial;
  struct prove_result *findings;
  struct board *board;
  size_t board_bytes;
  bool each;
};

static bool needs_run(const struct prove_finding *f) {
  return f->verdict == PROVE_VIOLATED && found_evidence(f->what) != EVIDENCE_TEXT;
}

static bool any_needs(const struct prove_result *result, enum evidence evidence) {
  for (int i = 0; i < result->nfindings; i++)
    if (needs_run(&result->findings[i]) &&
        (evidence == EVIDENCE_TEXT || found_evidence(result->findings[i].what) == evidence))
      return true;
  return false;
}

/* ---- the code ---- */

static void compile(struct search *s, const struct compiler *compiler, const struct generated *g, int which) {
  struct error ignored = {0};
  struct compile_file files[GENERATED_FILES];
  generated_files(g, files);
  const struct compile_request request = {.files = files,
                                          .nfiles = GENERATED_FILES,
                                          .cpu = "", /* any of this kind */
                                          .fp = "strict",
                                          .trial = which ? COMPILE_PATTERN : COMPILE_ZEROS};
  struct compile_result result = {0};
  compiler->compile(&request, &result);
  if (result.status == 0)
    code_load(&s->codes[which], result.binary, result.size, s->loop->kernel_name, false, &ignored);
  compiler->release(&result);
  error_free(&ignored);
}

static bool prepare(struct search *s, const struct compiler *compiler) {
  const struct shape scalar = {0};
  struct generated files = {0};
  struct error ignored = {0};
  bool good = desc_alone(&s->alone, s->loop, &ignored) == OP_OK &&
              generate_c(&s->alone, &scalar, &files, &ignored) == OP_OK;
  if (good) {
    compile(s, compiler, &files, 0);
    if (any_needs(s->findings, EVIDENCE_UNSET))
      compile(s, compiler, &files, 1);
  }
  generated_free(&files);
  error_free(&ignored);
  if (!good || !s->codes[0])
    return false;
  const range_function codes[] = {code_function(s->codes[0]),
                                  s->codes[1] ? code_function(s->codes[1]) : NULL};
  made_open(&s->made, s->loop);
  s->trial = trial_new(s->loop, &s->alone, &s->made, codes);
  s->board_bytes = sizeof *s->board + (size_t)s->findings->nfindings * sizeof *s->board->results;
  void *shared = mmap(NULL, s->board_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  s->board = shared == MAP_FAILED ? NULL : shared;
  return s->trial && s->board;
}

static void release(struct search *s) {
  trial_free(s->trial);
  if (s->board)
    munmap(s->board, s->board_bytes);
  code_free(s->codes[0]);
  code_free(s->codes[1]);
  desc_free(&s->alone);
}

/* ---- the runs ---- */

static double seconds_used(void) {
  struct timespec t = {0};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Output of a kernel in trials is dropped, together with this process's copy of what the program had written to stdout and
 * not flushed: the program writes that itself. */
static void be_silent(void) {
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC), to = fileno(stdout);
  if (to < 0)
    return; /* memory of the program's, of which this process has a copy */
  if (nowhere < 0 || dup2(nowhere, to) < 0)
    close(to);
}

/* A finding counts only if each of the runs shows it. */
static void run_each(const struct search *s) {
  for (int i = 0; i < s->findings->nfindings; i++) {
    struct trial_result result = {0};
    bool all = needs_run(&s->findings->findings[i]);
    for (unsigned long number = 0; all && number < EACH; number++)
      all = trial_run(s->trial, &s->findings->findings[i], number, &result);
    if (all)
      s->board->results[i] = result;
  }
}

static _Noreturn void run_trials(const struct search *s) {
  struct board *board = s->board;
  be_silent();
  trial_catch_signals();
  if (s->each) {
    board->done = true;
    run_each(s);
    _exit(0);
  }
  for (; board->trial < TRIALS && seconds_used() < MOST_SECONDS; board->trial++) {
    bool missing = false;
    for (int i = 0; i < s->findings->nfindings; i++) {
      struct trial_result result;
      if (!needs_run(&s->findings->findings[i]) || board->results[i].what)
        continue;
      if (trial_run(s->trial, &s->findings->findings[i], board->trial, &result))
        board->results[i] = result;
      else
        missing = true;
    }
    if (!missing)
      break;
  }
  board->done = true;
  _exit(0);
}

/* A process that dies, for example by spoiling its own stack, is begun once more behind that trial. False: no process could
 * be made. */
static bool search(const struct search *s) {
  for (int i = 0; i < PROCESSES && !s->board->done; i++) {
    const pid_t child = fork();
    if (child == 0)
      run_trials(s);
    if (child < 0)
      return false;
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
      ;
    s->board->trial++;
  }
  return true;
}

/* ---- the words ---- */

static void place(const struct search *s, const struct trial_result *r, struct text *out) {
  text_addf(out, "component %d of ", r->component + s->loop->origins.fortran);
  if (desc_is_vector(&s->loop->args[r->argument]))
    text_addf(out, "pointer %d of ", r->row);
  text_addf(out, "argument %d", r->argument + 1);
}

static void tell(const struct search *s, int finding, struct text *out) {
  const struct trial_result *r = &s->board->results[finding];
  const int of = s->findings->findings[finding].argument + 1;
  const double *v = r->values;
  struct text at = {0};
  place(s, r, &at);
  const char *where = text_str(&at);
  text_add(out, "seen in a run");
  struct text inputs = {0};
  trial_print(s->trial, r->trial, &inputs);
  if (inputs.length)
    text_addf(out, " with %s", text_str(&inputs));
  text_add(out, ": ");
  switch (r->what) {
  case TRIAL_CHANGED: text_addf(out, "%s went from %.10g to %.10g", where, v[0], v[1]); break;
  case TRIAL_UNWRITTEN: text_addf(out, "%s was not written", where); break;
  case TRIAL_OLD: text_addf(out, "%s depends on what argument %d held before", where, of); break;
  case TRIAL_NOT_ADDED:
    text_addf(out, "from 0 %s becomes %.10g, and from %.10g it becomes %.10g", where, v[0], v[1], v[2]);
    break;
  case TRIAL_WRONG_SIDE: text_addf(out, "%s went from %.10g to %.10g", where, v[0], v[1]); break;
  case TRIAL_TWICE:
    text_addf(out, "%s went from %.10g to %.10g, and once more to %.10g", where, v[0], v[1], v[2]);
    break;
  case TRIAL_WROTE: text_addf(out, "memory beyond argument %d was written", of); break;
  case TRIAL_READ: text_addf(out, "%s depends on memory beyond argument %d", where, of); break;
  case TRIAL_KEPT: text_addf(out, "%s was %.10g, and later %.10g", where, v[0], v[1]); break;
  case TRIAL_UNSET: text_addf(out, "%s depends on it", where); break;
  case TRIAL_STOPPED: text_add(out, "the run ended there"); break;
  case TRIAL_NOTHING: break;
  }
  text_free(&inputs);
  text_free(&at);
}

bool witness_find(const struct compiler *compiler, const struct desc *d, bool each,
                  struct prove_result *result, struct text *words) {
  struct search s = {.loop = d, .findings = result, .each = each};
  if (!any_needs(result, EVIDENCE_TEXT))
    return true;
  const bool prepared = prepare(&s, compiler), tried = prepared && search(&s);
  for (int i = 0; i < result->nfindings; i++)
    if (needs_run(&result->findings[i])) {
      if (prepared && s.board->results[i].what)
        tell(&s, i, &words[i]);
      else {
        result->findings[i].verdict = PROVE_UNKNOWN;
        text_add(&words[i], "no run with made-up values showed it");
      }
    }
  release(&s);
  return tried;
}
