/* Facts of kernels in the store: a row for each text and its arguments. */
#include "jit/proof/facts.h"

#include <stdio.h>
#include <string.h>

#include "jit/front/rows/rows.h"
#include "kernels-cache/store.h"

/* Everything that facts depend on: not the layouts, which differ between devices. */
static void make_key(const struct plugin *plugin, const struct desc *d, struct text *key) {
  struct desc rows = *d;
  for (int i = 0; i < rows.ndats; i++)
    rows.dats[i].soa = false;
  text_addf(key, "prover %d\n%s\n", PROVER_ABI, text_str(&plugin->identity));
  desc_print(&rows, key);
  for (int m = 0; m < rows.nmaps; m++)
    if (rows.maps[m].longest)
      text_addf(key, "map %d longest %d\n", m + 1, rows.maps[m].longest);
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
  make_key(plugin, d, &key);
  print(facts, d->nargs, &words);
  if (facts->known && text_ok(&key) && text_ok(&words))
    store_put_verdict(store, text_str(&key), text_str(&words));
  text_free(&words);
  text_free(&key);
}

bool facts_get(const struct plugin *plugin, struct store *store, const struct desc *d, struct facts *out) {
  struct text key = {0}, words = {0};
  *out = (struct facts){0};
  make_key(plugin, d, &key);
  const bool known =
      text_ok(&key) && store_get_verdict(store, text_str(&key), &words) && parse(text_str(&words), d, out);
  if (!known)
    *out = (struct facts){0};
  text_free(&words);
  text_free(&key);
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
  const bool known = text_ok(&key) && store_get_verdict(store, text_str(&key), &words) &&
                     sscanf(text_str(&words), violation_words, &rule, &head) == 1 && head > 0;
  const int code = known ? error_set(err, OP_ERR_VIOLATION, "%s", text_str(&words) + head) : OP_OK;
  if (known)
    err->fact = rule;
  text_free(&key);
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
  if (text_ok(&key) && text_ok(&words))
    store_put_verdict(store, text_str(&key), text_str(&words));
  text_free(&key);
  text_free(&words);
}
