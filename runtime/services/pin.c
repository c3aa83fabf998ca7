#include "services/services.h"

#include <dlfcn.h>
#include <string.h>

#include "base/log.h"
#include "context/context.h"
#include "context/env.h"
#include "exec/team_place.h"
#include "ranks/comm.h"

/* The needed part of hwloc 2: its processing units lie at the lowest depth, neighbours first. */
struct unit {
  int type;
  char *subtype;
  unsigned number; /* the system's, as in cpu_set_t */
};

struct hwloc {
  void *library, *topology;
  int (*init)(void **topology);
  int (*load)(void *topology);
  void (*destroy)(void *topology);
  int (*depth)(void *topology);
  unsigned (*count)(void *topology, int depth);
  struct unit *(*at)(void *topology, int depth, unsigned place);
};

static void hwloc_close(struct hwloc *h) {
  if (h->topology)
    h->destroy(h->topology);
  if (h->library)
    dlclose(h->library);
}

static int not_there(const char *why, struct error *err) {
  return error_set(
      err, OP_ERR_NOT_BUILT,
      "OP2_PIN=on: hwloc says which CPUs lie together, and cannot be used: %s; install it (Debian: "
      "libhwloc15), have the launcher bind ranks, or unset OP2_PIN",
      why);
}

static int hwloc_open(struct hwloc *h, struct error *err) {
  h->library = dlopen("libhwloc.so.15", RTLD_NOW | RTLD_LOCAL);
  if (!h->library)
    return not_there(dlerror(), err);
  const struct {
    const char *name;
    void *to;
  } calls[] = {{"hwloc_topology_init", &h->init},        {"hwloc_topology_load", &h->load},
               {"hwloc_topology_destroy", &h->destroy},  {"hwloc_topology_get_depth", &h->depth},
               {"hwloc_get_nbobjs_by_depth", &h->count}, {"hwloc_get_obj_by_depth", &h->at}};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    void *found = dlsym(h->library, calls[i].name);
    if (!found)
      return not_there(calls[i].name, err);
    memcpy(calls[i].to, &found, sizeof found);
  }
  if (h->init(&h->topology) != 0) {
    h->topology = NULL;
    return not_there("hwloc_topology_init failed", err);
  }
  return h->load(h->topology) == 0 ? OP_OK : not_there("hwloc_topology_load failed", err);
}

/* Take a share of the allowed CPUs, in hwloc's order: from `part` / `parts` of them on. */
static int choose(const struct hwloc *h, const struct cpus *allowed, int part, int parts, cpu_set_t *out) {
  const int depth = h->depth(h->topology) - 1, all = cpus_count(allowed);
  const int begin = all * part / parts, end = all * (part + 1) / parts;
  int place = 0;
  CPU_ZERO_S(allowed->bytes, out);
  for (unsigned i = 0; i < h->count(h->topology, depth); i++) {
    const unsigned cpu = h->at(h->topology, depth, i)->number;
    if (!CPU_ISSET_S(cpu, allowed->bytes, allowed->mask))
      continue;
    if (place >= begin && place < end)
      CPU_SET_S(cpu, allowed->bytes, out);
    place++;
  }
  return CPU_COUNT_S(allowed->bytes, out);
}

static void tell(const struct op_context *ctx, const struct cpus *cpus, const cpu_set_t *mine) {
  struct text list = {0};
  for (size_t cpu = 0; cpu < 8 * cpus->bytes; cpu++)
    if (CPU_ISSET_S(cpu, cpus->bytes, mine))
      text_addf(&list, "%s%zu", list.length ? ", " : "", cpu);
  log_line(ctx->log, LOG_INFO, "team", "OP2_PIN: this rank runs on CPUs %s", text_str(&list));
  text_free(&list);
}

static int share_out(struct op_context *ctx, const struct cpus *allowed, struct error *err) {
  struct hwloc h = {0};
  cpu_set_t *mine = CPU_ALLOC(8 * allowed->bytes);
  int code = mine ? hwloc_open(&h, err) : error_memory(err, "a set of CPUs", allowed->bytes);
  if (!code && choose(&h, allowed, ctx->comm->place, ctx->comm->alike, mine) > 0 &&
      sched_setaffinity(0, allowed->bytes, mine) == 0)
    tell(ctx, allowed, mine);
  if (mine)
    CPU_FREE(mine);
  hwloc_close(&h);
  return code;
}

int pin_rank(struct op_context *ctx, struct error *err) {
  struct cpus allowed;
  if (strcmp(env_value(ctx->env, ENV_PIN), "on") != 0 || ctx->comm->alike < 2 || !cpus_allowed(&allowed))
    return OP_OK;
  const bool enough = cpus_count(&allowed) >= ctx->comm->alike;
  const int code = enough ? share_out(ctx, &allowed, err) : OP_OK;
  if (!enough)
    log_line(ctx->log, LOG_INFO, "team", "OP2_PIN: %d ranks share %d CPUs, so none has one of its own",
             ctx->comm->alike, cpus_count(&allowed));
  cpus_free(&allowed);
  return code;
}
