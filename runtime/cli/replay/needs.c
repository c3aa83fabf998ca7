/* A kept value depends on earlier calls too: adds their elements that changed what the wanted elements read. */
#include <stdlib.h>

#include "base/size.h"
#include "cli/replay/replay.h"

/* By data and row: the number of the last call that reads it, from 1; 0: none does. */
struct needs {
  const struct capture *c;
  unsigned char **runs;
  int **last;
  bool more;
};

static struct capture_reach rows_of(const struct needs *n, const struct capture_arg *arg, long long element) {
  return arg->form == DESC_DAT ? capture_reach(n->c, arg, element) : (struct capture_reach){0, 1, NULL};
}

/* True if the element changes in that call what a later one reads. */
static bool is_needed(const struct needs *n, int number, long long element) {
  const struct capture_call *call = &n->c->calls[number];
  bool needed = false;
  for (int a = 0; !needed && a < call->nargs; a++) {
    const struct capture_arg *arg = &call->args[a];
    if (arg->data < 0 || !capture_arg_changes(arg))
      continue;
    const struct capture_reach reach = rows_of(n, arg, element);
    for (long long k = reach.begin; k < reach.end && !needed; k++)
      needed = n->last[arg->data][capture_place(&reach, k)] > number + 1;
  }
  return needed;
}

static void need(struct needs *n, int number, long long element) {
  const struct capture_call *call = &n->c->calls[number];
  for (int a = 0; a < call->nargs; a++) {
    const struct capture_arg *arg = &call->args[a];
    if (arg->data < 0 || !arg->present || !access_reads((int)arg->access))
      continue;
    const struct capture_reach reach = rows_of(n, arg, element);
    for (long long k = reach.begin; k < reach.end; k++) {
      int *last = &n->last[arg->data][capture_place(&reach, k)];
      n->more |= *last < number + 1;
      *last = *last < number + 1 ? number + 1 : *last;
    }
  }
}

static void look_at_call(struct needs *n, int number) {
  const struct capture_call *call = &n->c->calls[number];
  for (long long i = 0; i < call->count; i++) {
    const long long element = capture_element(call, i);
    unsigned char *run = &n->runs[call->set][element];
    if (!*run && is_needed(n, number, element)) {
      *run = 1;
      n->more = true;
    }
    if (*run)
      need(n, number, element);
  }
}

int reduce_needs(const struct capture *c, unsigned char **runs, struct error *err) {
  struct needs n = {.c = c, .runs = runs, .more = true};
  n.last = array_new((size_t)c->ndata, sizeof *n.last);
  bool good = n.last;
  for (int d = 0; good && d < c->ndata; d++)
    good = (n.last[d] = array_new(capture_rows(c, &c->data[d]), sizeof **n.last));
  while (good && n.more) {
    n.more = false;
    for (int i = c->ncalls - 1; i >= 0; i--)
      look_at_call(&n, i);
  }
  for (int d = 0; n.last && d < c->ndata; d++)
    free(n.last[d]);
  free(n.last);
  return good ? OP_OK : error_memory(err, "a capture", 0);
}
