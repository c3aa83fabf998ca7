/* Facts of kernels in the store: a row for each text and its arguments. */
#include "jit/facts.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "include/op2jit.h"
#include "jit/kernel/rows.h"
#include "kernels-cache/store.h"

bool words_get(struct store *store, struct text *key, struct text *words) {
  const bool known = text_ok(key) && store_get_verdict(store, text_str(key), words) && text_ok(words);
  text_free(key);
  return known;
}

void words_put(struct store *store, struct text *key, const struct text *words) {
  if (text_ok(key) && text_ok(words))
    store_put_verdict(store, text_str(key), text_str(words));
  text_free(key);
}

void facts_print_rows(const struct desc *d, struct text *out) {
  struct desc rows = *d;
  for (int i = 0; i < rows.ndats; i++)
    rows.dats[i].soa = false;
  desc_print(&rows, out);
}

/* Everything that facts depend on. */
static void make_key(const struct plugin *plugin, const struct desc *d, struct text *key) {
  text_addf(key, "prover %d\n%s\n", PROVER_ABI, text_str(&plugin->identity));
  facts_print_rows(d, key);
  for (int m = 0; m < d->nmaps; m++)
    if (d->maps[m].longest)
      text_addf(key, "map %d longest %d\n", m + 1, d->maps[m].longest);
}

/* ---- of a text without a violation: three words, three for each argument, and what is known of rows ---- */

static void print(const struct facts *facts, int nargs, struct text *out) {
  text_addf(out, "%d %d %d", facts->untried, (int)facts->c_only, facts->says);
  for (int i = 0; i < nargs; i++)
    text_addf(out, " %d %d %d", facts->args[i].partial, facts->args[i].reads, facts->args[i].same);
  text_add_char(out, ' ');
  row_facts_print(&facts->rows, out);
}

static bool parse(const char *words, const struct desc *d, struct facts *out) {
  int untried, c_only, says, used = 0;
  if (sscanf(words, "%d %d %d%n", &untried, &c_only, &says, &used) != 3)
    return false;
  *out = (struct facts){
      .known = true, .untried = untried != 0, .c_only = (enum reading)c_only, .says = says & SAYS_OF_TREE};
  for (int i = 0; i < d->nargs; i++) {
    int partial, reads;
    words += used;
    if (sscanf(words, "%d %d %d%n", &partial, &reads, &out->args[i].same, &used) != 3)
      return false;
    out->args[i].partial = partial != 0;
    out->args[i].reads = reads != 0;
  }
  words += used;
  return *words == ' ' && row_facts_parse(words + 1, strlen(d->text), &out->rows);
}

void facts_put(const struct plugin *plugin, struct store *store, const struct desc *d,
               const struct facts *facts) {
  struct text key = {0}, words = {0};
  if (!facts->known)
    return;
  make_key(plugin, d, &key);
  print(facts, d->nargs, &words);
  words_put(store, &key, &words);
  text_free(&words);
}

bool facts_get(const struct plugin *plugin, struct store *store, const struct desc *d, struct facts *out) {
  struct text key = {0}, words = {0};
  make_key(plugin, d, &key);
  const bool known = words_get(store, &key, &words) && parse(text_str(&words), d, out);
  if (!known)
    *out = (struct facts){0};
  text_free(&words);
  return known;
}

/* ---- of a text with one, of a program of OP2: such a loop runs all the same ---- */

static const char violation_words[] = "violation %d: %n";

/* The words have lines of the program, so these are in the key. */
static void make_violation_key(const struct plugin *plugin, const struct desc *d, struct text *key) {
  make_key(plugin, d, key);
  text_add(key, "\nviolated");
  for (int i = 0; i < d->origins.count; i++) {
    const struct origin *o = &d->origins.items[i];
    text_addf(key, "\n%d %s:%d", o->line, o->file ? o->file : "", o->file_line);
  }
}

int facts_get_violation(const struct plugin *plugin, struct store *store, const struct desc *d,
                        struct error *err) {
  struct text key = {0}, words = {0};
  int rule = 0, head = 0;
  if (!d->entry || d->unproved)
    return OP_OK;
  make_violation_key(plugin, d, &key);
  const bool known = words_get(store, &key, &words) &&
                     sscanf(text_str(&words), violation_words, &rule, &head) == 1 && head > 0;
  const int code = known ? error_set(err, OP_ERR_VIOLATION, "%s", text_str(&words) + head) : OP_OK;
  if (known)
    err->fact = rule;
  text_free(&words);
  return code;
}

void facts_put_violation(const struct plugin *plugin, struct store *store, const struct desc *d,
                         const struct error *err) {
  struct text key = {0}, words = {0};
  if (!d->entry)
    return;
  make_violation_key(plugin, d, &key);
  text_addf(&words, "violation %d: %s", err->fact, error_message(err));
  words_put(store, &key, &words);
  text_free(&words);
}

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
    ROW(COMPARE, "compare", "OP_MIN or OP_MAX is assigned without comparing", PROMISE, COMPARE_WRITE),
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
