/* Dropping parameters that a shrunk kernel does not use. */
#include "kernel.h"

static void mark(const struct kernel *k, int node, bool used[MAX_PARAMS], bool locals[MAX_LOCALS]) {
  if (node < 0)
    return;
  const struct node *n = &k->nodes[node];
  if (n->op == N_LEAF) {
    used[n->which] = true;
    if (k->params[n->which].flag >= 0)
      used[k->params[n->which].flag] = true;
  }
  if (n->op == N_LOCAL)
    locals[n->which] = true;
  for (int i = 0; i < 3; i++)
    mark(k, n->kid[i], used, locals);
}

static void mark_statement(const struct kernel *k, const struct statement *s, bool used[MAX_PARAMS],
                           bool locals[MAX_LOCALS]) {
  mark(k, s->value, used, locals);
  mark(k, s->condition, used, locals);
  mark(k, s->other, used, locals);
  if (s->what == S_LOCAL || s->what == S_RETURN)
    return;
  used[s->target] = true;
  if (k->params[s->target].flag >= 0)
    used[k->params[s->target].flag] = true;
  if (s->info < 0)
    return;
  used[s->info] = true;
  for (int c = 0; c < k->params[s->info].dim; c++)
    mark(k, s->payload[c], used, locals);
}

/* Statements of locals that nobody reads go too. */
static void drop_locals(struct kernel *k, const bool locals[MAX_LOCALS]) {
  int n = 0;
  for (int s = 0; s < k->nstatements; s++)
    if (k->statements[s].what != S_LOCAL || locals[k->statements[s].target])
      k->statements[n++] = k->statements[s];
  k->nstatements = n;
}

static void renumber(struct kernel *k, const int *to) {
  for (int p = 0; p < k->nparams; p++) {
    if (k->params[p].flag >= 0)
      k->params[p].flag = to[k->params[p].flag];
    if (k->params[p].ref >= 0)
      k->params[p].ref = to[k->params[p].ref];
  }
  for (int i = 0; i < k->nnodes; i++)
    if (k->nodes[i].op == N_LEAF)
      k->nodes[i].which = to[k->nodes[i].which];
  for (int s = 0; s < k->nstatements; s++)
    if (k->statements[s].what != S_LOCAL && k->statements[s].what != S_RETURN) {
      k->statements[s].target = to[k->statements[s].target];
      if (k->statements[s].info >= 0)
        k->statements[s].info = to[k->statements[s].info];
    }
}

void kernel_prune(struct kernel *k) {
  bool used[MAX_PARAMS] = {false}, locals[MAX_LOCALS] = {false};
  for (int s = 0; s < k->nstatements; s++)
    mark_statement(k, &k->statements[s], used, locals);
  drop_locals(k, locals);
  int to[MAX_PARAMS], n = 0;
  struct param old[MAX_PARAMS];
  for (int p = 0; p < k->nparams; p++)
    old[p] = k->params[p];
  for (int p = 0; p < k->nparams; p++)
    to[p] = used[p] ? n++ : 0;
  if (n == 0 || n == k->nparams)
    return;
  /* Links first, while the numbers are the old ones. */
  renumber(k, to);
  n = 0;
  for (int p = 0; p < MAX_PARAMS && p < k->nparams; p++)
    if (used[p]) {
      int flag = k->params[p].flag, ref = k->params[p].ref;
      struct param moved = old[p];
      moved.flag = flag;
      moved.ref = ref;
      k->params[n++] = moved;
    }
  k->nparams = n;
}
