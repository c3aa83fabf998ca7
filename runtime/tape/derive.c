/* Where the texts of derivatives come from. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "context/context.h"
#include "context/env.h"
#include "loop/loop.h"
#include "ranks/agree.h"
#include "ranks/kind.h"
#include "services/services.h"
#include "tape/tape.h"

/* ---- what the program says of kernels ---- */

int said_kernel(struct op_context *ctx, const char *source, const char *name, const char *adjoint_source,
                const char *adjoint_name, struct error *err) {
  struct tapes *tapes = tapes_get(ctx, err);
  struct said_kernel *said = tapes ? calloc(1, sizeof *said) : NULL;
  if (said)
    *said = (struct said_kernel){.text = strdup(source),
                                 .name = strdup(name),
                                 .frozen = !adjoint_source,
                                 .adjoint_text = adjoint_source ? strdup(adjoint_source) : NULL,
                                 .adjoint_name = adjoint_name ? strdup(adjoint_name) : NULL};
  const bool whole =
      said && said->text && said->name && (said->frozen || (said->adjoint_text && said->adjoint_name));
  if (whole && list_add(&tapes->said, said))
    return OP_OK;
  if (said)
    said_free(said);
  return error_memory(err, "what is said of a kernel", strlen(source));
}

/* ---- by hand: see op2jit_adjoint.h ---- */

static void add(struct derived *d, enum derive_role role, int argument, op_access access) {
  d->parameters[d->nparameters++] =
      (struct derive_parameter){.role = role, .argument = argument, .constant = -1, .access = access};
}

static void add_by_hand(struct derived *d, const struct site *site, int i) {
  const struct loop_arg *arg = &site->are[i];
  const int access = site->args[i].access_;
  const bool real = (arg->form == DESC_DAT || arg->form == DESC_GBL) && type_is_real(arg->type);
  if (access == OP_READ || access == OP_RW || access == OP_WORK)
    add(d, DERIVE_VALUE, i, access == OP_WORK ? OP_WORK : OP_READ);
  if (real && access == OP_READ)
    add(d, DERIVE_BAR, i, OP_INC);
  else if (real && access == OP_INC)
    add(d, DERIVE_BAR, i, OP_READ);
  else if (real && (access == OP_WRITE || access == OP_RW))
    add(d, DERIVE_BAR, i, OP_RW);
}

static int by_hand(const struct site *site, struct derived *out, struct error *err) {
  for (int i = 0; i < site->nargs; i++)
    if (access_is_extremum(site->are[i].access) || site->are[i].form == DESC_INFO)
      return error_set(
          err, OP_ERR_KERNEL,
          "loop %s, argument %d: adjoints by hand are of kernels without OP_MIN, OP_MAX and payloads",
          site->name, i + 1);
  *out = (struct derived){.name = strdup(site->said->adjoint_name),
                          .text = strdup(site->said->adjoint_text),
                          .parameters = array_new(2 * (size_t)site->nargs, sizeof *out->parameters)};
  if (!out->name || !out->text || !out->parameters)
    return error_memory(err, "an adjoint", strlen(site->said->adjoint_text));
  for (int i = 0; i < site->nargs; i++)
    add_by_hand(out, site, i);
  return OP_OK;
}

/* ---- made ---- */

static bool is_by_hand(const struct site *site) {
  return site->said && site->said->adjoint_text;
}

/* `active`: as the site's. */
static int make(struct op_context *ctx, const struct site *site, struct loop *loop, enum derive_mode mode,
                const bool *active, struct derived *out, struct error *err) {
  derived_free(out);
  if (mode == DERIVE_ADJOINT && is_by_hand(site))
    return by_hand(site, out, err);
  const struct kind *leaders = context_leaders(ctx);
  struct jit *jit = NULL; /* which opens the store */
  int code = loop_describe_anew(ctx, loop, err);
  if (code)
    return code;
  const bool same = loop->desc.nconsts == site->nconstants;
  const struct derive_wish wish = {
      .mode = mode, .active = active, .active_constants = same ? active + site->nargs : NULL};
  context_jit(ctx, &jit, err);
  const struct derive_source source = {.plugin = &ctx->tapes->plugin,
                                       .plugins = env_value(ctx->env, ENV_PLUGINS),
                                       .store = ctx->store,
                                       .share = leaders ? &leaders->jit : NULL,
                                       .load = strcmp(env_value(ctx->env, ENV_JIT), "load") == 0};
  code = derive_kernel(&source, &loop->desc, &wish, out, err);
  if (!code)
    code = site_add_types(site, &out->text, err);
  code = agree_on_success(ctx->agreement, code, err);
  if (code)
    derived_free(out);
  return code ? error_prefix(err, "loop %s: ", site->name) : OP_OK;
}

/* If all that can be active is. */
static int look_at_wants(struct op_context *ctx, struct site *site, struct loop *loop, enum derive_mode mode,
                         struct error *err) {
  const int count = site->nargs + site->nconstants;
  struct derived all = {0};
  bool *active = array_new((size_t)count, sizeof *active);
  if (!active)
    return error_memory(err, "what can be active", (size_t)count);
  for (int i = 0; i < count; i++)
    active[i] = site->things[i] && site->things[i]->real;
  const int code = make(ctx, site, loop, mode, active, &all, err);
  for (int p = 0; !code && p < all.nparameters; p++)
    if (all.parameters[p].role == DERIVE_VALUE)
      site->wants[all.parameters[p].argument] = true;
    else if (all.parameters[p].zeros)
      site->zeros[all.parameters[p].argument] = true;
  derived_free(&all);
  free(active);
  return code;
}

int derive_wants(struct op_context *ctx, struct site *site, struct loop *loop, struct error *err) {
  bool seeks = false;
  for (int i = 0; i < site->nargs; i++)
    if (site->things[i] && site->things[i]->real && access_is_extremum(site->are[i].access))
      seeks = site->wants[i] = true; /* it may have won itself */
  struct error own = {0};
  int code = look_at_wants(ctx, site, loop, DERIVE_ADJOINT, &own);
  if (!code && seeks)
    code = look_at_wants(ctx, site, loop, DERIVE_CANDIDATES, &own);
  if (code == OP_ERR_MEMORY || code == OP_ERR_MPI)
    error_copy(err, &own);
  else if (code) /* Perhaps there is one for what is active in the end. */
    for (int i = 0; i < site->nargs; i++)
      site->wants[i] |= site->things[i] && access_reads(site->are[i].access);
  site->known = true;
  error_free(&own);
  return err->code;
}

int derive_site(struct op_context *ctx, struct site *site, struct loop *loop, enum derive_mode mode,
                struct error *err) {
  const enum derive_mode modes[] = {mode, DERIVE_CANDIDATES};
  int code = OP_OK;
  for (int m = 0; !code && m < 1 + site_seeks_any(site); m++) {
    const enum derive_mode one = modes[m];
    if (!site->current[one])
      code = make(ctx, site, loop, one, site->active, &site->made[one], err);
    site->current[one] = !code;
  }
  return code;
}
