/* Texts that nobody writes on purpose: an error or an object, never a crash, and the next text compiles. */
#include "../unit.h"
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "jit/prover.h"
#include "plugin.h"

static const struct prover *prover;

/* Compiles, expects one of two statuses, and that an ordinary text still compiles. Frees the text. */
static void survive(struct text *text, int status, int or_status, const char *message) {
  assert_true(text_ok(text));
  struct compile_result result = trial_compile(&(struct trial){.text = text->data, .length = text->length});
  if (result.status != status && result.status != or_status)
    fail_msg("status %d: %s", result.status, result.nmessages ? result.messages[0].text : "no message");
  if (result.status != 0)
    assert_true(result.nmessages > 0);
  if (message)
    assert_non_null(find_message(&result, COMPILE_ERROR, message));
  plugin->release(&result);
  result = trial_compile(&(struct trial){.text = "int f(int x) { return x + 1; }\n"});
  assert_int_equal(result.status, 0);
  plugin->release(&result);
  text_free(text);
}

static void repeat(struct text *text, const char *part, int times) {
  for (int i = 0; i < times; i++)
    text_add(text, part);
}

/* The first test: what the process has freed, its children may take. */
CASE(little_memory);
__attribute__((constructor)) static void register_little_memory(void) {
  add_test((struct CMUnitTest)cmocka_unit_test(little_memory));
}

TEST(a_megabyte) {
  struct text text = {0};
  text_add(&text, "void f(double *x) {\n");
  while (text.length < 1 << 20)
    text_addf(&text, "  x[%d] = 0; /* padding, padding, padding, padding, padding, padding, padding */\n",
              (int)(text.length % 7));
  text_add(&text, "}\n");
  survive(&text, 0, 0, NULL);
}

TEST(a_hundred_thousand_terms) {
  struct text text = {0};
  text_add(&text, "int f(int a, int b) {\n  return a");
  repeat(&text, "+b", 100000);
  text_add(&text, ";\n}\n");
  survive(&text, 0, 1, NULL);
}

TEST(deep_nesting) {
  static const struct {
    const char *before, *open, *middle, *close, *after;
    int depth;
    const char *message;
  } cases[] = {
      {"int f(int a) { return ", "(", "a", ")", "; }", 1000, NULL},
      {"int f(int a) { return ", "(", "a", ")", "; }", 100000, "nesting level exceeded"},
      {"void f(void) ", "{", "", "}", "", 100000, "nesting level exceeded"},
      {"int f(int a) { return ", "!", "a", "", "; }", 5000, NULL},
      {"int f(int a) { return ", "-(int)", "a", "", "; }", 5000, NULL},
      {"void f(int a) { ", "if (a) ", ";", "", "}", 1500, NULL},
      {"int f(int a) { return ", "a ? a : ", "a", "", "; }", 1500, NULL},
      {"int f(int a) { ", "a = ", "1", "", "; return a; }", 20000, NULL},
      {"int ", "*", "x", "", ";", 20000, NULL},
      {"int x", "[1]", "", "", ";", 1500, NULL},
      {"", "struct { ", "int a;", "} b;", "", 800, NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct text text = {0};
    text_add(&text, cases[i].before);
    repeat(&text, cases[i].open, cases[i].depth);
    text_add(&text, cases[i].middle);
    repeat(&text, cases[i].close, cases[i].depth);
    text_add(&text, cases[i].after);
    text_add(&text, "\n");
    survive(&text, cases[i].message ? 1 : 0, 1, cases[i].message);
  }
}

TEST(unbalanced) {
  static const char *const texts[] = {"void f(void) {",
                                      "void f(void) { } }",
                                      "void f(void { }",
                                      "void f(double x[) {}",
                                      "/* no end",
                                      "char *s = \"no end",
                                      "int c = 'x",
                                      "#if 1\nint a;",
                                      "#define F(a, b\nF(",
                                      "int a = (1;",
                                      "}}}}}}}}}}}",
                                      "{{{{{{{{",
                                      "((((((((",
                                      "#line 99999999999 \"x\"\n",
                                      "#error on purpose",
                                      "_Pragma(",
                                      "\\"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    struct text text = {0};
    text_add(&text, texts[i]);
    survive(&text, 1, 1, NULL);
  }
  struct text text = {0};
  repeat(&text, "{", 200000);
  survive(&text, 1, 1, NULL);
  text = (struct text){0};
  repeat(&text, "}", 200000);
  survive(&text, 1, 1, NULL);
}

TEST(nul_bytes) {
  struct text text = {0};
  text_add(&text, "void f(void) {\n  int a;");
  text_add_bytes(&text, "\0", 1);
  text_add(&text, "}\n");
  survive(&text, 1, 1, "NUL byte");
}

TEST(not_text) {
  uint32_t seed = 12345;
  for (int round = 0; round < 20; round++) {
    struct text text = {0};
    for (int i = 0; i < 2000; i++) {
      seed = seed * 1664525 + 1013904223;
      text_add_char(&text, (char)(1 + seed % 255));
    }
    survive(&text, 1, 1, NULL);
  }
}

TEST(exploding_macros) {
  struct text text = {0};
  text_add(&text, "#define A0 +1\n");
  for (int i = 1; i <= 40; i++)
    text_addf(&text, "#define A%d A%d A%d\n", i, i - 1, i - 1);
  text_add(&text, "int f(void) { return A40; }\n");
  survive(&text, 1, 1, "words");
  text = (struct text){0};
  text_add(&text, "#define A0 x++;\n");
  for (int i = 1; i <= 40; i++)
    text_addf(&text, "#define A%d A%d A%d\n", i, i - 1, i - 1);
  text_add(&text, "void f(int x) { A40 }\n");
  survive(&text, 1, 1, "words");
}

TEST(endless_includes) {
  struct text text = {0};
  text_add(&text, "#include \"loop.c\"\n");
  survive(&text, 1, 1, NULL);
}

TEST(what_the_code_generator_cannot_do) {
  static const char *const texts[] = {
      "void f(void) { asm(\"nonsense %0\" :: \"r\"(1)); }\n",
      "asm(\"also nonsense\");\n",
      "int x __attribute__((section(\"not,a,section\")));\nint f(void) { return x; }\n",
      "void f(int n) { double a[n]; __builtin_alloca(100000000000); a[0] = 1; }\n",
      "double huge[1000000000000];\ndouble f(int i) { return huge[i]; }\n",
      "void f(void) { __builtin_trap(); }\n",
      "_Atomic __int128 x; void f(void) { x++; }\n",
      "typedef double v __attribute__((vector_size(1 << 20))); v a; void f(void) { a += a; }\n",
      "_Float16 f(_Float16 x) { return x * x; }\n",
      "void f(void) { f(); }\n",
      "__attribute__((target(\"avx512f\"))) void f(void) {}\n",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    struct compile_result result = trial_compile(&(struct trial){.text = texts[i]});
    if (result.status != 0)
      assert_true(result.nmessages > 0);
    plugin->release(&result);
  }
}

/* LLVM gives up in the middle of what the prover has lowered: that is lost, and releasing it does no harm. */
TEST(what_breaks_down_when_it_is_lowered) {
  static const char unit[] = "#include \"kernel.c\"\n",
                    text[] = "register long kept __asm__(\"rbp\");\nvoid f(double *x) { x[0] = kept; }\n";
  const struct compile_file files[] = {{"loop.c", unit, sizeof unit - 1},
                                       {"kernel.c", text, sizeof text - 1}};
  struct compile_request request = {
      .files = files, .nfiles = 2, .cpu = "x86-64", .features = "", .fp = "strict"};
  const struct prove_argument argument = {.access = OP_RW, .type = "double", .dim = 1, .arity = 1};
  const struct prove_request asked = {
      .files = files, .nfiles = 2, .kernel = "f", .arguments = &argument, .narguments = 1, .then = &request};
  for (int round = 0; round < 3; round++) {
    struct prove_result proof;
    struct compile_result result;
    struct text next = {0};
    prover->prove(&asked, &proof);
    request.lowered = proof.lowered;
    assert_non_null(request.lowered);
    plugin->compile(&request, &result);
    assert_int_equal(result.status, 2);
    assert_non_null(find_message(&result, COMPILE_ERROR, "register rbp is allocatable"));
    plugin->release(&result);
    prover->release(&proof);
    text_add(&next, "int g(int a) { return a; }\n");
    survive(&next, 0, 0, NULL);
  }
}

/* ---- without memory ---- */

static long address_space(void) {
  long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld", &pages) != 1)
    fail_msg("/proc/self/statm cannot be read");
  fclose(file);
  return pages * sysconf(_SC_PAGESIZE);
}

/* In a child that may take `bytes` more: the status of a compilation, or 99 if what it says is wrong. */
static int status_with(long bytes) {
  static const char text[] = "void f(double *restrict x, int n) {\n"
                             "  for (int i = 0; i < n; i++) x[i] = sqrt(x[i]) + x[i] * x[i];\n}\n";
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    const rlim_t most = (rlim_t)(address_space() + bytes);
    setrlimit(RLIMIT_AS, &(struct rlimit){most, most});
    const struct compile_result result = trial_compile(&(struct trial){.text = text});
    const bool said = result.status != 3 || find_message(&result, COMPILE_ERROR, "not enough memory") ||
                      find_message(&result, COMPILE_ERROR, "no memory");
    _exit(said ? result.status : 99);
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
enum { ADDRESSES_ARE_FEW = 1 };
#else
enum { ADDRESSES_ARE_FEW = 0 }; /* sanitizers take terabytes of them */
#endif

/* A status, never the end of the process; with enough memory, code. The smallest stack is 64 MB. */
CASE(little_memory) {
  if (!ADDRESSES_ARE_FEW)
    skip_since("a sanitizer takes terabytes of addresses");
  int without = 0;
  for (long kilobytes = 64500; kilobytes < 78000; kilobytes += 250) {
    const int status = status_with(kilobytes * 1024);
    if (status != 0 && status != 2 && status != 3)
      fail_msg("with %ld kB the compiler ended with %d", kilobytes, status);
    without += status == 3;
  }
  assert_true(without > 5);
  assert_int_equal(status_with(1L << 31), 0);
}

/* The host's own handlers are there again after a compilation. */
static void on_signal(int signal) {
  (void)signal;
}
TEST(handlers_come_back) {
  struct sigaction mine = {.sa_handler = on_signal}, now;
  static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
  struct sigaction old[6];
  for (int i = 0; i < 6; i++)
    sigaction(signals[i], &mine, &old[i]);
  struct text text = {0};
  text_add(&text, "int f(int a) { return a");
  repeat(&text, "+a", 1000);
  text_add(&text, "; }\n");
  survive(&text, 0, 0, NULL);
  for (int i = 0; i < 6; i++) {
    sigaction(signals[i], &old[i], &now);
    assert_true(now.sa_handler == on_signal);
  }
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  plugin_open(argv[1]);
  prover = plugin->prover;
  return run_these(NULL, NULL);
}
