#include "services/services.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "context/context.h"
#include "context/env.h"
#include "context/trace.h"
#include "op2jit_tools.h"

/* The Kokkos Tools interface passes these by value. */
struct kokkos_space {
  char name[64];
};

/* POSIX makes the conversion right; ISO C has no word for it. */
union symbol {
  void *object;
  const op_tool *(*table)(void);
  int (*push)(const char *);
  int (*pop)(void);
  void (*nothing)(void);
  void (*begin)(const char *, uint32_t, uint64_t *);
  void (*end)(uint64_t);
  void (*init)(int, uint64_t, uint32_t, void *);
  void (*copy)(struct kokkos_space, const char *, const void *, struct kokkos_space, const char *,
               const void *, uint64_t);
};

static union symbol find(void *library, const char *name) {
  return (union symbol){.object = dlsym(library, name)};
}

/* ---- the Kokkos Tools interface, from its published description ---- */

struct kokkos {
  void *library;
  union symbol begin, end, copy_begin, copy_end, finish;
  uint64_t loop;
};

static void kokkos_loop_begins(void *user, const char *loop) {
  struct kokkos *k = user;
  if (k->begin.object)
    k->begin.begin(loop, 0, &k->loop);
}

static void kokkos_copied(const struct kokkos *k, const char *dat, const char *detail, double bytes) {
  const struct kokkos_space host = {"Host"}, device = {"Device"};
  const bool to_host = strcmp(detail, "to host") == 0; /* not a message: a word of OP_EVENT_COPY */
  if (!k->copy_begin.object)
    return;
  k->copy_begin.copy(to_host ? host : device, dat, NULL, to_host ? device : host, dat, NULL, (uint64_t)bytes);
  if (k->copy_end.object)
    k->copy_end.nothing();
}

/* Copies are told when they are over: their bytes are right, their times are not. */
static void kokkos_event(void *user, enum op_event event, const char *name, const char *detail,
                         double seconds, double bytes) {
  const struct kokkos *k = user;
  (void)seconds;
  if ((event == OP_EVENT_LOOP || event == OP_EVENT_TRIAL) && k->end.object)
    k->end.end(k->loop);
  else if (event == OP_EVENT_COPY)
    kokkos_copied(k, name, detail, bytes);
}

static void kokkos_finish(void *user) {
  struct kokkos *k = user;
  if (k->finish.object)
    k->finish.nothing();
  dlclose(k->library);
  free(k);
}

enum { KOKKOS_INTERFACE = 20211015 };

static int add_kokkos(struct trace *trace, void *library, int number, struct error *err) {
  struct kokkos *k = malloc(sizeof *k);
  if (!k)
    return error_memory(err, "a tool", sizeof *k);
  *k = (struct kokkos){.library = library,
                       .begin = find(library, "kokkosp_begin_parallel_for"),
                       .end = find(library, "kokkosp_end_parallel_for"),
                       .copy_begin = find(library, "kokkosp_begin_deep_copy"),
                       .copy_end = find(library, "kokkosp_end_deep_copy"),
                       .finish = find(library, "kokkosp_finalize_library")};
  const op_tool tool = {.version = OP_TOOL_VERSION,
                        .user = k,
                        .loop_begins = kokkos_loop_begins,
                        .event = kokkos_event,
                        .finish = kokkos_finish};
  const int code = trace_add_tool(trace, &tool, err);
  if (code) {
    free(k);
    return code;
  }
  const union symbol init = find(library, "kokkosp_init_library");
  if (init.object)
    init.init(number, KOKKOS_INTERFACE, 0, NULL);
  return OP_OK;
}

/* ---- NVIDIA's ranges ---- */

struct nvtx {
  void *library;
  union symbol push, pop;
};

static void nvtx_loop_begins(void *user, const char *loop) {
  ((struct nvtx *)user)->push.push(loop);
}

static void nvtx_event(void *user, enum op_event event, const char *name, const char *detail, double seconds,
                       double bytes) {
  (void)name, (void)detail, (void)seconds, (void)bytes;
  if (event == OP_EVENT_LOOP || event == OP_EVENT_TRIAL)
    ((struct nvtx *)user)->pop.pop();
}

static void nvtx_finish(void *user) {
  dlclose(((struct nvtx *)user)->library);
  free(user);
}

static int add_nvtx(struct trace *trace, struct error *err) {
  void *library = dlopen("libnvToolsExt.so.1", RTLD_NOW | RTLD_LOCAL);
  struct nvtx *n = library ? malloc(sizeof *n) : NULL;
  if (!library)
    return error_set(err, OP_ERR_ENV, "OP2_TOOLS=nvtx: %s", dlerror());
  int code = n ? OP_OK : error_memory(err, "a tool", sizeof *n);
  if (!code) {
    *n = (struct nvtx){library, find(library, "nvtxRangePushA"), find(library, "nvtxRangePop")};
    const op_tool tool = {OP_TOOL_VERSION, n, nvtx_loop_begins, nvtx_event, nvtx_finish};
    code = !n->push.object || !n->pop.object
               ? error_set(err, OP_ERR_ENV, "OP2_TOOLS=nvtx: libnvToolsExt.so.1 has no nvtxRangePushA")
               : trace_add_tool(trace, &tool, err);
  }
  if (code) {
    free(n);
    dlclose(library);
  }
  /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): nvtx_finish frees it */
  return code;
}

/* ---- OP2_TOOLS ---- */

static int add_library(struct trace *trace, const char *path, int number, struct error *err) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return error_set(err, OP_ERR_ENV, "OP2_TOOLS: %s", dlerror());
  const union symbol own = find(library, "op2jit_tool");
  const op_tool *tool = own.object ? own.table() : NULL;
  int code;
  if (tool && tool->version == OP_TOOL_VERSION)
    return trace_add_tool(trace, tool,
                          err); /* the library stays: its table has no function for the end of it */
  if (own.object)
    code = error_set(err, OP_ERR_ENV, "OP2_TOOLS: %s: op2jit_tool() gives no table of version %d", path,
                     OP_TOOL_VERSION);
  else if (find(library, "kokkosp_begin_parallel_for").object || find(library, "kokkosp_init_library").object)
    code = add_kokkos(trace, library, number, err);
  else
    code = error_set(
        err, OP_ERR_ENV,
        "OP2_TOOLS: %s is no tool: it has neither op2jit_tool() nor kokkosp_begin_parallel_for()", path);
  if (code)
    dlclose(library);
  return code;
}

int tools_open(struct op_context *ctx, struct error *err) {
  const char *wanted = env_value(ctx->env, ENV_TOOLS);
  int code = OP_OK;
  for (int number = 0; !code && *wanted; number++) {
    char path[4096];
    const size_t length = strcspn(wanted, ":");
    if (length >= sizeof path)
      return error_set(err, OP_ERR_ENV, "OP2_TOOLS: a name is longer than %zu characters", sizeof path);
    snprintf(path, sizeof path, "%.*s", (int)length, wanted);
    wanted += length + (wanted[length] == ':');
    if (*path)
      code =
          strcmp(path, "nvtx") == 0 ? add_nvtx(ctx->trace, err) : add_library(ctx->trace, path, number, err);
  }
  return code;
}
