/* What only the inside of the library can say: its loops' kernels, timed without the host. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "backend/gpu/cuda/cuda.h"
#include "backend/gpu/gpu.h"
#include "cases.h"
#include "context/context.h"
#include "record/launch.h"

static void end_if(int code, const struct error *err) {
  if (!code)
    return;
  fprintf(stderr, "bench cuda: %s\n", error_message(err));
  exit(1);
}

void library_wait(void) {
  struct error err = {0};
  end_if(gpu_wait(gpu_of(api_context(), space_of_device(0)), &err, "waiting for the library"), &err);
}

static void launch(struct op_context *ctx, struct loop *loop, struct gpu_variant *v) {
  struct gpu *c = gpu_of(ctx, loop->space);
  struct error err = {0};
  end_if(gpu_landing(c, gpu_result_bytes(loop->ready.spare, v), &err), &err);
  for (int p = 0; p < loop->ready.nparts; p++)
    if (loop->ready.parts[p].begin < loop->ready.parts[p].end)
      end_if(gpu_launch_part(ctx, loop->ready.spare, v, p, c->landing, &err), &err);
}

static double time_of(struct op_context *ctx, struct loop *loop, struct gpu_variant *v) {
  enum { TIMES = 30 };
  struct gpu *c = gpu_of(ctx, loop->space);
  struct error err = {0};
  double seconds = 0;
  launch(ctx, loop, v);
  int result = c->driver->time_begin(c->self);
  for (int i = 0; i < TIMES; i++)
    launch(ctx, loop, v);
  if (!result)
    result = c->driver->time_end(c->self, &seconds);
  end_if(c->driver->check(c->self, result, &err, loop->name), &err);
  return seconds / TIMES;
}

static struct loop_figure figure_of(struct op_context *ctx, struct loop *loop) {
  enum { REGISTERS = 4, LOCAL_BYTES = 3 };
  const struct cuda_driver *d = &((const struct cuda *)gpu_of(ctx, loop->space)->self)->driver;
  struct gpu_loop *l = loop->ready.backend_state;
  struct gpu_variant *v = &l->variants[loop->ready.variant];
  struct loop_figure f = {.bytes = loop->stats.bytes, .seconds = time_of(ctx, loop, v)};
  snprintf(f.name, sizeof f.name, "%s", loop->name);
  snprintf(f.variant, sizeof f.variant, "%s", v->name);
  if (d->function_attribute(&f.registers, REGISTERS, v->function) ||
      d->function_attribute(&f.spilled, LOCAL_BYTES, v->function))
    f.registers = f.spilled = -1;
  return f;
}

int library_loops(struct loop_figure out[MOST_LOOPS]) {
  struct op_context *ctx = api_context();
  struct loop **loops = loop_records(ctx);
  int count = 0;
  library_wait();
  for (size_t i = 0; loops && i < ctx->loops->count && count < MOST_LOOPS; i++)
    if (loops[i]->ready.backend_state)
      out[count++] = figure_of(ctx, loops[i]);
  free(loops);
  return count;
}
