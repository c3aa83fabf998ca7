#include "api/fortran/text.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "api/fortran/fortran.h"
#include "api/op2/text.h"
#include "backend/backend.h"
#include "base/list.h"
#include "base/types.h"
#include "base/whereami.h"
#include "context/context.h"
#include "jit/jit.h"
#include "jit/kernel/kernel.h"
#include "jit/key/elf_note.h"
#include "jit/texts.h"
#include "mesh/mesh.h"
#include "services/services.h"

void procedure_text_free(struct procedure_text *t) {
  if (!t)
    return;
  fortran_free(&t->made);
  free(t->variables);
  free(t->origins);
  text_free(&t->why);
  free(t);
}

/* ---- sources in the program ---- */

/* One unit's: the file itself first, then those that it includes and uses. */
static const char *find_in_unit(void *data, const char *name, size_t *length) {
  const struct texts_unit *unit = data;
  const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name;
  for (int i = 1; i < unit->nkernels; i++) {
    const char *path = unit->kernels[i].function, *cut = strrchr(path, '/');
    if (strcmp(cut ? cut + 1 : path, last) == 0) {
      *length = strlen(unit->kernels[i].text);
      return unit->kernels[i].text;
    }
  }
  return NULL;
}

/* Behind the word and a line end stand the names of -D. */
static const char *defines_of(const struct texts_unit *unit) {
  static const char word[] = "fortran\n";
  return strncmp(unit->from, word, sizeof word - 1) == 0 && unit->nkernels ? unit->from + sizeof word - 1
                                                                           : NULL;
}

/* True: this unit has the procedure. What is wrong with its text is in err. */
static bool translate_unit(struct op_context *ctx, const struct texts_unit *unit,
                           struct fortran_source *source, struct fortran_made *made, struct error *err) {
  source->text = unit->kernels[0].text;
  source->length = strlen(source->text);
  source->file = unit->kernels[0].function;
  source->defines = defines_of(unit);
  source->find = find_in_unit;
  source->data = (void *)(size_t)unit;
  error_clear(err);
  return source->defines &&
         (!fortran_translate(ctx->shared, source, made, err) || err->fact != FORTRAN_NO_KERNEL);
}

static bool find_embedded(struct op_context *ctx, const char *program, struct fortran_source *source,
                          struct fortran_made *made, struct error *err) {
  struct mapped file;
  size_t size = 0;
  bool found = false;
  if (!mapped_open(program, &file))
    return false;
  struct texts_unit unit = {0};
  const char *at = mapped_section(&file, "op2jit_texts", &size), *end = at ? at + size : at;
  while (!found && texts_next(&at, end, &unit)) {
    found = unit.nkernels && translate_unit(ctx, &unit, source, made, err);
    texts_free(&unit);
  }
  mapped_close(&file);
  return found;
}

/* ---- sources that debug information names ---- */

static bool is_younger(const char *file, const char *than) {
  struct stat a, b;
  return stat(file, &a) != 0 || stat(than, &b) != 0 || a.st_mtime > b.st_mtime;
}

static bool read_file(const char *path, struct text *out) {
  struct mapped file;
  if (!mapped_open(path, &file))
    return false;
  text_add_bytes(out, file.bytes, file.size);
  mapped_close(&file);
  return text_ok(out);
}

/* Files that it includes and uses are of the program, too. */
static bool any_younger(const struct text *files, const char *program) {
  bool younger = false;
  for (const char *at = text_str(files); *at && !younger;) {
    const size_t length = strcspn(at, "\n");
    char *path = strndup(at, length);
    younger = !path || is_younger(path, program);
    free(path);
    at += length + (at[length] == '\n');
  }
  return younger;
}

static int find_by_debug(struct op_context *ctx, const char *program, unsigned long long value,
                         struct fortran_source *source, struct procedure_text *t, struct error *err) {
  struct jit *jit = NULL;
  struct texts_unit unit = {0};
  struct text wanted = {0}, text = {0};
  text_addf(&wanted, "@%llx", value);
  const struct read_request wish = {
      .unit = text_str(&wanted), .flags = "", .program = program, .headers = "", .when = ""};
  int code = context_jit(ctx, &jit, err);
  if (!code)
    code = jit_read(jit, &wish, &unit, err);
  if (!code && *unit.why)
    text_addf(&t->why, "%s", unit.why);
  else if (!code && (is_younger(unit.unit, program) || !read_file(unit.unit, &text)))
    text_addf(&t->why, "its source %s changed since the program was made, or is gone", unit.unit);
  else if (!code) {
    *source = (struct fortran_source){.text = text_str(&text),
                                      .length = text.length,
                                      .file = unit.unit,
                                      .line = 1,
                                      .kernel = source->kernel,
                                      .module = source->module,
                                      .counted = source->counted};
    code = fortran_translate(ctx->shared, source, &t->made, err);
    if (!code && any_younger(&t->made.files, program)) {
      fortran_free(&t->made);
      text_addf(&t->why, "a file that %s includes or uses changed since the program was made", unit.unit);
    }
  }
  t->code = unit.code;
  texts_free(&unit);
  text_free(&wanted);
  text_free(&text);
  return code;
}

/* ---- variables of the main program ---- */

/* One of the main program's: the one that was declared with its name, or else the only one of its type and size that was
 * declared without and is on the stack. NULL: there is none, or several. */
static const void *find_declared(const struct op_context *ctx, const struct fortran_variable *v) {
  const void *found = NULL;
  for (int named = 1; v->declared && !found && named >= v->declared - 1; named--)
    for (int i = 0; i < ctx->arrays->count; i++) {
      const struct known *k = ctx->arrays->items[i];
      if (k->type != type_parse(v->type, NULL) || k->dim != v->dim ||
          (named ? strcasecmp(k->copy, v->name) != 0 : *(const char *)k->copy || whereami_static(k->array)))
        continue;
      if (found && found != k->array)
        return NULL;
      found = k->array;
    }
  return found;
}

/* ---- a text becomes a loop's ---- */

/* The procedure's arguments, as the text has them. */
static void take_parameters(struct procedure *p, const char *name, struct procedure_text *t,
                            struct error *err) {
  struct kernel k = {0};
  if (kernel_parse(&k, text_str(&t->made.text), t->made.text.length, name, err))
    return;
  if (k.nparameters != p->compiled.nargs)
    text_addf(&t->why, "it has %d argument%s, and its loop %d", k.nparameters, k.nparameters == 1 ? "" : "s",
              p->compiled.nargs);
  for (int i = 0; i < k.nparameters && i < OP_MAX_ARGS; i++)
    p->parameters[i] = (op2jit_parameter){.type = type_info(k.parameters[i].type)->name,
                                          .is_const = k.parameters[i].is_const,
                                          .depth = k.parameters[i].depth};
  kernel_free(&k);
}

/* A variable of a module is a constant, whose value is looked at before each loop. */
static int declare_variable(struct op_context *ctx, const struct procedure *p,
                            const struct fortran_variable *v, struct text *why, struct error *err) {
  const bool of_main = !*v->module;
  const void *at = of_main ? find_declared(ctx, v) : NULL;
  if (!at) /* those that a procedure gets by its address may be on the stack, and the symbol another one's */
    at = fortran_variable_at(p->code, v->module, v->name, p->compiled.alone);
  const struct constant *old = mesh_find_constant(ctx->mesh, v->name);
  if (!at)
    text_addf(why,
              !of_main
                  ? "it names the variable '%s', whose address the program's table of symbols does not have"
                  : "it names the variable '%s' of the main program, and which one that is in memory is not "
                    "known; make it one "
                    "of a module, or declare it there: call op_decl_const(%s, %d, '%s')",
              v->name, v->name, v->dim, v->name);
  else if (old && old->live != at)
    text_addf(why, "it names the variable '%s', and there are several of this name", v->name);
  else if (!old && !mesh_constant(ctx, v->name, v->dim, v->type, at, NULL, err))
    mesh_find_constant(ctx->mesh, v->name)->live = at;
  return err->code;
}

static bool fill(struct procedure *p, struct procedure_text *t, bool internal, bool known) {
  const struct fortran_made *made = &t->made;
  t->variables = array_new((size_t)made->nvariables, sizeof *t->variables);
  t->origins = array_new((size_t)made->origins.count, sizeof *t->origins);
  if (!t->variables || !t->origins)
    return false;
  bool of_main = false;
  for (int i = 0; i < made->nvariables; i++) {
    const struct fortran_variable *v = &made->variables[i];
    of_main |= !*v->module;
    t->variables[i] = (struct read_variable){.name = v->name,
                                             .type = v->type,
                                             .dim = v->dim,
                                             .is_array = v->is_array,
                                             .declared = 1,
                                             .external = 1};
  }
  for (int i = 0; i < made->origins.count; i++)
    t->origins[i] = (struct read_origin){made->origins.items[i].line, made->origins.items[i].file,
                                         made->origins.items[i].file_line};
  t->kernel = (struct read_kernel){
      .function = text_str(&p->name),
      .spelled = "",
      .file = "",
      .text = text_str(&made->text),
      .why = "",
      .doubt = of_main    ? "it uses a variable of the main program, whose place is not known for sure"
               : internal ? "it is an internal procedure, and others may have its name"
               : known    ? ""
               : made->doubted
                   ? "it depends on an #if of a name that the source does not define, and flags are not known"
                   : "the program does not say when its sources were compiled",
      .variables = t->variables,
      .nvariables = made->nvariables,
      .origins = t->origins,
      .norigins = made->origins.count};
  return true;
}

/* A bit for each argument that is an element's number. */
static unsigned long long numbers_of(const struct loop_call *call) {
  unsigned long long numbers = 0;
  for (int i = 0; i < call->nargs; i++)
    numbers |= (unsigned long long)(call->args[i].form_ == DESC_IDX) << i;
  return numbers;
}

/* Once for each procedure; what is wrong with its text is no error. */
static int look(struct op_context *ctx, struct procedure *p, const struct loop_call *call,
                struct error *err) {
  struct fortran_names names = {0};
  struct text program = {0};
  struct procedure_text *t = p->text = calloc(1, sizeof *t);
  if (!t)
    return error_memory(err, "a procedure's text", sizeof *t);
  if (!p->code || !fortran_names(p->code, &names)) {
    text_add(&t->why, "the program's table of symbols does not have it; do not strip it");
    return OP_OK;
  }
  text_program(p->code, &program);
  struct fortran_source source = {.line = 1,
                                  .kernel = text_str(&names.name),
                                  .module = text_str(&names.module),
                                  .counted = t->counted = numbers_of(call)};
  bool known = find_embedded(ctx, text_str(&program), &source, &t->made, err);
  int code = known ? err->code
                   : (error_clear(err), find_by_debug(ctx, text_str(&program), names.value, &source, t, err));
  if (!code && !t->why.length)
    take_parameters(p, text_str(&names.name), t, err);
  for (int i = 0; i < t->made.nvariables && !err->code && !t->why.length; i++)
    declare_variable(ctx, p, &t->made.variables[i], &t->why, err);
  if (err->code == OP_ERR_KERNEL || err->code == OP_ERR_CONST) {
    text_add(&t->why, error_message(err));
    error_clear(err);
  }
  if (!err->code && !t->why.length && !fill(p, t, names.internal, known))
    error_memory(err, "a procedure's text", sizeof *t);
  fortran_names_free(&names);
  text_free(&program);
  return err->code;
}

/* ---- the table ---- */

static int meet(struct op_context *ctx, const struct loop_call *call, struct error *err) {
  struct procedure *p = (struct procedure *)(size_t)call->compiled; /* its first member */
  return text_may_read(ctx) && !p->text ? look(ctx, p, call, err) : OP_OK;
}

/* The text counts the elements' numbers as its first loop passed them, and pointers to rows are no arguments of Fortran. */
static void check_forms(const struct loop *loop, unsigned long long counted, struct text *why) {
  for (int i = 0; i < loop->nargs && !why->length; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if ((arg->form == DESC_IDX) != (counted >> i & 1))
      text_addf(why, "argument %d is op_arg_idx in one of its loops, and another argument in the other",
                i + 1);
    else if (arg->form == DESC_DAT && arg->map && arg->idx < 0)
      text_addf(why, "argument %d is all targets of a map, which the procedure gets as pointers", i + 1);
  }
}

static int choose(struct op_context *ctx, struct loop *loop, const struct loop_call *call,
                  struct error *err) {
  struct procedure *p = (struct procedure *)(size_t)call->compiled;
  const struct procedure_text *t = p->text;
  struct text why = {0};
  int code = OP_OK;
  loop->ranged = true;
  if (strcmp(loop->backend->name, "native") != 0) {
    if (!t || !text_may_read(ctx))
      text_add(&why, "OP2_JIT=off");
    else if (t->why.length)
      text_add(&why, text_str(&t->why));
    else
      check_forms(loop, t->counted, &why);
    const struct read_kernel *found =
        !why.length && text_suits(ctx, loop, &t->kernel, &why) ? &t->kernel : NULL;
    code = text_settle(ctx, loop, found, t ? t->code : OP_OK, &why, err);
    if (!found)
      procedure_warn(ctx, p);
  }
  text_free(&why);
  return code ? code : compiled_check(loop, err);
}

const struct loop_functions fortran_functions = {.meet = meet,
                                                 .choose = choose,
                                                 .describe = text_describe,
                                                 .place = compiled_place,
                                                 .reread = safe_reread,
                                                 .give_up = text_give_up,
                                                 .second = text_second};
