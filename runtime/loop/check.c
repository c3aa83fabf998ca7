#include <limits.h>
#include <string.h>

#include "base/list.h"
#include "context/context.h"
#include "context/env.h"
#include "context/forced.h"
#include "loop/loop.h"
#include "loop/matrix.h"
#include "mesh/data.h"
#include "mesh/handles.h"
#include "mesh/ragged.h"
#include "mesh/subset.h"

int loop_refuse(struct error *err, int code, const char *loop, int argument, const char *format,
                va_list args) {
  struct text message = {0};
  text_vaddf(&message, format, args);
  if (argument)
    error_set(err, code, "loop %s, argument %d: %s", loop, argument, text_str(&message));
  else
    error_set(err, code, "loop %s: %s", loop, text_str(&message));
  text_free(&message);
  return code;
}

/* Every message starts with the loop, and those about an argument with its number, counted from 1. */
struct check {
  struct op_context *ctx;
  struct loop *loop;
  const op_arg *said;
  struct loop_arg *arg;
  int number;
  size_t scratch; /* bytes of OP_WORK arguments so far */
  struct error *err;
};

static int fail(const struct check *c, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static int fail(const struct check *c, int code, const char *format, ...) {
  va_list args;
  va_start(args, format);
  loop_refuse(c->err, code, c->loop->name, c->number, format, args);
  va_end(args);
  return code;
}

/* A struct is not combined. */
static int check_struct_access(const struct check *c, enum type_code type) {
  const int access = c->said->access_;
  if (!type_is_struct(type) || !access_reduces(access))
    return OP_OK;
  return fail(c, OP_ERR_ACCESS,
              "%s combines numbers, and the type is \"%s\"; declare the argument OP_RW if no two elements "
              "meet in one "
              "value, or put what is combined into data of numbers",
              access_name(access), type_info(type)->name);
}

static int check_access(const struct check *c, bool dat, const char *kind, const char *names) {
  int access = c->said->access_;
  if (access < 0 || access >= ACCESSES)
    return fail(c, OP_ERR_ACCESS, "the access %d is unknown; expected, for %s, one of %s",
                access + (c->ctx->compiled ? c->ctx->columns_base : 0), kind, names);
  if (dat && !access_rows[access].of_dats)
    return fail(c, OP_ERR_ACCESS, "the access %s is not allowed for %s; expected one of %s",
                access_name(access), kind, names);
  return OP_OK;
}

static const char *said_type(const struct check *c, int code) {
  return type_said((enum type_code)code, c->ctx->columns_base != 0);
}

/* The pointer is to another type than the one that was said. */
static int check_pointed(const struct check *c, const char *said) {
  struct text wrong = {0};
  type_tell_misfit(type_parse(said, NULL), type_info((enum type_code)c->said->pointed_)->name,
                   "the pointer is to a C variable", "Pass", c->ctx->columns_base ? NULL : "void *", &wrong);
  fail(c, OP_ERR_TYPE, "%s", text_str(&wrong));
  text_free(&wrong);
  return OP_ERR_TYPE;
}

static int check_type(const struct check *c) {
  if (c->said->type_ != TYPE_NONE)
    return OP_OK;
  const char *said = c->said->said_length_ ? c->said->said_ : NULL;
  if (c->said->pointed_ == POINTED_SECTION)
    return fail(
        c, OP_ERR_DIM,
        "the array is a section whose values do not lie one behind the other; pass an array of its own, "
        "and copy a result behind the loop");
  if (c->said->pointed_ == POINTED_SHORT)
    return fail(c, OP_ERR_DIM, "the dim is %d, and the variable has room for %d", c->said->dim_,
                c->said->said_length_);
  if (c->said->pointed_)
    return check_pointed(c, said);
  if (said && strchr(said, ':'))
    return fail(c, OP_ERR_TYPE,
                "the type \"%s\" is not one for an argument; only a dat's may end in :soa, "
                "name the plain type here",
                said);
  if (c->ctx->columns_base)
    return fail(c, OP_ERR_TYPE, "the type \"%s\" is unknown; expected one of %s", said ? said : "",
                type_names_in_fortran());
  struct text wrong = {0};
  type_tell_unknown(said, &wrong);
  fail(c, OP_ERR_TYPE, "%s", text_str(&wrong));
  text_free(&wrong);
  return OP_ERR_TYPE;
}

static int check_dim(const struct check *c) {
  if (c->said->dim_ < 1)
    return fail(c, OP_ERR_DIM, "the dim is %d; expected 1 or more", c->said->dim_);
  return OP_OK;
}

static const char *kind_of(const struct set *set) {
  return set->sub ? "subset" : "set";
}

/* The data of a subset lie at its parent's elements. */
static int check_own(const struct check *c, struct set **target) {
  const struct subset *sub = c->loop->set->sub;
  if (!sub || c->said->form_ != DESC_DAT)
    return OP_OK;
  c->arg->map = sub->own;
  c->arg->idx = 0;
  *target = sub->parent;
  return OP_OK;
}

/* A subset has maps of its own. NULL: the error is set. */
static struct map *map_of_set(const struct check *c, struct map *map) {
  return c->loop->set->sub ? subset_map(c->ctx, c->loop->set, map, c->err) : map;
}

/* As many rows as the element has targets. Their numbers are a dat on the entries. */
static int check_ragged(const struct check *c, struct map *map, struct set **target) {
  if (c->said->idx_ != OP_ALL)
    return fail(c, OP_ERR_INDEX,
                "the index is %d, but map \"%s\" is ragged; pass OP_ALL, for all its targets", c->said->idx_,
                map->name);
  if (c->loop->compiled)
    return fail(c, OP_ERR_MAP_SET,
                "map \"%s\" is ragged, and the kernel is a function of a program of OP2, which knows none",
                map->name);
  c->arg->map = map_of_set(c, map);
  c->arg->idx = -1;
  *target = map->to;
  if (c->arg->map && c->said->form_ == DESC_IDX) {
    c->arg->form = DESC_DAT;
    c->arg->entry = true;
    c->arg->dat = ragged_targets(c->ctx, map, c->err);
    return c->arg->dat ? OP_OK : c->err->code;
  }
  return c->arg->map ? OP_OK : c->err->code;
}

/* Rows of a handle are whole in memory. What lies apart only because all dats should will be laid in rows (loop.c). */
static int check_rows(const struct check *c, const struct dat *dat) {
  if (!c->arg->map || !c->arg->map->first || !dat->apart)
    return OP_OK;
  const bool named = forced_names_dat(env_value(c->ctx->env, ENV_VARIANT), dat->name);
  if (!dat->asked_soa && !named)
    return OP_OK;
  return fail(
      c, OP_ERR_TYPE,
      "map \"%s\" is ragged, and dat \"%s\" keeps its components apart (soa); rows behind a ragged map "
      "must be whole: %s%s",
      c->arg->map->name, dat->name,
      named ? "leave out OP2_VARIANT's word soa=" : "declare it without \":soa\"", named ? dat->name : "");
}

/* The map, or direct; `target` is the set where it leads. */
static int check_map(const struct check *c, struct set **target) {
  struct loop *loop = c->loop;
  *target = loop->set;
  if (c->said->map_ == OP_ID) {
    if (c->said->idx_ == OP_ALL)
      return fail(c, OP_ERR_INDEX, "the index is OP_ALL with OP_ID, which leads to one row; expected -1");
    if (c->said->idx_ != -1)
      return fail(c, OP_ERR_INDEX, "the index is %d with OP_ID; expected -1 for a direct argument",
                  c->said->idx_);
    return check_own(c, target);
  }
  struct map *map = handle_object(c->ctx->handles, c->said->map_, HANDLE_MAP);
  if (!map)
    return fail(c, OP_ERR_HANDLE, "the map is %s; expected OP_ID or a map made by op_decl_map since op_init",
                handle_diagnosis(c->ctx->handles, c->said->map_, HANDLE_MAP));
  if (map->from != set_numbered(loop->set))
    return fail(c, OP_ERR_MAP_SET,
                "map \"%s\" starts at set \"%s\", but the loop runs over %s \"%s\"; pass a map from "
                "\"%s\", or run the loop over \"%s\"",
                map->name, map->from->name, kind_of(loop->set), loop->set->name,
                set_numbered(loop->set)->name, map->from->name);
  if (map->first)
    return check_ragged(c, map, target);
  int idx = c->said->idx_ == OP_ALL ? -map->arity : c->said->idx_;
  c->arg->idx = idx;
  if (idx >= map->arity || (idx < 0 && idx != -map->arity))
    return fail(c, OP_ERR_INDEX,
                "the index is %d, but map \"%s\" has arity %d; expected %d .. %d for one target, or %d "
                "for all as a vector",
                idx == NO_COLUMN ? 0
                : idx < 0        ? idx
                                 : idx + c->ctx->columns_base,
                map->name, map->arity, c->ctx->columns_base, map->arity - 1 + c->ctx->columns_base,
                -map->arity);
  c->arg->map = map_of_set(c, map);
  *target = map->to;
  return c->arg->map ? OP_OK : c->err->code;
}

static int check_dat_matches(const struct check *c, const struct dat *dat, const struct set *target) {
  if (dat->set != target && c->said->map_ != OP_ID && dat->set->entries_of)
    return fail(
        c, OP_ERR_MAP_SET,
        "map \"%s\" leads to set \"%s\", but dat \"%s\" is on the entries of map \"%s\"; pass that map",
        c->arg->map->name, target->name, dat->name, dat->set->entries_of->name);
  if (dat->set != target && c->said->map_ != OP_ID)
    return fail(c, OP_ERR_MAP_SET,
                "map \"%s\" leads to set \"%s\", but dat \"%s\" is on set \"%s\"; pass a map to \"%s\"",
                c->arg->map->name, target->name, dat->name, dat->set->name, dat->set->name);
  if (dat->set != target)
    return fail(c, OP_ERR_MAP_SET,
                "dat \"%s\" is on set \"%s\", but the loop runs over set \"%s\"%s; OP_ID needs a dat on "
                "the loop's own set, other dats need a map",
                dat->name, dat->set->name, target->name, c->loop->set->sub ? ", by a subset of it" : "");
  if (dat->dim != c->said->dim_)
    return fail(c, OP_ERR_DIM, "the dim is %d, but dat \"%s\" was declared with dim %d; pass %d",
                c->said->dim_, dat->name, dat->dim, dat->dim);
  if (dat->type != (enum type_code)c->said->type_)
    return fail(c, OP_ERR_TYPE, "the type is \"%s\", but dat \"%s\" was declared as \"%s\"; pass \"%s\"",
                said_type(c, c->said->type_), dat->name, said_type(c, (int)dat->type),
                said_type(c, (int)dat->type));
  if (c->said->soa_ && !dat->asked_soa)
    return fail(
        c, OP_ERR_TYPE,
        "the type is \"%s:soa\", but dat \"%s\" was declared as \"%s\"; pass \"%s\", or declare it with "
        ":soa",
        said_type(c, (int)dat->type), dat->name, said_type(c, (int)dat->type), said_type(c, (int)dat->type));
  return OP_OK;
}

static int check_dat(const struct check *c) {
  int code = check_access(c, true, "a dat", "OP_READ, OP_WRITE, OP_RW, OP_INC, OP_MIN, OP_MAX");
  if (!code)
    code = check_type(c);
  if (!code)
    code = check_dim(c);
  /* An absent argument may come without dat and map, but what is there must be right; the map also says
   * whether the kernel has a vector. */
  if (code || (!c->arg->present && !c->said->map_))
    return code;
  struct set *target = NULL;
  if (!c->arg->present && !c->said->dat_)
    return check_map(c, &target);
  struct dat *dat = handle_object(c->ctx->handles, c->said->dat_, HANDLE_DAT);
  if (!dat)
    return fail(c, OP_ERR_HANDLE, "the dat is %s; expected a dat made by op_decl_dat since op_init",
                handle_diagnosis(c->ctx->handles, c->said->dat_, HANDLE_DAT));
  code = check_map(c, &target);
  c->arg->entry = !code && c->arg->map && c->arg->map->entries && dat->set == c->arg->map->entries;
  if (!code)
    code = check_dat_matches(c, dat, c->arg->entry ? dat->set : target);
  if (!code)
    code = check_rows(c, dat);
  c->arg->dat = dat;
  dat->read |= c->said->access_ != OP_WRITE;
  return code ? code : check_struct_access(c, dat->type);
}

/* The global's own dim and type, or those that were said. */
static int check_value(const struct check *c) {
  if (c->said->form_ != DESC_GBL || c->said->idx_ != ARG_BY_HANDLE) {
    const int code = check_type(c);
    return code ? code : check_dim(c);
  }
  struct gbl *gbl = handle_object(c->ctx->handles, c->said->dat_, HANDLE_GBL);
  if (!gbl)
    return fail(c, OP_ERR_HANDLE, "the global is %s; expected a global made by op_decl_gbl since op_init",
                handle_diagnosis(c->ctx->handles, c->said->dat_, HANDLE_GBL));
  if (c->said->access_ == OP_WORK)
    return fail(c, OP_ERR_ACCESS, "OP_WORK leaves nothing that a global could keep; use op_arg_gbl");
  c->arg->gbl = gbl;
  c->arg->dim = gbl->dim;
  c->arg->type = gbl->type;
  c->arg->idx = -1;
  return OP_OK;
}

static int check_global(const struct check *c) {
  int code = check_access(c, false, "a global",
                          "OP_READ, OP_INC, OP_MIN, OP_MAX, OP_WORK, and OP_WRITE or OP_RW for "
                          "a set of one element");
  if (!code)
    code = check_value(c);
  if (!code)
    code = check_struct_access(c, c->arg->type);
  int access = c->said->access_;
  if (!code && access_assigns(access) && c->loop->set->global_size != 1)
    return fail(c, OP_ERR_ACCESS,
                "%s of a global needs a set of exactly one element, but set \"%s\" has %lld; use "
                "OP_INC, OP_MIN or OP_MAX to combine values of several elements",
                access_name(access), c->loop->set->name, c->loop->set->global_size);
  c->arg->started = c->loop->compiled && c->arg->present && access == OP_WORK && c->said->data_;
  if (!code && !c->arg->gbl && !c->said->data_ && c->arg->present && access != OP_WORK)
    return fail(c, OP_ERR_ARGUMENT, "the data is NULL; expected the address of %d of type %s", c->said->dim_,
                said_type(c, c->said->type_));
  return code;
}

static int check_number(const struct check *c) {
  struct set *target = NULL;
  if (!c->said->map_)
    return fail(c, OP_ERR_HANDLE,
                "the map is NULL; expected OP_ID or a map made by op_decl_map since op_init");
  int code = check_map(c, &target);
  c->arg->type = TYPE_INT;
  c->arg->access = OP_READ;
  c->arg->dim = !code && c->arg->map && !c->arg->map->first && c->said->idx_ < 0 ? c->arg->map->arity : 1;
  const struct set *numbered = c->arg->map ? c->arg->map->to : set_numbered(c->loop->set);
  if (!code && numbered->global_size > (long long)INT_MAX + 1)
    return fail(c, OP_ERR_SIZE,
                "set \"%s\" has %lld elements, and numbers beyond %d do not fit into the int that op_arg_idx "
                "passes; pass a dat of type \"long long\" with the numbers instead",
                numbered->name, numbered->global_size, INT_MAX);
  return code;
}

/* The reference of a payload may come after it, so this runs when all arguments are there. */
static int check_payload(const struct check *c) {
  int code = check_type(c);
  if (!code)
    code = check_dim(c);
  if (code)
    return code;
  if (type_is_struct((enum type_code)c->said->type_))
    return fail(c, OP_ERR_TYPE,
                "a payload is of numbers, and the type is \"%s\"; carry the element's number instead",
                type_info((enum type_code)c->said->type_)->name);
  int ref = c->said->ref_;
  if (ref < 1 || ref > c->loop->nargs)
    return fail(c, OP_ERR_ARGUMENT,
                "ref is %d; expected the number, from 1 to %d, of the OP_MIN or OP_MAX global that the "
                "payload goes with",
                ref, c->loop->nargs);
  struct loop_arg *global = &c->loop->args[ref - 1];
  bool extremum = access_is_extremum(global->access);
  if (global->form != DESC_GBL || !extremum || !global->present || global->dim != 1)
    return fail(c, OP_ERR_ARGUMENT,
                "ref is %d, but argument %d is not a present OP_MIN or OP_MAX global of dim 1; pass the "
                "number, counted from 1, of the global that the payload goes with",
                ref, ref);
  if (global->info >= 0)
    return fail(c, OP_ERR_ARGUMENT,
                "argument %d has a payload already, argument %d; combine both in one payload", ref,
                global->info + 1);
  if (!c->said->data_)
    return fail(c, OP_ERR_ARGUMENT, "the payload is NULL; expected the address of %d of type %s",
                c->said->dim_, said_type(c, c->said->type_));
  global->info = c->number - 1;
  c->arg->ref = ref - 1;
  c->arg->access = global->access;
  return OP_OK;
}

static int check_one(struct check *c) {
  static int (*const checks[])(const struct check *) = {
      [DESC_DAT] = check_dat, [DESC_GBL] = check_global, [DESC_IDX] = check_number, [DESC_INFO] = NULL};
  *c->arg = (struct loop_arg){.form = (enum desc_form)c->said->form_,
                              .idx = c->said->idx_,
                              .dim = c->said->dim_,
                              .access = c->said->access_,
                              .type = (enum type_code)c->said->type_,
                              .present = c->said->present_ != 0,
                              .ref = -1,
                              .info = -1};
  if (c->said->form_ == ARG_MATRIX) /* there is none, or it would be a dat now (matrix.c) */
    return fail(c, OP_ERR_HANDLE, MATRIX_IS_NONE,
                handle_diagnosis(c->ctx->handles, c->said->dat_, HANDLE_MATRIX));
  if ((unsigned)c->said->form_ > DESC_INFO)
    return fail(c, OP_ERR_ARGUMENT,
                "it was not made by op_arg_dat, op_arg_gbl, op_arg_idx or op_arg_info; pass what they "
                "return, and as many as nargs says");
  return checks[c->said->form_] ? checks[c->said->form_](c) : OP_OK;
}

/* It lies on the stack of whatever thread runs the element. */
static int check_scratch(struct check *c) {
  enum { MOST = 1 << 20 };
  if (c->arg->form != DESC_GBL || c->arg->access != OP_WORK || !c->arg->present)
    return OP_OK;
  if (c->arg->bytes <= MOST - c->scratch) {
    c->scratch += c->arg->bytes;
    return OP_OK;
  }
  return fail(
      c, OP_ERR_SIZE,
      "%d values of type %s are %zu bytes of scratch, and the OP_WORK arguments of a loop may have %d "
      "bytes together; pass a dat of that dim (op_decl_dat_temp) with OP_RW instead",
      c->arg->dim, said_type(c, (int)c->arg->type), c->arg->bytes, MOST);
}

int loop_check(struct op_context *ctx, struct loop *loop, struct error *err) {
  struct check c = {.ctx = ctx, .loop = loop, .err = err};
  loop->set = handle_object(ctx->handles, loop->key.set, HANDLE_SET);
  if (!loop->set)
    return fail(&c, OP_ERR_HANDLE, "the set is %s; expected a set made by op_decl_set since op_init",
                handle_diagnosis(ctx->handles, loop->key.set, HANDLE_SET));
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < loop->nargs; i++) {
      c.said = &loop->key.args[i];
      c.arg = &loop->args[i];
      c.number = i + 1;
      bool payload = c.said->form_ == DESC_INFO;
      int code = pass == 0 ? check_one(&c) : payload ? check_payload(&c) : OP_OK;
      if (!code && pass == 0 && !size_mul((size_t)c.arg->dim, type_info(c.arg->type)->size, &c.arg->bytes))
        code = fail(&c, OP_ERR_SIZE, "%d values are more than can be addressed; pass fewer", c.arg->dim);
      if (!code && pass == 0)
        code = check_scratch(&c);
      if (code)
        return code;
    }
  return loop_check_aliases(ctx, loop, err);
}
