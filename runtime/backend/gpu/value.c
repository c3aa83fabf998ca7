/* Globals with a handle in the device's memory: loops hand values to later loops, and the host does not wait. */
#include <stdlib.h>

#include "context/context.h"
#include "gpu.h"
#include "mesh/globals.h"
#include "op2jit.h"

struct gpu_value {
  const struct gbl *gbl;
  gpu_address at;
  size_t bytes;
  struct gpu_value *next;
};

gpu_address gpu_value_address(const struct gpu *c, const struct gbl *gbl) {
  for (const struct gpu_value *v = c->values; v; v = v->next)
    if (v->gbl == gbl)
      return v->at;
  return 0;
}

static int make(struct gpu *c, const struct gbl *gbl, struct error *err) {
  struct gpu_value *v = calloc(1, sizeof *v);
  if (!v)
    return error_memory_of(err, "global", gbl->name, sizeof *v);
  *v = (struct gpu_value){.gbl = gbl, .bytes = gbl->bytes};
  const int code = gpu_allocate(c, &v->at, v->bytes, err, "global \"%s\"", gbl->name);
  if (code) {
    free(v);
    return code;
  }
  v->next = c->values;
  c->values = v;
  return OP_OK;
}

static int lost(const struct gpu *c, const struct gbl *gbl, struct error *err) {
  return error_set(err, OP_ERR_DEVICE,
                   "global \"%s\": %s (%s) takes no more work since a kernel failed; call op_exit and start "
                   "the program again",
                   gbl->name, c->device.label, c->device.name);
}

int gpu_value_to_device(struct op_context *ctx, enum space space, const struct gbl *gbl, struct error *err) {
  struct gpu *c = gpu_of(ctx, space);
  if (c->failed)
    return lost(c, gbl, err);
  if (!gpu_value_address(c, gbl) && make(c, gbl, err))
    return err->code;
  ctx->counters->bytes_to_device += (long long)gbl->bytes;
  return gpu_failed(c, c->driver->copy_in(c->self, gpu_value_address(c, gbl), gbl->value, gbl->bytes), err,
                    "copying global \"%s\" to %s", gbl->name, c->device.label);
}

int gpu_value_to_host(struct op_context *ctx, enum space space, struct gbl *gbl, struct error *err) {
  struct gpu *c = gpu_of(ctx, space);
  if (c->failed)
    return lost(c, gbl, err);
  const int result = gpu_copy_out(c, gbl->value, gpu_value_address(c, gbl), gbl->bytes);
  const int code = gpu_failed(c, result, err, "copying global \"%s\" from %s", gbl->name, c->device.label);
  if (!code) {
    gpu_waited(c);
    ctx->counters->bytes_from_device += (long long)gbl->bytes;
  }
  return code;
}

void gpu_values_free(struct gpu *c) {
  while (c->values) {
    struct gpu_value *next = c->values->next;
    gpu_release(c, c->values->at, c->values->bytes);
    free(c->values);
    c->values = next;
  }
}
