#include "jit/prove.h"

#include <stdio.h>
#include <string.h>

#include "jit/found.h"
#include "jit/kernel/parameters.h"

static bool only_read(const struct desc_arg *a) {
  return a->form == DESC_IDX || a->access == OP_READ;
}

/* Does the parameter begin with the type's name, but for const and its like? */
static bool spells(const char *spelling, const char *name) {
  static const char *const skipped[] = {"const", "volatile", "register", "__const"};
  for (bool again = true; again;) {
    again = false;
    for (size_t i = 0; i < sizeof skipped / sizeof *skipped; i++) {
      const size_t length = strlen(skipped[i]);
      if (strncmp(spelling, skipped[i], length) == 0 && !is_in_word(spelling[length])) {
        spelling += length + strspn(spelling + length, " ");
        again = true;
      }
    }
  }
  const size_t length = strlen(name);
  return strncmp(spelling, name, length) == 0 && !is_in_word(spelling[length]);
}

/* The mistake in the parameter, or FOUND_NONE. If an argument's type is a struct and the text has another name for it, only
 * the compiler knows. */
static enum prove_found complaint(const struct kernel_parameter *p, const struct desc_arg *a) {
  const int depth = desc_is_vector(a) ? 2 : 1;
  const bool of_struct = type_is_struct(a->type);
  const bool same = of_struct ? spells(p->spelling, type_info(a->type)->name) : p->type == a->type;
  const bool known = of_struct ? same || (p->understood && p->type != TYPE_NONE) : p->understood;
  if (p->short_name)
    return FOUND_PARAMETER_SHORT_NAME;
  if (p->is_struct && !of_struct)
    return FOUND_PARAMETER_STRUCT;
  if (known && p->depth < depth)
    return p->depth == 1 ? FOUND_PARAMETER_ROW : FOUND_PARAMETER_VALUE;
  if (known && p->depth > depth)
    return FOUND_PARAMETER_DEEP;
  if (known && !same)
    return FOUND_PARAMETER_TYPE;
  return known && only_read(a) && !p->is_const ? FOUND_PARAMETER_CONST : FOUND_NONE;
}

static const char *named(const struct kernel_parameter *p) {
  return p->name[0] ? p->name : "without a name";
}

/* An int that stands too far in front of the rows that it counts. */
static int check_count_place(const struct kernel *k, const struct desc *d, int arg, struct error *err) {
  const int place = desc_parameter(d, arg);
  const struct kernel_parameter *p = &k->parameters[place];
  int of = arg; /* the argument behind it that a number of targets belongs to */
  while (of < d->nargs && !d->args[of].counted)
    of++;
  if (of == d->nargs || !p->understood || p->depth > 0 || p->type != TYPE_INT)
    return OP_OK;
  const struct kernel_parameter *rows = &k->parameters[desc_parameter(d, of)];
  return kernel_error(
      k, p->line, p->column, err,
      "parameter %d (%s) is \"%s\", and stands where argument %d is passed; the number of targets "
      "stands directly before the first argument of its ragged map, argument %d (%s)",
      place + 1, named(p), p->spelling, arg + 1, of + 1, named(rows));
}

/* An argument in Fortran cannot be a vector, nor intent(out) where the loop gives it a value. */
static int check_argument(const struct kernel *k, const struct desc *d, int arg, struct error *err) {
  const struct desc_arg *a = &d->args[arg];
  const struct kernel_parameter *p = &k->parameters[arg];
  const int length = fortran_name_length(p->name, (int)strlen(p->name));
  if (desc_is_vector(a))
    return kernel_error(
        k, p->line, p->column, err,
        "argument %d (%.*s) of the loop is all targets of a map, which kernels in Fortran do not have; "
        "pass each target as an argument of its own",
        arg + 1, length, p->name);
  if (k->fortran.arguments[arg].is_out &&
      (only_read(a) || a->access == OP_INC || access_is_extremum(a->access)))
    return kernel_error(
        k, p->line, p->column, err,
        "argument %d (%.*s) is intent(out), which forgets what it held, and the loop passes it %s, whose "
        "value counts; declare it intent(%s)",
        arg + 1, length, p->name, a->form == DESC_IDX ? "as a number" : access_name(a->access),
        only_read(a) ? "in" : "inout");
  return OP_OK;
}

static int check_parameter(const struct kernel *k, const struct desc *d, int arg, struct error *err) {
  const int place = desc_parameter(d, arg);
  const struct kernel_parameter *p = &k->parameters[place];
  const bool fortran = place < k->fortran.narguments;
  if (fortran && check_argument(k, d, arg, err))
    return err->code;
  const struct prove_finding found = {.argument = arg,
                                      .what = complaint(p, &d->args[arg]),
                                      .parameter = p->name,
                                      .name = fortran ? k->fortran.arguments[place].said : p->spelling,
                                      .numbers = {place + 1, arg}};
  struct text words = {0};
  if (!found.what)
    return OP_OK;
  found_reason(d, &found, &words);
  text_add(&words, "; ");
  found_remedy(d, &found, &words);
  kernel_error(k, p->line, p->column, err, "%s", text_str(&words));
  text_free(&words);
  return err->code;
}

/* Before the first argument of a ragged map stands how many targets the element has. */
static int check_count(const struct kernel *k, const struct desc *d, int arg, struct error *err) {
  if (!d->args[arg].counted)
    return OP_OK;
  const int number = desc_parameter(d, arg) - 1;
  const struct kernel_parameter *p = &k->parameters[number];
  const bool is_rows = p->depth >= 2;
  if (!p->understood || (p->depth == 0 && p->type == TYPE_INT))
    return OP_OK;
  return kernel_error(
      k, p->line, p->column, err,
      "parameter %d (%s) is \"%s\", but argument %d is the first of its ragged map, and before "
      "its rows the kernel gets the number of targets; %s \"int %s\"%s%s",
      number + 1, named(p), p->spelling, arg + 1, is_rows ? "insert" : "write",
      p->name[0] && !is_rows ? p->name : "n", is_rows ? " before " : "", is_rows ? p->name : "");
}

/* A name that the text does not have: n, n2, .. for numbers of targets, x1, x2, .. for arguments. */
static const char *new_name(const struct kernel *k, bool number, int place, char out[32]) {
  int length = number && place == 0 ? snprintf(out, 32, "n")
                                    : snprintf(out, 32, "%c%d", number ? 'n' : 'x', place + 1);
  for (; length < 31 && kernel_uses(k, out); length++)
    memcpy(out + length, "_", 2);
  return out;
}

/* The name of the parameter that was meant for the number of targets at `place`, or a new one. */
static const char *name_of_number(const struct kernel *k, int place, char out[32]) {
  for (int i = 0, seen = 0; i < k->nparameters; i++) {
    const struct kernel_parameter *p = &k->parameters[i];
    if (p->understood && p->depth == 0 && seen++ == place && p->name[0])
      return p->name;
  }
  return new_name(k, true, place, out);
}

/* The same for an argument: the next parameter that fits it. One that is left over is passed by only where there are too
 * many. */
static const char *name_of_argument(const struct kernel *k, const struct desc *d, int arg, bool numbers,
                                    int *next, char out[32]) {
  const bool many = k->nparameters > desc_parameter(d, d->nargs);
  for (int i = *next; i < k->nparameters; i++) {
    const struct kernel_parameter *p = &k->parameters[i];
    if (numbers && p->understood && p->depth == 0)
      continue;
    if (!complaint(p, &d->args[arg])) {
      *next = i + 1;
      return p->name[0] ? p->name : new_name(k, false, arg, out);
    }
    if (!many)
      break;
  }
  return new_name(k, false, arg, out);
}

/* Parameters that are no pointers. Without a ragged map a kernel may have one all the same, as if it got a number. */
static int count_numbers(const struct kernel *k) {
  int count = 0;
  for (int i = 0; i < k->nparameters; i++)
    count += k->parameters[i].understood && k->parameters[i].depth == 0;
  return count;
}

static int wrong_count(const struct kernel *k, const struct desc *d, struct error *err) {
  struct text list = {0};
  const bool ragged = desc_any_ragged(d), fortran = k->origins.fortran;
  const bool has_numbers = ragged || k->nparameters - count_numbers(k) == d->nargs;
  char name[32];
  for (int i = 0, numbers = 0, next = 0; i < d->nargs; i++) {
    text_add(&list, i ? ", " : "");
    if (d->args[i].counted)
      text_addf(&list, "int %s, ", name_of_number(k, numbers++, name));
    const char *argument = name_of_argument(k, d, i, has_numbers, &next, name);
    if (fortran)
      text_add(&list, argument);
    else
      found_expected(d, i, argument, &list);
  }
  const struct kernel_function *f = &k->functions[k->function];
  kernel_error(k, f->line, f->column, err,
               "the kernel has %d parameter%s, but the call has %d argument%s%s; pass one for each "
               "parameter, or write \"%s %s(%s)\"",
               k->nparameters, k->nparameters == 1 ? "" : "s", d->nargs, d->nargs == 1 ? "" : "s",
               ragged ? ", and a number of targets for each ragged map" : "", fortran ? "subroutine" : "void",
               k->name, text_str(&list));
  text_free(&list);
  return err->code;
}

static void check_variable(const struct kernel *k, const struct desc *d, const struct fortran_variable *v,
                           struct error *err) {
  const struct desc_const *c = NULL;
  const enum type_code type = type_parse(v->type, NULL);
  for (int i = 0; i < d->nconsts; i++)
    if (strcmp(d->consts[i].name, v->name) == 0)
      c = &d->consts[i];
  if (c && c->type == type && c->dim == v->dim)
    return;
  int line = 0, column = 0;
  for (size_t i = 0; i < k->tokens.count && !line; i++)
    if (token_is(&k->tokens, i, v->name))
      line = k->tokens.items[i].line, column = k->tokens.items[i].column;
  const char *said = type_said(type, true), *of = *v->module ? "module " : "the main program";
  if (c)
    kernel_error(
        k, line, column, err,
        "op_decl_const declared %s with dim %d and type %s, and in %s%s it has dim %d and type %s; make both "
        "the same",
        v->name, c->dim, type_said(c->type, true), of, v->module, v->dim, said);
  else
    kernel_error(
        k, line, column, err,
        "%s is a variable of %s%s, and kernels read of these only constants of the library; write `call "
        "op_decl_const('%s', %d, '%s', %s)` before the loop (op2jit check: --const), or pass it as an "
        "argument",
        v->name, of, v->module, v->name, v->dim, said, v->name);
  err->code = OP_ERR_CONST;
}

int kernel_check(const struct kernel *k, const struct desc *d, struct error *err) {
  if (!k->certain)
    return OP_OK;
  if (k->nparameters != desc_parameter(d, d->nargs))
    return wrong_count(k, d, err);
  for (int i = 0; i < d->nargs; i++)
    if (check_count(k, d, i, err) != OP_OK || check_count_place(k, d, i, err) != OP_OK ||
        check_parameter(k, d, i, err) != OP_OK)
      return err->code;
  return OP_OK;
}

int kernel_check_variables(const struct kernel *k, const struct desc *d, struct error *err) {
  for (int i = 0; i < k->fortran.nvariables && !err->code; i++)
    check_variable(k, d, &k->fortran.variables[i], err);
  return err->code;
}
