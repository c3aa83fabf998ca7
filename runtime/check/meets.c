#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "check/pass.h"
#include "check/shadow.h"
#include "check/watch.h"

/* By target, an element + 1: the first that writes it, and the first other one, negative once it was told; 0: none. */
struct meets {
  int *first, *second;
};

static bool writes(const struct loop_arg *arg) {
  return arg->dat && arg->present && access_assigns(arg->access);
}

/* The first argument that writes the dat has them for all that do. */
static int keeper(const struct loop *loop, int i) {
  for (int j = 0; j < i; j++)
    if (writes(&loop->args[j]) && loop->args[j].dat == loop->args[i].dat)
      return j;
  return i;
}

static size_t targets(const struct loop *loop, int i) {
  return (size_t)loop->args[i].dat->set->extents[EXTENT_NONEXEC];
}

static int open_meets(struct pass *p, int i, struct error *err) {
  struct meets *m = p->meets[i] = calloc(1, sizeof *m);
  if (m)
    m->first = array_new(targets(p->loop, i), sizeof(int));
  if (m)
    m->second = array_new(targets(p->loop, i), sizeof(int));
  return m && m->first && m->second
             ? OP_OK
             : error_memory(err, "the checking form", 2 * targets(p->loop, i) * sizeof(int));
}

int meets_open(struct pass *p, struct error *err) {
  int code = OP_OK;
  for (int i = 0; !code && i < p->loop->nargs; i++) {
    const struct loop_arg *arg = &p->loop->args[i];
    if (writes(arg) && !arg_is_own(arg) && !p->meets[keeper(p->loop, i)])
      code = open_meets(p, keeper(p->loop, i), err);
  }
  return code;
}

void meets_forget(struct pass *p) {
  for (int i = 0; i < p->loop->nargs; i++)
    if (p->meets[i]) {
      memset(p->meets[i]->first, 0, targets(p->loop, i) * sizeof(int));
      memset(p->meets[i]->second, 0, targets(p->loop, i) * sizeof(int));
    }
}

void meets_free(struct pass *p) {
  for (int i = 0; i < OP_MAX_ARGS; i++) {
    if (p->meets[i]) {
      free(p->meets[i]->first);
      free(p->meets[i]->second);
    }
    free(p->meets[i]);
  }
}

bool meets_at(const struct pass *p, int i, long target) {
  const struct meets *m = writes(&p->loop->args[i]) ? p->meets[keeper(p->loop, i)] : NULL;
  return m && m->second[target];
}

/* The argument by which the second element comes there. */
static int second_argument(const struct pass *p, int i, long target) {
  const struct loop *loop = p->loop;
  const long element = abs(p->meets[i]->second[target]) - 1;
  for (int j = i; j < loop->nargs; j++) {
    const struct loop_arg *arg = &loop->args[j];
    for (long place = arg_begin(arg, element); writes(arg) && place < arg_end(arg, element); place++)
      if (arg->dat == loop->args[i].dat && arg_target(arg, place) == target)
        return j;
  }
  return i;
}

static void add_meeting(const struct pass *p, int i, long target, struct text *out) {
  const struct loop *loop = p->loop;
  const struct loop_arg *arg = &loop->args[second_argument(p, i, target)];
  const struct meets *m = p->meets[i];
  text_addf(out, "elements %ld and %ld of set \"%s\" both write element %ld of set \"%s\"",
            set_said(loop->set, m->first[target] - 1), set_said(loop->set, abs(m->second[target]) - 1),
            loop->set->name, set_said(arg->dat->set, target), arg->dat->set->name);
  if (arg->map)
    text_addf(out, " (map \"%s\")", arg->map->name);
}

int meets_tell(struct pass *p, int i, long target, const char *said) {
  const int k = keeper(p->loop, i);
  int *second = &p->meets[k]->second[target];
  struct text words = {0};
  if (*second < 0)
    return OP_OK;
  const int argument = second_argument(p, k, target);
  watch_title(p->loop, argument, &words);
  text_add(&words, ": ");
  add_meeting(p, k, target, &words);
  text_addf(&words,
            ", so the result depends on their order: %s; use OP_INC, or a map in which no two elements share "
            "a target",
            said);
  *second = -*second;
  return pass_note(p, RULE_MEET, argument, target >= p->loop->args[i].dat->set->extents[EXTENT_OWNED],
                   &words);
}

bool meets_first(const struct pass *p, struct text *out) {
  for (int i = 0; i < p->loop->nargs; i++)
    for (size_t t = 0; p->meets[i] && t < targets(p->loop, i); t++)
      if (p->meets[i]->second[t]) {
        add_meeting(p, i, (long)t, out);
        return true;
      }
  return false;
}

/* The first component of row r that the element changes to another value than lies there, -1: none. */
static int find_other(const struct cell *cell, int i, int r, long target) {
  const struct loop_arg *arg = &cell->loop->args[i];
  for (int c = 0; c < arg->dim; c++)
    if (!type_near(arg->type, dat_value(arg->dat, target, c),
                   cell_row(cell, 0, i, r) + (size_t)c * arg->dat->value_size, values_tolerance(TYPE_DOUBLE),
                   values_tolerance(TYPE_FLOAT)))
      return c;
  return -1;
}

static int tell_other(struct pass *p, int i, int r, int c, long target) {
  const struct loop_arg *arg = &p->loop->args[i];
  struct text said = {0};
  char before[64], now[64];
  type_print(arg->type, dat_value(arg->dat, target, c), before, sizeof before);
  type_print(arg->type, cell_row(p->state->cell, 0, i, r) + (size_t)c * arg->dat->value_size, now,
             sizeof now);
  text_addf(&said, "component %d becomes %s, then %s", c + p->loop->desc.origins.fortran, before, now);
  const int code = meets_tell(p, i, target, text_str(&said));
  text_free(&said);
  return code;
}

static int write_row(struct pass *p, int i, int r, long element) {
  const struct loop_arg *arg = &p->loop->args[i];
  struct meets *m = p->meets[keeper(p->loop, i)];
  const long target = row_target(arg, element, r);
  if (!m->first[target])
    m->first[target] = (int)element + 1;
  if (m->first[target] == (int)element + 1 || m->second[target] < 0)
    return OP_OK;
  if (!m->second[target])
    m->second[target] = (int)element + 1;
  p->state->meets = true;
  const int c = arg->access == OP_WRITE ? find_other(p->state->cell, i, r, target) : -1;
  if (c < 0)
    return OP_OK;
  m->second[target] = (int)element + 1; /* those before wrote the same */
  return tell_other(p, i, r, c, target);
}

int meets_write(struct pass *p, long element) {
  const struct loop *loop = p->loop;
  int code = OP_OK;
  for (int i = 0; i < loop->nargs; i++)
    for (int r = 0;
         writes(&loop->args[i]) && p->meets[keeper(loop, i)] && !code && r < p->state->cell->args[i].rows;
         r++)
      code = write_row(p, i, r, element);
  return code;
}
