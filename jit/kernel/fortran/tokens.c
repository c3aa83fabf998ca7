/* Sources in free and in fixed form become tokens, with the files that they include in their places. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/list.h"
#include "jit/kernel/fortran/tree.h"
#include "jit/kernel/include.h"

enum { FIXED_WIDTH = 72, LABELS = 5, CONTINUED = 5, DEEPEST = 20 };

/* ---- adding ---- */

static struct f_token *add_token(struct fortran *f, enum token_form form) {
  struct f_token *tokens = array_more(f->tokens, (size_t)f->ntokens, sizeof *tokens);
  if (!tokens) {
    f_memory(f);
    return NULL;
  }
  f->tokens = tokens;
  struct f_token *t = &tokens[f->ntokens++];
  *t = (struct f_token){.form = form, .word = "", .spelled = ""};
  return t;
}

static const char *small(struct fortran *f, const char *word, size_t length) {
  char *copy = (char *)(size_t)f_copy(f, word, length);
  for (char *c = copy; *c; c++)
    *c = (char)tolower((unsigned char)*c);
  return copy;
}

/* A line being scanned. */
struct scan {
  const struct source_file *file;
  const char *text;
  size_t at, end;
  size_t line_begin;
  int line;
  const struct f_token *as; /* the text of a macro, which stands here */
};

static void put_token(struct fortran *f, const struct scan *s, enum token_form form, size_t from, size_t to,
                      const char *word) {
  struct f_token *t = add_token(f, form);
  if (!t)
    return;
  *t = s->as
           ? *s->as
           : (struct f_token){
                 .file = s->file, .begin = from, .line = s->line, .column = (int)(from - s->line_begin) + 1};
  t->form = form;
  t->spelled = f_copy(f, s->text + from, to - from);
  t->word = word ? word : small(f, s->text + from, to - from);
}

/* ---- tokens of a line ---- */

/* The place behind letters, digits and `_`. */
static size_t skip_word(const struct scan *s, size_t at) {
  while (at < s->end && is_in_word(s->text[at]))
    at++;
  return at;
}

static const struct {
  const char *dotted, *sign;
} dotted[] = {{".eq.", "=="}, {".ne.", "/="}, {".lt.", "<"}, {".le.", "<="}, {".gt.", ">"}, {".ge.", ">="}};
static const char *const signs[] = {"**", "//", "==", "/=", "<=", ">=", "=>", "::"};

/* `.word.`: how long it is; 0: none begins here. */
static size_t dotted_length(const struct scan *s, size_t at) {
  size_t i = at + 1;
  while (i < s->end && isalpha((unsigned char)s->text[i]))
    i++;
  return i > at + 1 && i < s->end && s->text[i] == '.' ? i + 1 - at : 0;
}

static void scan_dotted(struct fortran *f, struct scan *s, size_t length) {
  const char *word = small(f, s->text + s->at, length), *sign = NULL;
  const bool logical = strcmp(word, ".true.") == 0 || strcmp(word, ".false.") == 0;
  for (size_t i = 0; i < sizeof dotted / sizeof *dotted; i++)
    if (strcmp(word, dotted[i].dotted) == 0)
      sign = dotted[i].sign;
  size_t to = s->at + length;
  if (logical && to < s->end && s->text[to] == '_') /* of a kind, which no kernel can tell */
    to = skip_word(s, to);
  put_token(f, s, logical ? T_LOGICAL : T_SIGN, s->at, to, sign ? sign : word);
  s->at = to;
}

static size_t skip_digits(const struct scan *s, size_t at) {
  while (at < s->end && isdigit((unsigned char)s->text[at]))
    at++;
  return at;
}

static void scan_number(struct fortran *f, struct scan *s) {
  enum token_form form = T_INTEGER;
  size_t to = skip_digits(s, s->at);
  if (to < s->end && s->text[to] == '.' && !dotted_length(s, to)) {
    form = T_REAL;
    to = skip_digits(s, to + 1);
  }
  if (to < s->end && strchr("eEdD", s->text[to])) {
    const size_t digits = to + 1 + (to + 1 < s->end && strchr("+-", s->text[to + 1]) != NULL);
    const size_t behind = skip_digits(s, digits);
    if (behind > digits) {
      form = T_REAL;
      to = behind;
    }
  }
  if (to < s->end && s->text[to] == '_')
    to = skip_word(s, to);
  put_token(f, s, form, s->at, to, NULL);
  s->at = to;
}

static void scan_text(struct fortran *f, struct scan *s) {
  const char quote = s->text[s->at];
  size_t to = s->at + 1;
  while (to < s->end && (s->text[to] != quote || (to + 1 < s->end && s->text[to + 1] == quote)))
    to += s->text[to] == quote ? 2 : 1;
  if (to >= s->end) /* it may go on in the next line; kernels have none */
    put_token(f, s, T_STRING, s->at, s->end, "");
  else
    put_token(f, s, T_STRING, s->at, to + 1, f_copy(f, s->text + s->at + 1, to - s->at - 1));
  s->at = to + 1 < s->end ? to + 1 : s->end;
}

static bool scan_part(struct fortran *f, struct scan *s);

static void scan_name(struct fortran *f, struct scan *s) {
  const size_t to = skip_word(s, s->at);
  put_token(f, s, T_NAME, s->at, to, NULL);
  s->at = to;
  const struct f_token *t = f->ntokens ? &f->tokens[f->ntokens - 1] : NULL;
  struct macro *m = t ? f_find_macro(f, t->spelled) : NULL;
  if (!m || m->busy || failed(f))
    return;
  const struct f_token as = s->as ? *s->as : *t;
  f->ntokens--;
  struct scan value = {
      .file = as.file, .text = m->value, .end = strlen(m->value), .line = as.line, .as = &as};
  m->busy = true;
  scan_part(f, &value);
  m->busy = false;
}

static void scan_sign(struct fortran *f, struct scan *s) {
  const char *at = s->text + s->at;
  size_t length = 1;
  const char *word = NULL;
  for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
    if (s->at + 1 < s->end && strncmp(at, signs[i], 2) == 0)
      length = 2;
  if (s->at + 1 < s->end && (strncmp(at, "(/", 2) == 0 || strncmp(at, "/)", 2) == 0) &&
      !(s->at + 2 < s->end && at[2] == '=')) {
    length = 2;
    word = at[0] == '(' ? "[" : "]";
  }
  put_token(f, s, T_SIGN, s->at, s->at + length, word);
  s->at += length;
}

static void end_statement(struct fortran *f);

/* Scans up to the end or a comment. True: an & continues the statement. */
static bool scan_part(struct fortran *f, struct scan *s) {
  while (s->at < s->end && !failed(f)) {
    const char c = s->text[s->at];
    const size_t word = c == '.' ? dotted_length(s, s->at) : 0;
    if (isspace((unsigned char)c))
      s->at++;
    else if (c == '!')
      return false;
    else if (c == '&')
      return true;
    else if (c == ';' && !s->as) {
      s->at++;
      end_statement(f);
    } else if (isalpha((unsigned char)c) || c == '_')
      scan_name(f, s);
    else if (isdigit((unsigned char)c) ||
             (c == '.' && !word && s->at + 1 < s->end && isdigit((unsigned char)s->text[s->at + 1])))
      scan_number(f, s);
    else if (word)
      scan_dotted(f, s, word);
    else if (c == '\'' || c == '"') {
      scan_text(f, s);
      if (s->at == s->end && s->text[s->end - 1] == '&')
        return true;
    } else
      scan_sign(f, s);
  }
  return false;
}

/* ---- statements ---- */

/* `include 'file'` is a line of its own, and not a statement. */
static void put_include(struct fortran *f) {
  const struct f_token *t = &f->tokens[f->statement];
  const struct f_token at = t[1];
  f->ntokens = f->statement;
  f_scan_named(f, at.word, at.file->path, &at, false);
}

static void end_statement(struct fortran *f) {
  const int count = f->ntokens - f->statement;
  if (count == 0 || failed(f))
    return;
  const struct f_token *t = &f->tokens[f->statement];
  if (count == 2 && t->form == T_NAME && strcmp(t->word, "include") == 0 && t[1].form == T_STRING) {
    put_include(f);
    return;
  }
  if (t->form == T_INTEGER && count > 1)
    f->tokens[f->statement].form = T_LABEL;
  const struct f_token last = f->tokens[f->ntokens - 1];
  struct f_token *end = add_token(f, T_END);
  if (!end)
    return;
  *end = last;
  end->form = T_END;
  end->column += (int)strlen(last.spelled);
  end->word = end->spelled = "";
  f->statement = f->ntokens;
}

/* ---- lines ---- */

/* True: in fixed form, the line continues the statement before it. */
static bool continues(const char *line, size_t length) {
  for (size_t i = 0; i < LABELS && i < length; i++)
    if (line[i] != ' ')
      return false;
  return length > CONTINUED && line[CONTINUED] != ' ' && line[CONTINUED] != '0';
}

static void scan_fixed(struct fortran *f, struct scan *s) {
  const char *line = s->text + s->at;
  const size_t length = s->end - s->at;
  if (length == 0 || strchr("cC*!dD", *line))
    return;
  if (length > FIXED_WIDTH)
    s->end = s->at + FIXED_WIDTH;
  if (continues(line, length))
    s->at += CONTINUED + 1;
  else
    end_statement(f);
  scan_part(f, s);
}

static void scan_free(struct fortran *f, struct scan *s, bool *goes_on) {
  size_t at = s->at;
  while (at < s->end && isspace((unsigned char)s->text[at]))
    at++;
  if (at == s->end || s->text[at] == '!')
    return; /* also between the lines of a statement */
  if (*goes_on && s->text[at] == '&')
    at++;
  s->at = at;
  *goes_on = scan_part(f, s);
  if (!*goes_on)
    end_statement(f);
}

void f_scan_source(struct fortran *f, const struct source_file *file) {
  struct conditions conditions = {0};
  bool goes_on = false;
  size_t at = 0;
  for (int line = file->line > 0 ? file->line : 1; at < file->length && !failed(f); line++) {
    const char *newline = memchr(file->text + at, '\n', file->length - at);
    const size_t end = newline ? (size_t)(newline - file->text) : file->length;
    struct scan s = {.file = file, .text = file->text, .at = at, .end = end, .line_begin = at, .line = line};
    if (s.end > at && file->text[s.end - 1] == '\r')
      s.end--;
    if (s.at < s.end && file->text[at] == '#') {
      if (!goes_on && !file->fixed)
        end_statement(f);
      f_scan_directive(f, file, at, s.end, line, &conditions);
    } else if (!conditions.dead && file->fixed)
      scan_fixed(f, &s);
    else if (!conditions.dead)
      scan_free(f, &s, &goes_on);
    at = end + 1;
  }
  end_statement(f);
}

/* Adds more ends, so that code may look ahead of the last statement. */
void f_scan_end(struct fortran *f) {
  enum { AHEAD = 8 };
  struct f_token last = {.form = T_END, .file = f->file, .line = 1, .column = 1, .word = "", .spelled = ""};
  if (f->ntokens)
    last = f->tokens[f->ntokens - 1], last.form = T_END;
  const int count = f->ntokens;
  for (int i = 0; i < AHEAD && !failed(f); i++) {
    struct f_token *t = add_token(f, T_END);
    if (t)
      *t = last;
  }
  f->ntokens = count;
}

/* ---- files ---- */

bool f_is_one_of(const char *word, const char *words) {
  const size_t length = strlen(word);
  for (const char *at = words; length && (at = strcasestr(at + 1, word)) != NULL;)
    if (at[-1] == ' ' && at[length] == ' ')
      return true;
  return false;
}

static bool has_ending(const char *path, const char *endings) {
  const char *dot = path ? strrchr(path, '.') : NULL;
  return dot && f_is_one_of(dot + 1, endings);
}
static const char free_endings[] = " f90 f95 f03 f08 f18 ", fixed_endings[] = " f for ftn f77 ";

bool f_is_fixed(const char *path) {
  return has_ending(path, fixed_endings);
}

/* Gets a source from the caller, or from a folder. False: it is nowhere, and `where` lists the places. */
static bool find_source(struct fortran *f, const char *name, const char *from, struct source_file *file,
                        struct text *where) {
  const struct fortran_source *s = f->source;
  struct shared_file *found = NULL;
  file->path = name;
  file->text = s->find ? s->find(s->data, name, &file->length) : NULL;
  if (file->text || s->find)
    return file->text != NULL;
  if (!f->shared || include_find(f->shared, name, from, &found, where, f->err) || !found)
    return false;
  file->path = f_copy(f, found->path, strlen(found->path));
  file->text = f_copy(f, text_str(&found->text), found->text.length);
  file->length = found->text.length;
  text_addf(&f->made->files, "%s\n", file->path);
  return true;
}

bool f_scan_named(struct fortran *f, const char *name, const char *from, const struct f_token *at,
                  bool quiet) {
  struct source_file *file = f_new(f, sizeof *file);
  struct text where = {0};
  file->line = 1;
  file->fixed = f_is_fixed(name) || (at->file->fixed && !has_ending(name, free_endings));
  const bool found = f->depth < DEEPEST && find_source(f, f_copy(f, name, strlen(name)), from, file, &where);
  if (f->depth >= DEEPEST)
    f_refuse(f, at, "files include one another too deeply: %s", name);
  else if (!found && !quiet)
    f_refuse(f, at, "the file '%s' was not found: looked for it %s; OP2_INCLUDE names more folders", name,
             where.length ? text_str(&where) : "in the program");
  text_free(&where);
  if (!found || failed(f))
    return false;
  f->depth++;
  f_scan_source(f, file);
  f->depth--;
  return !failed(f);
}

/* The next word behind blanks and comments, in room for a longer one than any that is asked for. */
static size_t next_word(const char *source, size_t length, size_t at, char word[16]) {
  while (at < length && (isspace((unsigned char)source[at]) || source[at] == '!')) {
    const char *newline = source[at] == '!' ? memchr(source + at, '\n', length - at) : source + at;
    at = newline ? (size_t)(newline - source) + 1 : length;
  }
  size_t n = 0;
  while (n < 15 && at + n < length && isalpha((unsigned char)source[at + n]))
    n++;
  memcpy(word, source + at, n);
  word[n] = '\0';
  return at + n;
}

static bool first_word_is_fortran(const char *source, size_t length) {
  char word[16], second[16];
  const size_t behind = next_word(source, length, 0, word);
  next_word(source, length, behind, second);
  return f_is_one_of(word,
                     " subroutine module pure elemental recursive function use program impure integer real "
                     "logical ") ||
         (strcasecmp(word, "double") == 0 && strcasecmp(second, "precision") == 0);
}

bool fortran_is(const char *file, const char *text, size_t length) {
  return has_ending(file, free_endings) || f_is_fixed(file) ||
         (!has_ending(file, " c h cu cl ") && first_word_is_fortran(text, length));
}
