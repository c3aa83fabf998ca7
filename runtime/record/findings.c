#include "record/findings.h"

#include <stdlib.h>
#include <string.h>

#include "record/record.h"

const char *rule_remedy(enum rule rule, const struct loop_arg *arg) {
  const char *const *known = rule_row(rule)->remedy;
  const enum passed way = arg->map ? PASSED_MAPPED : arg->dat ? PASSED_DIRECT : PASSED_GLOBAL;
  return known[way] ? known[way] : known[PASSED_DIRECT];
}

static int compare(const struct finding *a, const struct finding *b) {
  const int loops = strcmp(a->loop, b->loop);
  return loops ? loops : a->argument != b->argument ? a->argument - b->argument : (int)a->rule - (int)b->rule;
}

struct finding *findings_find(const struct findings *f, const struct finding *like) {
  for (int i = 0; i < f->list.count; i++)
    if (compare(f->list.items[i], like) == 0)
      return f->list.items[i];
  return NULL;
}

static void finding_free(struct finding *one) {
  if (one) {
    free(one->loop);
    free(one->first);
  }
  free(one);
}

int findings_add(struct findings *f, const struct finding *one, struct error *err) {
  struct finding *known = findings_find(f, one);
  if (known) {
    if (one->place == -1 || one->place != known->place)
      known->count += one->count;
    known->place = one->place;
    return OP_OK;
  }
  struct finding *copy = malloc(sizeof *copy);
  if (copy) {
    *copy = *one;
    copy->loop = strdup(one->loop);
    copy->first = strdup(one->first);
    if (copy->loop && copy->first && list_add(&f->list, copy))
      return OP_OK;
  }
  finding_free(copy);
  return error_memory(err, "the list of OP2_CHECK", sizeof *copy + strlen(one->first));
}

int findings_merge(struct findings *to, const struct findings *from, struct error *err) {
  int code = OP_OK;
  for (int i = 0; !code && i < from->list.count; i++) {
    struct finding one = *(const struct finding *)from->list.items[i];
    one.place = -1;
    code = findings_add(to, &one, err);
  }
  return code;
}

static int compare_items(const void *a, const void *b) {
  return compare(*(const struct finding *const *)a, *(const struct finding *const *)b);
}

/* Indent each line of the words. */
static void add_indented(const char *words, struct text *out) {
  for (;;) {
    const size_t length = strcspn(words, "\n");
    text_addf(out, "\n    %.*s", (int)length, words);
    if (!words[length])
      return;
    words += length + 1;
  }
}

void findings_print(struct findings *f, struct text *out) {
  const int n = f->list.count;
  if (n)
    qsort(f->list.items, (size_t)n, sizeof *f->list.items, compare_items);
  text_addf(out, "OP2_CHECK=list found %d mistake%s", n, n == 1 ? "" : "s");
  for (int i = 0; i < n; i++) {
    const struct finding *one = f->list.items[i];
    text_addf(out, "\n  loop %s, ", one->loop);
    if (one->argument >= 0)
      text_addf(out, "argument %d, ", one->argument + 1);
    text_addf(out, "%s: %s; seen %lld time%s, first:", rule_row(one->rule)->name, rule_row(one->rule)->words,
              one->count, one->count == 1 ? "" : "s");
    add_indented(one->first, out);
  }
}

void findings_free(struct findings *f) {
  for (int i = 0; i < f->list.count; i++)
    finding_free(f->list.items[i]);
  list_free(&f->list);
  *f = (struct findings){0};
}

int note(struct notes *n, const struct loop *loop, enum rule rule, int argument, const char *words) {
  struct text first = {0};
  if (!n->list)
    return error_set(n->err, OP_ERR_VIOLATION, "%s", words);
  if (n->elsewhere)
    return OP_OK;
  if (*loop->key.file) /* errors get it from the call */
    text_addf(&first, "%s:%d: ", loop->key.file, loop->key.line);
  text_add(&first, words);
  const struct finding one = {.loop = loop->name,
                              .first = (char *)(size_t)text_str(&first),
                              .rule = rule,
                              .argument = argument,
                              .place = n->place,
                              .count = 1};
  const int code = findings_add(n->list, &one, n->err);
  text_free(&first);
  return code;
}
