#include "jit/messages.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "jit/emit/skeleton.h"
#include "jit/kernel/excerpt.h"

enum { MOST_ERRORS = 5 };

static const char *const severities[] = {[COMPILE_ERROR] = "error",
                                         [COMPILE_WARNING] = "warning",
                                         [COMPILE_NOTE] = "note",
                                         [COMPILE_REMARK] = "remark"};
enum { SEVERITIES = 4 };

enum place { PLACE_KERNEL, PLACE_LOOP, PLACE_PRELUDE, PLACE_NONE };
static const char *const places[] = {"kernel", "loop", "prelude", "nowhere"};
enum { PLACES = 4 };

/* ---- keeping -----------------------------------------------------------------------------------*/

/* Files may have been given to the compiler with a folder in front. */
static bool ends_with(const char *path, const char *name) {
  size_t a = strlen(path), b = strlen(name);
  return a >= b && strcmp(path + a - b, name) == 0;
}

static enum place place_of(const char *file, const struct generated *files) {
  if (!file || !*file)
    return PLACE_NONE;
  /* The loop's file is asked first: its name ends like the kernel's if the kernel's name ends in "loop". */
  if (ends_with(file, files->main_file))
    return PLACE_LOOP;
  if (ends_with(file, files->kernel_file))
    return PLACE_KERNEL;
  return ends_with(file, files->prelude_file) ? PLACE_PRELUDE : PLACE_NONE;
}

void messages_keep(const struct compile_message *messages, int count, const struct generated *files,
                   struct text *out) {
  for (int i = 0; i < count; i++) {
    const struct compile_message *m = &messages[i];
    if ((unsigned)m->severity >= SEVERITIES)
      continue;
    text_addf(out, "%s %s %d %d ", severities[m->severity], places[place_of(m->file, files)], m->line,
              m->column);
    for (const char *c = m->text ? m->text : ""; *c; c++)
      text_add_char(out, *c == '\n' ? ' ' : *c);
    text_add_char(out, '\n');
  }
}

/* ---- reading -----------------------------------------------------------------------------------*/

struct message {
  enum compile_severity severity;
  enum place place;
  int line, column;
  const char *text;
  size_t length;
};

static int find_word(const char *at, size_t length, const char *const words[], int count) {
  for (int i = 0; i < count; i++)
    if (strlen(words[i]) == length && memcmp(words[i], at, length) == 0)
      return i;
  return -1;
}

/* The next line that is a message; other lines are skipped. */
static bool next_message(const char **at, struct message *m) {
  while (**at) {
    const char *line = *at;
    size_t length = strcspn(line, "\n");
    *at = line + length + (line[length] == '\n');
    size_t first = strcspn(line, " \n"), second = line[first] == ' ' ? strcspn(line + first + 1, " \n") : 0;
    int severity = find_word(line, first, severities, SEVERITIES);
    int place = second ? find_word(line + first + 1, second, places, PLACES) : -1;
    if (severity < 0 || place < 0 || line[first + 1 + second] != ' ')
      continue;
    char *end;
    m->severity = (enum compile_severity)severity;
    m->place = (enum place)place;
    m->line = (int)strtol(line + first + 1 + second, &end, 10);
    m->column = (int)strtol(end, &end, 10);
    m->text = end + (*end == ' ');
    if (m->text > line + length)
      continue;
    m->length = (size_t)(line + length - m->text);
    return true;
  }
  return false;
}

/* ---- telling -----------------------------------------------------------------------------------*/

static struct source source_of(enum place place, const struct told *t) {
  const struct desc *d = t->desc;
  if (place == PLACE_KERNEL)
    return desc_source(d);
  if (place == PLACE_LOOP && t->files)
    return (struct source){.text = text_str(&t->files->main),
                           .length = t->files->main.length,
                           .file = "generated code",
                           .line = 1};
  return (struct source){
      .text = "", .file = place == PLACE_PRELUDE ? "what every kernel has" : "compiler", .line = 1};
}

/* A macro that has its argument in several places, as OP_ROW, would say it for each. `before`: names of base/text.h. */
static void say_once(struct text *before, const struct text *said, struct text *out) {
  if (!said->length || names_have(before, text_str(said), said->length))
    return;
  names_note(before, text_str(said));
  text_add(out, text_str(said));
}

static void add_place(const struct message *m, const struct told *t, struct text *out) {
  const struct source source = source_of(m->place, t);
  if (m->line <= 0)
    return;
  source_place(&source, m->line, m->column, out);
  text_add(out, ": ");
}

static void tell(const struct message *m, const struct told *t, const char *label, struct text *before,
                 struct text *out) {
  const struct source source = source_of(m->place, t);
  struct text said = {0};
  add_place(m, t, &said);
  text_addf(&said, "%s%.*s\n", label, (int)m->length, m->text);
  if (m->line > 0) {
    source_excerpt(&source, m->line, m->column, &said);
    say_once(before, &said, out);
  } else
    text_add(out, text_str(&said));
  text_free(&said);
}

static bool begins_with(const struct message *m, const char *words) {
  const size_t length = strlen(words);
  return m->length >= length && memcmp(m->text, words, length) == 0;
}

/* True: "include the header <...>". Kernels have <math.h> without it, and no other header. */
static bool is_advice_for_others(const struct message *m) {
  return begins_with(m, "include the header ");
}

#define IN_TEXT "put it in the text: of the program a kernel sees only its text, so write "
#define IN_FRONT "in front of the kernel, or share it with all kernels by op_prelude_file or op_decl_prelude"
#define CONSTANT                                                                                             \
  IN_TEXT "functions, enums and #defines " IN_FRONT                                                          \
          "; if %.*s is a constant, declare it with op_decl_const before the loop (op2jit check: --const)\n"
#define TYPE_NAME IN_TEXT "what %.*s is " IN_FRONT "\n"
#define HELPER IN_TEXT "%.*s " IN_FRONT "\n"
/* Kernels of tasks have no constants and no preludes. */
#define TASK_FRONT "in front of the kernel"
#define TASK_VALUE                                                                                           \
  IN_TEXT "functions, enums and #defines " TASK_FRONT                                                        \
          "; if %.*s is a value of the program, it comes with the task's data, or as memory that the "       \
          "task uses (op_graph_memory, op_graph_use)\n"
#define TASK_TYPE IN_TEXT "what %.*s is " TASK_FRONT "\n"
#define TASK_HELPER IN_TEXT "%.*s " TASK_FRONT "\n"
#define NO_STRUCT                                                                                            \
  "the text of a struct of OP_TYPE is not there; share it with all kernels by op_prelude_file or "           \
  "op_decl_prelude\n"
#define LIBRARY                                                                                              \
  "kernels have the functions of <math.h> and printf, not %.*s: they allocate nothing, and reach data "      \
  "through arguments only\n"

/* Words of compilers for a name that is not declared, and the remedy. The first that fits. */
static const struct {
  const char *before, *behind, *remedy, *in_task;
} undeclared[] = {{"use of undeclared identifier '", "'", CONSTANT, TASK_VALUE},
                  {"unknown type name '", "'", TYPE_NAME, TASK_TYPE},
                  {"identifier \"", "\" is undefined", CONSTANT, TASK_VALUE},
                  {"incomplete definition of type '", "'", TYPE_NAME, TASK_TYPE},
                  {"call to undeclared library function '", "'", LIBRARY, LIBRARY},
                  {"call to undeclared function 'op_row", "'", "did you mean OP_ROW?\n", TASK_HELPER},
                  {"call to undeclared function '", "'", HELPER, TASK_HELPER}};

/* Not of a loop, which has a set. */
static bool is_of_tasks(const struct desc *d) {
  return d->nargs == 0 && d->nsets == 0;
}

/* True: there is `name[` between `at` and `end`. */
static bool has_index_of(const char *at, const char *end, const char *name) {
  const size_t length = strlen(name);
  bool inside_word = false;
  for (; at < end; at++) {
    const bool begins = !inside_word && (size_t)(end - at) > length && memcmp(at, name, length) == 0;
    const char *behind = at + length;
    while (begins && behind < end && isspace((unsigned char)*behind))
      behind++;
    if (begins && behind < end && *behind == '[')
      return true;
    inside_word = is_in_word(*at);
  }
  return false;
}

/* The beginning of that line; of one that is not there the end. */
static const char *line_at(const char *text, int line) {
  for (int i = 1; i < line && *text; i++)
    text += strcspn(text, "\n") + (text[strcspn(text, "\n")] == '\n');
  return text;
}

/* A constant of dim 1 is no array. */
static void tell_scalar_constants(const struct message *m, const struct told *t, struct text *out) {
  if (!begins_with(m, "subscripted value is not an array") &&
      !begins_with(m, "expression must have pointer-to-object type"))
    return;
  const char *line = line_at(t->desc->text, m->line);
  for (int i = 0; i < t->desc->nconsts; i++) {
    const struct desc_const *c = &t->desc->consts[i];
    if (c->dim == 1 && has_index_of(line, line + strcspn(line, "\n"), c->name))
      text_addf(out, "%s is a constant of dim 1 (op_decl_const)\n", c->name);
  }
}

static bool is_declared_struct(const char *name, size_t length) {
  char *copy = strndup(name, length);
  const bool is = copy && type_is_struct(type_parse(copy, NULL));
  free(copy);
  return is;
}

/* Said once for a name. Is it that of a struct of OP_TYPE? */
static bool tell_remedy(const struct message *m, const struct told *t, struct text *before,
                        struct text *out) {
  struct text remedy = {0};
  bool is_struct = false;
  if (m->place == PLACE_KERNEL)
    tell_scalar_constants(m, t, &remedy);
  for (size_t i = 0; i < sizeof undeclared / sizeof *undeclared && m->place == PLACE_KERNEL; i++) {
    const size_t before = strlen(undeclared[i].before), behind = strlen(undeclared[i].behind);
    if (m->length <= before || memcmp(m->text, undeclared[i].before, before) != 0)
      continue;
    const char *name = m->text + before;
    const size_t length = strcspn(name, (const char[]){undeclared[i].behind[0], '\0'});
    if (before + length + behind > m->length || memcmp(name + length, undeclared[i].behind, behind) != 0)
      continue;
    is_struct |= is_declared_struct(name, length);
    if (is_struct)
      text_add(&remedy, NO_STRUCT);
    else
      text_addf(&remedy, is_of_tasks(t->desc) ? undeclared[i].in_task : undeclared[i].remedy, (int)length,
                name);
  }
  say_once(before, &remedy, out);
  text_free(&remedy);
  return is_struct;
}

#define SAME "; make the struct of the prelude the same as the program's\n"

static bool speaks_of(const struct message *m, const char *words) {
  return memmem(m->text, m->length, words, strlen(words));
}

/* Tells of a layout that differs, once: the sentence of the generated code, and the number that the compiler
 * finds, if the next message has it. Other errors on such a line are told in the compiler's words. */
static bool tell_layout(const struct message *m, const struct told *t, const char *next, struct text *before,
                        struct text *out) {
  static const char mark[] = STRUCT_DIFFERS, note[] = "expression evaluates to '",
                    missing[] = "no member named ";
  const bool generated = m->place == PLACE_LOOP && t->files;
  const char *line = generated ? line_at(text_str(&t->files->main), m->line) : "",
             *end = line + strcspn(line, "\n");
  const char *sentence = memmem(line, (size_t)(end - line), mark, sizeof mark - 1);
  struct text said = {0};
  struct message after;
  if (!sentence)
    return false;
  sentence += sizeof mark - 1;
  if (begins_with(m, missing))
    text_addf(&said, "the kernels' text has %.*s" SAME, (int)m->length, m->text);
  else if (speaks_of(m, " has no member ")) /* NVRTC */
    text_addf(&said, "in the kernels' text %.*s" SAME, (int)m->length, m->text);
  else if (speaks_of(m, "incomplete") || speaks_of(m, "op2_T"))
    text_add(&said, NO_STRUCT);
  else if (!speaks_of(m, mark))
    return false;
  else if (next_message(&next, &after) && after.severity == COMPILE_NOTE && begins_with(&after, note)) {
    const char *number = after.text + sizeof note - 1;
    text_addf(&said, "%.*s, in the kernels' text %.*s" SAME, (int)strcspn(sentence, "\""), sentence,
              (int)strspn(number, "0123456789"), number);
  } else
    text_addf(&said, "%.*s, and not so in the kernels' text" SAME, (int)strcspn(sentence, "\""), sentence);
  say_once(before, &said, out);
  text_free(&said);
  return true;
}

int messages_error(const char *kept, const struct told *t, struct error *err) {
  struct text out = {0}, before = {0};
  struct message m;
  int errors = 0, code = OP_ERR_COMPILE;
  bool shown = false;
  text_addf(&out, "kernel %s does not compile\n", t->desc->kernel_name);
  for (const char *at = kept; next_message(&at, &m);) {
    if (m.severity == COMPILE_ERROR)
      shown = ++errors <= MOST_ERRORS;
    else if (m.severity != COMPILE_NOTE || !shown || is_advice_for_others(&m))
      continue;
    if (m.severity == COMPILE_ERROR && shown && tell_layout(&m, t, at, &before, &out)) {
      shown = false;
      code = OP_ERR_TYPE;
    }
    if (shown)
      tell(&m, t, m.severity == COMPILE_ERROR ? "error: " : "note: ", &before, &out);
    if (shown && m.severity == COMPILE_ERROR && tell_remedy(&m, t, &before, &out))
      code = OP_ERR_TYPE;
  }
  if (errors == 0)
    text_add(&out, "the compiler gave no reason\n");
  if (errors > MOST_ERRORS)
    text_addf(&out, "and %d more\n", errors - MOST_ERRORS);
  if (t->source)
    text_addf(&out, "(%s; the generated source is in %s)", t->compiler, t->source);
  else
    text_addf(&out, "(%s; OP2_DUMP=FOLDER keeps the generated source)", t->compiler);
  error_set(err, code, "%s", text_str(&out));
  text_free(&out);
  text_free(&before);
  return code;
}

void messages_first_error(const char *kept, const struct desc *desc, struct text *out) {
  struct message m;
  const char *at = kept;
  bool found = false;
  while (!found && next_message(&at, &m))
    found = m.severity == COMPILE_ERROR;
  if (!found) {
    text_add(out, "the compiler gave no reason");
    return;
  }
  if (m.place == PLACE_KERNEL)
    add_place(&m, &(struct told){.desc = desc}, out);
  text_addf(out, "%.*s", (int)m.length, m.text);
}

static void tell_all(const char *kept, const struct told *t, enum compile_severity wanted, const char *label,
                     struct text *out) {
  struct text before = {0};
  struct message m;
  bool shown = false;
  for (const char *at = kept; next_message(&at, &m);) {
    if (m.severity != COMPILE_NOTE)
      shown = m.severity == wanted && m.place == PLACE_KERNEL;
    if (shown && m.place == PLACE_KERNEL)
      tell(&m, t, m.severity == COMPILE_NOTE ? "note: " : label, &before, out);
  }
  text_free(&before);
  text_drop_newline(out);
}

void messages_warnings(const char *kept, const struct told *t, struct text *out) {
  tell_all(kept, t, COMPILE_WARNING, "warning: ", out);
}

void messages_remarks(const char *kept, const struct told *t, struct text *out) {
  struct message m;
  for (const char *at = kept; next_message(&at, &m);) {
    if (m.severity != COMPILE_REMARK)
      continue;
    add_place(&m, t, out);
    text_addf(out, "%.*s\n", (int)m.length, m.text);
  }
  text_drop_newline(out);
}

/* "12 spills 3.4e+01 total spills cost ... generated in function": of a function; loops in it have their own. */
int messages_spills(const char *kept) {
  static const char word[] = " spills ";
  struct message m;
  int spills = 0;
  for (const char *at = kept; next_message(&at, &m);) {
    char *end;
    const long count = strtol(m.text, &end, 10);
    if (m.severity == COMPILE_REMARK && count > 0 && count < INT_MAX - spills &&
        strncmp(end, word, strlen(word)) == 0 && speaks_of(&m, "generated in function"))
      spills += (int)count;
  }
  return spills;
}

/* The loop over lanes is the only one that must be vectorised, and the remarks of loops around and behind it say "not
 * vectorized" too: so the word that counts is whether any was. */
void messages_scalar_reason(const char *kept, struct text *out) {
  struct message m, first = {0};
  for (const char *at = kept; next_message(&at, &m);) {
    if (m.severity != COMPILE_REMARK)
      continue;
    if (begins_with(&m, "vectorized loop"))
      return;
    if (!first.text && begins_with(&m, "loop not vectorized"))
      first = m;
  }
  if (first.text)
    text_addf(out, "%.*s", (int)first.length, first.text);
  else
    text_add(out, "the compiler gave no reason");
}
