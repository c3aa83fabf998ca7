/* Loops that derivatives know: what they are called with, and how they are called again. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/text.h"
#include "context/context.h"
#include "loop/loop.h"
#include "mesh/mesh.h"
#include "record/kept.h"
#include "tape/tape.h"

bool arg_gets(const struct loop_arg *arg) {
  return arg->present && (arg->dat || arg->gbl) && access_reads(arg->access);
}

bool arg_leaves(const struct loop_arg *arg) {
  return arg->present && (arg->dat || arg->gbl) && access_changes(arg->access);
}

bool arg_is_value(const struct loop_arg *arg) {
  return arg->form == DESC_GBL && arg->present && !arg->gbl && arg->access == OP_READ;
}

bool arg_is_result(const struct loop_arg *arg) {
  const bool global = arg->form == DESC_GBL && !arg->gbl && access_changes(arg->access);
  return arg->present && (global || arg->form == DESC_INFO);
}

void tape_site_free(struct site *site) {
  for (int i = 0; i <= DERIVE_CANDIDATES; i++) {
    derived_free(&site->made[i]);
    free(site->told[i]);
  }
  free(site->constants);
  free(site->results);
  free(site->text);
  free(site->name);
  free(site->file);
  free(site->args);
  free(site->things);
  free(site->are);
  free(site->active);
  free(site->wants);
  free(site->zeros);
  free(site);
}

void site_look_at_integers(struct site *site) {
  uint64_t values = 14695981039346656037u; /* FNV-1a */
  for (int i = 0; i < site->nconstants; i++) {
    const struct constant *constant = site->constants[i];
    for (size_t b = 0; constant_is_integer(constant) && b < constant->bytes; b++)
      values = (values ^ constant->value[b]) * 1099511628211u;
  }
  if (values != site->made_for)
    memset(site->current, 0, sizeof site->current);
  site->made_for = values;
}

void site_is_active(struct site *site, int i) {
  if (!site->active[i])
    memset(site->current, 0, sizeof site->current);
  site->active[i] = true;
}

static int take_things(struct op_context *ctx, struct site *site, struct error *err) {
  for (int i = 0; i < site->nargs; i++) {
    const struct loop_arg *arg = &site->are[i];
    if (!arg->present || (!arg->dat && !arg->gbl))
      continue;
    site->things[i] = arg->dat ? thing_of_dat(ctx, arg->dat, err) : thing_of_gbl(ctx, arg->gbl, err);
    if (!site->things[i])
      return err->code;
  }
  return OP_OK;
}

static bool name_derivatives(struct site *site) {
  static const char *const what[] = {
      [DERIVE_TANGENT] = "tangent", [DERIVE_ADJOINT] = "adjoint", [DERIVE_CANDIDATES] = "candidates"};
  bool all = site->name;
  for (int mode = 0; all && mode <= DERIVE_CANDIDATES; mode++) {
    struct text told = {0};
    text_addf(&told, "%s (%s)", site->name, what[mode]);
    all = (site->told[mode] = text_take(&told));
  }
  return all;
}

static struct site *site_new(struct op_context *ctx, const struct loop *loop, const struct loop_call *call,
                             const struct said_kernel *said, struct error *err) {
  const size_t n = (size_t)loop->nargs, all = n + (size_t)loop->desc.nconsts;
  struct site *site = calloc(1, sizeof *site);
  if (!site) {
    error_memory(err, "a loop that is recorded", sizeof *site);
    return NULL;
  }
  *site = (struct site){.order = loop->key.order,
                        .text = strdup(call->text),
                        .name = strdup(call->name),
                        .file = strdup(call->file ? call->file : ""),
                        .line = call->line,
                        .set = loop->set,
                        .nargs = loop->nargs,
                        .nconstants = loop->desc.nconsts,
                        .args = array_new(n, sizeof *site->args),
                        .things = array_new(all, sizeof *site->things),
                        .are = array_new(n, sizeof *site->are),
                        .constants = array_new(all, sizeof *site->constants),
                        .active = array_new(all, sizeof *site->active),
                        .wants = array_new(n, sizeof *site->wants),
                        .zeros = array_new(n, sizeof *site->zeros),
                        .said = said};
  const bool room = name_derivatives(site) && site->text && site->file && site->args && site->things &&
                    site->are && site->constants && site->active && site->wants && site->zeros;
  if (!room)
    error_memory(err, "a loop that is recorded", n * sizeof *site->args);
  for (size_t i = 0; room && i < n; i++) {
    site->args[i] = call->args[i];
    site->are[i] = loop->args[i];
    site->value_bytes += arg_is_value(&loop->args[i]) ? loop->args[i].bytes : 0;
    if (arg_is_result(&loop->args[i]) && loop->args[i].bytes > site->result_bytes)
      site->result_bytes = loop->args[i].bytes;
  }
  if (room && !(site->results = array_new(n, site->result_bytes)))
    error_memory(err, "results of a loop that runs again", n * site->result_bytes);
  for (int i = 0; room && i < loop->desc.nconsts; i++)
    site->constants[i] = mesh_find_constant(ctx->mesh, loop->desc.consts[i].name);
  if (room && site->results && !take_things(ctx, site, err)) {
    site_look_at_integers(site);
    return site;
  }
  tape_site_free(site);
  return NULL;
}

/* The program may ask for their bars and dots at any time. */
static void look_at_constants(const struct op_context *ctx, struct site *site) {
  for (int i = 0; i < site->nconstants; i++)
    site->things[site->nargs + i] = thing_find(ctx->tapes, site->constants[i]);
}

/* The program's words about the derivatives of a kernel; NULL: none. */
static const struct said_kernel *said_find(const struct tapes *tapes, const char *text, const char *name) {
  for (int i = tapes->said.count - 1; i >= 0; i--) {
    const struct said_kernel *said = tapes->said.items[i];
    if (strcmp(said->name, name) == 0 && strcmp(said->text, text) == 0)
      return said;
  }
  return NULL;
}

void said_free(struct said_kernel *said) {
  free(said->text);
  free(said->name);
  free(said->adjoint_text);
  free(said->adjoint_name);
  free(said);
}

struct site *site_of(struct op_context *ctx, struct list *sites, const struct loop *loop,
                     const struct loop_call *call, struct error *err) {
  const struct said_kernel *said = said_find(ctx->tapes, call->text, call->name);
  for (int i = sites->count - 1; i >= 0; i--) {
    struct site *site = sites->items[i];
    if (site->order == loop->key.order && site->said == said) {
      look_at_constants(ctx, site);
      return site;
    }
  }
  struct site *site = site_new(ctx, loop, call, said, err);
  if (site)
    look_at_constants(ctx, site);
  if (site && list_add(sites, site))
    return site;
  if (site) {
    tape_site_free(site);
    error_memory(err, "the list of recorded loops", sizeof(void *));
  }
  return NULL;
}

/* ---- calling it again ---- */

void site_take_values(const struct op_context *ctx, const struct site *site, const struct loop_call *call,
                      unsigned char *values) {
  for (int i = 0; i < site->nargs; i++) {
    const struct loop_arg *arg = &site->are[i];
    const op_arg *said = &call->args[i];
    if (!arg_is_value(arg))
      continue;
    const void *from = kept_has(said) ? kept_values(ctx, said) : said->data_;
    if (from) /* else the loop says so */
      memcpy(values, from, arg->bytes);
    values += arg->bytes;
  }
}

struct loop_call site_call(const struct site *site, unsigned char *values, op_arg *args) {
  for (int i = 0; i < site->nargs; i++) {
    const struct thing *thing = site->things[i];
    args[i] = site->args[i];
    if (thing)
      args[i].dat_ = thing->dat ? thing->dat->handle : (op_dat)(void *)thing->gbl->handle;
    if (values && arg_is_result(&site->are[i]))
      args[i].data_ = site->results + (size_t)i * site->result_bytes;
    if (!values || !arg_is_value(&site->are[i]))
      continue;
    args[i].reserved_[0] = 0;
    args[i].data_ = values;
    values += site->are[i].bytes;
  }
  return (struct loop_call){.text = site->text,
                            .name = site->name,
                            .set = site->set->handle,
                            .nargs = site->nargs,
                            .args = args,
                            .file = site->file,
                            .line = site->line};
}

static bool has_type(const struct site *site, enum type_code type) {
  bool any = false;
  for (int i = 0; i < site->nargs; i++)
    any |= site->are[i].present && site->are[i].type == type;
  return any;
}

int site_add_types(const struct site *site, char **text, struct error *err) {
  bool structs = false;
  for (int i = 0; i < site->nargs; i++)
    structs |= type_is_struct(site->are[i].type);
  if (!structs)
    return OP_OK;
  struct text all = {0};
  text_addf(&all, "%s\n%s", site->text, *text);
  char *words = text_take(&all);
  if (!words)
    return error_memory(err, "a derivative", strlen(*text));
  free(*text);
  *text = words;
  return OP_OK;
}

const char *site_text_with(const struct tapes *tapes, enum type_code type) {
  const struct list *const lists[] = {tapes->tape ? &tapes->tape->sites : &tapes->sites, &tapes->sites,
                                      &tapes->alone};
  for (size_t l = 0; type_is_struct(type) && l < sizeof lists / sizeof *lists; l++)
    for (int i = 0; i < lists[l]->count; i++)
      if (has_type(lists[l]->items[i], type))
        return ((const struct site *)lists[l]->items[i])->text;
  return "";
}

bool site_overwrites(const struct site *site, int arg) {
  const struct dat *dat = site->are[arg].dat;
  if (!dat)
    return site->are[arg].access == OP_WRITE;
  for (int i = 0; i < site->nargs; i++) {
    const struct loop_arg *a = &site->are[i];
    if (a->dat == dat && a->present && (a->map || a->access != OP_WRITE))
      return false;
  }
  return site->set == dat->set;
}

bool site_leaves_zeros(const struct site *site, int arg) {
  const struct loop_arg *is = &site->are[arg];
  bool alone = site->zeros[arg] && is->dat && !is->map && site->set == is->dat->set;
  for (int i = 0; i < site->nargs; i++)
    alone &= i == arg || site->things[i] != site->things[arg];
  return alone;
}

int site_loop(struct op_context *ctx, const struct site *site, unsigned char *values, struct loop **out,
              struct error *err) {
  op_arg args[OP_MAX_ARGS];
  const struct loop_call call = site_call(site, values, args);
  struct launch *launch = NULL;
  const int code = loop_get_launch(ctx, &call, &launch, err);
  if (code)
    return code;
  *out = launch->loop;
  launch_put(launch);
  return OP_OK;
}

bool site_seeks(const struct site *site, int arg) {
  return site->active[arg] && access_is_extremum(site->are[arg].access);
}

bool site_seeks_any(const struct site *site) {
  bool any = false;
  for (int i = 0; i < site->nargs; i++)
    any |= site_seeks(site, i);
  return any;
}
