/* Kernels do not recurse: GPUs have little room for it, and nobody can tell how deep. Found in the text alone, so
 * that all backends refuse it. What goes through pointers to functions or macros is left to the prover. */
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "jit/front/parameters.h"

enum mark { NEW, ON_PATH, DONE };

/* A function whose calls are being followed. */
struct step {
  int function;
  size_t at, end; /* tokens of its body still to be looked at */
};

struct search {
  const struct kernel *k;
  const struct kernel_function **by_name;
  enum mark *marks;  /* by function */
  struct step *path; /* at most every function once */
  int depth;
};

static int compare_names(const void *a, const void *b) {
  const struct kernel_function *const *x = a, *const *y = b;
  return strcmp((*x)->name, (*y)->name);
}

static bool open_search(struct search *s, const struct kernel *k) {
  const size_t n = (size_t)k->nfunctions;
  *s = (struct search){.k = k,
                       .by_name = array_new(n, sizeof *s->by_name),
                       .marks = array_new(n, sizeof *s->marks),
                       .path = array_new(n, sizeof *s->path)};
  if (!s->by_name || !s->marks || !s->path)
    return false;
  for (size_t i = 0; i < n; i++)
    s->by_name[i] = &k->functions[i];
  qsort(s->by_name, n, sizeof *s->by_name, compare_names);
  return true;
}

static void close_search(struct search *s) {
  free(s->by_name);
  free(s->marks);
  free(s->path);
}

/* Preprocessor conditions choose between definitions of one name. */
static bool has_doubles(const struct search *s) {
  for (int i = 1; i < s->k->nfunctions; i++)
    if (strcmp(s->by_name[i - 1]->name, s->by_name[i]->name) == 0)
      return true;
  return false;
}

static int find_function(const struct search *s, const struct token *name) {
  const char *text = s->k->text + name->begin;
  const size_t length = name->end - name->begin;
  int low = 0, high = s->k->nfunctions;
  while (low < high) {
    const int middle = (low + high) / 2;
    const char *other = s->by_name[middle]->name;
    int order = strncmp(text, other, length);
    if (order == 0 && other[length])
      order = -1;
    if (order == 0)
      return (int)(s->by_name[middle] - s->k->functions);
    if (order < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return -1;
}

static void enter(struct search *s, int function) {
  const struct tokens *t = &s->k->tokens;
  size_t body = kernel_skip_brackets(t, s->k->functions[function].open);
  while (body < t->count && !token_is(t, body, "{"))
    body++;
  s->marks[function] = ON_PATH;
  s->path[s->depth++] = (struct step){.function = function, .at = body, .end = kernel_skip_brackets(t, body)};
}

/* The function that the token at `at` calls; -1: none of the text's. */
static int called(const struct search *s, size_t at) {
  const struct tokens *t = &s->k->tokens;
  if (t->items[at].directive || !token_is_identifier(t, at) || !token_is(t, at + 1, "("))
    return -1;
  const bool member = at > 0 && (token_is(t, at - 1, ".") || token_is(t, at - 1, "->"));
  return member ? -1 : find_function(s, &t->items[at]);
}

static int follow(struct search *s, struct error *err) {
  enter(s, s->k->function);
  while (s->depth) {
    struct step *step = &s->path[s->depth - 1];
    if (step->at >= step->end) {
      s->marks[step->function] = DONE;
      s->depth--;
      continue;
    }
    const size_t at = step->at++;
    const int function = called(s, at);
    if (function < 0 || s->marks[function] == DONE)
      continue;
    const struct token *token = &s->k->tokens.items[at];
    if (s->marks[function] == ON_PATH)
      return kernel_error(s->k, token->line, token->column, err,
                          "%s is called from within itself, and kernels cannot recurse; write it as a loop",
                          s->k->functions[function].name);
    enter(s, function);
  }
  return OP_OK;
}

int recursion_check(const struct kernel *k, struct error *err) {
  struct search search;
  int code = open_search(&search, k) ? OP_OK
                                     : error_memory(err, "the calls in a kernel text", (size_t)k->nfunctions);
  if (!code && !has_doubles(&search))
    code = follow(&search, err);
  close_search(&search);
  return code;
}
