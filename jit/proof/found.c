#include "jit/proof/found.h"

#include "jit/front/kernel.h"

/* In words: $a is the argument, "argument 2 (sum)"; $n the finding's name; $0 and $1 its numbers; $l the last of $0, which
 * counts from 0; $c the component, with its row; $p what the argument passes. */
struct found_words {
  enum evidence evidence;
  const char *reason;
  const char *remedy; /* NULL: none is known */
  /* Instead, for a dat through a map and for a global; NULL: the same. Through a map elements meet in a row: OP_RW
   * would trade one mistake for another. A global is OP_RW only over a set of one element. */
  const char *mapped, *global;
};

#define ONLY_ADD "add to it only, with += or -=, and do not read it"
#define OR_EXTREMUM ONLY_ADD "; the smallest or largest of all values is OP_MIN or OP_MAX"
#define ALL_COMPONENTS "declare $a OP_RW, or write all its components on every path"
#define ALL_THROUGH_MAP "write all its components on every path, " FOUND_INSTEAD_OF_WRITE
#define WITHIN "use components 0 to $l, or declare it with a larger dim"
#define ONLY_BY_ROW "$x has the rows of a ragged map, and nothing but OP_ROW leads to them"
#define LOST(words)                                                                                          \
  { EVIDENCE_PROMISE, "$a " words, NULL, NULL, NULL }

static const struct found_words table[FOUND_COUNT] = {
    [FOUND_NONE] = {0},
    [FOUND_READ_WRITTEN] =
        {EVIDENCE_PROMISE, "$a is declared OP_READ, and the kernel writes it",
         "declare $a OP_RW, OP_WRITE or OP_INC",
         "do not write to it, or declare it OP_INC wherever the loop passes it, and only add to it",
         "do not write to it, or declare it OP_INC and only add to it, or OP_MIN or OP_MAX and "
         "only compare with it"},
    [FOUND_INC_READ] = {EVIDENCE_PROMISE, "$a is declared OP_INC, and the kernel reads it",
                        "declare $a OP_RW, or only add to it", ONLY_ADD, OR_EXTREMUM},
    [FOUND_INC_ASSIGNED] =
        {EVIDENCE_PROMISE, "$a is declared OP_INC, and the kernel assigns it instead of adding to it",
         "declare it OP_WRITE if the kernel sets all of it and does not read it, else OP_RW; or "
         "use += or -=",
         ONLY_ADD, OR_EXTREMUM},
    [FOUND_INC_CHANGED] = {EVIDENCE_PROMISE,
                           "$a is declared OP_INC, and the kernel changes it other than by adding",
                           "declare $a OP_RW, or use += or -=", ONLY_ADD, OR_EXTREMUM},
    [FOUND_MIN_NOT_COMPARED] = {EVIDENCE_PROMISE,
                                "$a is declared OP_MIN, and the kernel changes it without comparing",
                                "write if (v < *m) *m = v", NULL, NULL},
    [FOUND_MAX_NOT_COMPARED] = {EVIDENCE_PROMISE,
                                "$a is declared OP_MAX, and the kernel changes it without comparing",
                                "write if (v > *m) *m = v", NULL, NULL},
    [FOUND_WRITE_READ_FIRST] = {EVIDENCE_PROMISE,
                                "$a is declared OP_WRITE, and the kernel reads it before it is written",
                                "declare $a OP_RW, or write it first",
                                "write it first, " FOUND_INSTEAD_OF_WRITE, NULL},
    [FOUND_WRITE_NEVER] = {EVIDENCE_PROMISE, "$a is declared OP_WRITE, and the kernel never writes $c",
                           ALL_COMPONENTS, ALL_THROUGH_MAP, NULL},
    [FOUND_WRITE_SOMETIMES] = {EVIDENCE_PROMISE,
                               "$a is declared OP_WRITE, and the kernel does not always write $c",
                               ALL_COMPONENTS, ALL_THROUGH_MAP, NULL},
    [FOUND_WRITE_MAYBE] = {EVIDENCE_PROMISE, "$a is declared OP_WRITE, and the kernel may not write $c",
                           ALL_COMPONENTS, ALL_THROUGH_MAP, NULL},
    [FOUND_WRITE_IN_TURN] =
        {EVIDENCE_PROMISE,
         "$a is declared OP_WRITE, and the kernel writes $c under several conditions, of which "
         "it could not be told that one always holds",
         "write it once before them, or with if and else", NULL, NULL},
    [FOUND_LOST_ORDER] = LOST("is read where it is not sure that it was written before"),
    [FOUND_LOST_INDEX] = LOST("is indexed by a value that is known only when the program runs"),
    [FOUND_LOST_CAST] = LOST("is used as another type"),
    [FOUND_LOST_NUMBER] = LOST("has its address turned into a number"),
    [FOUND_LOST_POINTER] = LOST("is reached through a pointer that could not be followed"),
    [FOUND_LOST_POINTERS] = LOST("is one of two pointers"),
    [FOUND_LOST_PLACES] = LOST("is one of two places"),
    [FOUND_LOST_RETURN] = LOST("is one of several pointers that a function returns"),
    [FOUND_LOST_CALL] = LOST("is passed to a function whose text is not in the kernel"),
    [FOUND_LOST_STORED] = LOST("has its address stored where it cannot be followed"),
    [FOUND_LOST_RECORD] = LOST("is used as a structure"),
    [FOUND_LOST_CXX] = LOST("could not be followed through this C++"),
    [FOUND_LOST_STATEMENT] = LOST("could not be followed through this statement"),
    [FOUND_ROW_OUTSIDE] =
        {EVIDENCE_OUTSIDE,
         "of an element with $0 targets $a has the rows 0 to $l, and the kernel uses OP_ROW(.., $1)",
         "let k in OP_ROW(x, k) go from 0 to n - 1", NULL, NULL},
    [FOUND_POINTER_OUTSIDE] = {EVIDENCE_OUTSIDE, "$a has $0 pointers, and the kernel uses number $1",
                               "use pointers 0 to $l, or pass a map with more entries", NULL, NULL},
    [FOUND_COMPONENT_OUTSIDE] = {EVIDENCE_OUTSIDE, "$a has dim $0, and the kernel uses component $1", WITHIN,
                                 NULL, NULL},
    [FOUND_NOT_BY_ROW] = {EVIDENCE_TEXT, ONLY_BY_ROW, "write OP_ROW($m, $n) in place of $m[$n]", NULL, NULL},
    [FOUND_ROWS_USED] = {EVIDENCE_TEXT, ONLY_BY_ROW, "write OP_ROW($m, k) for the row of target k", NULL,
                         NULL},
    [FOUND_ROW_OF_VECTOR] =
        {EVIDENCE_TEXT,
         "$x goes through a map with $1 targets for each element, and OP_ROW is for ragged maps",
         "write $m[k] in place of OP_ROW($m, k)", NULL, NULL},
    [FOUND_ROW_OF_ONE] = {EVIDENCE_TEXT, "$x is one row, and OP_ROW is for the rows of ragged maps (OP_ALL)",
                          "use $m itself", NULL, NULL},
    [FOUND_ROW_AS_NUMBER] = {EVIDENCE_TEXT,
                             "$n is a pointer to a row, and here pointers would be subtracted or compared",
                             "write *$n for its value", NULL, NULL},
    [FOUND_CONSTANT_INDEX] = {EVIDENCE_INDEX,
                              "constant $n is indexed by a value that is known only when the program runs",
                              NULL, NULL, NULL},
    [FOUND_CONSTANT_OUTSIDE] = {EVIDENCE_INDEX, "constant $n has dim $0, and the kernel uses component $1",
                                WITHIN, NULL, NULL},
    [FOUND_ARRAY_INDEX] = {EVIDENCE_INDEX,
                           "array $n is indexed by a value that is known only when the program runs", NULL,
                           NULL, NULL},
    [FOUND_ARRAY_OUTSIDE] = {EVIDENCE_INDEX, "array $n has $0 elements, and the kernel uses element $1",
                             "use elements 0 to $l, or give it more of them", NULL, NULL},
    [FOUND_VARIABLE_OUTSIDE] = {EVIDENCE_INDEX, "variable $n holds one value, and the kernel uses element $1",
                                "stay within it", NULL, NULL},
    [FOUND_NEXT_ROW] =
        {EVIDENCE_INDEX,
         "the kernel reaches the next row of $n by an index beyond the row before, which C does not "
         "define",
         "give the row an index of its own", NULL, NULL},
    [FOUND_NULL_POINTER] = {EVIDENCE_NULL, "the kernel follows a null pointer",
                            "let it point to a value first", NULL, NULL},
    [FOUND_KEPT] = {EVIDENCE_KEPT,
                    "the kernel writes to '$n', which keeps its value from one element to the next",
                    "keep it in a dat, or reduce into a global argument", NULL, NULL},
    [FOUND_UNSET] = {EVIDENCE_UNSET, "variable '$n' is used and has no value", "give it a value first", NULL,
                     NULL},
    [FOUND_COMPILER_UNSET] = {EVIDENCE_UNSET, "$n", "give the variable a value first", NULL, NULL},
    [FOUND_ENDLESS] = {EVIDENCE_TEXT, "the kernel has a loop without a condition that ends it", NULL, NULL,
                       NULL},
    [FOUND_ROUNDS] = {EVIDENCE_TEXT,
                      "the kernel has a loop whose number of rounds is known only when the program runs",
                      NULL, NULL, NULL},
    [FOUND_RECURSION] = {EVIDENCE_TEXT, "the kernel calls '$n' from within itself",
                         "write it as a loop; kernels cannot recurse", NULL, NULL},
    [FOUND_NO_KERNEL] = {EVIDENCE_TEXT, "the text has no function '$n'", "name the kernel's function", NULL,
                         NULL},
    [FOUND_PARAMETER_COUNT] = {EVIDENCE_TEXT, "the kernel has $0 parameters, and the loop passes $p",
                               "give the kernel one parameter per argument, in their order", NULL, NULL},
    [FOUND_PARAMETER_TYPE] =
        {EVIDENCE_TEXT, "parameter $0 ($m) is '$n', and argument $2 passes '$p'",
         "give the parameter the argument's type, or pass the arguments in the kernel's order", NULL, NULL},
    [FOUND_PARAMETER_CONST] = {EVIDENCE_TEXT, "parameter $0 ($m) is '$n', and argument $2 passes '$p'",
                               "add const, or declare the argument OP_RW, OP_WRITE or OP_INC", NULL, NULL},
    [FOUND_SIZE_IN_CXX] =
        {EVIDENCE_TEXT,
         "the size of this expression is another in C++, as which a GPU's compiler reads it: there "
         "comparisons and characters are of types of one byte, and arrays stay arrays",
         "write the size of the type that is meant, sizeof(int)", NULL, NULL},
    [FOUND_EMPTY_IN_CXX] =
        {EVIDENCE_TEXT,
         "a structure without members has no size in C and one byte in C++, as which a GPU's "
         "compiler reads it",
         "give it a member", NULL, NULL},
    [FOUND_SIGN_IN_CXX] =
        {EVIDENCE_TEXT,
         "this enumeration has no negative values and counts as unsigned int in C, where the "
         "difference is never below zero; in C++, as which a GPU's compiler reads it, it counts as "
         "int",
         "convert its value to int first, (int)value", NULL, NULL},
};

enum evidence found_evidence(enum prove_found what) {
  return table[what].evidence;
}

int found_code(enum prove_found what) {
  return what >= FOUND_NOT_BY_ROW && what <= FOUND_ROW_AS_NUMBER ? OP_ERR_KERNEL : OP_ERR_VIOLATION;
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
  static const struct {
    enum prove_found first, last;
    int access;
  } of[] = {{FOUND_READ_WRITTEN, FOUND_READ_WRITTEN, OP_READ},
            {FOUND_INC_READ, FOUND_INC_CHANGED, OP_INC},
            {FOUND_MIN_NOT_COMPARED, FOUND_MIN_NOT_COMPARED, OP_MIN},
            {FOUND_MAX_NOT_COMPARED, FOUND_MAX_NOT_COMPARED, OP_MAX},
            {FOUND_WRITE_READ_FIRST, FOUND_WRITE_IN_TURN, OP_WRITE}};
  for (size_t i = 0; i < sizeof of / sizeof *of; i++)
    if (fact >= (int)of[i].first && fact <= (int)of[i].last)
      return of[i].access;
  return -1;
}

static const struct desc_arg *argument_of(const struct desc *d, const struct prove_finding *f) {
  return f->argument >= 0 && f->argument < d->nargs ? &d->args[f->argument] : NULL;
}

static void add_title(const struct prove_finding *f, struct text *out) {
  text_addf(out, "argument %d", f->argument + 1);
  if (*f->parameter)
    text_addf(out, " (%s)", f->parameter);
}

/* Of what OP_ROW is used for, or should be. */
static void add_use(const struct prove_finding *f, struct text *out) {
  text_addf(out, "%s (argument %d%s)", f->parameter, f->argument + 1, f->numbers[0] ? " of the loop" : "");
}

static void add_component(const struct desc *d, const struct prove_finding *f, struct text *out) {
  const struct desc_arg *a = argument_of(d, f);
  text_addf(out, "component %lld", f->numbers[0]);
  if (a && desc_is_vector(a))
    text_addf(out, " of %s %lld", desc_is_ragged(d, a) ? "row" : "pointer", f->numbers[1]);
}

/* Of parameters that do not match: all that the loop passes, or the argument as C spells it. */
static void add_passed(const struct desc *d, const struct prove_finding *f, struct text *out) {
  if (f->what == FOUND_PARAMETER_COUNT)
    text_addf(out, "%d arguments%s", d->nargs,
              desc_any_ragged(d) ? ", and a number of targets for each ragged map" : "");
  else
    kernel_expected(d, (int)f->numbers[1], desc_is_vector(&d->args[f->numbers[1]]) ? "x" : "", out);
}

static void say(const struct desc *d, const struct prove_finding *f, const char *words, struct text *out) {
  for (const char *c = words; *c; c++)
    switch (*c == '$' ? *++c : '\0') {
    case 'a': add_title(f, out); break;
    case 'x': add_use(f, out); break;
    case 'n': text_add(out, f->name); break;
    case 'm': text_add(out, f->parameter); break;
    case '0': text_addf(out, "%lld", f->numbers[0]); break;
    case '1': text_addf(out, "%lld", f->numbers[1]); break;
    case '2': text_addf(out, "%lld", f->numbers[1] + 1); break;
    case 'l': text_addf(out, "%lld", f->numbers[0] - 1); break;
    case 'c': add_component(d, f, out); break;
    case 'p': add_passed(d, f, out); break;
    default: text_add_char(out, *c);
    }
}

void found_reason(const struct desc *d, const struct prove_finding *f, struct text *out) {
  say(d, f, table[f->what].reason, out);
}

/* What only keeps the smaller or larger of two values. Directly it is one row for each element, which combines nothing. */
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
  return f->what == FOUND_MIN_NOT_COMPARED ? "write if (v < *m) *m = v, or declare it OP_MAX"
                                           : "write if (v > *m) *m = v, or declare it OP_MIN";
}

void found_remedy(const struct desc *d, const struct prove_finding *f, struct text *out) {
  const struct found_words *r = &table[f->what];
  const struct desc_arg *a = argument_of(d, f);
  const char *words = a ? remedy_of_extremum(a, f) : NULL;
  if (!words && a && a->form == DESC_GBL)
    words = r->global;
  if (!words && a && a->form == DESC_DAT && a->map >= 0)
    words = r->mapped;
  if (!words)
    words = r->remedy;
  if (words)
    say(d, f, words, out);
  if (f->what == FOUND_COMPONENT_OUTSIDE && a && desc_is_ragged(d, a))
    text_add(out, "; the row of target k is OP_ROW(x, k)");
}
