#include "loop/chain/fused.h"

#include <string.h>

#include "backend/backend.h"
#include "include/op2jit.h"
#include "jit/kernel/fused.h"
#include "mesh/data.h"

/* A loop passes over so many groups at most: what is far away has left the caches, and looking takes time. */
enum { MOST_PASSED = 8 };

/* ---- one loop ----------------------------------------------------------------------------------------*/

/* Also of a loop over a subset. */
static bool is_direct(const struct loop_arg *arg) {
  return arg->form == DESC_DAT && arg_is_direct(arg);
}

static bool arg_may_join(const struct loop_arg *arg) {
  if (!arg->present)
    return true;
  if (type_is_struct(arg->type) || arg->started || (arg->dat && arg->dat->segment))
    return false;
  if (arg->form == DESC_GBL)
    return !access_assigns(arg->access);
  return arg->form != DESC_DAT || arg_is_direct(arg) || arg->access == OP_READ;
}

/* A kernel may spell `long` where data are `long long`. */
static bool parameters_may_join(const struct kernel *k) {
  for (int i = 0; i < k->nparameters; i++)
    if (!k->parameters[i].understood || k->parameters[i].longer)
      return false;
  return true;
}

static bool consts_may_join(const struct desc *d) {
  for (int i = 0; i < d->nconsts; i++)
    if (type_is_struct(d->consts[i].type))
      return false;
  return true;
}

static bool may_join(const struct loop *loop) {
  if (!loop->backend->code || desc_any_ragged(&loop->desc) || loop->form || loop->compiled || loop->shadow ||
      loop->ready.heavy || loop->desc.entry || loop->ready.most_elements < 1 ||
      (loop->ready.nparts != 1 && space_is_device(loop->space)) || !parameters_may_join(&loop->kernel) ||
      !consts_may_join(&loop->desc))
    return false;
  for (int i = 0; i < loop->nargs; i++)
    if (!arg_may_join(&loop->args[i]))
      return false;
  return true;
}

/* ---- two loops ---------------------------------------------------------------------------------------*/

static bool changes(const struct loop_arg *arg) {
  return arg->access != OP_READ;
}

/* The same dat or global, and one of them changes it. */
static bool args_meet(const struct loop_arg *a, const struct loop_arg *b) {
  const bool same = (a->dat && a->dat == b->dat) || (a->gbl && a->gbl == b->gbl);
  return same && a->present && b->present && (changes(a) || changes(b));
}

static bool meet(const struct loop *a, const struct loop *b) {
  for (int i = 0; i < a->nargs; i++)
    for (int j = 0; j < b->nargs; j++)
      if (args_meet(&a->args[i], &b->args[j]))
        return true;
  return false;
}

static bool share_a_dat(const struct loop *a, const struct loop *b) {
  for (int i = 0; i < a->nargs; i++)
    if (a->args[i].dat && a->args[i].present && loop_uses(b, a->args[i].dat))
      return true;
  return false;
}

/* Sums into one global are added in the order of the calls; extrema, and sums into a row by two arguments, are not made
 * for company. */
static bool can_be_direct(const struct loop *a, int i, const struct loop_arg *other) {
  const struct loop_arg *arg = &a->args[i];
  if (arg->gbl)
    return arg->access == OP_INC && other->access == OP_INC;
  if (!is_direct(arg) || !is_direct(other) || access_is_extremum(arg->access))
    return false;
  for (int k = 0; k < a->nargs; k++)
    if (k != i && arg->access == OP_INC && a->args[k].dat == arg->dat && a->args[k].present)
      return false;
  return true;
}

static bool conflicts_are_direct(const struct loop *a, const struct loop *b) {
  for (int i = 0; i < a->nargs; i++)
    for (int j = 0; j < b->nargs; j++)
      if (args_meet(&a->args[i], &b->args[j]) &&
          (!can_be_direct(a, i, &b->args[j]) || !can_be_direct(b, j, &a->args[i])))
        return false;
  return true;
}

/* ---- groups ------------------------------------------------------------------------------------------*/

static bool can_enter(struct loop *const *loops, const struct fused_group *g, const struct loop *loop) {
  int nargs = loop->nargs;
  bool shares = false;
  if (g->n >= DESC_MOST_MEMBERS || !may_join(loop))
    return false;
  for (int m = 0; m < g->n; m++) {
    const struct loop *member = loops[g->members[m]];
    nargs += member->nargs;
    if (member->set != loop->set || strcmp(member->desc.fp, loop->desc.fp) != 0 || !may_join(member) ||
        !fused_texts_may_join(&member->desc, &loop->desc) || !conflicts_are_direct(member, loop))
      return false;
    shares |= share_a_dat(member, loop);
  }
  return shares && nargs <= OP_MAX_ARGS;
}

static bool meets_any(struct loop *const *loops, const struct fused_group *g, const struct loop *loop) {
  for (int m = 0; m < g->n; m++)
    if (meet(loops[g->members[m]], loop))
      return true;
  return false;
}

/* The group that the loop enters, -1: none. */
static int find_group(struct loop *const *loops, const struct fused_group *groups, int count,
                      const struct loop *loop) {
  for (int g = count - 1; g >= 0 && g >= count - 1 - MOST_PASSED; g--) {
    if (can_enter(loops, &groups[g], loop))
      return g;
    if (meets_any(loops, &groups[g], loop))
      return -1;
  }
  return -1;
}

int fused_groups(struct loop *const *loops, int n, struct fused_group *groups) {
  int count = 0;
  for (int l = 0; l < n; l++) {
    int g = find_group(loops, groups, count, loops[l]);
    if (g < 0) {
      g = count++;
      groups[g].n = 0;
    }
    groups[g].members[groups[g].n++] = l;
  }
  return count;
}
