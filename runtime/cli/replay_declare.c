/* A capture as a program would say it: the only file here that is made of public calls. They are made, or printed as C. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "cli/replay.h"
#include "include/op2jit.h"

struct scene {
  const struct capture *c;
  struct text *out;       /* they are printed; NULL: made */
  op_set *sets, *subsets; /* subsets: of calls; NULL: the whole set */
  op_map *maps;
  bool *said; /* maps that are declared */
  op_dat *dats;
  op_gbl *globals;
  unsigned char **memory; /* of variables, and of dats that are views */
};

static bool scene_make(struct scene *s, const struct capture *c, struct text *out) {
  *s = (struct scene){.c = c, .out = out};
  s->sets = array_new((size_t)c->nsets, sizeof(op_set));
  s->subsets = array_new((size_t)c->ncalls, sizeof(op_set));
  s->maps = array_new((size_t)c->nmaps, sizeof(op_map));
  s->said = array_new((size_t)c->nmaps, sizeof *s->said);
  s->dats = array_new((size_t)c->ndata, sizeof(op_dat));
  s->globals = array_new((size_t)c->ndata, sizeof(op_gbl));
  s->memory = array_new((size_t)c->ndata, sizeof *s->memory);
  return s->sets && s->subsets && s->maps && s->said && s->dats && s->globals && s->memory;
}

static void scene_free(struct scene *s) {
  for (int i = 0; s->memory && i < s->c->ndata; i++)
    free(s->memory[i]);
  void *const arrays[] = {s->sets, s->subsets, s->maps, s->said, s->dats, s->globals, s->memory};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    free(arrays[i]);
}

/* ---- declarations: true if it is there ---- */

static bool declare_type(struct scene *s, int number) {
  enum { MOST = 64 };
  const struct type_info *info = &types_of_program()->infos[number];
  op2jit_member members[MOST];
  if (s->out)
    text_addf(s->out, "  const op2jit_member members%d[] = {", number);
  for (int m = 0; m < info->nmembers && m < MOST; m++) {
    const struct type_member *from = &info->members[m];
    const char *type = type_info(from->type)->name;
    members[m] = (op2jit_member){from->name, type ? type : "", from->offset, from->size};
    if (s->out)
      text_addf(s->out, "%s{\"%s\", \"%s\", %zu, %zu}", m ? ", " : "", from->name, type ? type : "",
                from->offset, from->size);
  }
  if (!s->out)
    return op2jit_decl_type(info->name, info->size, info->nmembers, members) == OP_OK;
  text_addf(s->out, "};\n  op2jit_decl_type(\"%s\", %zu, %d, members%d);\n", info->name, info->size,
            info->nmembers, number);
  return true;
}

static void end_call(struct scene *s, const char *name) {
  text_add_string(s->out, name);
  text_add(s->out, ");\n");
}

static bool declare_map(struct scene *s, long long m) {
  const struct capture_map *map = &s->c->maps[m];
  if (s->said[m])
    return true;
  s->said[m] = true;
  if (!s->out) {
    const op_set from = s->sets[map->from], to = s->sets[map->to];
    s->maps[m] = map->first ? op_decl_map_ragged(from, to, map->first, map->table, map->name)
                            : op_decl_map(from, to, (int)map->arity, map->table, map->name);
    return s->maps[m];
  }
  text_addf(s->out, "  op_map map%lld = op_decl_map%s(set%lld, set%lld, ", m, map->first ? "_ragged" : "",
            map->from, map->to);
  text_addf(s->out, map->first ? "first%lld, table%lld, " : "%lld, table%lld, ", map->first ? m : map->arity,
            m);
  end_call(s, map->name);
  return true;
}

static bool declare_set(struct scene *s, int i) {
  const struct capture_set *set = &s->c->sets[i];
  const long long m = set->entries_of;
  if (m >= 0 && !declare_map(s, m))
    return false;
  if (!s->out) {
    s->sets[i] = m < 0 ? op_decl_set((int)set->size, set->name) : op_map_entries(s->maps[m]);
    return s->sets[i];
  }
  if (m >= 0)
    text_addf(s->out, "  op_set set%d = op_map_entries(map%lld);\n", i, m);
  else {
    text_addf(s->out, "  op_set set%d = op_decl_set(%lld, ", i, set->size);
    end_call(s, set->name);
  }
  return true;
}

static bool declare_subset(struct scene *s, int i) {
  const struct capture_call *call = &s->c->calls[i];
  if (s->out && call->elements)
    text_addf(s->out, "  op_set some%d = op_decl_subset(set%lld, %lld, elements%d, NULL);\n", i, call->set,
              call->count, i);
  else if (!s->out)
    s->subsets[i] = call->elements
                        ? op_decl_subset(s->sets[call->set], (int)call->count, call->elements, "some")
                        : s->sets[call->set];
  return s->out || s->subsets[i];
}

static void print_data(struct scene *s, int i) {
  const struct capture_data *d = &s->c->data[i];
  const char *type = type_info(d->type)->name;
  if (d->kind == CAPTURE_DAT)
    text_addf(s->out, "  op_dat dat%d = op_decl_dat%s(set%lld, %lld, \"%s%s\", (void *)data%d, ", i,
              d->view ? "_view" : "", d->set, d->dim, type, d->soa ? ":soa" : "", i);
  else if (d->kind == CAPTURE_CONSTANT)
    text_addf(s->out, "  op_decl_const(\"%s\", %lld, \"%s\", (void *)data%d);\n", d->name, d->dim, type, i);
  else if (d->kind == CAPTURE_GLOBAL)
    text_addf(s->out, "  op_gbl gbl%d = op_decl_gbl(%lld, \"%s\", (void *)data%d, ", i, d->dim, type, i);
  if (d->kind == CAPTURE_DAT || d->kind == CAPTURE_GLOBAL)
    end_call(s, d->name);
}

static bool make_data(struct scene *s, int i) {
  const struct capture_data *d = &s->c->data[i];
  const size_t bytes = capture_bytes(s->c, d);
  char type[128];
  snprintf(type, sizeof type, "%s%s", type_info(d->type)->name, d->soa ? ":soa" : "");
  s->memory[i] = d->view || d->kind == CAPTURE_VARIABLE ? array_new(bytes, 1) : NULL;
  if (s->memory[i])
    memcpy(s->memory[i], d->before, bytes);
  if (d->kind == CAPTURE_VARIABLE)
    return s->memory[i];
  if (d->kind == CAPTURE_CONSTANT)
    return op2jit_decl_const(d->name, (int)d->dim, type, d->before) == OP_OK;
  if (d->kind == CAPTURE_GLOBAL)
    return (s->globals[i] = op2jit_decl_gbl((int)d->dim, type, d->before, d->name));
  const op_set set = s->sets[d->set];
  if (!d->view)
    s->dats[i] = op_decl_dat(set, (int)d->dim, type, d->before, d->name);
  else if (s->memory[i])
    s->dats[i] = op_decl_dat_view(set, (int)d->dim, type, s->memory[i], d->name);
  return s->dats[i];
}

static bool declare(struct scene *s) {
  const struct capture *c = s->c;
  bool good = true;
  for (int i = 0; good && i < types_of_program()->count; i++)
    good = declare_type(s, i);
  for (int i = 0; good && i < c->nsets; i++)
    good = declare_set(s, i);
  for (int m = 0; good && m < c->nmaps; m++)
    good = declare_map(s, m);
  for (int i = 0; good && i < c->ncalls; i++)
    good = declare_subset(s, i);
  for (int i = 0; good && i < c->ndata; i++)
    if (s->out)
      print_data(s, i);
    else
      good = make_data(s, i);
  return good;
}

/* ---- calls, printed ---- */

static void print_dat_arg(const struct capture_arg *a, struct text *out) {
  const bool numbers = a->form == DESC_IDX; /* of elements, which the capture has as a dat */
  text_addf(out, "%sop_opt_arg_dat(%lld, ", a->may_meet ? "op_arg_may_meet(" : "", a->present);
  text_addf(out, a->data >= 0 ? "dat%lld, " : "NULL, ", a->data);
  if (numbers || a->map < 0)
    text_add(out, "-1, OP_ID");
  else if (a->idx == OP_ALL)
    text_addf(out, "OP_ALL, map%lld", a->map);
  else
    text_addf(out, "%lld, map%lld", a->idx, a->map);
  text_addf(out, ", %lld, \"%s\", %s)%s", a->dim, type_info(a->type)->name,
            numbers ? "OP_READ" : access_name((int)a->access), a->may_meet ? ")" : "");
}

static void print_arg(const struct capture *c, const struct capture_arg *a, struct text *out) {
  const char *type = type_info(a->type)->name;
  if (a->form == DESC_GBL && a->data >= 0 && c->data[a->data].kind == CAPTURE_GLOBAL)
    text_addf(out, "op_arg_global(gbl%lld, %s)", a->data, access_name((int)a->access));
  else if (a->form == DESC_GBL) {
    text_addf(out, "op_opt_arg_gbl(%lld, (void *)", a->present);
    text_addf(out, a->data >= 0 ? "data%lld" : "0", a->data);
    text_addf(out, ", %lld, \"%s\", %s)", a->dim, type, access_name((int)a->access));
  } else if (a->form == DESC_INFO)
    text_addf(out, "op_arg_info((void *)data%lld, %lld, \"%s\", %lld)", a->data, a->dim, type, a->ref + 1);
  else
    print_dat_arg(a, out);
}

void calls_print(const struct capture *c, struct text *out) {
  struct scene s;
  if (!scene_make(&s, c, out) || !declare(&s))
    text_add(out, "#error no memory\n");
  for (int i = 0; i < c->ncalls; i++) {
    const struct capture_call *call = &c->calls[i];
    text_addf(out, "  op_par_loop(kernel%d, \"%s\", ", i, call->name);
    text_addf(out, call->elements ? "some%lld" : "set%lld", call->elements ? i : call->set);
    for (int a = 0; a < call->nargs; a++) {
      text_add(out, ",\n              ");
      print_arg(c, &call->args[a], out);
    }
    text_add(out, ");\n");
  }
  scene_free(&s);
}

/* ---- calls, made ---- */

/* The numbers that elements had, and have here. */
static bool has_same_numbers(const struct capture *c, const struct capture_call *call,
                             const struct capture_arg *a) {
  const int *numbers = (const int *)(const void *)c->data[a->data].before;
  for (long long i = 0; i < call->count; i++) {
    const long long e = capture_element(call, i);
    const struct capture_reach reach = capture_reach(c, a, e);
    for (long long k = 0; k < a->dim; k++)
      if (numbers[e * a->dim + k] != capture_place(&reach, reach.begin + k))
        return false;
  }
  return true;
}

static op_arg make_arg(const struct scene *s, const struct capture_call *call, const struct capture_arg *a) {
  const char *type = type_info(a->type)->name;
  const int dim = (int)a->dim;
  const op_access access = (op_access)a->access;
  const op_map map = a->map < 0 ? OP_ID : s->maps[a->map];
  void *memory = a->data < 0 ? NULL : s->memory[a->data];
  if (a->form == DESC_GBL)
    return a->data >= 0 && s->globals[a->data]
               ? op_arg_global(s->globals[a->data], access)
               : op2jit_opt_arg_gbl_typed((int)a->present, memory, dim, type, access, "");
  if (a->form == DESC_INFO)
    return op2jit_arg_info_typed(memory, dim, type, (int)a->ref + 1, "");
  const op_dat dat = a->data < 0 ? NULL : s->dats[a->data];
  if (a->form == DESC_IDX)
    return has_same_numbers(s->c, call, a) ? op_arg_idx((int)a->idx, map)
                                           : op_arg_dat(dat, -1, OP_ID, dim, "int", OP_READ);
  const op_arg arg = op_opt_arg_dat((int)a->present, dat, (int)a->idx, map, dim, type, access);
  return a->may_meet ? op_arg_may_meet(arg) : arg;
}

/* Loops that wait have run, and devices have ended, when this returns. */
static int run_all(const struct scene *s, double *seconds) {
  const double start = op_wtime();
  int code = OP_OK;
  for (int i = 0; !code && i < s->c->ncalls; i++) {
    const struct capture_call *call = &s->c->calls[i];
    op_arg args[OP_MAX_ARGS];
    for (int a = 0; a < call->nargs; a++)
      args[a] = make_arg(s, call, &call->args[a]);
    code = op_par_loop_array(call->text, call->name, s->subsets[i], call->nargs, args,
                             *call->file ? call->file : NULL, (int)call->line);
  }
  if (!code) {
    op_barrier();
    code = op_last_error()->code;
  }
  *seconds = op_wtime() - start;
  return code;
}

/* Copies what calls change to an outcome; NULL: gives it the values that it began with. */
static int move(const struct scene *s, const struct places *places, const struct outcome *out) {
  int code = OP_OK;
  for (int p = 0; !code && p < places->count; p++) {
    const struct place *place = &places->items[p];
    const int i = place->number;
    const unsigned char *from = out ? s->memory[i] : place->data->before;
    unsigned char *to = out ? out->values + place->offset : s->memory[i];
    if (s->dats[i])
      code = out ? op2jit_fetch_data(s->dats[i], to) : op2jit_put_data(s->dats[i], from);
    else if (s->globals[i])
      code = out ? op2jit_get_gbl(s->globals[i], to) : op2jit_put_gbl(s->globals[i], from);
    else
      memcpy(to, from, capture_bytes(s->c, place->data));
  }
  return code;
}

int replay_calls(const struct capture *c, const struct places *places, int times, struct outcome *out) {
  struct scene s;
  if (!scene_make(&s, c, NULL))
    return OP_ERR_MEMORY;
  int code = declare(&s) ? OP_OK : op_last_error()->code ? op_last_error()->code : OP_ERR_MEMORY;
  if (!code)
    code = run_all(&s, &out->first);
  if (!code)
    code = move(&s, places, out);
  for (int i = 0; !code && i < times; i++) {
    double seconds = 0;
    code = move(&s, places, NULL);
    if (!code)
      code = run_all(&s, &seconds);
    if (!code && (i == 0 || seconds < out->best))
      out->best = seconds;
  }
  return code;
}
