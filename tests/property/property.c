/* Random loops on random meshes, against a reference that shares no code with the library.
 *
 *   property [--cases N] [--seed S] [--backend B] [--variant V] [--only CASE] [--mirrored 1] [--largest N]
 *            [--again N] [--every-block 1] [--keeps 1] [--direct 1] [--sums 1] [--meets 1] [--fatal 1] [--hash 1]
 *            [OP2_...=...]
 *
 * With --again each new loop is run N times more at once. With --every-block each case runs with every block size
 * from 1 to the largest set, code being kept between lives. With --meets elements change the rows that they share, in such
 * ways that their order is of no matter. With --sums kernels add up over the targets of
 * ragged maps. With --direct loops are over one set and share rows. With --keeps results stay in globals with handles, and
 * data are looked at later, so that loops can wait for one another (OP2_LAZY). With --hash values are rounded wherever they are
 * added, nothing is compared, and the line "bits HASH" says what came of all cases (OP2_REPRODUCIBLE). With --fatal errors end
 * the program, so that loops wait by themselves, and some have to; they come again with those before them. Every value is a small dyadic number and every
 * intermediate fits its type, so sums are exact in any order and answers are compared bit by bit; only what goes
 * through sqrt, sin, exp or a division is compared nearly. Prints the seed, a failing case as a small program, and
 * the table of what was run. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "case.h"
#include "ranks.h"

/* In OpenCL a work-item has room for so long rows of all that a kernel is given through ragged maps. */
enum { CASES_PER_LIFE = 20, MAX_OPTIONS = 16, OPENCL_LONGEST = 16 };

struct options {
  int cases, only, mirrored, again, every_block, keeps, direct, sums, meets, fatal, hash;
  int largest; /* set, 0: any */
  uint64_t seed;
  const char *backend, *variant;
  char *passed[MAX_OPTIONS]; /* to op_init */
  int npassed;
  char folder[32]; /* of the kept code, with --every-block */
};

static struct { char line[96]; } where; /* for a crash's last words */

static void crashed(int signal_number) {
  (void)!write(STDERR_FILENO, where.line, strlen(where.line));
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

static char *option_text(const char *name, const char *value) {
  struct text t = {0};
  text_addf(&t, "%s=%s", name, value);
  return text_take(&t);
}

/* A cache of this run's own: block sizes share code. */
static bool keep_code(struct options *o) {
  struct text path = {0};
  strcpy(o->folder, "/tmp/op2jit-property-XXXXXX");
  if (!mkdtemp(o->folder))
    return false;
  text_addf(&path, "%s/kernels.db", o->folder);
  o->passed[o->npassed++] = option_text("OP2_CACHE", text_str(&path));
  text_free(&path);
  return true;
}

static void forget_code(const struct options *o) {
  static const char *const endings[] = {"", "-wal", "-shm"};
  for (size_t i = 0; o->folder[0] && i < sizeof endings / sizeof *endings; i++) {
    char path[64];
    snprintf(path, sizeof path, "%s/kernels.db%s", o->folder, endings[i]);
    unlink(path);
  }
  if (o->folder[0] && rmdir(o->folder) != 0)
    fprintf(stderr, "property: %s is left behind\n", o->folder);
}

static bool read_options(struct options *o, int argc, char **argv) {
  *o = (struct options){.cases = 500,
                        .only = -1,
                        .seed = 1,
                        .backend = getenv("OP2_BACKEND"),
                        .variant = getenv("OP2_VARIANT")};
  for (int i = 1; i < argc; i++) {
    const char *value = i + 1 < argc ? argv[i + 1] : NULL;
    if (strncmp(argv[i], "OP2_", 4) == 0 && o->npassed < MAX_OPTIONS - 5) {
      o->passed[o->npassed++] = strdup(argv[i]);
      continue;
    }
    if (!value)
      return false;
    if (strcmp(argv[i], "--cases") == 0)
      o->cases = atoi(value);
    else if (strcmp(argv[i], "--largest") == 0)
      o->largest = atoi(value);
    else if (strcmp(argv[i], "--again") == 0)
      o->again = atoi(value);
    else if (strcmp(argv[i], "--fatal") == 0)
      o->fatal = atoi(value);
    else if (strcmp(argv[i], "--hash") == 0)
      o->hash = atoi(value);
    else if (strcmp(argv[i], "--keeps") == 0)
      o->keeps = atoi(value);
    else if (strcmp(argv[i], "--direct") == 0)
      o->direct = atoi(value);
    else if (strcmp(argv[i], "--sums") == 0)
      o->sums = atoi(value);
    else if (strcmp(argv[i], "--meets") == 0)
      o->meets = atoi(value);
    else if (strcmp(argv[i], "--mirrored") == 0)
      o->mirrored = atoi(value);
    else if (strcmp(argv[i], "--every-block") == 0)
      o->every_block = atoi(value);
    else if (strcmp(argv[i], "--only") == 0)
      o->only = atoi(value);
    else if (strcmp(argv[i], "--seed") == 0)
      o->seed = strtoull(value, NULL, 0);
    else if (strcmp(argv[i], "--backend") == 0)
      o->backend = value;
    else if (strcmp(argv[i], "--variant") == 0)
      o->variant = value;
    else
      return false;
    i++;
  }
  if (!o->backend)
    o->backend = "native";
  o->passed[o->npassed++] = option_text("OP2_BACKEND", o->backend);
  if (o->every_block)
    return o->variant && o->largest && keep_code(o);
  if (o->variant)
    o->passed[o->npassed++] = option_text("OP2_VARIANT", o->variant);
  return true;
}

/* `block` 0: as the variant says. */
static bool start(const struct options *o, bool native, int block) {
  char *argv[MAX_OPTIONS + 1] = {"property"}, variant[128];
  int count = o->npassed;
  memcpy(argv + 1, o->passed, sizeof o->passed[0] * (size_t)count);
  if (block) {
    snprintf(variant, sizeof variant, "OP2_VARIANT=%s/%d", o->variant, block);
    argv[++count] = variant;
  }
  if (op_init(count + 1, argv, 0) == OP_OK && case_library_ready(native))
    return true;
  fprintf(stderr, "property: the library does not start: %s\n", op_last_error()->message);
  return false;
}

static void report(const struct options *o, struct test_case *c, struct world *w) {
  static struct coverage ignored;
  /* A rank that has seen nothing says nothing. */
  if (w->failure.length)
    fprintf(stderr, "FAILED: case %d of seed %llu on %s%s%s: %s\n", c->number, (unsigned long long)o->seed,
            o->backend, o->variant ? ", variant " : "", o->variant ? o->variant : "", text_str(&w->failure));
  world_close(w);
  case_shrink(c);
  const bool good = case_run(c, w, &ignored);
  if (op_rank() > 0)
    return;
  if (!good)
    case_print(c, w, stderr);
  else
    fprintf(stderr, "(it passes when it is run again)\n");
  fprintf(stderr, "again: property --seed %llu --backend %s --only %d\n", (unsigned long long)o->seed,
          o->backend, c->number);
}

static bool run_case(const struct options *o, int number, bool native, struct coverage *coverage) {
  struct test_case c = {.size_limit = o->largest ? o->largest : 1 << 30,
                        .mirrored = o->mirrored != 0,
                        .keeps = o->keeps != 0,
                        .odd = o->hash != 0,
                        .direct = o->direct != 0,
                        .meets = o->meets != 0,
                        .none_meets = o->hash ? !o->meets : o->variant && strstr(o->variant, "gather"),
                        .sums = o->sums != 0,
                        .longest = strcmp(o->backend, "opencl") == 0 ? OPENCL_LONGEST : 0,
                        .again = o->again,
                        .all_again = o->fatal != 0};
  static struct world w;
  snprintf(where.line, sizeof where.line, "property: crashed in case %d of seed %llu on %s\n", number,
           (unsigned long long)o->seed, o->backend);
  case_make(&c, o->seed, number, native);
  bool good = case_run(&c, &w, coverage);
  if (good && op_plan_check(2) != OP_OK) {
    world_fail(&w, "op_plan_check: %s", op_last_error()->message);
    good = false;
  }
  coverage->hash = coverage->hash * 31 + ranks_sum(w.hash);
  if (!good)
    report(o, &c, &w);
  world_close(&w);
  case_free(&c);
  return good;
}

/* A life of the library for each block size. Plans must have been made, or nothing was tried. */
static int run_every_block(const struct options *o, struct coverage *coverage) {
  int failed = 0;
  long long plans = 0;
  for (int n = 0; n < o->cases && !failed; n++)
    for (int block = 1; block <= o->largest && !failed; block++) {
      if (!start(o, false, block))
        return -1;
      failed += !run_case(o, n, false, coverage);
      if (failed)
        fprintf(stderr, "with blocks of %d elements\n", block);
      plans += op_counters()->plans;
      if (op_exit() != OP_OK)
        return -1;
    }
  printf("property: block sizes 1 to %d, %lld plans\n", o->largest, plans);
  return plans > 0 ? failed : -1;
}

/* Kernels that should share rows and do not test nothing; nor do many that lack what is hard. */
static int check_fused(const struct options *o, long long fused, const long drawn[DRAWN]) {
  enum { MANY = 50 };
  const int missing = coverage_print_drawn(drawn, stdout);
  if (fused > 0 && (o->cases < MANY || missing == 0))
    return 0;
  fprintf(stderr, "property: %s\n",
          fused ? "fused loops had not all that arguments can be" : "no loop was fused");
  return 1;
}

/* Whether elements met, as they should have: in the handful of cases that a compiler allows not in all ways. */
static int check_meeting(const struct options *o, const struct coverage *c) {
  enum { MANY = 200 };
  const int missing = coverage_print_meeting(c, stdout);
  const bool drawn = c->meeting[FORM_COLUMN][OP_WRITE] && c->meeting[FORM_COLUMN][OP_RW];
  if (drawn && (o->cases < MANY || ranks_count() > 1 || o->mirrored || missing == 0))
    return 0;
  fprintf(stderr, "property: too few elements met\n");
  return 1;
}

/* Loops that are still known and had the form that was asked for, with several threads or lanes for an element. */
static int check_rows(const struct options *o) {
  static char report[1 << 22];
  int count = 0;
  if (op_report_json(report, sizeof report) != OP_OK)
    return 1;
  for (const char *at = report; (at = strstr(at, "rows")); at++)
    count += at > report && (at[-1] == '/' || at[-1] == '+');
  printf("property: %d loops share their steps\n", count);
  return o->only < 0 && !count;
}

static int run(const struct options *o, struct coverage *coverage) {
  bool native = strcmp(o->backend, "native") == 0;
  long long tiled = 0, tasked = 0, fused = 0, exchanged = 0;
  long drawn[DRAWN] = {0}, known[DRAWN];
  int failed = 0, done = 0;
  int first = o->only >= 0 ? o->only : 0, last = o->only >= 0 ? o->only : o->cases - 1;
  for (int n = first; n <= last && failed < 3; n++) {
    if (done++ % CASES_PER_LIFE == 0 && ((done > 1 && op_exit() != OP_OK) || !start(o, native, 0)))
      return -1;
    const op_counters_t before = *op_counters();
    memcpy(known, coverage->drawn, sizeof known);
    failed += !run_case(o, n, native, coverage);
    tiled += op_counters()->tiled - before.tiled;
    tasked += op_counters()->tasked - before.tasked;
    exchanged += op_counters()->exchanges;
    fused += op_counters()->fused - before.fused;
    for (int k = 0; k < DRAWN && op_counters()->fused > before.fused; k++)
      drawn[k] += coverage->drawn[k] - known[k];
  }
  if (o->keeps)
    printf("property: %lld chains in tiles, %lld as tasks, %lld loops fused\n", tiled, tasked, fused);
  if (o->sums && o->variant && strstr(o->variant, "rows"))
    failed += check_rows(o);
  const bool cuts = strcmp(o->backend, "native") == 0 || strcmp(o->backend, "seq") == 0 ||
                    strcmp(o->backend, "openmp") == 0; /* devices fuse */
  /* Ranks wait for fewer messages, too, and not all of what is drawn can run in tiles there. */
  if (o->fatal && o->only < 0 && (cuts ? tiled : fused) == 0 && exchanged == 0) {
    fprintf(stderr, "property: no loop waited by itself\n");
    failed++;
  }
  if (o->direct && o->only < 0 && !o->hash) /* loops that add run one by one then */
    failed += check_fused(o, fused, drawn);
  if (o->meets && o->only < 0)
    failed += check_meeting(o, coverage);
  return op_exit() == OP_OK ? failed : -1;
}

int main(int argc, char **argv) {
  struct options o;
  static struct coverage coverage;
  if (!read_options(&o, argc, argv)) {
    fprintf(stderr,
            "usage: property [--cases N] [--seed S] [--backend B] [--variant V] [--only CASE] [--mirrored 1] "
            "[--largest N] [--again N] [--every-block 1] [--keeps 1] [--direct 1] [--sums 1] [--meets 1] "
            "[--fatal 1] [--hash 1] "
            "[OP2_...=...]\n"
            "--every-block asks for --variant and --largest\n");
    return 2;
  }
  if (!o.fatal)
    op_set_error_handler(OP_ERRORS_RETURN, NULL);
  signal(SIGSEGV, crashed);
  signal(SIGFPE, crashed);
  signal(SIGILL, crashed);
  int failed = o.every_block ? run_every_block(&o, &coverage) : run(&o, &coverage);
  /* All ranks have the same to say. */
  if (op_rank() > 0 && !freopen("/dev/null", "w", stdout))
    return 2;
  int empty = coverage_print(&coverage, o.backend, o.variant ? o.variant : "default", stdout);
  printf("property: %s%s%s, seed %llu: %d cases, %ld loops, %ld elements, %d failed, %d empty cells\n",
         o.backend, o.variant ? " " : "", o.variant ? o.variant : "", (unsigned long long)o.seed, o.cases,
         coverage.loops, coverage.elements, failed, empty);
  if (o.hash)
    printf("bits %016llx\n", (unsigned long long)coverage.hash);
  for (int i = 0; i < o.npassed; i++)
    free(o.passed[i]);
  forget_code(&o);
  /* A single case or a handful cannot fill the table, and of its 2,000 cells chance leaves one or two empty: what is
   * never drawn has a row of eight. */
  enum { BY_CHANCE = 3 };
  bool whole = o.only < 0 && o.cases >= 600 && !o.every_block;
  return failed || (whole && empty > BY_CHANCE) ? 1 : 0;
}
