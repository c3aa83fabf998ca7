#include "jit/found.h"

#include <string.h>

#include "jit/kernel/fortran/fortran.h"

/* In words: $a is the argument, "argument 2 (sum)"; $n the finding's name; $0 and $1 its numbers; $l the last of $0, which
 * counts from 0; $r all of $0 and $i the one of number $1, which count as the kernel's language does; $c the component, with its
 * row; $p what the argument passes, and $d what it is; $m the parameter. What rules_say knows is said by it. */
struct found_words {
  enum rule rule;
  const char *reason;
  /* NULL: the rule's; of none the direct one, here or of the rule; else none is known. */
  const char *remedy[PASSED_WAYS];
};

#define ALL_COMPONENTS "declare $a OP_RW, or write all its components on every path"
#define ALL_THROUGH_MAP "write all its components on every path, " INSTEAD_OF_WRITE
#define IN_TURN "write it once before them, or with if and else"
static const char of_matrix[] = "use components $r, rows times columns of the element's matrix";
#define WITHIN "use components $r, or declare it with a larger dim"
#define ONLY_BY_ROW "$x has the rows of a ragged map, and nothing but OP_ROW leads to them"
#define SAYS(found, rule, reason, ...) [FOUND_##found] = {RULE_##rule, reason, {__VA_ARGS__}}
#define PARAMETER(found, reason, ...)                                                                        \
  SAYS(PARAMETER_##found, TEXT, "parameter $0 ($m) is \"$n\", but $d: " reason, __VA_ARGS__)
#define WRITE_IT "write \"$p\""
#define NOT_ON_GPUS "is C that compilers of GPUs do not have"
#define OWN_VARIABLE "declare a variable with these values and use it instead"
#define LOST(found, words) SAYS(LOST_##found, LOST, "$a " words, NULL)

static const struct found_words table[FOUND_COUNT] = {
    [FOUND_NONE] = {0},
    SAYS(READ_WRITTEN, READ, "$a is declared OP_READ, and the kernel writes it",
         "declare $a OP_RW, OP_WRITE or OP_INC"),
    SAYS(INC_READ, ADD, "$a is declared OP_INC, and the kernel reads it",
         "declare $a OP_RW, or only add to it", ONLY_ADD),
    SAYS(INC_ASSIGNED, ADD, "$a is declared OP_INC, and the kernel assigns it instead of adding to it",
         "declare it OP_WRITE if the kernel sets all of it and does not read it, else OP_RW; or "
         "use $+",
         ONLY_ADD),
    SAYS(INC_CHANGED, ADD, "$a is declared OP_INC, and the kernel changes it other than by adding",
         "declare $a OP_RW, or use $+", ONLY_ADD),
    SAYS(MIN_NOT_COMPARED, COMPARE, "$a is declared OP_MIN, and the kernel changes it without comparing",
         COMPARE_WRITE),
    SAYS(MAX_NOT_COMPARED, COMPARE, "$a is declared OP_MAX, and the kernel changes it without comparing",
         COMPARE_WRITE),
    SAYS(WRITE_READ_FIRST, OLD_VALUES,
         "$a is declared OP_WRITE, and the kernel reads it before it is written",
         "declare $a OP_RW, or write it first"),
    SAYS(WRITE_NEVER, WRITE, "$a is declared OP_WRITE, and the kernel never writes $c", ALL_COMPONENTS,
         ALL_THROUGH_MAP),
    SAYS(WRITE_SOMETIMES, WRITE, "$a is declared OP_WRITE, and the kernel does not always write $c",
         ALL_COMPONENTS, ALL_THROUGH_MAP),
    SAYS(WRITE_MAYBE, WRITE, "$a is declared OP_WRITE, and the kernel may not write $c", ALL_COMPONENTS,
         ALL_THROUGH_MAP),
    SAYS(WRITE_IN_TURN, WRITE,
         "$a is declared OP_WRITE, and the kernel writes $c under several conditions, of which "
         "it could not be told that one always holds",
         IN_TURN, IN_TURN),
    LOST(ORDER, "is read where it is not sure that it was written before"),
    LOST(INDEX, "is indexed by a value that is known only when the program runs"),
    LOST(CAST, "is used as another type"),
    LOST(NUMBER, "has its address turned into a number"),
    LOST(POINTER, "is reached through a pointer that could not be followed"),
    LOST(POINTERS, "is one of two pointers"),
    LOST(PLACES, "is one of two places"),
    LOST(RETURN, "is one of several pointers that a function returns"),
    LOST(CALL, "is passed to a function whose text is not in the kernel"),
    LOST(STORED, "has its address stored where it cannot be followed"),
    LOST(RECORD, "is used as a structure"),
    LOST(CXX, "could not be followed through this C++"),
    LOST(STATEMENT, "could not be followed through this statement"),
    SAYS(ROW_OUTSIDE, ROW,
         "of an element with $0 targets $a has the rows 0 to $l, and the kernel uses OP_ROW(.., $1)",
         "let k in OP_ROW(x, k) go from 0 to n - 1"),
    SAYS(POINTER_OUTSIDE, OUTSIDE, "$a has $0 pointers, and the kernel uses number $1",
         "use pointers 0 to $l, or pass a map with more entries"),
    SAYS(COMPONENT_OUTSIDE, OUTSIDE, "$a has dim $0, and the kernel uses component $i", WITHIN),
    SAYS(NOT_BY_ROW, TEXT, ONLY_BY_ROW, "write OP_ROW($m, $n) in place of $m[$n]"),
    SAYS(ROWS_USED, TEXT, ONLY_BY_ROW, "write OP_ROW($m, k) for the row of target k"),
    SAYS(ROW_OF_VECTOR, TEXT,
         "$x goes through a map with $1 targets for each element, and OP_ROW is for ragged maps",
         "write $m[k] in place of OP_ROW($m, k)"),
    SAYS(ROW_OF_ONE, TEXT, "$x is one row, and OP_ROW is for the rows of ragged maps (OP_ALL)",
         "use $m itself"),
    SAYS(ROW_AS_NUMBER, TEXT, "$n is a pointer to a row, and here pointers would be subtracted or compared",
         "write *$n for its value"),
    SAYS(CONSTANT_INDEX, INDEX, "constant $n is indexed by a value that is known only when the program runs",
         NULL),
    SAYS(CONSTANT_OUTSIDE, INDEX, "constant $n has dim $0, and the kernel uses component $i", WITHIN),
    SAYS(ARRAY_INDEX, INDEX, "array $n is indexed by a value that is known only when the program runs", NULL),
    SAYS(ARRAY_OUTSIDE, INDEX, "array $n has $0 elements, and the kernel uses element $i",
         "use elements $r, or give it more of them"),
    SAYS(VARIABLE_OUTSIDE, INDEX, "variable $n holds one value, and the kernel uses element $1",
         "stay within it"),
    SAYS(NEXT_ROW, INDEX,
         "the kernel reaches the next row of $n by an index beyond the row before, which C does not "
         "define",
         "give the row an index of its own"),
    SAYS(NULL_POINTER, NULL, "the kernel follows a null pointer", "let it point to a value first"),
    SAYS(KEPT, KEPT, "the kernel writes to '$n', which keeps its value from one element to the next",
         "keep it in a dat, or reduce into a global argument"),
    SAYS(UNSET, UNSET, "variable '$n' is used and has no value", NULL),
    SAYS(COMPILER_UNSET, UNSET, "$n", "give the variable a value first"),
    SAYS(ENDLESS, TEXT, "the kernel has a loop without a condition that ends it", NULL),
    SAYS(ROUNDS, TEXT, "the kernel has a loop whose number of rounds is known only when the program runs",
         NULL),
    SAYS(RECURSION, TEXT, "the kernel calls '$n' from within itself",
         "write it as a loop; kernels cannot recurse"),
    SAYS(NO_KERNEL, TEXT, "the text has no function '$n'", "name the kernel's function"),
    SAYS(PARAMETER_COUNT, TEXT, "the kernel has $0 parameters, and the loop passes $p",
         "give the kernel one parameter per argument, in their order"),
    PARAMETER(SHORT_NAME, "its type is a short name for op_decl_dat and the arguments, which C does not know",
              WRITE_IT),
    PARAMETER(STRUCT, "the argument is of numbers, not of structs",
              WRITE_IT ", and fill a struct of the kernel's own if it needs one, or declare data of the "
                       "struct's type (OP_TYPE)"),
    PARAMETER(VALUE, "it must be a pointer", WRITE_IT),
    PARAMETER(ROW, "it must be a vector of pointers", WRITE_IT),
    PARAMETER(DEEP, "it has a pointer or bracket too many", WRITE_IT),
    PARAMETER(TYPE, "its type differs", WRITE_IT),
    PARAMETER(CONST, "what is only read must be $k",
              WRITE_IT ", or declare the argument OP_RW if the kernel changes it",
              WRITE_IT ", or declare the argument OP_INC if the kernel only adds to it", WRITE_IT),
    SAYS(SIZE_IN_CXX, TEXT,
         "the size of this expression is another in C++, as which a GPU's compiler reads it: there "
         "comparisons and characters are of types of one byte, and arrays stay arrays",
         "write the size of the type that is meant, sizeof(int)"),
    SAYS(EMPTY_IN_CXX, TEXT,
         "a structure without members has no size in C and one byte in C++, as which a GPU's "
         "compiler reads it",
         "give it a member"),
    SAYS(SIGN_IN_CXX, TEXT,
         "this enumeration has no negative values and counts as unsigned int in C, where the "
         "difference is never below zero; in C++, as which a GPU's compiler reads it, it counts as "
         "int",
         "convert its value to int first, (int)value"),
    SAYS(VARIABLE_LENGTH, TEXT, "an array whose length is a variable " NOT_ON_GPUS,
         "give it a constant length, the largest that occurs"),
    SAYS(ARRAY_LITERAL, TEXT, "a compound literal of an array, (type[]){...}, " NOT_ON_GPUS, OWN_VARIABLE),
    SAYS(LITERAL_IN_CXX, TEXT, "a compound literal, (type){...}, " NOT_ON_GPUS, OWN_VARIABLE),
    SAYS(GENERIC_IN_CXX, TEXT, "_Generic " NOT_ON_GPUS,
         "write what it would choose, or a function for each type"),
    SAYS(INDEX_IN_CXX, TEXT, "a designator for an array, [i] = value, " NOT_ON_GPUS,
         "write the values in their order"),
    SAYS(ORDER_IN_CXX, TEXT,
         "an initialiser whose members are in another order than in the structure " NOT_ON_GPUS,
         "write them in the order of the structure"),
};

enum rule found_rule(int fact) {
  return table[fact].rule;
}

enum evidence found_evidence(enum prove_found what) {
  return rule_row(found_rule((int)what))->evidence;
}

int found_code(enum prove_found what) {
  const bool is_no_kernel =
      what == FOUND_RECURSION || (what >= FOUND_NOT_BY_ROW && what <= FOUND_ROW_AS_NUMBER);
  return is_no_kernel ? OP_ERR_KERNEL : OP_ERR_VIOLATION;
}

enum reading found_reading(enum prove_found what) {
  return what >= FOUND_LITERAL_IN_CXX && what <= FOUND_ORDER_IN_CXX ? READ_AS_CXX : READ_AS_OPENCL;
}

const char *found_why(enum split_why why) {
  static const char *const words[WHY_COUNT] = {
      [WHY_NOT_LOOKED_AT] = "nobody has looked at its text, for which the compiler plugin must be there",
      [WHY_NO_MAP] = "it goes through no ragged map",
      [WHY_CXX] = "it is C++, or several kernels in one",
      [WHY_CONDITIONS] = "its text has conditions",
      [WHY_TARGETS] = "it writes rows of targets of a ragged map",
      [WHY_EXTREMA] = "it keeps extrema of a dat",
      [WHY_LONG_ROW] = "it writes rows of more than 32 values",
      [WHY_TWICE] = "it writes a dat that another of its arguments has too",
      [WHY_LANGUAGE] = "OpenCL C has no such form",
      [WHY_STRATEGY] = "this strategy has a thread for each element",
      [WHY_DIRECTIVE] = "it has a preprocessor line",
      [WHY_MACRO] = "it, or a function that it calls, uses a macro of its own text",
      [WHY_STATIC] = "it has a variable that is static or volatile",
      [WHY_NAME] = "it, or a function that it calls, uses a name that is not known here",
      [WHY_TYPE] = "it, or a function that it calls, has a type that may hold a pointer",
      [WHY_GOTO] = "it has a goto, or a label",
      [WHY_MADE] = "a function that it calls makes a pointer from another",
      [WHY_NOT_C] = "it has something that is not known here",
      [WHY_UNMARKED] = "it says OP_ANY_ORDER before none of its loops",
      [WHY_NO_LOOP] = "it has no loop over targets",
      [WHY_FORM] = "the loop does not have the form for (int k = 0; k < n; k++), n the number of targets",
      [WHY_LEAVES] = "the loop has a break, a return or a switch",
      [WHY_ADDRESS] = "the loop takes an address",
      [WHY_CHANGES] = "in the loop a function is called that could change what it is passed",
      [WHY_OTHER] = "the loop changes something that is neither its own nor a sum",
      [WHY_PART] = "the loop's sum is a part of another expression",
      [WHY_ORDER] = "the loop changes a variable in a way that depends on the order",
      [WHY_FRACTIONS] = "the loop adds fractions to whole numbers",
      [WHY_SEVERAL] = "the loop changes one variable in several ways",
      [WHY_MANY] = "the loop has many sums",
      [WHY_USED] = "the loop uses its sum",
      [WHY_POINTER] = "a pointer may lead to the loop's sum",
      [WHY_ENTRIES] =
          "it uses rows of entries that it writes otherwise than as OP_ROW(x, k) of its loop over targets"};
  return words[why];
}

int found_access(int fact) {
  switch (found_rule(fact)) {
  case RULE_READ: return OP_READ;
  case RULE_ADD: return OP_INC;
  case RULE_WRITE:
  case RULE_OLD_VALUES: return OP_WRITE;
  default: return -1;
  }
}

static const struct desc_arg *argument_of(const struct desc *d, const struct prove_finding *f) {
  return f->argument >= 0 && f->argument < d->nargs ? &d->args[f->argument] : NULL;
}

static void add_title(const struct desc *d, const struct prove_finding *f, struct text *out) {
  const int length = (int)strlen(f->parameter);
  text_addf(out, "argument %d", f->argument + 1);
  if (length)
    text_addf(out, " (%.*s)", d->origins.fortran ? fortran_name_length(f->parameter, length) : length,
              f->parameter);
}

/* The name that OP_ROW is used for, or should be. */
static void add_use(const struct prove_finding *f, struct text *out) {
  text_addf(out, "%s (argument %d%s)", f->parameter, f->argument + 1, f->numbers[0] ? " of the loop" : "");
}

static void add_component(const struct desc *d, const struct prove_finding *f, struct text *out) {
  const struct desc_arg *a = argument_of(d, f);
  text_addf(out, "component %lld", f->numbers[0] + d->origins.fortran);
  if (a && desc_is_vector(a))
    text_addf(out, " of %s %lld", desc_is_ragged(d, a) ? "row" : "pointer", f->numbers[1]);
}

static bool is_of_parameter(const struct prove_finding *f) {
  return f->what >= FOUND_PARAMETER_SHORT_NAME && f->what <= FOUND_PARAMETER_CONST;
}

static void add_described(const struct desc *d, int arg, struct text *out) {
  static const char *const forms[] = {"a dat", "a global", "op_arg_idx", "op_arg_info"};
  const struct desc_arg *a = &d->args[arg];
  const char *type = type_said(a->type, d->origins.fortran);
  struct text name = {0};
  text_addf(out, "argument %d is ", arg + 1);
  if (a->dat >= 0 && desc_find_name(d, "dat", a->dat, &name))
    text_addf(out, "%s \"%s\"", a->matrix ? "matrix" : "dat", text_str(&name));
  else
    text_add(out, forms[a->form]);
  text_free(&name);
  if (a->matrix)
    text_addf(out, " of type %s, %d numbers of each element", type, desc_row(d, a));
  else if (a->form == DESC_DAT || a->form == DESC_GBL)
    text_addf(out, " of type %s, %s", type, access_name(a->access));
  else if (a->form == DESC_INFO)
    text_addf(out, " of type %s", type);
  if (desc_is_ragged(d, a))
    text_add(out, ", passed as the rows of a ragged map");
  else if (desc_is_vector(a))
    text_addf(out, ", passed as a vector of %d", d->maps[a->map].arity);
}

static void expected_in_fortran(const struct desc *d, const struct desc_arg *a, const char *name,
                                struct text *out) {
  const bool reads = a->form == DESC_IDX || a->access == OP_READ;
  text_addf(out, "%s, intent(%s) :: %s", type_said(a->type, true),
            reads                   ? "in"
            : a->access == OP_WRITE ? "out"
                                    : "inout",
            name);
  if (desc_row(d, a) > 1)
    text_addf(out, "(%d)", desc_row(d, a));
}

void found_expected(const struct desc *d, int arg, const char *name, struct text *out) {
  const struct desc_arg *a = &d->args[arg];
  if (d->origins.fortran) {
    expected_in_fortran(d, a, name, out);
    return;
  }
  text_addf(out, "%s%s %s%s", a->form == DESC_IDX || a->access == OP_READ ? "const " : "",
            type_info(a->type)->name, desc_is_ragged(d, a) ? "**" : "*", name);
  if (desc_is_vector(a) && !desc_is_ragged(d, a))
    text_addf(out, "[%d]", d->maps[a->map].arity);
}

/* For parameters that do not match: all that the loop passes, or the argument as C spells it. */
static void add_passed(const struct desc *d, const struct prove_finding *f, struct text *out) {
  if (f->what == FOUND_PARAMETER_COUNT)
    text_addf(out, "%d arguments%s", d->nargs,
              desc_any_ragged(d) ? ", and a number of targets for each ragged map" : "");
  else
    found_expected(d, (int)f->numbers[1], *f->parameter ? f->parameter : "x", out);
}

static void say(const struct desc *d, const struct prove_finding *f, const char *words, struct text *out) {
  const struct desc_arg *a = argument_of(d, f);
  const bool fortran = d->origins.fortran;
  for (const char *c = words; *c; c++)
    switch (*c == '$' ? *++c : '\0') {
    case 'a': add_title(d, f, out); break;
    case 'x': add_use(f, out); break;
    case 'n': text_add(out, f->name); break;
    case 'm': text_add(out, *f->parameter ? f->parameter : "without a name"); break;
    case '0': text_addf(out, "%lld", f->numbers[0]); break;
    case '1': text_addf(out, "%lld", f->numbers[1]); break;
    case 'l': text_addf(out, "%lld", f->numbers[0] - 1); break;
    case 'r': text_addf(out, "%d to %lld", fortran, f->numbers[0] - !fortran); break;
    case 'i': text_addf(out, "%lld", f->numbers[1] + fortran); break;
    case 'k': text_add(out, fortran ? "intent(in)" : "const"); break;
    case 'c': add_component(d, f, out); break;
    case 'd': add_described(d, (int)f->numbers[1], out); break;
    case 'p': add_passed(d, f, out); break;
    case '\0': text_add_char(out, *c); break;
    default: text_add(out, rules_word(*c, a ? a->access : OP_MIN, fortran));
    }
}

void found_reason(const struct desc *d, const struct prove_finding *f, struct text *out) {
  say(d, f, table[f->what].reason, out);
}

/* For a kernel that only keeps the smaller or larger of two values. A direct argument has one row for each element, which
 * combines nothing. */
static const char *remedy_of_extremum(const struct desc_arg *a, const struct prove_finding *f) {
  const bool direct = a->form == DESC_DAT && a->map < 0;
  const bool other =
      (f->what == FOUND_MIN_NOT_COMPARED || f->what == FOUND_MAX_NOT_COMPARED) && f->numbers[0];
  const bool kept = (f->what == FOUND_INC_READ || f->what == FOUND_INC_ASSIGNED) && f->numbers[1];
  if (!other && !kept)
    return NULL;
  if (direct)
    return f->what == FOUND_INC_ASSIGNED ? NULL : "declare it OP_RW, or only add to it";
  if (kept)
    return f->numbers[1] == 1 ? "declare $a OP_MIN" : "declare $a OP_MAX";
  return f->what == FOUND_MIN_NOT_COMPARED ? COMPARE_WRITE ", or declare it OP_MAX"
                                           : COMPARE_WRITE ", or declare it OP_MIN";
}

void found_remedy(const struct desc *d, const struct prove_finding *f, struct text *out) {
  const struct found_words *r = &table[f->what];
  const char *const *of_rule = rule_row(r->rule)->remedy;
  const struct desc_arg *a = is_of_parameter(f) ? &d->args[f->numbers[1]] : argument_of(d, f);
  const bool plain = is_of_parameter(f) && (a->form != DESC_DAT || type_is_struct(a->type));
  const enum passed way = (a && a->form == DESC_GBL) || plain       ? PASSED_GLOBAL
                          : a && a->form == DESC_DAT && a->map >= 0 ? PASSED_MAPPED
                                                                    : PASSED_DIRECT;
  const bool beyond_matrix = a && a->matrix && f->what == FOUND_COMPONENT_OUTSIDE;
  const char *const known[] = {beyond_matrix ? of_matrix
                               : a           ? remedy_of_extremum(a, f)
                                             : NULL,
                               r->remedy[way], of_rule[way], r->remedy[PASSED_DIRECT],
                               of_rule[PASSED_DIRECT]};
  size_t i = 0;
  while (i < sizeof known / sizeof *known && !known[i])
    i++;
  if (i < sizeof known / sizeof *known)
    say(d, f, known[i], out);
  if (f->what == FOUND_COMPONENT_OUTSIDE && a && desc_is_ragged(d, a))
    text_add(out, "; the row of target k is OP_ROW(x, k)");
}
