#include "bind.h"

#include "ranks.h"

#include <stdlib.h>
#include <string.h>

static bool is_global(const struct param *p) {
  return p->form == FORM_GLOBAL || p->form == FORM_INFO;
}

static bool goes_through_map(const struct param *p) {
  enum form form = p->form == FORM_IDX ? p->reach : p->form;
  return form == FORM_COLUMN || form == FORM_VECTOR;
}

/* May two parameters of one loop be one dat? */
static bool may_share(const struct param *a, const struct param *b) {
  const int access = a->access;
  return access == b->access &&
         (access == OP_READ || access == OP_INC || access == OP_MIN || access == OP_MAX);
}

static bool fits_dat(const struct binding *b, const struct world *w, int dat, int p, int set) {
  const struct param *param = &b->kernel->params[p];
  const struct wdat *d = &w->dats[dat];
  if (!d->handle || d->given || d->set != set || d->dim != param->dim || d->type != param->type ||
      d->boxed != param->boxed || (is_ragged(param) && d->soa && d->dim > 1) ||
      (d->tolerance > 0 && param->access != OP_WRITE))
    return false;
  for (int q = 0; q < p; q++)
    if (b->dat[q] == dat && !may_share(param, &b->kernel->params[q]))
      return false;
  return true;
}

static int find_dat(const struct binding *b, struct world *w, int p, int set, const struct coverage *c) {
  const struct param *param = &b->kernel->params[p];
  int start = w->ndats ? random_below(&w->random, w->ndats) : 0;
  if (random_chance(&w->random, w->direct ? 90 : 55))
    for (int i = 0; i < w->ndats; i++)
      if (fits_dat(b, w, (start + i) % w->ndats, p, set))
        return (start + i) % w->ndats;
  bool soa =
      random_chance(&w->random, 95) ? coverage_rarer(c, param) == LAYOUT_SOA : random_chance(&w->random, 50);
  soa &= !is_ragged(param) || param->dim == 1;
  return world_dat(w, set, param->dim, param->type, param->boxed ? W_BOXED : soa ? W_SOA : W_AOS);
}

/* May elements share the targets of this argument? On several ranks they may where they change one row only: there is an
 * order then, its owner's. */
static enum wsharing sharing_of(const struct binding *b, const struct world *w, const struct param *p) {
  if (p->access != OP_WRITE && p->access != OP_RW)
    return W_ANY;
  return p->meets && !w->none_meets && (b->kernel->lone || (ranks_count() == 1 && !w->mirrored)) ? W_ONCE
                                                                                                 : W_ALONE;
}

/* All of the kernel's arguments by it count. */
static bool bind_ragged(struct binding *b, struct world *w, int number) {
  enum wsharing sharing = W_ANY;
  for (int p = 0; p < b->kernel->nparams; p++) {
    const struct param *q = &b->kernel->params[p];
    if (q->form == FORM_RAGGED && q->ragged == number && sharing_of(b, w, q) > sharing)
      sharing = sharing_of(b, w, q);
  }
  b->ragged[number] = world_ragged(w, b->set, sharing, b->ragged[1 - number]);
  return b->ragged[number] >= 0;
}

/* For each element, and each of its targets through a vector or a ragged map, a component of the target that no other
 * element gets; -1 where there are too few. */
static int parts_for(const struct binding *b, struct world *w, int of) {
  const struct param *p = &b->kernel->params[of];
  const struct wmap *m = &w->maps[b->map[of]];
  const int elements = w->sets[m->from].size, width = is_vector(p) ? p->width : 1;
  const long count = m->offsets ? (long)m->offsets[elements] : (long)elements * width;
  int *parts = calloc((size_t)count + 1, sizeof *parts),
      *next = calloc((size_t)w->sets[m->to].size + 1, sizeof *next);
  if (!parts || !next)
    abort();
  for (long i = 0; i < count; i++) {
    const int target = m->offsets || is_vector(p) ? m->table[i] : m->table[i * m->arity + p->column];
    const int used = next[target]++;
    parts[i] = used < p->dim ? (target + used) % p->dim : -1;
  }
  const int dat = world_dat_of(w, m->offsets ? m->entries : m->from, width, V_INT, W_AOS, parts);
  free(parts);
  free(next);
  return dat;
}

static bool bind_reach(struct binding *b, struct world *w, int p, const struct coverage *c) {
  const struct param *param = &b->kernel->params[p];
  int set = b->set;
  if (goes_through_map(param)) {
    bool vector = is_vector(param) || param->reach == FORM_VECTOR;
    const int other = param->twin < 0 ? -1 : b->kernel->params[param->twin].column;
    b->map[p] = param->with >= 0 ? b->map[param->with]
                : other >= 0 ? world_map(w, b->set, (other > param->column ? other : param->column) + 1, -1,
                                         sharing_of(b, w, param))
                             : world_map(w, b->set, vector ? param->width : -1, vector ? -1 : param->column,
                                         sharing_of(b, w, param));
    if (b->map[p] < 0)
      return false;
    set = w->maps[b->map[p]].to;
  }
  if (is_ragged(param)) {
    if (b->ragged[param->ragged] < 0 && !bind_ragged(b, w, param->ragged))
      return false;
    b->map[p] = b->ragged[param->ragged];
    const struct wmap *m = &w->maps[b->map[p]];
    set = param->form == FORM_ENTRY ? m->entries : m->to;
  }
  if (!is_dat(param))
    return true;
  b->dat[p] = param->twin >= 0 && param->with >= 0 ? b->dat[param->with]
              : param->says_parts                  ? parts_for(b, w, param->with)
                                                   : find_dat(b, w, p, set, c);
  return b->dat[p] >= 0;
}

static void bind_global(struct binding *b, struct world *w, int p) {
  const struct param *param = &b->kernel->params[p];
  size_t size = vtypes[param->type].size;
  for (int c = 0; c < param->dim; c++)
    world_value(w, param->type, b->model[p] + (size_t)c * size);
  int there = random_chance(&w->random, 60);
  for (int q = 0; q < b->kernel->nparams; q++)
    if (b->kernel->params[q].flag == p) {
      memcpy(b->model[p], &there, sizeof there);
      b->present[q] = there != 0;
    }
}

/* A result that stays with the library. Those that go with a payload do not. */
static void keep_global(struct binding *b, struct world *w, int p) {
  const struct param *param = &b->kernel->params[p];
  bool stays = w->keeps && param->form == FORM_GLOBAL && !param->optional && param->access != OP_READ &&
               param->access != OP_WORK;
  for (int q = 0; q < b->kernel->nparams; q++)
    stays &= b->kernel->params[q].form != FORM_INFO || b->kernel->params[q].ref != p;
  if (stays)
    b->kept[p] = world_kept(w, param->dim, param->type, b->model[p]);
}

/* Loops that can be fused are over one set, or in every third world all over one subset. -1: the set. */
static int choose_subset(struct world *w, const struct kernel *k, int set) {
  if (w->direct)
    return w->seed % 3 ? -1 : w->nsubsets ? 0 : world_subset(w, set);
  return !k->single && random_chance(&w->random, 30) ? world_subset(w, set) : -1;
}

bool binding_make(struct binding *b, struct world *w, const struct kernel *k, const char *text,
                  const struct coverage *c) {
  memset(b, 0, sizeof *b);
  b->kernel = k;
  b->text = text;
  b->set = w->direct && w->nsets ? 0 : world_set(w, k->single ? 1 : -1);
  if (b->set < 0)
    return false;
  b->ragged[0] = b->ragged[1] = -1;
  b->subset = choose_subset(w, k, b->set);
  for (int p = 0; p < k->nparams; p++) {
    b->map[p] = b->dat[p] = b->kept[p] = -1;
    b->present[p] |= !k->params[p].optional;
    if (is_global(&k->params[p]))
      bind_global(b, w, p);
    else if (!bind_reach(b, w, p, c))
      return false;
  }
  for (int p = 0; p < k->nparams; p++)
    keep_global(b, w, p);
  memcpy(b->library, b->model, sizeof b->model);
  return true;
}

void binding_new_values(struct binding *b, struct world *w) {
  for (int p = 0; p < b->kernel->nparams; p++) {
    const struct param *param = &b->kernel->params[p];
    bool is_flag = false;
    for (int q = 0; q < b->kernel->nparams; q++)
      is_flag |= b->kernel->params[q].flag == p;
    for (int c = 0; param->form == FORM_GLOBAL && param->access == OP_READ && !is_flag && c < param->dim; c++)
      world_value(w, param->type, b->model[p] + (size_t)c * vtypes[param->type].size);
  }
  memcpy(b->library, b->model, sizeof b->model);
}

/* ---- the model --------------------------------------------------------------------------------*/

static void aim(const struct binding *b, struct world *w, struct frame *f, int p, int element, int *numbers) {
  const struct param *param = &b->kernel->params[p];
  if (is_ragged(param)) {
    const struct wmap *m = &w->maps[b->map[p]];
    const long long first = m->offsets[element];
    f->ragged[p].count = (int)(m->offsets[element + 1] - first);
    f->ragged[p].targets = param->form == FORM_ENTRY ? NULL : m->table + first;
    f->ragged[p].rows = wdat_row(&w->dats[b->dat[p]], param->form == FORM_ENTRY ? (int)first : 0);
    return;
  }
  const int *row =
      b->map[p] >= 0 ? w->maps[b->map[p]].table + (size_t)element * (size_t)w->maps[b->map[p]].arity : NULL;
  bool column = param->form == FORM_COLUMN || (param->form == FORM_IDX && param->reach == FORM_COLUMN);
  if (param->form == FORM_IDX) {
    for (int n = 0; n < MAX_WIDTH; n++)
      numbers[n] = !row ? element : column ? row[param->column] : n < param->width ? row[n] : -1;
    f->at[p][0] = (unsigned char *)numbers;
  } else if (!row)
    f->at[p][0] = wdat_row(&w->dats[b->dat[p]], element);
  else if (column)
    f->at[p][0] = wdat_row(&w->dats[b->dat[p]], row[param->column]);
  else
    for (int n = 0; n < param->width; n++)
      f->at[p][n] = wdat_row(&w->dats[b->dat[p]], row[n]);
}

static void run_model(struct binding *b, struct world *w) {
  struct frame f = {.kernel = b->kernel, .odd = w->odd};
  int numbers[MAX_PARAMS][MAX_WIDTH];
  for (int p = 0; p < b->kernel->nparams; p++)
    f.at[p][0] = b->model[p];
  for (int e = 0; e < w->sets[b->set].size; e++) {
    if (b->subset >= 0 && !w->subsets[b->subset].in[e])
      continue;
    for (int p = 0; p < b->kernel->nparams; p++)
      if (!is_global(&b->kernel->params[p]) && b->present[p])
        aim(b, w, &f, p, e, numbers[p]);
    kernel_run(&f);
  }
  for (int p = 0; p < b->kernel->nparams; p++)
    if (b->kept[p] >= 0)
      memcpy(w->kept[b->kept[p]].value, b->model[p], sizeof b->model[p]);
  for (int p = 0; p < b->kernel->nparams; p++)
    if (b->dat[p] >= 0 && b->present[p] && b->kernel->params[p].inexact && w->sets[b->set].size)
      w->dats[b->dat[p]].tolerance =
          b->kernel->single_work || b->kernel->params[p].type == V_FLOAT ? 1e-5 : 1e-12;
}

/* ---- the library ------------------------------------------------------------------------------*/

static const char *const access_words[] = {"OP_READ", "OP_WRITE", "OP_RW",  "OP_INC",
                                           "OP_MIN",  "OP_MAX",   "OP_WORK"};

/* The type of an argument, and how many of it: one struct, or values. */
static int said_type(const struct param *param, bool alias, char *type, size_t size) {
  const struct vtype_info *t = &vtypes[param->type];
  if (param->boxed)
    box_name(param->type, param->dim, type, size);
  else
    snprintf(type, size, "%s", alias && t->alias ? t->alias : t->c);
  return param->boxed ? 1 : param->dim;
}

static op_arg dat_arg(const struct binding *b, struct world *w, int p, int idx, op_map map,
                      const char *map_word) {
  const struct param *param = &b->kernel->params[p];
  char type[24];
  const int dim = said_type(param, param->spelling & 1, type, sizeof type);
  op_dat dat = w->dats[b->dat[p]].handle;
  op_access access = (op_access)param->access;
  if (!param->optional) {
    const bool known = param->meets && param->spelling & 1;
    world_say(w, "%s", known ? ",\n  op_arg_may_meet(" : ",\n  ");
    world_say(w, "op_arg_dat(d%d, %d, %s, %d, \"%s\", %s)", b->dat[p], idx, map_word, dim, type,
              access_words[access]);
    world_say(w, "%s", known ? ")" : "");
    const op_arg arg = op_arg_dat(dat, idx, map, dim, type, access);
    return known ? op_arg_may_meet(arg) : arg;
  }
  /* An absent argument may have no dat either. */
  bool nothing = !b->present[p] && param->spelling > 1;
  char word[16] = "NULL";
  if (!nothing)
    snprintf(word, sizeof word, "d%d", b->dat[p]);
  world_say(w, ",\n  op_opt_arg_dat(%d, %s, %d, %s, %d, \"%s\", %s)", b->present[p], word, idx, map_word, dim,
            type, access_words[access]);
  return op_opt_arg_dat(b->present[p], nothing ? NULL : dat, idx, map, dim, type, access);
}

static op_arg global_arg(struct binding *b, struct world *w, int p) {
  const struct param *param = &b->kernel->params[p];
  char type[24];
  const int dim = said_type(param, false, type, sizeof type);
  op_access access = (op_access)param->access;
  if (param->form == FORM_INFO) {
    world_say(w, ",\n  op_arg_info(g%d, %d, \"%s\", %d)", p, dim, type, param->ref + 1);
    return op_arg_info(b->library[p], dim, type, param->ref + 1);
  }
  if (b->kept[p] >= 0) {
    world_say(w, ",\n  op_arg_global(k%d, %s)", b->kept[p], access_words[access]);
    return op_arg_global(w->kept[b->kept[p]].handle, access);
  }
  bool nothing = param->spelling > 1 && (access == OP_WORK || !b->present[p]);
  void *data = nothing ? NULL : b->library[p];
  char word[16] = "NULL";
  if (data)
    snprintf(word, sizeof word, "g%d", p);
  if (!param->optional) {
    world_say(w, ",\n  op_arg_gbl(%s, %d, \"%s\", %s)", word, dim, type, access_words[access]);
    return op_arg_gbl(data, dim, type, access);
  }
  world_say(w, ",\n  op_opt_arg_gbl(%d, %s, %d, \"%s\", %s)", b->present[p], word, dim, type,
            access_words[access]);
  return op_opt_arg_gbl(b->present[p], data, dim, type, access);
}

static op_arg make_arg(struct binding *b, struct world *w, int p) {
  const struct param *param = &b->kernel->params[p];
  if (is_global(param))
    return global_arg(b, w, p);
  op_map map = b->map[p] < 0 ? OP_ID : w->maps[b->map[p]].handle;
  char word[16] = "OP_ID";
  if (b->map[p] >= 0)
    snprintf(word, sizeof word, "m%d", b->map[p]);
  bool column = param->form == FORM_COLUMN || (param->form == FORM_IDX && param->reach == FORM_COLUMN);
  int idx = b->map[p] < 0 ? -1 : column ? param->column : is_ragged(param) ? OP_ALL : -param->width;
  if (param->form != FORM_IDX)
    return dat_arg(b, w, p, idx, map, word);
  world_say(w, ",\n  op_arg_idx(%d, %s)", idx, word);
  return op_arg_idx(idx, map);
}

static void say_globals(const struct binding *b, struct world *w) {
  for (int p = 0; p < b->kernel->nparams; p++) {
    const struct param *param = &b->kernel->params[p];
    if (!is_global(param))
      continue;
    world_say(w, "%s g%d[] = ", vtypes[param->type].c, p);
    world_say_values(w, param->type, b->library[p], param->dim);
    world_say(w, ";\n");
  }
}

static bool same_globals(const struct binding *b, struct world *w) {
  w->looks++;
  for (int p = 0; p < b->kernel->nparams; p++) {
    const struct param *param = &b->kernel->params[p];
    if (!is_global(param) || param->access == OP_WORK || b->kept[p] >= 0)
      continue;
    size_t size = vtypes[param->type].size;
    if (w->odd && op_is_root())
      world_hash(w, param->type, param->dim, b->library[p], p, p);
    for (int c = 0; c < param->dim && !w->odd; c++)
      if (!value_same(param->type, b->model[p] + (size_t)c * size, b->library[p] + (size_t)c * size, 0)) {
        char x[40], y[40];
        value_print(param->type, b->model[p] + (size_t)c * size, x, sizeof x);
        value_print(param->type, b->library[p] + (size_t)c * size, y, sizeof y);
        world_fail(w, "argument %d (%s, %s, dim %d): component %d is %s, should be %s", p + 1,
                   param->form == FORM_INFO ? "info" : access_words[param->access], vtypes[param->type].c,
                   param->dim, c, y, x);
        return false;
      }
  }
  return true;
}

static bool is_repeated(const struct binding *b, int p) {
  bool repeated = false;
  for (int q = 0; q < p; q++)
    repeated |= b->dat[p] >= 0 && b->dat[q] == b->dat[p] && b->present[p] && b->present[q];
  return repeated;
}

/* Cases that loops which can be fused must have now and then. */
static void count_drawn(const struct binding *b, struct coverage *c) {
  for (int p = 0; p < b->kernel->nparams; p++) {
    const struct param *param = &b->kernel->params[p];
    const bool reduces = param->access == OP_INC || param->access == OP_MIN || param->access == OP_MAX;
    c->drawn[DRAWN_ABSENT] += !b->present[p];
    c->drawn[DRAWN_REPEATED] += is_repeated(b, p);
    c->drawn[DRAWN_NUMBERS] += param->form == FORM_IDX;
    c->drawn[DRAWN_RESULTS] += param->form == FORM_GLOBAL && reduces && b->present[p];
  }
  c->drawn[DRAWN_SUBSETS] += b->subset >= 0;
}

/* Do two elements that run have one target of this argument? */
static bool do_meet(const struct binding *b, const struct world *w, int p) {
  const struct param *param = &b->kernel->params[p];
  const struct wmap *m = &w->maps[b->map[p]];
  bool *taken = calloc((size_t)w->sets[m->to].size + 1, 1), meet = false;
  if (!taken)
    abort();
  for (int e = 0; !meet && e < w->sets[b->set].size; e++) {
    if (b->subset >= 0 && !w->subsets[b->subset].in[e])
      continue;
    const long row = m->offsets ? (long)m->offsets[e] : (long)e * m->arity;
    const long first = is_vector(param) || m->offsets ? row : row + param->column;
    const long end = m->offsets ? (long)m->offsets[e + 1] : is_vector(param) ? row + m->arity : first + 1;
    for (long i = first; i < end; i++) {
      meet |= taken[m->table[i]];
      taken[m->table[i]] = true;
    }
  }
  free(taken);
  return meet;
}

static void count_meeting(const struct binding *b, const struct world *w, struct coverage *c) {
  for (int p = 0; p < b->kernel->nparams; p++)
    if (b->kernel->params[p].meets && b->present[p] && do_meet(b, w, p))
      coverage_count_meeting(c, &b->kernel->params[p], w->dats[b->dat[p]].soa, b->subset >= 0);
}

static void count(const struct binding *b, const struct world *w, struct coverage *c) {
  if (w->sets[b->set].size == 0)
    return;
  count_drawn(b, c);
  count_meeting(b, w, c);
  c->loops++;
  c->elements += w->sets[b->set].size;
  for (int p = 0; p < b->kernel->nparams; p++)
    if (b->present[p] && b->kernel->params[p].boxed)
      c->boxed[b->kernel->params[p].access]++;
    else if (b->present[p])
      coverage_count(c, &b->kernel->params[p],
                     b->dat[p] < 0            ? LAYOUT_GLOBAL
                     : w->dats[b->dat[p]].soa ? LAYOUT_SOA
                                              : LAYOUT_AOS);
}

bool binding_run(struct binding *b, struct world *w, struct coverage *c) {
  op_arg args[MAX_PARAMS];
  world_say(w, "{\n");
  say_globals(b, w);
  world_say(w, "op_par_loop(text_%s, \"%s\", %s%d", b->kernel->name, b->kernel->name,
            b->subset < 0 ? "s" : "u", b->subset < 0 ? b->set : b->subset);
  for (int p = 0; p < b->kernel->nparams; p++)
    args[p] = make_arg(b, w, p);
  world_say(w, ");\n}\n");
  run_model(b, w);
  long long loops = op_counters()->loops;
  const op_set set = b->subset < 0 ? w->sets[b->set].handle : w->subsets[b->subset].handle;
  int code = op_par_loop_array(b->text, b->kernel->name, set, b->kernel->nparams, args, __FILE__, __LINE__);
  if (code != OP_OK)
    world_fail(w, "op_par_loop failed: %s: %s", op_last_error()->name, op_last_error()->message);
  else if (op_counters()->loops != loops + 1)
    world_fail(w, "op_counters()->loops went from %lld to %lld", loops, op_counters()->loops);
  else if (same_globals(b, w))
    count(b, w, c);
  return ranks_agree(w->failure.length == 0);
}
