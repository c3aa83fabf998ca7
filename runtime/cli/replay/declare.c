/* A capture as a program would say it: the only file here that is made of public calls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/size.h"
#include "cli/replay/replay.h"
#include "op2jit.h"

struct declared {
  const struct capture *c;
  op_set *sets, *subsets; /* subsets: of calls; NULL: the whole set */
  op_map *maps;
  op_dat *dats;
  op_gbl *globals;
  unsigned char **arrays; /* of dats that are views */
};

static bool make_lists(struct declared *d) {
  const struct capture *c = d->c;
  d->sets = array_new((size_t)c->nsets, sizeof(op_set));
  d->subsets = array_new((size_t)c->ncalls, sizeof(op_set));
  d->maps = array_new((size_t)c->nmaps, sizeof(op_map));
  d->dats = array_new((size_t)c->ndats, sizeof(op_dat));
  d->globals = array_new((size_t)c->nglobals, sizeof(op_gbl));
  d->arrays = array_new((size_t)c->ndats, sizeof *d->arrays);
  return d->sets && d->subsets && d->maps && d->dats && d->globals && d->arrays;
}

static op_map map_of(struct declared *d, long long m) {
  const struct capture_map *map = &d->c->maps[m];
  if (!d->maps[m] && map->arity)
    d->maps[m] = op_decl_map(d->sets[map->from], d->sets[map->to], (int)map->arity, map->table, map->name);
  else if (!d->maps[m])
    d->maps[m] = op_decl_map_ragged(d->sets[map->from], d->sets[map->to], map->first, map->table, map->name);
  return d->maps[m];
}

static bool declare_mesh(struct declared *d) {
  const struct capture *c = d->c;
  for (int s = 0; s < c->nsets; s++) {
    const long long m = c->sets[s].entries_of;
    d->sets[s] = m < 0 ? op_decl_set((int)c->sets[s].size, c->sets[s].name) : op_map_entries(map_of(d, m));
    if (!d->sets[s])
      return false;
  }
  for (int m = 0; m < c->nmaps; m++)
    if (!map_of(d, m))
      return false;
  for (int i = 0; i < c->ncalls; i++) {
    const struct capture_call *call = &c->calls[i];
    d->subsets[i] = call->elements
                        ? op_decl_subset(d->sets[call->set], (int)call->count, call->elements, "some")
                        : d->sets[call->set];
    if (!d->subsets[i])
      return false;
  }
  return true;
}

static bool declare_dat(struct declared *d, int i) {
  const struct capture_dat *dat = &d->c->dats[i];
  const size_t bytes = capture_bytes(d->c, dat);
  char type[128];
  snprintf(type, sizeof type, "%s%s", type_info(dat->type)->name, dat->soa ? ":soa" : "");
  if (!dat->view) {
    d->dats[i] = op_decl_dat(d->sets[dat->set], (int)dat->dim, type, dat->before, dat->name);
    return d->dats[i];
  }
  d->arrays[i] = malloc(bytes ? bytes : 1);
  if (!d->arrays[i])
    return false;
  if (bytes)
    memcpy(d->arrays[i], dat->before, bytes);
  d->dats[i] = op_decl_dat_view(d->sets[dat->set], (int)dat->dim, type, d->arrays[i], dat->name);
  return d->dats[i];
}

static bool declare_values(struct declared *d) {
  const struct capture *c = d->c;
  for (int i = 0; i < c->ndats; i++)
    if (!declare_dat(d, i))
      return false;
  for (int i = 0; i < c->nconstants; i++)
    if (op2jit_decl_const(c->constants[i].name, (int)c->constants[i].dim,
                          type_info(c->constants[i].type)->name, c->constants[i].before))
      return false;
  for (int i = 0; i < c->nglobals; i++)
    if (!(d->globals[i] = op2jit_decl_gbl((int)c->globals[i].dim, type_info(c->globals[i].type)->name,
                                          c->globals[i].before, c->globals[i].name)))
      return false;
  return true;
}

/* ---- calls ---- */

/* The numbers that elements had, and have here. */
static bool has_same_numbers(const struct capture *c, const struct capture_call *call,
                             const struct capture_arg *a) {
  const struct capture_map *map = a->map >= 0 ? &c->maps[a->map] : NULL;
  const int *numbers = (const int *)(const void *)c->dats[a->dat].before;
  for (long long i = 0; i < call->count; i++) {
    const long long e = call->elements ? call->elements[i] : i;
    for (long long k = 0; k < a->dim; k++) {
      const long long column = a->idx < 0 ? k : a->idx;
      if (numbers[e * a->dim + k] != (map ? map->table[e * map->arity + column] : e))
        return false;
    }
  }
  return true;
}

static op_arg make_dat(const struct declared *d, const struct capture_arg *a) {
  const op_map map = a->map < 0 ? OP_ID : d->maps[a->map];
  const op_arg arg = op_opt_arg_dat((int)a->present, a->dat < 0 ? NULL : d->dats[a->dat], (int)a->idx, map,
                                    (int)a->dim, type_info(a->type)->name, (op_access)a->access);
  return a->may_meet ? op_arg_may_meet(arg) : arg;
}

static op_arg make_arg(const struct declared *d, const struct capture_call *call, const struct capture_arg *a,
                       void *memory) {
  const char *type = type_info(a->type)->name;
  switch (a->form) {
  case DESC_GBL:
    return a->gbl >= 0 ? op_arg_global(d->globals[a->gbl], (op_access)a->access)
                       : op2jit_opt_arg_gbl_typed((int)a->present, memory, (int)a->dim, type,
                                                  (op_access)a->access, "");
  case DESC_INFO: return op2jit_arg_info_typed(memory, (int)a->dim, type, (int)a->ref + 1, "");
  case DESC_IDX:
    return has_same_numbers(d->c, call, a)
               ? op_arg_idx((int)a->idx, a->map < 0 ? OP_ID : d->maps[a->map])
               : op_arg_dat(d->dats[a->dat], -1, OP_ID, (int)a->dim, "int", OP_READ);
  default: return make_dat(d, a);
  }
}

/* Bytes of a variable, and what it takes in `memory` with others. */
static size_t bytes_of(const struct capture_arg *a) {
  return a->before ? (size_t)a->dim * type_info(a->type)->size : 0;
}

static size_t room_of(const struct capture_arg *a) {
  return (bytes_of(a) + 15) & ~(size_t)15;
}

/* Variables of one call: each has its place in `memory`. */
static int run_call(const struct declared *d, int i, unsigned char *memory, const struct places *places,
                    struct outcome *out) {
  const struct capture_call *call = &d->c->calls[i];
  op_arg args[OP_MAX_ARGS];
  size_t at = 0;
  for (int a = 0; a < call->nargs; a++) {
    const struct capture_arg *arg = &call->args[a];
    const size_t bytes = bytes_of(arg);
    if (bytes)
      memcpy(memory + at, arg->before, bytes);
    args[a] = make_arg(d, call, arg, bytes ? memory + at : NULL);
    at += room_of(arg);
  }
  const int code = op_par_loop_array(call->text, call->name, d->subsets[i], call->nargs, args,
                                     *call->file ? call->file : NULL, (int)call->line);
  for (int p = 0; !code && out && p < places->count; p++) {
    const struct place *place = &places->items[p];
    if (place->kind == PLACE_VARIABLE && place->number == i)
      memcpy(out->values + place->offset, args[place->arg].data_, place->bytes);
  }
  return code;
}

static size_t memory_of(const struct capture *c) {
  size_t most = 1;
  for (int i = 0; i < c->ncalls; i++) {
    size_t bytes = 0;
    for (int a = 0; a < c->calls[i].nargs; a++)
      bytes += room_of(&c->calls[i].args[a]);
    most = bytes > most ? bytes : most;
  }
  return most;
}

/* Loops that wait have run, and devices have ended, when this returns. */
static int run_all(const struct declared *d, unsigned char *memory, const struct places *places,
                   struct outcome *out, double *seconds) {
  const double start = op_wtime();
  int code = OP_OK;
  for (int i = 0; !code && i < d->c->ncalls; i++)
    code = run_call(d, i, memory, places, out);
  if (!code) {
    op_barrier();
    code = op_last_error()->code;
  }
  *seconds = op_wtime() - start;
  return code;
}

/* Dats and globals, between the library and an outcome; NULL: they get what they began with. */
static int move(const struct declared *d, const struct places *places, const struct outcome *out) {
  int code = OP_OK;
  for (int p = 0; !code && p < places->count; p++) {
    const struct place *place = &places->items[p];
    unsigned char *to = out ? out->values + place->offset : NULL;
    if (place->kind == PLACE_DAT)
      code = out ? op2jit_fetch_data(d->dats[place->number], to)
                 : op2jit_put_data(d->dats[place->number], place->before);
    else if (place->kind == PLACE_GLOBAL)
      code = out ? op2jit_get_gbl(d->globals[place->number], to)
                 : op2jit_put_gbl(d->globals[place->number], place->before);
  }
  return code;
}

int replay_calls(const struct capture *c, const struct places *places, int times, struct outcome *out) {
  struct declared d = {.c = c};
  unsigned char *memory = malloc(memory_of(c));
  if (!memory || !make_lists(&d))
    return OP_ERR_MEMORY;
  int code = OP_OK;
  for (int i = 0; !code && i < types_of_program()->count; i++) {
    const struct type_info *info = &types_of_program()->infos[i];
    op2jit_member members[64];
    for (int m = 0; m < info->nmembers && m < 64; m++)
      members[m] = (op2jit_member){
          info->members[m].name,
          type_info(info->members[m].type)->name ? type_info(info->members[m].type)->name : "",
          info->members[m].offset, info->members[m].size};
    code = op2jit_decl_type(info->name, info->size, info->nmembers, members);
  }
  if (!code && !(declare_mesh(&d) && declare_values(&d)))
    code = op_last_error()->code;
  if (!code)
    code = run_all(&d, memory, places, out, &out->first);
  if (!code)
    code = move(&d, places, out);
  for (int i = 0; !code && i < times; i++) {
    double seconds = 0;
    code = move(&d, places, NULL);
    if (!code)
      code = run_all(&d, memory, places, NULL, &seconds);
    if (!code && (i == 0 || seconds < out->best))
      out->best = seconds;
  }
  return code;
}
