/* The plugin reads of the prelude and of clang's own macros only what a text names. No text may notice: whatever is named is
 * there, code is the same to the byte, and what is misspelt gets the same advice. */
#include "../unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "jit/kernel/prelude.h"
#include "jit/target.h"
#include "plugin.h"

/* A text that pastes words is read with everything. */
#define AS_WHOLE "/* ## */"

static struct compile_result compile(const char *kernel, bool whole) {
  static const char loop[] = "#include \"op2jit_prelude.h\"\n#include \"kernel.c\"\n";
  struct text text = {0}, cpu = {0}, features = {0};
  target_host(&cpu, &features);
  text_addf(&text, "%s%s", kernel, whole ? AS_WHOLE "\n" : "\n");
  const struct compile_file files[] = {{"loop.c", loop, strlen(loop)},
                                       {"kernel.c", text_str(&text), text.length},
                                       {"op2jit_prelude.h", jit_prelude(), strlen(jit_prelude())}};
  const struct compile_request request = {
      .files = files, .nfiles = 3, .cpu = text_str(&cpu), .features = text_str(&features), .fp = "contract"};
  struct compile_result result;
  plugin->compile(&request, &result);
  text_free(&text);
  text_free(&cpu);
  text_free(&features);
  return result;
}

/* The same object and the same messages, however much of the prelude is read. Returns the status. */
static int compile_both(const char *kernel) {
  struct compile_result spare = compile(kernel, false), whole = compile(kernel, true);
  const int status = spare.status;
  if (spare.status != whole.status || spare.nmessages != whole.nmessages || spare.size != whole.size)
    fail_msg("%s\nstatus %d and %d, %d and %d messages: %s", kernel, spare.status, whole.status,
             spare.nmessages, whole.nmessages,
             spare.nmessages   ? spare.messages[0].text
             : whole.nmessages ? whole.messages[0].text
                               : "");
  assert_memory_equal(spare.size ? spare.binary : "", whole.size ? whole.binary : "", spare.size);
  for (int i = 0; i < spare.nmessages; i++) {
    assert_string_equal(spare.messages[i].text, whole.messages[i].text);
    assert_string_equal(spare.messages[i].file, whole.messages[i].file);
    assert_int_equal(spare.messages[i].line, whole.messages[i].line);
  }
  plugin->release(&spare);
  plugin->release(&whole);
  return status;
}

/* ---- every name of the prelude ----*/

enum { GROUPS = 12 };

struct names {
  struct text groups[GROUPS];
  int count;
};

/* How a name is used: what stands before it, between its two uses, and behind them. */
struct use {
  const char *before, *between, *behind;
};
static const struct use of_macro = {"#ifndef ", "\n#error ", "\n#endif\n"};
static const struct use of_type = {"extern ", " op2_v_", ";\n"};
static const struct use of_function = {"void *op2_f_", "(void) { return (void *)", "; }\n"};

static void use(struct names *n, const struct use *as, const char *start, const char *end) {
  char name[64];
  snprintf(name, sizeof name, "%.*s", (int)(end - start), start);
  text_addf(&n->groups[n->count++ % GROUPS], "%s%s%s%s%s", as->before, name, as->between, name, as->behind);
}

static const char *start_of_word(const char *line, const char *end) {
  while (end > line && strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789", end[-1]))
    end--;
  return end;
}

static void use_before(struct names *n, const struct use *as, const char *line, const char *end, char mark) {
  for (const char *at = line; (at = memchr(at, mark, (size_t)(end - at))); at++)
    if (start_of_word(line, at) < at)
      use(n, as, start_of_word(line, at), at);
}

static void use_line(struct names *n, const char *line, const char *end) {
  if (strncmp(line, "#define ", 8) == 0)
    use(n, &of_macro, line + 8, line + 8 + strcspn(line + 8, " (\n"));
  else if (strncmp(line, "typedef", 7) == 0)
    use_before(n, &of_type, line, end, ';');
  else if (*line != '#' && strncmp(line, "static", 6) != 0)
    use_before(n, &of_function, line, end, '(');
}

TEST(every_name_of_the_prelude_is_there) {
  struct names n = {0};
  for (const char *line = jit_prelude(), *end; *line; line = end + 1) {
    if (strncmp(line, "#ifdef", 6) == 0)
      line = strstr(line, "#endif");
    end = strchr(line, '\n');
    use_line(&n, line, end);
  }
  if (n.count < 300)
    fail_msg("%d names were found", n.count);
  for (int i = 0; i < GROUPS; i++) {
    assert_int_equal(compile_both(text_str(&n.groups[i])), 0);
    text_free(&n.groups[i]);
  }
}

TEST(macros_find_what_they_name) {
  assert_int_equal(
      compile_both("int order = __BYTE_ORDER__, digits = DECIMAL_DIG; long most = INT_FAST64_MAX;\n"), 0);
  assert_int_equal(
      compile_both("#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ || !(defined __x86_64__ || defined "
                   "__aarch64__)\n#error\n#endif\n"),
      0);
  assert_int_equal(compile_both("void f(double *x) { *x = exp(x[1]) + isnan(x[2]) + fpclassify(x[3]); }\n"),
                   0);
  assert_int_equal(compile_both("double f(const double *const *x, long k) { return OP_ROW(x, k)[0]; }\n"), 0);
}

TEST(words_that_come_to_be) {
  assert_int_equal(
      compile_both("#define CAT(a, b) a##b\nvoid f(double *x) { *x = CAT(fm, ax)(x[0], x[1]); }\n"), 0);
  assert_int_equal(
      compile_both("#define CAT(a, b) a%:%:b\nvoid f(double *x) { *x = CAT(fm, ax)(x[0], x[1]); }\n"), 0);
  assert_int_equal(compile_both("void f(double *x) { *x = fm\\\nax(x[0], x[1]); }\n"), 0);
}

TEST(names_of_the_text_itself) {
  assert_int_equal(
      compile_both("static double y0(double x) { return x; }\nvoid f(double *x) { *x = y0(*x); }\n"), 0);
  assert_int_equal(compile_both("static int hypot(int a) { return a; }\nint f(int x) { return hypot(x); }\n"),
                   1);
  assert_int_equal(compile_both("#define M_PI 3\ndouble f(void) { return M_PI; }\n"), 0);
}

TEST(misspelt_names_get_the_same_advice) {
  assert_int_equal(compile_both("void f(double *x) { *x = sqrtt(*x); }\n"), 1);
  assert_int_equal(compile_both("double f(void) { return M_PY; }\n"), 1);
  assert_int_equal(compile_both("void f(doubl *x) { *x = 1; }\n"), 1);
  assert_int_equal(compile_both("void f(uint32 *x) { *x = hypott; }\n"), 1);
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  plugin_open(argv[1]);
  return run_these(NULL, NULL);
}
