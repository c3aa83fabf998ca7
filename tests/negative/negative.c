/* negative GOLDEN_FOLDER [--write] [CASE...]: runs every case and compares what is said with
 * GOLDEN_FOLDER/CASE.txt. --write makes the files anew, which is to be read before it is believed. */
#include "negative.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../golden.h"

OP_KERNEL_DEF(
    scale, void scale(const double *h, double *sum) { *sum += 2 * *h; })
OP_KERNEL_DEF(
    spread, void spread(const float *flow, double *h) { *h += flow[0] - flow[1]; })

const char *kernel_scale(void) {
  return OP_KERNEL_OF(scale);
}

const char *kernel_spread(void) {
  return OP_KERNEL_OF(spread);
}

static const char *backend(void) {
  const char *named = getenv("OP2_BACKEND");
  return named ? named : "native";
}

int begin(const char *assignment) {
  char own[64];
  snprintf(own, sizeof own, "OP2_BACKEND=%s", backend());
  bool names_backend = assignment && strncmp(assignment, "OP2_BACKEND=", 12) == 0;
  char *argv[] = {"negative", names_backend ? (char *)assignment : own, (char *)assignment};
  return op_init(assignment && !names_backend ? 3 : 2, argv, 0);
}

void said_keep(struct said *said, const op_error *error) {
  said->known = true;
  said->code = error->code;
  snprintf(said->name, sizeof said->name, "%s", error->name);
  snprintf(said->message, sizeof said->message, "%s", error->message);
}

/* ---- the mesh, and proof that nothing happened to it -------------------------------------------*/

static const int table[EDGES * ARITY] = {0, 1, 1, 2, 2, 3, 3, 4, 4, 5};
static const double heights[CELLS] = {1, 2, 4, 8, 16, 32};
static const float flows[EDGES * 2] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
static const int levels[CELLS] = {6, 5, 4, 3, 2, 1};

static bool make_mesh(struct mesh *m) {
  m->cells = op_decl_set(CELLS, "cells");
  m->edges = op_decl_set(EDGES, "edges");
  m->nothing = op_decl_set(0, "nothing");
  m->edge_cells = op_decl_map(m->edges, m->cells, ARITY, table, "edge_cells");
  m->height = op_decl_dat(m->cells, 1, "double", heights, "height");
  m->flow = op_decl_dat(m->edges, 2, "float:soa", flows, "flow");
  m->level = op_decl_dat_temp(m->cells, 1, "int", levels, "level");
  return m->level && m->flow && m->height && m->edge_cells && m->nothing;
}

static const char *what_changed(const struct mesh *m) {
  double h[CELLS];
  float f[EDGES * 2];
  int l[CELLS];
  if (op_fetch_data(m->height, h) || op_fetch_data(m->flow, f) || op_fetch_data(m->level, l))
    return "a dat cannot be fetched any more";
  if (memcmp(h, heights, sizeof h) != 0 || memcmp(f, flows, sizeof f) != 0 ||
      memcmp(l, levels, sizeof l) != 0)
    return "a dat was changed";
  if (op_get_size(m->cells) != CELLS || op_get_size(m->nothing) != 0)
    return "a set was changed";
  return NULL;
}

static const char *what_is_wrong_now(const struct mesh *m) {
  double sum = 5, h[CELLS];
  if (op_par_loop(kernel_scale(), "scale", m->cells, op_arg_dat(m->height, -1, OP_ID, 1, "double", OP_READ),
                  op_arg_gbl(&sum, 1, "double", OP_INC)) ||
      sum != 5 + 2 * 63)
    return "a right loop over cells is wrong after it";
  if (op_par_loop(kernel_spread(), "spread", m->edges, op_arg_dat(m->flow, -1, OP_ID, 2, "float", OP_READ),
                  op_arg_dat(m->height, 1, m->edge_cells, 1, "double", OP_INC)) ||
      op_fetch_data(m->height, h) || h[0] != 1 || h[1] != 1 || h[5] != 31)
    return "a right loop over edges is wrong after it";
  return NULL;
}

/* ---- running ----------------------------------------------------------------------------------*/

/* In return mode: the error of the case in `said`; the answer is what else is wrong, NULL if nothing. */
static const char *run_returning(const struct negative_case *c, struct said *said) {
  struct mesh m = {0};
  const char *wrong = NULL;
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  if (c->flags & IN_MESH && (begin(NULL) != OP_OK || !make_mesh(&m)))
    return "the library does not start";
  c->go(&m, said);
  if (!said->known)
    said_keep(said, op_last_error());
  /* A failed op_init may be tried again. */
  if (!(c->flags & IN_MESH) && (begin(NULL) != OP_OK || !make_mesh(&m)))
    return "op_init does not work after it";
  wrong = what_changed(&m);
  if (!wrong)
    wrong = what_is_wrong_now(&m);
  if (op_exit() != OP_OK)
    wrong = "op_exit fails after it";
  return wrong;
}

/* The address sanitizer says a line of its own, "==PID==WARNING: ...", about an allocation that is too large. */
static void drop_sanitizer_lines(char *text) {
  char *to = text;
  for (const char *line = text; *line;) {
    size_t length = strcspn(line, "\n");
    length += line[length] == '\n';
    if (strncmp(line, "==", 2) != 0) {
      memmove(to, line, length);
      to += length;
    }
    line += length;
  }
  *to = '\0';
}

static void be_fatal(const void *user) {
  const struct negative_case *c = user;
  struct mesh m = {0};
  struct said ignored = {0};
  op_set_error_handler(OP_ERRORS_FATAL, NULL);
  if (c->flags & IN_MESH && (begin(NULL) != OP_OK || !make_mesh(&m)))
    _exit(99);
  c->go(&m, &ignored);
}

static bool run_fatal(const struct negative_case *c, struct child *child) {
  const bool ran = child_run(child, be_fatal, c);
  drop_sanitizer_lines(child->err);
  return ran;
}

/* ---- judging ----------------------------------------------------------------------------------*/

struct judge {
  const char *folder;
  bool write;
  int passed, failed, left_out;
  bool covered[OP_ERR_COUNT_];
};

static bool matches_golden(const struct judge *j, const struct negative_case *c, const char *text) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s/%s.txt", j->folder, backend(), c->name);
  if (access(path, F_OK) != 0)
    snprintf(path, sizeof path, "%s/%s.txt", j->folder, c->name);
  return golden_matches(path, j->write, c->name, text);
}

static bool fail(const struct negative_case *c, const char *what) {
  printf("%s: %s\n", c->name, what);
  return false;
}

/* The first words of a failed check: how to keep the call. */
static const char *behind_capture(const struct negative_case *c, const char *err) {
  static const char begin[] = "op2jit: warning: OP2_CAPTURE=",
                    end[] = " keeps what failed, for `op2jit replay`\n";
  const char *line =
      c->code == OP_ERR_VIOLATION && strncmp(err, begin, sizeof begin - 1) == 0 ? strstr(err, end) : NULL;
  return line ? line + sizeof end - 1 : err;
}

static bool judge_fatal(struct judge *j, const struct negative_case *c, const struct said *said) {
  struct child child = {0};
  char expected[sizeof said->message + 64];
  if (!run_fatal(c, &child))
    return fail(c, "no child process");
  if (child.out[0])
    return fail(c, "something was printed to stdout");
  int status = c->flags & WARNING ? 0 : 1;
  if (!WIFEXITED(child.status) || WEXITSTATUS(child.status) != status)
    return fail(c, status ? "the job did not end with status 1 in fatal mode" : "a warning ended the job");
  if (c->flags & (WARNING | FRESH)) {
    j->covered[c->code] = true;
    hide_places(child.err);
    return matches_golden(j, c, child.err);
  }
  snprintf(expected, sizeof expected, "op2jit: error: %s: %s\n", said->name, said->message);
  if (strcmp(behind_capture(c, child.err), expected) == 0)
    return true;
  printf("%s: fatal mode says something else\n", c->name);
  say_lines("-", expected);
  say_lines("+", child.err);
  return false;
}

/* "(clang 19.1.7;" becomes "(clang VERSION;": other versions may say the same. */
static void hide_version(char *text) {
  char *at = strstr(text, "(clang "), *end = at ? strchr(at, ';') : NULL;
  if (!end)
    return;
  char rest[1024];
  snprintf(rest, sizeof rest, "%s", end);
  strcpy(at + strlen("(clang "), "VERSION");
  strcat(at, rest);
}

/* A compiler for GPUs says what is wrong in its own words, which are the stand-in's in tests: the place and the
 * source stay. A remedy that depends on the words goes with them. */
static void hide_words(char *text) {
  char *to = text;
  bool note = false;
  for (const char *line = text, *next; *line; line = next) {
    const size_t length = strcspn(line, "\n");
    next = line + length + (line[length] == '\n');
    const char *said = strstr(line, ": error: ");
    note = strncmp(line, " ", 1) == 0 ? note : strstr(line, ": note: ") && strstr(line, ": note: ") < next;
    const char *remedy = strstr(line, " is a constant: declare it");
    if (note || (remedy && remedy < next))
      continue;
    const size_t kept =
        said && said < next ? (size_t)(said - line) + strlen(": error: ") : (size_t)(next - line);
    memmove(to, line, kept);
    to += kept;
    if (said && said < next) {
      memcpy(to, "...\n", 4);
      to += 4;
    }
  }
  *to = '\0';
  char *version = strstr(text, "(NVRTC "), *end = version ? strchr(version, ';') : NULL;
  if (end) {
    memcpy(version + strlen("(NVRTC "), "...", 3);
    memmove(version + strlen("(NVRTC ..."), end, strlen(end) + 1);
  }
}

static bool judge_case(struct judge *j, const struct negative_case *c) {
  struct said said = {0};
  char text[sizeof said.message + 64];
  if (c->flags & (WARNING | FRESH))
    return judge_fatal(j, c, &said);
  const char *wrong = run_returning(c, &said);
  if (wrong) {
    say_lines(" ", said.message);
    return fail(c, wrong);
  }
  if (said.code != c->code) {
    printf("%s: the code is %d, should be %d\n", c->name, said.code, c->code);
    say_lines("+", said.message);
    return false;
  }
  j->covered[c->code] = true;
  snprintf(text, sizeof text, "%s\n%s\n", said.name, said.message);
  hide_version(text);
  hide_places(text);
  if (strstr(text, "(NVRTC "))
    hide_words(text);
  char *list = c->flags & CUT ? strstr(text, "expected one of ") : NULL;
  if (list)
    strcpy(list, "expected one of ...\n");
  if (!matches_golden(j, c, text))
    return false;
  return c->flags & RETURN_ONLY || judge_fatal(j, c, &said);
}

static bool is_gpu(void) {
  return strcmp(backend(), "cuda") == 0;
}

/* Every row of the error table that one process with this backend can reach has a case. */
static bool covers_the_table(const struct judge *j, bool native) {
  static const int compiled[] = {OP_ERR_COMPILE, OP_ERR_CACHE_MISS}, around_kernels[] = {OP_ERR_BUSY};
  bool good = true;
  for (int code = 0; code < OP_ERR_COUNT_; code++) {
    bool expected = code != OP_OK && (code != OP_ERR_DEVICE || is_gpu());
    for (size_t i = 0; native && i < sizeof compiled / sizeof *compiled; i++)
      expected &= code != compiled[i];
    for (size_t i = 0; !native && i < sizeof around_kernels / sizeof *around_kernels; i++)
      expected &= code != around_kernels[i];
    if (expected && !j->covered[code]) {
      printf("no case for error code %d\n", code);
      good = false;
    }
  }
  return good;
}

static struct negative_case *first_case, **end_of_cases = &first_case;

/* Fresh cases come first: the library has not been open then. */
void negative_add(struct negative_case *c) {
  struct negative_case **at = c->flags & FRESH ? &first_case : end_of_cases;
  c->next = *at;
  *at = c;
  if (!c->next)
    end_of_cases = &c->next;
}

/* The loops that run after each case are the same: what is compiled after one, those behind it load. Not around cases
 * of kernels and of the library's life, after which the compiler has to be right. */
static void judge_all(struct judge *j, int nnames, char **names) {
  const bool native = strcmp(backend(), "native") == 0;
  const char *given = getenv("OP2_CACHE");
  char folder[] = "/tmp/op2jit-negative-XXXXXX", file[64], usual[512], command[64];
  if (!mkdtemp(folder))
    folder[0] = '\0';
  snprintf(file, sizeof file, "%s/kernels.db", folder);
  snprintf(usual, sizeof usual, "%s", given ? given : "off");
  for (const struct negative_case *c = first_case; c; c = c->next) {
    if (!is_named(c->name, nnames, names))
      continue;
    setenv("OP2_CACHE", c->flags & COMPILES || !folder[0] ? usual : file, 1);
    if (c->flags & (native ? COMPILED_ONLY : NATIVE_ONLY) || (c->flags & GPU_ONLY && !is_gpu()))
      j->left_out++;
    else if (judge_case(j, c))
      j->passed++;
    else
      j->failed++;
  }
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  if (folder[0] && system(command) != 0)
    printf("%s stays\n", folder);
}

int main(int argc, char **argv) {
  struct judge j = {.folder = argc > 1 ? argv[1] : NULL};
  int first = 2;
  if (argc > 2 && strcmp(argv[2], "--write") == 0) {
    j.write = true;
    first = 3;
  }
  if (!j.folder) {
    fprintf(stderr, "usage: negative GOLDEN_FOLDER [--write] [CASE...]\n");
    return 2;
  }
  judge_all(&j, argc - first, argv + first);
  bool whole = argc == first;
  if (whole && !covers_the_table(&j, strcmp(backend(), "native") == 0))
    j.failed++;
  printf("negative, %s: %d passed, %d failed, %d belong to other backends\n", backend(), j.passed, j.failed,
         j.left_out);
  return j.failed ? 1 : 0;
}
