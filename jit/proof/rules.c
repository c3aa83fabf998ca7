#include "jit/proof/rules.h"

#include <stddef.h>

#include "op2jit.h"

#define ROW(rule, name, words, evidence, ...)                                                                \
  [RULE_##rule] = {name, words, EVIDENCE_##evidence, {__VA_ARGS__}}

static const struct rule_row rows[RULE_COUNT] = {
    ROW(TEXT, "text", "its text breaks a promise", TEXT, NULL),
    ROW(ALIAS, "alias", "a dat is passed twice, and both arguments reach one element", TEXT, NULL),
    ROW(READ, "read", "what is to be read only is changed", PROMISE,
        "declare the argument OP_RW, or do not write to it",
        "do not write to it, or declare it OP_INC wherever the loop passes it, and only add to it",
        "do not write to it, or declare it OP_INC and only add to it, or OP_MIN or OP_MAX and only compare "
        "with it"),
    ROW(WRITE, "write", "OP_WRITE is not written in every component", PROMISE,
        "write it on every path, or declare the argument OP_RW", "write it on every path, " INSTEAD_OF_WRITE),
    ROW(ADD, "add", "OP_INC is not only added to", PROMISE,
        "use $+ only and do not read it, or declare the argument OP_RW or OP_WRITE",
        "use $+ only and do not read it",
        ONLY_ADD "; the smallest or largest of all values is OP_MIN or OP_MAX"),
    ROW(COMPARE, "compare", "OP_MIN or OP_MAX is assigned without comparing", PROMISE, COMPARE),
    ROW(EXTREMUM, "extremum", "a result depends on OP_MIN or OP_MAX so far", PROMISE, NULL),
    ROW(OUTSIDE, "outside", "memory outside the argument is written", OUTSIDE, NULL),
    ROW(ABSENT, "absent", "an absent argument is written", OUTSIDE, NULL),
    ROW(OLD_VALUES, "old-values", "a result depends on what the argument held before", PROMISE,
        "declare it OP_RW, or write it first", "write it first, " INSTEAD_OF_WRITE),
    ROW(READ_OUTSIDE, "read-outside", "a result depends on memory outside the argument", OUTSIDE, NULL),
    ROW(FAR, "far", "a result depends on memory far outside all arguments", OUTSIDE, NULL),
    ROW(UNSET, "unset", "a result depends on a variable without a value", UNSET, "give it a value first"),
    ROW(KEPT, "kept", "a result depends on what other elements left in a variable", KEPT,
        "keep the value in a dat, or reduce it into a global argument"),
    ROW(NO_RIGHT, "no-right", "a result depends on what the kernel has no right to read", PROMISE, NULL),
    ROW(INDEX, "index", "an array or a constant is used beyond its end", INDEX, NULL),
    ROW(ASSERT, "assert", "an op_assert does not hold", TEXT, NULL),
    ROW(ROW, "row", "OP_ROW of a target that is not there", OUTSIDE, NULL),
    ROW(DIVISION, "division", "a whole number is divided by zero", TEXT, NULL),
    ROW(MEET, "meet", "elements write one target, and their order decides what it gets", TEXT, NULL),
    ROW(ORDER, "order", "the result depends on the order of the elements", TEXT, NULL),
    ROW(STALE, "stale", "an old copy of another rank's element is read", TEXT, NULL),
    ROW(LOST, "lost", "an argument cannot be followed", PROMISE, NULL),
    ROW(NULL, "null", "a null pointer is followed", NULL, NULL),
};

const struct rule_row *rule_row(enum rule rule) {
  return &rows[rule];
}

const char *rules_word(char code, int access, bool fortran) {
  if (code == '+')
    return fortran ? "`x = x + ...`" : "+= or -=";
  if (access == OP_MIN)
    return fortran ? "`m = min(m, v)`" : "if (v < *m) *m = v";
  return fortran ? "`m = max(m, v)`" : "if (v > *m) *m = v";
}

void rules_say(const char *words, int access, bool fortran, struct text *out) {
  for (const char *c = words; *c; c++)
    if (*c == '$')
      text_add(out, rules_word(*++c, access, fortran));
    else
      text_add_char(out, *c);
}
