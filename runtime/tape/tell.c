/* The public calls' reports to the tape that is alive. */
#include "tape/tell.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "context/context.h"
#include "loop/chain/queue.h"
#include "mesh/handles.h"
#include "mesh/subset.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "tape/tape.h"

/* It may be broken, and still has old values of dats. */
static struct tape *there(const struct op_context *ctx) {
  return ctx->tapes && !ctx->tapes->busy ? ctx->tapes->tape : NULL;
}

static struct tape *alive(const struct op_context *ctx) {
  struct tape *tape = there(ctx);
  return tape && !tape->broken ? tape : NULL;
}

/* A value that could be made of one that left. */
static int check_from_outside(const struct tape *tape, bool real, const char *name, const char *call,
                              struct error *err) {
  if (!tape->recording || !tape->left || tape->passive || !real)
    return OP_OK;
  return error_set(
      err, OP_ERR_STATE,
      "%s of \"%s\": values of the program go in, and before them some left that depend on the tape's "
      "inputs; if these do not depend on those, say so by op_tape_passive; else compute them in a loop",
      call, name ? name : "unnamed");
}

int tape_tell_declared(struct op_context *ctx, const char *type, const char *name, const char *call,
                       struct error *err) {
  const struct tape *tape = alive(ctx);
  bool soa;
  return tape ? check_from_outside(tape, type_is_real(type_parse(type, &soa)), name, call, err) : OP_OK;
}

int tape_tell_lent(struct op_context *ctx, struct dat *dat, struct error *err) {
  return alive(ctx) ? dat_leave_array(ctx, dat, err) : OP_OK;
}

/* Where ranks put different things, and some nothing, zeros are values too. */
static int take_values(struct op_context *ctx, struct tape *tape, struct event *event,
                       const struct thing *thing, const void *in, size_t bytes, struct error *err) {
  if (!in && comm_alone(ctx->comm))
    return OP_OK;
  const int code = keep_room(ctx, tape, thing->bytes, err);
  if (code)
    return code;
  event->values = array_new(bytes ? bytes : 1, 1);
  if (!event->values)
    return error_memory_of(err, "values that were put", thing_name(thing), bytes);
  if (in && bytes)
    memcpy(event->values, in, bytes);
  event->value_bytes = thing->bytes;
  keep_count(ctx, tape, thing->bytes);
  return OP_OK;
}

static int put(struct op_context *ctx, struct tape *tape, struct thing *thing, const void *in,
               struct error *err) {
  if (!tape->recording && (!thing->used || thing->changed >= tape->end))
    return OP_OK;
  const size_t bytes = thing->dat ? (size_t)thing->dat->set->size * thing->dat->row_bytes : thing->gbl->bytes;
  struct event *event = tape_event(tape, tape->recording ? EVENT_PUT : EVENT_OUTSIDE, err);
  int code = err->code;
  if (!code && tape->recording)
    code = take_values(ctx, tape, event, thing, in, bytes, err);
  thing->used = true;
  if (!code)
    code = tape_change(ctx, tape, event, thing, true, err);
  thing->varied = false;
  tape->broken |= code != OP_OK;
  return code;
}

int tape_put_zeros(struct op_context *ctx, struct thing *thing, struct error *err) {
  struct tape *tape = alive(ctx);
  if (!thing || (thing->dat && thing->dat->blank))
    return OP_OK;
  const int code = tape ? put(ctx, tape, thing, NULL, err) : OP_OK;
  return code ? code : thing_clear(ctx, thing, err);
}

/* Values from outside do not depend on the inputs: their dots are zero. */
static int stop_dot(struct op_context *ctx, const void *object, struct error *err) {
  const struct tapes *tapes = ctx->tapes;
  const struct thing *thing = tapes && tapes->tangents && !tapes->busy ? thing_find(tapes, object) : NULL;
  return thing ? tape_put_zeros(ctx, thing->dot, err) : OP_OK;
}

static int tell_put(struct op_context *ctx, struct thing *thing, const void *object, const void *in,
                    const char *call, struct error *err) {
  struct tape *tape = alive(ctx);
  int code = OP_OK;
  if (err->code)
    return err->code;
  /* Dots that are carried along are data of a tape, but no other companions. */
  if (thing && (!thing->companion || (thing->is_dot && ctx->tapes->tangents))) {
    if (in || !comm_alone(ctx->comm)) /* zeros are nobody's values */
      code = check_from_outside(tape, thing->real, thing_name(thing), call, err);
    if (code) /* on all ranks alike */
      return agree_on_success(ctx->agreement, code, err);
    code = put(ctx, tape, thing, in, err);
  }
  return code ? code : stop_dot(ctx, object, err);
}

int tape_tell_put(struct op_context *ctx, struct dat *dat, const void *in, const char *call,
                  struct error *err) {
  const struct tape *tape = alive(ctx);
  struct thing *thing = !tape             ? NULL
                        : tape->recording ? thing_of_dat(ctx, dat, err)
                                          : thing_find(ctx->tapes, dat);
  return tell_put(ctx, thing, dat, in, call, err);
}

int tape_tell_put_gbl(struct op_context *ctx, struct gbl *gbl, const void *in, const char *call,
                      struct error *err) {
  const struct tape *tape = alive(ctx);
  struct thing *thing = !tape             ? NULL
                        : tape->recording ? thing_of_gbl(ctx, gbl, err)
                                          : thing_find(ctx->tapes, gbl);
  return tell_put(ctx, thing, gbl, in, call, err);
}

/* A derivative is made for one value of it. */
static int check_integer(const struct tape *tape, const struct constant *constant, const char *call,
                         struct error *err) {
  for (int i = 0; i < tape->sites.count; i++) {
    const struct site *site = tape->sites.items[i];
    const bool by_hand = site->said && site->said->adjoint_text;
    for (int k = 0; site->known && !by_hand && k < site->nconstants; k++)
      if (site->constants[k] == constant && constant_is_integer(constant))
        return error_set(
            err, OP_ERR_STATE,
            "%s of \"%s\": a tape has loop %s, whose derivative is made for one value of this integer; call "
            "op_tape_free first, or op_tape_reverse for the last time; or give it to the loop with "
            "op_arg_gbl",
            call, constant->name, site->name);
  }
  return OP_OK;
}

static int note_constant(struct tape *tape, const struct constant *constant, const void *value,
                         struct error *err) {
  struct event *event = tape_event(tape, EVENT_CONSTANT, err);
  if (!event)
    return err->code;
  event->values = malloc(2 * constant->bytes);
  event->constant = strdup(constant->name);
  if (!event->values || !event->constant) {
    tape->broken = true;
    return error_memory_of(err, "the old value of constant", constant->name, 2 * constant->bytes);
  }
  event->value_bytes = constant->bytes;
  memcpy(event->values, constant->value, constant->bytes);
  memcpy(event->values + constant->bytes, value, constant->bytes);
  return OP_OK;
}

int tape_tell_constant(struct op_context *ctx, const char *name, const void *value, const char *call,
                       struct error *err) {
  struct tape *tape = alive(ctx);
  const struct constant *constant = ctx->tapes && name && value ? mesh_find_constant(ctx->mesh, name) : NULL;
  if (!constant)
    return OP_OK;
  struct thing *thing = thing_find(ctx->tapes, constant);
  const bool other = memcmp(constant->value, value, constant->bytes) != 0;
  /* Even the same value ends its dependence on the inputs. */
  const bool stops = thing && tape && tape->recording && thing->varied;
  if (tape && ((other && check_integer(tape, constant, call, err)) ||
               check_from_outside(tape, type_is_real(constant->type), name, call, err) ||
               ((other || stops) && note_constant(tape, constant, value, err))))
    return err->code;
  if (stops)
    thing->varied = false;
  return stop_dot(ctx, constant, err);
}

void tape_tell_left(struct op_context *ctx, const void *object) {
  struct tape *tape = alive(ctx);
  const struct thing *thing = tape && tape->recording ? thing_find(ctx->tapes, object) : NULL;
  if (thing && thing->varied)
    tape->left = true;
}

/* ---- what goes ---- */

static bool is_used(const struct op_context *ctx, const void *object) {
  const struct tape *tape = there(ctx);
  const struct thing *thing = tape ? thing_find(ctx->tapes, object) : NULL;
  if (thing && (thing->used || thing->companion))
    return true;
  for (int i = 0; tape && i < tape->sites.count; i++) {
    const struct site *site = tape->sites.items[i];
    if (site->set == object)
      return true;
    for (int a = 0; a < site->nargs; a++)
      if (site->are[a].map && map_origin(site->are[a].map) == object)
        return true;
  }
  return false;
}

int tape_refuses(const struct op_context *ctx, const void *object, const char *call, struct error *err) {
  if (!there(ctx) || (object && !is_used(ctx, object)))
    return OP_OK;
  return error_set(err, OP_ERR_STATE,
                   "%s: a tape needs %s; call op_tape_free first, or op_tape_reverse for the last time", call,
                   object ? "it" : "the mesh as it is");
}

int tape_refuses_bridge(const struct op_context *ctx, const struct dat *dat, const char *call,
                        struct error *err) {
  const struct tape *tape = there(ctx);
  if (!(tape && tape->recording) && !(ctx->tapes && ctx->tapes->tangents))
    return tape_refuses(ctx, dat, call, err);
  return error_set(err, OP_ERR_STATE,
                   "%s of dat \"%s\": no tape and no tangent follows what a bridge writes; end them before",
                   call, dat->name);
}

bool tape_holds_dat(struct op_context *ctx, struct dat *dat) {
  struct tape *tape = there(ctx);
  const op_dat old = dat->handle;
  if (!tape || !is_used(ctx, dat))
    return false;
  const op_dat own = handle_new(ctx->handles, HANDLE_DAT, dat);
  if (!own || !list_add(&tape->held_dats, dat))
    return false;
  dat->handle = own;
  loops_rename_dat(ctx, old, own);
  handle_release(ctx->handles, old, dat->name);
  return true;
}

bool tape_holds_set(struct op_context *ctx, struct set *set) {
  struct tape *tape = there(ctx);
  const op_set old = set->handle;
  if (!tape || !is_used(ctx, set))
    return false;
  const op_set own = handle_new(ctx->handles, HANDLE_SET, set);
  if (!own || !list_add(&tape->held_sets, set))
    return false;
  set->handle = own;
  loops_rename(ctx, old, own);
  handle_release(ctx->handles, old, set->name);
  return true;
}

struct dat *tape_gives_back(struct op_context *ctx, const struct set *set, int dim, const char *type,
                            const char *name, struct error *err) {
  struct tape *tape = alive(ctx);
  bool soa = false;
  const enum type_code code = tape && type ? type_parse(type, &soa) : TYPE_NONE;
  for (int i = 0; tape && tape->recording && i < tape->held_dats.count; i++) {
    struct dat *dat = tape->held_dats.items[i];
    if (dat->set != set || dat->dim != dim || dat->type != code || dat->asked_soa != soa ||
        strcmp(dat->name, name ? name : "unnamed") != 0)
      continue;
    const op_dat handle = queue_flush(ctx, err) ? NULL : handle_new(ctx->handles, HANDLE_DAT, dat);
    if (!handle)
      return NULL;
    loops_rename_dat(ctx, dat->handle, handle);
    handle_release(ctx->handles, dat->handle, dat->name);
    dat->handle = handle;
    list_remove(&tape->held_dats, dat);
    return dat;
  }
  return NULL;
}

void tape_forget(struct op_context *ctx, const void *object) {
  things_forget(ctx, object);
}

void tape_let_go(struct op_context *ctx) {
  if (ctx->tapes && !ctx->tapes->tape)
    keep_free_spare(ctx);
}
