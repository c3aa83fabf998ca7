#include "backend/backend.h"

#include <string.h>

#if defined(OP2JIT_CUDA) || defined(OP2JIT_OPENCL)
#include "backend/gpu/gpu.h"
#endif
#include "base/text.h"
#include "context/context.h"

static const struct backend *const backends[] = {
#ifdef OP2JIT_CUDA
    &backend_cuda,
#endif
#ifdef OP2JIT_HIP
    &backend_hip,
#endif
    &backend_openmp,
    &backend_seq,
    &backend_native,
#ifdef OP2JIT_OPENCL
    &backend_opencl, /* never by itself: its driver may be one for CPUs, and takes long to open */
#endif
    NULL,
};

/* Names that a build may lack, and what to do about it. */
static const struct {
  const char *name, *remedy;
} unbuilt[] = {
    {"seq", "build with libclang-19-dev and llvm-19-dev installed and -Dclang=auto"},
    {"openmp", "build with libclang-19-dev and llvm-19-dev installed and -Dclang=auto"},
    {"cuda", "build with -Dcuda=enabled"},
    {"hip", "build with -Dhip=enabled and -Dcuda=enabled"},
    {"opencl", "build with -Dopencl=enabled"},
};

const struct backend *const *backend_list(void) {
  return backends;
}

static void list_names(struct text *out) {
  for (int i = 0; backends[i]; i++)
    text_addf(out, "%s%s", i ? ", " : "", backends[i]->name);
}

static int unknown(const char *name, struct error *err) {
  struct text names = {0};
  list_names(&names);
  const char *known[sizeof backends / sizeof *backends + sizeof unbuilt / sizeof *unbuilt];
  int n = 0;
  for (int i = 0; backends[i]; i++)
    known[n++] = backends[i]->name;
  for (size_t i = 0; i < sizeof unbuilt / sizeof *unbuilt; i++) {
    if (strcmp(unbuilt[i].name, name) == 0) {
      error_set(err, OP_ERR_NOT_BUILT, "OP2_BACKEND=%s: this build of op2jit does not have it, only %s; %s",
                name, text_str(&names), unbuilt[i].remedy);
      text_free(&names);
      return err->code;
    }
    known[n++] = unbuilt[i].name;
  }
  int near = nearest_name(name, known, n);
  error_set(err, OP_ERR_BACKEND, "OP2_BACKEND=%s is not a backend%s%s%s; expected one of %s", name,
            near >= 0 ? " (did you mean \"" : "", near >= 0 ? known[near] : "", near >= 0 ? "\"?)" : "",
            text_str(&names));
  text_free(&names);
  return err->code;
}

static int use(struct op_context *ctx, const struct backend *backend, struct error *err) {
  const int code = backend->open ? backend->open(ctx, err) : OP_OK;
  if (!code)
    ctx->backend = backend;
  return code;
}

/* Loops that call the program's functions are asked for less than those that are compiled, so that ranks would agree on other
 * things. */
int backend_check_mixed(const char *list, struct error *err) {
  const size_t length = strlen(backend_native.name);
  for (const char *p = list; p && strchr(list, ','); p = strchr(p, ','), p += p != NULL)
    if (strcspn(p, ",") == length && memcmp(p, backend_native.name, length) == 0)
      return error_set(err, OP_ERR_BACKEND,
                       "OP2_BACKEND=%s: native ranks cannot share a job with those of other backends; name "
                       "backends that compile, or native alone",
                       list);
  return OP_OK;
}

int backend_choose(struct op_context *ctx, const char *wanted, struct error *err) {
  for (int i = 0; backends[i]; i++) {
    /* Compiled kernels run on the host. */
    if (!*wanted && ctx->compiled && backends[i]->on_device)
      continue;
    if (*wanted && strcmp(wanted, backends[i]->name) == 0)
      return use(ctx, backends[i], err);
    if (*wanted)
      continue;
    const int code = use(ctx, backends[i], err);
    if (code == OP_OK)
      error_clear(err);
    /* A variable with a wrong value is the user's to mend; another backend would hide it. */
    if (code == OP_OK || code == OP_ERR_ENV)
      return code;
  }
  return *wanted ? unknown(wanted, err) : err->code;
}
