/* Turns a procedure into a C function, and all of them into one text with the lines of the source. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/list.h"
#include "base/text.h"
#include "jit/kernel/fortran/tree.h"

/* ---- one function ---- */

static bool is_kernel(const struct fortran *f, const struct f_unit *u) {
  return u->c_name && strcmp(u->c_name, f->kernel) == 0 && u->kind == U_SUBROUTINE;
}

static void prepare_dummies(struct fortran *f, struct f_unit *u) {
  for (int i = 0; i < u->ndummies && !failed(f); i++) {
    struct symbol *s = u->dummies[i];
    if (s->by_value && is_kernel(f, u))
      f_refuse(f, s->at, "a kernel gets the addresses of its arguments; take `value` away from %s", s->name);
    if (u->kind == U_FUNCTION)
      s->by_value |= s->rank == 0 && (s->intent == INTENT_IN || s->intent == INTENT_NONE);
  }
}

static void put_header(struct fortran *f, struct f_unit *u) {
  f_mark(f, &f->tokens[u->header], f->out);
  const bool gives = u->result && !u->result->rank;
  const unsigned long long counted = is_kernel(f, u) ? f->source->counted : 0;
  text_addf(f->out, "static %s %s(", gives ? f_type_in_c(u->result->type) : "void", u->c_name);
  for (int i = 0; i < u->ndummies; i++) {
    const struct symbol *s = u->dummies[i];
    const bool constant = !s->by_value && (s->intent == INTENT_IN || !s->written);
    text_addf(f->out, "%s%s%s %s%s%s", i ? ", " : "", constant ? "const " : "", f_type_in_c(s->type),
              s->by_value ? "" : "*", s->c_name, counted >> i & 1 ? "_from_0" : "");
  }
  if (u->result && !gives) /* an array is left where the caller says */
    text_addf(f->out, "%s%s *result_) { ", u->ndummies ? ", " : "", f_type_in_c(u->result->type));
  else
    text_addf(f->out, "%s) { ", u->ndummies ? "" : "void");
  for (int i = 0; i < u->ndummies; i++)
    if (counted >> i & 1)
      text_addf(f->out, "%s %s[] = {*%s_from_0 + 1}; ", f_type_in_c(u->dummies[i]->type),
                u->dummies[i]->c_name, u->dummies[i]->c_name);
}

/* Keeps what messages about the kernel's own arguments say. */
static void note_arguments(struct fortran *f, const struct f_unit *u) {
  static const char *const intents[] = {"", ", intent(in)", ", intent(out)", ", intent(inout)"};
  struct fortran_made *m = f->made;
  m->arguments = array_new((size_t)u->ndummies, sizeof *m->arguments);
  for (int i = 0; m->arguments && i < u->ndummies; i++) {
    const struct symbol *s = u->dummies[i];
    m->arguments[i] = (struct fortran_argument){
        .said = strdup(f_say(f, "%s%s", f_type_said(f, s->type), intents[s->intent])),
        .is_out = s->intent == INTENT_OUT};
    if (!m->arguments[i].said)
      break;
    m->narguments++;
  }
  if (m->narguments < u->ndummies)
    f_memory(f);
}

static void put_local(struct fortran *f, const struct symbol *s) {
  const long long count = f_count_of(s);
  if (count < 0 || count > MOST_VALUES)
    f_refuse(f, s->at, "%s is no argument, so its bounds must be numbers that the text says", s->name);
  f_mark(f, s->at, f->out);
  text_addf(f->out, "%s %s", f_type_in_c(s->type), s->c_name);
  if (s->rank)
    text_addf(f->out, "[%lld]", count ? count : 1);
  text_add(f->out, "; ");
}

static void put_function(struct fortran *f, struct f_unit *u) {
  put_header(f, u);
  for (const struct symbol *s = u->symbols; s && !failed(f); s = s->next)
    if ((s->kind == S_LOCAL && s->used) || (s->kind == S_RESULT && !s->rank))
      put_local(f, s);
  text_add(f->out, text_str(u->tables));
  text_add(f->out, text_str(u->body_text));
  f_mark(f, &f->tokens[u->end < f->ntokens ? u->end : f->ntokens - 1], f->out);
  text_addf(f->out, "%s}", u->result && !u->result->rank ? "return result_; " : "");
}

/* Modules may have procedures of one name. */
static const char *name_in_c(struct fortran *f, const struct f_unit *u) {
  const char *name = f_c_name_of(f, u->name);
  bool taken = false;
  for (const struct f_unit *i = f->units; i; i = i->next)
    taken |= i->c_name && strcmp(i->c_name, name) == 0;
  return taken ? f_say(f, "%s%d_", name, ++f->labels) : name;
}

static void translate_unit(struct fortran *f, struct f_unit *u, const struct f_token *by) {
  if (u->translated == STATE_DONE || failed(f))
    return;
  if (u->translated == STATE_BUSY) {
    f_refuse(f, by,
             "%s calls itself, or is called by what it calls; recursion is not in the subset: write a loop",
             u->name);
    return;
  }
  const struct fortran before = *f;
  u->translated = STATE_BUSY;
  f_declare_unit(f, u);
  if (!u->c_name)
    u->c_name = name_in_c(f, u);
  prepare_dummies(f, u);
  u->tables = f_text(f);
  u->body_text = f_text(f);
  f->unit = u;
  f->to = u->body_text;
  f->constructs = NULL;
  f->hoist = NULL;
  f->nesting = 0;
  f_read_statements(f);
  if (u->result && !u->result->written && !failed(f))
    f_refuse(f, &f->tokens[u->header], "function %s never gets its result; assign %s", u->name,
             u->result->name);
  if (!failed(f))
    put_function(f, u);
  f->unit = before.unit;
  f->to = before.to;
  f->constructs = before.constructs;
  f->hoist = before.hoist;
  f->at = before.at;
  f->nesting = before.nesting;
  u->translated = STATE_DONE;
}

/* ---- the text, line by line ---- */

struct lines {
  struct fortran_made *made;
  const struct source_file *file;
  int line;       /* the one that is written */
  const char *at; /* where it is in the file */
  size_t begin;   /* where it begins in the text */
  int whole;      /* lines of the text before it */
};

static const char *next_line(const struct lines *l, const char *at) {
  const char *end = l->file ? l->file->text + l->file->length : at;
  const char *newline = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
  return newline ? newline + 1 : end;
}

/* Ends the line. The line of the source stands behind it, for messages, without a last \, which would join it
 * to the next one. */
static void end_line(struct lines *l) {
  struct text *out = &l->made->text;
  const char *behind = next_line(l, l->at);
  size_t length = (size_t)(behind - l->at);
  while (length && strchr("\\\r\n", l->at[length - 1]))
    length--;
  if (out->length > l->begin) {
    text_add(out, "//!");
    text_add_bytes(out, l->at, length);
  }
  l->at = behind;
  text_add_char(out, '\n');
  l->begin = out->length;
  l->line++;
  l->whole++;
}

static void go_to(struct fortran *f, struct lines *l, const struct source_file *file, int line) {
  enum { NEAR = 20 };
  if (l->file == file && line >= l->line && line - l->line <= NEAR) {
    while (l->line < line)
      end_line(l);
    return;
  }
  if (l->file)
    end_line(l);
  if (l->file != file || line < l->line) {
    l->file = file;
    l->at = file->text;
    l->line = file->line > 0 ? file->line : 1;
  }
  for (; l->line < line; l->line++)
    l->at = next_line(l, l->at);
  const struct origin next = {.begin = l->made->text.length,
                              .line = l->whole + 1,
                              .file = (char *)(size_t)file->path,
                              .file_line = line};
  if (!origins_add(&l->made->origins, next))
    f_memory(f);
}

static void lay_out(struct fortran *f) {
  struct lines l = {.made = f->made, .at = ""};
  bool begun = false;
  for (const char *at = text_str(f->out); *at && !failed(f);) {
    if (*at == '\001') {
      int file = 0, line = 0;
      sscanf(at + 1, "%d %d", &file, &line);
      go_to(f, &l, f->files.items[file], line);
      at = strchr(at + 1, '\001') + 1;
      if (!begun)
        for (const char *c = text_str(f->helpers); *c; c++)
          text_add_char(&f->made->text, (char)(*c == '\n' ? ' ' : *c));
      begun = true;
      continue;
    }
    const size_t length = strcspn(at, "\001");
    text_add_bytes(&f->made->text, at, length);
    at += length;
  }
  end_line(&l);
}

/* ---- the kernel ---- */

static void no_kernel(struct fortran *f, const struct source_file *file) {
  struct text *names = f_text(f), *said = f_text(f);
  for (const struct f_unit *u = f->units; u; u = u->next)
    if (u->kind == U_SUBROUTINE) {
      names_note(names, u->name);
      text_addf(said, "%s%s", said->length ? ", " : "", u->name);
    }
  const char *near = names_nearest(names, f->kernel);
  struct error *err = f->err;
  error_set(err, OP_ERR_KERNEL, "kernel %s: the text in Fortran has no subroutine %s; it has %s%s%s%s\n%s:%d",
            f->kernel, f->kernel, said->length ? text_str(said) : "none at all",
            near ? "; did you mean " : "", near ? near : "", near ? "?" : "",
            file->path ? file->path : "kernel text", file->line > 0 ? file->line : 1);
  err->fact = FORTRAN_NO_KERNEL;
}

static struct f_unit *find_kernel(const struct fortran *f, const char *module) {
  for (struct f_unit *u = f->units; u; u = u->next) {
    const bool in_module = u->parent && u->parent->kind == U_MODULE;
    const bool there = !module || strcasecmp(in_module ? u->parent->name : "", module) == 0;
    if (u->kind == U_SUBROUTINE && there && strcasecmp(u->name, f->kernel) == 0)
      return u;
  }
  return NULL;
}

static void define_names(struct fortran *f, const char *names) {
  for (const char *at = names ? names : ""; *at; at += *at == '\n') {
    const size_t length = strcspn(at, "\n"), name = strcspn(at, "=\n");
    struct macro *m = f_new(f, sizeof *m);
    m->name = f_copy(f, at, name);
    m->value = name < length ? f_copy(f, at + name + 1, length - name - 1) : "1";
    if (!list_add(&f->macros, m))
      f_memory(f);
    at += length;
  }
}

static void scan_all(struct fortran *f) {
  const struct fortran_source *source = f->source;
  struct source_file *file = f_new(f, sizeof *file);
  *file = (struct source_file){.path = source->file,
                               .text = source->text,
                               .length = source->length,
                               .line = source->line,
                               .fixed = f_is_fixed(source->file)};
  define_names(f, source->defines);
  f_scan_source(f, file);
  f_scan_modules(f);
  f->file = file;
  f_scan_end(f);
  f_find_units(f);
}

static void translate(struct fortran *f) {
  struct f_unit *u = failed(f) ? NULL : find_kernel(f, f->source->module);
  if (!failed(f) && !u)
    no_kernel(f, f->file);
  if (failed(f))
    return;
  u->c_name = f->kernel;
  translate_unit(f, u, &f->tokens[u->header]);
  if (!failed(f))
    note_arguments(f, u);
  if (!failed(f))
    lay_out(f);
  bool good = text_ok(&f->made->text);
  for (int i = 0; i < f->texts.count; i++)
    good &= text_ok(f->texts.items[i]);
  if (!good)
    f_memory(f);
}

static void list_subroutines(struct fortran *f) {
  for (const struct f_unit *u = f->units; u && !failed(f); u = u->next)
    if (u->kind == U_SUBROUTINE && f->tokens[u->header].file == f->file)
      text_addf(&f->made->text, "%s\n", u->name);
}

void fortran_free(struct fortran_made *made) {
  text_free(&made->text);
  text_free(&made->files);
  origins_free(&made->origins);
  for (int i = 0; i < made->nvariables; i++) {
    free(made->variables[i].name);
    free(made->variables[i].module);
  }
  for (int i = 0; i < made->narguments; i++)
    free(made->arguments[i].said);
  free(made->variables);
  free(made->arguments);
  *made = (struct fortran_made){0};
}

static void release(struct fortran *f) {
  for (int i = 0; i < f->texts.count; i++)
    text_free(f->texts.items[i]);
  for (int i = 0; i < f->chunks.count; i++)
    free(f->chunks.items[i]);
  list_free(&f->chunks);
  list_free(&f->files);
  list_free(&f->macros);
  list_free(&f->texts);
  free(f->tokens);
}

int fortran_translate(struct shared *shared, const struct fortran_source *source, struct fortran_made *made,
                      struct error *err) {
  static const struct fortran_parts up = {f_declare_unit, translate_unit, f_said, f_said_call, f_read_action};
  struct fortran f = {
      .parts = &up, .err = err, .shared = shared, .source = source, .kernel = source->kernel, .refused = ""};
  *made = (struct fortran_made){0};
  f.made = made;
  f.lost.failed = true;
  f.last_unit = &f.units;
  f.out = f_text(&f);
  f.helpers = f_text(&f);
  scan_all(&f);
  if (*f.kernel)
    translate(&f);
  else
    list_subroutines(&f);
  made->doubted = f.doubted && !source->defines;
  const int code = err->code;
  release(&f);
  if (code)
    fortran_free(made);
  return code;
}
